/* SPDX-License-Identifier: ISC */
/*
 * follow.c - which files the descriptors and directories of tasks are
 *
 * Tasks share a table of descriptors (CLONE_FILES) and directories (CLONE_FS), and
 * descriptors share a file (dup, fork), as in the kernel; each of them counts its references.
 *
 * In this file, each part uses those above it:
 *	objects and their references
 *	texts of links in procfs and of addresses of sockets
 *	tasks: what procfs shows when they are first seen
 *	paths
 *	rules: what each call does, as data/follow.in says
 *	the interface
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "base/base.h"
#include "proc/proc.h"
#include "syscalls/mounts.h"
#include "syscalls/tables.h"

enum {
	MOST_MEMORY = 64 << 20, /* bytes */
	MOST_FDS = 1 << 16,     /* of a table; greater descriptors are unknown */
	MOST_READ = 4096,       /* descriptors of a task that procfs shows */
	MOST_LOOKUPS = 16,      /* of sockets, in about 128 ms */
	SOCKETS = 1 << 16,      /* bytes of a list of sockets */
	ADDRESS = 112,          /* bytes of the text of a socket address */
	INET_MOST = 28,         /* bytes of an address of IPv4 or IPv6 */
};

/*
 * An open file, or a directory of tasks. Its name is a path from the root of the mount namespace,
 * as procfs has it; "?" before it says that the path may lead elsewhere: it was not followed.
 */
struct file {
	unsigned refs;
	uint8_t socket;
	uint8_t final;          /* do not look up the addresses of the socket (again) */
	uint8_t netlink;        /* 1 + the protocol of a netlink socket */
	uint8_t accepted;       /* the kernel chose the address: that of the listener is a guess */
	uint16_t family, type;  /* of the socket; 0: unknown */
	unsigned long long inode;
	char name[];            /* a socket has two addresses: its own, and that of its peer */
};

/* A mount namespace. */
struct mount_space {
	unsigned refs;
	int own;                /* it is that of this program */
	int host;               /* it is that of the host */
	unsigned long long id;  /* its number in procfs, 0: unknown */
	struct mounts *mounts;  /* where they are on the host; NULL: not asked, or own */
	struct mount_space *next;
};

/* Descriptors, or the directories ROOT and CWD with their mount namespace. */
struct files {
	unsigned refs, n;
	struct descriptor {
		struct file *file;      /* NULL: unknown */
		int cloexec;
	} *v;
	struct mount_space *space;
};

enum { ROOT, CWD };

struct member {
	struct table_entry entry;
	int tgid;               /* 0: unknown */
	struct files *d, *w;    /* descriptors, directories */
};

/* ---- objects and their references ---- */

struct block {
	size_t size;
};

/* Return n bytes that are zero, or NULL beyond the bound. */
static void *take(struct follow *f, size_t n)
{
	struct block *b;

	n += sizeof(*b);
	if (n > MOST_MEMORY - f->used)
		return NULL;
	f->used += n;
	b = xcalloc(1, n);
	b->size = n;
	return b + 1;
}

static void give(struct follow *f, void *p)
{
	struct block *b = p;

	if (!p)
		return;
	f->used -= b[-1].size;
	free(b - 1);
}

/* Return an object with one reference, which is its first member. NULL: no memory. */
static void *object_new(struct follow *f, size_t n)
{
	unsigned *refs = take(f, n);

	if (refs)
		*refs = 1;
	return refs;
}

/* Return one more reference to an object, or NULL. */
static void *object_ref(const void *object)
{
	unsigned *refs = (unsigned *)(size_t)object;

	if (refs)
		++*refs;
	return refs;
}

/* Return a file with n bytes of name, all zero if name is NULL. NULL: no memory. */
static struct file *file_new(struct follow *f, const char *name, size_t n)
{
	struct file *p = object_new(f, sizeof(*p) + n + 1);

	if (p && name)
		memcpy(p->name, name, n);
	return p;
}

static void file_put(struct follow *f, struct file *p)
{
	if (p && !--p->refs)
		give(f, p);
}

/* Let a descriptor be the file, whose reference is given away. */
static void set_file(struct follow *f, struct files *d, uint64_t fd, struct file *file, int cloexec)
{
	if (d && file && fd >= d->n && fd < MOST_FDS) {
		unsigned n = ((unsigned)fd | 3) + 1 > 2 * d->n ? ((unsigned)fd | 3) + 1 : 2 * d->n;
		struct descriptor *more = take(f, n * sizeof(*more));

		if (more) {
			memcpy(more, d->v ? d->v : more, d->n * sizeof(*more));
			give(f, d->v);
			d->v = more;
			d->n = n;
		}
	}
	if (d && fd < d->n) {
		file_put(f, d->v[fd].file);
		d->v[fd] = (struct descriptor){ file, cloexec };
	} else {
		file_put(f, file);
	}
}

static struct file *get_file(const struct files *d, uint64_t fd)
{
	return d && fd < d->n ? d->v[fd].file : NULL;
}

static struct mount_space *space_of(const struct member *m)
{
	return m->w ? m->w->space : NULL;
}

static struct mount_space *space_new(struct follow *f)
{
	struct mount_space *p = object_new(f, sizeof(*p));

	if (p) {
		p->next = f->spaces;
		f->spaces = p;
	}
	return p;
}

/* Give a namespace its mounts, NULL: none. */
static void space_set(struct follow *f, struct mount_space *p, struct mounts *m)
{
	if (p->mounts)
		f->used -= p->mounts->bytes;
	mounts_free(p->mounts);
	if (m && m->bytes > MOST_MEMORY - f->used) {
		mounts_free(m);
		m = mounts_unknown();
	}
	if (m)
		f->used += m->bytes;
	p->mounts = m;
}

static void space_put(struct follow *f, struct mount_space *p)
{
	struct mount_space **at = &f->spaces;

	if (!p || --p->refs)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	space_set(f, p, NULL);
	give(f, p);
}

static void files_put(struct follow *f, struct files *d)
{
	if (!d || --d->refs)
		return;
	for (unsigned fd = 0; fd < d->n; fd++)
		file_put(f, d->v[fd].file);
	space_put(f, d->space);
	give(f, d->v);
	give(f, d);
}

/* Give a task a copy of its own. */
static void own_copy(struct follow *f, struct files **at)
{
	struct files *from = *at, *d;

	if (!from || from->refs == 1)
		return;
	*at = d = object_new(f, sizeof(struct files));
	if (d)
		d->space = object_ref(from->space);
	for (unsigned fd = from->n; fd--;)
		set_file(f, d, fd, object_ref(from->v[fd].file), from->v[fd].cloexec);
	files_put(f, from);
}

static void forget(struct follow *f, struct member *m)
{
	files_put(f, m->d);
	files_put(f, m->w);
	table_remove(&f->tasks, m);
	f->used -= sizeof(*m);
}

/* ---- addresses of sockets ---- */

/* Write the address of IPv4 or IPv6, without port 0, which the kernel replaces. */
static void inet(char out[ADDRESS], int v6, const unsigned char *ip, unsigned port)
{
	struct out o = out_to(out, ADDRESS - 1);

	if (port && v6) {
		out_char(&o, '[');
		call_ip6(&o, ip);
		out_format(&o, "]:%u", port);
	} else if (port) {
		out_format(&o, "%d.%d.%d.%d:%u", ip[0], ip[1], ip[2], ip[3], port);
	}
	*o.at = '\0';
}

