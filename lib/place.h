/* SPDX-License-Identifier: ISC */
/*
 * place.h - a file that appears whole, in its place, or not at all
 *
 * While it is made it has no name, so it is gone when we are. Where a file without a
 * name cannot get one, it is made under another: .PROGRAM.PID, beside its place.
 */
#ifndef PLACE_H
#define PLACE_H

#include "tfs.h"

struct place {
	unsigned long files;    /* the caller's: to keep, NAME.1 and so on; 0: no other */
	const char *path, *name; /* as the caller has it, and its last part */
	int dir;                /* where that is */
	int named;              /* files without a name cannot get one there */
};

/*
 * Where path will be, and that nothing is there which is no earlier file. path stays
 * the caller's. Exits MISUSED, with the tool's synopsis, or REFUSED.
 */
void place_find(struct place *, const struct tool *, const char *path);

/* A file that is gone when we are, empty, on the same disk. -1 and errno, silent. */
int place_scratch(const struct place *);

/* Find out, by one of them, whether such a file can get a name. Once, at first. */
void place_try(struct place *, int scratch);

/* A file for place_publish, where no scratch file is to be it. -1 and errno, silent. */
int place_make(const struct place *);

/*
 * Move the files that are finished one further, and put this one in front. -1 said;
 * place_drop then.
 */
int place_publish(const struct place *, int fd);

/* The file that was made is to have no name. */
void place_drop(const struct place *);

/* Remove the file NAME.i, if there is one. -1 said. */
int place_remove(const struct place *, unsigned long i);

#endif
