/* SPDX-License-Identifier: ISC */
/*
 * dtprog.c - the programs that carry the mark from socket to thread to socket
 *
 * The mark is the bit 0x08 of byte 12 of the TCP header, reserved by RFC 9293. It
 * is not on a connection but on bytes of it, by sequence number:
 *
 *	a traced thread sends      dt_send: the bytes from write_seq on are marked
 *	they leave, or leave again dt_egress: segments that meet them carry the bit
 *	they come                  dt_rx: the socket has marked bytes from seq to end
 *	a thread reads them        dt_read: it is traced, on behalf of that socket
 *	it answers there           dt_end: it is traced no more
 *
 * What is sent is never looked up by the task that runs when a segment leaves:
 * mostly that is whoever the processor was with when an acknowledgement came.
 * Sockets are known by their address. Sequence numbers wrap, so they are compared
 * by the sign of their difference, and a range that everybody has is forgotten
 * before the numbers come around.
 *
 * A program that is run a second time for the same event changes nothing. From
 * Linux 6.19 on a thread may lose the processor in a tracepoint, and whoever comes
 * there next is left out by the kernel, which takes him for a recursion: dt-probe
 * loads those of tracepoints several times.
 */
#include <endian.h>
#include <string.h>
#include <sys/syscall.h>

#include "dt.h"

/* Of a socket (include/net/tcp_states.h). */
enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, FIN_WAIT1 = 4, CLOSED = 7, LAST_ACK = 9,
       LISTEN = 10 };

/* Fields of struct __sk_buff, bpf_sock and bpf_tcp_sock (uapi/linux/bpf.h). */
enum { SKB_LEN = 0, SKB_SK = 168, SOCK_STATE = 72, TCP_RCV_NXT = 16 };

enum { CONTINUE = -1, ACCEPT = 1 };  /* of a device's program; of a cgroup's */
enum { MARK = 8, SYN = 2, HOP_BY_HOP = 0, TCP = 6 };
enum { ETHERNET = 14 };

/* The windows that receivers offer end long before; a stranger's guess hardly. */
enum { WINDOW_MOST = 1 << 26 };

/* The stack of each program, from FP downwards. */
enum {
	SOCKET = -8,            /* u64: the socket, a map's key */
	WHO = -16,              /* u32: the thread, a map's key */
	MESSAGE = -24,          /* u64: KEY of what is told */
	WORD = -32,             /* what is read from the kernel, or to be written */
	VALUE = -80,            /* a map's new value */
	TEXT_AT = -96,          /* what is printed */
	IP = -120,              /* the first 24 bytes of an IP header */
	HEADER = -136,          /* the first 16 of a TCP header */
	NETWORK = -160,         /* prefix length and address, a map's key */
};

/* ---- phrases ------------------------------------------------------------------ */

static void stack(struct code *c, enum reg to, int slot)
{
	compute(c, SET, to, FP);
	compute_number(c, PLUS, to, slot);
}

/* R0 = the value of the key in the slot, 0 for none */
static void lookup(struct code *c, int map, int slot)
{
	load_map(c, R1, map);
	stack(c, R2, slot);
	call(c, MAP_LOOKUP);
}

static void update(struct code *c, int map, int slot)
{
	load_map(c, R1, map);
	stack(c, R2, slot);
	stack(c, R3, VALUE);
	compute_number(c, SET, R4, 0);
	call(c, MAP_UPDATE);
}

static void forget(struct code *c, int map, int slot)
{
	load_map(c, R1, map);
	stack(c, R2, slot);
	call(c, MAP_DELETE);
}

/* to = the field of the kernel's structure that the register points to */
static void field(struct code *c, enum width w, enum reg to, enum reg from, int at)
{
	stack(c, R1, WORD);
	compute_number(c, SET, R2, w == U16 ? 2 : 4);
	compute(c, SET, R3, from);
	compute_number(c, PLUS, R3, at);
	call(c, READ_KERNEL);
	load(c, w, to, FP, WORD);
}