/*
 * Write the address that a program gave, of which n bytes are known; "" if it is not known.
 * Return the family, 0 if it is not known.
 */
static unsigned address(char out[ADDRESS], const struct call_bytes *user, uint64_t n)
{
	const unsigned char *a = (const unsigned char *)user->bytes;
	unsigned family;

	*out = '\0';
	if (n > user->n)
		n = user->n;
	if (!a || user->fault || n < 3)
		return 0;
	family = (unsigned)a[0] | a[1]; /* below 256, in any byte order */
	if (family == AF_INET && n >= 8)
		inet(out, 0, a + 4, (unsigned)a[2] << 8 | a[3]);
	else if (family == AF_INET6 && n >= 24)
		inet(out, 1, a + 8, (unsigned)a[2] << 8 | a[3]);
	else if (family == AF_UNIX && n <= 110) {
		memcpy(out, a + 2, (size_t)n - 2);
		out[n - 2] = '\0';
		if (!*out) /* abstract, unix(7) */
			*out = '@';
	}
	return family;
}

/* Set an address of a socket: its own (0) or that of its peer (1). */
static void set_address(struct file *s, unsigned which, const struct call_bytes *user, uint64_t n)
{
	unsigned family;

	if (!s || !s->socket)
		return;
	family = address(s->name + which * ADDRESS, user, n);
	if (!s->family)
		s->family = (uint16_t)family;
}

/* Return word i of a line of a list; words have spaces between them. */
static const char *word(const char *s, unsigned i)
{
	for (s += strspn(s, " "); i--; s += strspn(s, " "))
		s += strcspn(s, " \n");
	return s;
}

static const char *next_line(const char *s)
{
	s += strcspn(s, "\n");
	return s + !!*s;
}

/* Read n hexadecimal digits. */
static uint32_t hex(const char *s, unsigned n)
{
	uint32_t v = 0;

	for (; n-- && *s > ' '; s++)
		v = v << 4 | ((unsigned char)*s % 32 + (*s > '9' ? 9u : 0u)) % 16;
	return v;
}

/* Write the address of a list of sockets: words as the host has them in memory, and the port. */
static void listed(char out[ADDRESS], int v6, const char *s)
{
	uint32_t ip[4];

	for (unsigned i = 0; i < (v6 ? 4 : 1); i++, s += 8)
		ip[i] = hex(s, 8);
	inet(out, v6, (const unsigned char *)ip, hex(s + 1, 4));
}

/* Return the port of an address, with its colon; "" if there is none. */
static const char *port_of(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? colon : "";
}

/* Is it the address of a listener that takes connections to any address? */
static int is_any(const char *address)
{
	return !*address || !strncmp(address, "0.0.0.0:", 8) || !strncmp(address, "[::]:", 5);
}

/* The addresses that look_up finds */
struct found {
	unsigned n;                     /* sockets that they can be of */
	unsigned list;
	char local[ADDRESS], peer[ADDRESS];
};

/*
 * Find the lines of a list that fit a socket: by its inode, or if that is not known, by the
 * address of its peer and the port of its listener.
 */
static void compare(const struct file *s, unsigned list, const char *text, struct found *found)
{
	char a[ADDRESS], b[ADDRESS];

	for (const char *line = next_line(text); *line; line = next_line(line)) {
		const char *digits = word(line, 9);

		if (s->inode && (text_digits(&digits) != s->inode || *digits != ' '))
			continue;
		listed(a, list > 1, word(line, 1));
		listed(b, list > 1, word(line, 2));
		if (!s->inode && (strcmp(b, s->name + ADDRESS) ||
				  (s->accepted && strcmp(port_of(a), port_of(s->name)))))
			continue;
		memcpy(found->local, a, ADDRESS);
		memcpy(found->peer, b, ADDRESS);
		found->list = list;
		found->n++;
	}
}

/* Is an address of the socket unknown which the kernel has? */
static int incomplete(const struct file *s)
{
	return s->inode ? !*s->name : s->name[ADDRESS] && is_any(s->name) &&
	       (s->family == AF_INET || s->family == AF_INET6);
}

/*
 * Find the addresses of a socket in the lists of procfs if one is unknown. A descriptor may be
 * another socket by now, so a socket that was made in the trace is known only by the addresses that
 * its calls gave; if two lines have them, or a list is too long, the rest is not known.
 */
static void look_up(struct follow *f, int pid, struct file *s)
{
	static const char *const lists[] = { "net/tcp", "net/udp", "net/tcp6", "net/udp6" };
	struct found found = { 0 };
	char text[SOCKETS];
	int64_t now = time_now_ms() / 128;

	if (!f->live || s->final || !incomplete(s))
		return;
	if (f->when != now) {
		f->when = now;
		f->looked = 0;
	}
	if (f->looked >= MOST_LOOKUPS || procfs_begin() < 0)
		return;
	f->looked++;
	s->final = 1;
	for (unsigned i = 0; i < 4 && !(found.n && s->inode); i++) {
		if ((s->family && s->family != (i > 1 ? AF_INET6 : AF_INET)) ||
		    (s->type && s->type != (i % 2 ? SOCK_DGRAM : SOCK_STREAM)) ||
		    task_read_file(pid, lists[i], text, sizeof(text)) < 0)
			continue;
		compare(s, i, text, &found);
		if (!s->inode && strlen(text) == sizeof(text) - 1)
			found.n = 2;
	}
	procfs_end();
	if (found.n != 1)
		return;
	s->family = found.list > 1 ? AF_INET6 : AF_INET;
	s->type = found.list % 2 ? SOCK_DGRAM : SOCK_STREAM;
	s->accepted = 0;
	memcpy(s->name, found.local, ADDRESS);
	memcpy(s->name + ADDRESS, found.peer, ADDRESS);
}

static struct file *socket_new(struct follow *f, uint64_t family, uint64_t type)
{
	struct file *s = file_new(f, NULL, 2 * ADDRESS);

	if (s) {
		s->socket = 1;
		s->family = (uint16_t)family;
		s->type = type & K_SOCK_TYPE_MASK;
	}
	return s;
}

/* ---- tasks: what procfs shows ---- */

/* Write the path of a task's file in procfs to out (PATH_MAX bytes). pid 0: this program. */
static void task_path(int pid, const char *name, char *out)
{
	char digits[16];

	str_format(digits, sizeof(digits), "%d", pid);
	str_format(out, PATH_MAX, "%s/%s/%s", path_procfs(), pid ? digits : "self", name);
}

/*
 * Read a link of a task in procfs into out (PATH_MAX bytes). The kernel gives a path from the
 * root directory of the mount namespace. Return the length; 0, silent, if it cannot be read.
 */
