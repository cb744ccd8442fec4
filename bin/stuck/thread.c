/* SPDX-License-Identifier: ISC */
/* thread.c - read threads, follow whom they wait for, and find those that can never go on */

#include "stuck.h"

struct process {
	struct table_entry entry;
	struct pids threads;
};

static struct table threads = { .size = sizeof(struct thread) };
static struct table processes = { .size = sizeof(struct process) };
static struct pids queue;       /* the threads whose waits were read, in that order */

/* ---- links ------------------------------------------------------------------------------ */

static struct link *add_link(struct thread *t, const char *relation)
{
	t->links = xrealloc(t->links, t->nlinks + 1, sizeof(*t->links));
	t->links[t->nlinks] = (struct link){ .relation = relation };
	return &t->links[t->nlinks++];
}

void link_task(struct thread *t, const char *relation, pid_t tgid, pid_t tid)
{
	struct link *l;

	for (l = t->links; l < t->links + t->nlinks; l++)
		if (l->tgid == tgid && l->tid == tid && !strcmp(l->relation, relation))
			return;
	l = add_link(t, relation);
	l->tgid = tgid;
	l->tid = tid;
}

void link_other(struct thread *t, const char *relation, const char *f, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, f);
	str_vformat(text, sizeof(text), f, ap);
	va_end(ap);
	for (const struct link *l = t->links; l < t->links + t->nlinks; l++)
		if (l->text && !strcmp(l->relation, relation) && !strcmp(l->text, text))
			return;
	add_link(t, relation)->text = xstrdup(text);
}

/* ---- threads ---------------------------------------------------------------------------- */

const struct pids *process_threads(pid_t tgid)
{
	struct process *p = table_at(&processes, (const char *)&tgid, sizeof(tgid));
	const struct thread *t = p->threads.n ? NULL : thread_of(tgid);

	if (t) {
		task_add_threads(&p->threads, &t->task);
		pids_sort(&p->threads);
	}
	return &p->threads;
}

/* Return the text after a key of status. */
static const char *status_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) : "";
}

static void read_status(struct thread *t)
{
	char *text = procfs_read(t->task.pid, "status", NULL, NULL);
	const char *s;

	if (!text)
		return;
	s = status_of(text, "\nTgid:\t");
	t->tgid = (pid_t)text_digits(&s);
	s = status_of(text, "\nTracerPid:\t");
	t->tracer = (pid_t)text_digits(&s);
	t->blocked = text_value(status_of(text, "\nSigBlk:\t"), NULL, 16);
	t->caught = text_value(status_of(text, "\nSigCgt:\t"), NULL, 16);
	s = status_of(text, "\nNSpid:");
	while (*s == '\t' && t->ninner < sizeof(t->inner) / sizeof(*t->inner)) {
		s++;
		t->inner[t->ninner++] = (pid_t)text_digits(&s);
	}
	free(text);
}

pid_t thread_inside(const struct thread *t, pid_t tgid, pid_t inner)
{
	const struct pids *all = process_threads(tgid);

	for (size_t i = 0; i < all->n; i++) {
		const struct thread *other = thread_of(all->v[i]);

		if (other && t->ninner && other->ninner >= t->ninner &&
		    other->inner[t->ninner - 1] == inner)
			return all->v[i];
	}
	return 0;
}

/* Write the path of a task's cgroup in the hierarchy of this controller; "": cgroup version 2. */
static int cgroup_path(pid_t tid, const char *controller, char *path, size_t size)
{
	char *text = cgroups_of(tid), *rest = text, *line;
	size_t n = strlen(controller);
	int found = 0;

	while (rest && !found && (line = text_next_line(&rest))) {
		char *names = strchr(line, ':');
		char *end = names ? strchr(++names, ':') : NULL;

		for (char *at = names; end && at <= end && !found; at += strcspn(at, ",:") + 1)
			found = strcspn(at, ",:") == n && !memcmp(at, controller, n);
		if (found)
			str_format(path, size, "%s", end + 1);
	}
	free(text);
	return found;
}

