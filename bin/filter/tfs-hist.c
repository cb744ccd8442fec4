/* SPDX-License-Identifier: ISC */
/*
 * tfs-hist - draw a histogram of the values of a key, by powers of two
 *
 * Requires: only a trace on standard input, as text or lines of JSON, or lines with one
 * number each.
 * With several -b, tfs-hist draws a histogram for each combination of values.
 * At the end of the trace, tfs-hist prints the histograms, that with most values first.
 * Each has a title with the number of values, the least and the greatest, and a line for
 * each power of two between them. Comment lines count the events that lack the key or have
 * no number in it. On a terminal, tfs-hist prints as with -H. tfs-hist ignores SIGINT, so
 * that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no value, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "interval.h"
#include "quantiles.h"

static const char *key = "lat";
static struct opt_list by = { .v = OPT_LIST(NULL) };
static int header, percentiles, metrics;
static unsigned long every;

static const struct tool tool = {
	TOOL_TFS_HIST,
	.places = (const struct opt_place[]){
		{ 'k', .text = &key }, { 'b', .list = &by }, { 'H', .flag = &header },
		{ 'p', .flag = &percentiles }, { 'i', .number = &every },
		{ 'M', .flag = &metrics }, { 0 },
	},
};

enum { BAR = 40, NUMBER = 24 };

/* The histogram of one value of -b. least_text and most_text are as in the input. */
struct hist {
	struct table_entry entry;
	unsigned long long n;
	struct decimal least, most, total;      /* total of -M, without negative numbers */
	char least_text[NUMBER], most_text[NUMBER];
	unsigned first, count;                  /* powers in use, from DECIMAL_POWER_MIN on */
	unsigned long long *counters;           /* one for each power in use */
	struct quantiles values;
};

static struct input in;

/* The histograms of the whole trace, and of the events since the last table. */
static struct table hists = { .size = sizeof(struct hist) };
static struct table recent = { .size = sizeof(struct hist) };
static int precise;                             /* a number has digits after its point */
static unsigned long long events;
static unsigned long long no_key, no_number;    /* events */
static unsigned long long other_lines;          /* that are neither event nor number */
static int plain;                               /* an event's clock does not count seconds */

/* Return the counter of a power. Extend the array of counters if the power is outside. */
static unsigned long long *counter(struct hist *h, unsigned power)
{
	unsigned first = h->count && h->first < power ? h->first : power;
	unsigned end = h->first + h->count > power ? h->first + h->count : power + 1;

	if (first != h->first || end - first != h->count) {
		unsigned long long *more = xcalloc(end - first, sizeof(*more));

		if (h->count)
			memcpy(more + (h->first - first), h->counters, h->count * sizeof(*more));
		free(h->counters);
		h->counters = more;
		h->first = first;
		h->count = end - first;
	}
	return &h->counters[power - h->first];
}

static void keep(char *text, struct text_part p)
{
	/* cut a number that does not fit: it can have many leading zeros or decimals */
	str_format(text, NUMBER, "%.*s", (int)(p.n < NUMBER ? p.n : NUMBER), p.text);
}

static void count(struct hist *h, const struct decimal *v, struct text_part p)
{
	int power;

	if (!h->n || decimal_compare(v, &h->least) < 0) {
		h->least = *v;
		keep(h->least_text, p);
	}
	if (!h->n || decimal_compare(v, &h->most) > 0) {
		h->most = *v;
		keep(h->most_text, p);
	}
	h->n++;
	power = decimal_power(v);
	if (metrics) { /* buckets of Prometheus have the greatest number in them */
		power -= power > 0 && !v->nano && !(v->whole & (v->whole - 1));
		decimal_add(&h->total, v);
	}
	++*counter(h, (unsigned)(power - DECIMAL_POWER_MIN));
	quantiles_add(&h->values, v);
}

/* Compare two histograms: that with most values first, then by name. */
static int order(const void *a, const void *b)
{
	const struct hist *x = *(struct hist *const *)a, *y = *(struct hist *const *)b;

	return x->n != y->n ? ASCENDING(y->n, x->n) : table_by_key(a, b);
}

/* Format 2^power as bpftrace does: 512, 1K, 64M. */
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

