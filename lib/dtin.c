/* SPDX-License-Identifier: ISC */
/* dtin.c - programs of what comes: marked bytes, and who reads them */
#include "dtprog.h"

enum { LISTEN = 10 };           /* of a socket (include/net/tcp_states.h) */
enum { SYN = 2, ACCEPT = 1 };

/* Fields of struct bpf_sock and bpf_tcp_sock (uapi/linux/bpf.h). */
enum { SOCK_STATE = 72, TCP_RCV_NXT = 16 };

/* The windows that receivers offer end long before; a stranger's guess hardly. */
enum { WINDOW_MOST = 1 << 26 };

/* What was read so long ago is forgotten. */
enum { FAR = 1 << 30 };

/* So often a range is tried to be changed that others change meanwhile. */
enum { TRIES = 4 };

/* The range of the struct dt_received is the register's, if it is R0; R0 = what it was. */
static void put_range(struct code *c, const struct dt_plan *p, enum reg at, enum reg from)
{
	if (p->plain)
		store(c, U64, at, offsetof(struct dt_received, range), from);
	else
		exchange(c, at, offsetof(struct dt_received, range), from);
}

/*
 * The bytes from R7 to R9 are marked in the struct dt_received at R6, to out then.
 * Segments of one socket may be here on several processors at once. Of a range that
 * all was read of a new one begins; else it grows at either side, as they may be out
 * of order. R6, R7 and R9 stay.
 */
static void grow(struct code *c, const struct dt_plan *p, int labels, int out)
{
	int earlier = labels, done = labels + 1;

	load(c, U64, R8, R6, offsetof(struct dt_received, range));
	compute32(c, SET, R4, R9);
	compute32(c, SET, R5, R7);
	compute(c, SET, R3, R8);
	compute_number(c, RIGHT, R3, 32);
	load(c, U32, R2, R6, offsetof(struct dt_received, read));
	jump_if_before(c, R2, R3, AT_LEAST, done);
	compute32(c, SET, R2, R8);
	jump_if_before(c, R5, R2, AT_MOST, earlier);
	compute32(c, SET, R5, R2);
	label(c, earlier);
	jump_if_before(c, R4, R3, AT_LEAST, done);
	compute32(c, SET, R4, R3);
	label(c, done);
	compute_number(c, LEFT, R4, 32);
	compute(c, OR_, R4, R5);
	compute(c, SET, R0, R8);
	put_range(c, p, R6, R4);
	jump_if(c, R0, IS, R8, out);
}

/*
 * A packet has come for a socket (a cgroup's ingress: behind the firewall, before
 * TCP has looked at it). It only says which bytes are marked. What TCP will not
 * take, as it has it or could not place it, must not count.
 */
void dt_rx(struct code *c, const struct dt_plan *p)
{
	enum { OUT, V6, TCP_HEADER, STRANGER, CHILD, V6_FROM, KNOWN, ADD, KNOWN_SOCKET, TRY };

	compute(c, SET, R6, R1);
	compute_number(c, SET, R7, 0);
	tcp_data(c, V6, TCP_HEADER, OUT);
	load(c, U8, R1, FP, HEADER + 12);
	compute_number(c, AND_, R1, MARK);
	jump_if_number(c, R1, IS, 0, OUT);
	load(c, U8, R1, FP, HEADER + 13);
	compute_number(c, AND_, R1, SYN);
	jump_if_number(c, R1, IS_NOT, 0, OUT);

	/* whose marks are believed: a network of IPv6, where IPv4 is ::ffff:0:0/96 */
	store_number(c, U32, FP, NETWORK, 128);
	load(c, U8, R1, FP, IP);
	compute_number(c, RIGHT, R1, 4);
	jump_if_number(c, R1, IS, 6, V6_FROM);
	store_number(c, U32, FP, NETWORK + 4, 0);
	store_number(c, U32, FP, NETWORK + 8, 0);
	store_number(c, U16, FP, NETWORK + 12, 0);
	store_number(c, U16, FP, NETWORK + 14, 0xffff);
	load(c, U32, R1, FP, IP + 12);
	store(c, U32, FP, NETWORK + 16, R1);
	jump(c, KNOWN);
	label(c, V6_FROM);
	for (int i = 0; i < 16; i += 4) {
		load(c, U32, R1, FP, IP + 8 + i);
		store(c, U32, FP, NETWORK + 4 + i, R1);
	}
	label(c, KNOWN);
	lookup(c, p->from, NETWORK);
	jump_if_number(c, R0, IS, 0, STRANGER);

	/* R9 = end, R7 = start, in the order of this machine */
	load(c, U32, R7, FP, HEADER + 4);
	from_network(c, R7, 32);
	compute32(c, PLUS, R9, R7);
	load(c, U64, R1, R6, SKB_SK);
	jump_if_number(c, R1, IS, 0, OUT);
	call(c, SK_FULLSOCK);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R6, R0);
	compute(c, SET, R1, R0);
	socket_key(c, p, offsetof(struct dt_state, socket_in), OUT);
	load(c, U32, R1, R6, SOCK_STATE);
	jump_if_number(c, R1, IS, LISTEN, CHILD);
	compute(c, SET, R1, R6);
	call(c, TCP_SOCK);
	jump_if_number(c, R0, IS, 0, OUT);
	load(c, U32, R6, R0, TCP_RCV_NXT);
	/* a duplicate; out of the window; one that overlaps what is here begins behind it */
	jump_if_before(c, R9, R6, AT_MOST, OUT);
	compute32(c, SET, R1, R7);
	compute32(c, MINUS, R1, R6);
	jump_if_number32(c, R1, MORE, WINDOW_MOST, OUT);
	jump_if_number32(c, R1, AT_LEAST, 0, ADD);
	compute32(c, SET, R7, R6);
	label(c, ADD);
	compute_number(c, SET, R1, 1);
	add_to(c, R8, offsetof(struct dt_state, marked_in), R1);

	lookup(c, p->received, SOCKET);
	jump_if_number(c, R0, IS_NOT, 0, KNOWN_SOCKET);
	begin_received(c, R7, R9, R6);
	add(c, p->received, SOCKET);
	jump_if_number(c, R0, IS, 0, OUT);
	lookup(c, p->received, SOCKET);
	jump_if_number(c, R0, IS, 0, OUT);
	label(c, KNOWN_SOCKET);
	compute(c, SET, R6, R0);
	for (int i = 0; i < TRIES; i++)
		grow(c, p, TRY + 2 * i, OUT);
	leave(c, ACCEPT);

	/* data with the last of a handshake: the socket is not yet there (dt_state) */
	label(c, CHILD);
	store(c, U32, R8, offsetof(struct dt_state, child_start), R7);
	store(c, U32, R8, offsetof(struct dt_state, child_end), R9);
	compute_number(c, SET, R1, 1);
	add_to(c, R8, offsetof(struct dt_state, marked_in), R1);
	leave(c, ACCEPT);

	label(c, STRANGER);
	count(c, p, offsetof(struct dt_state, refused), OUT);
	label(c, OUT);
	leave(c, ACCEPT);
}

