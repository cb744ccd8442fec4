/* SPDX-License-Identifier: ISC */
/* events.c - which events the account reads, and what each of them means */

#include "why/why.h"

const struct event_kind why_kinds[] = {
#include "why_events.h"
	{ "", WHY_OTHER, "" },
};

/* Return what becomes of the task that leaves, by the bits of __trace_sched_switch_state. */
static enum why_leave leave_of(int64_t state)
{
	enum { STOPPED = 4 | 8, DEAD = 0x10 | 0x20, ALL = 0xff };

	return !(state & ALL) || state & (ALL + 1) ? WHY_STAYS : state & DEAD ? WHY_DIES :
	       state & STOPPED ? WHY_STOPS : WHY_SLEEPS;
}

static struct text_part softirq(int64_t vec)
{
	static const char names[][9] = { /* include/linux/interrupt.h */
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	const size_t n = sizeof(names) / sizeof(*names);
	const char *name = vec >= 0 && (size_t)vec < n ? names[vec] : "softirq";

	return (struct text_part){ name, strlen(name) };
}

/* An interrupt with this name begins. */
static void begin_irq(struct why *w, const struct why_event *e, struct text_part name)
{
	char text[32];

	str_format(text, sizeof(text), "%.*s", (int)(name.n < 31 ? name.n : 31), name.text);
	why_irq(w, e->ts, e->cpu, e->by, text, 1);
}

/* Return the word for a request by its rwbs (blk_fill_rwbs): F may be before the operation, too. */
static const char *request_of(const char *rwbs)
{
	return *rwbs == 'F' ? "flush" : *rwbs == 'W' ? "write" : *rwbs == 'D' ? "discard" :
	       *rwbs != 'R' ? rwbs : strchr(rwbs, 'A') ? "read ahead" : "read";
}

/* The task sends a request to a disk, 8:0 or 8,0, for an operation. */
static void take_disk(struct why *w, const struct why_event *e)
{
	struct text_part dev = e->text(e->source, 0), rwbs = e->text(e->source, 1);
	char number[24], flags[12], disk[64], *comma;
	const char *at;

	str_format(number, sizeof(number), " %.*s ", (int)(dev.n < 20 ? dev.n : 0), dev.text);
	str_format(flags, sizeof(flags), "%.*s", (int)(rwbs.n < 12 ? rwbs.n : 0), rwbs.text);
	if ((comma = strchr(number, ',')))
		*comma = ':';
	at = w->disks.n ? strstr(w->disks.text, number) : NULL;
	at = at ? at + strlen(number) : number + 1;
	str_format(disk, sizeof(disk), "%.*s, %s%s", (int)strcspn(at, " "), at, request_of(flags),
		   strchr(flags, 'M') ? " of metadata" : "");
	why_disk(w, e->ts, e->by, disk);
}

/* If the text begins so, remove this beginning and return 1; else return 0. */
static int takes(struct text_part *p, const char *begin)
{
	const size_t n = strlen(begin);

	if (p->n < n || memcmp(p->text, begin, n))
		return 0;
	*p = (struct text_part){ p->text + n, p->n - n };
	return 1;
}

/* Return the text before the next end that is not in an escape, or all; remove both from p. */
static struct text_part before(struct text_part *p, const char *end)
{
	const struct text_part all = *p;

	while (p->n) {
		if (takes(p, end))
			return (struct text_part){ all.text, all.n - p->n - strlen(end) };
		const size_t n = out_escape_length(p->text, p->n);

		*p = (struct text_part){ p->text + n, p->n - n };
	}
	return all;
}

/*
 * Take a mark: the names of disks, # disks: 8:0 sda 8:1 sda1, or what tfs-stuck says that a task
 * waits for, # waits: PID "COMM" ON: WHAT
 */
static void take_mark(struct why *w, const struct why_event *e)
{
	enum { DISKS_MOST = 65536, ON_MOST = 32, WHAT_MOST = 400 }; /* a mark has 1 KiB */
	static struct strbuf name, what;
	struct text_part mark = e->text(e->source, 0), comm, on;
	int32_t host = e->by.pid / WHY_PIDS, digits = 0;

	if (e->by.pid <= 0) /* of an unknown host */
		return why_time(w, e->ts);
	if (takes(&mark, "# disks:") && w->disks.n < DISKS_MOST) {
		strbuf_add(&w->disks, mark.text, mark.n);
		strbuf_puts(&w->disks, " ");
	} else if (takes(&mark, "# waits: "))
		for (; mark.n && *mark.text >= '0' && *mark.text <= '9' && digits < WHY_PIDS / 10;
		     mark = (struct text_part){ mark.text + 1, mark.n - 1 })
			digits = 10 * digits + *mark.text - '0';
	if (!digits || !takes(&mark, " \""))
		return why_time(w, e->ts);
	comm = strbuf_unescaped(&name, before(&mark, "\" "), 0);
	on = before(&mark, ": ");
	mark.n -= mark.n && mark.text[mark.n - 1] == '\n';
	on.n = on.n < ON_MOST ? on.n : ON_MOST;
	mark.n = mark.n < WHAT_MOST ? mark.n : WHAT_MOST;
	why_waits(w, e->ts, (struct why_who){ host * WHY_PIDS + digits, comm }, on,
		  strbuf_unescaped(&what, mark, 0));
}

void why_take(struct why *w, enum why_kind kind, const struct why_event *e)
{
	const void *of = e->source;

	if ((kind == WHY_DISK || kind == WHY_THROTTLE) && (e->soft || e->hard))
		kind = WHY_OTHER; /* of another task than the running one */
	switch (kind) {
	case WHY_SWITCH:
		why_switch(w, e->ts, e->cpu, e->who(of, 0, 3), leave_of(e->number(of, 1)),
			   e->who(of, 2, 4));
		break;
	case WHY_WAKING:
		why_waking(w, e->ts, e->cpu, e->by, e->soft, e->hard, e->who(of, 0, 1));
		break;
	case WHY_NEW_TASK:
		why_new_task(w, e->ts, e->by, e->who(of, 0, 1));
		break;
	case WHY_EXEC:
		why_exec(w, e->ts, e->by, (int32_t)e->number(of, 0));
		break;
	case WHY_IRQ:
		begin_irq(w, e, e->text(of, 0));
		break;
	case WHY_SOFTIRQ:
		begin_irq(w, e, softirq(e->number(of, 0)));
		break;
	case WHY_VECTOR:
		begin_irq(w, e, (struct text_part){ e->name.text, e->name.n - strlen("_entry") });
		break;
	case WHY_IRQ_END:
		why_irq(w, e->ts, e->cpu, e->by, "", 0);
		break;
	case WHY_DISK:
		take_disk(w, e);
		break;
	case WHY_THROTTLE:
		why_throttled(w, e->ts, e->by);
		break;
	case WHY_SIGNAL:
		why_signal(w, e->ts, e->by, (int)e->number(of, 0), (int)e->number(of, 1));
		break;
	case WHY_FAULT:
		why_fault(w, e->ts, e->by, (uint64_t)e->number(of, 0));
		break;
	case WHY_MARK:
		take_mark(w, e);
		break;
	default:
		why_time(w, e->ts);
	}
}