/* to the label if a - b, as 32 bits with sign, is so beside 0; R1 is lost */
static void jump_if_before(struct code *c, enum reg a, enum reg b, enum condition is, int to)
{
	compute32(c, SET, R1, a);
	compute32(c, MINUS, R1, b);
	jump_if_number32(c, R1, is, 0, to);
}

/*
 * R6 = the socket that the program is called for, in its slot too. An argument is 64
 * bits wide, of an int the low ones: half of it is not at the same place everywhere.
 */
static void socket_argument(struct code *c, int at)
{
	load(c, U64, R6, R1, at);
	store(c, U64, FP, SOCKET, R6);
}

/* Who runs, into its slot. */
static void who(struct code *c, const struct dt_plan *p)
{
	call(c, CURRENT_PID_TGID);
	if (p->flags & DT_GROUP)
		compute_number(c, RIGHT, R0, 32);
	store(c, U32, FP, WHO, R0);
}

/* MESSAGE = sender's port, receiver's port, sequence number in the register (R8, R9) */
static void message(struct code *c, const struct dt_plan *p, enum reg seq, int sending)
{
	field(c, U16, R0, R6, p->peer_port);
	from_network(c, R0, 16);
	compute_number(c, LEFT, R0, sending ? 32 : 48);
	store(c, U64, FP, MESSAGE, R0);
	field(c, U16, R0, R6, p->port);
	compute_number(c, LEFT, R0, sending ? 48 : 32);
	load(c, U64, R1, FP, MESSAGE);
	compute(c, OR_, R1, R0);
	compute(c, OR_, R1, seq);
	store(c, U64, FP, MESSAGE, R1);
}

/* Into the ring buffer of each instance that records bpf_trace:bpf_trace_printk. */
static void tell(struct code *c, const struct dt_plan *p, char what)
{
	char text[16] = "dt_ %x %d %llx"; /* Linux 5.10 wants its NUL to be the last byte */
	uint64_t half[2];

	text[2] = what;
	memcpy(half, text, sizeof(half));
	load_number(c, R1, half[0]);
	store(c, U64, FP, TEXT_AT, R1);
	load_number(c, R1, half[1]);
	store(c, U64, FP, TEXT_AT + 8, R1);
	stack(c, R1, TEXT_AT);
	compute_number(c, SET, R2, 15);
	load_number(c, R3, p->id);
	load(c, U32, R4, FP, WHO);
	load(c, U64, R5, FP, MESSAGE);
	call(c, TRACE_PRINTK);
}

/* One more of a counter of struct dt_state; R0 R1 are lost, to R0 none: skipped */
static void count(struct code *c, const struct dt_plan *p, size_t counter, int skip)
{
	store_number(c, U32, FP, WORD, 0);
	lookup(c, p->state, WORD);
	jump_if_number(c, R0, IS, 0, skip);
	compute_number(c, SET, R1, 1);
	add_to(c, R0, (int)counter, R1);
}

/* VALUE = 0 */
static void clear_value(struct code *c, size_t size)
{
	for (int i = 0; i < (int)size; i += 8)
		store_number(c, U64, FP, VALUE + i, 0);
}

/* VALUE = a task, as one that was added by hand */
static void begin_value(struct code *c)
{
	clear_value(c, sizeof(struct dt_task));
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_task, count), 1);
}

/* The window of the task at R7 is over. */
static void end_window(struct code *c, const struct dt_plan *p)
{
	load(c, U64, R1, R7, offsetof(struct dt_task, key));
	store(c, U64, FP, MESSAGE, R1);
	forget(c, p->pids, WHO);
	tell(c, p, 'E');
}

/*
 * The address of the packet's socket at R1 as a number, in its slot: a map's key,
 * for which older kernels take no pointer. R0 none: skipped. R8 = the state.
 */
