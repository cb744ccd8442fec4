/* SPDX-License-Identifier: ISC */
/*
 * select.c - selectors to pids
 *
 * select_pids resolves each selector. Plain pids, with their descendants, come from the lists of
 * children (walk_twice). Otherwise add_process compares each process of procfs with the selectors,
 * in one pass, and add_descendants adds children from the result of that pass. At the end gather
 * adds the threads.
 */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"

struct look {
	struct selector *selectors;
	size_t n;
	int flags;
	struct pids *out;
	/* every process and its parent; in: selected */
	struct parent { pid_t pid, ppid; int in, dead; } *all;
	size_t nall;
};

/* The facts of a process that selectors need. Each is read once for all selectors. */
struct known {
	ino_t ns;               /* 0: not read yet, or not known */
	char *cgroups;          /* NULL: not read yet, or not known; allocated */
	uid_t uid;
	int has_uid;            /* -1: not known */
};

static int uid_is(struct known *k, pid_t pid, unsigned long uid)
{
	pid_t tgid;

	if (!k->has_uid)
		k->has_uid = task_ids(pid, &tgid, &k->uid) ? -1 : 1;
	return k->has_uid > 0 && k->uid == uid;
}

static int matches(const struct selector *s, const struct task *t, struct known *k)
{
	switch (s->kind) {
	case SELECT_PID: /* select_pids keeps these in a set */
		break;
	case SELECT_CGROUP:
	case SELECT_NAMED:
		if (!k->cgroups)
			k->cgroups = cgroups_of(t->pid);
		return s->kind == SELECT_CGROUP ? cgroup_is_among(s->cgroup, k->cgroups) :
		       k->cgroups && container_is_named(k->cgroups, s->text);
	case SELECT_PIDNS:
		if (!k->ns)
			k->ns = task_pidns(t->pid);
		return k->ns && k->ns == (ino_t)s->number;
	case SELECT_UID:
		return uid_is(k, t->pid, s->number);
	case SELECT_COMM:
		return !strcmp(t->comm, s->text);
	}
	return 0;
}

/* For task_each_process: append the process to l->all, and compare it with the selectors. */
static int add_process(void *arg, pid_t pid)
{
	struct look *l = arg;
	struct parent *p;
	struct known known = { 0 };
	struct task t;

	if (task_read(pid, &t) < 0)
		return 0; /* gone since the directory was read */
	p = array_more(l->all, l->nall, sizeof(*p));
	if (!p)
		return err_msg("out of memory for %zu processes", 2 * l->nall);
	l->all = p;
	p += l->nall++;
	*p = (struct parent){ .pid = pid, .ppid = t.ppid, .dead = !task_lives(&t) };
	for (size_t i = 0; i < l->n && !p->in && !p->dead; i++)
		p->in = matches(&l->selectors[i], &t, &known);
	free(known.cgroups);
	return 0;
}

/*
 * Select the descendants. A child can have a lower pid than its parent, so repeat the pass until it
 * finds no new child.
 */
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

/* With more roots than these, one pass over all of procfs is cheaper. */
#define MOST_ROOTS 256
#define MOST_WALKS 8

/*
 * Put the roots and their descendants into tree. Each thread of procfs has a list of its children.
 * Put every thread whose list was read into threads. The cost depends on the size of the tree, not
 * on the number of processes of the machine. Return 0, or -1, reported.
 */
