/* SPDX-License-Identifier: ISC */
/*
 * perfetto.h - write a trace of Perfetto: a stream of messages of protocol buffers
 *
 * The schema is protos/perfetto/trace/trace.proto; t/data/perfetto.proto has the part of it that
 * is written.
 */
#ifndef PERFETTO_H
#define PERFETTO_H

#include "packet.h"
#include "event/event.h"
#include "tracedat/tracedat.h"

/* ---- ftrace.c: the records of a trace.dat -------------------------------------------------- */

/*
 * Convert a file whose head is read, and close it. ahead: by how much its clock is ahead of that of
 * the first machine, in ns. Return the exit status; REFUSED, reported, if something is unreadable.
 */
int perfetto_file(struct dat *, int64_t ahead);

/* ---- tracks.c: event lines as slices, arrows, counters and instants -------------------- */

/* The end of the name of an event that writes markers of Android, such as B|PID|NAME. */

/* Convert the trace on standard input. Return the exit status. */
int perfetto_lines(void);

#endif
