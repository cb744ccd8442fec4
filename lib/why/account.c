/* SPDX-License-Identifier: ISC */
/*
 * account.c - follow the states of tasks, and account each time of a subject once
 *
 * In this file, each part uses those above it:
 *	names and tasks
 *	the past of a task, for the subjects that it wakes
 *	windows
 *	what events say
 */

#include "host/host.h"
#include "calls/calls.h"
#include "why/why.h"

enum {
	MOST_NAMES = 1 << 16,
	MOST_DEAD = 4096,       /* tasks whose past is kept after their end */
	PAST = 64,              /* parts of its past that each task may have, */
	PAST_MOST = 8192,       /* and so many while all tasks together have fewer than */
	SEGMENTS = 400000,
	STEPS = 1000,           /* parts that are looked at for one wait, and */
	STEPS_SAVED = 8,        /* for each event, for the waits with more of them */
	NESTED = 4,             /* interrupts within each other */
};

/* A time in the past of a task. */
struct segment {
	uint64_t begin, end;
	struct why_node part;
};

/* The waker of a task. */
struct waker {
	struct why_task *task;          /* NULL: an interrupt */
	uint32_t comm;
};

struct why_task {
	struct table_entry entry;
	int32_t pid;
	uint32_t comm;
	uint8_t state;
	uint8_t subject, dead;
	uint8_t again;          /* another task had this pid before */
	uint8_t seen;           /* an event or a mark has told its state */
	uint8_t marked;         /* a mark only */
	uint8_t woken;          /* it was woken while it ran */
	uint8_t calls;          /* its system calls are in the trace */
	uint8_t user;           /* it is in user code: it has returned from a call */
	uint8_t quota;          /* its last event says that its cgroup has used up its quota */
	uint8_t throttled;      /* it lost its CPU because of that */
	uint8_t wakes;          /* its last event woke a task, or made one */
	uint8_t waited;         /* it has waited since its last call began, */
	uint8_t interrupted;    /* and a signal ended that wait */
	int cpu;                /* the last one */
	uint64_t since;         /* when the state began */
	uint64_t born;          /* 0: before the trace */
	uint32_t losses;        /* how many were known at since */
	uint32_t call, irq;     /* names; 0: it is in none, or in an unknown call */
	uint32_t on, detail;    /* of a wait */
	uint32_t disk;          /* the disk to which it has sent a request in this call */
	uint64_t fault;         /* the address of its last page fault, outside of a call */
	int32_t instead;        /* who ran when it was preempted: pid, or 0, */
	uint32_t instead_comm;  /* and name */
	struct segment *past;   /* a ring */
	uint32_t npast, room, at;
	uint32_t nsums;         /* so many parts of the past, the oldest ones, are sums */
	struct why_window *window;
	uint32_t wait;          /* the node of its last wait in this window; 0: none */
	uint32_t pending;       /* the node of a wait that settle() may rename, or 0 */
	uint64_t wait_begin, wait_end;
	uint8_t away;           /* its request has ended, and it had no event since */
};

struct why_cpu {
	struct table_entry entry;
	int number;
	int32_t pid;            /* the task that came to it last */
	uint32_t losses;        /* at that time */
	uint8_t switched;
	unsigned depth;         /* of interrupts */
	uint32_t irq[NESTED];
};

struct name {
	struct table_entry entry;
	uint32_t number;
};

/* ---- names and tasks ---- */

/* Return the number of a name. */
static uint32_t number_of(struct why *w, const char *s, size_t n)
{
	struct name *name;

	if (!n)
		return 0;
	name = table_find(&w->names, s, n);
	if (name)
		return name->number;
	if (w->nnames >= MOST_NAMES)
		return number_of(w, "...", 3);
	name = table_at(&w->names, s, n);
	name->number = (uint32_t)w->nnames;
	w->name = xgrow(w->name, w->nnames, &w->names_room, sizeof(*w->name));
	w->name[w->nnames++] = name->entry.key;
	return name->number;
}

static uint32_t name_of(struct why *w, const char *s)
{
	return number_of(w, s, strlen(s));
}

void why_begin(struct why *w)
{
	w->tasks.size = sizeof(struct why_task);
	w->cpus.size = sizeof(struct why_cpu);
	w->names.size = sizeof(struct name);
	w->name = xgrow(w->name, 0, &w->names_room, sizeof(*w->name));
	w->name[0] = "";
	w->nnames = 1;
	/* before there are too many */
	name_of(w, "...");
	w->interrupt = name_of(w, "interrupt");
	w->in_call = name_of(w, "call");
	w->in_user = name_of(w, "user");
	w->others = name_of(w, WHY_OTHERS);
	w->between = name_of(w, "network and queues");
	w->a_signal = name_of(w, "a signal");
	w->poll = name_of(w, "poll");
	w->sleep = name_of(w, "sleep");
	w->timer = name_of(w, "timer");
}

static struct why_cpu *cpu_of(struct why *w, int cpu)
{
	struct why_cpu **near = &w->near_cpus[(unsigned)cpu % WHY_NEAR];

	if (!*near || (*near)->number != cpu) {
		*near = table_at(&w->cpus, (const char *)&cpu, sizeof(cpu));
		(*near)->number = cpu;
	}
	return *near;
}

