/* SPDX-License-Identifier: ISC */
/*
 * perfetto.h - write a trace of Perfetto: a stream of messages of protocol buffers
 *
 * The schema is protos/perfetto/trace/trace.proto; t/data/perfetto.proto has the part of it that
 * is written.
 */
#ifndef PERFETTO_H
#define PERFETTO_H

#include "event/event.h"
#include "tracedat/tracedat.h"

/* ---- packet.c: messages and packets ---------------------------------------------------- */

enum {
	PACKETS_FULL = 64 * 1024,       /* bytes of packets, before they are written */
	PACKET_MOST = 96 * 1024,        /* bytes of a packet; fields beyond that are left out */
	PACKET_TAIL = 64,               /* bytes after a packet for what ends its messages */
	PACKET_NAME = 256,              /* bytes of a name that are written */
	PACKET_TEXT = 8192,             /* and of a text */
};

/* The packets that are not written yet. A field is cut where packets.o ends. */
extern struct packets {
	struct out o;                   /* in the buffer of packet.c */
	unsigned machine;               /* of the next packets */
	char *open[8];                  /* where the messages that are open begin */
	unsigned depth;                 /* their number */
} packets;

/* Begin a message or a string. proto_end ends it. */
void proto_begin(unsigned field);
void proto_end(void);

void proto_varint(unsigned field, uint64_t v);

/* Write a string; bytes that are no UTF-8 become U+FFFD. */
void proto_string(unsigned field, const void *text, size_t n);

/*
 * Write fields. In form, a field is its number and a letter: u for a number of 64 bits, f for one
 * of fixed width, s for a name, p for a pointer to a struct text_part, or { for a message, which
 * } ends. The values follow. A point ends the packet, writes the packets if there are enough of
 * them, and exits REFUSED on an error.
 */
void proto_put(const char *form, ...);

/* Is it time to end the packet? */
int packets_full(void);

/* Write the packets. */
void packets_write(void);

/* ---- ftrace.c: the records of a trace.dat -------------------------------------------------- */

/*
 * Convert a file whose head is read, and close it. ahead: by how much its clock is ahead of that of
 * the first machine, in ns. Return the exit status; REFUSED, reported, if something is unreadable.
 */
int perfetto_file(struct dat *, int64_t ahead);

/* ---- tracks.c: event lines as slices, arrows, counters and instants -------------------- */

/* The end of the name of an event that writes markers of Android, such as B|PID|NAME. */
#define MARKER_EVENT "mark_write"

/* Convert the trace on standard input. Return the exit status. */
int perfetto_lines(void);

#endif