/* The thread is in a frozen cgroup: name the outermost that was frozen, or its own. */
static void frozen(struct thread *t)
{
	char path[PATH_MAX], file[PATH_MAX + 32], outer[PATH_MAX] = "";
	int root = cgroup_open_v2();

	t->on = "freezer";
	strbuf_puts(&t->what, "it is frozen");
	if (root >= 0 && cgroup_path(t->task.pid, "", path, sizeof(path)))
		for (char *end = path + strlen(path); end > path && *path == '/';) {
			*end = '\0';
			str_format(file, sizeof(file), "%s/cgroup.freeze", path + 1);
			if (file_begins(root, file, '1'))
				str_format(outer, sizeof(outer), "%s", path);
			end = strrchr(path, '/');
		}
	fd_close(root);
	if (*outer || cgroup_path(t->task.pid, "freezer", outer, sizeof(outer)))
		link_active(t, "cgroup", "%s, which is frozen; who froze it is not known", outer);
	else
		link_unknown(t, "which cgroup is frozen");
}

/* The thread is ready to run: say whether its cgroup has a quota that it used up. */
static void runs(struct thread *t)
{
	static const char *const places[] = { "cpu,cpuacct", "cpu", "unified", "." };
	char path[PATH_MAX], file[2 * PATH_MAX];

	t->on = "cpu";
	t->active = 1;
	strbuf_puts(&t->what, "runs, or is ready to run");
	for (size_t i = 0; i < 4; i++) {
		unsigned long long of, n;

		if (!cgroup_path(t->task.pid, i < 2 ? "cpu" : "", path, sizeof(path)))
			continue;
		str_format(file, sizeof(file), "%s/fs/cgroup/%s%s/cpu.stat", path_sysfs(),
			   places[i], path);
		of = file_number(AT_FDCWD, file, "nr_periods ", 0);
		n = file_number(AT_FDCWD, file, "nr_throttled ", 0);
		if (n) {
			link_other(t, "cgroup", "%s was throttled in %llu of %llu periods", path,
				   n, of);
			return;
		}
	}
}

/* Read the thread's system call. Return 0, or -1: it is in none, or the call is not known. */
static int read_call(struct thread *t)
{
	char text[256];
	const char *s = text;
	uint64_t n[9] = { 0 };

	if (task_read_file(t->task.pid, "syscall", text, sizeof(text)) < 0) {
		link_unknown(t, "its call, because /proc/%d/syscall cannot be read: %s",
			     (int)t->task.pid, strerror(errno));
		return -1;
	}
	if (*s < '0' || *s > '9') {
		if (*s == '-')
			strbuf_puts(&t->what, "it is in no system call");
		link_unknown(t, "for what");
		return -1;
	}
	n[0] = text_digits(&s);
	for (unsigned i = 1; i < 9 && !strncmp(s, " 0x", 3); i++)
		n[i] = text_value(s + 3, &s, 16);
	memcpy(t->args, n + 1, sizeof(t->args));
	t->call = name_of_syscall((int64_t)n[0]);
	/* 32-bit code has its stack and program below 4 GiB, and its calls have other numbers */
	if (!t->call || (sizeof(long) == 8 && n[7] < UINT32_MAX && n[8] < UINT32_MAX)) {
		t->call = NULL;
		strbuf_format(&t->what, "in call %u of another ABI", (unsigned)n[0]);
		link_unknown(t, "for what");
		return -1;
	}
	return 0;
}

static void read_wait(struct thread *t)
{
	if (t->task.state == 'Z' || t->task.state == 'X') {
		t->on = "parent";
		strbuf_puts(&t->what, "has ended, and its parent has not waited for it");
		if (t->task.pid == t->tgid && t->task.ppid)
			link_task(t, "parent", t->task.ppid, 0);
		else
			link_active(t, "process", "ends with it");
	} else if (t->task.state == 't') {
		t->on = "tracer";
		strbuf_puts(&t->what, "its tracer has stopped it");
		if (t->tracer)
			link_task(t, "tracer", t->tracer, 0);
		else
			link_unknown(t, "the tracer");
	} else if (t->task.state == 'T') {
		t->on = "stop";
		strbuf_puts(&t->what, "a signal has stopped it");
		link_unknown(t, "who stopped it");
	} else if (strstr(t->wchan, "freezer") || strstr(t->wchan, "refrigerator") ||
		   !strcmp(t->wchan, "get_signal")) { /* get_signal contains do_freezer_trap */
		frozen(t);
	} else if (t->task.state == 'R') {
		runs(t);
	} else if (t->task.pid == 2 || t->task.ppid == 2) {
		t->on = "kernel";
		strbuf_puts(&t->what, "a thread of the kernel");
		t->active = 1;
	} else if (!read_call(t)) {
		call_wait(t);
	}
}

struct thread *thread_of(pid_t tid)
{
	struct thread *t = table_find(&threads, (const char *)&tid, sizeof(tid));
	struct task task;

