/* SPDX-License-Identifier: ISC */
/* pairing.c - what becomes of each system call: the entry and the return of a task, paired */

#include "host/host.h"
#include "calls/roles.h"
#include "calls/pairing.h"

enum pairing_class pairing_class(unsigned roles)
{
	return roles & IS_EXEC ? PAIRING_EXEC : roles & IS_FORK ? PAIRING_FORK :
	       roles & IS_EXIT ? PAIRING_EXIT : roles & IS_SIGRETURN ? PAIRING_SIGRETURN :
	       PAIRING_PLAIN;
}

enum pairing_fate pairing_enter(const struct pairing *p, struct pairing_task *t,
				const struct pairing_event *e)
{
	t->id = e->id;
	t->class = (uint8_t)e->class;
	t->cpu = e->cpu;
	t->begun = p->losses;
	t->outside = 0;
	t->entered = 1;
	t->open = e->class < PAIRING_EXIT;
	t->skip = e->class == PAIRING_SIGRETURN;
	t->born = 0;
	return t->open ? PAIRING_BEGAN : PAIRING_NO_RETURN;
}

int pairing_whole(const struct pairing *p, struct pairing_task *t, const struct pairing_event *e)
{
	if (e->class != PAIRING_PLAIN && e->class != PAIRING_FORK)
		return 0;
	pairing_enter(p, t, e);
	t->open = 0;
	t->outside = p->losses + 1;
	return 1;
}

void pairing_born(const struct pairing *p, struct pairing_task *t)
{
	t->outside = p->losses + 1;
	t->born = 1;
}

int pairing_is_same(const struct pairing_task *t, const struct pairing_event *e)
{
	return t->open && (t->id == e->id || e->id == PAIRING_FORGOTTEN ||
			   (t->class == PAIRING_EXEC && e->class == PAIRING_EXEC));
}

int pairing_is_certain(const struct pairing *p, const struct pairing_task *t)
{
	return t->open ? t->begun == p->losses : t->outside == p->losses + 1;
}

/*
 * Had this call no entry? In a complete trace without a loss, a call that is not open had none,
 * unless a new task returns from the call of its parent, or a program of 32 bits, whose calls may
 * have no events, has executed this one. In other traces, the task must have come back from another
 * call, without a loss since then on any CPU. In addition, the caller knows that entries are
 * recorded; or BPF programs, which have not seen an entry either, have recorded the arguments; or
 * the trace has entries of the task, and the call has failed.
 */
static int had_no_entry(const struct pairing *p, const struct pairing_task *t,
			const struct pairing_event *e, int failed)
{
	int executed = e->class == PAIRING_EXEC && !e->result;

	if (p->complete && !p->losses)
		return !t->open && !executed && (e->class != PAIRING_FORK || e->result);
	return !t->open && pairing_is_certain(p, t) && !e->losing &&
	       (((p->entries || p->complete) && !executed) || e->registers ||
		(t->entered && failed));
}

/*
 * Is this the return that is to be skipped? The return of sigreturn has no number, or its own. On
 * RISC-V its number is what a register of the program has.
 */
static int is_skipped(const struct pairing_task *t, const struct pairing_event *e)
{
#ifdef __riscv
	return t->skip;
#else
	return t->skip && (t->class != PAIRING_SIGRETURN || e->id == PAIRING_FORGOTTEN ||
			   e->id == t->id);
#endif
}

enum pairing_fate pairing_return(const struct pairing *p, struct pairing_task *t,
				 const struct pairing_event *e)
{
	enum pairing_fate fate = PAIRING_RESUMED;
	int same = pairing_is_same(t, e), failed = e->trapped || error_of_result(e->result);

	if (t->skip && t->begun == p->losses) /* syscalls has no event of the return of sigreturn */
		t->outside = p->losses + 1;
	if (is_skipped(t, e) || (e->id == PAIRING_FORGOTTEN && !t->open))
		fate = PAIRING_NOTHING;
	else if (same)
		fate = t->begun != p->losses || (t->cpu != e->cpu && e->losing) ?
		       PAIRING_ACROSS : PAIRING_RETURNED;
	else if (t->born && e->class == PAIRING_FORK && !e->result)
		fate = PAIRING_BORN;
	else if (had_no_entry(p, t, e, failed))
		fate = failed ? PAIRING_DENIED : PAIRING_EMULATED;
	else if (e->class == PAIRING_FORK && !e->result)
		fate = PAIRING_BORN;
	if (!same) {
		t->id = e->id;
		t->class = (uint8_t)e->class;
	}
	t->open = t->skip = t->born = 0;
	t->outside = p->losses + 1;
	return fate;
}

struct pairing_task *pairing_surplus(struct pairing *p)
{
	struct table_entry *e = NULL;

	while (p->tasks.n >= PAIRING_TASKS && !e)
		e = p->tasks.v[p->hand++ & (p->tasks.room - 1)];
	return (struct pairing_task *)(void *)e;
}