static size_t read_link(int pid, const char *name, char *out)
{
	char path[PATH_MAX];
	ssize_t n;

	task_path(pid, name, path);
	n = readlink(path, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Return the file of a link in procfs, NULL if there is none. */
static struct file *file_of_link(struct follow *f, int pid, const char *name)
{
	char link[PATH_MAX];
	const char *digits = link + 8;
	size_t n = read_link(pid, name, link);
	struct file *s;

	if (!n || strncmp(link, "socket:[", 8))
		return n ? file_new(f, link, n) : NULL;
	s = socket_new(f, 0, 0);
	if (s)
		s->inode = text_digits(&digits);
	return s;
}

/* Does an exec close the descriptor? */
static int read_cloexec(int pid, const char *fd)
{
	char text[128];
	const char *s;

	str_format(text, sizeof(text), "fdinfo/%s", fd);
	s = task_read_file(pid, text, text, sizeof(text)) < 0 ? NULL : strstr(text, "flags:\t");
	return s && strtoul(s + 7, NULL, 8) & O_CLOEXEC;
}

static void read_descriptors(struct follow *f, struct files *d, int pid)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *list;

	task_path(pid, "fd", path);
	list = file_list(AT_FDCWD, path);
	for (unsigned n = 0; list && n < MOST_READ && (e = readdir(list)); n++) {
		unsigned long fd;
		struct file *p;

		if (text_number(e->d_name, 0, MOST_FDS - 1, &fd) < 0)
			continue;
		/* what the kernel says of a descriptor can be long, too */
		if (procfs_begin() < 0)
			break;
		str_format(path, sizeof(path), "fd/%lu", fd);
		p = file_of_link(f, pid, path);
		if (p)
			set_file(f, d, fd, p, read_cloexec(pid, e->d_name));
		procfs_end();
	}
	if (list)
		closedir(list);
}

/* Return the number of a task's mount namespace in procfs, 0: unknown. pid 0: this program. */
static unsigned long long space_id(int pid)
{
	char link[PATH_MAX];
	const char *digits = link + sizeof("mnt:[") - 1;

	return read_link(pid, "ns/mnt", link) && !strncmp(link, "mnt:[", sizeof("mnt:[") - 1) ?
	       text_digits(&digits) : 0;
}

/* Return the namespace of a task, as procfs shows it now. NULL: no memory. */
static struct mount_space *read_space(struct follow *f, int pid, const struct file *root)
{
	unsigned long long id = space_id(pid);
	struct mount_space *p;

	for (p = id ? f->spaces : NULL; p; p = p->next)
		if (p->id == id)
			return object_ref(p);
	p = space_new(f);
	if (!p)
		return NULL;
	p->id = id;
	p->own = id && id == space_id(0);
	p->host = id && id == space_id(1);
	if (f->host_paths && !p->host)
		space_set(f, p, root ? mounts_read(pid, root->name) : mounts_unknown());
	return p;
}

static void change_root(struct follow *f, struct member *m, struct file *to)
{
	if (to && *to->name != '/') {
		file_put(f, to);
		to = NULL;
	}
	set_file(f, m->w, ROOT, to, 0);
}

static struct member *member_find(const struct follow *f, int pid)
{
	return table_find(&f->tasks, (const char *)&pid, sizeof(pid));
}

/* Return the new task. NULL: no memory. */
static struct member *member_new(struct follow *f, int pid)
{
	struct member *m;

	f->tasks.size = sizeof(*m);
	if (f->used > MOST_MEMORY / 2)
		return NULL;
	m = table_at(&f->tasks, (const char *)&pid, sizeof(pid));
	f->used += sizeof(*m);
	return m;
}

/* Let a task share descriptors and directories of another. */
static void share(struct member *m, const struct member *with)
{
	m->d = object_ref(with->d);
	m->w = object_ref(with->w);
}

/* Begin with what procfs shows of a task. */
static void read_task(struct follow *f, struct member *m, int pid)
{
	m->d = object_new(f, sizeof(struct files));
	m->w = object_new(f, sizeof(struct files));
	if (!f->live) {
		change_root(f, m, file_new(f, "/", 1));
	} else if (!procfs_begin()) {
		if (m->w) {
			change_root(f, m, file_of_link(f, pid, "root"));
			m->w->space = read_space(f, pid, get_file(m->w, ROOT));
			set_file(f, m->w, CWD, file_of_link(f, pid, "cwd"), 0);
		}
		procfs_end();
		if (m->d)
			read_descriptors(f, m->d, pid);
	}
}

/* Return the task; begin with procfs if it is first seen. NULL: no memory. */
static struct member *member(struct follow *f, int pid)
{
	struct member *m = member_find(f, pid), *leader;
	pid_t tgid = pid;
	uid_t uid;

	if (m)
		return m;
	if (f->live && task_ids(pid, &tgid, &uid) < 0)
		tgid = pid;
	m = member_new(f, pid);
	if (!m)
		return NULL;
	m->tgid = f->live ? tgid : 0;
	leader = tgid == pid ? NULL : member_find(f, tgid);
	if (leader) {
		share(m, leader);
		return m;
	}
	read_task(f, m, pid);
	leader = tgid == pid ? NULL : member_new(f, tgid);
	if (leader) {
		leader->tgid = tgid;
		m = member_find(f, pid);
		share(leader, m);
	}
	return m;
}

/* ---- paths ---- */

/* Remove the last part of a path of n bytes, but nothing of the first base bytes. */
static size_t parent(const char *path, size_t n, size_t base)
{
	while (n > base && path[--n] != '/')
		;
	return n;
}

/*
 * Join path, of n bytes, and the directory where it begins. The directory has no symbolic
 * links, so .. removes its last part, but nothing of the root directory; after a part of path,
 * which may be a link, .. stays. Return the length, 0 if the directory is unknown or the path
 * is empty or does not fit. The path begins with "?" if the directory does, or is gone. Set *sure
 * if it has no link for another reason than that.
 */
static size_t join(const struct member *m, int dirfd, const char *path, size_t n, char *out,
		   int *sure)
{
	const struct file *root = get_file(m->w, ROOT), *from = root;
	size_t len, solid, base = 0, mark;
	const char *name;

	if (!n)
		return 0;
	if (*path != '/') {
		from = dirfd == AT_FDCWD ? get_file(m->w, CWD) : get_file(m->d, (unsigned)dirfd);
		if (!from || from->socket)
			return 0;
	}
	name = from ? from->name : "?/";
	mark = *name == '?';
	name += mark;
	if (*name != '/')
		return 0;
	len = strlen(name);
	mark |= len > 10 && !strcmp(name + len - 10, " (deleted)");
	*out = '?';
	out += mark;
	memcpy(out, name, len);
	len -= len == 1;
	if (root && root->name[1] && path_is_below(name, root->name))
		base = strlen(root->name);
	solid = len;
	for (const char *end = path + n; path < end;) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t part = slash ? (size_t)(slash - path) : (size_t)(end - path);

		if (part == 2 && !memcmp(path, "..", 2) && len <= solid) {
			solid = len = parent(out, len, base);
		} else if (part && (part != 1 || *path != '.')) {
			if (len + part + 3 > PATH_MAX)
				return 0;
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part + !!slash;
	}
	*sure = !mark && len <= solid;
	if (!len)
		out[len++] = '/';
	out[len] = '\0';
	return len + mark;
}

/*
 * Open the root directory of a task. Return a descriptor, -1 if it is that of this program, or
 * -2 if it cannot be opened, or is another one by now. Set *skip to the length of its path.
 */
static int open_root(const struct member *m, int pid, size_t *skip)
{
	const struct mount_space *space = space_of(m);
	const struct file *file = get_file(m->w, ROOT);
	const char *root = file ? file->name : "/";
	char now[PATH_MAX];
	int dir = -2;

	*skip = root[1] ? strlen(root) : 0;
	if (!file || !space)
		return -2;
	if (space->own && !root[1])
		return -1;
	if (space->own) {
		dir = path_open_cached(-1, root, O_PATH | O_DIRECTORY, PATH_NO_LINKS);
	} else if (!procfs_begin()) {
		if (space->id && space_id(pid) == space->id && read_link(pid, "root", now) &&
		    !strcmp(now, root)) {
			task_path(pid, "root", now);
			dir = open(now, O_PATH | O_DIRECTORY | O_CLOEXEC);
		}
		procfs_end();
	}
	return dir < 0 ? -2 : dir;
}

/*
 * Follow the symbolic links of a path of the task below its root directory. Return the length of
 * the path that procfs shows then, or 0 if it is not known.
 */
static size_t resolve(const struct member *m, int pid, int nofollow, const char *path, char *out)
{
	char name[32];
	size_t n, skip;
	int dir = open_root(m, pid, &skip), fd = -1;

	if (dir > -2 && path_is_below(path, skip ? get_file(m->w, ROOT)->name : "/"))
		fd = path_open_cached(dir, path[skip] ? path + skip : "/",
				      O_PATH | (nofollow ? O_NOFOLLOW : 0), PATH_LINKS);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return 0;
	str_format(name, sizeof(name), "fd/%d", fd);
	n = read_link(0, name, out);
	close(fd);
	/* /proc/self would be this program */
	return n < 10 || (strncmp(out, "/proc/", 6) && strcmp(out + n - 10, " (deleted)")) ? n : 0;
}

/* Return the task with a number in procfs, NULL if it is not known. */
static const struct member *member_of(struct follow *f, const struct member *m, int pid,
				      unsigned long long id)
{
	const struct mount_space *space = space_of(m);

	if (id == (unsigned)pid || id == (unsigned)m->tgid)
		return m;
	/* another pid namespace may have other numbers */
	return space && space->own && id <= INT_MAX ? member_find(f, (int)id) : NULL;
}

/*
 * Follow a link of procfs to a file of a task, "/proc/PID/fd/3", cwd or root. here is such a path,
 * or another one. Return 1 and the file, NULL if it is not known; or 0 if it is no such link.
 * Replace /proc/self by the path that it leads to.
 */
static int magic(struct follow *f, const struct member *m, int pid, char *here, size_t *n,
		 const struct file **to)
{
	int self = !strcmp(here, "/proc/self"), thread = !strcmp(here, "/proc/thread-self");
	const struct member *of;
	const char *s = here + 6;
	unsigned long long id;

	*to = NULL;
	if (!m->tgid && (self || thread))
		return 1;
	if (self)
		*n = str_format(here, PATH_MAX, "/proc/%d", m->tgid);
	if (thread)
		*n = str_format(here, PATH_MAX, "/proc/%d/task/%d", m->tgid, pid);
	if (strncmp(here, "/proc/", 6) || *s < '0' || *s > '9')
		return 0;
	id = text_digits(&s);
	if (!strncmp(s, "/task/", 6) && s[6] >= '0' && s[6] <= '9') {
		s += 6;
		id = text_digits(&s);
	}
	if (*s++ != '/')
		return 0;
	of = member_of(f, m, pid, id);
	if (!strcmp(s, "root") || !strcmp(s, "cwd")) {
		*to = of ? get_file(of->w, *s == 'r' ? ROOT : CWD) : NULL;
		return 1;
	}
	if (!strncmp(s, "fd/", 3) && s[3] >= '0' && s[3] <= '9') {
		s += 3;
		id = text_digits(&s);
		*to = of && !*s ? get_file(of->d, id) : NULL;
		return 1;
	}
	return !strcmp(s, "exe") || !strncmp(s, "ns/", 3) || !strncmp(s, "map_files/", 10);
}

/*
 * Read the link at a path below dir, without waiting for a file system. Return its length, 0 if it
 * is another file, or -1 if it is not known.
 */
static int read_part(int dir, const char *here, size_t skip, char text[PATH_MAX])
{
	int fd, n;

	if (!strcmp(here, "/proc/mounts") || !strcmp(here, "/proc/net"))
		return (int)str_format(text, PATH_MAX, "self%s", here + 5);
	if (!strncmp(here, "/proc/", 6))
		return 0;
	fd = path_open_cached(dir, here + skip, O_PATH | O_NOFOLLOW, PATH_LINKS);
	/* the kernel itself answers for these files, and keeps no names of them */
	if (fd < 0 && dir < 0 && (path_is_below(here, "/sys") || path_is_below(here, "/dev/pts")))
		fd = open(here, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = (int)readlinkat(fd, "", text, PATH_MAX - 1);
	close(fd);
	return n < 0 ? 0 : n;
}

/*
 * Follow path, below the directory root, part by part, because the kernel would follow the links of
 * procfs for this program. The root has base bytes of name, and dir is a descriptor of it. Return
 * the file, which the caller gives away, or NULL if it is not known.
 */
static struct file *walk_below(struct follow *f, const struct member *m, int pid, int nofollow,
			       int dir, const char *root, size_t base, const char *path)
{
	char here[PATH_MAX], rest[PATH_MAX], text[PATH_MAX], *s = rest;
	const struct file *to = NULL;
	size_t n = base;
	int links = 0;

	memcpy(here, root, base);
	str_format(rest, sizeof(rest), "%s", path);
	for (; *s; s += strspn(s, "/")) {
		size_t part = strcspn(s, "/");
		int link, last = !s[part + strspn(s + part, "/")];

		to = NULL;
		if (part == 2 && !memcmp(s, "..", 2)) {
			n = parent(here, n, base);
		} else if (part && (part != 1 || *s != '.')) {
			if (n + part + 2 > PATH_MAX)
				return NULL;
			here[n++] = '/';
			memcpy(here + n, s, part);
			n += part;
		}
		here[n] = '\0';
		s += part;
		if (!n || (last && nofollow))
			continue;
		if (magic(f, m, pid, here, &n, &to)) {
			/* a pipe or socket ends the path */
			if (!to || (*to->name != '/' && !last))
				return NULL;
			n = str_format(here, PATH_MAX, "%s", *to->name == '/' ? to->name : "");
			n -= n == 1;
			continue;
		}
		link = read_part(dir, here, base, text);
		if (!link)
			continue;
		if (link < 0 || ++links > 40 || (size_t)link + strlen(s) + 1 > sizeof(rest))
			return NULL;
		n = *text == '/' ? base : parent(here, n, base);
		memcpy(here, root, base);
		memmove(rest + link, s, strlen(s) + 1);
		memcpy(rest, text, (size_t)link);
		s = rest;
	}
	return to ? object_ref(to) : n ? file_new(f, here, n) : file_new(f, "/", 1);
}

static struct file *walk(struct follow *f, const struct member *m, int pid, int nofollow,
			 const char *path)
{
	size_t skip;
	int dir = open_root(m, pid, &skip);
	struct file *p;

	if (dir == -2)
		return NULL;
	p = walk_below(f, m, pid, nofollow, dir, get_file(m->w, ROOT)->name, skip, path + skip);
	if (dir >= 0)
		close(dir);
	return p;
}

/* Does the host have the file of a namespace that is no more to be entered, and no link? */
static int is_on_host(const struct member *m, const char *path)
{
	const struct mount_space *p = space_of(m);
	char host[PATH_MAX];
	int fd = p && !p->own && p->mounts && !mounts_host(p->mounts, path, host) ?
		 path_open_cached(-1, host, O_PATH, PATH_NO_LINKS) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Return the place of a symbolic link that a task has made, or NULL. The link may be gone, or lead
 * elsewhere, when its trace is read.
 */
static struct follow_link *made_link(struct follow *f, const char *path)
{
	for (unsigned i = 0; i < FOLLOW_LINKS; i++) {
		struct follow_link *l = &f->links[(f->newest - i) % FOLLOW_LINKS];

		if (l->at && !strcmp(l->at->name, path))
			return l;
	}
	return NULL;
}

static void forget_link(struct follow *f, struct follow_link *l)
{
	if (l) {
		file_put(f, l->at);
		file_put(f, l->to);
		l->at = l->to = NULL;
	}
}

/*
 * If a task has made a link at the path, replace the path by where the link leads, below root.
 * Return 0, or -1.
 */
static int follow_link(struct follow *f, const char *root, char path[PATH_MAX])
{
	const struct follow_link *l = made_link(f, path);
	const char *to = l && l->to ? l->to->name : "", *at = *to == '/' ? root : path;
	size_t n = *to == '/' ? root[1] ? strlen(root) : 0 : (size_t)(strrchr(path, '/') - path);
	char real[PATH_MAX];

	if (!*to || str_format(real, PATH_MAX, "%.*s%s%s", (int)n, at, *to == '/' ? "" : "/",
			       to) >= PATH_MAX)
		return -1;
	str_format(path, PATH_MAX, "%s", real);
	return 0;
}

/* Is the file with this name a file of the task's descriptor now? It may be removed. */
static int is_open(int pid, int fd, const char *name)
{
	char link[PATH_MAX], which[32];
	size_t n = strlen(name), got;

	if (fd < 0 || procfs_begin() < 0)
		return 0;
	str_format(which, sizeof(which), "fd/%d", fd);
	got = read_link(pid, which, link);
	procfs_end();
	return got >= n && !strncmp(link, name, n) &&
	       (!link[n] || !strcmp(link + n, " (deleted)"));
}

/* What is known of the last part of a path that a task gave: */
enum {
	NO_FOLLOW = 1,          /* the call does not follow it, if it is a link */
	NO_LINK = 2,            /* it is none */
};

/*
 * Return the file of a path that cannot be followed, because it is gone by now. Its directory may
 * be there.
 */
static struct file *opened_before(struct follow *f, int pid, const struct member *m,
				  const char *path, int how, int fd)
{
	char name[PATH_MAX + 1] = "?", dir[PATH_MAX] = "";
	const char *last = strrchr(path, '/');
	size_t n = 0;
	int found = 0, sure;

	if (last > path && strcmp(last, "/..")) {
		str_format(name + 1, PATH_MAX, "%.*s", (int)(last - path), path);
		n = resolve(m, pid, 0, name + 1, dir);
		found = n && n + strlen(last) < PATH_MAX;
		n -= n == 1;
	}
	str_format(name + 1, PATH_MAX, "%.*s%s", found ? (int)n : 0, dir, found ? last : path);
	/* the name may have been a link, whose end is not known any more */
	sure = (found && how) || is_open(pid, fd, name + 1);
	return file_new(f, name + sure, strlen(name + sure));
}

/*
 * Return the file that a task names by a path of user memory, or NULL. fd is the descriptor that
 * it got, or -1.
 */
static struct file *opened(struct follow *f, int pid, const struct member *m, int dirfd,
			   const struct call_bytes *user, int how, int fd)
{
	char path[PATH_MAX + 1], real[PATH_MAX + 1];
	size_t len = user->bytes ? strnlen(user->bytes, user->n) : 0;
	const struct file *root = get_file(m->w, ROOT);
	struct file *p;
	int sure;

	if (!len || user->cut || user->fault)
		return NULL;
	len = join(m, dirfd, user->bytes, len, path, &sure);
	if (!len)
		return NULL;
	if (!f->live || !m->w || *path == '?' || sure)
		return file_new(f, path, len);
	for (int i = 0; i < 8 && root && !(how & NO_FOLLOW); i++)
		if (follow_link(f, root->name, path) < 0)
			break;
	len = resolve(m, pid, how & NO_FOLLOW, path, real);
	if (len)
		return file_new(f, real, len);
	p = walk(f, m, pid, how & NO_FOLLOW, path);
	if (p)
		return p;
	return is_on_host(m, path) ? file_new(f, path, strlen(path)) :
	       opened_before(f, pid, m, path, how, fd);
}

/* ---- rules: what each call does ---- */

/* A call that has succeeded. */
struct done {
	struct follow *f;
	struct member *m;
	int pid;
	int new;                        /* procfs shows what is after the call */
	const struct call *c;
	const uint64_t *a;
	const struct call_bytes *user;
	int64_t result;
	const struct follow_rule *rule;
	struct file *file;              /* of the first argument, if that is a descriptor */
};

/* Return the file of path number n of the call, which begins at the descriptor before it. */
static struct file *path_of(const struct done *d, unsigned n, int how, int fd)
{
	for (unsigned i = 0; i < d->c->nargs; i++)
		if (d->c->args[i].kind == CALL_PATH && !n--)
			return opened(d->f, d->pid, d->m,
				      i && d->c->args[i - 1].kind == CALL_DIRFD ?
				      (int)d->a[i - 1] : AT_FDCWD, &d->user[i], how, fd);
	return NULL;
}

static int closes(const struct done *d)
{
	return d->rule->always || d->a[d->rule->flags] & d->rule->cloexec;
}

/* Let the new descriptor be the file. */
static void returns(const struct done *d, struct file *file)
{
	set_file(d->f, d->m->d, (uint64_t)d->result, file, closes(d));
}

static int is_known(const struct call_bytes *user, size_t n)
{
	return user->bytes && !user->fault && user->n >= n;
}

static void do_nothing(const struct done *d)
{
	(void)d;
}

static void do_unknown(const struct done *d)
{
	returns(d, NULL);
}

/* A file is opened with flags of open(2). */
static void open_file(const struct done *d, uint64_t flags)
{
	int how = (flags & O_NOFOLLOW ? NO_FOLLOW : 0) |
		  (~flags & (O_CREAT | O_EXCL) ? 0 : NO_LINK);

	set_file(d->f, d->m->d, (uint64_t)d->result,
		 flags & K_O_TMPFILE ? NULL : path_of(d, 0, how, (int)d->result),
		 !!(flags & O_CLOEXEC));
}

static void do_open(const struct done *d)
{
	open_file(d, d->rule->cloexec ? d->a[d->rule->flags] : 0);
}

static void do_open_how(const struct done *d)
{
	uint64_t flags = K_O_TMPFILE;

	if (is_known(&d->user[2], sizeof(flags)))
		memcpy(&flags, d->user[2].bytes, sizeof(flags));
	open_file(d, d->f->swapped ? __builtin_bswap64(flags) : flags);
}

static void do_memfd(const struct done *d)
{
	const struct call_bytes *user = d->user;
	size_t n = user->bytes ? strnlen(user->bytes, user->n) : 0;
	char name[300];

	n = str_format(name, sizeof(name), "/memfd:%.*s (deleted)", (int)n, n ? user->bytes : "");
	returns(d, user->bytes && !user->cut && !user->fault && n < 267 ?
		   file_new(d->f, name, n) : NULL);
}

static void do_anonymous(const struct done *d)
{
	char name[64];
	size_t n = str_format(name, sizeof(name), "anon_inode:%s", call_texts + d->rule->text);

	returns(d, file_new(d->f, name, n));
}

static void do_signalfd(const struct done *d)
{
	/* otherwise it changes this descriptor */
	if ((int)d->a[0] < 0)
		do_anonymous(d);
}

static void do_close(const struct done *d)
{
	set_file(d->f, d->m->d, (uint32_t)d->a[0], NULL, 0);
}

static void do_close_range(const struct done *d)
{
	struct files **files = &d->m->d;

	if (d->a[2] & K_CLOSE_RANGE_UNSHARE)
		own_copy(d->f, files);
	for (uint32_t fd = (uint32_t)d->a[0]; *files && fd < (*files)->n && fd <= (uint32_t)d->a[1];
	     fd++)
		if (d->a[2] & K_CLOSE_RANGE_CLOEXEC)
			(*files)->v[fd].cloexec = 1;
		else
			set_file(d->f, *files, fd, NULL, 0);
}

static void do_dup(const struct done *d)
{
	if ((uint32_t)d->a[0] != (uint64_t)d->result)
		returns(d, object_ref(d->file));
}

static void set_cloexec(const struct done *d, int cloexec)
{
	if (d->file)
		d->m->d->v[(uint32_t)d->a[0]].cloexec = cloexec;
}

static void do_fcntl(const struct done *d)
{
	if (d->a[1] == F_DUPFD || d->a[1] == F_DUPFD_CLOEXEC)
		set_file(d->f, d->m->d, (uint64_t)d->result, object_ref(d->file),
			 d->a[1] == F_DUPFD_CLOEXEC);
	else if (d->a[1] == F_SETFD)
		set_cloexec(d, d->a[2] & 1);
}

/* FIOCLEX and FIONCLEX of asm-generic/ioctls.h, and of asm/ioctls.h of powerpc */
static void do_ioctl(const struct done *d)
{
	uint32_t request = (uint32_t)d->a[1];

	if (request == 0x5451 || request == 0x20006601)
		set_cloexec(d, 1);
	else if (request == 0x5450 || request == 0x20006602)
		set_cloexec(d, 0);
}

/* Two descriptors in user memory are the file. */
static void pair(const struct done *d, const struct call_bytes *user, struct file *p)
{
	uint32_t fds[2];

	for (unsigned i = 0; is_known(user, sizeof(fds)) && i < 2; i++) {
		memcpy(fds, user->bytes, sizeof(fds));
		set_file(d->f, d->m->d, d->f->swapped ? __builtin_bswap32(fds[i]) : fds[i],
			 object_ref(p), closes(d));
	}
	file_put(d->f, p);
}

static void do_pipe(const struct done *d)
{
	pair(d, &d->user[0], file_new(d->f, "pipe", 4));
}

static void do_socketpair(const struct done *d)
{
	pair(d, &d->user[3], socket_new(d->f, d->a[0], d->a[1]));
}

static void do_socket(const struct done *d)
{
	struct file *s = socket_new(d->f, d->a[0], d->a[1]);

	if (s && d->a[0] == AF_NETLINK)
		s->netlink = (uint8_t)(1 + d->a[2]);
	returns(d, s);
}

static void do_bind(const struct done *d)
{
	set_address(d->file, 0, &d->user[1], (uint32_t)d->a[2]);
}

static void do_connect(const struct done *d)
{
	set_address(d->file, 1, &d->user[1], (uint32_t)d->a[2]);
}

/* The length of a name of AF_UNIX, which may be none, is not known. */
static void do_own_name(const struct done *d)
{
	if (d->file && d->file->family != AF_UNIX && d->user[1].bytes)
		set_address(d->file, 0, &d->user[1], INET_MOST);
}

static void do_peer_name(const struct done *d)
{
	if (d->file && d->file->family != AF_UNIX && d->user[1].bytes)
		set_address(d->file, 1, &d->user[1], INET_MOST);
}

static void do_accept(const struct done *d)
{
	struct file *p = NULL, *s = d->file;

	if (s && s->socket) {
		look_up(d->f, d->pid, s);
		p = socket_new(d->f, s->family, s->type);
	}
	if (p) {
		memcpy(p->name, s->name, ADDRESS);
		p->accepted = p->family != AF_UNIX;
	}
	if (p && p->accepted) {
		set_address(p, 1, &d->user[1], INET_MOST);
		if (!p->type)
			p->type = SOCK_STREAM;
	}
	returns(d, p);
}

static void do_chdir(const struct done *d)
{
	if (!d->new)
		set_file(d->f, d->m->w, CWD, d->c->args[0].kind == CALL_PATH ?
			 path_of(d, 0, 0, -1) : object_ref(d->file), 0);
}

static void do_chroot(const struct done *d)
{
	if (!d->new)
		change_root(d->f, d->m, path_of(d, 0, 0, -1));
}

/*
 * Change the name of a file that moves, for the descriptors and the directories of the task: by
 * name, which returns 0 if the file keeps its name, and -1 if the new one is unknown.
 */
struct moved {
	int (*name)(const struct moved *, const char *old, char *new);
	const char *from, *to;  /* to NULL: removed */
};

static void rename_files(struct follow *f, struct files *d, const struct moved *v)
{
	char new[PATH_MAX];

	for (unsigned fd = 0; d && fd < d->n; fd++) {
		struct file *p = d->v[fd].file;
		int r = p && !p->socket && *p->name == '/' ? v->name(v, p->name, new) : 0;

		if (r)
			set_file(f, d, fd, r < 0 ? NULL : file_new(f, new, strlen(new)),
				 d->v[fd].cloexec);
	}
}

static int by_rename(const struct moved *v, const char *old, char *new)
{
	size_t n = strlen(v->from);

	if (!path_is_below(old, v->from) || (!v->to && old[n]))
		return 0;
	return str_format(new, PATH_MAX, "%s%s", v->to ? v->to : old,
			  v->to ? old + n : " (deleted)") < PATH_MAX ? 1 : -1;
}

static int by_pivot(const struct moved *v, const char *old, char *new)
{
	return !v->from || path_pivot(old, v->from, v->to, new) < 0 ? -1 : 1;
}

static int is_absolute(const struct file *p)
{
	return p && *p->name == '/';
}

/* Follow a rename, or a removal if to is NULL. */
static void moves(const struct done *d, const struct file *from, const char *to)
{
	struct moved v = { by_rename, from->name, to };

	rename_files(d->f, d->m->d, &v);
	rename_files(d->f, d->m->w, &v);
}

static void do_rename(const struct done *d)
{
	struct file *from = d->new ? NULL : path_of(d, 0, NO_FOLLOW, -1);
	struct file *to = d->new ? NULL : path_of(d, 1, NO_FOLLOW, -1);

	if (is_absolute(from) && from->name[1] && is_absolute(to))
		moves(d, from, to->name);
	file_put(d->f, from);
	file_put(d->f, to);
}

static void do_unlink(const struct done *d)
{
	struct file *p = path_of(d, 0, NO_FOLLOW, -1);

	if (is_absolute(p) && p->name[1])
		moves(d, p, NULL);
	if (p)
		forget_link(d->f, made_link(d->f, p->name));
	file_put(d->f, p);
}

static void do_symlink(const struct done *d)
{
	struct follow *f = d->f;
	const struct call_bytes *to = &d->user[0];
	size_t n = to->bytes && !to->cut && !to->fault ? strnlen(to->bytes, to->n) : 0;
	struct file *at = f->live && !d->new && n ? path_of(d, 1, NO_FOLLOW, -1) : NULL;
	struct follow_link *l;

	if (!is_absolute(at)) {
		file_put(f, at);
		return;
	}
	l = &f->links[++f->newest % FOLLOW_LINKS];
	forget_link(f, l);
	l->at = at;
	l->to = file_new(f, to->bytes, n);
}

/* The new root directory becomes "/", and the old "/" goes to old. */
static void do_pivot_root(const struct done *d)
{
	struct follow *f = d->f;
	struct mount_space *p = d->new ? NULL : space_of(d->m);
	struct file *root = p ? path_of(d, 0, 0, -1) : NULL, *old = p ? path_of(d, 1, 0, -1) : NULL;
	int known = is_absolute(root) && is_absolute(old);
	struct moved v = { by_pivot, known ? root->name : NULL, known ? old->name : NULL };

	if (!p)
		return;
	/* tasks at the old root directory go to the new one */
	rename_files(f, d->m->d, &v);
	rename_files(f, d->m->w, &v);
	if (known)
		change_root(f, d->m, file_new(f, "/", 1));
	if (!known || !get_file(d->m->w, CWD))
		set_file(f, d->m->w, CWD, known ? file_new(f, "/", 1) : NULL, 0);
	if (p->mounts && known) {
		f->used -= p->mounts->bytes;
		mounts_pivot(p->mounts, root->name, old->name);
		f->used += p->mounts->bytes;
	} else if (p->mounts) {
		space_set(f, p, mounts_unknown());
	}
	file_put(f, root);
	file_put(f, old);
}

enum { PROPAGATION = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE };

/* Change the mounts of a task's namespace. The files are given away. flags: -1 for an unmount. */
static void mounts_change(const struct done *d, struct file *source, struct file *target,
			  int64_t flags)
{
	struct mount_space *p = space_of(d->m);
	const char *from = is_absolute(source) ? source->name : NULL;
	const char *to = is_absolute(target) ? target->name : NULL;
	int binds = flags >= 0 && flags & MS_BIND, moves = flags >= 0 && !binds && flags & MS_MOVE;

	if (!to || (moves && !from)) {
		space_set(d->f, p, mounts_unknown());
	} else {
		d->f->used -= p->mounts->bytes;
		if (flags < 0)
			mounts_remove(p->mounts, to);
		else if (from && binds)
			mounts_bind(p->mounts, from, to, !!(flags & MS_REC));
		else if (from && moves)
			mounts_move(p->mounts, from, to);
		else
			mounts_add(p->mounts, to, NULL);
		d->f->used += p->mounts->bytes;
	}
	file_put(d->f, source);
	file_put(d->f, target);
}

static int has_mounts(const struct done *d)
{
	return !d->new && space_of(d->m) && space_of(d->m)->mounts;
}

static void do_mount(const struct done *d)
{
	int64_t flags = (int64_t)d->a[3];

	if (has_mounts(d) && !(flags & MS_REMOUNT) && (flags & MS_BIND || !(flags & PROPAGATION)))
		mounts_change(d, path_of(d, 0, 0, -1), path_of(d, 1, 0, -1), flags & INT32_MAX);
}

/* It may move a mount without a name. */
static void do_move_mount(const struct done *d)
{
	if (has_mounts(d))
		mounts_change(d, NULL, path_of(d, 1, 0, -1), 0);
}

static void do_umount(const struct done *d)
{
	if (has_mounts(d))
		mounts_change(d, NULL, path_of(d, 0, 0, -1), -1);
}

/* The task enters another mount namespace, at its root directory. */
static void do_setns(const struct done *d)
{
	struct follow *f = d->f;

	/* 0: the descriptor decides */
	if (d->new || !d->m->w || (d->a[1] && !(d->a[1] & CLONE_NEWNS)) ||
	    (!d->a[1] && d->file && strchr(d->file->name, ':') &&
	     strncmp(d->file->name, "mnt:", 4)))
		return;
	space_put(f, d->m->w->space);
	d->m->w->space = NULL;
	change_root(f, d->m, file_new(f, "/", 1));
	set_file(f, d->m->w, CWD, file_new(f, "/", 1), 0);
	if (f->live && !procfs_begin()) {
		d->m->w->space = read_space(f, d->pid, get_file(d->m->w, ROOT));
		procfs_end();
	}
}

/* Give a task a mount namespace of its own, whose mounts are a copy of those of its old one. */
static void unshare_mounts(struct follow *f, struct member *m, int pid)
{
	struct mount_space *old = space_of(m), *p;

	if (!old)
		return;
	p = m->w->space = space_new(f);
	if (p && f->live && !procfs_begin()) {
		p->id = space_id(pid);
		procfs_end();
		p->id = p->id == old->id ? 0 : p->id;
	}
	if (p && f->host_paths)
		space_set(f, p, old->host ? mounts_same() :
			  old->mounts ? mounts_copy(old->mounts) : mounts_unknown());
	space_put(f, old);
}

static void do_unshare(const struct done *d)
{
	if (d->a[0] & CLONE_FILES)
		own_copy(d->f, &d->m->d);
	if (d->a[0] & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER))
		own_copy(d->f, &d->m->w);
	if (d->a[0] & CLONE_NEWNS && !d->new)
		unshare_mounts(d->f, d->m, d->pid);
}

static void (*const rules[])(const struct done *) = { FOLLOW_RULES };

/* ---- the interface ---- */

int follow_makes_pair(const struct call *c)
{
	unsigned what = call_rules[c->follow].what;

	return what == FOLLOW_PIPE || what == FOLLOW_SOCKETPAIR;
}

int follow_makes_netlink(const struct call *c, const struct call_values *v)
{
	return call_rules[c->follow].what == FOLLOW_SOCKET && v->args[0] == AF_NETLINK;
}

int follow_knows(const struct follow *f, int pid)
{
	return member_find(f, pid) != NULL;
}

unsigned follow_netlink(const struct follow *f, int pid, int fd)
{
	const struct member *m = member_find(f, pid);
	const struct file *s = m ? get_file(m->d, (uint32_t)fd) : NULL;

	return s ? s->netlink : 0;
}

void follow_call(struct follow *f, int pid, const struct call *c, const struct call_values *v)
{
	const struct follow_rule *rule = &call_rules[c->follow];
	struct done d = { f, NULL, pid, 0, c, v->args, v->user, v->result, rule, NULL };
	size_t known = f->tasks.n;
	int failed = error_of_result(v->result) != 0;

	/* a descriptor is closed even so, close(2) */
	if (rule->what == FOLLOW_NOTHING ||
	    (failed && rule->what != FOLLOW_CLOSE &&
	     (rule->what != FOLLOW_CONNECT || v->result != -EINPROGRESS)))
		return;
	d.m = member(f, pid);
	if (!d.m)
		return;
	d.new = f->live && f->tasks.n != known;
	d.file = get_file(d.m->d, (uint32_t)v->args[0]);
	rules[rule->what](&d);
}

void follow_begin(struct follow *f, int pid)
{
	if (f->live)
		member(f, pid);
}

void follow_task(struct follow *f, int pid, int child, uint64_t clone_flags)
{
	const struct member *parent = member(f, pid);
	struct member *m;

	follow_end(f, child);
	m = parent ? member_new(f, child) : NULL;
	if (!m)
		return;
	parent = member_find(f, pid);
	share(m, parent);
	if (!(clone_flags & CLONE_FILES))
		own_copy(f, &m->d);
	if (!(clone_flags & CLONE_FS))
		own_copy(f, &m->w);
	if (f->live)
		m->tgid = clone_flags & CLONE_THREAD ? parent->tgid : child;
	if (clone_flags & CLONE_NEWNS)
		unshare_mounts(f, m, child);
}

void follow_end(struct follow *f, int pid)
{
	struct member *m = member_find(f, pid);

	if (m)
		forget(f, m);
}

void follow_rename(struct follow *f, int old_pid, int pid)
{
	struct member *m, *old;

	if (old_pid == pid || !member_find(f, old_pid))
		return;
	follow_end(f, pid);
	m = member_new(f, pid);
	old = member_find(f, old_pid);
	if (m) {
		share(m, old);
		m->tgid = f->live ? pid : 0;
	}
	forget(f, old);
}

void follow_exec(struct follow *f, int pid)
{
	struct member *m = member(f, pid);

	if (!m)
		return;
	own_copy(f, &m->d);
	for (unsigned fd = 0; m->d && fd < m->d->n; fd++)
		if (m->d->v[fd].cloexec)
			set_file(f, m->d, fd, NULL, 0);
}

void follow_lost(struct follow *f)
{
	for (unsigned i = 0; i < FOLLOW_LINKS; i++)
		forget_link(f, &f->links[i]);
	for (size_t i = 0; i < f->tasks.room; i++)
		while (f->tasks.v[i])
			forget(f, (struct member *)f->tasks.v[i]);
}

void follow_free(struct follow *f)
{
	follow_lost(f);
	free(f->tasks.v);
	f->tasks = (struct table){ 0 };
}

/* Write a name, which must not look like the result of a call after its arguments. */
static void put(struct out *o, const char *s)
{
	int control = 0;

	for (size_t left = 0; *s; s++, left--) {
		if (!left) /* the bytes of this character */
			left = text_char(s, strnlen(s, 4), &control);
		if (control || strchr("<>\"\\", *s) || !strncmp(s, ") = ", 4))
			out_format(o, "\\%d%d%d", (unsigned char)*s >> 6,
				   (unsigned char)*s >> 3 & 7, *s & 7);
		else
			out_char(o, *s);
	}
}

static void put_socket(struct out *o, const struct file *s)
{
	static const char unix_types[][11] = { "", "-STREAM", "-DGRAM", "", "", "-SEQPACKET" };
	int peer = s->name[ADDRESS] || s->accepted;
	const char *local = s->name;

	switch (s->family) {
	case AF_INET:
	case AF_INET6:
		out_string(o, s->type == SOCK_STREAM ? "TCP" :
			   s->type == SOCK_DGRAM ? "UDP" : "IP");
		out_string(o, s->family == AF_INET6 ? "v6" : "");
		break;
	case AF_UNIX:
		out_string(o, "UNIX");
		out_string(o, s->type < 6 ? unix_types[s->type] : "");
		break;
	default:
		out_string(o, s->family == AF_NETLINK ? "NETLINK" : "socket");
	}
	if (!*local && !peer) {
		if (s->inode)
			out_format(o, ":[%llu]", s->inode);
		return;
	}
	out_char(o, ':');
	if (s->accepted && is_any(local)) { /* of the address of its listener, the port is right */
		out_char(o, '?');
		local = port_of(local);
	}
	put(o, *local || s->accepted || s->family == AF_UNIX ? local : "?");
	if (peer) {
		out_string(o, "->");
		put(o, s->name[ADDRESS] || s->family == AF_UNIX ? s->name + ADDRESS : "?");
	}
}

/*
 * Return a path of a namespace as the task sees it, or as the host does. What is not known has "?"
 * before it.
 */
static const char *shown(const struct follow *f, const struct member *m, const char *path,
			 char *out)
{
	const struct file *file = get_file(m->w, ROOT);
	const struct mount_space *space = space_of(m);
	const char *root = file ? file->name : "/";
	unsigned mark = *path == '?';

	/* include/linux/memfd.h: no file of a directory */
	if (path[mark] != '/' || !strncmp(path, "/memfd:", 7))
		return path;
	path += mark;
	*out = '?';
	if (f->host_paths && !(space && space->host)) {
		if (space && space->mounts && !mounts_host(space->mounts, path, out + 1))
			return out + !mark;
		mark = 1;
	}
	if (root[1] && !f->host_paths && path_is_below(path, root))
		path += strlen(root);
	str_format(out + 1, PATH_MAX, "%s", *path ? path : "/");
	return out + !mark;
}

size_t follow_print_fd(struct follow *f, int pid, int fd, char *buf, size_t size)
{
	struct out o = out_to(buf, size - !!size);
	char path[PATH_MAX + 1];
	struct member *m = member(f, pid);
	struct file *p = !m ? NULL : fd == AT_FDCWD ? get_file(m->w, CWD) :
			 get_file(m->d, (unsigned)fd);

	if (!p || !size)
		return 0;
	if (p->socket) {
		look_up(f, pid, p);
		put_socket(&o, p);
	} else {
		put(&o, shown(f, m, p->name, path));
	}
	for (char *s = o.end; o.cut && s > buf && o.end - s < 3;)
		*--s = '.';
	*o.at = '\0';
	return (size_t)(o.at - buf);
}

size_t follow_print_path(struct follow *f, int pid, int dirfd, const char *path, char *buf,
			 size_t size)
{
	char joined[PATH_MAX + 1], host[PATH_MAX + 1];
	const char *to;
	struct member *m = member(f, pid);
	int sure;
	size_t n = m ? join(m, dirfd, path, strlen(path), joined, &sure) : 0;

	if (!n)
		return 0;
	/* on the host, .. of a link or at the root directory leads elsewhere */
	if (f->host_paths && strstr(joined, "/..") && !sure) {
		struct call_bytes user = { .bytes = path, .n = strlen(path) };
		struct file *p = opened(f, pid, m, dirfd, &user, NO_FOLLOW, -1);

		str_format(joined, sizeof(joined), "%s%s", !p || !f->live ? "?" : "",
			   p ? p->name : joined);
		file_put(f, p);
	}
	to = shown(f, m, joined, host);
	n = strlen(to);
	if (n >= size)
		return 0;
	memcpy(buf, to, n + 1);
	return n;
}

size_t follow_print_file(struct follow *f, int pid, int fd, const struct call_bytes *path, int link,
			 char *buf, size_t size)
{
	char text[PATH_MAX + 1];
	struct member *m = member(f, pid);
	struct file *p = !m ? NULL : path ? opened(f, pid, m, fd, path, link ? NO_FOLLOW : 0, -1) :
			 object_ref(get_file(m->d, (unsigned)fd));
	const char *to = p && !p->socket ? p->name + (*p->name == '?') : "";
	size_t n = 0;

	if (*to == '/') {
		to = shown(f, m, to, text);
		n = strlen(to) < size ? strlen(to) : 0;
		memcpy(buf, to, n + 1);
	}
	file_put(f, p);
	return n;
}
