/* SPDX-License-Identifier: ISC */
/*
 * process.c - follow the tasks of a trace: their uids, names and exit codes
 *
 * In this file, each part uses those above it:
 *	roles of events, and their fields by name
 *	exit codes: by which signal or system call a task ends
 *	tasks: the uid and the name that they have when they are first seen
 *	records: how each of them changes a task
 *	lines of -P
 *	the interface
 */
#include <sys/syscall.h>

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"
#include "view/view.h"

/* The bits of process_task.state */
enum {
	UID_KNOWN = 1, UID_OK = 2,      /* the task has the uid of -u */
	COMM_KNOWN = 4, COMM_OK = 8,    /* the task has the name of -C */
	PENDING = 16,                   /* in a system call that may change the uid */
	PENDING_OK = 32,                /* to the uid of -u */
	PENDING_ASK = 64,               /* or not: read procfs when it returns */
	EXEC = 128,                     /* leader: a thread is in execve */
	OWN_CODE = 256,                 /* code is set, by exit */
	GROUP_CODE = 512,               /* group is set: the process ends with it */
	OVER = 1024,                    /* ended: the pid may be used again */
	MISSED = 2048,                  /* dead, and its end was not recorded */
};

/* A task of process.tasks, whose names are not used. */
struct process_task {
	struct comm comm;
	uint16_t state;
	uint16_t code;          /* exit code of the task itself */
	uint16_t group;         /* exit code of its process */
	uint16_t sent;          /* last deadly signal that was sent to its process */
};

/* Return the task; make it if it is not known. NULL: no pid, or out of memory. */
static struct process_task *task(struct process *p, int pid)
{
	return (struct process_task *)comms_entry(&p->tasks, pid);
}

/* Clear bits and set those of to. */
static void set(struct process_task *t, unsigned bits, unsigned to)
{
	t->state = (uint16_t)((t->state & ~bits) | to);
}

/* Return the leader of the task's process. */
static struct process_task *group_of(struct process *p, const struct process_task *t)
{
	return task(p, t->comm.tgid ? t->comm.tgid : t->comm.pid);
}

/* ---- roles of events, and their fields by name ---- */

enum role {
	ROLE_UNDECIDED, ROLE_NONE, ROLE_ENTER, ROLE_EXIT, ROLE_DELIVER, ROLE_GENERATE,
	ROLE_NEWTASK, ROLE_RENAME, ROLE_EXEC, ROLE_END, ROLES
};

static const struct {
	const char *system, *name;
	unsigned kind;
	const char *fields[4];
} roles[ROLES] = {
	[ROLE_NONE] = { "", "", 0, { NULL } },
	[ROLE_ENTER] = { "raw_syscalls", "sys_enter", SHOW_SYSCALLS, { "id", "args" } },
	[ROLE_EXIT] = { "raw_syscalls", "sys_exit", SHOW_SYSCALLS, { "id", "ret" } },
	[ROLE_DELIVER] = { "signal", "signal_deliver", SHOW_SIGNALS,
			   { "sig", "errno", "code", "sa_handler" } },
	[ROLE_GENERATE] = { "signal", "signal_generate", 0, { "sig", "pid", "result" } },
	[ROLE_NEWTASK] = { "task", "task_newtask", SHOW_LIFECYCLE,
			   { "pid", "clone_flags", "comm" } },
	[ROLE_RENAME] = { "task", "task_rename", 0, { "pid", "newcomm" } },
	[ROLE_EXEC] = { "sched", "sched_process_exec", SHOW_LIFECYCLE, { "old_pid" } },
	[ROLE_END] = { "sched", "sched_process_exit", SHOW_LIFECYCLE, { "pid" } },
};

/* The note of an event. */
struct role_of {
	enum role role;
	const struct field *field[4];
};

/* Find the role of an event, and its fields. */
static void decide(struct role_of *of, const struct event *e)
{
	enum role i = ROLES - 1;

	while (i > ROLE_NONE && (strcmp(e->name, roles[i].name) ||
				 strcmp(e->system, roles[i].system)))
		i--;
	of->role = i;
	for (unsigned f = 0; f < 4 && roles[i].fields[f]; f++)
		of->field[f] = event_field(e, roles[i].fields[f]);
}

