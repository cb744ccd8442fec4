/* SPDX-License-Identifier: ISC */
/* call_sums.h - system calls added up in BPF maps: numbers, errors, durations */
#ifndef CALL_SUMS_H
#define CALL_SUMS_H

#include "base/base.h"

/* What one CPU has added up of the calls of one name. A program finds it by a shift. */
struct call_sums {
	uint64_t ns;                    /* of the timed calls */
	uint64_t untimed;               /* calls whose duration is not known */
	uint64_t buckets[METRICS_BUCKETS + 1]; /* timed calls: metrics_bucket */
	uint64_t pad[30 - METRICS_BUCKETS - 1];
};

/* What the sums lack: calls that were not counted, and calls or errors for which a map is full */
struct call_lacks {
	uint64_t lost, tasks_full, errors_full;
};

/* An error of calls, the key of the map of errors */
struct call_error {
	uint32_t name, error;
};

enum { SUMS_NAMES = 1024 };             /* names of calls, and "other" */

struct call_totals {
	const char *names[SUMS_NAMES];  /* the first n are in use; the first ones were given */
	unsigned n, given;
	int errors;                     /* the map of struct call_error and uint64_t */
	const struct call_sums *sums;   /* CPU i has those from i * room on */
	unsigned cpus, room;
	const struct call_lacks *lacks;
};

/*
 * Attach programs that add up these calls of all tasks, up to NULL; none: all calls. The programs
 * stay while this process lives. Return 0, or -1, reported.
 */
int sums_attach(struct call_totals *, char *const *names);

#endif
