/* SPDX-License-Identifier: ISC */
/* packet.h - messages of protocol buffers, on standard output */
#ifndef PACKET_H
#define PACKET_H

#include "base/base.h"

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

/* Is it time to write the packets? */
int packets_full(void);

/* Write the packets. */
void packets_write(void);

#endif
