/* SPDX-License-Identifier: ISC */
/* program_life.c - programs of sockets and threads that begin or end */
#include <netinet/tcp.h>
#include <sys/syscall.h>

#include "bpf/bpf.h"
#include "requests.h"
#include "program.h"

/* A thread opens a connection in a window: note the request that the connection is for. */
static void note_born(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_current_traced(c, p);
	emit_get(c, R8, R7, dt_task, tag);
	emit_jump_if_imm(c, R8, JEQ, 0, "out");
	dt_emit_clear_value(c, sizeof(struct dt_sent));
	dt_value(c, dt_sent, tag, R8);
	emit_get(c, R1, R7, dt_task, key);
	dt_value(c, dt_sent, key, R1);
	dt_value_imm(c, dt_sent, flags, SENT_BORN);
	dt_emit_update(c, p->sent, SOCKET, UPDATE_ANY);
	emit_exit(c, 0);
}

/* The socket has connected. R7 = its copied_seq, which VALUE has, too. */
static void note_active(struct bpf_code *c, const struct dt_plan *p)
{
	emit_find(c, p->sent, SOCKET, R0, "new");
	emit_set(c, R0, dt_sent, copied, R7);
	emit_get(c, R1, R0, dt_sent, flags);
	emit_alu_imm(c, ALU_OR, R1, SENT_ACTIVE);
	emit_set(c, R0, dt_sent, flags, R1);
	emit_exit(c, 0);
	emit_label(c, "new");
	dt_value_imm(c, dt_sent, flags, SENT_ACTIVE);
	dt_emit_update(c, p->sent, SOCKET, UPDATE_ANY);
	emit_exit(c, 0);
}

/*
 * The socket was accepted. Data that dt_rx has just seen on this CPU belong to it if they begin
 * at its rcv_nxt.
 */
static void note_passive(struct bpf_code *c, const struct dt_plan *p)
{
	dt_value_imm(c, dt_sent, flags, SENT_PASSIVE);
	dt_emit_update(c, p->sent, SOCKET, UPDATE_ANY);
	emit_store_imm(c, SIZE_W, FP, WORD, 0);
	emit_find(c, p->state, WORD, R7, "out");
	emit_get(c, R8, R7, dt_state, child_start);
	emit_get(c, R9, R7, dt_state, child_end);
	emit_jump_if(c, R8, JEQ, R9, "out");
	dt_emit_field(c, SIZE_W, R0, p->rcv_nxt);
	emit_jump_if(c, R0, JNE, R8, "out");
	emit_set(c, R7, dt_state, child_end, R8);
	dt_emit_begin_received(c, R8, R9, R8);
	dt_emit_update(c, p->received, SOCKET, UPDATE_ANY);
}

/*
 * A socket's state changes (inet_sock_set_state: socket, old, new). Note whether the socket
 * connected or was accepted. When a thread closes the socket of its request, end its window.
 */
void dt_state(struct bpf_code *c, const struct dt_plan *p)
{
	const int event_loops = !(p->flags & DT_MODULE);

	emit_load(c, SIZE_DW, R8, R1, 8);
	emit_load(c, SIZE_DW, R9, R1, 16);
	dt_emit_socket_arg(c, 0);
	emit_jump_if_imm(c, R9, JEQ, TCP_ESTABLISHED, "opened");
	if (event_loops)
		emit_jump_if_imm(c, R9, JEQ, TCP_SYN_SENT, "opens");
	emit_jump_if_imm(c, R9, JEQ, TCP_FIN_WAIT1, "ends");
	emit_jump_if_imm(c, R9, JEQ, TCP_LAST_ACK, "ends");
	emit_jump_if_imm(c, R9, JNE, TCP_CLOSE, "out");
	emit_label(c, "ends");
	dt_emit_current_traced(c, p);
	dt_emit_end_own_window(c, p);
	emit_exit(c, 0);
	if (event_loops) {
		emit_label(c, "opens");
		note_born(c, p);
	}

	emit_label(c, "opened");
	dt_emit_field(c, SIZE_W, R7, p->copied_seq);
	dt_emit_clear_value(c, sizeof(struct dt_sent));
	dt_value(c, dt_sent, copied, R7);
	emit_jump_if_imm(c, R8, JEQ, TCP_SYN_RECV, "passive");
	emit_jump_if_imm(c, R8, JNE, TCP_SYN_SENT, "out");
	note_active(c, p);
	emit_label(c, "passive");
	note_passive(c, p);
	emit_out(c, 0);
}

/* A socket is destroyed (tcp_destroy_sock). Forget it, because its address is reused. */
void dt_gone(struct bpf_code *c, const struct dt_plan *p)
{
	dt_emit_socket_arg(c, 0);
	emit_delete(c, p->received, SOCKET);
	emit_delete(c, p->sent, SOCKET);
	emit_exit(c, 0);
}

/*
 * A task forks (sched_process_fork: parent, child). Follow it if a user has added it, as
 * sessions do. Do not follow a task that only serves a request.
 */
void dt_fork(struct bpf_code *c, const struct dt_plan *p)
{
	emit_load(c, SIZE_DW, R6, R1, 8);
	dt_emit_current(c, p);
	emit_find(c, p->pids, WHO, R0, "out");
	emit_jump_if_member(c, R0, dt_task, tag, JNE, 0, "out");
	dt_emit_field(c, SIZE_W, R7, p->flags & DT_GROUP ? p->tgid : p->pid);
	emit_load(c, SIZE_W, R1, FP, WHO);
	emit_jump_if(c, R1, JEQ, R7, "out"); /* a thread of the process */
	emit_store(c, SIZE_W, FP, WHO, R7);
	emit_lookup(c, p->pids, WHO);
	emit_jump_if_imm(c, R0, JNE, 0, "out"); /* the program runs a second time */
	dt_emit_begin_value(c);
	dt_emit_update(c, p->pids, WHO, UPDATE_ANY);
	emit_store_imm(c, SIZE_DW, FP, MESSAGE, 0);
	dt_emit_mark(c, p, 'B');
	emit_out(c, 0);
}

/* A task exits (sched_process_exit). Forget it, because its pid is reused. */
void dt_exit(struct bpf_code *c, const struct dt_plan *p)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_mov(c, R1, R0);
	emit_alu_imm(c, ALU_RSH, R1, 32);
	if (p->flags & DT_GROUP) { /* the process exits with its leader */
		emit_alu32(c, ALU_MOV, R0, R0);
		emit_jump_if(c, R0, JNE, R1, "out");
	}
	emit_store(c, SIZE_W, FP, WHO, R0);
	emit_find(c, p->pids, WHO, R7, "out");
	dt_emit_end_window(c, p);
	emit_out(c, 0);
}

/*
 * A thread enters a system call (sys_enter). If the thread waits for events, it is an event
 * loop that has finished with its request for now, so end its window.
 */
void dt_wait(struct bpf_code *c, const struct dt_plan *p)
{
	static const int waits[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
		SYS_epoll_pwait, 441 /* epoll_pwait2, the same number on all machines */
	};

	emit_load(c, SIZE_DW, R8, R1, 8);
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		emit_jump_if_imm(c, R8, JEQ, waits[i], "waits");
	emit_jump(c, "out");
	emit_label(c, "waits");
	dt_emit_current_traced(c, p);
	emit_jump_if_member(c, R7, dt_task, tag, JEQ, 0, "out");
	dt_emit_end_window(c, p);
	emit_out(c, 0);
}