static void open_window(struct why *w, struct why_task *t, uint32_t label)
{
	t->window = xcalloc(1, sizeof(*t->window));
	t->window->pid = t->pid;
	t->window->label = label;
	t->window->begin = t->since;
	t->window->node = xcalloc(8, sizeof(*t->window->node));
	t->window->room = 8;
	t->window->n = 1;
	t->window->merge = !w->json;
	t->window->others = w->others;
	t->wait = 0;
}

/*
 * Return the task. Nothing is known of a new one. If events were lost, it may have begun among
 * them, so its account begins now, and not with the trace.
 */
static struct why_task *find(struct why *w, int32_t pid)
{
	struct why_task **near = &w->near[(uint32_t)pid % WHY_NEAR], *t = *near;

	if (t && t->pid == pid)
		return t;
	t = table_at(&w->tasks, (const char *)&pid, sizeof(pid));
	if (!t->pid) {
		t->pid = pid;
		t->since = w->losses ? w->now : w->first;
		t->losses = w->losses;
		t->subject = w->all != 0;
	}
	return *near = t;
}

static struct why_task *task_of(struct why *w, struct why_who who)
{
	struct why_task *t = find(w, who.pid);
	const char *name = w->name[t->comm];

	if (who.comm.n && (strncmp(name, who.comm.text, who.comm.n) || name[who.comm.n]))
		t->comm = number_of(w, who.comm.text, who.comm.n);
	if (t->subject && !t->window && !t->dead && w->scope == WHY_TASKS)
		open_window(w, t, 0);
	return t;
}

uint32_t why_comm(const struct why *w, int32_t pid, uint64_t ns)
{
	const struct why_task *t = table_find(&w->tasks, (const char *)&pid, sizeof(pid));

	return t && t->born <= ns && !t->again ? t->comm : 0;
}

void why_subject(struct why *w, struct why_who who)
{
	if (!who.pid)
		return;
	find(w, who.pid)->subject = 1;
	task_of(w, who);
	w->traced = 1;
}

void why_time(struct why *w, uint64_t ts)
{
	struct why_task *t;

	if (!w->begun) {
		w->begun = 1;
		w->first = ts;
		for (size_t i = 0; (t = table_next(&w->tasks, &i));) { /* tasks of why_subject */
			t->since = ts;
			if (t->window)
				t->window->begin = ts;
		}
	}
	if (ts > w->now)
		w->now = ts;
	w->steps += STEPS_SAVED;
}

/* ---- the past of a task, for the subjects that it wakes ---- */

static struct segment *past_of(const struct why_task *t, uint32_t i)
{
	return &t->past[(t->at + i) % t->room];
}

static uint64_t time_of(const struct segment *s)
{
	return s->end - s->begin;
}

