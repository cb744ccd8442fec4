/* SPDX-License-Identifier: ISC */
/*
 * tfs-hist - draw how the values of a key are spread, by powers of two
 *
 * Requires: nothing but a trace on standard input, as text or lines of JSON; or
 * lines with a number each.
 *	-k KEY      the values of this: lat (default), or any key of tfs-count's
 *	-b KEY      a histogram for each value of this; with several, for what
 *	            they have together
 * At the end of the trace: for each histogram, the one of most values first, how
 * many there were, the least and the greatest, and a line for each power of two
 * from the least's to the greatest's. Events that have no such key, or no number
 * in it, are told. An interrupt from the terminal is the trace's to hear.
 * Exit: 0 done, 1 no value, 100 misused, 111 refused.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "filter/filter.h"

static const struct tool tool = {
	.name = "tfs-hist",
	.usage = "tfs-hist [-k KEY] [-b KEY]...",
	.purpose = "draw how the values of a key are spread, by powers of two",
	.letters = "k:b:",
};

enum { BAR = 40, NUMBER = 24 };

/* Of the values of one -b; the words of a number are kept as they were read. */
struct hist {
	struct table_entry entry;
	unsigned long long n;
	struct decimal least, most;
	char least_text[NUMBER], most_text[NUMBER];
	unsigned first, count;                  /* powers at hand, from DECIMAL_POWER_MIN on */
	unsigned long long *at;
};

struct counts {
	unsigned long long events, without, odd, others;
};

/* The place of a power, which may be outside of those at hand. */
static unsigned long long *counter(struct hist *h, unsigned power)
{
	unsigned first = h->count && h->first < power ? h->first : power;
	unsigned end = h->first + h->count > power ? h->first + h->count : power + 1;

	if (first != h->first || end - first != h->count) {
		unsigned long long *more = xcalloc(end - first, sizeof(*more));

		if (h->count)
			memcpy(more + (h->first - first), h->at, h->count * sizeof(*more));
		free(h->at);
		h->at = more;
		h->first = first;
		h->count = end - first;
	}
	return &h->at[power - h->first];
}

static void keep(char *text, struct text_part p)
{
	/* zeros in front or digits without end; a number has no more than so many */
	str_format(text, NUMBER, "%.*s", (int)(p.n < NUMBER ? p.n : NUMBER), p.text);
}

static void count(struct hist *h, const struct decimal *v, struct text_part p)
{
	if (!h->n || decimal_compare(v, &h->least) < 0) {
		h->least = *v;
		keep(h->least_text, p);
	}
	if (!h->n || decimal_compare(v, &h->most) > 0) {
		h->most = *v;
		keep(h->most_text, p);
	}
	h->n++;
	++*counter(h, (unsigned)(decimal_power(v) - DECIMAL_POWER_MIN));
}

/* The most values first, then by name. */
static int order(const void *a, const void *b)
{
	const struct hist *x = *(struct hist *const *)a, *y = *(struct hist *const *)b;

	return x->n != y->n ? x->n < y->n ? 1 : -1 : table_by_key(a, b);
}

/* 2^power as bpftrace writes it: 512, 1K, 64M. */
static size_t put_power(char *s, size_t size, int power)
{
	static const char units[] = "\0KMGTPE";

	return str_format(s, size, units[power / 10] ? "%u%c" : "%u", 1u << power % 10,
			  units[power / 10]);
}

static void label(char *s, size_t size, int power)
{
	char low[8] = "0", high[8];
	int p = power < 0 ? -1 - power : power;

	if (p)
		put_power(low, sizeof(low), p - 1);
	put_power(high, sizeof(high), p);
	if (power >= 0)
		str_format(s, size, "[%s, %s)", low, high);
	else
		str_format(s, size, p ? "(-%s, -%s]" : "(-%s, %s)", high, low);
}

static const char *pad(const char *text, size_t width)
{
	static const char blanks[] = "                    ";
	size_t n = strlen(text);

	return blanks + sizeof(blanks) - 1 - (n < width ? width - n : 0);
}

static void draw(const struct hist *h)
{
	static const char bar[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
				  "                                        ";
	unsigned long long most = 0;

	for (unsigned i = 0; i < h->count; i++)
		most = h->at[i] > most ? h->at[i] : most;
	for (unsigned i = 0; i < h->count; i++) {
		char range[NUMBER], number[NUMBER];
		/* what is there is seen; 64 bits hold any count times BAR */
		int n = (int)((h->at[i] * BAR + most - 1) / most);

		label(range, sizeof(range), (int)(h->first + i) + DECIMAL_POWER_MIN);
		str_format(number, sizeof(number), "%llu", h->at[i]);
		stdout_print("%s%s %s%s |%.40s|\n", range, pad(range, 14), pad(number, 8), number,
			     bar + BAR - n);
	}
}

/* "lat comm=ls cpu=001: 12 values, 3 to 95" */
static void print_title(const struct hist *h, const char *key, const char *const *by)
{
	const char *value = h->entry.key;

	stdout_print("%s", key);
	for (; *by; by++) {
		int n = (int)strcspn(value, "\t");

		stdout_print(" %s=%.*s", *by, n, value);
		value += n + (value[n] != '\0');
	}
	stdout_print(": %llu value%s, %s to %s\n", h->n, h->n == 1 ? "" : "s", h->least_text,
		     h->most_text);
}

static void tell(const char *what, unsigned long long n, const char *of)
{
	if (n)
		stdout_print("# %s %llu %s%s\n", what, n, of, n == 1 ? "" : "s");
}

static struct text_part trimmed(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	return (struct text_part){ s, n };
}

int main(int argc, char **argv)
{
	static const char **by;
	static struct table table = { .size = sizeof(struct hist) };
	static struct remarks remarks;
	static struct strbuf words;
	static struct line_reader in;
	struct counts counts = { 0 };
	const char *key = "lat";
	size_t nby = 0;
	char *line;
	ssize_t n;
	int c;

	by = xcalloc((size_t)argc + 1, sizeof(*by));
	while ((c = opt_next(&tool, argc, argv)) != -1) {
		if (!*opt_value || !strcmp(opt_value, "."))
			usage_error(&tool, "not a key: '%s'", opt_value);
		if (c == 'k')
			key = opt_value;
		else
			by[nby++] = opt_value;
	}
	if (argv[opt_index])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index]);

	confine();
	signal(SIGINT, SIG_IGN);
	while ((n = line_read(&in, &line)) >= 0) {
		struct trace_line l;
		struct text_part p = trimmed(line, (size_t)n);
		struct decimal v;
		int event = trace_line(&l, line, (size_t)n);

		if (remarks_keep(&remarks, line) || (!event && (!p.n || *p.text == '#')))
			continue;
		if (event)
			p = trace_line_key(&l, key);
		else
			l = (struct trace_line){ .prefix = "" };
		counts.events += event != 0;
		if (event && !p.text) {
			counts.without++;
		} else if (decimal_parse(&v, p) < 0) {
			++*(event ? &counts.odd : &counts.others);
		} else {
			trace_line_values(&words, &l, by);
			count(table_at(&table, words.text, words.n), &v, p);
		}
	}
	table_sort(&table, order);
	for (size_t i = 0; i < table.n; i++) {
		print_title((struct hist *)table.v[i], counts.events ? key : "numbers", by);
		draw((struct hist *)table.v[i]);
	}
	tell("not in", counts.without, "event");
	tell("no number in", counts.odd, "event");
	tell("no number in", counts.events ? 0 : counts.others, "line");
	remarks_print(&remarks);
	stdout_flush();
	return table.n ? DONE : NO;
}
