/* SPDX-License-Identifier: ISC */
/*
 * dtprog.h - the programs that carry the mark from socket to thread to socket
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
 *
 * Here is what they have alike: the stack, and phrases of instructions. A phrase
 * loses R0 to R5 unless it says otherwise; R6 is the socket, or the packet.
 */
#ifndef REQUESTS_PROGRAM_H
#define REQUESTS_PROGRAM_H

#include "bpf/bpf.h"
#include "requests/requests.h"

enum { MARK = 8 };              /* in byte 12 of the TCP header */

/* Fields of struct __sk_buff (uapi/linux/bpf.h). */
enum { SKB_LEN = 0, SKB_SK = 168 };

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

/* to = where the slot is; nothing else is lost */
void dt_emit_slot(struct bpf_code *, enum bpf_reg to, int slot);

/* R0 = the value of the key in the slot, 0 for none */
void dt_emit_lookup(struct bpf_code *, int map, int slot);

/* VALUE is the value of the key in the slot: R0 = 0, or there is no room */
void dt_emit_update(struct bpf_code *, int map, int slot);

/* The same, unless the key has a value: then R0 is not 0 either. */
void dt_emit_insert(struct bpf_code *, int map, int slot);

/* The key in the slot is in the map no more. */
void dt_emit_delete(struct bpf_code *, int map, int slot);

/* to = the field of the kernel's structure that the register points to */
void dt_emit_field(struct bpf_code *, enum bpf_size, enum bpf_reg to, enum bpf_reg from, int at);

/* to the label if a - b, as 32 bits with sign, is so beside 0; R1 alone is lost */
void dt_emit_jump_seq(struct bpf_code *, enum bpf_reg a, enum bpf_reg b, enum bpf_jump, int to);

/*
 * R6 = the socket that the program is called for, in its slot too. An argument is 64
 * bits wide, of an int the low ones: half of it is not at the same place everywhere.
 * Nothing else is lost.
 */
void dt_emit_socket_arg(struct bpf_code *, int at);

/* Who runs, into its slot. */
void dt_emit_current(struct bpf_code *, const struct dt_plan *);

/* The same, and R7 = the struct dt_task of it; none: skipped */
void dt_emit_current_traced(struct bpf_code *, const struct dt_plan *, int skip);

/* MESSAGE = sender's port, receiver's port, sequence number in the register (R8, R9) */
void dt_emit_message(struct bpf_code *, const struct dt_plan *, enum bpf_reg seq, int sending);

/* Into the ring buffer of each instance that records bpf_trace:bpf_trace_printk. */
void dt_emit_printk(struct bpf_code *, const struct dt_plan *, char what);

/* One more of a counter of struct dt_state; to R0 none: skipped */
void dt_emit_count(struct bpf_code *, const struct dt_plan *, size_t counter, int skip);

/* VALUE = 0; nothing is lost */
void dt_emit_clear_value(struct bpf_code *, size_t);

/* VALUE = a task, as one that was added by hand; nothing is lost */
void dt_emit_begin_value(struct bpf_code *);

/* VALUE = a struct dt_received, of three numbers of 32 bits; R1 alone is lost */
void dt_emit_begin_received(struct bpf_code *, enum bpf_reg start, enum bpf_reg end, enum bpf_reg read);

/*
 * VALUE = a struct dt_sent of the socket, which is older than the probe: accepted if it
 * has the backlog of the socket that listened, whose copy it is. R9 = the backlog; 0: it
 * is not known who connected.
 */
void begin_older(struct bpf_code *, const struct dt_plan *);

/* The window of the task at R7 is over. */
void dt_emit_end_window(struct bpf_code *, const struct dt_plan *);

/*
 * The address of the packet's socket at R1 as a number, in its slot: a map's key,
 * for which older kernels take no pointer. R0 none: skipped. R8 = the state.
 */
void dt_emit_socket_key(struct bpf_code *, const struct dt_plan *, size_t place, int skip);

/* The n bytes of the packet of R6 at R2, into the slot; too short: to skip */
void dt_emit_packet_bytes(struct bpf_code *, int slot, int n, int skip);

/*
 * The packet of R6 is TCP whose IP header is at R7: R7 = where TCP begins, R9 =
 * bytes of data (more than 0), the headers in their slots. Else to skip. Between
 * the headers hop-by-hop options may be: a segment of more than 64 KiB, which a
 * device or the loopback takes, has its length there (RFC 2675).
 */
void dt_emit_tcp_data(struct bpf_code *, int v6, int tcp, int skip);

#endif
