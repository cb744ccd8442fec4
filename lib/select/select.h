/* SPDX-License-Identifier: ISC */
/*
 * select.h - select the records to show, by their event, time and task
 *
 * A pick selects records by event, task and time (-e, -p, -t), and subjects select the records that
 * are about given tasks. identity.c of the layer answers selects by the uid and the name of a task.
 *
 * This layer includes base, host, proc and event.
 */
#ifndef SELECT_H
#define SELECT_H

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"

/* ---- subject.c: events about another task than the one that runs -------------------- */

enum subject_kind {
	/* the event is about the task that runs, and about the task in its field */
	SUBJECT_FILTERED,       /* the kernel's pid filter compares this field, too */
	SUBJECT_EITHER,         /* the pid filter does not compare the field */
	/* the task that runs is unrelated */
	SUBJECT_OTHER,          /* the event is about the task in its field */
	SUBJECT_NONE,           /* no field names a task */
};

/* A row of the table; the event's field has the pid of the task that the event is about. */
struct subject {
	char system[8], event[24], field[12]; /* arrays need no relocations */
	uint8_t kind;           /* enum subject_kind */
};

/* Return the row of an event; NULL: the event is about the task that runs. */
const struct subject *subject_of(const char *system, const char *event);

/* Return the row of SYSTEM:EVENT, or EVENT of any system; NULL: there is none, or a glob. */
const struct subject *subject_named(const char *word);

/* ---- pick.c: select records by event, task and time ---------------------------------- */

/* A time in seconds as the user wrote it, or a number of a clock that counts. */
struct pick_time {
	uint64_t whole;
	uint32_t nano;          /* of a second */
	uint8_t digits;         /* how many were given after the point */
	uint8_t given;
};

/* A selection; all zero at first: everything. */
struct pick {
	const char **globs;     /* one match is enough; the strings are owned by the caller */
	size_t nglobs;
	struct pids pids;
	struct pick_time begin, end;
	int calls;              /* the caller matches the globs with the calls that records have */
	struct event_notes picked; /* private: whether a glob matches the event */
	/* set by pick_begin */
	uint64_t from, to;      /* in units of the clock, both included */
	int all;                /* everything is selected */
};

/*
 * Add the events that a glob, SYSTEM:EVENT or EVENT, matches. Return 0, or -1, reported.
 */
int pick_event(struct pick *, const char *glob);

/*
 * Set the time range: FROM-TO, FROM- or -TO in seconds, both included. A time of at most six digits
 * after the point is compared with the rounded time that lines show. Return 0, or -1, silent.
 */
int pick_time(struct pick *, const char *range);

/* Is it an event that stands for the entry and the return of a call? */
int pick_is_call(const struct event *);

/* Does one of the globs match the event? */
int pick_names(const struct pick *, const char *system, const char *name);

/* Begin to select, after the calls above; call it again when the clock changes. */
void pick_begin(struct pick *, int raw_clock);

/* Return -1, 0 or 1 if the record is before, within or after the time range. */
static inline int pick_when(const struct pick *p, const struct record *r)
{
	return r->ts < p->from ? -1 : r->ts > p->to;
}

/* Do the globs and pids select the record? Globs select no record of an unknown event. */
int pick_record(struct pick *, struct event_set *, const struct record *);

/* ---- subjects.c: select the records that are about given tasks -------------------------- */

/*
 * Tasks, those that they make later (task:task_newtask), and those that join: by a name
 * (task:task_rename), a cgroup (cgroup:cgroup_attach_task, or cgroup_notify_populated and
 * task_newtask) or a uid (setuid, setreuid and setresuid). All zero: no selection.
 */
struct subjects {
	unsigned char *member;  /* a bit for each pid; NULL: everything is selected */
	const char *rules;      /* comm=NAME, uid=N, cgroup=NAME, container=GLOBS, each with a
				   newline after it; "": no task joins */
	const char *hidden;     /* events that are never selected, with commas between */
	unsigned char *joining; /* private: a bit for each pid that is in a call by which it or its
				   child may join */
	struct event_notes about; /* private: which task an event is about */
	int names;              /* -B: collect in joined the tasks that join */
	struct pids joined;     /* the tasks that are not named yet; the caller removes them */
	unsigned long joins;    /* how often a task has joined */
	unsigned long long unplaced; /* tasks that clone3 made in a cgroup, and that ended before
					their cgroup was known */
};

/* Begin with these tasks; rules and hidden are set, or NULL. Return 0, or -1, reported. */
int subjects_begin(struct subjects *, const struct pids *);

/* Is the event one of the hidden ones? subjects_pick selects none of these. */
int subjects_hide(const struct subjects *, const struct event *);

/* Is the task one of the subjects? */
int subjects_have(const struct subjects *, int64_t pid);

/* Is the record about one of the tasks (subject.c)? Call this for all records, in order. */
int subjects_pick(struct subjects *, struct event_set *, const struct record *);

#endif
