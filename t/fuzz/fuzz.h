/* SPDX-License-Identifier: ISC */
/*
 * fuzz.h - functions that the harnesses share
 *
 * A harness is one file with one LLVMFuzzerTestOneInput: it calls a parser, and checks
 * what must be true of the result for any input. If possible an oracle decides that,
 * which was written without reading the parser.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "proc/proc.h"
#include "elf/elf.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "calls/calls.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "show/show.h"
#include "seen/seen.h"
#include "flight/flight.h"
#include "block/blktrace.h"
#include "bpf/bpf.h"
#include "requests/requests.h"
#include "session/session.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check a condition. If it is false, name it on the real stderr and abort. */
#define must(truth) ((truth) ? (void)0 : untrue(__FILE__, __LINE__, #truth))
_Noreturn void untrue(const char *file, int line, const char *what);

/* Return the next part of the input, up to a NUL or its end, in memory of its own. */
char *next_part(const uint8_t **data, size_t *size);

/* Return a copy in memory of exactly n bytes, so that ASan sees what is read after it. */
void *copy_of(const void *data, size_t n);

/* Put the input into a file in memory, always the same; return its descriptor. */
int memory_file(const uint8_t *data, size_t size);
extern char memory_path[64];

/* Return the path of a file in the harness's own directory $FUZZ_DIR, which is in memory. */
const char *place(void);
void put_file(const char *path, const void *text, size_t n);

/* Make a procfs of a few tasks there, and a tracing directory of a few files. */
enum { ALIVE = 42, ALSO_ALIVE = 1, ZOMBIE = 7, ZOMBIE_WITH_THREADS = 8 };
void prepare_procfs(void);
int prepare_tracing(void);

/* Capture stderr from listen on; heard returns the text, NUL-terminated. */
void listen_to_stderr(void);
const char *heard(size_t *len);

/* Check the output of a function that reports -1: one line for -1, otherwise none. */
void must_be_said(int result);

/* Check a character, which is inside its text; go to the next one. */
uint32_t must_be_utf8(const unsigned char **at, const unsigned char *end);

/* Check that a text is one value of RFC 8259, in UTF-8, of at most depth values in each other. */
void must_be_json(const char *text, size_t n, int depth);

/* Return 1 if the option may have the value s, decided without request.c. */
int valid(const struct opt *o, const char *s);

/* Check what must be true of an accepted hook, or of a request. */
void check_hook(const struct hook *r);
void check_request(const struct request *rq);

int lives(const char *pid); /* in the procfs of the harnesses */
void free_request(struct request *rq);

#endif
