/* SPDX-License-Identifier: ISC */
/*
 * mounts.c - where the mounts of a mount namespace are on the host
 *
 * A file system is known by its device. Words 2 to 4 of a line of mountinfo are the device, the
 * directory of the file system that is mounted, and the directory where it is mounted
 * (proc_pid_mountinfo(5)). The kernel writes a space in a directory as \040.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "proc/proc.h"
#include "syscalls/mounts.h"

enum { MOST = 4096 /* mounts of a namespace; with more, all its paths are unknown */ };

/* A line of mountinfo. */
struct line {
	const char *device, *root, *at;
	size_t number;                  /* of the line */
};

struct lines {
	char *text;
	struct line *v;
	size_t n, room;
};

/* ---- paths ---- */

int path_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n == 1 ? *path == '/' : !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

/* Write what path is if the directory from is called to. path lies below from. */
static int replace(const char *path, const char *from, const char *to, char *out)
{
	const char *rest = path + (from[1] ? strlen(from) : 0);

	if (!strcmp(rest, "/"))
		rest = "";
	if (str_format(out, PATH_MAX, "%s%s", to[1] ? to : "", rest) >= PATH_MAX)
		return -1;
	if (!*out)
		strcpy(out, "/");
	return 0;
}

int path_pivot(const char *path, const char *root, const char *old, char *out)
{
	char moved[PATH_MAX];

	if (path_is_below(path, root))
		return replace(path, root, "/", out);
	/* old lies below root; as ".", it is root itself, and the old root is out of reach */
	if (!path_is_below(old, root) || !strcmp(old, root) ||
	    replace(old, root, "/", moved) < 0)
		return -1;
	return replace(path, "/", moved, out);
}

int path_open_cached(int root, const char *path, int flags, int how)
{
	struct k_open_how h = { (uint64_t)(unsigned)(flags | O_CLOEXEC), 0,
				K_RESOLVE_CACHED | K_RESOLVE_NO_MAGICLINKS };

	h.resolve |= (root >= 0 ? K_RESOLVE_IN_ROOT : 0u) |
		     (how == PATH_NO_LINKS ? K_RESOLVE_NO_SYMLINKS : 0u);
	return (int)syscall(K_NR_openat2, root, path, &h, sizeof(h));
}

/* ---- tables ---- */

static struct mounts *table_new(void)
{
	struct mounts *m = xcalloc(1, sizeof(*m));

	m->bytes = sizeof(*m);
	return m;
}

static void put(struct mounts *m, const char *at, const char *host)
{
	m->v = xgrow(m->v, m->n, &m->room, sizeof(*m->v));
	m->v[m->n++] = (struct mount_point){ xstrdup(at), host ? xstrdup(host) : NULL };
	m->bytes += sizeof(*m->v) + strlen(at) + (host ? strlen(host) : 0) + 2;
}

static void drop(struct mounts *m, size_t i)
{
	m->bytes -= sizeof(*m->v) + strlen(m->v[i].at) +
		    (m->v[i].host ? strlen(m->v[i].host) : 0) + 2;
	free(m->v[i].at);
	free(m->v[i].host);
	m->n--;
	memmove(m->v + i, m->v + i + 1, (m->n - i) * sizeof(*m->v));
}

struct mounts *mounts_same(void)
{
	struct mounts *m = table_new();

	put(m, "/", "/");
	return m;
}

struct mounts *mounts_unknown(void)
{
	return table_new();
}

struct mounts *mounts_copy(const struct mounts *from)
{
	struct mounts *m = table_new();

	for (size_t i = 0; i < from->n; i++)
		put(m, from->v[i].at, from->v[i].host);
	m->over = from->over;
	return m;
}

void mounts_free(struct mounts *m)
{
	while (m && m->n)
		drop(m, m->n - 1);
	if (m)
		free(m->v);
	free(m);
}

int mounts_host(const struct mounts *m, const char *path, char *out)
{
	const struct mount_point *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < m->n; i++) {
		size_t n = strlen(m->v[i].at);

		if (n >= most && path_is_below(path, m->v[i].at)) {
			best = &m->v[i];
			most = n;
		}
	}
	return best && best->host ? replace(path, best->at, best->host, out) : -1;
}

void mounts_add(struct mounts *m, const char *at, const char *host)
{
	if (m->n < MOST) {
		put(m, at, host);
		return;
	}
	while (m->n)
		drop(m, m->n - 1);
}

void mounts_remove(struct mounts *m, const char *at)
{
	size_t last = m->n, n = strlen(at);

	if (!at[1] && m->over) {
		m->over--;
		return;
	}
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->v[i].at, at))
			last = i;
	if (last == m->n) { /* not known: so is what comes to light */
		mounts_add(m, at, NULL);
		return;
	}
	drop(m, last);
	for (size_t i = m->n; i--;)
		if (path_is_below(m->v[i].at, at) && m->v[i].at[n])
			drop(m, i);
}

void mounts_bind(struct mounts *m, const char *from, const char *to, int all)
{
	char path[PATH_MAX], host[PATH_MAX];
	struct mounts *old = mounts_copy(m);

	mounts_add(m, to, mounts_host(old, from, host) < 0 ? NULL : host);
	for (size_t i = 0; i < old->n && all; i++)
		if (path_is_below(old->v[i].at, from) && strcmp(old->v[i].at, from) &&
		    !replace(old->v[i].at, from, to, path))
			mounts_add(m, path, old->v[i].host);
	mounts_free(old);
}

