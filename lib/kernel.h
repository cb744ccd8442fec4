/* SPDX-License-Identifier: ISC */
/*
 * kernel.h - this machine's kernel, as the decoder wants to know it
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "event.h"

struct kernel {
	int dir;                /* the instance; the caller's */
	int root;               /* tracefs itself; the caller's */
	struct events events;
	struct line line;
	char *enabled;          /* set_event when last looked at */
	int scanned;            /* since then all events were looked at */
	uint32_t now;           /* counts kernel_moment */
	int procfs;             /* it shows the pids that tracefs has */
	uint32_t named;         /* how many times events were lost, + 1; 0: nothing tells names */
	size_t pruned;          /* names that were left when the dead were dropped */
	int hidden;             /* events of names are not to be printed */
	int own[2];             /* those were enabled by us */
};

/*
 * Learn how the instance prints and which events it records. 0 or -1 said;
 * 1, silent: it prints in a way that only the kernel knows (another tracer, an
 * option that changes lines).
 */
int kernel_open(struct kernel *, int dir, int root);

/*
 * The name of any task may have changed since: look again. Formats and names
 * are learnt as records come that want them.
 */
void kernel_moment(struct kernel *);

/*
 * Where the instance records how tasks get their names (task:task_newtask,
 * task:task_rename), each has at each event the one that it had then, however
 * short it lives. With hide those events are enabled for that, and not for
 * printing; where that cannot be, nothing happens, without a word.
 */
void kernel_names_begin(struct kernel *, int hide);
void kernel_names_end(struct kernel *);

/*
 * Take from a record what it tells of names, before its line is made. 1: there
 * is no line to be made.
 */
static inline int kernel_learn(struct kernel *k, const struct record *r, int64_t lost)
{
	k->named += k->named && lost; /* what was lost may have told another name */
	k->line.told = k->named;
	k->line.seen = k->now;
	return line_learn(&k->line, r) && k->hidden;
}

#endif
