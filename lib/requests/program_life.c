/* SPDX-License-Identifier: ISC */
/* dtlife.c - programs of sockets and threads that come and go */
#include <sys/syscall.h>

#include "bpf/bpf.h"
#include "requests/requests.h"
#include "requests/program.h"

/* Of a socket (include/net/tcp_states.h). */
enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, FIN_WAIT1 = 4, CLOSED = 7, LAST_ACK = 9 };

/*
 * A socket's state changes (inet_sock_set_state): who connected, who was connected
 * to; and a window ends with the socket that it was to be answered on.
 */
void dt_state(struct bpf_code *c, const struct dt_plan *p)
{
	enum { OUT, OPENED, PASSIVE, ENDS, OPENS, NEW };

	emit_load(c, SIZE_DW, R8, R1, 8);
	emit_load(c, SIZE_DW, R9, R1, 16);
	dt_emit_socket_arg(c, 0);
	emit_jump_if_imm(c, R9, JEQ, ESTABLISHED, OPENED);
	if (!(p->flags & DT_MODULE))
		emit_jump_if_imm(c, R9, JEQ, SYN_SENT, OPENS);
	emit_jump_if_imm(c, R9, JEQ, FIN_WAIT1, ENDS);
	emit_jump_if_imm(c, R9, JEQ, LAST_ACK, ENDS);
	emit_jump_if_imm(c, R9, JNE, CLOSED, OUT);
	emit_label(c, ENDS);
	dt_emit_current_traced(c, p, OUT);
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
	emit_jump_if(c, R1, JNE, R6, OUT);
	dt_emit_end_window(c, p);
	emit_exit(c, 0);

	if (!(p->flags & DT_MODULE)) {
		emit_label(c, OPENS);
		dt_emit_current_traced(c, p, OUT);
		emit_load(c, SIZE_DW, R8, R7, offsetof(struct dt_task, tag));
		emit_jump_if_imm(c, R8, JEQ, 0, OUT);
		dt_emit_clear_value(c, sizeof(struct dt_sent));
		emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_sent, tag), R8);
		emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, key));
		emit_store(c, SIZE_DW, FP, VALUE + (int)offsetof(struct dt_sent, key), R1);
		emit_store_imm(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_BORN);
		dt_emit_update(c, p->sent, SOCKET);
		emit_exit(c, 0);
	}

	emit_label(c, OPENED);
	dt_emit_field(c, SIZE_W, R7, R6, p->copied_seq);
	dt_emit_clear_value(c, sizeof(struct dt_sent));
	emit_store(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, copied), R7);
	emit_jump_if_imm(c, R8, JEQ, SYN_RECV, PASSIVE);
	emit_jump_if_imm(c, R8, JNE, SYN_SENT, OUT);
	dt_emit_lookup(c, p->sent, SOCKET);
	emit_jump_if_imm(c, R0, JEQ, 0, NEW);
	emit_store(c, SIZE_W, R0, offsetof(struct dt_sent, copied), R7);
	emit_load(c, SIZE_W, R1, R0, offsetof(struct dt_sent, flags));
	emit_alu_imm(c, ALU_OR, R1, SENT_ACTIVE);
	emit_store(c, SIZE_W, R0, offsetof(struct dt_sent, flags), R1);
	emit_exit(c, 0);
	emit_label(c, NEW);
	emit_store_imm(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_ACTIVE);
	dt_emit_update(c, p->sent, SOCKET);
	emit_exit(c, 0);

	emit_label(c, PASSIVE);
	emit_store_imm(c, SIZE_W, FP, VALUE + (int)offsetof(struct dt_sent, flags), SENT_PASSIVE);
	dt_emit_update(c, p->sent, SOCKET);
	/* the data that dt_rx saw on this processor just now are this child's */
	emit_store_imm(c, SIZE_W, FP, WORD, 0);
	dt_emit_lookup(c, p->state, WORD);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R7, R0);
	emit_load(c, SIZE_W, R8, R7, offsetof(struct dt_state, child_start));
	emit_load(c, SIZE_W, R9, R7, offsetof(struct dt_state, child_end));
	emit_jump_if(c, R8, JEQ, R9, OUT);
	dt_emit_field(c, SIZE_W, R0, R6, p->rcv_nxt);
	emit_jump_if(c, R0, JNE, R8, OUT);
	emit_store(c, SIZE_W, R7, offsetof(struct dt_state, child_end), R8);
	dt_emit_begin_received(c, R8, R9, R8);
	dt_emit_update(c, p->received, SOCKET);
	emit_label(c, OUT);
	emit_exit(c, 0);
}

