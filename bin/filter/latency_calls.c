/* SPDX-License-Identifier: ISC */
/* latency_calls.c - how long system calls take */

#include "base/base.h"
#include "lines/lines.h"
#include "line_calls.h"

static struct line_calls calls = { .pairing.tasks.size = sizeof(struct call_task) };

static void print_line(struct latency *t, const struct latency_event *m)
{
	stdout_print("%s\n", m->line);
	t->printed++;
}

/* Print a call that has a time of its own, if it took long enough. */
static void print_timed(struct latency *t, const struct latency_event *m)
{
	uint64_t lat = seen_latency(m->l, m->digits);

	if ((m->digits < 0 ? lat : lat / 1000) >= t->least)
		print_line(t, m);
}

static int event(struct latency *t, const struct latency_event *m)
{
	enum pairing_fate fate;
	struct call_task *task = NULL;

	if (latency_unselected(t, m->l))
		return 0;
	fate = line_calls_event(&calls, m->l, &task);
	calls.pairing.entries |= fate == PAIRING_RETURNED; /* the trace has both sides */
	t->denied += fate == PAIRING_DENIED;
	t->answered += fate == PAIRING_EMULATED;
	switch (fate) {
	case PAIRING_NOTHING:
		break;
	case PAIRING_BEGAN:
	case PAIRING_NO_RETURN:
		latency_start_set(t, &task->begun, m, NULL);
		break;
	case PAIRING_RETURNED:
		if (task)
			latency_start_print(t, &task->begun, m);
		else
			print_timed(t, m);
		break;
	default:
		calls.no_end += fate == PAIRING_ACROSS;
		if (t->ends)
			print_line(t, m);
		else if (!t->only.n)
			t->no_begin += fate == PAIRING_ACROSS || fate == PAIRING_RESUMED;
	}
	return 0;
}

/* A call that is open when events are lost is counted when it returns, or at the end. */
static void forget(struct latency *t)
{
	calls.pairing.losses++;
	if (!t->ended)
		return;
	line_calls_end(&calls);
	t->no_end += calls.no_end;
}

const struct latency_matcher latency_calls = { sizeof(struct call_task), event, forget };
