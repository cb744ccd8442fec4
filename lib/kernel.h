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
	uint32_t tgids;         /* the moment at which saved_tgids was read */
	int procfs;             /* it shows the pids that tracefs has */
	size_t pruned;          /* names that were left when the dead were dropped */
	unsigned own;           /* events that tell names and were enabled by us */
	int failed;             /* memory ran out: a format is missing, or more */
};

/*
 * Learn how the instance prints and which events it records. 0; 1, silent: it
 * prints in a way that only the kernel knows (another tracer, an option that
 * changes lines), and only fields can be had.
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
 * short it lives. With enable those events are enabled for that; where that
 * cannot be, nothing happens, without a word.
 */
void kernel_names_begin(struct kernel *, int enable);
void kernel_names_end(struct kernel *);

#endif
