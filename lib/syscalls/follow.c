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
 *	rules: what each call does
 *	the interface
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "syscalls/syscalls.h"
#include "syscalls/mounts.h"

enum {
	MOST_MEMORY = 64 << 20, /* bytes */
	MOST_FDS = 1 << 16,     /* of a table; greater descriptors are unknown */
	MOST_READ = 4096,       /* descriptors of a task that procfs shows */
	MOST_LOOKUPS = 16,      /* of sockets, in about 128 ms */
	SOCKETS = 1 << 16,      /* bytes of a list of sockets */
	ADDRESS = 112,          /* bytes of the text of a socket address */
};

/* An open file, a directory of tasks, or a list of mounts. */
struct file {
	unsigned refs;
	uint32_t size;          /* bytes of memory */
	uint8_t socket;
	uint8_t final;          /* do not look up the addresses of the socket (again) */
	uint8_t accepted;       /* the kernel chose the address: that of the listener is a guess */
	uint16_t family, type;  /* of the socket; 0: unknown */
	unsigned long long inode;
	char name[];            /* a socket has two addresses: its own, and that of its peer */
};

struct descriptors {
	unsigned refs, n;
	struct descriptor {
		struct file *file;      /* NULL: unknown */
		int cloexec;
	} *v;
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

/*
 * The names of files and directories are paths from the root of the mount namespace, as procfs
 * has them. "?" in front says that the path may lead elsewhere: it has not been followed.
 */
struct directories {
	unsigned refs;
	struct file *root, *cwd;        /* NULL: unknown */
	struct mount_space *space;
};

struct member {
	struct table_entry entry;
	int tgid;                       /* 0: unknown */
	struct descriptors *d;
	struct directories *w;
};

/* ---- objects and their references ---- */

static void *take(struct follow *f, size_t n)
{
	if (n > MOST_MEMORY - f->used)
		return NULL;
	f->used += n;
	return xcalloc(1, n);
}

static void give(struct follow *f, void *p, size_t n)
{
	f->used -= n;
	free(p);
}

/* Return a file with n bytes of name, all zero if name is NULL. NULL: no memory. */
static struct file *file_new(struct follow *f, const char *name, size_t n)
{
	size_t size = sizeof(struct file) + n + 1;
	struct file *p = take(f, size);

