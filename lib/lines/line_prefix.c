/* SPDX-License-Identifier: ISC */
/*
 * line_prefix.c - what other programs put in front of a line
 *
 *	HOST | LINE             dt-join
 *	FILE:LINE               grep in several files, also with -n; FILE-LINE with -C
 *	FILE: LINE              trace-cmd report of several files or buffers
 *	[   12.345678] LINE     dmesg of a kernel with ftrace_dump_on_oops; with -T the date
 *	HOST kernel: LINE       journalctl, syslog
 *
 * A task can choose its name, so no name may look like an origin. A name has at most 15 bytes. If
 * that much is in front of the dash between name and pid, the line has no origin.
 */
#include "lines/lines.h"
#include "lines/scan.h"

/* An origin ends within so many bytes; bytes of a task's name; the widths of its column. */
enum { MOST = 256, COMM = 15, COLUMNS = 16, LATENCY_COLUMNS = 8 };

/* Does a head begin at s whose name fills its columns? */
static int is_aligned(const char *s, const char *end)
{
	struct seen l = { .prefix = "" };
	ptrdiff_t n;

	if (s == end || !line_head(&l, s, end) || !l.comm.n)
		return 0;
	n = l.comm.text + l.comm.n - s;
	return (is_blank(*s) && n == COLUMNS) || (n == LATENCY_COLUMNS && s[n] == '-' &&
						  l.cpu.text[-1] != '[');
}

/* Skip the brackets at *s with such a text, and a space. Return 1, or 0 if there are none. */
static int skip_brackets(const char **s, const char *end, const char *set, ptrdiff_t least)
{
	const char *p = *s;

	if (p == end || *p++ != '[')
		return 0;
	while (p < end && strchr(set, *p) && *p)
		p++;
	if (p == end || *p != ']' || p - *s <= least || (p + 1 < end && p[1] != ' ' && p[1] != '['))
		return 0;
	*s = p + 1 + (p + 1 < end && p[1] == ' ');
	return 1;
}

/* Skip the stamp of the kernel's log at *s. Return 1, or 0 if there is none. */
static int skip_time(const char **s, const char *end)
{
	static const char date[] = "[Www Mmm dd hh:mm:ss yyyy] ";
	const char *p = *s + 1;

	if (begins(*s, end, "<") && digits(&p, end).n && p < end && *p == '>') /* dmesg -r */
		*s = p + 1;
	if (skip_brackets(s, end, " 0123456789.", 12)) {
		skip_brackets(s, end, " TC0123456789", 2);
		return 1;
	}
	return (size_t)(end - *s) >= strlen(date) && (*s)[14] == ':' && (*s)[17] == ':' &&
	       skip_brackets(s, end, " :0123456789ADFJMNOSTWabcdeghilnoprtuvy", 24);
}

/* Does the text end with the tag of the kernel's messages in a log of several programs? */
static int ends_kernel(const char *s, const char *end)
{
	return end - s > 7 && !memcmp(end - 7, " kernel", 7);
}

/* Return the text after the stamp of the kernel's log, or s if there is none. */
static const char *after_stamp(const char *s, const char *end, struct text_part *host)
{
	const char *last = end - s > MOST ? s + MOST : end, *from;

	/* the text of the kernel's messages can have this, too */
	for (const char *p = s; p < last && *p != '['; p++)
		if (*p == ':' && ends_kernel(s, p) && begins(p, end, ": ")) {
			p -= 7;
			from = before(s, p, not_blank);
			if (!host->text)
				*host = (struct text_part){ from, (size_t)(p - from) };
			s = p + strlen(" kernel: ");
			break;
		}
	skip_time(&s, end);
	return s;
}

/* Does a line that is no event, of one of the first so many kinds, begin at s? */
enum { OF_TRACE_CMD = 2, OF_ALL = 6 };
static int is_beside(const char *s, const char *end, size_t kinds)
{
	static const char *const heads[] = { "CPU:", "cpus=", "#", "=> ", " => ", "{\"" };

	for (size_t i = 0; i < kinds; i++)
		if (begins(s, end, heads[i]))
			return 1;
	return 0;
}

/* Return the text after the name of a file, or s if there is none. */
static const char *after_file(const char *s, const char *end, struct text_part *host)
{
	const char *last = end - s > MOST ? s + MOST : end;

	for (const char *p = s + 1; p < last; p++) {
		const char *rest = p + 1, *stamp = rest, *name;

		if (*p != ':' && *p != '-')
			continue;
		if (*p == ':' && rest < end && *rest == ' ' && !ends_kernel(s, p) &&
		    (is_aligned(rest + 1, end) || is_beside(rest + 1, end, OF_TRACE_CMD)))
			rest++;
		else if (!is_aligned(rest, end) && !is_beside(rest, end, OF_ALL) &&
			 !skip_time(&stamp, end))
			continue;
		name = before(s, p, is_digit); /* the number of the line */
		if (name > s && name < p && name[-1] == *p)
			p = name - 1;
		else if (name == s)
			p = s;
		*host = (struct text_part){ s, (size_t)(p - s) };
		return rest;
	}
	return s;
}

/* Does a line's head begin at s with a name that a task can have? */
static int is_head(const char *s, const char *end)
{
	struct seen l = { .prefix = "" };

	return line_head(&l, s, end) && event_text_length(l.comm.text, l.comm.n) <= COMM;
}

size_t line_prefix(const char *line, size_t n, struct text_part *host)
{
	static const char bom[] = "\xef\xbb\xbf";
	const char *s = line, *end = line + n, *p;

	*host = (struct text_part){ NULL, 0 };
	if (begins(s, end, bom)) /* editors of other systems */
		s += strlen(bom);
	/* a line without an origin begins with a space: names are shorter than their column */
	if (s == end || is_blank(*s) || strchr("#{=", *s))
		return (size_t)(s - line);
	for (p = s; p < end && (in_name(*p) || *p == '-'); p++)
		;
	if (p > s && begins(spaces(p, end), end, "| ")) {
		*host = (struct text_part){ s, (size_t)(p - s) };
		return (size_t)(spaces(p, end) - line) + 2;
	}
	if (!is_head(s, end))
		s = after_stamp(after_file(s, end, host), end, host);
	if (!host->n)
		*host = (struct text_part){ NULL, 0 };
	return (size_t)(s - line);
}