static void socket_key(struct code *c, const struct dt_plan *p, size_t place, int skip)
{
	store(c, U64, FP, SOCKET, R1);
	store_number(c, U32, FP, WORD, 0);
	lookup(c, p->state, WORD);
	jump_if_number(c, R0, IS, 0, skip);
	load(c, U64, R1, FP, SOCKET);
	store(c, U64, R0, (int)place, R1);
	load(c, U64, R1, R0, (int)place);
	store(c, U64, FP, SOCKET, R1);
	compute(c, SET, R8, R0);
}

/*
 * The packet of R6 is TCP whose IP header is at R7: R7 = where TCP begins, R9 =
 * bytes of data (more than 0), the headers in their slots. Else to skip. Between
 * the headers hop-by-hop options may be: a segment of more than 64 KiB, which a
 * device or the loopback takes, has its length there (RFC 2675).
 */
static void tcp_data(struct code *c, int v6, int tcp, int skip)
{
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	stack(c, R3, IP);
	compute_number(c, SET, R4, 24);
	call(c, LOAD_BYTES);
	jump_if_number(c, R0, IS_NOT, 0, skip);
	load(c, U8, R1, FP, IP);
	compute(c, SET, R2, R1);
	compute_number(c, RIGHT, R2, 4);
	jump_if_number(c, R2, IS, 6, v6);
	jump_if_number(c, R2, IS_NOT, 4, skip);
	load(c, U8, R2, FP, IP + 9);
	jump_if_number(c, R2, IS_NOT, TCP, skip);
	load(c, U16, R2, FP, IP + 6);
	from_network(c, R2, 16);
	compute_number(c, AND_, R2, 0x1fff); /* a later fragment has no TCP header */
	jump_if_number(c, R2, IS_NOT, 0, skip);
	compute_number(c, AND_, R1, 15);
	compute_number(c, LEFT, R1, 2);
	compute(c, PLUS, R7, R1);
	jump(c, tcp);
	label(c, v6);
	compute_number(c, PLUS, R7, 40);
	load(c, U8, R2, FP, IP + 6);
	jump_if_number(c, R2, IS, TCP, tcp);
	jump_if_number(c, R2, IS_NOT, HOP_BY_HOP, skip);
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	stack(c, R3, WORD);
	compute_number(c, SET, R4, 2);
	call(c, LOAD_BYTES);
	jump_if_number(c, R0, IS_NOT, 0, skip);
	load(c, U8, R2, FP, WORD);
	jump_if_number(c, R2, IS_NOT, TCP, skip);
	load(c, U8, R2, FP, WORD + 1);
	compute_number(c, LEFT, R2, 3);
	compute_number(c, PLUS, R2, 8);
	compute(c, PLUS, R7, R2);
	label(c, tcp);
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	stack(c, R3, HEADER);
	compute_number(c, SET, R4, 16);
	call(c, LOAD_BYTES);
	jump_if_number(c, R0, IS_NOT, 0, skip);
	load(c, U32, R9, R6, SKB_LEN);
	compute(c, MINUS, R9, R7);
	load(c, U8, R1, FP, HEADER + 12);
	compute_number(c, RIGHT, R1, 4);
	compute_number(c, LEFT, R1, 2);
	compute(c, MINUS, R9, R1);
	jump_if_number(c, R9, AT_MOST, 0, skip);
}

/* ---- what comes ------------------------------------------------------------------ */

/*
 * A packet has come for a socket (a cgroup's ingress: behind the firewall, before
 * TCP has looked at it). It only says which bytes are marked. What TCP will not
 * take, as it has it or could not place it, must not count.
 */
