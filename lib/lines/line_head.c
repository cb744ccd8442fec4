/* SPDX-License-Identifier: ISC */
/*
 * line_head.c - read the task, the CPU and the time before an event
 *
 * The name of a task may have spaces, dashes, colons and brackets, and may look like the rest
 * of a line. So this file looks for the dash between name and pid, and accepts one only if
 * all that follows it has the right form:
 *	NAME-PID  [CPU] FLAGS TIME:             the kernel, trace-cmd report
 *	NAME-PID  (TGID) [CPU] FLAGS TIME:      with record-tgid; Android's systrace
 *	NAME-PID  CPUFLAGS TIMEus!:             with latency-format; trace-cmd report -l
 * One form has no dash:
 *	NAME PID [CPU] TIME:                    perf script; also PID/TID, and without [CPU]
 * (kernel/trace/trace_output.c, trace_print_context and trace_print_lat_context).
 */
#include "lines/lines.h"
#include "lines/scan.h"

/*
 * The width of the column of the task's name, which the kernel fills up with spaces in front; the
 * bytes of a name; a head begins within so many bytes, so that a long line takes no longer.
 */
enum { COMM_COLUMNS = 16, COMM = 16, MOST = 256 };

/* Skip a field that is not space, and the spaces after it. */
static const char *skip_word(const char *s, const char *end)
{
	return spaces(after(s, end, not_blank), end);
}

/*
 * Read SECONDS.FRACTION: or a count of the clock with its colon. With relative, the time may
 * be in microseconds with a mark for a long delay, as in "12us!:". Return the text after the
 * colon, or NULL.
 */
static const char *time_at(struct seen *l, const char *s, const char *end, int relative)
{
	l->time = digits(&s, end);
	if (!l->time.n)
		return NULL;
	if (s < end && *s == '.') {
		s++;
		l->time.n += 1 + digits(&s, end).n;
	} else if (relative && begins(s, end, "us")) {
		s += 2;
		l->time.n += 2;
	}
	/* dt-join keeps the mark after a time in seconds */
	s += relative && s < end && memchr("$@*#!+ ", *s, 7) != NULL;
	return s < end && *s == ':' ? s + 1 : NULL;
}

/* Read "[CPU]". Return the text after it, or NULL. */
static const char *cpu_at(struct seen *l, const char *s, const char *end)
{
	if (s == end || *s++ != '[')
		return NULL;
	l->cpu = digits(&s, end);
	return l->cpu.n && s < end && *s == ']' ? s + 1 : NULL;
}

/* Read what follows the dash between name and pid. Return the text after the time, or NULL. */
static const char *behind_dash(struct seen *l, const char *s, const char *end)
{
	const char *next;

	l->pid = digits(&s, end);
	if (!l->pid.n || s == end || !is_blank(*s))
		return NULL;
	s = spaces(s, end);
	if (s < end && *s == '(') { /* the thread group */
		const char *tgid = spaces(s + 1, end);

		for (s = tgid; s < end && (is_digit(*s) || *s == '-'); s++)
			;
		if (s == end || *s != ')')
			return NULL;
		l->tgid = (struct text_part){ tgid, s > tgid ? (size_t)(s - tgid) : 0 };
		s = spaces(s + 1, end);
	}
	next = cpu_at(l, s, end);
	if (next) {
		l->miss = MISS_TIME;
		s = spaces(next, end);
		if (s < end && !is_digit(*s)) { /* the letters of the latency flags */
			l->flags.text = s;
			l->flags.n = (size_t)(after(s, end, not_blank) - s);
			s = skip_word(s, end);
		}
		return time_at(l, s, end, 1);
	}
	/* the flags follow the CPU without a space */
	l->cpu = digits(&s, end);
	if (!l->cpu.n || s == end || is_blank(*s))
		return NULL;
	return time_at(l, skip_word(s, end), end, 1);
}

/* Set the name of the task: the text up to s, without the spaces around it. */
static void set_comm(struct seen *l, const char *from, const char *s)
{
	s = before(from, s, is_blank);
	l->comm = (struct text_part){ from, (size_t)(s - from) };
}

/*
 * Read the CPU that ends at s, perhaps with letters after it (-F +misc), as [CPU], or in three
 * columns after the pid (-L). Return its beginning, or s if there is none.
 */
