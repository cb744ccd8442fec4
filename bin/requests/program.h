/* SPDX-License-Identifier: ISC */
/*
 * program.h - the BPF programs of a request probe, for the files that build and load them
 *
 * The mark is the bit 0x08 of byte 12 of the TCP header, which RFC 9293 reserves. The
 * programs mark bytes of a connection, by sequence number, not the whole connection:
 *
 *	a traced thread sends bytes   dt_send marks them, from write_seq on
 *	a segment leaves the host     dt_egress sets the bit if it has marked bytes
 *	a segment comes to a socket   dt_rx notes its marked bytes
 *	a thread reads marked bytes   dt_read begins a window of the thread
 *	the thread answers            dt_end ends the window
 *
 * dt_egress never looks at the running task. Most segments leave when an acknowledgement comes,
 * which interrupts a task that has nothing to do with them. A map's key for a socket is its
 * address. Sequence numbers wrap around, so they are compared by the sign of their difference. A
 * range that has been read or acknowledged is forgotten before the numbers come around.
 *
 * A program that runs twice for the same event changes nothing the second time. From Linux
 * 6.19 on the kernel may preempt a thread inside a program of a tracepoint. If another thread then
 * comes to the tracepoint on the same CPU, the kernel skips the program, because it takes this for
 * a recursion. So make.c attaches each program of a tracepoint several times.
 *
 * The dt_emit_... functions are phrases of instructions that several programs use. A
 * phrase overwrites R0 to R5 unless its comment says otherwise. R6 is the socket, or the
 * packet.
 */
#ifndef REQUESTS_PROGRAM_H
#define REQUESTS_PROGRAM_H

#include "bpf/bpf.h"
#include "live/live.h"
#include "requests.h"

/* ---- program_in.c, program_out.c, program_life.c: the programs ----------------------- */

/* Properties of the kernel and of the request probe that the programs depend on. */
struct dt_plan {
	uint32_t id;                                    /* of the request probe */
	int flags, end_at_send;                         /* as in dt_wanted and dt_made */
	int first_argument;                             /* offset of dt_send's socket */
	int plain;                                      /* no emit_cmpxchg (before 5.12) */
	int pids, received, sent, from, state;          /* descriptors of maps */
	struct readers readers;
	int copied_seq, write_seq, snd_una, rcv_nxt;    /* offsets in struct tcp_sock */
	int bytes_acked, bytes_received;                /* the same, of the low 32 bits */
	int status;                                     /* offset in struct sock_common */
	int backlog;                                    /* offset in struct sock */
	int pid, tgid;                                  /* offsets in struct task_struct */
};

/* Append the instructions of one program. */
typedef void dt_program(struct bpf_code *, const struct dt_plan *);

dt_program dt_rx, dt_read, dt_send, dt_end, dt_state, dt_gone, dt_fork, dt_exit, dt_wait, dt_egress,
	dt_egress_bare;

/* ---- program.c: phrases that the programs share -------------------------------------- */

enum { MARK = 8 };              /* in byte 12 of the TCP header */

/*
 * Slots of each program's stack:
 *	SOCKET          u64: the socket, a map's key
 *	WHO             u32: the thread, a map's key
 *	MESSAGE         u64: KEY of the mark line
 *	WORD            a value that is read from the kernel, or to be written
 *	VALUE           a map's new value
 *	IP, HEADER      the first 24 bytes of an IP header, the first 16 of a TCP header
 *	NETWORK         prefix length and address, a map's key
 *	BEFORE          dt_read, which has no packet: marked bytes that were read before
 *	MARK_RECORD     struct ring_head and struct mark_record
 *	READERS         of emit_to_readers
 */
#define DT_SLOTS(X) \
	X(SOCKET, FP, -8) X(WHO, FP, -16) X(MESSAGE, FP, -24) X(WORD, FP, -32) X(VALUE, FP, -80) \
	X(IP, FP, -104) X(HEADER, FP, -120) X(NETWORK, FP, -144) X(BEFORE, FP, -152) \
	X(MARK_RECORD, FP, -208) X(READERS, FP, -232)
enum { DT_SLOTS(BPF_SLOT_AT) };
extern const struct bpf_slot dt_slots[];

/* VALUE.MEMBER = from, or n, where VALUE is a struct TAG */
#define dt_value(c, TAG, MEMBER, from) emit_store(c, BPF_SIZE_OF(TAG, MEMBER), FP, \
						  VALUE + (int)offsetof(struct TAG, MEMBER), from)