/* A socket is gone (tcp_destroy_sock): its address will be another's. */
void dt_gone(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_socket_arg(c, 0);
	dt_emit_delete(c, p->received, SOCKET);
	dt_emit_delete(c, p->sent, SOCKET);
	emit_exit(c, 0);
}

/*
 * A task forks (sched_process_fork: parent, child). Who was added by hand is
 * followed, as in all sessions; whoever serves a request is not.
 */
void dt_fork(struct bpf_code *c, const struct dt_plan *p)
{
	enum { OUT };

	emit_load(c, SIZE_DW, R6, R1, 8);
	dt_emit_current(c, p);
	dt_emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_load(c, SIZE_DW, R1, R0, offsetof(struct dt_task, tag));
	emit_jump_if_imm(c, R1, JNE, 0, OUT);
	dt_emit_field(c, SIZE_W, R7, R6, p->flags & DT_GROUP ? p->tgid : p->pid);
	emit_load(c, SIZE_W, R1, FP, WHO);
	emit_jump_if(c, R1, JEQ, R7, OUT); /* a thread of the process */
	emit_store(c, SIZE_W, FP, WHO, R7);
	dt_emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JNE, 0, OUT);  /* the second time */
	dt_emit_begin_value(c);
	dt_emit_update(c, p->pids, WHO);
	emit_store_imm(c, SIZE_DW, FP, MESSAGE, 0);
	dt_emit_printk(c, p, 'B');
	emit_label(c, OUT);
	emit_exit(c, 0);
}

/* A task exits (sched_process_exit): nobody else may be taken for it. */
void dt_exit(struct bpf_code *c, const struct dt_plan *p)
{
	enum { OUT };

	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_alu(c, ALU_MOV, R1, R0);
	emit_alu_imm(c, ALU_RSH, R1, 32);
	if (p->flags & DT_GROUP) { /* with the process, that is its leader */
		emit_alu32(c, ALU_MOV, R0, R0);
		emit_jump_if(c, R0, JNE, R1, OUT);
	}
	emit_store(c, SIZE_W, FP, WHO, R0);
	dt_emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JEQ, 0, OUT);
	emit_alu(c, ALU_MOV, R7, R0);
	dt_emit_end_window(c, p);
	emit_label(c, OUT);
	emit_exit(c, 0);
}

/*
 * Somebody waits for what comes next (a system call's entry): an event loop has
 * done what it could for the request that it had read.
 */
void dt_wait(struct bpf_code *c, const struct dt_plan *p)
{
	static const int waits[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
		SYS_epoll_pwait, 441 /* epoll_pwait2, everywhere */
	};
	enum { OUT, WAITS };

	emit_load(c, SIZE_DW, R8, R1, 8);
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		emit_jump_if_imm(c, R8, JEQ, waits[i], WAITS);
	emit_jump(c, OUT);
	emit_label(c, WAITS);
	dt_emit_current_traced(c, p, OUT);
	emit_load(c, SIZE_DW, R1, R7, offsetof(struct dt_task, tag));
	emit_jump_if_imm(c, R1, JEQ, 0, OUT);
	dt_emit_end_window(c, p);
	emit_label(c, OUT);
	emit_exit(c, 0);
}