static const char *perf_cpu(struct seen *l, const char *from, const char *s)
{
	const char *p = s, *number;

	l->cpu = (struct text_part){ NULL, 0 };
	while (p > from && p[-1] >= 'A' && p[-1] <= 'Z')
		p--;
	if (p < s)
		p = before(from, p, is_blank);
	if (p > from && p[-1] == ']') {
		number = before(from, --p, is_digit);
		if (number == p || number == from || number[-1] != '[')
			return s;
		l->cpu = (struct text_part){ number, (size_t)(p - number) };
		return number - 1;
	}
	number = before(from, s, is_digit);
	p = before(from, number, is_blank);
	if (number == s || p == number || p == from || !is_digit(p[-1]) || s - p != 4)
		return s;
	l->cpu = (struct text_part){ number, (size_t)(s - number) };
	return p;
}

/* Read a line of perf script whose time ends at the colon. Return the text after it, or NULL. */
static const char *perf_script(struct seen *l, const char *from, const char *colon,
			       const char *end)
{
	const char *s = before(from, colon, is_digit), *next, *number;

	/* SECONDS with six or nine digits after the point */
	if (colon - s < 6 || s == from || s[-1] != '.')
		return NULL;
	number = before(from, s - 1, is_digit);
	if (number == s - 1 || number == from || !is_blank(number[-1]))
		return NULL;
	l->time = (struct text_part){ number, (size_t)(colon - number) };
	s = before(from, perf_cpu(l, from, before(from, number, is_blank)), is_blank);
	number = before(from, s, is_digit);
	if (number == s || number == from)
		return NULL;
	l->pid = (struct text_part){ number, (size_t)(s - number) };
	l->tgid = l->flags = (struct text_part){ NULL, 0 };
	if (number[-1] == '/') { /* PID/TID */
		s = number - 1;
		number = before(from, s, is_digit);
		l->tgid = (struct text_part){ number, (size_t)(s - number) };
	}
	if (number == s || number == from || !is_blank(number[-1]))
		return NULL;
	set_comm(l, from, number);
	if (!l->comm.n)
		return NULL;
	s = next = spaces(colon + 1, end);
	l->perf = 1;
	if (digits(&next, end).n && next < end && is_blank(*next))
		s = spaces(next, end); /* the period of the sample */
	return s;
}

/*
 * Read the form of perf script. If it fits in several places, choose the last one that leaves a
 * name of at most 15 bytes, or else the first.
 */
static const char *perf_head(struct seen *l, const char *from, const char *end)
{
	const char *last = end - from > MOST ? from + MOST : end, *after = NULL;
	struct seen other = *l;

	for (const char *s = from; (s = memchr(s, ':', (size_t)(last - s))); s++) {
		const char *next = perf_script(&other, from, s, end);

		if (!next)
			continue;
		if (after && event_text_length(other.comm.text, other.comm.n) >= COMM)
			break;
		after = next;
		*l = other;
	}
	return after;
}

const char *line_head(struct seen *l, const char *s, const char *end)
{
	const char *comm = spaces(s, end), *dash = s + COMM_COLUMNS, *after, *first;
	const char *last = end - comm > MOST ? comm + MOST : end, *next;
	struct seen other;

	l->miss = MISS_HEAD;
	if (end - s > COMM_COLUMNS && *dash == '-' && comm <= dash &&
	    (after = behind_dash(l, dash + 1, end))) {
		l->comm = (struct text_part){ comm, (size_t)(dash - comm) };
		return after;
	}
	/*
	 * A name has at most 15 bytes, so the last dash that can follow one is the right one:
	 * another that looks right is a part of the name. A name that the decoder has escaped
	 * or that no kernel made may be longer; then the first dash has to do.
	 */
	for (first = comm; first < end && event_text_length(comm, (size_t)(first - comm)) < COMM;
	     first++)
		;
	for (dash = first; dash >= comm; dash--)
		if (dash < end && *dash == '-' && (after = behind_dash(l, dash + 1, end))) {
			set_comm(l, comm, dash);
			return after;
		}
	other = *l;
	after = perf_head(&other, comm, end);
	if (after && event_text_length(other.comm.text, other.comm.n) < COMM) {
		*l = other;
		return after;
	}
	for (dash = first; dash < last && (dash = memchr(dash, '-', (size_t)(last - dash))); dash++)
		if ((next = behind_dash(l, dash + 1, end))) {
			set_comm(l, comm, dash);
			return next;
		}
	if (after)
		*l = other;
	return after;
}
