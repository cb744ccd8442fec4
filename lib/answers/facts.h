/* SPDX-License-Identifier: ISC */
/* facts.h - private: what facts.c knows about tasks, for identity.c */
#ifndef FACTS_H
#define FACTS_H

#include "answers/answers.h"

/* A task of facts.tasks, whose names are not used. The members marked (p) are of its process. */
struct fact_task {
	struct comm comm;
	uint16_t state;
	uint16_t code;          /* exit code of the task itself */
	uint16_t group;         /* (p) exit code of all threads that it ends */
	uint16_t sent;          /* (p) last deadly signal that was sent to the task */
	uint16_t marks;         /* of identity.c; 0 for a new task */
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

#endif
