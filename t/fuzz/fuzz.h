/* SPDX-License-Identifier: ISC */
/*
 * fuzz.h - what the harnesses share
 *
 * A harness is one file with one LLVMFuzzerTestOneInput: a parser, and what
 * must be true of its answer whatever it was given. What must be true is told
 * by an oracle that was written without a look at the parser, where there can
 * be one.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "view/view.h"
#include "filter/filter.h"
#include "flight/flight.h"
#include "blktrace/blktrace.h"
#include "bpf/bpf.h"
#include "requests/requests.h"
#include "session/session.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* It must be true: say what is not, to the real stderr, and abort. */
#define must(truth) ((truth) ? (void)0 : untrue(__FILE__, __LINE__, #truth))
_Noreturn void untrue(const char *file, int line, const char *what);

/* The next part of the input, up to a NUL or its end, in memory of its own. */
char *next_part(const uint8_t **data, size_t *size);

/* A directory of our own in memory, in $FUZZ_DIR; path is below it. */
const char *place(void);
void put_file(const char *path, const void *text, size_t n);

/* Make procfs of a few tasks there, and a tracing directory of a few files. */
enum { ALIVE = 42, ALSO_ALIVE = 1, ZOMBIE = 7, ZOMBIE_WITH_THREADS = 8 };
void prepare_procfs(void);
int prepare_tracing(void);

/* From listen on, what is written to stderr; heard gives it, NUL-terminated. */
void listen_to_stderr(void);
const char *heard(size_t *len);

/* The result of a function that says why on -1: one line then, else none. */
void must_be_said(int result);

/* Is s a value that the option may have? Told without request.c. */
int valid(const struct hook_option *o, const char *s);

/* What must be true of a hook, a request, once they are accepted. */
void check_hook(const struct hook *r);
void check_request(const struct request *rq);

int lives(const char *pid); /* in the procfs of the harnesses */
void free_request(struct request *rq);

#endif