void mounts_move(struct mounts *m, const char *from, const char *to)
{
	mounts_bind(m, from, to, 1);
	mounts_remove(m, from);
}

void mounts_pivot(struct mounts *m, const char *root, const char *old)
{
	char path[PATH_MAX], host[PATH_MAX];
	int known = !mounts_host(m, root, host);
	struct mounts *new = table_new(), swap;

	put(new, "/", known ? host : NULL);
	for (size_t i = 0; i < m->n; i++)
		if (!path_pivot(m->v[i].at, root, old, path) && path[1])
			put(new, path, m->v[i].host);
	/* pivot_root(2): after pivot_root(".", ".") the old root lies on top of the new one */
	new->over = m->over + !strcmp(root, old);
	swap = *m;
	*m = *new;
	*new = swap;
	mounts_free(new);
}

/* ---- mountinfo ---- */

/* End the word, and replace \ooo in it. Return the beginning of the next word. */
static char *end_word(char *s)
{
	char *to = s, *end = s + strcspn(s, " \n");
	char *next = end + (*end == ' ');

	for (; s < end; s++) {
		if (*s == '\\' && end - s > 3 && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0');
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
	return next;
}

static int by_device(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = strcmp(x->device, y->device);

	return r ? r : (x->number > y->number) - (x->number < y->number);
}

/* Read the mounts of a task. Return 0; -1: not all of them could be read, or there are too many. */
static int read_lines(struct lines *l, pid_t pid, size_t most)
{
	int cut = 0;
	char *next;

	*l = (struct lines){ .text = procfs_read(pid, "mountinfo", NULL, &cut) };
	if (!l->text || cut)
		return -1;
	for (char *s = l->text; *s; s = next) {
		struct line w = { .number = l->n };

		next = s + strcspn(s, "\n");
		next += *next == '\n';
		if (l->n == most)
			return -1;
		s += strcspn(s, " \n");
		s += strspn(s, " ");
		s += strcspn(s, " \n");
		s += strspn(s, " ");
		w.device = s;
		s = end_word(s);
		w.root = s;
		s = end_word(s);
		w.at = s;
		if (!*s || *s == '\n')
			continue;
		end_word(s);
		l->v = xgrow(l->v, l->n, &l->room, sizeof(w));
		l->v[l->n++] = w;
	}
	return 0;
}

static void free_lines(struct lines *l)
{
	free(l->v);
	free(l->text);
}

/* Find the directory of the host where the directory of a file system is. NULL: nowhere. */
static const struct line *on_host(const struct lines *host, const struct line *mount)
{
	size_t low = 0, high = host->n, best = 0;
	const struct line *found = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(host->v[middle].device, mount->device) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < host->n && !strcmp(host->v[low].device, mount->device); low++) {
		size_t n = strlen(host->v[low].root);

		if (n > best && path_is_below(mount->root, host->v[low].root)) {
			best = n;
			found = &host->v[low];
		}
	}
	return found;
}

struct roots {
	pid_t pid;
	char path[PATH_MAX];
};

/* Answer is_same: a stranger_fn. */
static void compare_roots(const void *question, struct stranger_answer *answer)
{
	const struct roots *q = question;
	char link[PATH_MAX];
	struct stat theirs, ours;
	int a, b;

	str_format(link, sizeof(link), "%s/%d/root", path_procfs(), (int)q->pid);
	a = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	b = path_open_cached(-1, q->path, O_PATH | O_DIRECTORY, PATH_NO_LINKS);
	answer->error = a < 0 || b < 0 || fstat(a, &theirs) < 0 || fstat(b, &ours) < 0 ||
			theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino;
	fd_close(a);
	fd_close(b);
}

/*
 * Are the root directory of a task and the directory of the host with this path the same? The
 * task chose the path, so take it only if the kernel has it in memory, and without links. The file
 * system may ask a server, so a helper looks.
 */
static int is_same(pid_t pid, const char *path)
{
	struct roots q = { .pid = pid };
	struct stranger_answer a;
	int same;

	str_format(q.path, sizeof(q.path), "%s", path);
	same = !stranger_ask(compare_roots, &q, sizeof(q), pid, &a) && !a.error;
	stranger_free(&a);
	return same;
}

struct mounts *mounts_read(pid_t pid, const char *root)
{
	struct mounts *m = table_new();
	char host[PATH_MAX], at[PATH_MAX];
	struct lines theirs, ours;
	int r = read_lines(&theirs, pid, MOST);

	if (r < 0 && theirs.text)
		procfs_miss();
	if (read_lines(&ours, 1, SIZE_MAX) < 0) {
		free_lines(&ours);
		ours = (struct lines){ 0 };
	}
	if (ours.n)
		array_sort(ours.v, ours.n, sizeof(*ours.v), by_device);
	/* the table has only what is below the root directory, which need not be a mount */
	if (!r && root[1] && is_same(pid, root))
		put(m, root, root);
	for (size_t i = 0; !r && i < theirs.n; i++) {
		const struct line *w = on_host(&ours, &theirs.v[i]);

		if (replace(theirs.v[i].at, "/", root, at) < 0)
			continue;
		put(m, at, w && !replace(theirs.v[i].root, w->root, w->at, host) ? host : NULL);
	}
	free_lines(&theirs);
	free_lines(&ours);
	return m;
}
