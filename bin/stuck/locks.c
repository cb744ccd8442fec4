/* SPDX-License-Identifier: ISC */
/* locks.c - who holds the lock of a file: /proc/locks, and fdinfo of the descriptors */

#include "stuck.h"

/* A line of /proc/locks. */
struct lock {
	int waits;              /* it waits for a lock of an earlier line */
	size_t of;              /* the index of that lock; or its own, if it does not wait */
	char kind[8];           /* POSIX, OFDLCK, FLOCK, LEASE, DELEG */
	int writes;
	pid_t pid;              /* -1: of an open file description */
	char file[64];          /* DEVICE:INODE */
	uint64_t first, last;
	char line[128];         /* after the number: as fdinfo has it */
};

static struct {
	int read;
	struct lock *v;
	size_t n, room;
} all;

/* Take the next word of a line. */
static const char *word(const char *s, char *to, size_t size)
{
	size_t n;

	s += strspn(s, " ");
	n = strcspn(s, " ");
	str_format(to, size, "%.*s", (int)(n < size ? n : size - 1), s);
	return s + n;
}

/* N: [-> ]KIND HOW ACCESS PID MAJOR:MINOR:INODE FIRST LAST */
static int parse(const char *line, struct lock *l)
{
	const char *s = strchr(line, ':');
	char text[24];

	*l = (struct lock){ 0 };
	if (!s)
		return -1;
	s += 1 + strspn(s + 1, " ");
	l->waits = !strncmp(s, "->", 2);
	s += l->waits ? 3 : 0;
	str_format(l->line, sizeof(l->line), "%s", s);
	s = word(s, l->kind, sizeof(l->kind));
	s = word(s, text, sizeof(text));
	s = word(s, text, sizeof(text));
	l->writes = !strcmp(text, "WRITE");
	s = word(s, text, sizeof(text));
	l->pid = *text == '-' ? -1 : (pid_t)text_value(text, NULL, 10);
	s = word(s, l->file, sizeof(l->file));
	s = word(s, text, sizeof(text));
	l->first = text_value(text, NULL, 10);
	word(s, text, sizeof(text));
	l->last = *text == 'E' ? UINT64_MAX : text_value(text, NULL, 10);
	return 0;
}

static void read_all(void)
{
	char path[PATH_MAX], *text, *rest, *line;
	size_t of = 0;

	str_format(path, sizeof(path), "%s/locks", path_procfs());
	text = rest = all.read ? NULL : file_read(AT_FDCWD, path, NULL);
	all.read = 1;
	while (rest && (line = text_next_line(&rest))) {
		all.v = xgrow(all.v, all.n, &all.room, sizeof(*all.v));
		if (parse(line, &all.v[all.n]) < 0)
			continue;
		of = all.v[all.n].waits ? of : all.n;
		all.v[all.n++].of = of;
	}
	free(text);
}

void locks_forget(void)
{
	free(all.v);
	memset(&all, 0, sizeof(all));
}

/* Locks of processes and of descriptions exclude each other, but not those of flock(2). */
static int is_posix(const struct lock *l)
{
	return !strcmp(l->kind, "POSIX") || !strcmp(l->kind, "OFDLCK");
}

static int excludes(const struct lock *held, const struct lock *wanted)
{
	if (held->waits || strcmp(held->file, wanted->file) ||
	    (is_posix(held) ? !is_posix(wanted) : strcmp(held->kind, wanted->kind)))
		return 0;
	return (held->writes || wanted->writes) && held->first <= wanted->last &&
	       wanted->first <= held->last &&
	       (is_posix(held) && held->pid > 0 ? held->pid != wanted->pid : 1);
}

struct search {
	struct thread *t;
	const struct lock *lock;
	int found;
};