/* Return the role of a record and the fields of its event, until the next call. */
static const struct role_of *role_of(struct process *p, const struct record *r)
{
	static const struct role_of none = { .role = ROLE_NONE };
	const struct event *e = event_wanted(p->line->events, r);
	struct role_of *of = e ? event_note(&p->roles, e, sizeof(*of)) : NULL;

	if (of && !of->role)
		decide(of, e);
	return of ? of : &none;
}

/* Read field i of a role from its record. Return 0, or -1 if there is no such field. */
static int role_value(struct process *p, const struct role_of *of, unsigned i,
		      const struct record *r, struct field_data *v)
{
	return of->field[i] ? field_value(p->line->events, of->field[i], r, v) : -1;
}

/* Return field i of a role as a number; 0 if there is none. */
static int64_t role_number(struct process *p, const struct role_of *of, unsigned i,
			   const struct record *r)
{
	struct field_data v;

	return role_value(p, of, i, r, &v) < 0 || v.kind > FIELD_POINTER ? 0 : v.i;
}

/* Return argument i of the system call that a sys_enter record enters; 0 if there is none. */
static uint64_t role_argument(struct process *p, const struct role_of *of, unsigned i,
			      const struct record *r)
{
	struct field_data v;

	if (role_value(p, of, 1, r, &v) < 0 || v.kind != FIELD_ARRAY || i >= v.n)
		return 0;
	return field_element(p->line->events, of->field[1], &v, i);
}

/* ---- exit codes ---- */

/* Return the default action of a signal: 0 none, 1 end the process, 2 end it with a core. */
static int deadly(int64_t sig)
{
	switch (sig) {
	case SIGQUIT: case SIGILL: case SIGTRAP: case SIGABRT: case SIGBUS: case SIGFPE:
	case SIGSEGV: case SIGXCPU: case SIGXFSZ: case SIGSYS:
		return 2;
	case SIGCHLD: case SIGCONT: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
	case SIGURG: case SIGWINCH:
		return 0;
	}
	return sig > 0 && sig <= 64;
}

/* Set the code with which all threads of the task's process end, unless one is set. */
static void end_group(struct process *p, struct process_task *t, unsigned code)
{
	struct process_task *g = group_of(p, t);

	if (!g || g->state & GROUP_CODE)
		return;
	set(g, 0, GROUP_CODE);
	g->group = (uint16_t)code;
}

/* Is the task's exit code that of its process? Before 5.17 only for the leader. */
static int has_code(struct process *p, const struct process_task *t, const struct process_task *g)
{
	return g == t || p->line->events->version >= KERNEL(5, 17);
}

/*
 * Return the signal that caused the delivery of SIGKILL to a task. When a signal ends a
 * process, the kernel delivers SIGKILL to its threads. The record of the sender or the task's
 * exit code has the signal itself. When a thread calls exit_group or execve, the kernel also
 * delivers SIGKILL to the other threads, although no signal was sent.
 */
static int64_t killed_by(struct process *p, struct process_task *t, struct process_task *g)
{
	long code = -1;

	if (g->state & EXEC)
		return SIGKILL;
	if (p->killed && has_code(p, t, g))
		code = p->killed(p->arg, t->comm.pid);
	if (code < 0 && g->state & GROUP_CODE)
		code = g->group;
	if (code < 0)
		code = g->sent;
	return code & 0x7f ? code & 0x7f : SIGKILL;
}

/* Follow a record of signal_deliver. */
static void end_delivered(struct process *p, struct process_task *t,
			  const struct role_of *of, const struct record *r)
{
	int64_t sig = role_number(p, of, 0, r);
	struct process_task *g = group_of(p, t);

	p->signal = sig;
	if (!g)
		return;
	if (sig == SIGKILL)
		p->signal = killed_by(p, t, g);
	if (sig == g->sent && sig != SIGKILL)
		g->sent = 0;
	if (role_number(p, of, 3, r) || !deadly(sig))
		return;
	if (sig != SIGKILL)
		end_group(p, g, (unsigned)sig);
	else if (!(g->state & EXEC))
		end_group(p, g, (unsigned)p->signal);
}