void dt_rx(struct code *c, const struct dt_plan *p)
{
	enum { OUT, V6, TCP_HEADER, STRANGER, CHILD, NEW, SAME, V6_FROM, KNOWN, ADD,
	       ALL_READ };

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
	jump_if_number(c, R0, IS, 0, NEW);
	load(c, U32, R2, R0, offsetof(struct dt_received, end));
	load(c, U32, R3, R0, offsetof(struct dt_received, read));
	jump_if_before(c, R3, R2, AT_LEAST, ALL_READ);
	/* out of order: the range grows at either side, and before it nothing was read */
	load(c, U32, R3, R0, offsetof(struct dt_received, start));
	jump_if_before(c, R7, R3, AT_LEAST, SAME);
	store(c, U32, R0, offsetof(struct dt_received, start), R7);
	store(c, U32, R0, offsetof(struct dt_received, read), R7);
	label(c, SAME);
	jump_if_before(c, R9, R2, AT_MOST, OUT);
	store(c, U32, R0, offsetof(struct dt_received, end), R9);
	leave(c, ACCEPT);
	label(c, ALL_READ);
	store(c, U32, R0, offsetof(struct dt_received, start), R7);
	store(c, U32, R0, offsetof(struct dt_received, read), R7);
	store(c, U32, R0, offsetof(struct dt_received, end), R9);
	leave(c, ACCEPT);

	label(c, NEW);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, start), R7);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, end), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, read), R7);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_received, pad), 0);
	update(c, p->received, SOCKET);
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
 * A thread has read from a socket (tcp_rcv_space_adjust, once for each part that
 * was copied): do the bytes from read to copied_seq meet the marked ones? A peek
 * does not come here; splice(2) does also when there was nothing.
 */
