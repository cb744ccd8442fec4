/* SPDX-License-Identifier: ISC */
/*
 * answers.h - answers that several tools need, from the events of a trace
 *
 * This layer prints nothing and keeps nothing but what the caller gives it. It includes base,
 * host, proc, event, select, calls and lines.
 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"
#include "select/select.h"
#include "calls/calls.h"
#include "lines/lines.h"

/* ---- slices.c: in which state a task is, and who runs where -------------------------- */

/*
 * A state that is at least TASK_DOZES is a wait for a CPU. TASK_WAKING: sched_waking came while the
 * task ran. TASK_DOZES: it left its CPU after that, so it has to come back, unless another wake-up
 * shows that it slept. TASK_WOKEN: nothing was known of the task before, so it may have been
 * running.
 */
enum { TASK_UNSEEN, TASK_RUNS, TASK_WAKING, TASK_SLEEPS, TASK_DOZES, TASK_WOKEN, TASK_WAITS };

/* All zero at first, and when events were lost. */
struct task_state {
	uint8_t now;
	uint8_t waking;         /* TASK_WOKEN, TASK_WAITS: begun by sched_waking */
	uint8_t wait;           /* TASK_SLEEPS, TASK_DOZES: an enum task_wait */
};

/*
 * The event, a wake-up by seen_wakes, has this task. Return 1 if a wait for a CPU begins now: the
 * last event of a wake-up begins the wait, so a later event of it moves the beginning.
 */
int task_woken(struct task_state *, const struct seen *);

/* The task leaves its CPU, and will wait in this way. */
void task_leaves(struct task_state *, enum task_wait);

/* The task gets a CPU. Return how it has waited until now. */
enum task_wait task_comes(struct task_state *);

/* A task or a CPU, with the key "HOST\tID". The caller's struct may begin with it. */
struct lane {
	struct table_entry entry;
	uint64_t since;         /* when the state of a task began, or its task came to a CPU */
	struct lane *task;      /* the task on a CPU, perhaps an idle one; NULL: unknown */
	struct task_state state;
	uint8_t in_call;        /* the task is in a system call, as far as the trace has these */
	uint8_t woken;          /* while it ran; if it comes, it left its CPU unseen before that */
	uint8_t flags;          /* for the caller */
};

/* All zero at first, but the sizes of the tables. */
struct slices {
	struct table tasks, cpus;
	struct strbuf key;
	/* what the last line said */
	struct lane *task, *cpu; /* of the line; NULL: it names none */
	struct lane *other;     /* the task that gets the CPU or is woken, which is not idle */
	struct lane *missed;    /* another task ran on this CPU, so a switch is missing */
	int wakes;              /* 1: it is a wake-up; -1: a switch */
	int measured;           /* a switch with lat; the trace lacks other switches */
	int ran;                /* the task ran on the CPU from ran_from until now */
	uint64_t ran_from;
	enum task_wait waited;  /* how other waited from waited_from until now */
	uint64_t waited_from;
	struct lane *waker;     /* of other, if it slept; NULL: an interrupt */
};

/* Set the key to that of this task or CPU on the line's host. */
void lane_key(struct strbuf *key, const struct seen *, struct text_part id);

/* Return the lane of this task or CPU on the line's host. */
struct lane *slices_lane(struct slices *, struct table *, const struct seen *,
			 struct text_part id);

/* Is it the idle task of a host, which has a lane for all CPUs? */
int lane_is_idle(const struct lane *);

/* Take the next event. */
void slices_take(struct slices *, const struct seen *, uint64_t now);

/* Events were lost: which tasks run, and how the others wait, is not known. */
void slices_gap(struct slices *);

/* ---- facts.c: derive from the records of a trace what none of them says ------------------- */

/*
 * It follows the tasks of a trace by these events, as far as the trace has them:
 *
 *	raw_syscalls:sys_enter, sys_exit     task:task_newtask, task_rename
 *	signal:signal_deliver, _generate     sched:sched_process_exec, _exit
 */