	if (t || task_read(tid, &task) < 0)
		return t;
	t = table_at(&threads, (const char *)&tid, sizeof(tid));
	t->task = task;
	t->tgid = tid;
	read_status(t);
	if (task_read_file(tid, "wchan", t->wchan, sizeof(t->wchan)) < 0 || *t->wchan == '0')
		*t->wchan = '\0';
	return t;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Call fn for the threads that a link leads to. Return for how many of them fn was not 0. */
static size_t each_end(const struct link *l, int (*fn)(struct thread *, void *), void *arg)
{
	const pid_t one[] = { l->tid };
	struct pids of = { (pid_t *)one, l->tid != 0, 0 };
	const struct pids *all = l->tgid && !l->tid ? process_threads(l->tgid) : &of;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct thread *t = thread_of(all->v[i]);

		n += t && fn(t, arg);
	}
	return n;
}

static int reads(struct thread *t, void *arg)
{
	(void)arg;
	if (!t->seen) {
		t->seen = 1;
		pids_add(&queue, t->task.pid);
		read_wait(t);
	}
	return 1;
}

static int goes_on(struct thread *t, void *arg)
{
	(void)arg;
	return t->can_go_on;
}

/* Can a thread go on, because something that it waits for can act? */
static int can_go_on(struct thread *t)
{
	for (size_t i = 0; i < t->nlinks; i++)
		if (t->links[i].tgid && each_end(&t->links[i], goes_on, NULL))
			return 1;
	return t->active || !t->nlinks;
}

/* ---- deadlocks: the strongly connected components (Tarjan) of those that cannot go on --- */

static struct {
	struct thread **stack;
	size_t n, room;
	int count, knots;
} search;

static void visit(struct thread *);

static int visit_next(struct thread *next, void *arg)
{
	struct thread *t = arg;

	if (next->can_go_on)
		return 0;
	if (!next->order)
		visit(next);
	if (next->on_stack && next->low < t->low)
		t->low = next->low;
	return next == t;
}

static void visit(struct thread *t)
{
	size_t at = search.n, self = 0;

	t->order = t->low = ++search.count;
	t->on_stack = 1;
	search.stack = xgrow(search.stack, search.n, &search.room, sizeof(*search.stack));
	search.stack[search.n++] = t;
	for (size_t i = 0; i < t->nlinks; i++)
		self += each_end(&t->links[i], visit_next, t);
	if (t->low != t->order)
		return;
	search.knots += search.n > at + 1 || self;
	for (size_t i = at; i < search.n; i++) {
		search.stack[i]->on_stack = 0;
		search.stack[i]->knot = search.n > at + 1 || self ? search.knots : 0;
	}
	search.n = at;
}

void threads_follow(const struct pids *from)
{
	int more = 1;

	for (size_t i = 0; i < from->n; i++) {
		struct thread *t = thread_of(from->v[i]);

		if (t)
			reads(t, NULL);
	}
	for (size_t i = 0; i < queue.n; i++) {
		struct thread *t = thread_of(queue.v[i]);

		for (size_t k = 0; k < t->nlinks; k++)
			each_end(&t->links[k], reads, NULL);
	}
	while (more) {
		more = 0;
		for (size_t i = 0; i < queue.n; i++) {
			struct thread *t = thread_of(queue.v[i]);

			if (!t->can_go_on && can_go_on(t))
				more = t->can_go_on = 1;
		}
	}
	search.count = search.knots = 0;
	for (size_t i = 0; i < queue.n; i++) {
		struct thread *t = thread_of(queue.v[i]);

		if (!t->can_go_on && !t->order)
			visit(t);
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct thread *const *x = a, *const *y = b;

	return ASCENDING((*x)->task.pid, (*y)->task.pid);
}

void threads_each(void (*fn)(struct thread *))
{
	table_sort(&threads, by_tid);
	for (size_t i = 0; i < threads.n; i++)
		if (((struct thread *)threads.v[i])->seen)
			fn((struct thread *)threads.v[i]);
}

void threads_forget(void)
{
	struct process *p;
	struct thread *t;

	for (size_t i = 0; (t = table_next(&threads, &i));) {
		for (size_t k = 0; k < t->nlinks; k++)
			free(t->links[k].text);
		free(t->links);
		free(t->what.text);
	}
	for (size_t i = 0; (p = table_next(&processes, &i));)
		pids_clear(&p->threads);
	table_clear(&threads);
	table_clear(&processes);
	pids_clear(&queue);
}
