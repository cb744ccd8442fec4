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
#include "calls/calls.h"

enum {
	MOST_MEMORY = 64 << 20, /* bytes */
	MOST_FDS = 1 << 16,     /* of a table; greater descriptors are unknown */
	MOST_READ = 4096,       /* descriptors of a task that procfs shows */
	MOST_LOOKUPS = 16,      /* of sockets, in about 128 ms */
	MOST_MOUNTS = 256,      /* of a task */
	SOCKETS = 1 << 16,      /* bytes of a list of sockets */
	ADDRESS = 112,          /* bytes of the text of a socket address */
};

/* An open file, a directory of tasks, or a list of mounts. */
struct file {
	unsigned refs;
	uint32_t size;          /* bytes of memory */
	uint8_t socket;
	uint8_t final;          /* do not look up the addresses of the socket (again) */
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

struct directories {
	unsigned refs;
	int own;                /* the root directory and the mounts are those of this program */
	struct file *cwd;       /* NULL: unknown */
	struct file *mounts;    /* pairs of directories: in the task, on the host; or NULL */
};

struct member {
	struct table_entry entry;
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

static void directories_put(struct follow *f, struct directories *w)
{
	if (!w || --w->refs)
		return;
	file_put(f, w->cwd);
	file_put(f, w->mounts);
	give(f, w, sizeof(*w));
}

static struct directories *directories_new(struct follow *f, const struct directories *from)
{
	struct directories *w = take(f, sizeof(*w));

