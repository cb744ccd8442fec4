/* SPDX-License-Identifier: ISC */
/*
 * tfs-summary - sum up a trace: calls, errors and times of each system call
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * tfs-summary pairs the beginning and the end of each system call, as tfs-latency syscalls
 * does; a call that seccomp(2) denies counts. For other events it sums up the lat= that
 * tfs-latency has appended: for each next_comm of sched_switch, for each dev and rwbs of block
 * devices, otherwise for each event. If no event has lat=, it counts the events.
 * At the end of the trace, tfs-summary prints a header, a line for each key, and a line
 * with the total. Times are in microseconds. Comment lines count what the table lacks; the
 * lines about lost events come last. tfs-summary ignores SIGINT, so that the program that
 * makes the trace can finish first.
 * Exit: 0 done, 1 nothing to sum up, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "lines/lines.h"
#include "line_calls.h"

static struct opt_list given_keys = { .v = OPT_LIST(NULL) };
static unsigned long most = ULONG_MAX;

static const struct tool tool = {
	.name = "tfs-summary",
	.help =
		"tfs-summary [-k KEY]... [-n N] [-s COLUMN]\n"
		"sum up a trace: calls, errors and times of each system call\n"
		"-k, --key KEY  one line for each value of KEY, any key of tfs-count\n"
		"-n, --top N:1-  print only the first N lines, and the total of all\n"
		"-s, --sort COLUMN  sort by calls, errors, total (default), avg or max\n",
	.places = (const struct opt_place[]){
		{ 'k', .list = &given_keys }, { 'n', .number = &most }, { 0 },
	},
};

enum { CALLS, ERRORS, TOTAL, AVG, MAX, COLUMNS };

static const char *const column_names[COLUMNS] = { "calls", "errors", "total", "avg", "max" };

/* The kinds of events that tfs-summary distinguishes, and their keys without -k. */
static const struct kind {
	const char *glob, *keys[3];
} kinds[] = {
	{ "sys_*", { "syscall" } }, /* line_calls_side decides */
	{ "sched_switch", { "next_comm" } },
	{ "signal_*", { "event", "sig" } },
	{ "block_*", { "dev", "rwbs" } },
	{ "*", { "event" } },
};

enum { KIND_CALL };

/* A line of the table. The first byte of its key is the number of its kind, and not printed. */
struct row {
	struct table_entry entry;
	unsigned long long calls, errors, timed;
	struct decimal total, avg, max; /* of the timed calls, in microseconds */
};

static struct summary {
	const char **keys;              /* of -k; empty: those of the kind */
	struct table rows;
	struct table untimed;           /* events without lat; shown if there are no others */
	struct strbuf key, event;
	struct row all;
	unsigned long long no_begin, denied, no_time, no_lat;
	int other;                      /* the trace has lines that are not events */
	int precise;                    /* a time has digits after its point */
	int plain;                      /* a clock without a point has its own unit */
} sum;

/* The owner of a task is the row of its call. */
static struct line_calls calls = { .pairing.tasks.size = sizeof(struct call_task) };

/* ---- times ------------------------------------------------------------------------- */

enum { NANO = 1000000000, UNTIMED = -2 /* digits of a beginning without a time */ };

/* Add a time. The greatest number of microseconds stays where it is. */
static void add(struct decimal *to, const struct decimal *v)
{
	uint32_t nano = to->nano + v->nano, carry = nano >= NANO;

	if (to->whole >= UINT64_MAX - v->whole) {
		to->whole = UINT64_MAX;
		to->nano = 0;
		return;
	}
	to->whole += v->whole + carry;
	to->nano = nano - carry * NANO;
}

/* Return total / n, cut to nanoseconds. n is a number of events, so no product overflows. */
static struct decimal average(const struct decimal *total, unsigned long long n)
{
	struct decimal v = { .whole = total->whole / n };

	v.nano = (uint32_t)((total->whole % n * 1000 + total->nano / 1000000) / n) * 1000000;
	return v;
}

static void add_time(struct row *r, const struct decimal *v)
{
	add(&r->total, v);
	r->timed++;
	if (decimal_compare(v, &r->max) > 0)
		r->max = *v;
}

/* ---- events ------------------------------------------------------------------------ */

static int is_error(const struct trace_line *l)
{
	int64_t result;

	return l->error.n || (!line_calls_result(l, &result) && error_of_result(result));
}

/* Return whether an event that is not a call has an error: another error than 0, or ret < 0. */
static int has_error(const struct trace_line *l)
{
	struct text_part p = trace_line_key(l, "error");
	struct decimal v;

	if (p.text && !decimal_parse(&v, p))
		return v.whole != 0;
	return is_error(l);
}