static int by_part(const void *a, const void *b)
{
	const struct why_node *x = &((const struct segment *)a)->part;
	const struct why_node *y = &((const struct segment *)b)->part;

	return x->state != y->state ? x->state < y->state ? -1 : 1 :
	       x->on != y->on ? x->on < y->on ? -1 : 1 :
	       x->detail != y->detail ? x->detail < y->detail ? -1 : 1 :
	       x->comm != y->comm ? x->comm < y->comm ? -1 : 1 :
	       x->signal != y->signal ? x->signal < y->signal ? -1 : 1 :
	       (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_time(const void *a, const void *b)
{
	uint64_t m = time_of(a), n = time_of(b);

	return m != n ? m < n ? 1 : -1 : by_part(a, b);
}

/* Join neighbours that are the same part. Return how many parts are left. */
static uint32_t add_up(struct segment *v, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++)
		if (left && !by_part(&v[left - 1], &v[i])) {
			v[left - 1].end += time_of(&v[i]);
			v[left - 1].part.n += v[i].part.n;
		} else {
			v[left++] = v[i];
		}
	return left;
}

/*
 * Replace the older half of a task's past by sums of the same parts. The sums have no order: they
 * say what the task did in all of that time, but not when.
 */
static void sum_past(struct why *w, struct why_task *t)
{
	struct segment *v = xcalloc(t->room, sizeof(*v));
	uint32_t old = t->npast / 2, n;
	uint64_t at;

	for (uint32_t i = 0; i < t->npast; i++)
		v[i] = *past_of(t, i);
	at = v[0].begin;
	array_sort(v, old, sizeof(*v), by_part);
	n = add_up(v, old);
	if (n > t->room / 4) { /* the shorter sums of each state become one */
		array_sort(v, n, sizeof(*v), by_time);
		for (uint32_t i = t->room / 4; i < n; i++)
			v[i].part = (struct why_node){ .state = v[i].part.state, .on = w->others,
						       .n = v[i].part.n };
		array_sort(v, n, sizeof(*v), by_part);
		n = add_up(v, n);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = time_of(&v[i]);

		v[i].begin = at;
		v[i].end = at += ns;
	}
	memmove(v + n, v + old, (t->npast - old) * sizeof(*v));
	free(t->past);
	t->past = v;
	t->at = 0;
	t->npast -= old - n;
	t->nsums = n;
}

static void remember(struct why *w, struct why_task *t, uint64_t end, const struct why_node *part)
{
	struct segment *s = t->npast ? past_of(t, t->npast - 1) : NULL;
	uint32_t room;

	if (!w->depth)
		return;
	/* two times of running in a row are one */
	if (s && part->state == WHY_RUNNING && s->part.state == WHY_RUNNING &&
	    s->end == t->since) {
		s->end = end;
		return;
	}
	if (t->npast == t->room && (t->room < PAST ||
				    (t->room < PAST_MOST && w->segments < SEGMENTS))) {
		struct segment *v;

		room = t->room ? 2 * t->room : 4;
		v = xcalloc(room, sizeof(*v));
		for (uint32_t i = 0; i < t->npast; i++)
			v[i] = *past_of(t, i);
		free(t->past);
		w->segments += room - t->room;
		t->past = v;
		t->at = 0;
		t->room = room;
	}
	if (t->npast == t->room)
		sum_past(w, t);
	s = past_of(t, t->npast++);
	*s = (struct segment){ .begin = t->since, .end = end, .part = *part };
	if (part->state == WHY_RUNNING)
		s->part.on = s->part.detail = 0;
}

static void forget_past(struct why *w, struct why_task *t)
{
	w->segments -= t->room;
	free(t->past);
	t->past = NULL;
	t->npast = t->room = t->at = t->nsums = 0;
}

/* Has the trace all events of the task? */
static int is_complete(const struct why *w, const struct why_task *t)
{
	return w->all ? !w->filtered || t->calls : t->subject;
}

/* Add parts below a node: what a task did from begin to end. */
static void expand(struct why *w, struct why_window *window, uint32_t node, struct why_task *t,
		   uint64_t begin, uint64_t end, unsigned depth, unsigned *steps)
{
	struct why_node part = { 0 };
	uint64_t known = end;

	if (!is_complete(w, t))
		return;
	/* the state that the task has now */
	if (t->seen && t->since < end && !t->dead) {
		known = t->since > begin ? t->since : begin;
		part = (struct why_node){ .state = t->state, .ns = end - known, .n = 1 };
		if (t->state == WHY_BLOCKED) {
			part.on = t->on;
			part.detail = t->detail;
		}
		if (t->losses != w->losses || t->away)
			part.state = WHY_UNKNOWN;
		if (t->away)
			part.on = w->between;
		why_add(window, node, &part);
	}
	for (uint32_t i = t->npast; i-- && known > begin && *steps; --*steps) {
		const struct segment *s = past_of(t, i);
		uint64_t from = s->begin > begin ? s->begin : begin;
		uint64_t to = s->end < known ? s->end : known;
		struct why_task *waker;
		uint32_t child;

		if (s->end <= begin)
			break;
		if (from >= to)
			continue;
		if (i < t->nsums && (begin > past_of(t, 0)->begin || to < s->end))
			break; /* the sums have no order */
		part = s->part;
		part.ns = to - from;
		child = why_add(window, node, &part);
		known = from;
		waker = i >= t->nsums && s->part.state == WHY_BLOCKED && s->part.pid && depth > 1 ?
			table_find(&w->tasks, (const char *)&s->part.pid, sizeof(int32_t)) : NULL;
		if (child && waker && waker != t)
			expand(w, window, child, waker, from, to, depth - 1, steps);
	}
	/* the rest of the time is unknown; say why, if possible */
	if (known > begin && known < end)
		why_add(window, node, &(struct why_node){
			.state = WHY_UNKNOWN, .ns = known - begin, .n = 1,
			.on = t->born > begin ? name_of(w, "it had not begun") :
			      t->npast && past_of(t, 0)->begin < known ?
			      name_of(w, "too long ago") : 0 });
}

/* Add parts below the node of a wait: what the task that ended the wait did from begin to end. */
static void expand_wait(struct why *w, struct why_window *window, uint32_t node,
			struct why_task *waker, uint64_t begin, uint64_t end)
{
	unsigned most = STEPS + (unsigned)(w->steps < UINT_MAX / 2 ? w->steps : UINT_MAX / 2);
	unsigned steps = most, taken;

	expand(w, window, node, waker, begin, end, w->depth, &steps);
	taken = most - steps;
	w->steps -= taken > STEPS ? taken - STEPS : 0;
}

/* ---- windows ---- */

/* Correct the last wait in the past of the task to this part. */
static void correct_past(struct why_task *t, const struct why_node *part)
{
	for (uint32_t i = t->npast; i-- > t->nsums;) {
		struct segment *past = past_of(t, i);

		if (past->begin == t->wait_begin && past->part.state == WHY_BLOCKED) {
			past->part.on = part->on;
			past->part.detail = part->detail;
			past->part.comm = part->comm;
			past->part.pid = part->pid;
			past->part.signal = part->signal;
			return;
		}
	}
}

/*
 * Set what the last wait of the task, outside of calls, was for. on NULL: no return of a call tells
 * it.
 */
static void settle(struct why *w, struct why_task *t, const char *on, const char *detail)
{
	struct why_node part;
	uint32_t node = t->pending;

	t->pending = 0;
	if (!node || !t->window)
		return;
	part = t->window->node[node];
	part.signal = 0;
	if (on) {
		part.on = name_of(w, on);
		part.detail = name_of(w, detail);
		correct_past(t, &part);
	}
	part.first = part.next = 0;
	node = why_move(t->window, node, 0, &part);
	if (t->wait)
		t->wait = node;
}

/*
 * Account the time of the task since its last change. who, a task or only a name, ended the wait or
 * ran instead; NULL: nobody.
 */
static void spend(struct why *w, struct why_task *t, uint64_t ts, enum why_state state,
		  const struct waker *who)
{
	struct why_node part = { .state = (uint8_t)state, .n = 1 };
	uint32_t node;

	if (ts < t->since)
		ts = t->since;
	part.ns = ts - t->since;
	if (state == WHY_BLOCKED) {
		part.on = t->on;
		part.detail = t->detail;
	} else if (state == WHY_UNKNOWN) {
		part.on = t->on;
	} else if (state == WHY_RUNNING) {
		part.on = t->irq ? w->interrupt : t->call ? w->in_call : t->user ? w->in_user : 0;
		part.detail = t->irq ? t->irq : t->call;
	}
	if (who) {
		part.comm = who->comm;
		part.pid = who->task ? who->task->pid : 0;
	}
	if (t->losses != w->losses) { /* lost events may have changed the state */
		part = (struct why_node){ .state = WHY_UNKNOWN, .n = 1, .ns = part.ns,
					  .on = name_of(w, "events lost") };
		if (t->window)
			t->window->losses++;
		t->call = t->user = 0;
	}
	t->losses = w->losses;
	if (part.ns && t->window) {
		struct why_node own = part;

		if (part.state == WHY_BLOCKED)
			settle(w, t, NULL, NULL);
		/* a return tells for what it waited, or which of several descriptors was ready */
		if (part.state == WHY_BLOCKED &&
		    (t->call ? part.on == w->poll : t->user && who && who->task))
			own.signal = WHY_PENDING;
		node = why_add(t->window, 0, &own);
		t->pending = own.signal == WHY_PENDING ? node : t->pending;
		if ((!t->seen || t->marked) && part.state == WHY_BLOCKED)
			t->window->wait = node;
		if (part.state == WHY_BLOCKED) {
			t->wait = node;
			t->wait_begin = t->since;
			t->wait_end = ts;
			t->waited = 1;
			if (who && who->task && who->task != t && w->depth)
				expand_wait(w, t->window, node, who->task, t->since, ts);
		}
	}
	if (part.ns)
		remember(w, t, ts, &part);
	t->since = ts;
	t->seen = 1;
	t->marked = t->away = 0;
}

/* Copy the task's last wait as a part of its own. Return 0 if it is not known any more. */
static int last_wait(const struct why *w, const struct why_task *t, struct why_node *part)
{
	if (!t->window || !t->wait || t->window->node[t->wait].on == w->others)
		return 0;
	*part = t->window->node[t->wait];
	part->next = 0;
	part->ns = t->wait_end - t->wait_begin;
	part->n = 1;
	return 1;
}

/* Move the time of the task's last wait to this part, which says who really ended the wait. */
static void ended_by(struct why_task *t, const struct why_node *part)
{
	struct why_node *old = &t->window->node[t->wait];

	old->ns -= part->ns;
	old->n--;
	correct_past(t, part);
	t->wait = why_add(t->window, 0, part);
}

/*
 * A signal ended the last wait of the task. If other waits share its part, and the part says what
 * their waker did, the wait stays there, because its share of that is not known.
 */
static void ended_by_signal(struct why *w, struct why_task *t, uint32_t signal)
{
	struct why_node part;

	if (!last_wait(w, t, &part))
		return;
	part.signal = signal;
	if (t->window->node[t->wait].n == 1) {
		t->window->node[t->wait].signal = signal;
		correct_past(t, &part);
	} else if (!part.first) {
		ended_by(t, &part);
	}
}

static void spend_unknown(struct why *w, struct why_task *t, uint64_t ts, uint32_t what)
{
	t->on = what;
	spend(w, t, ts, WHY_UNKNOWN, NULL);
}

static void free_window(struct why_window *window)
{
	free(window->node);
	free(window);
}

/* The longest window is first. */
static int by_length(const void *a, const void *b)
{
	const struct why_window *x = *(struct why_window *const *)a;
	const struct why_window *y = *(struct why_window *const *)b;
	uint64_t m = x->end - x->begin, n = y->end - y->begin;

	return m != n ? m < n ? 1 : -1 : x->begin != y->begin ? x->begin < y->begin ? -1 : 1 :
	       (x->pid > y->pid) - (x->pid < y->pid);
}

/* Keep the longest windows only. */
static void drop_short(struct why *w)
{
	array_sort(w->kept, w->nkept, sizeof(*w->kept), by_length);
	for (; w->nkept > w->top; w->dropped++) {
		struct why_window *window = w->kept[--w->nkept];

		w->dropped_ns += window->end - window->begin;
		free_window(window);
	}
}

/* End the window of a task, whose time is accounted until now. */
static void close_window(struct why *w, struct why_task *t)
{
	struct why_window *window = t->window;
	char context[WHY_CONTEXT];

	settle(w, t, NULL, NULL);
	t->window = NULL;
	if (!window)
		return;
	window->end = t->since;
	window->comm = t->comm;
	/* of all tasks, leave out those without calls, if the trace has calls: kernel threads */
	if (window->end - window->begin < w->slower || window->end == window->begin ||
	    !is_complete(w, t) || (w->all && w->calls && !t->calls))
		return free_window(window);
	if (w->context) {
		w->context(w->arg, t->pid, context);
		window->context = name_of(w, context);
	}
	w->kept = xgrow(w->kept, w->nkept, &w->kept_room, sizeof(*w->kept));
	w->kept[w->nkept++] = window;
	if (w->nkept >= 2 * w->top + 64)
		drop_short(w);
}

void why_close_all(struct why *w)
{
	struct why_task *t;

	for (size_t i = 0; (t = table_next(&w->tasks, &i));) {
		if (!t->window)
			continue;
		if (!t->seen) { /* it had no event at all */
			t->state = WHY_UNKNOWN;
			t->window->begin = t->since = w->first;
		}
		spend(w, t, w->now, t->state, NULL);
		if (w->scope == WHY_SPANS) {
			w->open++;
			free_window(t->window);
			t->window = NULL;
		}
		close_window(w, t);
	}
	drop_short(w);
}

/* ---- what events say ---- */

void why_waits(struct why *w, uint64_t ts, struct why_who who, struct text_part on,
	       struct text_part what)
{
	struct why_task *t = find(w, who.pid);

	why_time(w, ts);
	w->told++;
	t->subject |= !w->given;
	task_of(w, who);
	if (t->seen || t->dead)
		return;
	if (t->subject && !t->window && w->scope == WHY_CALLS) /* it is in this call */
		open_window(w, t, number_of(w, what.text, what.n));
	t->state = WHY_BLOCKED;
	t->on = number_of(w, on.text, on.n);
	t->detail = number_of(w, what.text, what.n);
	t->seen = t->marked = t->calls = 1;
}

void why_lost(struct why *w)
{
	w->losses++;
}

/*
 * The task runs. If no event has told that it came to its CPU, that CPU was idle: some kernels do
 * not record a switch from the idle task. An idle CPU takes a task at once. So a task that leaves
 * now has run since then, and any other has waited until now.
 */
static void runs(struct why *w, struct why_task *t, uint64_t ts, int leaves)
{
	const struct waker instead = {
		t->instead ? find(w, t->instead) : NULL, t->instead_comm,
	};

	if (t->state == WHY_BLOCKED && t->woken)
		t->state = WHY_RUNNABLE;
	if (!t->seen || t->state == WHY_RUNNING || t->losses != w->losses)
		; /* nothing more is known */
	else if (t->state == WHY_PREEMPTED)
		spend(w, t, ts, t->throttled ? WHY_THROTTLED : WHY_PREEMPTED,
		      t->throttled ? NULL : &instead);
	else if (t->state == WHY_RUNNABLE && !leaves)
		spend(w, t, ts, WHY_RUNNABLE, NULL);
	else if (t->state == WHY_BLOCKED)
		spend_unknown(w, t, ts, name_of(w, "woken unseen"));
	t->state = WHY_RUNNING;
	t->woken = 0;
}

/* Account the time of a running task until now. leaves: it leaves its CPU now. */
static struct why_task *running(struct why *w, struct why_who who, uint64_t ts, int leaves)
{
	struct why_task *t;

	why_time(w, ts);
	t = task_of(w, who);
	t->quota = t->wakes = 0;
	if (t->dead)
		return t;
	runs(w, t, ts, leaves);
	spend(w, t, ts, WHY_RUNNING, NULL);
	return t;
}

/* Forget the past of tasks that ended long ago. */
static void bury(struct why *w)
{
	struct why_task **dead = xcalloc(w->dead, sizeof(*dead)), *t;
	size_t n = 0;

	for (size_t i = 0; (t = table_next(&w->tasks, &i));)
		if (t->dead && n < w->dead)
			dead[n++] = t;
	memset(w->near, 0, sizeof(w->near));
	w->dead = 0;
	while (n) {
		forget_past(w, dead[--n]);
		table_remove(&w->tasks, dead[n]);
	}
	free(dead);
}

static void dies(struct why *w, struct why_task *t)
{
	close_window(w, t);
	w->dead += !t->dead;
	t->dead = 1;
	if (w->dead >= MOST_DEAD)
		bury(w);
}

/* The task waits. Find out for what. */
static void sleeps(struct why *w, struct why_task *t, enum why_leave leave)
{
	struct why_wait wait = { .on = t->user && (t->fault || !w->faults) ? "page fault" : "" };

	if (leave == WHY_STOPS)
		wait.on = "stopped";
	else if (t->call)
		w->doing(w->arg, t->pid, w->name[t->call], &wait);
	else if (t->fault && w->json) /* for people, one line has all page faults */
		str_format(wait.detail, sizeof(wait.detail), "0x%llx",
			   (unsigned long long)t->fault);
	if (t->disk) {
		const int again = t->call &&
			(!strcmp(wait.on, "file") || !strcmp(wait.on, "disk") ||
			 (!strcmp(wait.on, "call") &&
			  !(role_of_call(w->name[t->call])->is & IS_SENDS)));
		char detail[sizeof(wait.detail)];

		str_format(detail, sizeof(detail), "%s%s%s", w->name[t->disk],
			   *wait.detail ? " " : "", wait.detail);
		memcpy(wait.detail, detail, sizeof(detail));
		wait.on = "disk";
		if (!again) /* the next wait may be for a socket, or a page that is in memory */
			t->disk = 0;
	}
	t->state = WHY_BLOCKED;
	t->on = name_of(w, wait.on);
	t->detail = name_of(w, wait.detail);
	if (w->nnames == MOST_NAMES)
		t->detail = 0;
}

static void leaves(struct why *w, uint64_t ts, int cpu, struct why_who prev, enum why_leave leave,
		   struct why_who next)
{
	struct why_task *t = task_of(w, prev);
	const uint8_t quota = t->quota, woken = t->woken;

	running(w, prev, ts, 1);
	t->cpu = cpu;
	t->irq = 0;
	if (leave == WHY_DIES) {
		dies(w, t);
	} else if (leave != WHY_STAYS) {
		sleeps(w, t, leave);
		/* a woken task has to come back, unless it is woken again (slices.c) */
		t->woken = woken;
	} else {
		t->state = WHY_PREEMPTED;
		/* an idle CPU would have kept a task that may run */
		t->throttled = !next.pid || quota;
		t->instead = next.pid;
		t->instead_comm = next.pid ? number_of(w, next.comm.text, next.comm.n) : 0;
	}
}

static void comes(struct why *w, uint64_t ts, int cpu, struct why_who prev, struct why_who next)
{
	struct why_task *t = task_of(w, next);
	struct waker before = { .comm = prev.pid ? number_of(w, prev.comm.text, prev.comm.n) : 0 };
	enum why_state state = t->seen ? t->state : WHY_UNKNOWN;

	if (t->dead)
		return;
	if (!t->seen)
		t->on = name_of(w, "before its first event");
	before.task = prev.pid ? find(w, prev.pid) : NULL;
	/* the wake-up came before the switch that it ended */
	if (state == WHY_BLOCKED && t->woken)
		state = WHY_RUNNABLE;
	if (state == WHY_PREEMPTED && (t->throttled || (!prev.pid && t->cpu == cpu))) {
		state = WHY_THROTTLED;
		before = (struct waker){ 0 };
	} else if (state == WHY_PREEMPTED) {
		before.task = t->instead ? find(w, t->instead) : NULL;
		before.comm = t->instead_comm;
	} else if (state == WHY_RUNNING) {
		spend_unknown(w, t, ts, name_of(w, "left its CPU unseen"));
	}
	spend(w, t, ts, state, state == WHY_UNKNOWN || state == WHY_BLOCKED ? NULL : &before);
	t->state = WHY_RUNNING;
	t->cpu = cpu;
	t->woken = 0;
}

void why_switch(struct why *w, uint64_t ts, int cpu, struct why_who prev, enum why_leave leave,
		struct why_who next)
{
	struct why_cpu *c = cpu_of(w, cpu);

	why_time(w, ts);
	w->told++;
	c->depth = 0;
	/*
	 * A pid filter lets only switches from and to its tasks pass. If a task leaves a CPU to
	 * which another one came last, the trace is filtered. A switch from an idle CPU says
	 * nothing, as some kernels do not record it.
	 */
	w->filtered |= c->switched && c->losses == w->losses && c->pid && c->pid != prev.pid;
	c->pid = next.pid;
	c->losses = w->losses;
	c->switched = 1;
	if (prev.pid)
		leaves(w, ts, cpu, prev, leave, next);
	if (next.pid)
		comes(w, ts, cpu, prev, next);
}

void why_waking(struct why *w, uint64_t ts, int cpu, struct why_who by, int soft, int hard,
		struct why_who woken)
{
	struct why_task *b, *t;
	const struct why_cpu *c;
	struct waker waker;

	why_time(w, ts);
	b = by.pid ? task_of(w, by) : NULL;
	waker = (struct waker){ b, b ? b->comm : 0 };
	if (b && !soft && !hard)
		b->wakes = 1;
	if (!woken.pid)
		return;
	t = task_of(w, woken);
	if (t->dead)
		return;
	if (t->seen && t->state != WHY_BLOCKED) {
		t->woken = t->state == WHY_RUNNING;
		return;
	}
	if (hard || !b || (soft && !(role_of_call(w->name[b->call])->is & IS_SENDS))) {
		c = cpu_of(w, cpu);
		waker.task = NULL;
		waker.comm = c->depth && c->depth <= NESTED ? c->irq[c->depth - 1] :
			     w->interrupt;
	}
	if (!waker.task && t->on == w->sleep)
		waker.comm = w->timer;
	if (!t->seen) { /* it has waited since before the trace; its return will tell the call */
		t->state = WHY_BLOCKED;
		t->on = t->detail = 0;
	}
	spend(w, t, ts, WHY_BLOCKED, &waker);
	t->state = WHY_RUNNABLE;
	t->woken = 0;
}

/*
 * A new task begins to be in this state. like: its maker, or what it was before; NULL: unknown. It
 * stays a subject if the user has named its pid, and no task with that pid has ended.
 */
static struct why_task *begins(struct why *w, uint64_t ts, struct why_who who,
			       const struct why_task *like, enum why_state state)
{
	struct why_task *t = find(w, who.pid);
	struct table_entry entry = t->entry;

	if (t->dead)
		w->dead--;
	close_window(w, t); /* its end is lost */
	forget_past(w, t);
	*t = (struct why_task){ .entry = entry, .pid = who.pid, .since = ts, .born = ts,
				.seen = 1, .calls = like && like->calls,
				.again = t->again || t->dead,
				.state = (uint8_t)state, .losses = w->losses,
				.subject = (like && like->subject) || w->all ||
					   (t->subject && !t->dead) };
	return task_of(w, who);
}

void why_new_task(struct why *w, uint64_t ts, struct why_who by, struct why_who child)
{
	struct why_task *maker = by.pid ? running(w, by, ts, 0) : NULL;

	if (!child.pid)
		return;
	begins(w, ts, child, maker, WHY_RUNNABLE);
	if (maker)
		maker->wakes = 1;
}

/* The task takes the pid of the first thread of its process, which is dead. */
static void changes_pid(struct why *w, uint64_t ts, int32_t old, struct why_who who)
{
	struct why_task *was = running(w, (struct why_who){ .pid = old }, ts, 0);
	struct why_task *t = begins(w, ts, who, was, WHY_RUNNING);

	t->call = was->call;
	dies(w, was);
}

void why_exec(struct why *w, uint64_t ts, struct why_who who, int32_t old)
{
	struct why_task *t;

	if (!who.pid)
		return;
	if (old > 0 && old != who.pid)
		return changes_pid(w, ts, old, who);
	t = running(w, who, ts, 0);
	if (!t->window || !t->window->wait || w->scope != WHY_TASKS)
		return;
	free_window(t->window);
	t->window = NULL;
	task_of(w, who);
}

/*
 * Return the task that begins a call, or ends the call of this name; NULL if it is dead or idle. If
 * it was not known whether the task was in a call until now, this event tells it.
 */
static struct why_task *caller(struct why *w, uint64_t ts, struct why_who who, const char *ends)
{
	struct why_task *t;

	if (!who.pid)
		return NULL;
	why_time(w, ts);
	t = task_of(w, who);
	if (!t->call && !t->user) {
		t->call = ends ? name_of(w, ends) : 0;
		t->user = !ends;
	}
	t = running(w, who, ts, 0);
	if (t->dead)
		return NULL;
	t->calls = 1;
	w->calls = 1;
	return t;
}

void why_call(struct why *w, uint64_t ts, struct why_who who, const char *name)
{
	struct why_task *t = caller(w, ts, who, NULL);

	if (!t)
		return;
	/* before the call began, the task may have waited for a supervisor to let it pass */
	settle(w, t, t->pending && t->window && !t->window->node[t->pending].on ? "seccomp" : NULL,
	       name);
	t->call = name_of(w, name);
	t->user = 0;
	t->disk = 0;
	t->fault = 0;
	t->waited = t->interrupted = 0;
	if (t->subject && w->scope == WHY_CALLS) {
		close_window(w, t); /* the call did not return */
		open_window(w, t, 0);
	}
}

void why_return(struct why *w, uint64_t ts, struct why_who who, const char *name, int64_t result)
{
	/* the highest one is ERESTART_RESTARTBLOCK of include/linux/errno.h */
	enum { ERESTART_FIRST = 512, ERESTART_LAST = 516 };
	struct why_task *t = caller(w, ts, who, name);
	struct why_wait wait = { .on = "" };

	if (!t)
		return;
	if (!t->call) { /* it has waited before the call could begin */
		settle(w, t, "seccomp", name);
	} else {
		settle(w, t, NULL, NULL);
	}
	if (t->waited && (result == -EINTR ||
			  (result <= -ERESTART_FIRST && result >= -ERESTART_LAST))) {
		t->interrupted = 1;
		ended_by_signal(w, t, w->a_signal);
	}
	if (t->window && t->window->wait) {
		struct why_node *node = &t->window->node[t->window->wait];

		w->doing(w->arg, t->pid, name, &wait);
		if (!node->detail) {
			node->on = name_of(w, wait.on);
			node->detail = name_of(w, name);
		}
		t->window->wait = 0;
	}
	if (t->window && w->scope == WHY_CALLS) {
		w->doing(w->arg, t->pid, name, &wait);
		t->window->label = name_of(w, *wait.detail ? wait.detail : name);
		close_window(w, t);
	}
	t->call = t->disk = 0;
	t->fault = 0;
	t->user = 1;
}

void why_polled(struct why *w, int32_t pid, const char *call, const char *files)
{
	struct why_task *t = find(w, pid);
	struct why_wait wait;

	if (!t)
		return;
	why_describe(&wait, call, NULL, files);
	if (t->pending && t->window && t->window->node[t->pending].on == w->poll)
		settle(w, t, wait.on, wait.detail);
	else if (t->state == WHY_BLOCKED && t->on == w->poll)
		t->detail = name_of(w, wait.detail); /* it has not returned */
}

void why_signal(struct why *w, uint64_t ts, struct why_who who, int signal, int code)
{
	struct why_task *t = who.pid ? running(w, who, ts, 0) : NULL;
	const char *name = name_of_signal(signal);
	char number[32];

	if (!t || !t->interrupted)
		return;
	t->interrupted = 0;
	str_format(number, sizeof(number), "signal %d", signal);
	/* each thread of a process that a signal ends gets SIGKILL, whichever was sent */
	ended_by_signal(w, t, name_of(w, signal == SIGKILL ? "a fatal signal" :
				      signal == SIGINT && code == SI_KERNEL ? "^C" :
				      name ? name : number));
}

void why_irq(struct why *w, uint64_t ts, int cpu, struct why_who by, const char *name, int begins)
{
	struct why_cpu *c = cpu_of(w, cpu);
	struct why_task *t = NULL;

	why_time(w, ts);
	if (!begins && !c->depth)
		return;
	if (by.pid)
		t = running(w, by, ts, 0);
	if (begins) {
		if (c->depth < NESTED)
			c->irq[c->depth] = name_of(w, name);
		c->depth++;
		if (t) /* the fault may be long over; the freezer, too, stops a task after this */
			t->fault = 0;
	} else {
		c->depth--;
	}
	if (t)
		t->irq = c->depth ? c->irq[0] : 0;
}

void why_disk(struct why *w, uint64_t ts, struct why_who by, const char *disk)
{
	if (by.pid)
		running(w, by, ts, 0)->disk = name_of(w, disk);
}

void why_fault(struct why *w, uint64_t ts, struct why_who who, uint64_t address)
{
	struct why_task *t;

	if (!who.pid)
		return;
	w->faults = 1;
	why_time(w, ts);
	t = task_of(w, who);
	t->user = !t->call;
	t = running(w, who, ts, 0);
	if (!t->call) {
		settle(w, t, NULL, NULL);
		t->fault = address;
	}
}

void why_throttled(struct why *w, uint64_t ts, struct why_who by)
{
	struct why_task *t;
	int own;

	why_time(w, ts);
	if (!by.pid)
		return;
	t = task_of(w, by);
	own = !t->wakes; /* the quota may be that of the task that it has just woken */
	running(w, by, ts, 0)->quota = (uint8_t)own;
}

/* Account the time of the task until now. It runs, unless it has just left its CPU. */
static struct why_task *until(struct why *w, struct why_who who, uint64_t ts)
{
	struct why_task *t;

	why_time(w, ts);
	t = task_of(w, who);
	return t->seen && t->state != WHY_RUNNING && t->since == ts ? t : running(w, who, ts, 0);
}

void why_open(struct why *w, uint64_t ts, struct why_who who, struct text_part label, int runs)
{
	struct why_task *t;

	if (!who.pid)
		return;
	why_time(w, ts);
	t = task_of(w, who);
	if (t->window && runs) /* its time ends now */
		until(w, who, ts);
	close_window(w, t);
	t->subject |= w->requests != 0;
	if (!runs) { /* its next event tells what it does */
		t->since = ts;
		t->seen = 0;
	} else if (w->requests && (t->away || !t->seen)) {
		spend_unknown(w, t, ts, w->between);
		t->state = WHY_RUNNING;
	} else {
		until(w, who, ts);
	}
	open_window(w, t, number_of(w, label.text, label.n));
}

void why_close(struct why *w, uint64_t ts, int32_t pid)
{
	struct why_task *t;

	if (!pid)
		return;
	t = until(w, (struct why_who){ .pid = pid }, ts);
	close_window(w, t);
	t->away = w->requests != 0;
}

void why_message(struct why *w, int32_t reader, int32_t sender)
{
	struct why_task *t = find(w, reader), *s = find(w, sender);
	struct why_node part;

	if (!reader || !sender || t == s || !last_wait(w, t, &part) ||
	    t->window->node[t->wait].first) /* more is known of its waker */
		part.n = 0;
	if (part.n) {
		part.comm = s->comm;
		part.pid = s->pid;
		ended_by(t, &part);
		if (w->depth)
			expand_wait(w, t->window, t->wait, s, t->wait_begin, t->wait_end);
	}
	t->wait = 0;
}

void why_event(struct why *w, uint64_t ts, struct why_who who, const char *event, const char *call)
{
	char of_call[64];
	const char *names[] = { event, of_call };

	str_format(of_call, sizeof(of_call), "%s_%s", event, call);
	for (size_t i = 0; w->closes && i < 1 + (*call != '\0'); i++)
		if (glob_matches(w->closes, names[i]))
			why_close(w, ts, who.pid);
	for (size_t i = 0; w->opens && i < 1 + (*call != '\0'); i++)
		if (glob_matches(w->opens, names[i]))
			return why_open(w, ts, who,
					(struct text_part){ names[i], strlen(names[i]) }, 1);
}