#define dt_value_imm(c, TAG, MEMBER, n) emit_store_imm(c, BPF_SIZE_OF(TAG, MEMBER), FP, \
						VALUE + (int)offsetof(struct TAG, MEMBER), n)

/* Let the value for the key in the slot be VALUE. */
void dt_emit_update(struct bpf_code *, int map, int slot, int how);

/* to = the field at this offset of the kernel's structure to which R6 points. */
void dt_emit_field(struct bpf_code *, enum bpf_size, enum bpf_reg to, int at);

/* Jump if (reg->flags & mask) CONDITION n, with reg the address of a struct dt_sent. Sets R1. */
void dt_emit_jump_flags(struct bpf_code *, enum bpf_reg, int mask, enum bpf_jump, int n,
			const char *to);

/* Jump if a - b, as a signed number of 32 bits, CONDITION 0. Overwrites only R1. */
void dt_emit_jump_seq(struct bpf_code *, enum bpf_reg a, enum bpf_reg b, enum bpf_jump,
		      const char *to);

/*
 * R6 and SOCKET = the program's argument at this offset, the socket. Load the 64 bits of each
 * argument, even of an int: where its low half is depends on the byte order. Overwrites only R6.
 */
void dt_emit_socket_arg(struct bpf_code *, int at);

/* WHO = the id of the running thread. */
void dt_emit_current(struct bpf_code *, const struct dt_plan *);

/* Do the same, and R7 = the thread's struct dt_task. Jump to "out" if it is not traced. */
void dt_emit_current_traced(struct bpf_code *, const struct dt_plan *);

/*
 * The key of a message has the sequence number of the first byte that its receiver sends on
 * the connection, times 2^32, and the sequence number of the message's first marked byte. A
 * box that translates addresses or ports leaves both as they are. The first number stays the
 * same as long as the connection exists, and both sides have it, also of a connection that is
 * older than the request probe.
 *
 * MESSAGE = the key of the message that the socket R6 sends (or has read), whose first number is in
 * seq (R8 or R9). dt_emit_key_sent jumps to skip if the socket is not connected yet.
 */
void dt_emit_key_sent(struct bpf_code *, const struct dt_plan *, enum bpf_reg seq,
		      const char *skip);
void dt_emit_key_read(struct bpf_code *, const struct dt_plan *, enum bpf_reg seq);

/* Write a mark for WHO and MESSAGE to all readers (readers.c). */
void dt_emit_mark(struct bpf_code *, const struct dt_plan *, char what);

/* Add 1 to a counter of struct dt_state. Jump to "out" if the map has none. */
void dt_emit_count(struct bpf_code *, const struct dt_plan *, size_t counter);

/*
 * VALUE = so many zeros; or a struct dt_task as for a thread that a user adds; or a struct
 * dt_received with these numbers of 32 bits. Overwrite at most R1.
 */
void dt_emit_clear_value(struct bpf_code *, size_t);
void dt_emit_begin_value(struct bpf_code *);
void dt_emit_begin_received(struct bpf_code *, enum bpf_reg start, enum bpf_reg end,
			    enum bpf_reg read);

/*
 * VALUE = a struct dt_sent for the socket at R6, which is older than the request probe.
 * R9 = sk_max_ack_backlog of the socket. An accepted socket is a copy of the socket that listened,
 * and has this number from it. If R9 is 0, it is unknown which side has connected.
 */
void dt_emit_begin_older(struct bpf_code *, const struct dt_plan *);

/* End the window of WHO, whose struct dt_task is at R7. */
void dt_emit_end_window(struct bpf_code *, const struct dt_plan *);

/* Do the same if R6 is the socket of the window's request; else jump to "out". */
void dt_emit_end_own_window(struct bpf_code *, const struct dt_plan *);

/*
 * SOCKET = the address of the packet's socket in R1 as a number, because older kernels
 * accept no pointer as a map's key. R8 = the struct dt_state; jump to "out" if there is
 * none. scratch is the offset of the member of that struct to use for the copy.
 */
void dt_emit_socket_key(struct bpf_code *, const struct dt_plan *, size_t scratch);

/* Copy n bytes of the packet R6 at offset R2 to the slot. Jump to "out" if it is too short. */
void dt_emit_packet_bytes(struct bpf_code *, int slot, int n);

/*
 * The packet is R6, its IP header is at offset R7. If it is TCP with data, then IP and
 * HEADER = the headers, R7 = offset of the TCP header, R9 = bytes of data. Else jump to
 * "out". Hop-by-hop options may be between the headers: they have the length of a segment
 * of more than 64 KiB, which some devices and the loopback take (RFC 2675).
 */
void dt_emit_tcp_data(struct bpf_code *);

#endif