/* Follow a record of signal_generate. */
static void end_generated(struct process *p, const struct role_of *of, const struct record *r)
{
	int64_t sig = role_number(p, of, 0, r);
	struct process_task *t, *g;

	/* a result other than 0: the kernel dropped the signal */
	if (deadly(sig) != 1 || role_number(p, of, 2, r))
		return;
	t = task(p, (int)role_number(p, of, 1, r));
	g = t ? group_of(p, t) : NULL;
	if (g && (sig == SIGKILL || g->sent != SIGKILL))
		g->sent = (uint16_t)sig;
}

/* Return the exit code of a task that ends. */
static long end_code(struct process *p, struct process_task *t)
{
	struct process_task *g = group_of(p, t);
	/*
	 * If another thread calls execve, the pid of the leader ends twice, and p->ended has the
	 * other end.
	 */
	int twice = g == t && t->state & EXEC;
	long code = p->ended && has_code(p, t, g) && !twice ? p->ended(p->arg, t->comm.pid) : -1;

	if (code >= 0)
		return code;
	if (t->state & OWN_CODE)
		return t->code;
	return g && g->state & GROUP_CODE ? g->group : 0;
}

/* ---- tasks ---- */

/* Find out whether a task has the uid and the name, from the caller (-U, -N) or procfs. */
static void look_up(struct process *p, struct process_task *t)
{
	struct line_format *l = p->line;
	int pid = t->comm.pid, ok;
	const char *name;
	pid_t tgid;
	uid_t uid;

	if (p->by_uid && !(t->state & UID_KNOWN)) {
		ok = pids_has(&p->uids, pid);
		if (!ok && !pids_has(&p->uids, -pid) && p->live &&
		    !task_ids(pid, &tgid, &uid))
			ok = uid == p->uid;
		set(t, UID_KNOWN | UID_OK, ok ? UID_KNOWN | UID_OK : UID_KNOWN);
	}
	if (p->comm && !(t->state & COMM_KNOWN)) {
		ok = pids_has(&p->comms, pid);
		if (!ok && !pids_has(&p->comms, -pid)) {
			if (l->learn_name)
				l->learn_name(l->arg, pid);
			name = line_task_name(l->events, pid);
			ok = name && !strcmp(name, p->comm);
		}
		set(t, COMM_KNOWN | COMM_OK, ok ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
	}
}

/* Return the task of a record with uid and name known; make its leader too. NULL: no task. */
static struct process_task *known(struct process *p, int pid)
{
	struct process_task *t = task(p, pid);
	unsigned want = (p->by_uid ? UID_KNOWN : 0u) | (p->comm ? COMM_KNOWN : 0u);

	if (t && !t->comm.tgid) {
		pid_t tgid = pid;
		uid_t uid;

		if (!p->live || task_ids(pid, &tgid, &uid) < 0)
			tgid = pid;
		task(p, tgid);
		t->comm.tgid = tgid;
	}
	if (t && (t->state & want) != want)
		look_up(p, t);
	return t;
}

/* ---- records: how each of them changes a task ---- */

/* Is the field the name of -C, byte for byte? */
static int is_comm(const struct process *p, const struct field_data *v)
{
	return p->comm && v->kind == FIELD_STRING && strlen(p->comm) == v->n &&
	       !memcmp(p->comm, v->data, v->n);
}

/* Translate a uid from the task's user namespace to the initial one (/proc/PID/uid_map). */
static uint32_t outside(const struct process *p, int pid, uint32_t uid)
{
	const char *s;
	char *text;
	int cut;

	if (!p->live)
		return uid;
	text = procfs_read(pid, "uid_map", NULL, &cut);
	for (s = text; s && *s;) {
		unsigned long long n[3];

		for (unsigned i = 0; i < 3; i++) {
			s += strspn(s, " \n");
			n[i] = text_digits(&s);
		}
		s += strspn(s, " \n");
		if (uid >= n[0] && uid - n[0] < n[2]) {
			uid = (uint32_t)(uid - n[0] + n[1]);
			break;
		}
		if (!n[2])
			break;
	}
	free(text);
	return uid;
}

/* Follow a record of sys_enter. */
static void entered(struct process *p, struct process_task *t,
		    const struct role_of *of, const struct record *r)
{
	int64_t id = role_number(p, of, 0, r);
	unsigned bits = 0;
	int old = 0;

	if (t->state & (PENDING | EXEC | OWN_CODE))
		set(t, PENDING | PENDING_OK | PENDING_ASK | OWN_CODE, 0);
	switch (id) {
	case SYS_exit:
		t->code = (uint16_t)((role_argument(p, of, 0, r) & 0xff) << 8);
		bits = OWN_CODE;
		break;
	case SYS_exit_group:
		end_group(p, t, (unsigned)(role_argument(p, of, 0, r) & 0xff) << 8);
		break;
	case SYS_execve:
	case SYS_execveat:
		t = group_of(p, t);
		bits = EXEC;
		break;
#ifdef SYS_setuid32
	case SYS_setuid32:
	case SYS_setreuid32:
	case SYS_setresuid32:
		bits = PENDING | (id == SYS_setuid32 ? PENDING_ASK : 0);
		break;
#define OLD 1
#else
#define OLD 0
#endif
	case SYS_setuid:
	case SYS_setreuid:
	case SYS_setresuid:
		bits = PENDING | (id == SYS_setuid ? PENDING_ASK : 0);
		old = OLD;
		break;
	default:
		return;
	}
	if (bits & PENDING) {
		uint32_t uid = (uint32_t)role_argument(p, of, 0, r);

		if (old) /* of 16 bits, in which -1 is 0xffff */
			uid = (uint16_t)uid == 0xffff ? UINT32_MAX : (uint16_t)uid;
		if (!p->by_uid || uid == UINT32_MAX)
			return;
		if (outside(p, t->comm.pid, uid) == p->uid)
			bits |= PENDING_OK;
	}
	if (t)
		set(t, 0, bits);
}

/* Did the call change the real uid? Without CAP_SETUID, setuid changes the effective uid only. */
static int changed(const struct process *p, const struct process_task *t)
{
	pid_t tgid;
	uid_t uid;

	if (!(t->state & PENDING_ASK) || !p->live || task_ids(t->comm.pid, &tgid, &uid) < 0)
		return 1;
	return (uid == p->uid) == !!(t->state & PENDING_OK);
}

/* Follow a record of sys_exit. */
static void returned(struct process *p, struct process_task *t,
		     const struct role_of *of, const struct record *r)
{
	struct process_task *g;

	/* execve failed; or exit_group returned, which is a call of another ABI */
	g = group_of(p, t);
	if (g && g->state & (EXEC | GROUP_CODE)) {
		int64_t id = role_number(p, of, 0, r);

		if (id == SYS_execve || id == SYS_execveat)
			set(g, EXEC, 0);
		else if (id == SYS_exit_group)
			set(g, GROUP_CODE, 0);
	}
	if (!(t->state & PENDING))
		return;
	if (!role_number(p, of, 1, r) && changed(p, t))
		set(t, UID_OK, t->state & PENDING_OK ? UID_OK : 0);
	set(t, PENDING | PENDING_OK | PENDING_ASK, 0);
}

#define THREAD 0x10000 /* CLONE_THREAD */

/* Follow a record of task_newtask. */
static void born(struct process *p, struct process_task *parent,
		 const struct role_of *of, const struct record *r)
{
	int pid = (int)role_number(p, of, 0, r);
	uint64_t flags = (uint64_t)role_number(p, of, 1, r);
	struct process_task *g = parent && flags & THREAD ? group_of(p, parent) : NULL;
	unsigned state = parent ? parent->state & (UID_KNOWN | UID_OK) : 0;
	pid_t tgid = g ? g->comm.pid : pid;
	struct process_task *t = task(p, pid);
	struct field_data v;

	if (!t)
		return;
	if (!role_value(p, of, 2, r, &v))
		state |= is_comm(p, &v) ? COMM_KNOWN | COMM_OK : COMM_KNOWN;
	t->state = (uint16_t)state;
	t->sent = 0;
	t->comm.tgid = tgid;
}

/* Follow a record of task_rename. */
static void renamed(struct process *p, const struct role_of *of, const struct record *r)
{
		struct process_task *t = task(p, of->field[0] ? (int)role_number(p, of, 0, r)
				   : record_pid(p->line->events, r));
	struct field_data v;

	if (t && !role_value(p, of, 1, r, &v))
		set(t, COMM_OK, is_comm(p, &v) ? COMM_KNOWN | COMM_OK : COMM_KNOWN);
}

/*
 * Follow a record of sched_process_exec. A thread that is not the leader becomes the leader: it
 * keeps its uid and takes the leader's pid.
 */
static void executed(struct process *p, const struct role_of *of, const struct record *r)
{
	int pid = record_pid(p->line->events, r);
	int old_pid = (int)role_number(p, of, 0, r);
	struct process_task *old = old_pid && old_pid != pid ? task(p, old_pid) : NULL;
	unsigned uid = old ? old->state & (UID_KNOWN | UID_OK) : 0;
	struct process_task *t = task(p, pid);

	if (!t)
		return;
	if (old)
		set(t, UID_KNOWN | UID_OK, uid);
	set(t, EXEC | GROUP_CODE | OWN_CODE | OVER, 0);
	t->sent = 0;
	t->comm.tgid = pid;
	if (old)
		set(old, 0, OVER);
}

/* Forget what may be wrong after lost events. */
static void forget(struct process *p)
{
	for (size_t i = 0; p->live && i < p->tasks.room; i++)
		if (p->tasks.v[i])
			set((struct process_task *)p->tasks.v[i], UID_KNOWN | COMM_KNOWN |
			    PENDING | EXEC | OWN_CODE | GROUP_CODE, 0);
	if (p->live) {
		pids_clear(&p->uids);
		pids_clear(&p->comms);
	}
}

/* Keep a task in comms_prune? Its records may come after its death: ask twice. */
static int is_wanted(void *process, struct comm *c)
{
	const struct process *p = process;
	struct process_task *t = (struct process_task *)c;

	if (t->state & (OVER | MISSED))
		return 0;
	set(t, 0, p->live && !task_alive(c->pid) ? MISSED : 0);
	return 1;
}

/* Drop the tasks that have ended, when there are many. */
static void prune(struct process *p)
{
	if (p->tasks.n < p->prune_at)
		return;
	if (p->prune_at)
		comms_prune(&p->tasks, is_wanted, p);
	p->prune_at = 2 * p->tasks.n + 4096;
}

/* ---- lines of -P ---- */

/* Write a number, right-justified. */
static void put_column(struct out *o, int width, int64_t v)
{
	char *start = o->at;

	out_signed(o, v);
	out_padded(o, start, 0, width, -1);
}

/* Write task, pid, CPU and time: "%16s %5d %3d %9lu.%06ld " */
static void put_head(struct process *p, struct out *o, const struct record *r)
{
	struct line_format *l = p->line;
	int pid = record_pid(l->events, r);
	uint64_t us = (r->ts + 500) / 1000;
	char *start = o->at;
	const char *name;

	if (l->learn_name && pid > 0)
		l->learn_name(l->arg, pid);
	name = line_task_name(l->events, pid);
	out_string(o, name ? name : "<...>");
	text_mask_controls(start, o->at);
	out_padded(o, start, 0, 16, -1);
	out_char(o, ' ');
	put_column(o, 5, pid);
	out_char(o, ' ');
	put_column(o, 3, r->cpu < 0 ? 0 : r->cpu);
	out_char(o, ' ');
	start = o->at;
	if (l->raw_clock)
		out_decimal(o, r->ts);
	else
		out_decimals(o, us, 6);
	out_padded(o, start, 0, 16, -1);
	out_char(o, ' ');
}

size_t process_line(struct process *p, const struct record *r, char *buf, size_t size)
{
	const struct role_of *of = p->now;
	struct out o = out_to(buf, size);
	long long first, second;

	put_head(p, &o, r);
	first = role_number(p, of, 0, r);
	second = role_number(p, of, 1, r);
	switch (of->role) {
	case ROLE_ENTER:
		out_format(&o, "syscall %lld", first);
		for (unsigned i = 0; i < 6; i++) {
			out_string(&o, i ? " " : " [");
			out_address(&o, role_argument(p, of, i, r));
		}
		out_char(&o, ']');
		break;
	case ROLE_EXIT:
		out_format(&o, "syscall rc %lld error %lld", second,
			   second < 0 && second >= -4095 ? second : 0);
		break;
	case ROLE_DELIVER:
		out_format(&o, "signal %lld errno %lld code 0x%x", (long long)p->signal, second,
			   (unsigned)role_number(p, of, 2, r));
		break;
	case ROLE_NEWTASK:
		out_format(&o, "fork %lld flags 0x%llx", first, (unsigned long long)second);
		break;
	case ROLE_EXEC:
		out_string(&o, "exec");
		break;
	case ROLE_END:
		out_format(&o, "exit %ld", p->code);
		break;
	default:
		break;
	}
	out_char(&o, '\n');
	return (size_t)(o.at - buf);
}

size_t process_header(char *buf, size_t size)
{
	return str_format(buf, size, "# tracer: process\n#\n"
			  "#           TASK   PID CPU        TIMESTAMP  EVENT\n");
}

/* ---- the interface ---- */

int process_kinds(struct process *p, const char *names)
{
	static const char *const kinds[] = { "syscalls", "signals", "lifecycle" };

	for (;; names++) {
		size_t n = strcspn(names, ","), i = 0;

		while (i < 3 && (strlen(kinds[i]) != n || strncmp(kinds[i], names, n)))
			i++;
		if (i == 3)
			return -1;
		p->kinds |= 1u << i;
		names += n;
		if (!*names)
			return 0;
	}
}

void process_begin(struct process *p, struct line_format *l)
{
	p->line = l;
	event_notes_free(&p->roles);
	p->tasks.size = sizeof(struct process_task);
	/* a task of -N has the name until a record changes it */
	for (size_t i = 0; p->comm && i < p->comms.n; i++)
		if (p->comms.v[i] > 0) {
			comms_add(&l->events->comms, p->comms.v[i], p->comm, strlen(p->comm));
			if (l->learned_name)
				l->learned_name(l->arg, p->comms.v[i]);
		}
}

void process_learn(struct process *p, const struct record *r, int lost)
{
	const struct role_of *of = p->now = role_of(p, r);
	int pid = record_pid(p->line->events, r);
	struct process_task *t;

	if (lost)
		forget(p);
	if (of->role == ROLE_RENAME) {
		renamed(p, of, r);
		return;
	}
	if (of->role == ROLE_EXEC)
		executed(p, of, r);
	if (of->role == ROLE_NONE && !p->by_uid && !p->comm)
		return;
	prune(p);
	t = task(p, pid);
	if (t && t->state & OVER && of->role != ROLE_GENERATE && of->role != ROLE_NONE) {
		t->state = 0;
		t->comm.tgid = 0;
	}
	t = known(p, pid);
	if (of->role == ROLE_NEWTASK)
		born(p, t, of, r);
	else if (of->role == ROLE_GENERATE)
		end_generated(p, of, r);
	if (!t)
		return;
	switch (of->role) {
	case ROLE_ENTER:
		entered(p, t, of, r);
		break;
	case ROLE_EXIT:
		returned(p, t, of, r);
		break;
	case ROLE_DELIVER:
		end_delivered(p, t, of, r);
		break;
	case ROLE_END:
		p->code = end_code(p, t);
		set(t, 0, OVER);
		break;
	default:
		break;
	}
}

int process_picks(struct process *p, const struct record *r)
{
	struct process_task *t;

	if (p->kinds && !(roles[p->now->role].kind & p->kinds))
		return 0;
	if (!p->by_uid && !p->comm)
		return 1;
	t = known(p, record_pid(p->line->events, r));
	return t && (!p->by_uid || t->state & UID_OK) && (!p->comm || t->state & COMM_OK);
}
