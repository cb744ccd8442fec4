/* SPDX-License-Identifier: ISC */
/* dtlife.c - programs of sockets and threads that come and go */
#include <sys/syscall.h>

#include "dtprog.h"

/* Of a socket (include/net/tcp_states.h). */
enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, FIN_WAIT1 = 4, CLOSED = 7, LAST_ACK = 9 };

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
	who_is_traced(c, p, OUT);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if(c, R1, IS_NOT, R6, OUT);
	end_window(c, p);
	leave(c, 0);

	if (!(p->flags & DT_MODULE)) {
		label(c, OPENS);
		who_is_traced(c, p, OUT);
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
	begin_received(c, R8, R9, R8);
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
	who_is_traced(c, p, OUT);
	load(c, U64, R1, R7, offsetof(struct dt_task, tag));
	jump_if_number(c, R1, IS, 0, OUT);
	end_window(c, p);
	label(c, OUT);
	leave(c, 0);
}
