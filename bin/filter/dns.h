/* SPDX-License-Identifier: ISC */
/* dns.h - DNS messages, and the calls that send and receive them */
#ifndef DNS_H
#define DNS_H

#include "base/base.h"
#include "lines/lines.h"

/* ---- dns_message.c: read a message (RFC 1035, RFC 6891) ---------------------------------- */

enum { DNS_LEAST = 12, DNS_MOST = 65535 }; /* bytes of a message */

/* All zero at first; the strings are used again. */
struct dns_message {
	unsigned id, type, class, answers;
	unsigned code;          /* of an answer, with the bits of EDNS */
	int response, truncated; /* truncated: the server says so */
	int cut;                /* the rest could not be read: bytes are missing or make no sense */
	struct strbuf name;     /* of the question, as in a zone file: \. and \009 */
	struct strbuf addresses; /* of the answer, with commas between */
};

/*
 * Read a message, of which n bytes are known. They come from a stranger. Return 1, or 0 if it is no
 * message of DNS with one question.
 */
int dns_read(struct dns_message *, const unsigned char *, size_t n);

/* Return the name of a type or code, in room for DNS_WORD bytes if it has none. */
enum { DNS_WORD = 16 };
const char *dns_type(unsigned, char *room);
const char *dns_code(unsigned, char *room);

/* ---- dns_call.c: the bytes that a call sends or receives ---------------------------------- */

/* A socket address of IPv4 or IPv6; port 0: not known */
struct dns_peer {
	char ip[48];
	unsigned port;
};

/* A datagram, or what a call writes to or reads from a stream */
struct dns_piece {
	size_t at, n;           /* of dns_call.bytes */
	size_t whole;           /* its length; more than n if the trace has only a part */
	struct dns_peer peer;
};

/* All zero at first; the members are used again. */
struct dns_call {
	enum { DNS_SENDS = 1, DNS_RECEIVES, DNS_CLOSES, DNS_CONNECTS } does;
	int stream;             /* the socket is one of TCP */
	unsigned fd;
	struct text_part socket; /* its addresses as --names prints them; text lies in line */
	struct text_part local; /* the part of it before ->; empty: it has no port yet */
	struct dns_peer peer;   /* of the socket */
	int64_t result;         /* below 0: it failed */
	int peeks, resolves;    /* MSG_PEEK; DNS_CONNECTS: to a service that resolves names */
	struct dns_piece *pieces;
	size_t npieces;
	struct strbuf bytes;

	/* private */
	size_t room;
	struct strbuf line, text;
};

/*
 * Take a decoded call of a socket of UDP or TCP with names. Return 1, or 0 for another event.
 */
int dns_call(struct dns_call *, const struct seen *);

#endif