/*
 * R8 = the socket of R6 if a request came on it; if an answer did, the socket of the
 * request that was passed on here, as long as nothing was sent to that one; 0: not known.
 * Not for the rules of the module. To the labels, six from the first on.
 */
static void whose(struct code *c, const struct dt_plan *p, int labels)
{
	enum { SEEN, PUT, REQUEST, OPENED, UNKNOWN, KNOWN };

	lookup(c, p->sent, SOCKET);
	jump_if_number(c, R0, IS_NOT, 0, labels + SEEN);
	begin_older(c, p);
	jump_if_number(c, R9, IS, 0, labels + PUT);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_PASSIVE);
	label(c, labels + PUT);
	add(c, p->sent, SOCKET);
	lookup(c, p->sent, SOCKET);
	jump_if_number(c, R0, IS, 0, labels + UNKNOWN);
	label(c, labels + SEEN);
	compute(c, SET, R7, R0);
	load(c, U32, R1, R7, offsetof(struct dt_sent, flags));
	jump_if_number(c, R1, HAS, SENT_PASSIVE, labels + REQUEST);
	load(c, U64, R8, R7, offsetof(struct dt_sent, tag));
	jump_if_number(c, R8, IS, 0, labels + OPENED);
	store(c, U64, FP, WORD, R8);
	lookup(c, p->sent, WORD);
	jump_if_number(c, R0, IS, 0, labels + OPENED);
	load(c, U32, R1, R0, offsetof(struct dt_sent, asked));
	jump_if_number(c, R1, IS_NOT, 0, labels + KNOWN);
	label(c, labels + OPENED);
	load(c, U32, R1, R7, offsetof(struct dt_sent, flags));
	jump_if_number(c, R1, HAS, SENT_ACTIVE, labels + UNKNOWN);
	store_number(c, U32, R7, offsetof(struct dt_sent, asked), 1);
	label(c, labels + UNKNOWN);
	compute_number(c, SET, R8, 0);
	jump(c, labels + KNOWN);
	label(c, labels + REQUEST);
	store_number(c, U32, R7, offsetof(struct dt_sent, asked), 1);
	compute(c, SET, R8, R6);
	label(c, labels + KNOWN);
}

/*
 * A thread has read from a socket (tcp_rcv_space_adjust, once for each part that
 * was copied): do the bytes from read to copied_seq meet the marked ones? A peek
 * does not come here; splice(2) does also when there was nothing.
 */
