/* SPDX-License-Identifier: ISC */
/*
 * diff.h - private to tfs-diff: what recordings have, and what differs between two sets of them
 *
 * A key names what is counted in each recording: a letter for its kind, a verb or a group, a tab,
 * and a subject. If the subjects are paths, one line may tell several keys of a kind and a group.
 */
#ifndef DIFF_H
#define DIFF_H

#include "base/base.h"

/* In the order in which differences of equal surprise are told. diff_kinds has their names. */
enum diff_kind {
	DIFF_PROGRAMS, DIFF_CONNECTIONS, DIFF_FILES, DIFF_FAILURES, DIFF_ERRORS, DIFF_WAITS,
	DIFF_TIMES, DIFF_CALLS, DIFF_EVENTS, DIFF_LINES, DIFF_KINDS,
	DIFF_STACKS = DIFF_KINDS        /* of waits, for a flame graph; never judged */
};

extern const char diff_kinds[][12];

/* The most recordings of one side that count for a key, and the most in all. */
enum { DIFF_MOST = 20, DIFF_FILES_MOST = 8 * DIFF_MOST };

/* ---- diff_keys.c: what one recording has, in a child process ------------------------------ */

/*
 * Read the recording, and print its keys of the wanted kinds (a bit each) to standard output: first
 * a line "!KINDS LOST", the kinds that it has and whether events were lost, then lines "N KEY".
 * Times are in ns. Return the exit status.
 */
struct tool;
int diff_read(const struct tool *, const char *path, unsigned wanted);

/*
 * Make the key of a line of tfs-why -f, a;b;c MICROSECONDS. If whole is set, the key has the whole
 * stack, otherwise the task, the cause and the waker of its first wait. Set *ns. Return 0 if the
 * line has another form.
 */
int diff_wait(struct strbuf *key, const char *line, int whole, uint64_t *ns);

/* ---- diff_normal.c: text without what differs from run to run ----------------------------- */

/* Note the pid of a task of the trace: its number in a path or a text differs from run to run. */
void diff_pid(struct text_part pid);

/* Append a path. made: the file is new, so that its name may be a temporary one. */
void diff_path(struct strbuf *, struct text_part path, int made);

/* Append other text: of a decoded call, or what a task waits for. */
void diff_text(struct strbuf *, struct text_part);

/* ---- diff_rank.c: is a difference greater than the noise? ---------------------------------- */

/*
 * Return the probability that the numbers of before and after, together at most 2 * DIFF_MOST,
 * differ so much by chance: by the two-sided test of Mann and Whitney, with the exact distribution
 * of the ranks, ties included. Return 1 if they differ by less than two standard deviations.
 */
double diff_rank(const uint64_t *before, size_t nbefore, const uint64_t *after, size_t nafter);

/* ---- diff_print.c: the differences -------------------------------------------------------- */

/* A key, and its numbers in the recordings. */
struct diff_item {
	struct table_entry entry;
	uint64_t *v;            /* one for each recording */
	double p;               /* of diff_rank, unless there are too few recordings */
	uint64_t before, after; /* medians */
	uint8_t judged, changed;
};

struct diff_form {
	int json;
	const char *accepted;   /* the text of the file of accepted changes; NULL: none */
};

/* Print the changed ones of n items. Return how many lines are not accepted. */
size_t diff_print(struct diff_item **, size_t n, const struct diff_form *);

/* ---- diff_record.c: recordings of runs ----------------------------------------------------- */

/*
 * Run each command once with each hook, in turn, and repeat this runs times. Record each run to a
 * file in DIR/before or DIR/after; with a single command, in DIR. There must be no files yet.
 * Commands and hooks are vectors of words; NULL ends each vector, and the list of vectors. Return
 * DONE, or REFUSED, reported.
 */
int diff_record(const char *dir, unsigned long runs, char ***hooks, char ***commands);

/* Remove the recordings that diff_record made of two commands, and their directory, silent. */
void diff_remove(const char *dir);

#endif
