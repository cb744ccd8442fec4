/* SPDX-License-Identifier: ISC */
/* select.c - selectors to pids: one look at procfs, then closures over it */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tfs.h"

struct look {
	struct selector *selectors;
	size_t n;
	int flags;
	struct pids *out;
	/* every process and its parent, for the descendants */
	struct parent { pid_t pid, ppid; int in; } *all;
	size_t nall, room;
};

/* A small file of a task, NUL-terminated; 0 or -1. */
static int task_file(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	format(path, sizeof(path), "%s/%d/%s", procfs(), (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	buf[n] = '\0';
	return 0;
}

/*
 * Is the cgroup at path, or one below it, among the task's? The lines of
 * /proc/PID/cgroup are HIERARCHY:CONTROLLERS:PATH (cgroups(7)).
 */
static int in_cgroup(pid_t pid, const char *path)
{
	char text[8192], *line, *next;
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (task_file(pid, "cgroup", text, sizeof(text)) < 0)
		return 0;
	for (line = text; line; line = next) {
		char *p = strchr(line, ':');

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		p = p ? strchr(p + 1, ':') : NULL;
		if (p && !strncmp(p + 1, path, len) &&
		    (!p[1 + len] || p[1 + len] == '/' || len == 1))
			return 1;
	}
	return 0;
}

/* The cgroup that tells a container from others: the longest of its paths. */
static int cgroup_of(pid_t pid, char *path, size_t size)
{
	char text[8192], *line, *next;

	*path = '\0';
	if (task_file(pid, "cgroup", text, sizeof(text)) < 0)
		return -1;
	for (line = text; line; line = next) {
		char *p = strchr(line, ':');

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		p = p ? strchr(p + 1, ':') : NULL;
		if (p && strlen(p + 1) > strlen(path))
			format(path, size, "%s", p + 1);
	}
	return 0;
}

static int uid_is(pid_t pid, unsigned long uid)
{
	pid_t tgid;
	uid_t real;

	return !task_ids(pid, &tgid, &real) && real == uid;
}

static int matches(const struct selector *s, const struct task *t, ino_t ns)
{
	switch (s->kind) {
	case SELECT_PID:
		break; /* those are a set of their own */
	case SELECT_CGROUP:
		return in_cgroup(t->pid, s->text);
	case SELECT_PIDNS:
		return ns && ns == (ino_t)s->number;
	case SELECT_UID:
		return uid_is(t->pid, s->number);
	case SELECT_COMM:
		return !strcmp(t->comm, s->text);
	}
	return 0;
}

static int look_at(void *arg, pid_t pid)
{
	struct look *l = arg;
	struct parent *p;
	struct task t;
	ino_t ns = 0;

	if (task_read(pid, &t) < 0)
		return 0; /* gone since the directory was read */
	if (l->nall == l->room) {
		size_t room = l->room ? 2 * l->room : 1024;

		p = realloc(l->all, room * sizeof(*l->all));
		if (!p) {
			return complain("out of memory for %zu processes", room);
		}
		l->all = p;
		l->room = room;
	}
	p = &l->all[l->nall++];
	*p = (struct parent){ .pid = pid, .ppid = t.ppid };
	for (size_t i = 0; i < l->n && !p->in; i++) {
		if (l->selectors[i].kind == SELECT_PIDNS && !ns)
			ns = task_pidns(pid);
		p->in = matches(&l->selectors[i], &t, ns);
	}
	return 0;
}

/* A child can have a lower number than its parent: go on until none is new. */
static int add_descendants(struct look *l)
{
	int more = 1, r = 0;

	while (more && !r) {
		struct pids in = { 0 };

		for (size_t i = 0; i < l->nall; i++)
			if (l->all[i].in)
				pids_add(&in, l->all[i].pid);
		r = pids_sort(&in);
		more = 0;
		for (size_t i = 0; i < l->nall; i++)
			if (!l->all[i].in && pids_has(&in, l->all[i].ppid))
				more = l->all[i].in = 1;
		pids_clear(&in);
	}
	return r;
}

/* With more pids than these, one look at all of procfs is cheaper. */
#define MOST_ROOTS 256
#define MOST_WALKS 8

/*
 * The roots and their descendants into tree, by each thread's own list of
 * children; every thread that was asked into threads. It costs what the tree
 * has, not what the machine runs.
 * 0 or -1 said.
 */
static int walk(const struct pids *roots, struct pids *tree, struct pids *threads)
{
	struct task t;
	int r = 0;

	for (size_t i = 0; i < roots->n; i++)
		pids_add(tree, roots->v[i]);
	for (size_t i = 0; i < tree->n && !r; i++) {
		size_t first = threads->n;

		if (!task_read(tree->v[i], &t))
			add_threads(threads, &t);
		for (size_t k = first; k < threads->n; k++) {
			struct pids children = { 0 };
			char path[PATH_MAX], *text;

			format(path, sizeof(path), "%s/%d/task/%d/children", procfs(),
			       (int)tree->v[i], (int)threads->v[k]);
			text = ctl_read(AT_FDCWD, path, NULL);
			if (text)
				r |= pids_parse(&children, text);
			for (size_t c = 0; c < children.n; c++)
				pids_add(tree, children.v[c]);
			pids_clear(&children);
			free(text);
		}
	}
	r |= pids_sort(tree);
	return r | pids_sort(threads);
}

/*
 * proc(5): a child may be missing in a list when a sibling goes while it is
 * read. The sibling is in that list and in no later one, and so is a thread
 * that hands its children over as it goes: two walks that agree are complete.
 * 0: this kernel has no such lists, or the tree never keeps still. -1 said.
 */
static int walked(struct pids *plain)
{
	struct pids tree = { 0 }, threads = { 0 }, tree2, threads2;
	char path[PATH_MAX];
	int agree = 0, r;

	format(path, sizeof(path), "%s/thread-self/children", procfs());
	if (plain->n > MOST_ROOTS || !ctl_exists(AT_FDCWD, path))
		return 0;
	r = walk(plain, &tree, &threads);
	for (int i = 0; i < MOST_WALKS && !agree && !r; i++) {
		tree2 = tree;
		threads2 = threads;
		tree = threads = (struct pids){ 0 };
		r = walk(plain, &tree, &threads);
		agree = !r && pids_same(&tree, &tree2) && pids_same(&threads, &threads2);
		pids_clear(&tree2);
		pids_clear(&threads2);
	}
	pids_clear(&threads);
	if (agree) {
		pids_clear(plain);
		*plain = tree;
	} else {
		pids_clear(&tree);
	}
	return r ? -1 : agree;
}

/*
 * Replace the pid of a selector by what it stands for: its cgroup's path,
 * which the caller frees, or its namespace's inode. 0 or -1 said.
 */
static int resolve(struct selector *s)
{
	char path[PATH_MAX];

	if (!s->pid)
		return 0;
	if (!task_alive(s->pid))
		return complain("no task %d is alive", (int)s->pid);
	if (s->kind == SELECT_CGROUP) {
		if (cgroup_of(s->pid, path, sizeof(path)) < 0)
			return complain_errno("unable to read the cgroup of %d",
					      (int)s->pid);
		if (!strcmp(path, "/"))
			return complain("task %d is in no cgroup but the root, which "
					"is everybody", (int)s->pid);
		s->text = strdup(path);
		if (!s->text)
			return complain("out of memory");
	} else if (s->kind == SELECT_PIDNS) {
		s->number = (unsigned long)task_pidns(s->pid);
		if (!s->number)
			return complain_errno("unable to read the pid namespace of %d",
					      (int)s->pid);
	}
	return 0;
}

/* The tasks found, and the plain pids, with their threads. */
static int gather(const struct look *l, struct pids *plain, struct pids *out)
{
	struct task t;
	int r;

	for (size_t i = 0; i < l->nall; i++)
		if (l->all[i].in)
			pids_add(plain, l->all[i].pid);
	r = pids_sort(plain);
	for (size_t i = 0; i < plain->n; i++)
		if (!(l->flags & SELECT_THREADS))
			pids_add(out, plain->v[i]);
		else if (!task_read(plain->v[i], &t))
			add_threads(out, &t);
	return r | pids_sort(out);
}

int select_pids(const struct selector *given, size_t n, int flags, struct pids *out)
{
	struct look l = { .flags = flags };
	/*
	 * Plain pids are a set: 10,000 of them need no 10,000 comparisons
	 * with each task, and without descendants no look at procfs at all.
	 */
	struct pids plain = { 0 };
	int r = 0;

	l.selectors = calloc(n + 1, sizeof(*l.selectors));
	if (!l.selectors)
		return complain("out of memory");
	for (size_t i = 0; i < n && !r; i++) {
		if (given[i].pid && flags & SELECT_GONE_OK && !task_alive(given[i].pid))
			continue;
		l.selectors[l.n] = given[i];
		r = resolve(&l.selectors[l.n]);
		if (given[i].kind == SELECT_PID)
			pids_add(&plain, given[i].pid);
		else if (!r)
			l.n++; /* what resolve gave it is freed below */
	}
	if (!r)
		r = pids_sort(&plain);
	if (!r && !l.n && flags & SELECT_DESCENDANTS) {
		r = walked(&plain);
		if (r > 0) {
			flags = l.flags &= ~SELECT_DESCENDANTS;
			r = 0;
		}
	}
	if (!r && (l.n || flags & SELECT_DESCENDANTS))
		r = each_process(look_at, &l);
	for (size_t i = 0; i < l.nall; i++)
		l.all[i].in |= pids_has(&plain, l.all[i].pid);
	if (!r && flags & SELECT_DESCENDANTS)
		r = add_descendants(&l);
	if (!r)
		r = gather(&l, &plain, out);
	for (size_t i = 0; i < l.n; i++)
		if (l.selectors[i].kind == SELECT_CGROUP && l.selectors[i].pid)
			free((void *)l.selectors[i].text);
	free(l.selectors);
	free(l.all);
	pids_clear(&plain);
	return r;
}