static void draw(const struct hist *h)
{
	static const char bar[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
				  "                                        ";
	unsigned long long most = 0;

	for (unsigned i = 0; i < h->count; i++)
		most = h->counters[i] > most ? h->counters[i] : most;
	for (unsigned i = 0; i < h->count; i++) {
		char range[NUMBER];
		/* round up, so that any value is visible; count * BAR fits into 64 bits */
		int n = (int)((h->counters[i] * BAR + most - 1) / most);

		label(range, sizeof(range), (int)(h->first + i) + DECIMAL_POWER_MIN);
		stdout_print("%-14s %8llu |%.40s|\n", range, h->counters[i], bar + BAR - n);
	}
}

/* Print a title such as "lat comm=ls cpu=001: 12 values, 3 to 95", and the unit after it. */
static void print_title(const struct hist *h, const char *unit)
{
	const char *value = h->entry.key;

	stdout_print("%s", events ? key : "numbers");
	for (const char **k = by.v; *k; k++) {
		int n = (int)strcspn(value, "\t");

		stdout_print(" %s=%.*s", *k, n, value);
		value += n + (value[n] != '\0');
	}
	stdout_print(": %llu value%s, %s to %s%s\n", h->n, h->n == 1 ? "" : "s", h->least_text,
		     h->most_text, unit);
}

/* Print percentiles, unless there are negative numbers. */
static void print_percentiles(const struct hist *h, const char *unit)
{
	static const unsigned percent[] = { 50, 90, 99 };
	char number[DECIMAL_TEXT];

	for (int i = 0; !h->least.negative && i < 3; i++) {
		struct decimal v = quantiles_get(&h->values, percent[i], &h->least, &h->most,
						 !precise);

		decimal_text(number, &v, precise);
		stdout_print("%sp%u %s%s", i ? ", " : "", percent[i], number,
			     i < 2 ? "" : unit);
	}
	if (!h->least.negative)
		stdout_print("\n");
}

static void print_hist(const struct hist *h)
{
	const char *unit = header && events && !plain && !strcmp(key, "lat") ? " us" : "";

	print_title(h, unit);
	if (percentiles || header)
		print_percentiles(h, unit);
	if (header)
		stdout_print("range             count\n");
	draw(h);
}

static void print_metrics(const struct table *t)
{
	int seconds = events && !plain && !strcmp(key, "lat");
	const char *family = seconds ? "tfs_latency_seconds" : "tfs_value";
	static struct strbuf labels;

	metrics_family(family, "histogram", seconds ? "Latencies of events." :
						      "Values of a field of events.");
	for (size_t i = 0; i < t->n; i++) {
		const struct hist *h = (const struct hist *)t->v[i];
		uint64_t buckets[METRICS_BUCKETS + 1] = { 0 };
		char sum[DECIMAL_TEXT] = "";

		for (unsigned k = 0; k < h->count; k++) {
			int power = (int)(h->first + k) + DECIMAL_POWER_MIN;

			buckets[power < 0 ? 0 : power < METRICS_BUCKETS ? power :
				METRICS_BUCKETS] += h->counters[k];
		}
		metrics_labels(&labels, by.v, h->entry.key);
		if (h->least.negative) /* Prometheus has no sum of negative numbers */
			;
		else if (seconds)
			metrics_seconds(sum, &h->total);
		else
			decimal_text(sum, &h->total, precise);
		metrics_histogram(family, labels.text, buckets, sum, seconds);
	}
}

/* Print the histograms since the last time, or at the end those of the whole trace. */
static void print_hists(const struct interval_now *at)
{
	struct table *t = at->all ? &hists : &recent;

	table_sort(t, order);
	if (metrics) {
		print_metrics(t);
		return;
	}
	for (size_t i = 0; i < t->n; i++)
		print_hist((struct hist *)t->v[i]);
	if (at->all)
		return;
	for (size_t i = 0; i < t->n; i++) {
		struct hist *h = (struct hist *)t->v[i];

		free(h->counters);
		quantiles_clear(&h->values);
		free(h);
	}
	free(recent.v);
	recent = (struct table){ .size = sizeof(struct hist) };
}

/* Print a comment line such as "# not in 3 events" unless n is 0. */
static void print_count(const char *what, unsigned long long n, const char *noun)
{
	if (n && !metrics)
		stdout_print("# %s %llu %s%s\n", what, n, noun, n == 1 ? "" : "s");
}

static struct text_part trimmed(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	return (struct text_part){ s, n };
}

static void each_line(void)
{
	static struct strbuf values;
	struct text_part p = trimmed(in.line, in.n);
	struct decimal v;
	int event = input_look(&in);

	if (comments_keep(&in.comments, in.line) || (!event && (!p.n || *p.text == '#')))
		return;
	if (event) {
		p = seen_text(&in.l, key);
		events++;
		metrics_time(&in.l);
		plain |= !memchr(in.l.time.text, '.', in.l.time.n);
	} else {
		if (events && decimal_parse(&v, p) < 0)
			comments_miss(&in.comments, &in.l);
		in.l = (struct seen){ .prefix = "" };
	}
	if (event && !p.text) {
		no_key++;
	} else if (decimal_parse(&v, p) < 0) {
		++*(event ? &no_number : &other_lines);
	} else {
		seen_values(&values, &in.l, by.v);
		precise |= v.nano != 0;
		count(table_at(&hists, values.text, values.n), &v, p);
		if (every)
			count(table_at(&recent, values.text, values.n), &v, p);
	}
}

int main(int argc, char **argv)
{
	header = isatty(STDOUT_FILENO);
	opt_next(&tool, argc, argv);
	if (metrics && every)
		usage_error(&tool, "--metrics cannot be combined with --every");
	in.metrics = metrics;
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);

	interval_begin(&in, every, print_hists);
	input_each(&in, each_line);
	interval_end();
	print_count("not in", no_key, "event");
	print_count("no number in", no_number, "event");
	print_count("no number in", events ? 0 : other_lines, "line");
	return input_end(&in, hists.n ? NULL : "no number in the trace");
}
