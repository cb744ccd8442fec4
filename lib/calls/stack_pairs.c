/* SPDX-License-Identifier: ISC */
/* stack_pairs.c - to which event a user stack that a BPF program recorded belongs */

#include "base/base.h"
#include "event/event.h"
#include "calls/calls.h"

void stack_pairs_event(struct stack_pairs *p, int cpu, const struct record_head *h, int shown)
{
	struct stack_events *e = &p->cpu[(unsigned)cpu % STACK_PAIRS_CPUS];

	e->last[e->n++ % STACK_PAIRS_LAST] = (struct stack_event){ h->pid, h->id, (uint16_t)shown };
}

int stack_pairs_stack(struct stack_pairs *p, const struct record *r)
{
	struct stack_events *e = &p->cpu[(unsigned)r->cpu % STACK_PAIRS_CPUS];
	struct stack_record s;

	if (r->len < sizeof(s))
		return -1;
	memcpy(&s, r->data, sizeof(s));
	for (unsigned i = 1; s.event && i <= STACK_PAIRS_LAST; i++) {
		struct stack_event *of = &e->last[(e->n - i) % STACK_PAIRS_LAST];

		if (of->id != s.event || of->pid != s.head.pid)
			continue;
		of->id = 0;
		return of->shown;
	}
	return -1;
}
