/* SPDX-License-Identifier: ISC */
/*
 * wanted.c - the files of --path: what the kernel calls one file, by any of its names
 *
 * The inode, its device and its generation are the identity of a file. A path leads to an inode in
 * a root directory. The inodes of the wanted paths are known from the beginning, if the trace is
 * live, and again from each record of a file with that path: then the name was made anew.
 */
#include <ctype.h>
#include <sys/syscall.h>

#include "host/host.h"
#include "proc/proc.h"
#include "calls/mounts.h"
#include "calls/calls.h"

/* An inode to which a wanted path leads in a root directory */
struct wanted_at {
	struct table_entry entry;
	struct file_identity is;
};

/* Another name of a wanted file */
struct wanted_name {
	struct table_entry entry;
	uint32_t root;
};

/* ---- what a path leads to ------------------------------------------------------------------ */

/* Return a number of the line of fdinfo that begins with the key; 0: there is none. */
static uint64_t info_of(int fd, const char *key)
{
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/self/fdinfo/%d", path_procfs(), fd);
	return file_number(AT_FDCWD, path, key, 0);
}

/* Return the generation of the inode of a file, or 0: only some file systems tell it. */
static uint32_t generation_of(int fd)
{
	struct {
		struct file_handle head;
		uint32_t words[MAX_HANDLE_SZ / 4];
	} h = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount;

	if (name_to_handle_at(fd, "", &h.head, &mount, AT_EMPTY_PATH) < 0)
		return 0;
	switch ((unsigned)h.head.handle_type << 8 | h.head.handle_bytes) {
	case 1 << 8 | 8: /* FILEID_INO32_GEN */
		return h.words[1];
	case 1 << 8 | 12: /* shmem_encode_fh() */
		return h.words[0];
	case 0x81 << 8 | 12: /* xfs: FILEID_INO64_GEN */
		return h.words[2];
	}
	return 0;
}

/* Set the identity of the file of a descriptor, which a mount of the process has. */
static void identify(int fd, int pid, struct file_identity *is)
{
	static struct {
		uint64_t mount;
		uint32_t seen, device;
	} last;
	struct k_statx st = { 0 };
	struct mounts *m;

	*is = (struct file_identity){ 0 };
	/* this asks no server of the file system, as stat(2) would do */
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | K_AT_STATX_DONT_SYNC, K_STATX_INO, &st) < 0)
		return;
	is->device = st.major << 20 | st.minor;
	/* stat(2) of btrfs and overlayfs has other numbers than the kernel's inode */
	if (!st.major) {
		const uint64_t mount = info_of(fd, "mnt_id:\t");

		if (mount != last.mount || is->device != last.seen) {
			last.seen = is->device;
			last.mount = mount;
			m = mounts_of(pid);
			mounts_device(m, mount, &is->device);
			mounts_free(m);
			last.device = is->device;
		}
		is->device = last.device;
	}
	is->inode = info_of(fd, "\nino:\t");
	is->inode = is->inode ? is->inode : st.inode;
	is->generation = generation_of(fd);
}

