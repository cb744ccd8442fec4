/* SPDX-License-Identifier: ISC */
/* facts.h - private: what facts.c knows about tasks, for process.c */
#ifndef VIEW_FACTS_H
#define VIEW_FACTS_H

#include "view/view.h"

enum role {
	ROLE_NONE = KIND_OTHER, ROLE_ENTER, ROLE_EXIT, ROLE_DELIVER, ROLE_GENERATE,
	ROLE_NEWTASK, ROLE_RENAME, ROLE_EXEC, ROLE_END, ROLES
};

/* A task of facts.tasks, whose names are not used. The members marked (p) are of its process. */
struct fact_task {
	struct comm comm;
	uint16_t state;
	uint16_t code;          /* exit code of the task itself */
	uint16_t group;         /* (p) exit code of all threads that it ends */
	uint16_t sent;          /* (p) last deadly signal that was sent to the task */
	uint16_t marks;         /* of process.c; 0 for a new task */
	uint16_t threads;       /* (p) number of living threads; 0: not known */
	int32_t parent;         /* (p) its parent at first; 0: not known */
	int32_t execer;         /* (p) the thread that is in execve */
	uint64_t since;         /* time of its first record */
	uint32_t life, parent_life; /* another task with the same pid has another number */
};

/* Return the task; make it if it is not known. NULL: no pid, or out of memory. */
struct fact_task *facts_task(struct facts *, int pid);

/* Read field i of the present record's role. Return 0, or -1 if there is no such field. */
int facts_field(const struct facts *, unsigned i, const struct record *, struct field_data *);

/* Return field i of the present record's role as a number; 0 if there is none. */
int64_t facts_number(const struct facts *, unsigned i, const struct record *);

/* Return argument i of the system call that a sys_enter record enters; 0 if there is none. */
uint64_t facts_argument(const struct facts *, unsigned i, const struct record *);

#endif