	if (!w)
		return NULL;
	if (from) {
		*w = *from;
		file_ref(w->cwd);
		file_ref(w->mounts);
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

/* Find the addresses of a socket in the lists of procfs, by its inode. */
static void look_up(struct follow *f, int pid, int fd, struct file *s)
{
	static const char lists[4][9] = { "net/tcp", "net/udp", "net/tcp6", "net/udp6" };
	static const uint16_t families[4] = { AF_INET, AF_INET, AF_INET6, AF_INET6 };
	unsigned long long inode = s->inode;
	char path[PATH_MAX], text[SOCKETS], local[ADDRESS], peer[ADDRESS];
	int64_t now = time_now_ms() / 128;

	if (f->when != now) {
		f->when = now;
		f->looked = 0;
	}
	if (f->looked >= MOST_LOOKUPS)
		return;
	f->looked++;
	s->final = 1;
	if (!inode) {
		const char *digits = text + 8;
		ssize_t n;

		str_format(path, sizeof(path), "%s/%d/fd/%d", path_procfs(), pid, fd);
		n = readlink(path, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		if (strncmp(text, "socket:[", 8))
			return;
		inode = text_digits(&digits);
	}
	for (unsigned i = 0; i < 4; i++) {
		if ((s->family && s->family != families[i]) ||
		    (s->type && s->type != (i % 2 ? SOCK_DGRAM : SOCK_STREAM)) ||
		    task_read_file(pid, lists[i], text, sizeof(text)) < 0)
			continue;
		for (const char *line = next_line(text); *line; line = next_line(line)) {
			const char *digits = word(line, 9);

			if (text_digits(&digits) != inode || *digits != ' ')
				continue;
			listed(local, i > 1, word(line, 1));
			listed(peer, i > 1, word(line, 2));
			/* the descriptor may be another socket by now */
			if (s->name[ADDRESS] && strcmp(s->name + ADDRESS, peer))
				return;
			s->family = families[i];
			s->type = i % 2 ? SOCK_DGRAM : SOCK_STREAM;
			memcpy(s->name, local, ADDRESS);
			memcpy(s->name + ADDRESS, peer, ADDRESS);
			return;
		}
	}
}

/* Is an address of the socket unknown which the kernel has? */
static int incomplete(const struct file *s)
{
	return s->inode ? !*s->name : s->name[ADDRESS] &&
	       (s->family == AF_INET || s->family == AF_INET6) &&
	       (!*s->name || !strncmp(s->name, "0.0.0.0:", 8) || !strncmp(s->name, "[::]", 4));
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
 * root directory of the mount namespace. If the file lies below root, the root directory of
 * the task, make it a path from there. Return the length; 0, silent, if the link cannot be read.
 */
static size_t read_link(int dir, const char *name, const char *root, char *out)
{
	ssize_t n = readlinkat(dir, name, out, PATH_MAX - 1);
	size_t len = strlen(root);

	if (n <= 0)
		return 0;
	out[n] = '\0';
	if (len > 1 && !strncmp(out, root, len) && (!out[len] || out[len] == '/')) {
		n -= (ssize_t)len;
		memmove(out, n ? out + len : "/", (size_t)n + 1);
		n += !n;
	}
	return (size_t)n;
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
static void read_descriptors(struct follow *f, struct descriptors *d, int pid, const char *root)
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
		len = read_link(dirfd(list), e->d_name, root, path);
		if (!len)
			continue;
		str_format(text, sizeof(text), "fdinfo/%lu", fd);
		s = task_read_file(pid, text, text, sizeof(text)) < 0 ? NULL :
		    strstr(text, "flags:\t");
		for (s += s ? 7 : 0; s && *s >= '0' && *s <= '7'; s++)
			flags = flags * 8 + (unsigned)(*s - '0');
		fd_set_file(f, d, fd, file_of_link(f, path, len), !!(flags & O_CLOEXEC));
	}
	if (list)
		closedir(list);
}

/* Is the path the directory, or below it? */
static int is_below(const char *path, const char *dir, size_t n)
{
	if (n && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && (!path[n] || strchr("/ \n", path[n]));
}

/*
 * Return where the mounts of a task are on the host. A file system is known by its device
 * (proc_pid_mountinfo(5)): words 2 to 4 of a line are the device, the directory of the file
 * system that is mounted, and the directory where it is mounted.
 */
static struct file *read_mounts(struct follow *f, int pid)
{
	char path[PATH_MAX];
	struct strbuf out = { 0 };
	struct file *mounts;
	char *theirs, *ours;
	unsigned left = MOST_MOUNTS;

	str_format(path, sizeof(path), "%s/%d/mountinfo", path_procfs(), pid);
	theirs = file_read(AT_FDCWD, path, NULL);
	str_format(path, sizeof(path), "%s/1/mountinfo", path_procfs());
	ours = file_read(AT_FDCWD, path, NULL);
	for (const char *a = theirs; a && ours && *a && left--; a = next_line(a)) {
		const char *device = word(a, 2), *root = word(a, 3), *at = word(a, 4);
		size_t ndevice = (size_t)(root - device), best = 0, n;
		const char *host = NULL;

		for (const char *b = ours; *b; b = next_line(b)) {
			const char *part = word(b, 3);

			n = strcspn(part, " ");
			if (strncmp(word(b, 2), device, ndevice) || !is_below(root, part, n) ||
			    n <= best)
				continue;
			best = n;
			host = word(b, 4);
		}
		if (!host)
			continue;
		strbuf_add(&out, at, strcspn(at, " "));
		strbuf_add(&out, "", 1);
		n = strcspn(host, " \n");
		strbuf_add(&out, host, n - (n && host[n - 1] == '/'));
		root += best - (root[best - 1] == '/');
		n = strcspn(root, " \n");
		strbuf_add(&out, root, n - (n && root[n - 1] == '/'));
		strbuf_add(&out, "", 1);
	}
	free(theirs);
	free(ours);
	mounts = out.n ? file_new(f, out.text, out.n) : NULL;
	free(out.text);
	return mounts;
}

/* Read the directories of a task. Write the link of its root directory to root. */
static void read_directories(struct follow *f, struct directories *w, int pid, char *root)
{
	char path[PATH_MAX], ours[64], theirs[64];
	size_t n;

	str_format(path, sizeof(path), "%s/%d/root", path_procfs(), pid);
	if (!read_link(AT_FDCWD, path, "", root))
		*root = '\0';
	if (w) {
		memset(ours, 0, sizeof(ours));
		memset(theirs, 0, sizeof(theirs));
		str_format(path, sizeof(path), "%s/%d/ns/mnt", path_procfs(), pid);
		w->own = readlink(path, theirs, sizeof(theirs) - 1) > 0;
		str_format(path, sizeof(path), "%s/self/ns/mnt", path_procfs());
		w->own = w->own && readlink(path, ours, sizeof(ours) - 1) > 0 &&
			 !strcmp(ours, theirs) && !strcmp(root, "/");
		if (f->host_paths && !w->own)
			w->mounts = read_mounts(f, pid);
		str_format(path, sizeof(path), "%s/%d/cwd", path_procfs(), pid);
		n = read_link(AT_FDCWD, path, root, path);
		w->cwd = n ? file_new(f, path, n) : NULL;
	}
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
	char root[PATH_MAX];
	pid_t tgid = pid;
	uid_t uid;

	if (m)
		return m;
	if (f->live && task_ids(pid, &tgid, &uid) < 0)
		tgid = pid;
	m = member_new(f, pid);
	if (!m)
		return NULL;
	leader = tgid == pid ? NULL : member_find(f, tgid);
	if (leader) {
		share(m, leader);
		return m;
	}
	m->d = descriptors_new(f);
	m->w = directories_new(f, NULL);
	if (f->live) {
		read_directories(f, m->w, pid, root);
		if (m->d)
			read_descriptors(f, m->d, pid, root);
	}
	leader = tgid == pid ? NULL : member_new(f, tgid);
	if (leader)
		share(leader, m);
	return m;
}

/* ---- paths ---- */

/*
 * Join path, of n bytes, and the directory where it begins. The directory has no symbolic
 * links, so .. removes its last part; behind a part of path, which may be a link, .. stays.
 * Return the length, 0 if the directory is unknown or the path does not fit.
 */
static size_t join(const struct member *m, int dirfd, const char *path, size_t n, char *out)
{
	const struct file *from = NULL;
	size_t len = 0, solid;

	if (n && *path != '/') {
		from = dirfd != AT_FDCWD ? fd_file(m->d, (unsigned)dirfd) :
		       m->w ? m->w->cwd : NULL;
		if (!from || from->socket || *from->name != '/')
			return 0;
		len = strlen(from->name);
		memcpy(out, from->name, len);
		len -= len == 1;
	}
	solid = len;
	for (const char *end = path + n; path < end;) {
		size_t part = 0;

		while (path + part < end && path[part] != '/')
			part++;
		if (part == 2 && !memcmp(path, "..", 2) && len <= solid) {
			while (len && out[--len] != '/')
				;
			solid = len;
		} else if (part && (part != 1 || *path != '.')) {
			if (len + part + 2 > PATH_MAX)
				return 0;
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part + (path + part < end);
	}
	if (!len && n)
		out[len++] = '/';
	out[len] = '\0';
	return len;
}

/* include/uapi/linux/openat2.h; the call has the same number on all architectures */
struct how {
	uint64_t flags, mode, resolve;
};
enum { NO_MAGICLINKS = 2, IN_ROOT = 16, CACHED = 32, OPENAT2 = 437 };

/*
 * Follow the symbolic links of an absolute path of the task, as procfs shows the file. Ask
 * only the kernel's cache of names (RESOLVE_CACHED, 5.12): a file system of the task, such as
 * FUSE, could let this program wait. Return the length, or 0 if the path stays as it is.
 */
static size_t resolve(const struct member *m, int pid, int nofollow, const char *path, char *out)
{
	struct how how = { (uint64_t)(O_PATH | O_CLOEXEC | (nofollow ? O_NOFOLLOW : 0)), 0,
			   CACHED | NO_MAGICLINKS };
	char name[PATH_MAX], root[PATH_MAX] = "";
	int dir = -1, fd;
	size_t n;

	if (!m->w->own) {
		how.resolve |= IN_ROOT;
		str_format(name, sizeof(name), "%s/%d/root", path_procfs(), pid);
		dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || !read_link(AT_FDCWD, name, "", root))
			path = "";
	}
	fd = (int)syscall(OPENAT2, dir, path, &how, sizeof(how));
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return 0;
	str_format(name, sizeof(name), "%s/self/fd/%d", path_procfs(), fd);
	n = read_link(AT_FDCWD, name, root, out);
	close(fd);
	/* /proc/self would be this program */
	return n < 10 || (strncmp(out, "/proc/", 6) && strcmp(out + n - 10, " (deleted)")) ? n : 0;
}

/* Return the file that a task has opened by its path, or NULL. */
static struct file *opened(struct follow *f, int pid, const struct member *m, int dirfd,
			   const struct call_bytes *user, int nofollow)
{
	char path[PATH_MAX], real[PATH_MAX], *slash;
	size_t len = user->bytes ? strnlen(user->bytes, user->n) : 0, n;

	if (!len || user->cut || user->fault)
		return NULL;
	len = join(m, dirfd, user->bytes, len, path);
	if (!len)
		return NULL;
	if (!f->live || !m->w)
		return file_new(f, path, len);
	n = resolve(m, pid, nofollow, path, real);
	slash = strrchr(path, '/');
	if (!n && slash > path) {
		/* the file may be gone, and its directory not */
		*slash = '\0';
		n = resolve(m, pid, 0, path, real);
		*slash = '/';
		len -= (size_t)(slash - path);
		if (n && n + len < sizeof(real)) {
			n -= n == 1;
			memcpy(real + n, slash, len + 1);
			n += len;
		} else {
			n = 0;
		}
	}
	return n ? file_new(f, real, n) : file_new(f, path, strlen(path));
}

/* ---- rules: what each call does ---- */

/*
 * A line for each call: its name; the letter of the rule; the argument with flags, or - for
 * none, or + if the descriptor is closed at an exec; the flag for that, or o for O_CLOEXEC; the
 * anonymous file, as procfs shows it. Other calls that return a descriptor have the first.
 */
static const char rules[] =
	"\nother N-o"
	"\naccept A-o\naccept4 A3o\nbind B-o\nchdir c-o\nchroot r-o\nclose x-o\nclose_range X-o"
	"\nconnect C-o\ncreat k-o\ndup d-o\ndup2 D-o\ndup3 D2o\nfchdir f-o\nfcntl F-o"
	"\nfcntl64 F-o\ngetpeername Q-o\ngetsockname q-o\nioctl i-o\nmemfd_create m11\nopen o1o"
	"\nopenat O2o\nopenat2 h-o\nopen_tree O2o\npipe p-o\npipe2 p1o\npivot_root r-o\nsetns s-o"
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

/* The root directory or the mounts of a task change. */
static void change_root(struct follow *f, struct member *m)
{
	if (!m->w)
		return;
	m->w->own = 0;
	file_put(f, m->w->mounts);
	m->w->mounts = NULL;
}

/* include/uapi: linux/fcntl.h, linux/sched.h, linux/close_range.h, asm-generic/fcntl.h */
enum {
	DUPFD = 0, SETFD = 2, DUPFD_CLOEXEC = 1030, SHARE_FS = 0x200, SHARE_FILES = 0x400,
	NEW_MOUNTS = 0x20000, NEW_USERS = 0x10000000, RANGE_UNSHARE = 2, RANGE_CLOEXEC = 4,
	TEMPORARY = 020000000,
};

/* asm-generic/ioctls.h, and asm/ioctls.h of powerpc: set and clear close-on-exec */
static int is_ioctl(uint64_t request, int set)
{
	return request == (set ? 0x5451 : 0x5450) || request == (set ? 0x20006601 : 0x20006602);
}

void follow_call(struct follow *f, int pid, const struct call *c, const struct call_values *v)
{
	const char *rule = rule_of(f, c);
	const uint64_t *a = v->args;
	const struct call_bytes *user = v->user;
	uint64_t flags, fd = (uint64_t)v->result;
	struct file *p = NULL, *s;
	int cloexec, set;
	uint32_t fds[2];
	char name[PATH_MAX];
	struct member *m;
	size_t n, known = f->tasks.n;

	if (!rule || (v->result < 0 && v->result >= -4095 && *rule != 'x' &&
		      (*rule != 'C' || v->result != -EINPROGRESS)))
		return;
	m = member(f, pid);
	if (!m)
		return;
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
				   !!(flags & O_NOFOLLOW));
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
		memcpy(p->name, s->name, ADDRESS);
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
		/* procfs shows the directory after the call */
		if (!f->live || f->tasks.n == known)
			change_directory(f, m, *rule == 'f' ? file_ref(s) :
					 opened(f, pid, m, AT_FDCWD, &user[0], 0));
		return;
	case 's':
		if (a[1] && !(a[1] & NEW_MOUNTS))
			return;
		/* fall through */
	case 'r':
		change_root(f, m);
		change_directory(f, m, NULL);
		return;
	case 'u':
		if (a[0] & SHARE_FILES)
			unshare_files(f, m);
		if (a[0] & (SHARE_FS | NEW_MOUNTS | NEW_USERS))
			unshare_directories(f, m);
		if (a[0] & NEW_MOUNTS)
			change_root(f, m);
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
	if (clone_flags & NEW_MOUNTS)
		change_root(f, m);
}

void follow_end(struct follow *f, int pid)
{
	struct member *m = member_find(f, pid);

	if (m)
		forget(f, m);
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
	int peer = !!s->name[ADDRESS];

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
	put(o, *s->name || s->family == AF_UNIX ? s->name : "?");
	if (peer) {
		/* this > is not a part of a name */
		put(o, "-");
		if (o->n + 1 < o->size)
			o->buf[o->n] = '>';
		o->n++;
		put(o, s->name + ADDRESS);
	}
}

/* Write the path that a path of the task has on the host to out; keep it if it is not known. */
static const char *host_path(const struct directories *w, const char *path, char *out)
{
	const char *s = w && w->mounts ? w->mounts->name : "", *to = NULL;
	size_t best = 0;

	while (*s) {
		size_t n = strlen(s);

		if (n >= best && is_below(path, s, n)) {
			best = n;
			to = s + n + 1;
		}
		s += n + 1;
		s += strlen(s) + 1;
	}
	if (!to)
		return path;
	str_format(out, PATH_MAX, "%s%s", to, best == 1 ? path : path + best);
	return out;
}

size_t follow_print_fd(struct follow *f, int pid, int fd, char *buf, size_t size)
{
	struct printed o = { buf, 0, size };
	char path[PATH_MAX];
	struct member *m = member(f, pid);
	struct file *p = !m ? NULL : fd == AT_FDCWD ? m->w ? m->w->cwd : NULL :
			 fd_file(m->d, (unsigned)fd);

	if (!p || !size)
		return 0;
	if (!p->socket) {
		put(&o, *p->name == '/' ? host_path(m->w, p->name, path) : p->name);
	} else {
		if (f->live && !p->final && incomplete(p))
			look_up(f, pid, fd, p);
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
	char joined[PATH_MAX], host[PATH_MAX];
	const char *to;
	struct member *m = member(f, pid);
	size_t n = m ? join(m, dirfd, path, strlen(path), joined) : 0;

	if (!n)
		return 0;
	to = host_path(m->w, joined, host);
	n = strlen(to);
	if (n >= size)
		return 0;
	memcpy(buf, to, n + 1);
	return n;
}
