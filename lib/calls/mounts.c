/* SPDX-License-Identifier: ISC */
/*
 * mounts.c - where the files of a file system are on the host
 *
 * A file system is known by its device. Words 0 and 2 to 4 of a line of mountinfo are the id of the
 * mount, the device, the directory of the file system that is mounted, and the directory where it
 * is mounted (proc_pid_mountinfo(5)). The kernel writes a space in a directory as \040.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "calls/mounts.h"

/* A line of mountinfo. */
struct line {
	const char *device, *root, *at;
	unsigned long id;
	size_t number;                  /* of the line */
};

struct mounts {
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

/* Write the path, which lies below from, with the directory from replaced by to. */
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

int path_open_cached(int root, const char *path, int flags, int how)
{
	struct k_open_how h = { (uint64_t)(unsigned)(flags | O_CLOEXEC), 0,
				K_RESOLVE_CACHED };

	h.resolve |= (how == PATH_MAGIC ? 0u : K_RESOLVE_NO_MAGICLINKS) |
		     (root >= 0 ? K_RESOLVE_IN_ROOT : 0u) |
		     (how == PATH_NO_LINKS ? K_RESOLVE_NO_SYMLINKS : 0u);
	return (int)syscall(K_NR_openat2, root, path, &h, sizeof(h));
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

/* Read the mounts of a task, or none if not all of them can be read. */
static void read_lines(struct mounts *l, pid_t pid)
{
	char path[PATH_MAX], *next;
	int cut = 0;

	str_format(path, sizeof(path), "%s/%d/mountinfo", path_procfs(), (int)pid);
	/* no traced program can lengthen the list of the host, so read all of it */
	l->text = pid == 1 ? file_read(AT_FDCWD, path, NULL) :
			     procfs_read(pid, "mountinfo", NULL, &cut);
	if (cut) {
		free(l->text);
		l->text = NULL;
	}
	if (!l->text)
		return;
	for (char *s = l->text; *s; s = next) {
		struct line w = { .number = l->n };

		next = s + strcspn(s, "\n");
		next += *next == '\n';
		w.id = (unsigned long)text_value(s, NULL, 10);
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
}

/* Find the directory of the host where the directory of a file system is. NULL: nowhere. */
static const struct line *on_host(const struct mounts *host, const struct line *mount)
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

struct mounts *mounts_of(pid_t pid)
{
	struct mounts *m = xcalloc(1, sizeof(*m));

	read_lines(m, pid);
	if (m->n)
		array_sort(m->v, m->n, sizeof(*m->v), by_device);
	return m;
}

void mounts_free(struct mounts *m)
{
	if (m) {
		free(m->v);
		free(m->text);
	}
	free(m);
}

int mounts_find(const struct mounts *m, uint32_t device, const char *inside, char *out)
{
	char text[32];
	const struct line file = { .device = text, .root = inside }, *w;

	str_format(text, sizeof(text), "%u:%u", device >> 20, device & 0xfffff);
	w = on_host(m, &file);
	return w ? replace(inside, w->root, w->at, out) : -1;
}

int mounts_device(const struct mounts *m, uint64_t id, uint32_t *device)
{
	const char *end;

	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].id == id) {
			*device = (uint32_t)text_value(m->v[i].device, &end, 10) << 20;
			*device |= (uint32_t)text_value(end + 1, NULL, 10);
			return 0;
		}
	return -1;
}

int mounts_between(const struct mounts *m, const char *from, const char *to)
{
	const size_t n = from[1] ? strlen(from) : 0;

	for (size_t i = 0; i < m->n; i++)
		if (path_is_below(to, m->v[i].at) && strlen(m->v[i].at) > n && m->v[i].at[1])
			return 1;
	return !m->text; /* of a chroot, there may be no mounts */
}
