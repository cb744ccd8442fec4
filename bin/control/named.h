/* SPDX-License-Identifier: ISC */
/* named.h - find the file that a name means, whichever files and tasks do not answer */
#ifndef NAMED_H
#define NAMED_H

#include "base/base.h"
#include "proc/proc.h"

/* ---- named.c: find the file that a name means ---------------------------------------- */

/*
 * Print the path of an absolute FILE without links; or the kernel's way to the file that is called
 * so, as a library is, among those that the tasks execute, and its path. Return the exit status,
 * reported: MISUSED if the path has control characters, or several files are called so.
 */
int named_file(const char *name, const struct pids *tasks);

#endif