void dt_read(struct code *c, const struct dt_plan *p)
{
	enum { OUT, UNMARKED, FIRST, TRACED, FRESH, KEEP, ELSEWHERE };
	enum { BEFORE = VALUE };

	socket_argument(c, 0);
	who(c, p);
	lookup(c, p->received, SOCKET);
	jump_if_number(c, R0, IS, 0, UNMARKED);
	compute(c, SET, R7, R0);
	field(c, U32, R9, R6, p->copied_seq);
	load(c, U32, R8, R7, offsetof(struct dt_received, read));
	jump_if(c, R8, IS, R9, OUT);
	/* once all is read, dt_rx may begin another range at any moment: what was, first */
	load(c, U32, R2, R7, offsetof(struct dt_received, end));
	load(c, U32, R3, R7, offsetof(struct dt_received, start));
	store(c, U32, R7, offsetof(struct dt_received, read), R9);
	jump_if_before(c, R8, R2, AT_LEAST, UNMARKED);
	jump_if_before(c, R9, R3, AT_MOST, UNMARKED);
	/* R8 = the first marked byte of these; BEFORE: whether others were read before */
	compute32(c, SET, R1, R8);
	compute32(c, MINUS, R1, R3);
	store(c, U32, FP, BEFORE, R1);
	jump_if_number32(c, R1, AT_LEAST, 0, FIRST);
	compute32(c, SET, R8, R3);
	label(c, FIRST);
	message(c, p, R8, 0);

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
	jump_if(c, R1, IS, R6, KEEP);
	if (!(p->flags & DT_MODULE)) {
		/* an event loop takes the next request before the last was answered */
		lookup(c, p->sent, SOCKET);
		jump_if_number(c, R0, IS, 0, KEEP);
		load(c, U32, R1, R0, offsetof(struct dt_sent, flags));
		compute_number(c, AND_, R1, SENT_PASSIVE);
		jump_if_number(c, R1, IS, 0, KEEP);
		store(c, U64, R7, offsetof(struct dt_task, tag), R6);
		load(c, U64, R1, FP, MESSAGE);
		store(c, U64, R7, offsetof(struct dt_task, key), R1);
		tell(c, p, 'B');
		leave(c, 0);
	}
	label(c, KEEP);
	tell(c, p, 'R');
	leave(c, 0);

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

/* ---- what is sent ------------------------------------------------------------------ */

/*
 * A thread sends on a socket, whose lock it holds: what it is about to put at
 * write_seq is marked if the thread is traced, else not. Called once for each
 * call, or (the tracepoint) for each buffer of it.
 */
void dt_send(struct code *c, const struct dt_plan *p)
{
	enum { OUT, TRACED, NONE, CLOSED_RANGE, START, MARKED, TELL, TOLD, NEW, BORN };

	socket_argument(c, p->first_argument);
	who(c, p);
	lookup(c, p->sent, SOCKET);
	compute(c, SET, R8, R0);
	lookup(c, p->pids, WHO);
	compute(c, SET, R7, R0);
	jump_if_number(c, R7, IS_NOT, 0, TRACED);

	/* untraced: the range ends here; once all of it has arrived it is none */
	jump_if_number(c, R8, IS, 0, OUT);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	jump_if_number(c, R1, HAS, SENT_BORN, BORN);
	compute_number(c, AND_, R1, SENT_RANGE | SENT_OPEN);
	jump_if_number(c, R1, IS, 0, OUT);
	jump_if_number(c, R1, IS, SENT_RANGE, CLOSED_RANGE);
	field(c, U32, R9, R6, p->write_seq);
	store(c, U32, R8, offsetof(struct dt_sent, end), R9);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, ~SENT_OPEN);
	store(c, U32, R8, offsetof(struct dt_sent, flags), R1);
	leave(c, 0);
	label(c, CLOSED_RANGE);
	field(c, U32, R9, R6, p->snd_una);
	load(c, U32, R2, R8, offsetof(struct dt_sent, end));
	jump_if_before(c, R9, R2, LESS, OUT);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, ~SENT_RANGE);
	store(c, U32, R8, offsetof(struct dt_sent, flags), R1);
	leave(c, 0);

	/*
	 * An event loop goes on with the request that it opened this connection for,
	 * and was with another one meanwhile.
	 */
	label(c, BORN);
	begin_value(c);
	load(c, U64, R1, R8, offsetof(struct dt_sent, tag));
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, tag), R1);
	load(c, U64, R1, R8, offsetof(struct dt_sent, key));
	store(c, U64, FP, VALUE + (int)offsetof(struct dt_task, key), R1);
	store(c, U64, FP, MESSAGE, R1);
	update(c, p->pids, WHO);
	tell(c, p, 'B');
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);

	label(c, TRACED);
	jump_if_number(c, R8, IS, 0, NEW);
	/*
	 * R9 = where the marked bytes begin. Those of an older range that are still
	 * on their way stay marked, and what lies between; those that arrived do not.
	 */
	field(c, U32, R9, R6, p->snd_una);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, SENT_RANGE | SENT_OPEN);
	jump_if_number(c, R1, IS, SENT_RANGE | SENT_OPEN, START);
	jump_if_number(c, R1, IS_NOT, SENT_RANGE, NONE);
	load(c, U32, R2, R8, offsetof(struct dt_sent, end));
	jump_if_before(c, R9, R2, LESS, START);
	label(c, NONE);
	field(c, U32, R9, R6, p->write_seq);
	store(c, U32, R8, offsetof(struct dt_sent, start), R9);
	store(c, U32, R8, offsetof(struct dt_sent, high), R9);
	jump(c, MARKED);
	label(c, START);
	load(c, U32, R2, R8, offsetof(struct dt_sent, start));
	jump_if_before(c, R9, R2, AT_MOST, MARKED);
	store(c, U32, R8, offsetof(struct dt_sent, start), R9);
	label(c, MARKED);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, OR_, R1, SENT_RANGE | SENT_OPEN | SENT_EVER);
	compute_number(c, AND_, R1, ~SENT_BORN);
	store(c, U32, R8, offsetof(struct dt_sent, flags), R1);
	jump(c, TELL);

	label(c, NEW);
	clear_value(c, sizeof(struct dt_sent));
	field(c, U32, R9, R6, p->write_seq);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, start), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, end), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, high), R9);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, flags),
		     SENT_RANGE | SENT_OPEN | SENT_EVER);
	update(c, p->sent, SOCKET);

	label(c, TELL);
	load(c, U64, R1, R7, offsetof(struct dt_task, sending));
	jump_if(c, R1, IS, R6, TOLD);
	if (!p->end_at_send)
		store(c, U64, R7, offsetof(struct dt_task, sending), R6);
	field(c, U32, R9, R6, p->write_seq);
	message(c, p, R9, 1);
	tell(c, p, 'M');
	label(c, TOLD);
	if (p->end_at_send) {
		load(c, U64, R1, R7, offsetof(struct dt_task, tag));
		jump_if(c, R1, IS_NOT, R6, OUT);
		end_window(c, p);
	}
	label(c, OUT);
	leave(c, 0);
}

