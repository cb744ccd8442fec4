/* SPDX-License-Identifier: ISC */
/* named.h - find the file that a name means, even if some files or tasks do not answer */
#ifndef NAMED_H
#define NAMED_H

#include "base/base.h"
#include "proc/proc.h"

/* ---- named.c: find the file that a name means ---------------------------------------- */

/*
 * For an absolute path, print it without links. For a name, such as that of a library, find the
 * file that the tasks execute under this name, and print procfs's path to it, and its own path.
 * Return the exit status, reported: MISUSED if the path has control characters, or if several
 * files have the name.
 */
int named_file(const char *name, const struct pids *tasks);

#endif