/* The kinds of events that it follows. */
enum fact_role {
	ROLE_NONE = KIND_OTHER, ROLE_ENTER, ROLE_EXIT, ROLE_DELIVER, ROLE_GENERATE,
	ROLE_NEWTASK, ROLE_RENAME, ROLE_EXEC, ROLE_END, ROLES
};

/* The facts of a record. An exit code is what wait(2) gives. */
enum fact {
	FACT_SENT,              /* signal_deliver of SIGKILL: the signal that was sent */
	FACT_CODE,              /* sched_process_exit: the exit code of the task */
	FACT_PROCESS,           /* the process of the new or ended task */
	FACT_STATUS,            /* sched_process_exit: the exit code of the process, now ended */
	FACT_PARENT,            /* the parent of the new or ended process; 0: it has ended before */
	FACT_EXEC_THREAD,       /* sched_process_exec: the thread that called execve, and has become
				 * the leader; _exit: the thread whose execve ends this thread */
	FACT_UID,               /* sched_process_exit: the real uid of the process, now ended */
	FACT_CPU_LEAST,         /* the CPU time of all its threads, in ns, as it was accounted */
	FACT_AGE,               /* the time since its start, in microseconds */
	FACTS
};
#define FACT_NAMES \
	"sent", "exit_code", "process", "process_exit_code", "parent", "exec_thread", \
	"uid", "cpu_least_ns", "age_us"

/* The state of a task that ends, beside its exit code. */
struct used {
	uint64_t cpu;           /* of the task, or of all threads if it is the last; in ns, as */
				/* it was at the last tick or switch of each */
	uint64_t runs;          /* how often the task got a CPU; 0: cpu is unknown */
	uint64_t age;           /* of the task, in microseconds */
	int born;               /* age is exact; 0: the task is at least so old */
	uint32_t uid;
	int last;               /* no other thread of its process lives; 0: unknown */
};

/* All zero at first. */
struct facts {
	/*
	 * NULL, or return the exit code of a task that has ended, or is killed; -1: not known. If
	 * several tasks had the pid, age and born say which one is meant.
	 */
	long (*ended)(void *arg, int pid, struct used *), (*killed)(void *arg, int pid);
	void (*begins)(void *arg, int pid); /* NULL, or take note that a task begins */
	void *arg;
	int live;               /* the tasks are in procfs */
	/* of the present record */
	unsigned told;          /* a bit for each fact that it tells */
	int64_t value[FACTS];

	/* private */
	struct event_set *events;
	struct event_notes roles;
	const struct event_seen *now; /* of the present record */
	struct comms tasks;
	struct fact_task *last; /* the task that was found last */
	size_t prune_at;        /* look for dead tasks when there are so many */
	uint32_t lives;         /* number of tasks so far: fact_task.life */
};

/* Begin; call it again with other events. */
void facts_begin(struct facts *, struct event_set *);

/* Follow the next record; give all records in order. lost: events before it were lost. */
void facts_learn(struct facts *, const struct record *, int lost);

/* Does the record that facts_learn had last tell the fact? */
static inline int facts_knows(const struct facts *f, enum fact fact)
{
	return (f->told & 1u << fact) != 0;
}

/* Return the signal that was sent or delivered in that record; 0: it is another event. */
int64_t facts_signal(const struct facts *, const struct record *);

/* Return field i of that record's role as a number; 0 if there is none. */
int64_t facts_number(const struct facts *, unsigned i, const struct record *);

/* Return argument i of the system call that a sys_enter record enters; 0 if there is none. */
uint64_t facts_argument(const struct facts *, unsigned i, const struct record *);

/* Print the facts of that record: " NAME=VALUE...", or "NAME":VALUE,... in 256 bytes. */
void facts_put(const struct facts *, struct out *, int json);