static int walk(const struct pids *roots, struct pids *tree, struct pids *threads)
{
	struct task t;
	int r = pids_plus(tree, roots);

	for (size_t i = 0; i < tree->n && !r; i++) {
		size_t first = threads->n;

		if (!task_read(tree->v[i], &t))
			task_add_threads(threads, &t);
		for (size_t k = first; k < threads->n; k++) {
			struct pids children = { 0 };
			char name[64], *text;
			int cut = 0;

			str_format(name, sizeof(name), "task/%d/children", (int)threads->v[k]);
			text = procfs_read(tree->v[i], name, NULL, &cut);
			if (cut) /* PROCFS_MOST: half a million children */
				r = err_msg("task %d has too many children", (int)threads->v[k]);
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
 * Add the descendants of the plain pids by their lists of children. A list may miss a child if a
 * sibling exits while the list is read (proc(5)). The sibling is in that list but in no later list.
 * The same holds for a thread that exits and hands its children over. So the result is complete if
 * two successive walks agree. Return 1; 0 if this kernel has no such lists, or if the tree changes
 * all the time; or -1, reported.
 */
static int walk_twice(struct pids *plain)
{
	struct pids tree = { 0 }, threads = { 0 }, tree2, threads2;
	char path[PATH_MAX];
	int agree = 0, r;

	str_format(path, sizeof(path), "%s/thread-self/children", path_procfs());
	if (plain->n > MOST_ROOTS || !file_exists(AT_FDCWD, path))
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
		size_t n = 0;

		/* a zombie is in the list until its parent waits for it: leave it out */
		for (size_t i = 0; i < tree.n; i++)
			if (pids_has(plain, tree.v[i]) || task_alive(tree.v[i]))
				tree.v[n++] = tree.v[i];
		tree.n = n;
		pids_clear(plain);
		*plain = tree;
	} else {
		pids_clear(&tree);
	}
	return r ? -1 : agree;
}

/*
 * Look up the cgroup of a selector, which the caller frees, or the inode of its pid namespace.
 * Return 0; 1 if the object is gone and the flags have SELECT_GONE_OK; or -1, reported.
 */
static int resolve(struct selector *s, int flags)
{
	struct cgroup *c;
	int r;

	s->cgroup = NULL;
	if (s->pid && !task_alive(s->pid)) {
		if (flags & SELECT_GONE_OK)
			return 1;
		return err_msg("no task %d is alive; ps -eL lists the tasks", (int)s->pid);
	}
	if (s->kind == SELECT_PIDNS) {
		s->number = (unsigned long)task_pidns(s->pid);
		if (!s->number)
			return err_capability(CAPS_SYS_PTRACE,
					      "unable to read the pid namespace of %d",
					      (int)s->pid);
	}
	if (s->kind != SELECT_CGROUP)
		return 0;
	s->cgroup = c = malloc(sizeof(*c));
	if (!c)
		return err_msg("out of memory");
	r = s->pid ? cgroup_of(s->pid, c) : cgroup_find(s->text, c);
	if (r > 0 && !(flags & SELECT_GONE_OK))
		r = err_msg("no such cgroup: '%.200s'; give a path, its last part, or "
			    "a pid", s->text);
	return r;
}

/* Put the selected processes and the plain pids into out, with their threads. */
static int gather(const struct look *l, struct pids *plain, struct pids *out)
{
	struct task t;
	int r;

	for (size_t i = 0; i < l->nall; i++)
		if (l->all[i].in && !l->all[i].dead)
			pids_add(plain, l->all[i].pid);
	r = pids_sort(plain);
	for (size_t i = 0; i < plain->n; i++)
		if (!(l->flags & SELECT_THREADS))
			pids_add(out, plain->v[i]);
		else if (!task_read(plain->v[i], &t))
			task_add_threads(out, &t);
	return r | pids_sort(out);
}

/* May the text be the first digits of a container's id? */
static int is_id(const char *s)
{
	return strlen(s) >= 4 && !s[strspn(s, "0123456789abcdef")];
}

void select_glob(struct strbuf *globs, const char *namespace, const char *pod, const char *name)
{
	const char *any = "*";

	namespace = *namespace ? namespace : any;
	pod = *pod ? pod : any;
	strbuf_format(globs, "%s%s/%s/%s:*", globs->n ? "," : "", namespace, pod,
		      *name ? name : any);
	if (is_id(name))
		strbuf_format(globs, ",%s/%s/*:%s*", namespace, pod, name);
}

int select_container(const char *names, struct selector *s)
{
	char part[3][NAME_MAX + 1] = { "", "", "" };
	struct strbuf globs = { 0 };
	char *path;
	int n = 0, r = 1;

	path = malloc(PATH_MAX);
	if (!path)
		return err_msg("out of memory");
	if (is_id(names))
		r = cgroup_find_container(names, path);
	*s = (struct selector){ .kind = SELECT_CGROUP, .text = path };
	if (r <= 0)
		return r;
	free(path);
	for (const char *at = names; n < 3; at += strcspn(at, "/") + 1) {
		str_format(part[n++], sizeof(*part), "%.*s", (int)strcspn(at, "/"), at);
		if (!at[strcspn(at, "/")])
			break;
	}
	if (n == 1)
		select_glob(&globs, "", "", names);
	else
		select_glob(&globs, part[0], part[1], part[2]);
	*s = (struct selector){ .kind = SELECT_NAMED, .text = globs.text };
	return 0;
}

int select_pids(const struct selector *given, size_t n, int flags, struct pids *out)
{
	struct look l = { .flags = flags };
	/*
	 * Plain pids are in a set, so that 10,000 pids do not need 10,000 comparisons for each
	 * task. Without descendants they need no pass over procfs at all.
	 */
	struct pids plain = { 0 };
	int r = 0;

	l.selectors = calloc(n + 1, sizeof(*l.selectors));
	if (!l.selectors)
		return err_msg("out of memory");
	for (size_t i = 0; i < n && !r; i++) {
		struct selector *s = &l.selectors[l.n];

		*s = given[i];
		r = resolve(s, flags);
		if (r) {
			free((void *)(size_t)s->cgroup);
			r = r < 0 ? -1 : 0;
		} else if (s->kind == SELECT_PID) {
			pids_add(&plain, s->pid);
		} else {
			l.n++;
		}
	}
	if (!r)
		r = pids_sort(&plain);
	if (!r && !l.n && flags & SELECT_DESCENDANTS) {
		r = walk_twice(&plain);
		if (r > 0) {
			flags = l.flags &= ~SELECT_DESCENDANTS;
			r = 0;
		}
	}
	if (!r && (l.n || flags & SELECT_DESCENDANTS))
		r = task_each_process(add_process, &l);
	for (size_t i = 0; i < l.nall; i++)
		l.all[i].in |= pids_has(&plain, l.all[i].pid);
	if (!r && flags & SELECT_DESCENDANTS)
		r = add_descendants(&l);
	if (!r)
		r = gather(&l, &plain, out);
	for (size_t i = 0; i < l.n; i++)
		free((void *)(size_t)l.selectors[i].cgroup);
	free(l.selectors);
	free(l.all);
	pids_clear(&plain);
	return r;
}
