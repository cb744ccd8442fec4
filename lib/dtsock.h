/* SPDX-License-Identifier: ISC */
/*
 * dtsock.h - who serves a request that is followed, told by what sockets do
 *
 * Of one host: bytes that a followed thread sends are marked, at the place that they have
 * in their connection. Who reads some of them is followed from there on, which is its
 * window, until it has sent on the socket that they came by, or, if they answer a part of
 * a request, on the socket that the request came by. So
 *	tcp:tcp_sendmsg_locked     a thread begins to send; it says not by which socket
 *	sock:sock_send_length      and has sent so many bytes by this one
 *	sock:sock_recv_length      it has read so many bytes
 *	tcp:tcp_rcv_space_adjust   it reads: which connection a socket is an end of
 *	sock:inet_sock_set_state   a connection is made
 *	tcp:tcp_destroy_sock       a socket is gone
 * with all their fields, in the order of time.
 */
#ifndef DTSOCK_H
#define DTSOCK_H

#include "filter.h"
#include "tfs.h"

enum sock_event {
	SOCK_NONE, SOCK_SENDS, SOCK_SENT, SOCK_RECEIVED, SOCK_READS, SOCK_STATE, SOCK_GONE,
	SOCK_EVENTS
};

/* Which of them an event is. */
enum sock_event sock_event(const struct trace_line *);

/*
 * What a thread sends with one call: known when it is over, and done when it begins,
 * since others may have read it before. All zero at first.
 */
struct send {
	int over;               /* so socket and n are known */
	char socket[24];
	int64_t n;              /* bytes; an error is less than none */
	int marked, counted, under_way;
	char asker[24];         /* if it is marked: the socket of the request that it is for */
};

struct sockets {
	const struct pids *always;      /* threads that are followed, but have no window */
	struct table sockets, flows, threads;
	struct words key;
	size_t under_way;
	int seen[SOCK_EVENTS], full;
	unsigned long long windows;
};

void sockets_begin(struct sockets *, const struct pids *always);

int sockets_follow(const struct sockets *, uint64_t who);

/* What the end of a send tells of it. */
void send_is_over(struct send *, const struct trace_line *);

/*
 * The event is done by the thread, or group. A beginning send comes with its struct, or
 * NULL if it began before, and its end with the same, or NULL if the beginning is not
 * known. Does its line belong to something followed? More than 1: it was the last one.
 */
int sockets_take(struct sockets *, enum sock_event, const struct trace_line *, uint64_t who,
		 struct send *);

/* What was lost may have changed everything. How many windows that has closed. */
size_t sockets_forget(struct sockets *);

#endif