/* Set sum.key to the first byte and the key of the event's row. */
static void make_row_key(const struct trace_line *l, size_t kind)
{
	static struct strbuf values;
	int named = kind == KIND_CALL && !*sum.keys;

	if (!named)
		trace_line_values(&values, l, *sum.keys ? sum.keys : kinds[kind].keys);
	sum.key.n = 0;
	strbuf_format(&sum.key, "%c", '0' + (int)kind);
	strbuf_puts(&sum.key, named ? calls.name.text : values.text);
}

static struct row *row_of(struct table *rows, const struct trace_line *l, size_t kind)
{
	make_row_key(l, kind);
	return table_at(rows, sum.key.text, sum.key.n);
}

/* Read the lat of an event. Return 0, or -1 if it is not a number, or negative. */
static int read_lat(const struct trace_line *l, struct text_part p, struct decimal *v)
{
	if (decimal_parse(v, p) < 0 || v->negative)
		return -1;
	sum.precise |= memchr(p.text, '.', p.n) != NULL;
	sum.plain |= !memchr(l->time.text, '.', l->time.n);
	return 0;
}

/* Read the time from the beginning of a call to its end. Return 0, or -1 if there is none. */
static int measure(const struct call_task *t, const struct trace_line *l, struct decimal *v)
{
	struct latency_event m;

	if (t->begun.digits == UNTIMED || trace_line_time(l, &m.time, &m.digits) < 0 ||
	    (m.digits < 0) != (t->begun.digits < 0))
		return -1;
	*v = latency_start_time(&t->begun, &m);
	if (v->negative)
		return -1;
	sum.precise |= m.digits > 6 || t->begun.digits > 6;
	sum.plain |= m.digits < 0;
	return 0;
}

static void each_call(const struct trace_line *l)
{
	struct call_task *t;
	enum pairing_fate fate = line_calls_event(&calls, l, &t);
	struct text_part lat;
	struct decimal v;
	struct row *r;

	if (fate == PAIRING_NOTHING || fate == PAIRING_BORN)
		return;
	if (fate == PAIRING_RESUMED) {
		sum.no_begin++;
		return;
	}
	if ((fate == PAIRING_RETURNED && t) || fate == PAIRING_ACROSS) {
		r = t->owner;
	} else {
		r = row_of(&sum.rows, l, KIND_CALL);
		r->calls++;
	}
	switch (fate) {
	case PAIRING_BEGAN:
		t->owner = r;
		if (trace_line_time(l, &t->begun.time, &t->begun.digits) < 0)
			t->begun.digits = UNTIMED;
		break;
	case PAIRING_RETURNED:
	case PAIRING_ACROSS:
		r->errors += (unsigned)is_error(l);
		lat = trace_line_key(l, "lat");
		if (fate == PAIRING_RETURNED &&
		    (lat.text ? !read_lat(l, lat, &v) : !measure(t, l, &v)))
			add_time(r, &v);
		else
			sum.no_time++;
		break;
	default:
		r->errors += fate == PAIRING_DENIED;
		sum.denied += fate == PAIRING_DENIED;
	}
}
static void each_event(const struct trace_line *l)
{
	size_t kind = KIND_CALL + 1;
	struct text_part lat;
	struct decimal v;
	struct row *r;

	if (line_calls_side(l)) {
		each_call(l);
		return;
	}
	lat = trace_line_key(l, "lat");
	sum.event.n = 0;
	strbuf_add(&sum.event, l->event.text, l->event.n);
	while (!glob_matches(kinds[kind].glob, sum.event.text))
		kind++;
	r = row_of(lat.text ? &sum.rows : &sum.untimed, l, kind);
	r->calls++;
	r->errors += (unsigned)has_error(l);
	if (!lat.text)
		sum.no_lat++;
	else if (!read_lat(l, lat, &v))
		add_time(r, &v);
	else
		sum.no_time++;
}

/* ---- the table --------------------------------------------------------------------- */

static size_t sort_column = TOTAL;