/* The send is done (sock_send_length, with what it returned): that was the answer. */
void dt_end(struct code *c, const struct dt_plan *p)
{
	enum { OUT };

	load(c, U64, R8, R1, 8);
	socket_argument(c, 0);
	who(c, p);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);
	store_number(c, U64, R7, offsetof(struct dt_task, sending), 0);
	jump_if_number32(c, R8, AT_MOST, 0, OUT);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if(c, R1, IS_NOT, R6, OUT);
	end_window(c, p);
	label(c, OUT);
	leave(c, 0);
}

/* R1 = the type of what follows, as the packet of R6 has it there; too short: to skip */
static void ether_type(struct code *c, int at, int skip)
{
	compute(c, SET, R1, R6);
	compute_number(c, SET, R2, at);
	stack(c, R3, WORD);
	compute_number(c, SET, R4, 2);
	call(c, LOAD_BYTES);
	jump_if_number(c, R0, IS_NOT, 0, skip);
	load(c, U16, R1, FP, WORD);
	from_network(c, R1, 16);
}

/*
 * A packet leaves by a device (its egress): it carries the mark if its data meet
 * the marked bytes of its socket. All checksums stay right: the helper knows
 * whether the device is to compute them.
 */
static void mark(struct code *c, const struct dt_plan *p, int ethernet)
{
	enum { OUT, V6, TCP_HEADER, TAGGED, PLAIN, IS_IP, OPEN };

	compute(c, SET, R6, R1);
	load(c, U64, R1, R6, SKB_SK);
	jump_if_number(c, R1, IS, 0, OUT);
	socket_key(c, p, offsetof(struct dt_state, socket_out), OUT);
	lookup(c, p->sent, SOCKET);
	jump_if_number(c, R0, IS, 0, OUT);
	load(c, U32, R1, R0, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, SENT_RANGE);
	jump_if_number(c, R1, IS, 0, OUT);
	compute(c, SET, R8, R0);
	compute_number(c, SET, R7, ethernet ? ETHERNET : 0);
	if (ethernet) {
		ether_type(c, 12, OUT);
		jump_if_number(c, R1, IS, 0x8100, TAGGED);
		jump_if_number(c, R1, IS_NOT, 0x88a8, PLAIN);
		label(c, TAGGED);
		compute_number(c, PLUS, R7, 4);
		ether_type(c, 16, OUT);
		label(c, PLAIN);
		/* neither a second tag nor labels may be taken for an IP header */
		jump_if_number(c, R1, IS, 0x0800, IS_IP);
		jump_if_number(c, R1, IS_NOT, 0x86dd, OUT);
		label(c, IS_IP);
	}
	tcp_data(c, V6, TCP_HEADER, OUT);
	load(c, U32, R2, FP, HEADER + 4);
	from_network(c, R2, 32);
	compute32(c, PLUS, R9, R2);
	/* R2 = the first byte, R9 = the one behind the last */
	load(c, U32, R3, R8, offsetof(struct dt_sent, start));
	jump_if_before(c, R9, R3, AT_MOST, OUT);
	load(c, U32, R1, R8, offsetof(struct dt_sent, flags));
	compute_number(c, AND_, R1, SENT_OPEN);
	jump_if_number(c, R1, IS_NOT, 0, OPEN);
	load(c, U32, R3, R8, offsetof(struct dt_sent, end));
	jump_if_before(c, R2, R3, AT_LEAST, OUT);
	label(c, OPEN);
	if (p->flags & DT_ONCE) {
		/* sent before: a box on the way may drop what is marked */
		load(c, U32, R3, R8, offsetof(struct dt_sent, high));
		jump_if_before(c, R2, R3, LESS, OUT);
		store(c, U32, R8, offsetof(struct dt_sent, high), R9);
	}
	load(c, U16, R8, FP, HEADER + 12);
	compute(c, SET, R9, R8);
	compute_number(c, OR_, R9, __BYTE_ORDER == __LITTLE_ENDIAN ? MARK : MARK << 8);
	jump_if(c, R9, IS, R8, OUT);
	store(c, U16, FP, WORD, R9);
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	compute_number(c, PLUS, R2, 16);
	compute(c, SET, R3, R8);
	compute(c, SET, R4, R9);
	compute_number(c, SET, R5, 2);
	call(c, L4_CSUM_REPLACE);
	compute(c, SET, R1, R6);
	compute(c, SET, R2, R7);
	compute_number(c, PLUS, R2, 12);
	stack(c, R3, WORD);
	compute_number(c, SET, R4, 2);
	compute_number(c, SET, R5, 0);
	call(c, STORE_BYTES);
	count(c, p, offsetof(struct dt_state, marked_out), OUT);
	label(c, OUT);
	leave(c, CONTINUE);
}

