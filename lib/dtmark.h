/* SPDX-License-Identifier: ISC */
/*
 * dtmark.h - the lines that the programs of a probe write into a trace
 *
 * Of bpf_trace:bpf_trace_printk, one of these each:
 *	dtB ID TID KEY    a window begins: the thread has read marked bytes
 *	dtR ID TID KEY    one that was traced already has read marked bytes
 *	dtM ID TID KEY    a traced thread begins to send marked bytes
 *	dtE ID TID KEY    the window that began with this key ends
 * ID and KEY in hex, TID decimal; it is a thread group where the probe counts by them.
 */
#ifndef DTMARK_H
#define DTMARK_H

#include "traceline.h"

struct dt_mark {
	char what;              /* B, R, M or E */
	uint64_t id, tid, key;
};

/* The event is one: 1, or 0. Silent. */
int dt_mark(struct dt_mark *, const struct trace_line *);

/* All of it is a number, decimal or hex without 0x, of no more than 64 bits: 0, or -1. */
int part_number(struct part, unsigned base, uint64_t *n);

#endif