static int compare_numbers(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

/* Compare two rows by the column, the greatest first, then by calls, then by name. */
static int order(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int differ = sort_column == ERRORS ? compare_numbers(x->errors, y->errors) :
		     sort_column == TOTAL ? decimal_compare(&y->total, &x->total) :
		     sort_column == AVG ? decimal_compare(&y->avg, &x->avg) :
		     sort_column == MAX ? decimal_compare(&y->max, &x->max) : 0;

	differ = differ ? differ : compare_numbers(x->calls, y->calls);
	return differ ? differ : table_by_key(a, b);
}

/* Write a cell to s (DECIMAL_TEXT bytes). A row without a timed call has "-" for its times. */
static void put_cell(char *s, const struct row *r, int column)
{
	if (column < TOTAL)
		str_format(s, DECIMAL_TEXT, "%llu", column == CALLS ? r->calls : r->errors);
	else if (!r->timed)
		str_format(s, DECIMAL_TEXT, "-");
	else
		decimal_text(s, column == TOTAL ? &r->total : column == AVG ? &r->avg : &r->max,
			     sum.precise);
}

static size_t widths[COLUMNS] = { 9, 9, 11, 11, 11 };

static void print_row(const struct row *r, const char *name)
{
	char cell[DECIMAL_TEXT];

	for (int i = 0; i < COLUMNS; i++) {
		put_cell(cell, r, i);
		stdout_print("%*s", (int)widths[i], cell);
	}
	stdout_print("  %s\n", name);
}

static void print_header(void)
{
	const char *const *keys = sum.keys;
	size_t kind = 0;
	unsigned used = 0;
	char cell[24];

	for (size_t i = 0; i < sum.rows.n; i++)
		used |= 1u << (*sum.rows.v[i]->key - '0');
	for (; !(used & 1); used >>= 1)
		kind++;
	if (!*keys && used == 1)
		keys = kinds[kind].keys;
	for (int i = 0; i < COLUMNS; i++) {
		str_format(cell, sizeof(cell), "%s%s", column_names[i],
			   i >= TOTAL && !sum.plain ? " us" : "");
		stdout_print("%*s", (int)widths[i], cell);
	}
	stdout_print("  %s", *keys ? *keys : "name");
	for (size_t i = 1; *keys && keys[i]; i++)
		stdout_print("\t%s", keys[i]);
	stdout_print("\n");
}

/* Add up all rows, and make the columns as wide as their greatest numbers. */
static void add_up(void)
{
	char cell[DECIMAL_TEXT];

	for (size_t i = 0; i < sum.rows.room; i++) {
		struct row *r = (struct row *)sum.rows.v[i];

		if (!r)
			continue;
		if (r->timed)
			r->avg = average(&r->total, r->timed);
		sum.all.calls += r->calls;
		sum.all.errors += r->errors;
		sum.all.timed += r->timed;
		add(&sum.all.total, &r->total);
		if (decimal_compare(&r->max, &sum.all.max) > 0)
			sum.all.max = r->max;
	}
	if (sum.all.timed)
		sum.all.avg = average(&sum.all.total, sum.all.timed);
	for (int i = 0; i < COLUMNS; i++) {
		/* no average of a row is above the greatest time */
		put_cell(cell, &sum.all, i == AVG ? MAX : i);
		if (strlen(cell) + 2 > widths[i])
			widths[i] = strlen(cell) + 2;
	}
}

/* Print a comment line, unless n is 0. */
static void print_count(const char *what, unsigned long long n, const char *counted)
{
	if (n)
		stdout_print("# %s: %llu (%s)\n", what, n, counted);
}

static void print_table(void)
{
	if (!sum.rows.n) {
		sum.rows = sum.untimed;
		sum.no_lat = 0;
	}
	add_up();
	table_sort(&sum.rows, order);
	if (sum.rows.n) {
		print_header();
		for (size_t i = 0; i < sum.rows.n && i < most; i++) {
			trace_line_shorten(sum.rows.v[i]->key + 1);
			print_row((struct row *)sum.rows.v[i], sum.rows.v[i]->key + 1);
		}
		print_row(&sum.all, "total");
	}
	line_calls_end(&calls);
	print_count("calls without an end", calls.no_end, "counted, without a time");
	print_count("calls that seccomp denied", sum.denied, "counted, without a time");
	print_count("calls of unknown time", sum.no_time,
		    "counted; events were lost meanwhile, or the clock went back");
	print_count("ends without a beginning", sum.no_begin, "not counted");
	print_count("events without a time", sum.no_lat, "not counted");
}

static void parse_column(const char *text)
{
	for (sort_column = 0; sort_column < COLUMNS; sort_column++)
		if (!strcmp(text, column_names[sort_column]))
			return;
	usage_error(&tool, "not a column: '%.80s'; there are calls, errors, total, avg and max",
		    text);
}

int main(int argc, char **argv)
{
	static struct input in;

	sum.rows.size = sizeof(struct row);
	sum.untimed.size = sizeof(struct row);
	while (opt_next(&tool, argc, argv) != -1)
		parse_column(opt_value);
	sum.keys = given_keys.v;
	opt_end(&tool, argv[opt_index]);

	input_begin();
	while (input_read(&in))
		if (!input_event(&in)) {
			sum.other |= *in.line != '#' && *in.line != '{';
			comments_keep(&in.comments, in.line);
			/* the end of an open call may be that of a later call */
			calls.pairing.losses += (uint32_t)comments_is_gap(in.line);
		} else if (!in.l.stack) {
			each_event(&in.l);
		}
	if (in.in.failed)
		return REFUSED;
	print_table();
	input_end(&in, DONE);
	if (!sum.rows.n && sum.other)
		err_msg("unable to sum up lines that are not events; leave the summary out");
	return sum.rows.n ? DONE : NO;
}