void dt_egress(struct code *c, const struct dt_plan *p)
{
	mark(c, p, 1);
}

void dt_egress_bare(struct code *c, const struct dt_plan *p)
{
	mark(c, p, 0);
}

/* ---- sockets and threads come and go ----------------------------------------------- */

/*
 * A socket's state changes (inet_sock_set_state): who connected, who was connected
 * to; and a window ends with the socket that it was to be answered on.
 */
void dt_state(struct code *c, const struct dt_plan *p)
{
	enum { OUT, OPENED, PASSIVE, ENDS, OPENS, NEW };

	load(c, U64, R8, R1, 8);
	load(c, U64, R9, R1, 16);
	socket_argument(c, 0);
	jump_if_number(c, R9, IS, ESTABLISHED, OPENED);
	if (!(p->flags & DT_MODULE))
		jump_if_number(c, R9, IS, SYN_SENT, OPENS);
	jump_if_number(c, R9, IS, FIN_WAIT1, ENDS);
	jump_if_number(c, R9, IS, LAST_ACK, ENDS);
	jump_if_number(c, R9, IS_NOT, CLOSED, OUT);
	label(c, ENDS);
	who(c, p);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if(c, R1, IS_NOT, R6, OUT);
	end_window(c, p);
	leave(c, 0);

	if (!(p->flags & DT_MODULE)) {
		label(c, OPENS);
		who(c, p);
		lookup(c, p->pids, WHO);
		jump_if_number(c, R0, IS, 0, OUT);
		compute(c, SET, R7, R0);
		load(c, U64, R8, R7, offsetof(struct dt_task, tag));
		jump_if_number(c, R8, IS, 0, OUT);
		clear_value(c, sizeof(struct dt_sent));
		store(c, U64, FP, VALUE + (int)offsetof(struct dt_sent, tag), R8);
		load(c, U64, R1, R7, offsetof(struct dt_task, key));
		store(c, U64, FP, VALUE + (int)offsetof(struct dt_sent, key), R1);
		store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_BORN);
		update(c, p->sent, SOCKET);
		leave(c, 0);
	}

	label(c, OPENED);
	field(c, U32, R7, R6, p->copied_seq);
	clear_value(c, sizeof(struct dt_sent));
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, copied), R7);
	jump_if_number(c, R8, IS, SYN_RECV, PASSIVE);
	jump_if_number(c, R8, IS_NOT, SYN_SENT, OUT);
	lookup(c, p->sent, SOCKET);
	jump_if_number(c, R0, IS, 0, NEW);
	store(c, U32, R0, offsetof(struct dt_sent, copied), R7);
	load(c, U32, R1, R0, offsetof(struct dt_sent, flags));
	compute_number(c, OR_, R1, SENT_ACTIVE);
	store(c, U32, R0, offsetof(struct dt_sent, flags), R1);
	leave(c, 0);
	label(c, NEW);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_ACTIVE);
	update(c, p->sent, SOCKET);
	leave(c, 0);

	label(c, PASSIVE);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_PASSIVE);
	update(c, p->sent, SOCKET);
	/* the data that dt_rx saw on this processor just now are this child's */
	store_number(c, U32, FP, WORD, 0);
	lookup(c, p->state, WORD);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);
	load(c, U32, R8, R7, offsetof(struct dt_state, child_start));
	load(c, U32, R9, R7, offsetof(struct dt_state, child_end));
	jump_if(c, R8, IS, R9, OUT);
	field(c, U32, R0, R6, p->rcv_nxt);
	jump_if(c, R0, IS_NOT, R8, OUT);
	store(c, U32, R7, offsetof(struct dt_state, child_end), R8);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, start), R8);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, end), R9);
	store(c, U32, FP, VALUE + (int)offsetof(struct dt_received, read), R8);
	store_number(c, U32, FP, VALUE + (int)offsetof(struct dt_received, pad), 0);
	update(c, p->received, SOCKET);
	label(c, OUT);
	leave(c, 0);
}