/* Write the path of the file of a descriptor to out. Return its length, or 0. */
static size_t path_of(int fd, char *out)
{
	char link[PATH_MAX];
	ssize_t n;

	str_format(link, sizeof(link), "%s/self/fd/%d", path_procfs(), fd);
	n = readlink(link, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

uint32_t file_root(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);
	uint32_t id = fd < 0 ? 0 : (uint32_t)info_of(fd, "mnt_id:\t"), device;
	struct mounts *m = mounts_of(getpid());

	if (id && mounts_device(m, id, &device) < 0) /* a root directory that is not the mount's */
		id ^= ROOT_BELOW;
	mounts_free(m);
	fd_close(fd);
	return id;
}

struct question {
	int flags, how, pid;    /* pid 0: the root directory of this program */
	char path[PATH_MAX];
};

/* Open a path that is not in the kernel's cache of names: a stranger_fn. */
static void open_uncached(const void *question, struct stranger_answer *a)
{
	const struct question *q = question;
	struct k_open_how h = { (uint64_t)(unsigned)(q->flags | O_CLOEXEC), 0, 0 };
	char root[64];
	int dir = -1;

	h.resolve = q->how == PATH_MAGIC ? 0 : K_RESOLVE_NO_MAGICLINKS;
	if (q->pid) {
		str_format(root, sizeof(root), "%s/%d/root", path_procfs(), q->pid);
		dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		h.resolve |= K_RESOLVE_IN_ROOT;
	}
	if (!q->pid || dir >= 0)
		a->fd = (int)syscall(K_NR_openat2, dir, q->path, &h, sizeof(h));
	a->error = a->fd > 0 ? 0 : errno;
	a->fd = a->fd > 0 ? a->fd : 0;
}

/*
 * Open a path from dir, the root directory of the task pid, or with -1 and 0 from that of this
 * program. Return a descriptor, or -1. A stranger opens what the kernel's cache of names does not
 * have, such as a link that was not followed lately.
 */
static int open_path(int dir, int pid, const char *path, int flags, int how)
{
	int fd = path_open_cached(dir, path, flags, how);
	struct stranger_answer a = { 0 };
	struct question q = { flags, how, pid, "" };

	if (fd >= 0 || errno != EAGAIN)
		return fd;
	str_format(q.path, sizeof(q.path), "%s", path);
	if (stranger_ask(open_uncached, &q, offsetof(struct question, path) + strlen(q.path) + 1,
			 pid, &a) < 0)
		return -1;
	fd = a.fd ? dup(a.fd) : -1;
	stranger_free(&a);
	return fd;
}

/*
 * Write where a path from the root directory dir leads; if nothing is there, its name in the
 * directory that it leads to. Return the length, or 0.
 */
static size_t find_path(int dir, int how, int pid, const char *path, int last, char *out,
			struct file_identity *is)
{
	const char *slash = strrchr(path, '/');
	char above[PATH_MAX];
	size_t n = 0;
	int fd = open_path(dir, dir < 0 ? 0 : pid, path, O_PATH | (last ? 0 : O_NOFOLLOW), how);

	if (fd >= 0 && is)
		identify(fd, pid, is);
	if (fd >= 0)
		n = path_of(fd, out);
	fd_close(fd);
	if (n || !slash || !slash[1])
		return n;
	str_format(above, sizeof(above), "%.*s", (int)(slash - path) + !(slash - path), path);
	fd = open_path(dir, dir < 0 ? 0 : pid, above, O_PATH | O_DIRECTORY, how);
	n = fd < 0 ? 0 : path_of(fd, out);
	fd_close(fd);
	n -= n == 1;
	return fd >= 0 && n + strlen(slash) < PATH_MAX ?
	       n + str_format(out + n, PATH_MAX - n, "%s", slash) : 0;
}

size_t file_resolve(int pid, int here, const char *path, int last, char *out,
		    struct file_identity *is)
{
	char link[PATH_MAX], root[PATH_MAX] = "/";
	/* follow links of procfs for a pid, except those of descriptors, which change */
	const int magic = here && !strncmp(path, "/proc/", 6) && isdigit((unsigned char)path[6]) &&
			  !strstr(path, "/fd/");
	int dir = -1;
	ssize_t skip = 1;
	size_t n = 0;

	if (is)
		*is = (struct file_identity){ 0 };
	if (procfs_begin_file() < 0) /* also when the session ends */
		return 0;
	if (!here) {
		str_format(link, sizeof(link), "%s/%d/root", path_procfs(), pid);
		dir = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
		skip = readlink(link, root, sizeof(root) - 1);
		root[skip > 0 ? skip : 0] = '\0';
	}
	if (here || (dir >= 0 && skip > 0))
		n = find_path(dir, magic ? PATH_MAGIC : PATH_LINKS, here ? getpid() : pid, path,
			      last, out, is);
	fd_close(dir);
	procfs_end();
	if (!n || !path_is_below(out, root))
		return 0;
	if (root[1]) {
		n -= (size_t)skip;
		memmove(out, n ? out + skip : "/", n + 1 + !n);
	}
	return strlen(out);
}

/* ---- the files that are wanted ------------------------------------------------------------- */

static int is_same(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}

/* Return what path number i leads to in a root directory; NULL: that is not known. */
static struct wanted_at *at_root(struct wanted *w, unsigned i, uint32_t root)
{
	const uint32_t key[2] = { i, root };

	return w->known.n ? table_find(&w->known, (const char *)key, sizeof(key)) : NULL;
}

/* The path number i leads to this inode in a root directory. */
static void learn(struct wanted *w, unsigned i, uint32_t root, const struct file_identity *is)
{
	const uint32_t key[2] = { i, root };
	struct wanted_at *to = at_root(w, i, root);

	if (to && !is_same(&to->is, is)) /* the old file is another one now */
		table_clear(&w->names);
	w->known.size = sizeof(*to);
	if (w->known.n >= WANTED_ROOTS)
		table_clear(&w->known);
	((struct wanted_at *)table_at(&w->known, (const char *)key, sizeof(key)))->is = *is;
}

/* Return the path as another name of a wanted file, or NULL. */
static struct wanted_name *name_of(const struct wanted *w, const struct file_seen *f)
{
	struct wanted_name *name = w->names.n && f->path ?
				   table_find(&w->names, f->path, strlen(f->path)) : NULL;

	return name && name->root == f->root ? name : NULL;
}

/* Remove a name from its table; NULL: there is none. */
static void forget(struct table *names, void *name)
{
	if (name)
		table_remove(names, name);
}

/* Let a path be another name of a wanted file. */
static void add_name(struct wanted *w, const struct file_seen *f)
{
	struct wanted_name *name;

	w->names.size = sizeof(*name);
	if (w->names.n >= WANTED_ROOTS)
		table_clear(&w->names);
	name = table_at(&w->names, f->path, strlen(f->path));
	name->root = f->root;
}

void wanted_name(struct wanted *w, const struct file_seen *from, const struct file_seen *to)
{
	const int wanted = w->n && to && wanted_is(w, from);

	if (!to)
		forget(&w->names, name_of(w, from));
	if (wanted)
		add_name(w, to);
	if (!to || wanted)
		return;
	forget(&w->names, name_of(w, to));
	for (unsigned i = 0; i < w->n; i++)
		if (strcmp(w->path[i], to->path))
			continue;
		else if (to->is.inode)
			learn(w, i, to->root, &to->is);
		else /* the file is not known until the name is used */
			forget(&w->known, at_root(w, i, to->root));
}

void wanted_add(struct wanted *w, const char *path)
{
	size_t n = strlen(path);
	char *copy = xstrdup(path);

	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = '\0';
	for (unsigned i = 0; i < w->n; i++)
		if (!strcmp(w->path[i], copy))
			return free(copy);
	w->path[w->n < WANTED_MOST ? w->n++ : WANTED_MOST - 1] = copy;
}

void wanted_begin(struct wanted *w, uint32_t root)
{
	char path[PATH_MAX];
	struct file_identity is;
	int fd;

	table_clear(&w->known);
	w->root = root;
	for (unsigned i = 0; root && i < w->n; i++) {
		fd = open_path(-1, 0, w->path[i], O_PATH | O_NOFOLLOW, PATH_LINKS);
		if (fd < 0)
			continue;
		identify(fd, getpid(), &is);
		if (path_of(fd, path) && !strcmp(path, w->path[i]))
			learn(w, i, w->root, &is);
		fd_close(fd);
	}
}

/* Is path number i, of n bytes, that of the file, or of a directory above it? */
static int is_named(const char *path, size_t n, const char *name)
{
	return glob_matches(path, name) ||
	       (!strncmp(path, name, n) && (n == 1 || !name[n] || name[n] == '/'));
}

int wanted_names(const struct wanted *w, const char *path)
{
	unsigned i = 0;

	while (i < w->n && !is_named(w->path[i], strlen(w->path[i]), path))
		i++;
	return i < w->n;
}

int wanted_is(struct wanted *w, const struct file_seen *f)
{
	struct wanted_name *name = name_of(w, f);

	if (name && !f->is.inode)
		return 1;
	for (unsigned i = 0; i < w->n; i++) {
		const struct wanted_at *here = at_root(w, i, w->root);
		const struct wanted_at *there = f->root == w->root ? here : at_root(w, i, f->root);
		const size_t n = strlen(w->path[i]);

		if ((here && is_same(&here->is, &f->is)) ||
		    (there && is_same(&there->is, &f->is))) {
			if (f->path && !(f->flags & FILE_DELETED))
				add_name(w, f);
			return 1;
		}
		/*
		 * The "?" before a path that procfs gave is no part of it. In another root
		 * directory, the name is that of another file.
		 */
		if (!f->path || !is_named(w->path[i], n, f->path + (*f->path == '?')) ||
		    (here && w->root && f->root && f->root != w->root))
			continue;
		if (f->known && f->root && !strcmp(w->path[i], f->path))
			learn(w, i, f->root, &f->is);
		return 1;
	}
	forget(&w->names, name);
	return !w->n;
}

void wanted_free(struct wanted *w)
{
	table_clear(&w->known);
	table_clear(&w->names);
	free(w->known.v);
	free(w->names.v);
	w->known = w->names = (struct table){ 0 };
}