/* ---- identity.c: the uid and the name that each task has at that time --------------------- */

/* The uid and the name of selected tasks (-u, -C). All zero at first: any. */
struct identity {
	int by_uid;
	uid_t uid;
	const char *comm;       /* NULL: any name */
	struct pids uids, comms; /* at first, task PID has the uid (the name); -PID: it has not */

	/* private */
	struct line_format *line;
	struct facts *facts;
};

/* Is either given? */
static inline int identity_on(const struct identity *p)
{
	return p->by_uid || p->comm;
}

/* Begin after the options; call it again with another line. */
void identity_begin(struct identity *, struct line_format *, struct facts *);

/* Follow the next record, after facts_learn has had it. */
void identity_learn(struct identity *, const struct record *, int lost);

/* Does the task of that record have the uid and the name? */
int identity_picks(struct identity *, const struct record *);

/* ---- tcp.c: TCP connections ---------------------------------------------------------------- */

/*
 * It uses sock:inet_sock_set_state, tcp:tcp_destroy_sock, and the records of tfs-strings tcp;
 * without these no bytes, errors and accepts are known.
 */

/* What to tell. TCP_FAILED alone: the events as they are, and connects that fail at once. */
enum { TCP_LATENCY = 1, TCP_LIFE = 2, TCP_ACCEPT = 4, TCP_CONNECT = 8, TCP_FAILED = 16 };

/* One end of a connection. The event has IPv4 addresses as mapped ones, too. */
struct tcp_end {
	unsigned char ip[16];
	unsigned port;
};

/*
 * A socket, found by its address. Its entry lives until the socket is closed. If a later record has
 * to say whose the connection was or why it failed, it lives until the kernel frees the socket.
 */
struct tcp_connection {
	struct table_entry entry;
	enum { TCP_SIDE_UNKNOWN, TCP_CONNECTS, TCP_ACCEPTS, TCP_QUEUED } side;
	int established;
	int known, failed;      /* are its bytes known? the error that its last line has; 0: none */
	uint64_t sent, received, ended; /* ended: when it ended, while its task is unknown; or 0 */
	uint64_t begun, ready;  /* when its first packet came or went; when it was established */
	struct tcp_end local, remote;
	unsigned char task[16]; /* the common fields of a record of its task */
	uint8_t ntask;          /* 0: the task is not known */
	int shown;              /* the task is selected */
	struct otel_context context; /* of the task, when it connected, accepted or closed */
};

/* What struct tcp tells of a connection. */
struct tcp_told {
	enum { TCP_BEGINS, TCP_CONNECTED, TCP_ACCEPTED, TCP_LIVED } what;
	const struct tcp_connection *of;
	const struct record *at;        /* its time and CPU */
	uint64_t from, to;              /* how long it took; from 0: not known */
	const char *error;              /* why a connect failed; NULL: not known */
};

/* All zero at first. */
struct tcp {
	unsigned kinds;
	struct pids ports;      /* of connects that fail at once; none: all */
	/* what the records are asked */
	struct event_set *events;
	struct subjects *subjects;
	struct otel_contexts *otel; /* NULL: no -O */
	int live, raw_clock;
	void (*tell)(void *arg, const struct tcp_told *);
	void *arg;

	/* private */
	struct event_notes notes;
	struct table connections, said;
	struct table owners;    /* as read when subjects->joins was joined */
	unsigned long joined;
	int have_owners;
	struct record last;     /* its time and CPU: when the trace has ended */
	size_t hand;            /* tcp_end: the next connection */
};

void tcp_begin(struct tcp *);

/* Take the next record. shown: it is selected. Return 1 if it is another event. */
int tcp_record(struct tcp *, const struct record *, int lost, int shown);

/*
 * At the end of a trace, tell of the next connect that still waits, or connection whose task is not
 * known. Return 0: that was all. Call it again until then, and begin another trace.
 */
int tcp_end(struct tcp *);

#endif