/* A socket is gone (tcp_destroy_sock): its address will be another's. */
void dt_gone(struct code *c, const struct dt_plan *p)
{
	socket_argument(c, 0);
	forget(c, p->received, SOCKET);
	forget(c, p->sent, SOCKET);
	leave(c, 0);
}

/*
 * A task forks (sched_process_fork: parent, child). Who was added by hand is
 * followed, as in all sessions; whoever serves a request is not.
 */
void dt_fork(struct code *c, const struct dt_plan *p)
{
	enum { OUT };

	load(c, U64, R6, R1, 8);
	who(c, p);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	load(c, U64, R1, R0, offsetof(struct dt_task, tag));
	jump_if_number(c, R1, IS_NOT, 0, OUT);
	field(c, U32, R7, R6, p->flags & DT_GROUP ? p->tgid : p->pid);
	load(c, U32, R1, FP, WHO);
	jump_if(c, R1, IS, R7, OUT); /* a thread of the process */
	store(c, U32, FP, WHO, R7);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS_NOT, 0, OUT); /* the second time */
	begin_value(c);
	update(c, p->pids, WHO);
	store_number(c, U64, FP, MESSAGE, 0);
	tell(c, p, 'B');
	label(c, OUT);
	leave(c, 0);
}

/* A task exits (sched_process_exit): nobody else may be taken for it. */
void dt_exit(struct code *c, const struct dt_plan *p)
{
	enum { OUT };

	call(c, CURRENT_PID_TGID);
	compute(c, SET, R1, R0);
	compute_number(c, RIGHT, R1, 32);
	if (p->flags & DT_GROUP) { /* with the process, that is its leader */
		compute32(c, SET, R0, R0);
		jump_if(c, R0, IS_NOT, R1, OUT);
	}
	store(c, U32, FP, WHO, R0);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);
	end_window(c, p);
	label(c, OUT);
	leave(c, 0);
}

/*
 * Somebody waits for what comes next (a system call's entry): an event loop has
 * done what it could for the request that it had read.
 */
void dt_wait(struct code *c, const struct dt_plan *p)
{
	static const int waits[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
		SYS_epoll_pwait, 441 /* epoll_pwait2, everywhere */
	};
	enum { OUT, WAITS };

	load(c, U64, R8, R1, 8);
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		jump_if_number(c, R8, IS, waits[i], WAITS);
	jump(c, OUT);
	label(c, WAITS);
	who(c, p);
	lookup(c, p->pids, WHO);
	jump_if_number(c, R0, IS, 0, OUT);
	compute(c, SET, R7, R0);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if_number(c, R1, IS, 0, OUT);
	end_window(c, p);
	label(c, OUT);
	leave(c, 0);
}