void dt_read(struct code *c, const struct dt_plan *p)
{
	enum { OUT, UNMARKED, FIRST, TRACED, FRESH, OWN, KEEP, ELSEWHERE, PASSED, WHOSE };
	enum { BEFORE = NETWORK };

	socket_argument(c, 0);
	who(c, p);
	lookup(c, p->received, SOCKET);
	jump_if_number(c, R0, IS, 0, UNMARKED);
	compute(c, SET, R7, R0);
	field(c, U32, R9, R6, p->copied_seq);
	load(c, U32, R8, R7, offsetof(struct dt_received, read));
	jump_if(c, R8, IS, R9, OUT);
	/* once all is read, dt_rx may begin another range at any moment: what was, first */
	load(c, U64, R2, R7, offsetof(struct dt_received, range));
	compute32(c, SET, R3, R2);
	compute_number(c, RIGHT, R2, 32);
	store(c, U32, R7, offsetof(struct dt_received, read), R9);
	jump_if_before(c, R8, R2, AT_LEAST, PASSED);
	jump_if_before(c, R9, R3, AT_MOST, UNMARKED);
	/* R8 = the first marked byte of these; BEFORE: whether others were read before */
	compute32(c, SET, R1, R8);
	compute32(c, MINUS, R1, R3);
	store(c, U32, FP, BEFORE, R1);
	jump_if_number32(c, R1, AT_LEAST, 0, FIRST);
	compute32(c, SET, R8, R3);
	label(c, FIRST);
	message(c, p, R8, 0);
	if (!(p->flags & DT_MODULE))
		whose(c, p, WHOSE);

	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS_NOT, 0, TRACED);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * The answer to a request of ours that was not marked: its own mark
		 * came back through the peer, and would go on for ever.
		 */
		lookup(c, p->sent, SOCKET);
		jump_if_number(c, R0, IS, 0, FRESH);
		load(c, U32, R1, R0, offsetof(struct dt_sent, flags));
		compute_number(c, AND_, R1, SENT_ACTIVE | SENT_EVER);
		jump_if_number(c, R1, IS, SENT_ACTIVE, OUT);
		label(c, FRESH);
	}
	begin_value(c);
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, tag), R6);
	if (!(p->flags & DT_MODULE)) {
		jump_if_number(c, R8, IS, 0, OWN);
		store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, tag), R8);
		label(c, OWN);
	}
	load(c, U64, R1, FP, MESSAGE);
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, key), R1);
	update(c, p->pids, WHO);
	jump_if_number(c, R0, IS_NOT, 0, OUT); /* no room */
	tell(c, p, 'B');
	count(c, p, offsetof(struct dt_state, windows), OUT);
	leave(c, 0);

	label(c, TRACED);
	compute(c, SET, R7, R0);
	load(c, U32, R1, FP, BEFORE);
	jump_if_number32(c, R1, MORE, 0, OUT); /* the same message goes on */
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if_number(c, R1, IS, 0, KEEP);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * An event loop takes the next request before the last was answered, or
		 * goes on with an earlier one.
		 */
		jump_if_number(c, R8, IS, 0, KEEP);
		jump_if(c, R1, IS, R8, KEEP);
		store(c, U64, R7, offsetof(struct dt_task, tag), R8);
		load(c, U64, R1, FP, MESSAGE);
		store(c, U64, R7, offsetof(struct dt_task, key), R1);
		tell(c, p, 'B');
		leave(c, 0);
	}
	label(c, KEEP);
	tell(c, p, 'R');
	leave(c, 0);

	label(c, PASSED);
	/* far behind: the numbers will come around to it */
	load(c, U64, R0, R7, offsetof(struct dt_received, range));
	compute(c, SET, R2, R0);
	compute_number(c, RIGHT, R2, 32);
	compute32(c, SET, R1, R9);
	compute32(c, MINUS, R1, R2);
	jump_if_number32(c, R1, LESS, FAR, UNMARKED);
	compute(c, SET, R2, R9);
	compute_number(c, LEFT, R2, 32);
	compute(c, OR_, R2, R9);
	put_range(c, p, R7, R2);

	label(c, UNMARKED);
	if (!(p->flags & DT_MODULE)) {
		/*
		 * An event loop turns to somebody else's request. Not so when this is
		 * the answer to a marked request of ours, of a peer without a probe.
		 */
		lookup(c, p->pids, WHO);
		jump_if_number(c, R0, IS, 0, OUT);
		compute(c, SET, R7, R0);
		load(c, U64, R1, R7, offsetof(struct dt_task, tag));
		jump_if_number(c, R1, IS, 0, OUT);
		lookup(c, p->sent, SOCKET);
		jump_if_number(c, R0, IS, 0, ELSEWHERE);
		compute(c, SET, R8, R0);
		field(c, U32, R9, R6, p->copied_seq);
		load(c, U32, R1, R8, offsetof(struct dt_sent, copied));
		jump_if(c, R1, IS, R9, OUT);
		store(c, U32, R8, offsetof(struct dt_sent, copied), R9);
		load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
		compute_number(c, AND_, R1, SENT_ACTIVE | SENT_OPEN);
		jump_if_number(c, R1, IS, SENT_ACTIVE | SENT_OPEN, OUT);
		label(c, ELSEWHERE);
		end_window(c, p);
	}
	label(c, OUT);
	leave(c, 0);
}
