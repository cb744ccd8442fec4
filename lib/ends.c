/* SPDX-License-Identifier: ISC */
/* ends.c - how tasks end: by which signal or call, and with which code */
#include <signal.h>

#include "follow.h"
#include "tfs.h"

/* The default action of the signal: none (0), the end (1), the end and a core (2). */
static int deadly(int64_t sig)
{
	switch (sig) {
	case SIGQUIT: case SIGILL: case SIGTRAP: case SIGABRT: case SIGBUS: case SIGFPE:
	case SIGSEGV: case SIGXCPU: case SIGXFSZ: case SIGSYS:
		return 2;
	case SIGCHLD: case SIGCONT: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
	case SIGURG: case SIGWINCH:
		return 0;
	}
	return sig > 0 && sig <= 64;
}

void end_group(struct process *p, struct comm *t, unsigned code)
{
	struct comm *g = group_of(p, t);

	if (!g || g->state & GROUP_CODE)
		return;
	set(g, 0, GROUP_CODE);
	g->group = (uint16_t)code;
}

/* Does the task's code tell how its process ends? Before 5.17 that of the leader only. */
static int has_code(struct process *p, const struct comm *t, const struct comm *g)
{
	return g == t || p->line->events->version >= KERNEL(5, 17);
}

/*
 * The signal that was sent to a task that is delivered SIGKILL. Where a signal ends a
 * process, the kernel delivers SIGKILL to its threads, and the sender's record or the
 * task's code tell which signal it was. All other threads are also delivered SIGKILL
 * when one calls exit_group or execve: nothing was sent to them.
 */
static int64_t killed_by(struct process *p, struct comm *t, struct comm *g)
{
	long code = -1;

	if (g->state & EXEC)
		return SIGKILL;
	if (p->killed && has_code(p, t, g))
		code = p->killed(p->arg, t->pid);
	if (code < 0 && g->state & GROUP_CODE)
		code = g->group;
	if (code < 0)
		code = g->sent;
	return code & 0x7f ? code & 0x7f : SIGKILL;
}

void end_delivered(struct process *p, struct comm *t, const struct record *r)
{
	int64_t sig = role_number(p, ROLE_DELIVER, 0, r);
	struct comm *g = group_of(p, t);

	p->signal = sig;
	if (!g)
		return;
	if (sig == SIGKILL)
		p->signal = killed_by(p, t, g);
	if (sig == g->sent && sig != SIGKILL)
		g->sent = 0;
	if (role_number(p, ROLE_DELIVER, 3, r) || !deadly(sig))
		return;
	if (sig != SIGKILL)
		end_group(p, g, (unsigned)sig);
	else if (!(g->state & EXEC))
		end_group(p, g, (unsigned)p->signal);
}

void end_generated(struct process *p, const struct record *r)
{
	int64_t sig = role_number(p, ROLE_GENERATE, 0, r);
	struct comm *t, *g;

	/* 0: it was not dropped, on which side ever */
	if (deadly(sig) != 1 || role_number(p, ROLE_GENERATE, 2, r))
		return;
	t = task(p, (int)role_number(p, ROLE_GENERATE, 1, r));
	g = t ? group_of(p, t) : NULL;
	if (g && (sig == SIGKILL || g->sent != SIGKILL))
		g->sent = (uint16_t)sig;
}

long end_code(struct process *p, struct comm *t)
{
	struct comm *g = group_of(p, t);
	/* at an exec of another thread this pid ends twice; what is told is the other end */
	int twice = g == t && t->state & EXEC;
	long code = p->ended && has_code(p, t, g) && !twice ? p->ended(p->arg, t->pid) : -1;

	if (code >= 0)
		return code;
	if (t->state & OWN_CODE)
		return t->code;
	return g && g->state & GROUP_CODE ? g->group : 0;
}