/* Link the process of a descriptor if it holds the lock, as fdinfo says. */
static void holds(void *arg, const struct held *h)
{
	struct search *s = arg;
	char name[40], *text, *rest, *line;

	if (h->kind != FILE_PATH)
		return;
	str_format(name, sizeof(name), "fdinfo/%d", h->fd);
	rest = text = procfs_read(h->tgid, name, NULL, NULL);
	while (rest && (line = text_next_line(&rest))) {
		const char *lock = strncmp(line, "lock:", 5) ? NULL : strchr(line + 5, ':');

		if (lock && !strcmp(lock + 1 + strspn(lock + 1, " "), s->lock->line)) {
			link_task(s->t, "holder", h->tgid, 0);
			s->found = 1;
		}
	}
	free(text);
}

static void link_holder(struct thread *t, const struct lock *l)
{
	struct search s = { t, l, 0 };
	struct task task;

	if (!strcmp(l->kind, "POSIX")) {
		if (l->pid > 0 && !task_read(l->pid, &task))
			link_task(t, "holder", l->pid, 0);
		else
			link_unknown(t, "the holder: it is on another host, or has ended");
		return;
	}
	held_each(holds, &s);
	held_note(t);
	if (!s.found)
		link_unknown(t, "the holder; process %d took the lock", (int)l->pid);
}

/* Read the request of fcntl(2) from the memory of the thread. Return 0, or -1. */
static int wanted_range(const struct thread *t, struct lock *wanted)
{
	struct {
		int16_t type, whence;
		int64_t start, len;
		int32_t pid;
	} f;

	if (sizeof(long) < 8 || memory_read(t->task.pid, t->args[2], &f, sizeof(f)) < 0 ||
	    f.whence || f.start < 0 || f.len < 0)
		return -1;
	wanted->writes = f.type == F_WRLCK;
	wanted->first = (uint64_t)f.start;
	wanted->last = f.len ? (uint64_t)(f.start + f.len - 1) : UINT64_MAX;
	return 0;
}

/* Find what the thread waits for. Return how many requests may be its own. */
static unsigned find_request(struct thread *t, int fd, int is_flock, struct lock *wanted)
{
	const char *device = fd < 0 ? "" : device_of(t->task.pid, fd);
	uint64_t inode = fd < 0 ? 0 : fdinfo_number(t->task.pid, fd, "ino", 10, 0);
	struct lock range = { .first = 1 };
	int ranged = fd >= 0 && !is_flock && !wanted_range(t, &range);
	unsigned n = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct lock *l = &all.v[i];
		const char *number = strrchr(l->file, ':'), *end;
		unsigned major = (unsigned)text_value(l->file, &end, 16);
		unsigned minor = (unsigned)text_value(*end ? end + 1 : end, NULL, 16);
		char its[32];

		str_format(its, sizeof(its), "%u:%u", major, minor);
		if (!l->waits || (l->pid != t->tgid && l->pid != -1) || !number)
			continue;
		if (fd < 0 ? strcmp(l->kind, "LEASE") && strcmp(l->kind, "DELEG") :
		    is_flock ? strcmp(l->kind, "FLOCK") != 0 : !is_posix(l))
			continue;
		if (fd >= 0 && (strcmp(its, device) || text_value(number + 1, NULL, 10) != inode))
			continue;
		if (ranged && (l->first != range.first || l->last != range.last ||
			       l->writes != range.writes))
			continue;
		n += !n || strcmp(l->line, wanted->line);
		*wanted = *l;
	}
	return n;
}

void lock_wait(struct thread *t, int fd, int is_flock)
{
	struct lock wanted;
	unsigned n;

	t->on = "lock";
	read_all();
	n = find_request(t, fd, is_flock, &wanted);
	if (n != 1) {
		link_unknown(t, n ? "which of %u requests of the process is its own" :
			     "the lock: /proc/locks has no such request", n);
		return;
	}
	if (fd < 0)
		strbuf_puts(&t->what, ", of which a process has a lease");
	else
		strbuf_format(&t->what, ", %s lock (%s)", wanted.writes ? "exclusive" : "shared",
			      wanted.kind);
	/* the request that breaks a lease names no file */
	for (size_t i = 0; i < all.n; i++)
		if (fd < 0 ? i == wanted.of : excludes(&all.v[i], &wanted))
			link_holder(t, &all.v[i]);
	if (!t->nlinks)
		link_unknown(t, "the holder");
}