	if (!p)
		return NULL;
	p->refs = 1;
	p->size = (uint32_t)size;
	if (name)
		memcpy(p->name, name, n);
	return p;
}

static struct file *file_ref(struct file *p)
{
	if (p)
		p->refs++;
	return p;
}

static void file_put(struct follow *f, struct file *p)
{
	if (p && !--p->refs)
		give(f, p, p->size);
}

/* Let a descriptor be the file, whose reference is given away. */
static void fd_set_file(struct follow *f, struct descriptors *d, uint64_t fd, struct file *file,
			int cloexec)
{
	if (d && file && fd >= d->n && fd < MOST_FDS) {
		unsigned n = ((unsigned)fd | 15) + 1;
		struct descriptor *more;

		if (n < 2 * d->n)
			n = 2 * d->n;
		more = take(f, n * sizeof(*more));
		if (more) {
			memcpy(more, d->v ? d->v : more, d->n * sizeof(*more));
			give(f, d->v, d->n * sizeof(*more));
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

static struct file *fd_file(const struct descriptors *d, uint64_t fd)
{
	return d && fd < d->n ? d->v[fd].file : NULL;
}

static void descriptors_put(struct follow *f, struct descriptors *d)
{
	if (!d || --d->refs)
		return;
	for (unsigned fd = 0; fd < d->n; fd++)
		file_put(f, d->v[fd].file);
	give(f, d->v, d->n * sizeof(*d->v));
	give(f, d, sizeof(*d));
}

static struct descriptors *descriptors_new(struct follow *f)
{
	struct descriptors *d = take(f, sizeof(*d));

	if (d)
		d->refs = 1;
	return d;
}

static struct descriptors *descriptors_copy(struct follow *f, const struct descriptors *from)
{
	struct descriptors *d = from ? descriptors_new(f) : NULL;

	for (unsigned fd = from ? from->n : 0; fd--;)
		fd_set_file(f, d, fd, file_ref(from->v[fd].file), from->v[fd].cloexec);
	return d;
}

static struct mount_space *space_new(struct follow *f)
{
	struct mount_space *p = take(f, sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->next = f->spaces;
	f->spaces = p;
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
	give(f, p, sizeof(*p));
}

static void directories_put(struct follow *f, struct directories *w)
{
	if (!w || --w->refs)
		return;
	file_put(f, w->root);
	file_put(f, w->cwd);
	space_put(f, w->space);
	give(f, w, sizeof(*w));
}

static struct directories *directories_new(struct follow *f, const struct directories *from)
{
	struct directories *w = take(f, sizeof(*w));

	if (!w)
		return NULL;
	if (from) {
		*w = *from;
		file_ref(w->root);
		file_ref(w->cwd);
		if (w->space)
			w->space->refs++;
	} else {
		w->root = file_new(f, "/", 1);
	}
	w->refs = 1;
	return w;
}

/* Give a task a copy of its own. */
static void unshare_files(struct follow *f, struct member *m)
{
	struct descriptors *d = m->d;

	if (d && d->refs > 1) {
		m->d = descriptors_copy(f, d);
		descriptors_put(f, d);
	}
}

static void unshare_directories(struct follow *f, struct member *m)
{
	struct directories *w = m->w;

	if (w && w->refs > 1) {
		m->w = directories_new(f, w);
		directories_put(f, w);
	}
}

static void forget(struct follow *f, struct member *m)
{
	descriptors_put(f, m->d);
	directories_put(f, m->w);
	table_remove(&f->tasks, m);
	f->used -= sizeof(*m);
}

/* ---- addresses of sockets ---- */

/* Write the address of IPv4 or IPv6, without port 0, which the kernel replaces. */
static void inet(char out[ADDRESS], int v6, const unsigned char *ip, unsigned port)
{
	unsigned zeros = 0, begin = 8, part[8];
	char *s = out;

	*out = '\0';
	if (!port)
		return;
	if (!v6) {
		str_format(out, ADDRESS, "%d.%d.%d.%d:%u", ip[0], ip[1], ip[2], ip[3], port);
		return;
	}
	/* the longest run of two or more zeros is :: */
	for (unsigned i = 8, run = 0; i--;) {
		part[i] = (unsigned)ip[2 * i] << 8 | ip[2 * i + 1];
		run = part[i] ? 0 : run + 1;
		if (run > 1 && run >= zeros) {
			zeros = run;
			begin = i;
		}
	}
	*s++ = '[';
	for (unsigned i = 0; i < 8; i++) {
		if (i == begin) {
			*s++ = ':';
			i += zeros - 1;
			if (i == 7)
				*s++ = ':';
			continue;
		}
		s += str_format(s, 8, i ? ":%x" : "%x", part[i]);
	}
	str_format(s, 16, "]:%u", port);
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

/* Return word i of a line; words have blanks between. */
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

/*
 * Compare the lines of a list with a socket: with its inode, or if that is not known, with the
 * address of its peer and the port of its listener. Count the lines that fit, and write the
 * addresses of one to local and peer.
 */
static unsigned compare(const struct file *s, int v6, const char *text, char local[ADDRESS],
			char peer[ADDRESS])
{
	char a[ADDRESS], b[ADDRESS];
	unsigned n = 0;

	for (const char *line = next_line(text); *line; line = next_line(line)) {
		const char *digits = word(line, 9);

		if (s->inode && (text_digits(&digits) != s->inode || *digits != ' '))
			continue;
		listed(a, v6, word(line, 1));
		listed(b, v6, word(line, 2));
		if (!s->inode && (strcmp(b, s->name + ADDRESS) ||
				  (s->accepted && strcmp(port_of(a), port_of(s->name)))))
			continue;
		memcpy(local, a, ADDRESS);
		memcpy(peer, b, ADDRESS);
		n++;
	}
	return n;
}

/*
 * Find the addresses of a socket in the lists of procfs. A descriptor may be another socket by
 * now, so a socket that was made in the trace is known only by the addresses that its calls gave;
 * if two lines have them, or a list is too long, the rest is not known.
 */
static void look_up(struct follow *f, int pid, struct file *s)
{
	static const char lists[4][9] = { "net/tcp", "net/udp", "net/tcp6", "net/udp6" };
	static const uint16_t families[4] = { AF_INET, AF_INET, AF_INET6, AF_INET6 };
	char text[SOCKETS], local[ADDRESS], peer[ADDRESS];
	int64_t now = time_now_ms() / 128;
	unsigned n = 0, found = 0;

	if (f->when != now) {
		f->when = now;
		f->looked = 0;
	}
	if (f->looked >= MOST_LOOKUPS || procfs_begin() < 0)
		return;
	f->looked++;
	s->final = 1;
	for (unsigned i = 0; i < 4 && !(n && s->inode); i++) {
		unsigned lines;

		if ((s->family && s->family != families[i]) ||
		    (s->type && s->type != (i % 2 ? SOCK_DGRAM : SOCK_STREAM)) ||
		    task_read_file(pid, lists[i], text, sizeof(text)) < 0)
			continue;
		lines = compare(s, i > 1, text, local, peer);
		found = lines ? i : found;
		n += lines;
		if (!s->inode && strlen(text) == sizeof(text) - 1)
			n = 2;
	}
	procfs_end();
	if (n != 1)
		return;
	s->family = families[found];
	s->type = found % 2 ? SOCK_DGRAM : SOCK_STREAM;
	s->accepted = 0;
	memcpy(s->name, local, ADDRESS);
	memcpy(s->name + ADDRESS, peer, ADDRESS);
}

/* Is an address of the socket unknown which the kernel has? */
static int incomplete(const struct file *s)
{
	return s->inode ? !*s->name : s->name[ADDRESS] && is_any(s->name) &&
	       (s->family == AF_INET || s->family == AF_INET6);
}

static struct file *socket_new(struct follow *f, unsigned family, unsigned type)
{
	struct file *s = file_new(f, NULL, 2 * ADDRESS);

	if (s) {
		s->socket = 1;
		s->family = (uint16_t)family;
		s->type = type & 15; /* include/linux/net.h: SOCK_TYPE_MASK */
	}
	return s;
}

/* ---- tasks: what procfs shows ---- */

/*
 * Read a link of a task in procfs into out (PATH_MAX bytes). The kernel gives a path from the
 * root directory of the mount namespace. Return the length; 0, silent, if it cannot be read.
 */
static size_t read_link(int dir, const char *name, char *out)
{
	ssize_t n = readlinkat(dir, name, out, PATH_MAX - 1);

	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Do the same with a link below the task's directory. */
static size_t read_task_link(int pid, const char *name, char *out)
{
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/%d/%s", path_procfs(), pid, name);
	return read_link(AT_FDCWD, path, out);
}

/* Return the file of a link in procfs. */
static struct file *file_of_link(struct follow *f, const char *link, size_t n)
{
	struct file *s;

	if (strncmp(link, "socket:[", 8))
		return file_new(f, link, n);
	s = socket_new(f, 0, 0);
	link += 8;
	if (s)
		s->inode = text_digits(&link);
	return s;
}

/* Read the descriptors of a task. */
static void read_descriptors(struct follow *f, struct descriptors *d, int pid)
{
	char path[PATH_MAX], text[128];
	struct dirent *e;
	DIR *list;

	str_format(path, sizeof(path), "%s/%d/fd", path_procfs(), pid);
	list = file_list(AT_FDCWD, path);
	for (unsigned n = 0; list && n < MOST_READ && (e = readdir(list)); n++) {
		unsigned long fd, flags = 0;
		const char *s;
		size_t len;

		if (text_number(e->d_name, 0, MOST_FDS - 1, &fd) < 0)
			continue;
		/* what the kernel says of a descriptor can be long, too */
		if (procfs_begin() < 0)
			break;
		len = read_link(dirfd(list), e->d_name, path);
		if (!len) {
			procfs_end();
			continue;
		}
		str_format(text, sizeof(text), "fdinfo/%lu", fd);
		s = task_read_file(pid, text, text, sizeof(text)) < 0 ? NULL :
		    strstr(text, "flags:\t");
		for (s += s ? 7 : 0; s && *s >= '0' && *s <= '7'; s++)
			flags = flags * 8 + (unsigned)(*s - '0');
		procfs_end();
		fd_set_file(f, d, fd, file_of_link(f, path, len), !!(flags & O_CLOEXEC));
	}
	if (list)
		closedir(list);
}

/* Return the number of a task's mount namespace in procfs, 0: unknown. pid 0: this program. */
static unsigned long long space_id(int pid)
{
	char link[PATH_MAX], self[PATH_MAX];
	const char *digits = link + sizeof("mnt:[") - 1;

	if (!pid)
		str_format(self, sizeof(self), "%s/self/ns/mnt", path_procfs());
	if (pid ? !read_task_link(pid, "ns/mnt", link) : !read_link(AT_FDCWD, self, link))
		return 0;
	return strncmp(link, "mnt:[", sizeof("mnt:[") - 1) ? 0 : text_digits(&digits);
}

/* Return the namespace of a task, as procfs shows it now. NULL: no memory. */
static struct mount_space *read_space(struct follow *f, int pid, const char *root)
{
	unsigned long long id = space_id(pid);
	struct mount_space *p;

	for (p = id ? f->spaces : NULL; p; p = p->next)
		if (p->id == id) {
			p->refs++;
			return p;
		}
	p = space_new(f);
	if (!p)
		return NULL;
	p->id = id;
	p->own = id && id == space_id(0);
	p->host = id && id == space_id(1);
	if (f->host_paths && !p->host)
		space_set(f, p, *root == '/' ? mounts_read(pid, root) : mounts_unknown());
	return p;
}

/* Read the directories of a task. */
static void read_directories(struct follow *f, struct directories *w, int pid)
{
	char path[PATH_MAX];
	size_t n = read_task_link(pid, "root", path);

	if (!w)
		return;
	file_put(f, w->root);
	w->root = n && *path == '/' ? file_new(f, path, n) : NULL;
	w->space = read_space(f, pid, path);
	n = read_task_link(pid, "cwd", path);
	w->cwd = n ? file_new(f, path, n) : NULL;
}

static struct member *member_find(struct follow *f, int pid)
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
	m->d = with->d;
	m->w = with->w;
	if (m->d)
		m->d->refs++;
	if (m->w)
		m->w->refs++;
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
	m->d = descriptors_new(f);
	m->w = directories_new(f, NULL);
	if (f->live && !procfs_begin()) {
		read_directories(f, m->w, pid);
		procfs_end();
		if (m->d)
			read_descriptors(f, m->d, pid);
	} else if (f->live && m->w) {
		file_put(f, m->w->root);
		m->w->root = NULL;
	}
	leader = tgid == pid ? NULL : member_new(f, tgid);
	if (leader) {
		leader->tgid = tgid;
		m = member_find(f, pid);
		share(leader, m);
	}
	return m;
}

/* ---- paths ---- */

/*
 * Join path, of n bytes, and the directory where it begins. The directory has no symbolic
 * links, so .. removes its last part, but nothing of the root directory; behind a part of path,
 * which may be a link, .. stays. Return the length, 0 if the directory is unknown or the path
 * does not fit. The path begins with "?" if the directory does, or is gone. Set *sure if it has no
 * link for another reason than that.
 */
static size_t join(const struct member *m, int dirfd, const char *path, size_t n, char *out,
		   int *sure)
{
	const struct file *root = m->w ? m->w->root : NULL, *from = root;
	size_t len, solid, base = 0, mark;
	const char *name;

	if (n && *path != '/') {
		from = dirfd != AT_FDCWD ? fd_file(m->d, (unsigned)dirfd) :
		       m->w ? m->w->cwd : NULL;
		if (!from || from->socket)
			return 0;
	}
	name = from ? from->name : "?/";
	mark = *name == '?';
	if (name[mark] != '/')
		return 0;
	name += mark;
	len = strlen(name);
	mark |= len > 10 && !strcmp(name + len - 10, " (deleted)");
	if (mark)
		*out++ = '?';
	memcpy(out, name, len);
	len -= len == 1;
	if (root && *root->name == '/' && root->name[1] && path_is_below(name, root->name))
		base = strlen(root->name);
	solid = len;
	for (const char *end = path + n; path < end;) {
		size_t part = 0;

		while (path + part < end && path[part] != '/')
			part++;
		if (part == 2 && !memcmp(path, "..", 2) && len <= solid) {
			while (len > base && out[--len] != '/')
				;
			solid = len;
		} else if (part && (part != 1 || *path != '.')) {
			if (len + part + 3 > PATH_MAX)
				return 0;
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part + (path + part < end);
	}
	*sure = !mark && len <= solid;
	if (!len && n)
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
	const struct directories *w = m->w;
	const char *root = w->root ? w->root->name : "?";
	char now[PATH_MAX];
	int dir = -2;

	*skip = root[1] ? strlen(root) : 0;
	if (*root != '/' || !w->space)
		return -2;
	if (w->space->own && !root[1])
		return -1;
	if (w->space->own) {
		dir = path_open_cached(-1, root, O_PATH | O_DIRECTORY, PATH_NO_LINKS);
	} else if (!procfs_begin()) {
		if (w->space->id && space_id(pid) == w->space->id &&
		    read_task_link(pid, "root", now) && !strcmp(now, root)) {
			str_format(now, sizeof(now), "%s/%d/root", path_procfs(), pid);
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
	char name[PATH_MAX];
	size_t n, skip;
	int dir = open_root(m, pid, &skip), fd = -1;

	if (dir > -2 && path_is_below(path, skip ? m->w->root->name : "/"))
		fd = path_open_cached(dir, path[skip] ? path + skip : "/",
				      O_PATH | (nofollow ? O_NOFOLLOW : 0), PATH_LINKS);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return 0;
	str_format(name, sizeof(name), "%s/self/fd/%d", path_procfs(), fd);
	n = read_link(AT_FDCWD, name, out);
	close(fd);
	/* /proc/self would be this program */
	return n < 10 || (strncmp(out, "/proc/", 6) && strcmp(out + n - 10, " (deleted)")) ? n : 0;
}

/*
 * Follow a link of procfs to a file of a task, "/proc/PID/fd/3", cwd or root. here is such a path,
 * or another one. Return 1 and the file, NULL if it is not known; or 0 if it is no such link.
 * Replace /proc/self by the path that it leads to.
 */
static int magic(struct follow *f, const struct member *m, int pid, char *here, size_t *n,
		 const struct file **to)
{
	static const char self[] = "/proc/self", thread[] = "/proc/thread-self";
	const struct member *of = m;
	const char *s = here + 6;
	unsigned long long id;

	if (!m->tgid && (!strcmp(here, self) || !strcmp(here, thread)))
		return *to = NULL, 1;
	if (!strcmp(here, self))
		*n = str_format(here, PATH_MAX, "/proc/%d", m->tgid);
	if (!strcmp(here, thread))
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
	*to = NULL;
	/* another pid namespace may have other numbers */
	if (id != (unsigned)pid && id != (unsigned)m->tgid)
		of = m->w->space && m->w->space->own && id <= INT_MAX ?
		     table_find(&f->tasks, (const char *)&(const int){ (int)id }, sizeof(int)) :
		     NULL;
	if (!strcmp(s, "root") || !strcmp(s, "cwd")) {
		*to = !of || !of->w ? NULL : *s == 'r' ? of->w->root : of->w->cwd;
		return 1;
	}
	if (!strncmp(s, "fd/", 3) && s[3] >= '0' && s[3] <= '9') {
		s += 3;
		id = text_digits(&s);
		if (of && !*s)
			*to = fd_file(of->d, id);
		return 1;
	}
	return !strcmp(s, "exe") || !strncmp(s, "ns/", 3) || !strncmp(s, "map_files/", 10);
}

/* Is a file of the host made by the kernel? */
static int is_of_kernel(const char *path)
{
	return path_is_below(path, "/sys") || path_is_below(path, "/dev/pts");
}

/*
 * Follow a path part by part, because the kernel would follow the links of procfs for this
 * program. Return the file, which the caller gives away, or NULL if it is not known.
 */
static struct file *walk(struct follow *f, const struct member *m, int pid, int nofollow,
			 const char *path)
{
	char here[PATH_MAX], rest[PATH_MAX], text[PATH_MAX], *s = rest;
	size_t skip, n = 0, base;
	int dir = open_root(m, pid, &skip), links = 0, fd, link = 0, known = 1;
	const struct file *to = NULL;

	if (dir == -2)
		return NULL;
	base = skip;
	str_format(rest, sizeof(rest), "%s", path + skip);
	if (skip)
		n = str_format(here, sizeof(here), "%s", m->w->root->name);
	for (; *s && known; s += strspn(s, "/")) {
		size_t part = strcspn(s, "/");

		to = NULL;
		if (part == 2 && !memcmp(s, "..", 2)) {
			while (n > base && here[--n] != '/')
				;
		} else if (part && (part != 1 || *s != '.')) {
			known = n + part + 2 <= PATH_MAX;
			if (!known)
				break;
			here[n++] = '/';
			memcpy(here + n, s, part);
			n += part;
		}
		here[n] = '\0';
		s += part;
		if (!n || (!s[strspn(s, "/")] && nofollow))
			continue;
		if (magic(f, m, pid, here, &n, &to)) {
			/* a pipe or socket ends the path */
			known = to && (*to->name == '/' || !s[strspn(s, "/")]);
			if (!known)
				break;
			n = str_format(here, sizeof(here), "%s", *to->name == '/' ? to->name : "");
			n -= n == 1;
			continue;
		}
		fd = -1;
		link = 0;
		if (!strcmp(here, "/proc/mounts") || !strcmp(here, "/proc/net")) {
			link = (int)str_format(text, sizeof(text), "self%s", here + 5);
		} else if (strncmp(here, "/proc/", 6)) {
			fd = path_open_cached(dir, here + skip, O_PATH | O_NOFOLLOW, PATH_LINKS);
			/* the kernel itself answers for these files, and keeps no names of them */
			if (fd < 0 && dir < 0 && is_of_kernel(here))
				fd = open(here, O_PATH | O_NOFOLLOW | O_CLOEXEC);
			known = fd >= 0;
			if (!known)
				break;
			link = (int)readlinkat(fd, "", text, sizeof(text) - 1);
			close(fd);
		}
		if (link <= 0)
			continue;
		known = ++links <= 40 && (size_t)link + strlen(s) + 1 <= sizeof(rest);
		if (!known)
			break;
		text[link] = '\0';
		if (*text == '/')
			n = base;
		else
			while (n > base && here[--n] != '/')
				;
		memcpy(here, m->w->root->name, skip);
		memmove(rest + link, s, strlen(s) + 1);
		memcpy(rest, text, (size_t)link);
		s = rest;
	}
	if (dir >= 0)
		close(dir);
	if (!known)
		return NULL;
	if (to)
		return file_ref((struct file *)(size_t)to);
	return n ? file_new(f, here, n) : file_new(f, "/", 1);
}

/* Does the host have the file of a namespace that is no more to be entered, and no link? */
static int is_on_host(const struct member *m, const char *path)
{
	const struct mount_space *p = m->w->space;
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

static void make_link(struct follow *f, struct file *at, const struct call_bytes *to)
{
	struct follow_link *l;
	size_t n = to->bytes && !to->cut && !to->fault ? strnlen(to->bytes, to->n) : 0;

	if (!at || *at->name != '/' || !n) {
		file_put(f, at);
		return;
	}
	l = &f->links[++f->newest % FOLLOW_LINKS];
	forget_link(f, l);
	l->at = at;
	l->to = file_new(f, to->bytes, n);
}

/* Write the path where such a link leads to out. Return 0, or -1. */
static int end_of_link(const struct follow_link *l, const char *root, char *out)
{
	const char *to = l->to ? l->to->name : "", *at = l->at->name;
	int n = (int)(strrchr(at, '/') - at);

	if (!*to || str_format(out, PATH_MAX, "%.*s%s%s", *to == '/' ? (int)strlen(root) : n,
			       *to == '/' ? root : at, *to == '/' ? "" : "/", to) >= PATH_MAX)
		return -1;
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
	got = read_task_link(pid, which, link);
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
 * Return the file that a task names by a path of user memory, or NULL. fd is the descriptor that
 * it got, or -1.
 */
static struct file *opened(struct follow *f, int pid, const struct member *m, int dirfd,
			   const struct call_bytes *user, int how, int fd)
{
	char path[PATH_MAX + 1], real[PATH_MAX + 1], *slash;
	size_t len = user->bytes ? strnlen(user->bytes, user->n) : 0, n = 0;
	struct file *p;
	int sure;

	if (!len || user->cut || user->fault)
		return NULL;
	len = join(m, dirfd, user->bytes, len, path, &sure);
	if (!len)
		return NULL;
	if (!f->live || !m->w || *path == '?' || sure)
		return file_new(f, path, len);
	for (int i = 0; i < 8 && !(how & NO_FOLLOW); i++) {
		const struct follow_link *l = made_link(f, path);

		if (!l || !m->w->root ||
		    end_of_link(l, m->w->root->name[1] ? m->w->root->name : "", real) < 0)
			break;
		len = str_format(path, PATH_MAX, "%s", real);
	}
	n = resolve(m, pid, how & NO_FOLLOW, path, real);
	if (n)
		return file_new(f, real, n);
	p = walk(f, m, pid, how & NO_FOLLOW, path);
	if (p)
		return p;
	if (is_on_host(m, path))
		return file_new(f, path, len);
	*real = '?';
	slash = strrchr(path, '/');
	if (slash > path) {
		/* the file may be gone, and its directory not */
		*slash = '\0';
		n = resolve(m, pid, 0, path, real + 1);
		*slash = '/';
		len -= (size_t)(slash - path);
		if (n && n + len < PATH_MAX && strcmp(slash, "/..")) {
			n -= n == 1;
			memcpy(real + 1 + n, slash, len + 1);
			n += len;
		} else {
			n = 0;
		}
	}
	if (!n)
		n = str_format(real + 1, PATH_MAX, "%s", path);
	else if (how)
		return file_new(f, real + 1, n);
	/* the name may have been a link, whose end is not known any more */
	return is_open(pid, fd, real + 1) ? file_new(f, real + 1, n) :
	       file_new(f, real, n + 1);
}

/* ---- rules: what each call does ---- */

/*
 * A line for each call: its name; the letter of the rule; the argument with flags, or - for
 * none, or + if the descriptor is closed at an exec; the flag for that, or o for O_CLOEXEC; the
 * anonymous file, as procfs shows it. Other calls that return a descriptor have the first.
 */
static const char rules[] =
	"\nother N-o\nmount M-o\nmove_mount W-o\nrename n-o\nrenameat n-o\nrenameat2 n-o"
	"\nrmdir l-o\nsymlink y-o\nsymlinkat y-o\numount U-o\numount2 U-o\nunlink l-o\nunlinkat l-o"
	"\naccept A-o\naccept4 A3o\nbind B-o\nchdir c-o\nchroot r-o\nclose x-o\nclose_range X-o"
	"\nconnect C-o\ncreat k-o\ndup d-o\ndup2 D-o\ndup3 D2o\nfchdir f-o\nfcntl F-o"
	"\nfcntl64 F-o\ngetpeername Q-o\ngetsockname q-o\nioctl i-o\nmemfd_create m11\nopen o1o"
	"\nopenat O2o\nopenat2 h-o\nopen_tree O2o\npipe p-o\npipe2 p1o\npivot_root v-o\nsetns s-o"
	"\nsocket S1o\nsocketpair P1o\nunshare u-o\nepoll_create N-o[eventpoll]"
	"\nepoll_create1 N0o[eventpoll]\neventfd N-o[eventfd]\neventfd2 N1o[eventfd]"
	"\nfanotify_init N01[fanotify]\ninotify_init N-oinotify\ninotify_init1 N0oinotify"
	"\nio_uring_setup N+o[io_uring]\nperf_event_open N48[perf_event]\npidfd_open N+o[pidfd]"
	"\nsignalfd g-o[signalfd]\nsignalfd4 g3o[signalfd]\ntimerfd_create N1o[timerfd]\n";

/* Return the rule of a call, or NULL. */
static const char *rule_of(struct follow *f, const struct call *c)
{
	size_t slot = (size_t)c / sizeof(*c) % (sizeof(f->known) / sizeof(*f->known));
	size_t n;
	const char *s = rules;

	if (f->known[slot].call != c) {
		f->known[slot].call = c;
		n = strlen(c->name);
		while (*++s && (strncmp(s, c->name, n) || s[n] != ' '))
			s += strcspn(s, "\n");
		if (!*s && c->result.kind == CALL_FD) {
			s = rules + 1;
			n = 5;
		}
		f->known[slot].rule = (uint16_t)(*s ? s + n + 1 - rules : 0);
	}
	return f->known[slot].rule ? rules + f->known[slot].rule : NULL;
}

/* Copy two descriptors from user memory. Return 0, or -1 if they are not known. */
static int pair(const struct follow *f, const struct call_bytes *user, uint32_t fds[2])
{
	if (!user->bytes || user->fault || user->n < 8)
		return -1;
	memcpy(fds, user->bytes, 8);
	for (unsigned i = 0; f->swapped && i < 2; i++)
		fds[i] = __builtin_bswap32(fds[i]);
	return 0;
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

/* Let a directory be the file, or unknown. */
static void change_directory(struct follow *f, struct member *m, struct file *to)
{
	if (!m->w) {
		file_put(f, to);
		return;
	}
	file_put(f, m->w->cwd);
	m->w->cwd = to;
}

/* Let the root directory be the file, or unknown. */
static void change_root(struct follow *f, struct member *m, struct file *to)
{
	if (!m->w) {
		file_put(f, to);
		return;
	}
	file_put(f, m->w->root);
	m->w->root = to;
	if (to && *to->name != '/') {
		file_put(f, to);
		m->w->root = NULL;
	}
}

/* Give a task a mount namespace of its own, whose mounts are a copy of those of its old one. */
static void unshare_mounts(struct follow *f, struct member *m, int pid)
{
	struct mount_space *old = m->w ? m->w->space : NULL, *p;

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

/* A task has entered another mount namespace, at its root directory. */
static void enter_mounts(struct follow *f, struct member *m, int pid)
{
	if (!m->w)
		return;
	space_put(f, m->w->space);
	m->w->space = NULL;
	change_root(f, m, file_new(f, "/", 1));
	change_directory(f, m, file_new(f, "/", 1));
	if (f->live && !procfs_begin()) {
		m->w->space = read_space(f, pid, "/");
		procfs_end();
	}
}

/* Change the name of a file that moves, for the descriptors and the directory of the task. */
static void rename_files(struct follow *f, struct member *m,
			 int (*name)(const void *arg, const char *old, char *new), const void *arg)
{
	char new[PATH_MAX];
	struct file **at;
	int r;

	for (unsigned i = 0; i < (m->d ? m->d->n : 0) + (m->w ? 2 : 0); i++) {
		unsigned dir = i - (m->d ? m->d->n : 0);

		at = m->d && i < m->d->n ? &m->d->v[i].file : dir ? &m->w->root : &m->w->cwd;
		if (!*at || (*at)->socket || *(*at)->name != '/' ||
		    !(r = name(arg, (*at)->name, new)))
			continue;
		file_put(f, *at);
		*at = r < 0 ? NULL : file_new(f, new, strlen(new));
	}
}

/* For rename_files: where a file is behind a pivot_root, or from one name to another. */
struct moved {
	const char *from, *to;  /* to NULL: removed */
};

static int by_pivot(const void *arg, const char *old, char *new)
{
	const struct moved *v = arg;

	return path_pivot(old, v->from, v->to, new) < 0 ? -1 : 1;
}

static int by_rename(const void *arg, const char *old, char *new)
{
	const struct moved *v = arg;
	size_t n = strlen(v->from);

	if (!path_is_below(old, v->from) || (!v->to && old[n]))
		return 0;
	return str_format(new, PATH_MAX, "%s%s", v->to ? v->to : old,
			  v->to ? old + n : " (deleted)") < PATH_MAX ? 1 : -1;
}

/* Follow a rename or a removal. */
static void renamed(struct follow *f, struct member *m, const struct file *from,
		    const struct file *to, int removed)
{
	struct moved v = { from ? from->name : NULL, to ? to->name : NULL };

	if (from && *from->name == '/' && from->name[1] && (removed || (to && *to->name == '/')))
		rename_files(f, m, by_rename, &v);
}

/* Follow pivot_root: the directory root becomes "/", and the old "/" goes to old. */
static void pivot(struct follow *f, struct member *m, const struct file *root,
		  const struct file *old)
{
	struct mount_space *p = m->w ? m->w->space : NULL;
	struct moved v = { root ? root->name : "?", old ? old->name : "?" };

	if (!p)
		return;
	if (*v.from == '/' && *v.to == '/') {
		struct moved was = { xstrdup(v.from), xstrdup(v.to) };

		/* tasks at the old root directory go to the new one */
		rename_files(f, m, by_pivot, &was);
		change_root(f, m, file_new(f, "/", 1));
		if (!m->w->cwd)
			change_directory(f, m, file_new(f, "/", 1));
		if (p->mounts) {
			f->used -= p->mounts->bytes;
			mounts_pivot(p->mounts, was.from, was.to);
			f->used += p->mounts->bytes;
		}
		free((char *)(size_t)was.from);
		free((char *)(size_t)was.to);
		return;
	}
	change_root(f, m, NULL);
	change_directory(f, m, NULL);
	for (unsigned fd = 0; m->d && fd < m->d->n; fd++)
		if (m->d->v[fd].file && *m->d->v[fd].file->name == '/')
			fd_set_file(f, m->d, fd, NULL, 0);
	if (p->mounts)
		space_set(f, p, mounts_unknown());
}

/* include/uapi/linux/mount.h */
enum {
	REMOUNT = 32, BIND = 4096, MOVE = 8192, RECURSIVE = 16384,
	PROPAGATION = 1 << 17 | 1 << 18 | 1 << 19 | 1 << 20,
};

/* Follow mount, or an unmount (target alone). flags: of mount; -1 for an unmount. */
static void mounted(struct follow *f, struct member *m, const struct file *source,
		    const struct file *target, int64_t flags)
{
	struct mount_space *p = m->w ? m->w->space : NULL;
	const char *from = source && *source->name == '/' ? source->name : NULL;
	const char *to = target && *target->name == '/' ? target->name : NULL;

	if (!p || !p->mounts || (flags >= 0 && (flags & REMOUNT ||
				(!(flags & BIND) && flags & PROPAGATION))))
		return;
	f->used -= p->mounts->bytes;
	if (!to || (flags >= 0 && !(flags & BIND) && flags & MOVE && !from)) {
		f->used += p->mounts->bytes;
		space_set(f, p, mounts_unknown());
		return;
	}
	if (flags < 0)
		mounts_remove(p->mounts, to);
	else if (from && flags & BIND)
		mounts_bind(p->mounts, from, to, !!(flags & RECURSIVE));
	else if (from && flags & MOVE)
		mounts_move(p->mounts, from, to);
	else
		mounts_add(p->mounts, to, NULL);
	f->used += p->mounts->bytes;
}

/* include/uapi: linux/fcntl.h, linux/sched.h, linux/close_range.h, asm-generic/fcntl.h */
enum {
	DUPFD = 0, SETFD = 2, DUPFD_CLOEXEC = 1030, SHARE_FS = 0x200, SHARE_FILES = 0x400,
	NEW_MOUNTS = 0x20000, NEW_THREAD = 0x10000, NEW_USERS = 0x10000000, RANGE_UNSHARE = 2,
	RANGE_CLOEXEC = 4,
	TEMPORARY = 020000000,
};

/* asm-generic/ioctls.h, and asm/ioctls.h of powerpc: set and clear close-on-exec */
static int is_ioctl(uint64_t request, int set)
{
	return request == (set ? 0x5451 : 0x5450) || request == (set ? 0x20006601 : 0x20006602);
}

int follow_makes_pair(struct follow *f, const struct call *c)
{
	const char *rule = rule_of(f, c);

	return rule && (*rule == 'p' || *rule == 'P');
}

void follow_call(struct follow *f, int pid, const struct call *c, const struct call_values *v)
{
	const char *rule = rule_of(f, c);
	const uint64_t *a = v->args;
	const struct call_bytes *user = v->user;
	uint64_t flags, fd = (uint64_t)v->result;
	struct file *p = NULL, *s, *q;
	int cloexec, set, at;
	uint32_t fds[2];
	char name[PATH_MAX];
	struct member *m;
	size_t n, known = f->tasks.n;
	int new;

	if (!rule || (v->result < 0 && v->result >= -4095 && *rule != 'x' &&
		      (*rule != 'C' || v->result != -EINPROGRESS)))
		return;
	m = member(f, pid);
	if (!m)
		return;
	new = f->live && f->tasks.n != known; /* procfs shows what is behind the call */
	cloexec = rule[1] == '+' ||
		  (rule[1] != '-' && a[rule[1] - '0'] & (rule[2] == 'o' ? (unsigned)O_CLOEXEC :
							 (unsigned)rule[2] - '0'));
	s = fd_file(m->d, (uint32_t)a[0]);
	switch (*rule) {
	case 'h':
		flags = TEMPORARY;
		if (user[2].bytes && !user[2].fault && user[2].n >= 8)
			memcpy(&flags, user[2].bytes, 8);
		if (f->swapped)
			flags = __builtin_bswap64(flags);
		cloexec = !!(flags & O_CLOEXEC);
		goto at;
	case 'k':
	case 'o':
	case 'O':
		flags = *rule == 'k' ? 0 : a[rule[1] - '0'];
at:
		n = *rule == 'O' || *rule == 'h';
		if (!(flags & TEMPORARY))
			p = opened(f, pid, m, n ? (int)a[0] : AT_FDCWD, &user[n],
				   (flags & O_NOFOLLOW ? NO_FOLLOW : 0) |
				   (~flags & (O_CREAT | O_EXCL) ? 0 : NO_LINK),
				   (int)fd);
		break;
	case 'D':
		if ((uint32_t)a[0] == fd)
			return;
		/* fall through */
	case 'd':
		p = file_ref(s);
		break;
	case 'x':
		fd = (uint32_t)a[0];
		break;
	case 'X':
		if (a[2] & RANGE_UNSHARE)
			unshare_files(f, m);
		for (fd = (uint32_t)a[0]; m->d && fd < m->d->n && fd <= (uint32_t)a[1]; fd++)
			if (a[2] & RANGE_CLOEXEC)
				m->d->v[fd].cloexec = 1;
			else
				fd_set_file(f, m->d, fd, NULL, 0);
		return;
	case 'F':
		cloexec = a[1] == DUPFD_CLOEXEC;
		p = file_ref(s);
		if (cloexec || a[1] == DUPFD)
			break;
		file_put(f, p);
		if (a[1] == SETFD && s)
			m->d->v[(uint32_t)a[0]].cloexec = a[2] & 1;
		return;
	case 'i':
		for (set = 0; s && set < 2; set++)
			if (is_ioctl((uint32_t)a[1], set))
				m->d->v[(uint32_t)a[0]].cloexec = set;
		return;
	case 'p':
	case 'P':
		if (pair(f, &user[*rule == 'p' ? 0 : 3], fds) < 0)
			return;
		p = *rule == 'p' ? file_new(f, "pipe", 4) :
		    socket_new(f, (unsigned)a[0], (unsigned)a[1]);
		fd_set_file(f, m->d, fds[0], file_ref(p), cloexec);
		fd = fds[1];
		break;
	case 'S':
		p = socket_new(f, (unsigned)a[0], (unsigned)a[1]);
		break;
	case 'C':
	case 'B':
		set_address(s, *rule == 'C', &user[1], (uint32_t)a[2]);
		return;
	case 'A':
		p = s && s->socket ? socket_new(f, s->family, s->type) : NULL;
		if (!p)
			break;
		if (f->live && !s->final && incomplete(s))
			look_up(f, pid, s);
		p->family = s->family;
		p->type = s->type;
		memcpy(p->name, s->name, ADDRESS);
		p->accepted = p->family != AF_UNIX;
		/* the length of a name, which may be none, is not known */
		if (p->family != AF_UNIX) {
			set_address(p, 1, &user[1], 28);
			if (!p->type)
				p->type = SOCK_STREAM;
		}
		break;
	case 'q':
	case 'Q':
		if (s && s->family != AF_UNIX && user[1].bytes)
			set_address(s, *rule == 'Q', &user[1], 28);
		return;
	case 'c':
	case 'f':
		if (new)
			return;
		change_directory(f, m, *rule == 'f' ? file_ref(s) :
				 opened(f, pid, m, AT_FDCWD, &user[0], 0, -1));
		return;
	case 'r':
		if (!new)
			change_root(f, m, opened(f, pid, m, AT_FDCWD, &user[0], 0, -1));
		return;
	case 's':
		/* 0: the descriptor decides */
		if (new || (a[1] && !(a[1] & NEW_MOUNTS)) ||
		    (!a[1] && s && strchr(s->name, ':') && strncmp(s->name, "mnt:", 4)))
			return;
		enter_mounts(f, m, pid);
		return;
	case 'v':
	case 'n':
		if (new)
			return;
		/* rename of two paths, or of two pairs of directory and path; it follows no link */
		at = c->name[*rule == 'n' ? 6 : 0] == 'a';
		set = *rule == 'n' ? NO_FOLLOW : 0;
		p = opened(f, pid, m, at ? (int)a[0] : AT_FDCWD, &user[at], set, -1);
		q = opened(f, pid, m, at ? (int)a[2] : AT_FDCWD, &user[1 + 2 * at], set, -1);
		if (*rule == 'v')
			pivot(f, m, p, q);
		else
			renamed(f, m, p, q, 0);
		file_put(f, p);
		file_put(f, q);
		return;
	case 'y':
		at = c->name[7] == 'a';
		if (f->live && !new)
			make_link(f, opened(f, pid, m, at ? (int)a[1] : AT_FDCWD, &user[1 + at],
					    NO_FOLLOW, -1), &user[0]);
		return;
	case 'l':
		at = c->name[0] == 'u' && c->name[6] == 'a';
		p = opened(f, pid, m, at ? (int)a[0] : AT_FDCWD, &user[at], NO_FOLLOW, -1);
		renamed(f, m, p, NULL, 1);
		if (p)
			forget_link(f, made_link(f, p->name));
		file_put(f, p);
		return;
	case 'M':
	case 'U':
	case 'W':
		if (new)
			return;
		n = *rule == 'M' ? 1 : *rule == 'W' ? 3 : 0;
		q = opened(f, pid, m, *rule == 'W' ? (int)a[2] : AT_FDCWD, &user[n], 0, -1);
		p = *rule == 'M' ? opened(f, pid, m, AT_FDCWD, &user[0], 0, -1) : NULL;
		mounted(f, m, p, q, *rule == 'U' ? -1 : *rule == 'W' ? 0 : (int64_t)a[3]);
		file_put(f, p);
		file_put(f, q);
		return;
	case 'u':
		if (a[0] & SHARE_FILES)
			unshare_files(f, m);
		if (a[0] & (SHARE_FS | NEW_MOUNTS | NEW_USERS))
			unshare_directories(f, m);
		if (a[0] & NEW_MOUNTS && !new)
			unshare_mounts(f, m, pid);
		return;
	case 'm':
		n = user->bytes ? strnlen(user->bytes, user->n) : 0;
		if (user->bytes && !user->cut && !user->fault && n < 250) {
			n = str_format(name, sizeof(name), "/memfd:%.*s (deleted)", (int)n,
				       user->bytes);
			p = file_new(f, name, n);
		}
		break;
	case 'g':
		if ((int)a[0] >= 0)
			return;
		/* fall through */
	case 'N':
		rule += 3;
		n = str_format(name, sizeof(name), "anon_inode:%.*s", (int)strcspn(rule, "\n"),
			       rule);
		if (*rule != '\n')
			p = file_new(f, name, n);
	}
	fd_set_file(f, m->d, fd, p, cloexec);
}

/* ---- the interface ---- */

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
	if (!(clone_flags & SHARE_FILES))
		unshare_files(f, m);
	if (!(clone_flags & SHARE_FS))
		unshare_directories(f, m);
	if (f->live)
		m->tgid = clone_flags & NEW_THREAD ? parent->tgid : child;
	if (clone_flags & NEW_MOUNTS)
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
	unshare_files(f, m);
	for (unsigned fd = 0; m->d && fd < m->d->n; fd++)
		if (m->d->v[fd].cloexec)
			fd_set_file(f, m->d, fd, NULL, 0);
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

/* Text that is printed, at most size - 1 bytes and a NUL. */
struct printed {
	char *buf;
	size_t n, size;
};

static void put(struct printed *o, const char *s)
{
	size_t left = 0;        /* bytes of this character */
	int control = 0;

	for (char one[8]; *s; s++, left--) {
		size_t len = 1;

		if (!left)
			left = text_char(s, strnlen(s, 4), &control);
		one[0] = *s;
		/* no name looks like the result of a call behind its arguments */
		if (control || strchr("<>\"\\", *s) || !strncmp(s, ") = ", 4))
			len = str_format(one, sizeof(one), "\\%d%d%d", (unsigned char)*s >> 6,
					 (unsigned char)*s >> 3 & 7, *s & 7);
		for (size_t i = 0; i < len; i++, o->n++)
			if (o->n + 1 < o->size)
				o->buf[o->n] = one[i];
	}
}

static void put_socket(struct printed *o, const struct file *s)
{
	static const char unix_types[][11] = { "", "-STREAM", "-DGRAM", "", "", "-SEQPACKET" };
	char inode[32];
	int peer = s->name[ADDRESS] || s->accepted;
	const char *local = s->name;

	switch (s->family) {
	case AF_INET:
	case AF_INET6:
		put(o, s->type == SOCK_STREAM ? "TCP" : s->type == SOCK_DGRAM ? "UDP" : "IP");
		if (s->family == AF_INET6)
			put(o, "v6");
		break;
	case AF_UNIX:
		put(o, "UNIX");
		put(o, s->type < 6 ? unix_types[s->type] : "");
		break;
	default:
		put(o, s->family == AF_NETLINK ? "NETLINK" : "socket");
	}
	if (!*s->name && !peer) {
		if (s->inode) {
			str_format(inode, sizeof(inode), ":[%llu]", s->inode);
			put(o, inode);
		}
		return;
	}
	put(o, ":");
	if (s->accepted && is_any(local)) { /* of the address of its listener, the port is right */
		put(o, "?");
		local = port_of(local);
	}
	put(o, *local || s->accepted || s->family == AF_UNIX ? local : "?");
	if (peer) {
		/* this > is not a part of a name */
		put(o, "-");
		if (o->n + 1 < o->size)
			o->buf[o->n] = '>';
		o->n++;
		put(o, s->name[ADDRESS] || s->family == AF_UNIX ? s->name + ADDRESS : "?");
	}
}

/*
 * Return a path of a namespace as the task sees it, or as the host does. What is not known has "?"
 * in front.
 */
static const char *shown(const struct follow *f, const struct directories *w, const char *path,
			 char *out)
{
	const char *root = w && w->root ? w->root->name : "/";
	unsigned mark = *path == '?';

	/* include/linux/memfd.h: no file of a directory */
	if (path[mark] != '/' || !strncmp(path, "/memfd:", 7))
		return path;
	path += mark;
	*out = '?';
	if (f->host_paths && !(w && w->space && w->space->host)) {
		if (w && w->space && w->space->mounts &&
		    !mounts_host(w->space->mounts, path, out + 1))
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
	struct printed o = { buf, 0, size };
	char path[PATH_MAX + 1];
	struct member *m = member(f, pid);
	struct file *p = !m ? NULL : fd == AT_FDCWD ? m->w ? m->w->cwd : NULL :
			 fd_file(m->d, (unsigned)fd);

	if (!p || !size)
		return 0;
	if (!p->socket) {
		put(&o, shown(f, m->w, p->name, path));
	} else {
		if (f->live && !p->final && incomplete(p))
			look_up(f, pid, p);
		put_socket(&o, p);
	}
	if (o.n >= size) {
		for (o.n = size - 1; o.n && size - o.n <= 3;)
			buf[--o.n] = '.';
		o.n = size - 1;
	}
	buf[o.n] = '\0';
	return o.n;
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
	/* on the host, .. behind a link or at the root directory leads elsewhere */
	if (f->host_paths && strstr(joined, "/..") && !sure) {
		struct call_bytes user = { .bytes = path, .n = strlen(path) };
		struct file *p = opened(f, pid, m, dirfd, &user, NO_FOLLOW, -1);

		str_format(joined, sizeof(joined), "%s%s", !p || !f->live ? "?" : "",
			   p ? p->name : joined);
		file_put(f, p);
	}
	to = shown(f, m->w, joined, host);
	n = strlen(to);
	if (n >= size)
		return 0;
	memcpy(buf, to, n + 1);
	return n;
}
