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
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "interval.h"
#include "quantiles.h"
#include "line_calls.h"

enum { ADDED_MAX = 4 };
static struct opt_list given_keys = { .v = OPT_LIST(NULL) };
static struct opt_list added = { .v = OPT_LIST(NULL) };
static unsigned long most = ULONG_MAX, every;
static int human, json, headed, metrics;

static struct input in;
static struct line_calls calls = { .pairing.tasks.size = sizeof(struct call_task) };

static const struct tool tool = {
	TOOL_TFS_SUMMARY,
	.places = (const struct opt_place[]){
		{ 'k', .list = &given_keys }, { 'n', .number = &most }, { 'H', .flag = &human },
		{ 'i', .number = &every }, { 'a', .list = &added }, { 'j', .flag = &json },
		{ 'M', .flag = &metrics }, { 'b', .flag = &calls.pairing.complete }, { 0 },
	},
};

/* The columns from ADDED on are those of -a, and those from TOTAL on are times. */
enum summary_column {
	SHARE, CALLS, RATE, ERRORS, ADDED,
	TOTAL = ADDED + ADDED_MAX, AVG, LEAST, P50, P99, MAX, NAME, COLUMNS
};

/* The columns, and their least widths as numbers and for people. */
static struct {
	const char *name;
	size_t width, people;
} columns[COLUMNS] = {
	[SHARE] = { "share", 9, 6 }, [CALLS] = { "calls", 9, 9 }, [RATE] = { "calls/s", 11, 9 },
	[ERRORS] = { "errors", 9, 7 }, [TOTAL] = { "total", 11, 9 }, [AVG] = { "avg", 11, 9 },
	[LEAST] = { "min", 11, 9 }, [P50] = { "p50", 11, 9 }, [P99] = { "p99", 11, 9 },
	[MAX] = { "max", 11, 9 }, [NAME] = { "name", 0, 0 },
};

static enum summary_column shown[COLUMNS];
static size_t nshown;

/* The kinds of events that tfs-summary distinguishes, and their keys without -k. */
static const struct kind {
	const char *glob, *keys[3];
} kinds[] = {
	{ "sys_*", { "syscall" } }, /* seen_side decides */
	{ "sched_switch", { "next_comm" } },
	{ "signal_*", { "event", "sig" } },
	{ "block_*", { "dev", "rwbs" } },
	{ "contention_*", { "comm", "flags" } },
	{ "*", { "event" } },
};

enum { KIND_CALL };

/* The sums of the events of a row. */
struct sums {
	unsigned long long calls, errors, timed, added[ADDED_MAX];
	struct decimal total, least, most; /* of the timed calls, in microseconds */
	struct quantiles times;
};

/*
 * A line of the table. The first byte of its key is the number of its kind; with the key pid, the
 * second byte distinguishes tasks with the same pid. These two bytes are not printed.
 */
enum { HIDDEN = 2 };
struct row {
	struct table_entry entry;
	struct sums now, all;           /* since the last table; before that */
	uint64_t *buckets;              /* for metrics: of the timed calls */
};

/* Errors of a row that have one name. The key is the address of the row and the name. */
struct error_row {
	struct table_entry entry;
	const struct row *row;
	unsigned long long n;
};

static struct summary {
	const char **keys;              /* of -k; empty: those of the kind */
	struct table rows;
	struct table untimed;           /* events without lat; shown if there are no others */
	struct table errors;            /* for metrics, struct error_row */
	struct strbuf key, event;
	struct sums all;                /* of the table that is printed */
	unsigned long ms;               /* its time */
	unsigned long long no_begin, denied, answered, no_time, no_lat;
	int other;                      /* the trace has lines that are not events */
	int precise;                    /* a time has digits after its point */
	int plain;                      /* a clock without a point has its own unit */
	struct table lives;             /* struct life */
} sum;

/* How often a pid was used again */
struct life {
	struct table_entry entry;
	unsigned n;
};

/* The owner of a task is the row of its call. */

/* ---- times ------------------------------------------------------------------------- */

enum { UNTIMED = -2 /* digits of a beginning without a time */ };

/* Return total / n, cut to nanoseconds. n is a number of events, so no product overflows. */
static struct decimal average(const struct decimal *total, unsigned long long n)
{
	struct decimal v = { .whole = total->whole / n };

	v.nano = (uint32_t)((total->whole % n * 1000 + total->nano / 1000000) / n) * 1000000;
	return v;
}

static void add_time(struct row *r, const struct decimal *v)
{
	struct sums *to = &r->now;

	decimal_add(&to->total, v);
	if (!to->timed++ || decimal_compare(v, &to->least) < 0)
		to->least = *v;
	if (decimal_compare(v, &to->most) > 0)
		to->most = *v;
	quantiles_add(&to->times, v);
	if (!metrics)
		return;
	if (!r->buckets)
		r->buckets = xcalloc(METRICS_BUCKETS + 1, sizeof(*r->buckets));
	r->buckets[v->whole < UINT64_MAX / 2000 ?
		   metrics_bucket(v->whole * 1000 + (v->nano + 999999) / 1000000) :
		   METRICS_BUCKETS]++;
}

static void add_sums(struct sums *to, const struct sums *from)
{
	if (from->timed && (!to->timed || decimal_compare(&from->least, &to->least) < 0))
		to->least = from->least;
	if (decimal_compare(&from->most, &to->most) > 0)
		to->most = from->most;
	decimal_add(&to->total, &from->total);
	to->calls += from->calls;
	to->errors += from->errors;
	to->timed += from->timed;
	for (size_t i = 0; i < ADDED_MAX; i++)
		to->added[i] += from->added[i];
	quantiles_merge(&to->times, &from->times);
}

/* Add the sums of from, and set them to zero. */
static void move_sums(struct sums *to, struct sums *from)
{
	add_sums(to, from);
	quantiles_clear(&from->times);
	*from = (struct sums){ 0 };
}

/* ---- events ------------------------------------------------------------------------ */

static int is_error(const struct seen *l)
{
	int64_t result;

	return l->error.n || (!line_calls_result(l, &result) && error_of_result(result));
}

/*
 * Return whether an event that is not a call has an error: another number than 0, the name of an
 * error, or - or null for an unknown one; or ret < 0. An answer of DNS has a code.
 */
static int has_error(const struct seen *l)
{
	struct text_part p = seen_text(l, "error");
	struct decimal v;

	if (text_part_is(l->event, "dns_query"))
		return !text_part_is(seen_text(l, "code"), "NOERROR");
	if (p.text && !decimal_parse(&v, p))
		return v.whole != 0;
	return (p.n && error_of_name(p.text, p.n)) || text_part_is(p, "-") ||
	       text_part_is(p, "null") || is_error(l);
}

/* Return a byte that differs for tasks that have the same pid one after the other. */
static char life_of(const struct seen *l)
{
	const struct life *life = NULL;

	for (size_t i = 0; sum.lives.n && sum.keys[i]; i++)
		if (!strcmp(sum.keys[i], "pid"))
			life = table_find(&sum.lives, l->pid.text, l->pid.n);
	return (char)('0' + (life ? life->n % 64 : 0));
}

/* Set sum.key to the hidden bytes and the key of the event's row. */
static void make_row_key(const struct seen *l, size_t kind)
{
	static struct strbuf values;
	int named = kind == KIND_CALL && !*sum.keys;

	if (!named)
		seen_values(&values, l, *sum.keys ? sum.keys : kinds[kind].keys);
	strbuf_format(strbuf_empty(&sum.key), "%c%c", '0' + (int)kind, life_of(l));
	strbuf_puts(&sum.key, named ? calls.name.text : values.text);
}

/* Count an error of the row; for metrics, by its name. */
static void count_error(const struct seen *l, struct row *r)
{
	const char *key = text_part_is(l->event, "dns_query") ? "code" : "error";
	struct text_part name = l->error.n ? l->error : seen_text(l, key);
	const char *known = NULL;
	struct error_row *e;
	struct decimal v;
	int64_t number = 0;

	r->now.errors++;
	if (!metrics)
		return;
	if (name.n && !decimal_parse(&v, name))
		number = (int64_t)v.whole;
	else if (!name.n && !line_calls_result(l, &number))
		number = error_of_result(number);
	known = number ? name_of_error(number) : NULL;
	strbuf_add(strbuf_empty(&sum.key), (const char *)&r, sizeof(r));
	if (known || !number)
		strbuf_format(&sum.key, "%.*s", known ? (int)strlen(known) : (int)name.n,
			      known ? known : name.text);
	else
		strbuf_format(&sum.key, "%lld", (long long)number);
	e = table_at(&sum.errors, sum.key.text, sum.key.n);
	e->row = r;
	e->n++;
}

static struct row *row_of(struct table *rows, const struct seen *l, size_t kind)
{
	make_row_key(l, kind);
	return table_at(rows, sum.key.text, sum.key.n);
}

/* Add up the fields of -a. A field that is missing, no number or negative counts as 0. */
static void add_fields(struct row *r, const struct seen *l)
{
	struct decimal v;

	for (size_t i = 0; added.v[i]; i++)
		if (!decimal_parse(&v, seen_text(l, added.v[i])) && !v.negative)
			r->now.added[i] += v.whole;
}

/* Read the lat of an event. Return 0, or -1 if it is not a number, or negative. */
static int read_lat(const struct seen *l, struct text_part p, struct decimal *v)
{
	if (decimal_parse(v, p) < 0 || v->negative)
		return -1;
	sum.precise |= memchr(p.text, '.', p.n) != NULL;
	sum.plain |= !memchr(l->time.text, '.', l->time.n);
	return 0;
}

/* Read the time from the beginning of a call to its end. Return 0, or -1 if there is none. */
static int measure(const struct call_task *t, const struct seen *l, struct decimal *v)
{
	struct latency_event m;

	if (t->begun.digits == UNTIMED || seen_time(l, &m.time, &m.digits) < 0 ||
	    (m.digits < 0) != (t->begun.digits < 0))
		return -1;
	*v = latency_start_time(&t->begun, &m);
	if (v->negative)
		return -1;
	sum.precise |= m.digits > 6 || t->begun.digits > 6;
	sum.plain |= m.digits < 0;
	return 0;
}

static void each_call(const struct seen *l)
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
	if (line_calls_counts(fate, t)) {
		r = row_of(&sum.rows, l, KIND_CALL);
		r->now.calls++;
	} else {
		r = t->owner;
	}
	add_fields(r, l);
	switch (fate) {
	case PAIRING_BEGAN:
		t->owner = r;
		if (seen_time(l, &t->begun.time, &t->begun.digits) < 0)
			t->begun.digits = UNTIMED;
		break;
	case PAIRING_RETURNED:
	case PAIRING_ACROSS:
		if (is_error(l))
			count_error(l, r);
		lat = seen_text(l, "lat");
		if (fate == PAIRING_RETURNED &&
		    (lat.text ? !read_lat(l, lat, &v) : !measure(t, l, &v)))
			add_time(r, &v);
		else
			sum.no_time++;
		break;
	default:
		if (fate == PAIRING_DENIED)
			count_error(l, r);
		sum.denied += fate == PAIRING_DENIED;
		sum.answered += fate == PAIRING_EMULATED;
	}
}

/* ---- keys that no event has ---------------------------------------------------------- */

/* The given keys that an event had; the names of events, and the keys that those have. */
static size_t nfound, ngiven;
static unsigned char found[64];
static struct table events = { .size = sizeof(struct table_entry) };
static struct table names = { .size = sizeof(struct table_entry) };

static void add_name(const struct seen *l, const char *s, size_t n)
{
	char name[64];

	if (str_format(name, sizeof(name), "%.*s", (int)n, s) < sizeof(name) &&
	    seen_text(l, name).text)
		table_at(&names, name, n);
}

/* Add the keys that the line has: words of its fields, and those that are not written there. */
static void add_names(const struct seen *l)
{
	static const char *const others[] = { "comm", "pid", "cpu", "time", "event", "call",
					      "host", "ret", "error", "lat" };
	static const char letters[] = "0123456789_abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const struct text_part parts[] = { seen_body(l), l->facts };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		add_name(l, others[i], strlen(others[i]));
	for (size_t i = 0; i < 2; i++) {
		const char *s = parts[i].n ? parts[i].text : "", *end = s + parts[i].n;

		while (s < end) {
			size_t n = 0;

			while (s + n < end && s[n] && strchr(letters, s[n]))
				n++;
			if (n && (*s < '0' || *s > '9'))
				add_name(l, s, n);
			s += n ? n : 1;
		}
	}
}

/* Note which of the given keys the event has, until each is found. */
static void find_keys(const struct seen *l)
{
	struct text_part event;

	for (size_t i = 0; sum.keys[i] && i < sizeof(found); i++)
		if (!found[i] && seen_text(l, sum.keys[i]).text) {
			found[i] = 1;
			nfound++;
		}
	event = seen_text(l, "event");
	if (!event.n || table_find(&events, event.text, event.n) || names.n > 100)
		return;
	table_at(&events, event.text, event.n);
	add_names(l);
}

/* Return the first given key that no event has, or NULL. */
static const char *missing_key(void)
{
	for (size_t i = 0; sum.keys[i] && i < sizeof(found); i++)
		if (!found[i])
			return sum.keys[i];
	return NULL;
}

static int decoded; /* there are decoded calls in text */

/* Report the missing key, and list the keys that exist. Return MISUSED. */
static int tell_missing(const char *key)
{
	struct strbuf all = { 0 };

	table_sort(&names, table_by_key);
	for (size_t i = 0; i < names.n; i++)
		strbuf_format(&all, "%s%s", i ? ", " : "", names.v[i]->key);
	err_msg("no event has the key '%.80s'; the events have %s%s", key, all.text,
		decoded ? "; decoded calls have their arguments as keys in JSON only" : "");
	return MISUSED;
}

/* Note a comment line that says that a pid is that of another task from now on. */
static void note_reused(const char *line)
{
	static const char *const words[] = { "# reused ", "{\"reused\":" };
	struct life *life;

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(words[i]);

		if (strncmp(line, words[i], n))
			continue;
		life = table_at(&sum.lives, line + n, strspn(line + n, "0123456789"));
		life->n++;
	}
}

static void each_event(const struct seen *l)
{
	size_t kind = KIND_CALL + 1;
	struct text_part lat;
	struct decimal v;
	struct row *r;

	metrics_time(l);
	decoded |= l->decoded != 0;
	if (nfound < ngiven)
		find_keys(l);
	if (seen_side(l)) {
		each_call(l);
		return;
	}
	lat = seen_text(l, "lat");
	strbuf_add(strbuf_empty(&sum.event), l->event.text, l->event.n);
	while (!glob_matches(kinds[kind].glob, sum.event.text))
		kind++;
	r = row_of(lat.text ? &sum.rows : &sum.untimed, l, kind);
	r->now.calls++;
	add_fields(r, l);
	if (has_error(l))
		count_error(l, r);
	if (!lat.text)
		sum.no_lat++;
	else if (!read_lat(l, lat, &v))
		add_time(r, &v);
	else
		sum.no_time++;
}

/* ---- the table --------------------------------------------------------------------- */

static enum summary_column sort_column = TOTAL;

/* Return a time of the sums, 0 without a timed call. */
static struct decimal time_of(const struct sums *v, enum summary_column c)
{
	return c == TOTAL ? v->total : c == AVG && v->timed ? average(&v->total, v->timed) :
	       c == LEAST ? v->least : c == MAX ? v->most :
	       quantiles_get(&v->times, c == P50 ? 50 : 99, &v->least, &v->most,
			     !sum.precise);
}

/* Compare two rows by kind, then by name, then by life. */
static int by_name(const void *a, const void *b)
{
	const char *x = (*(struct table_entry *const *)a)->key;
	const char *y = (*(struct table_entry *const *)b)->key;
	int differ = *x != *y ? 0 : strcmp(x + HIDDEN, y + HIDDEN);

	return differ ? differ : strcmp(x, y);
}

/* Compare two rows by the column, the greatest first, then by calls, then by name. */
static int order(const void *a, const void *b)
{
	const struct sums *x = &(*(struct row *const *)a)->now;
	const struct sums *y = &(*(struct row *const *)b)->now;
	enum summary_column c = sort_column == SHARE ? TOTAL : sort_column;
	struct decimal v, w;
	int differ = 0;

	if (c == NAME)
		return by_name(a, b);
	if (c == ERRORS) {
		differ = ASCENDING(y->errors, x->errors);
	} else if (c >= ADDED && c < TOTAL) {
		differ = ASCENDING(y->added[c - ADDED], x->added[c - ADDED]);
	} else if (c >= TOTAL) {
		v = time_of(x, c);
		w = time_of(y, c);
		differ = decimal_compare(&w, &v);
	}
	differ = differ ? differ : ASCENDING(y->calls, x->calls);
	return differ ? differ : by_name(a, b);
}

/* Write n per second of the table's time, with a digit after the point if it is small. */
static void put_rate(char *s, unsigned long long n)
{
	unsigned long long tenths = sum.ms ? n * 10000 / sum.ms : 0;

	if (!sum.ms)
		str_format(s, DECIMAL_TEXT, "-");
	else
		str_format(s, DECIMAL_TEXT, "%llu.%llu", tenths / 10, tenths % 10);
}

/* Write the part of the time of all rows, in percent. */
static void put_share(char *s, const struct decimal *v)
{
	struct decimal all = sum.all.total, part = *v;
	unsigned long long n, of;

	for (; all.whole > UINT64_MAX / 2000; all.whole /= 2, part.whole /= 2)
		;
	n = part.whole * 1000 + part.nano / 1000000;
	of = all.whole * 1000 + all.nano / 1000000;
	for (; of > UINT64_MAX / 2000; of /= 2, n /= 2)
		;
	n = of ? (n * 1000 + of / 2) / of : 0;
	str_format(s, DECIMAL_TEXT, human ? "%llu.%llu%%" : "%llu.%llu", n / 10, n % 10);
}

/* Write a cell to s (DECIMAL_TEXT bytes). A row without a timed call has "-" for its times. */
static void put_cell(char *s, const struct sums *v, enum summary_column c)
{
	struct decimal time;

	if (c == CALLS || c == ERRORS) {
		str_format(s, DECIMAL_TEXT, "%llu", c == CALLS ? v->calls : v->errors);
	} else if (c >= ADDED && c < TOTAL) {
		str_format(s, DECIMAL_TEXT, "%llu", v->added[c - ADDED]);
	} else if (c == RATE) {
		put_rate(s, v->calls);
	} else if (!v->timed) {
		str_format(s, DECIMAL_TEXT, "-");
	} else if (c == SHARE) {
		put_share(s, &v->total);
	} else {
		time = time_of(v, c);
		if (human && !sum.plain)
			decimal_time(s, &time, sum.precise);
		else
			decimal_text(s, &time, sum.precise);
	}
}

static size_t widths[COLUMNS];

static void print_row(const struct sums *v, const char *name)
{
	char cell[DECIMAL_TEXT];

	for (size_t i = 0; i < nshown; i++) {
		put_cell(cell, v, shown[i]);
		stdout_print("%*s", (int)widths[shown[i]], cell);
	}
	stdout_print("  %s\n", name);
}

static void print_object(const struct sums *v, const char *key)
{
	const char *const *keys = sum.keys;
	char cell[DECIMAL_TEXT];

	for (size_t i = 0; i < nshown; i++) {
		put_cell(cell, v, shown[i]);
		stdout_print("%s\"%s%s\":%s", i ? "," : "{", columns[shown[i]].name,
			     shown[i] >= TOTAL && !sum.plain ? "_us" : "",
			     strcmp(cell, "-") ? cell : "null");
	}
	if (key)
		json_print_keys(*keys ? keys : kinds[*key - '0'].keys, key + HIDDEN);
	stdout_print("}\n");
}

static void print_header(const struct table *rows)
{
	const char *const *keys = sum.keys;
	size_t kind = 0;
	unsigned used = 0;
	char cell[24];

	for (size_t i = 0; i < rows->n; i++)
		used |= 1u << (*rows->v[i]->key - '0');
	for (; !(used & 1); used >>= 1)
		kind++;
	if (!*keys && used == 1)
		keys = kinds[kind].keys;
	for (size_t i = 0; i < nshown; i++) {
		str_format(cell, sizeof(cell), "%s%s", columns[shown[i]].name,
			   shown[i] >= TOTAL && !sum.plain && !human ? " us" : "");
		stdout_print("%*s", (int)widths[shown[i]], cell);
	}
	stdout_print("  %s", *keys ? *keys : "name");
	for (size_t i = 1; *keys && keys[i]; i++)
		stdout_print("\t%s", keys[i]);
	stdout_print("\n");
}

/* Add up all rows, and make the columns as wide as their greatest numbers. */
static void add_up(const struct table *rows)
{
	char cell[DECIMAL_TEXT];

	for (size_t i = 0; i < rows->n; i++)
		add_sums(&sum.all, &((struct row *)rows->v[i])->now);
	for (size_t i = 0; i < nshown; i++) {
		enum summary_column c = shown[i];

		widths[c] = human ? columns[c].people : columns[c].width;
		widths[c] += human && c == SHARE && i ? 2 : 0; /* not at the left margin */
		/* no average of a row is above the greatest time */
		put_cell(cell, &sum.all, c == AVG || c == P99 || c == P50 || c == LEAST ? MAX : c);
		if ((!human || (c >= ADDED && c < TOTAL)) && strlen(cell) + 2 > widths[c])
			widths[c] = strlen(cell) + 2;
	}
}

/* Print a comment line, unless n is 0. */
static void print_count(const char *what, unsigned long long n, const char *counted)
{
	if (n && json)
		stdout_print("{\"comment\":\"%s\",\"n\":%llu,\"because\":\"%s\"}\n", what, n,
			     counted);
	else if (n)
		stdout_print("# %s: %llu (%s)\n", what, n, counted);
}

/*
 * Return the rows to print, unsorted: those with events since the last table; or, at the end, all
 * rows with all their sums. The vector belongs to the caller.
 */
static struct table take_rows(const struct table *rows, int all)
{
	struct table taken = { .v = xcalloc(rows->n + 1, sizeof(*taken.v)) };
	struct row *r;

	for (size_t i = 0; (r = table_next(rows, &i));) {
		if (all) {
			move_sums(&r->all, &r->now);
			r->now = r->all;
			r->all = (struct sums){ 0 };
		}
		if (r->now.calls || r->now.errors || r->now.timed)
			taken.v[taken.n++] = &r->entry;
	}
	taken.room = taken.n;
	return taken;
}

/* Set the labels of a row: the keys of -k, or the name, of the kind that a key begins with. */
static void put_labels(struct strbuf *labels, const char *key)
{
	static const char *const name[] = { "name", NULL };
	static struct strbuf values;
	const char *const *keys = *sum.keys ? sum.keys : name;

	strbuf_puts(strbuf_empty(&values), key + HIDDEN);
	for (char *tab = values.text; !*sum.keys && (tab = strchr(tab, '\t'));)
		*tab = ' ';
	metrics_labels(labels, keys, values.text);
}

static const char *error_of(const struct error_row *e)
{
	return e->entry.key + sizeof(e->row);
}

/* Print the errors of a row, each with its name as a label. */
static void print_errors(const struct row *r, const char *labels)
{
	if (!r->now.errors)
		stdout_print("tfs_call_errors_total{%s} 0\n", labels);
	for (size_t i = 0; i < sum.errors.n; i++) {
		const struct error_row *e = (const struct error_row *)sum.errors.v[i];
		static const char *const key[] = { "error", NULL };
		static struct strbuf name;

		if (e->row != r)
			continue;
		metrics_labels(&name, key, error_of(e));
		stdout_print("tfs_call_errors_total{%s%s%s} %llu\n", labels, *labels ? "," : "",
			     name.text, e->n);
	}
}

static int by_error(const void *a, const void *b)
{
	return strcmp(error_of(*(struct error_row *const *)a),
		      error_of(*(struct error_row *const *)b));
}

/* Print the rows as metrics: numbers of calls and errors, and their times in seconds. */
static void print_metrics(const struct table *rows)
{
	static struct strbuf labels;
	char total[DECIMAL_TEXT];

	metrics_family("tfs_calls_total", "counter", "Calls, or other events.");
	for (size_t i = 0; i < rows->n; i++) {
		put_labels(&labels, rows->v[i]->key);
		stdout_print("tfs_calls_total{%s} %llu\n", labels.text,
			     ((struct row *)rows->v[i])->now.calls);
	}
	metrics_family("tfs_call_errors_total", "counter", "Calls that failed.");
	table_sort(&sum.errors, by_error);
	for (size_t i = 0; i < rows->n; i++) {
		put_labels(&labels, rows->v[i]->key);
		print_errors((struct row *)rows->v[i], labels.text);
	}
	metrics_family("tfs_call_seconds", "histogram", "Durations of calls.");
	for (size_t i = 0; i < rows->n && !sum.plain; i++) {
		const struct row *r = (struct row *)rows->v[i];

		if (!r->buckets)
			continue;
		metrics_seconds(total, &r->now.total);
		put_labels(&labels, r->entry.key);
		metrics_histogram("tfs_call_seconds", labels.text, r->buckets, total, 1);
	}
}

static void print_table(const struct interval_now *at)
{
	struct table rows = take_rows(sum.rows.n ? &sum.rows : &sum.untimed, at->all);
	static struct strbuf name;

	sum.ms = at->ms;
	add_up(&rows);
	table_sort(&rows, order);
	if (metrics) {
		print_metrics(&rows);
		free(rows.v);
		return;
	}
	if (rows.n && !json && (!every || human || !headed))
		print_header(&rows);
	headed |= rows.n != 0;
	for (size_t i = 0; i < rows.n; i++) {
		struct row *r = (struct row *)rows.v[i];

		if (i < most && i < at->rows) {
			strbuf_puts(strbuf_empty(&name), r->entry.key);
			seen_shorten(name.text + HIDDEN);
			json ? print_object(&r->now, name.text) :
			       print_row(&r->now, name.text + HIDDEN);
		}
		move_sums(&r->all, &r->now);
	}
	if (rows.n && !json)
		print_row(&sum.all, "total");
	else if (every && !rows.n && json && !at->all)
		print_object(&sum.all, NULL);
	quantiles_clear(&sum.all.times);
	sum.all = (struct sums){ 0 };
	free(rows.v);
}

/* Print what the table lacks. */
static void print_counts(void)
{
	line_calls_end(&calls);
	print_count("calls without an end", calls.no_end, "counted, without a time");
	print_count("calls that seccomp denied", sum.denied, "counted, without a time");
	print_count("calls that seccomp answered", sum.answered, "counted, without a time");
	print_count("calls of unknown time", sum.no_time,
		    "counted; events were lost meanwhile, or the clock went back");
	print_count("ends without a beginning", sum.no_begin, "not counted");
	print_count("events without a time", sum.rows.n ? sum.no_lat : 0, "not counted");
}

/* Return the column whose name the text begins with, up to a comma; COLUMNS if there is none. */
static enum summary_column column_at(const char *text)
{
	size_t n = strcspn(text, ","), i = 0;

	while (i < COLUMNS && (!columns[i].name || strlen(columns[i].name) != n ||
			       memcmp(columns[i].name, text, n)))
		i++;
	return (enum summary_column)i;
}

/* Refuse the value of -s or -c, and list the columns. */
static _Noreturn void no_column(const char *text)
{
	struct strbuf all = { 0 };

	for (size_t i = 0; i < NAME; i++)
		if (columns[i].name)
			strbuf_format(&all, "%s, ", columns[i].name);
	usage_error(&tool, "not a column: '%.80s'; there are %sand name to sort by", text,
		    all.text);
}

/* Read the value of -s or -c. */
static void parse_columns(int letter, const char *text)
{
	size_t n = 0;

	for (const char *s = text;; s += strcspn(s, ",") + 1) {
		enum summary_column c = column_at(s);

		if (c == COLUMNS || (letter == 'c' && c == NAME) || n == COLUMNS ||
		    (letter == 's' && strchr(text, ',')))
			no_column(text);
		if (letter == 's')
			sort_column = c;
		else
			shown[n++] = c;
		if (!s[strcspn(s, ",")])
			break;
	}
	nshown = letter == 'c' ? n : nshown;
}

/* Choose the columns, for a person at most 80 characters with names of 18. */
static void choose_columns(void)
{
	static const enum summary_column whole[] = { CALLS, ERRORS, TOTAL, AVG, MAX },
		people[] = { SHARE, CALLS, ERRORS, TOTAL, AVG, P99, MAX };
	size_t n = 0;

	for (; added.v[n]; n++) {
		if (n == ADDED_MAX)
			usage_error(&tool, "--add: there is room for %d fields", ADDED_MAX);
		columns[ADDED + n].name = added.v[n];
		columns[ADDED + n].width = columns[ADDED + n].people = strlen(added.v[n]) + 2;
		if (columns[ADDED + n].width < 9)
			columns[ADDED + n].width = columns[ADDED + n].people = 9;
	}
	if (human && !n) {
		nshown = sizeof(people) / sizeof(*people);
		memcpy(shown, people, sizeof(people));
		if (every)
			shown[2] = RATE, shown[3] = ERRORS, shown[4] = TOTAL;
		return;
	}
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		for (size_t k = 0; whole[i] == TOTAL && k < n; k++)
			shown[nshown++] = (enum summary_column)(ADDED + k);
		shown[nshown++] = human && every && whole[i] == AVG ? RATE : whole[i];
	}
}

static void each(void)
{
	if (input_event(&in)) {
		if (!in.l.stack)
			each_event(&in.l);
		return;
	}
	sum.other |= *in.line != '#' && (*in.line != '{' || in.l.miss);
	comments_keep(&in.comments, in.line);
	note_reused(in.line);
	/* the end of an open call may be that of a later call */
	calls.pairing.losses += (uint32_t)comments_is_gap(in.line);
}

int main(int argc, char **argv)
{
	const char *sort = NULL, *chosen = NULL;
	int c;

	sum.rows.size = sizeof(struct row);
	sum.untimed.size = sizeof(struct row);
	sum.errors.size = sizeof(struct error_row);
	sum.lives.size = sizeof(struct life);
	human = isatty(STDOUT_FILENO);
	while ((c = opt_next(&tool, argc, argv)) != -1)
		*(c == 's' ? &sort : &chosen) = opt_value;
	if (metrics && (every || json))
		usage_error(&tool, "--metrics cannot be combined with %s",
			    every ? "--every" : "--json");
	if (json || metrics)
		human = 0;
	choose_columns();
	if (chosen)
		parse_columns('c', chosen);
	if (sort)
		parse_columns('s', sort);
	sum.keys = given_keys.v;
	while (sum.keys[ngiven] && ngiven < sizeof(found))
		ngiven++;
	in.comments.json = json;
	in.metrics = metrics;
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);

	interval_begin(&in, every, print_table);
	input_each(&in, each);
	if ((sum.rows.n || sum.untimed.n) && missing_key())
		return tell_missing(missing_key());
	interval_end();
	if (!metrics)
		print_counts();
	if (sum.rows.n || sum.untimed.n || !sum.other || metrics)
		return input_end(&in, sum.rows.n || sum.untimed.n ? NULL : "no event in the trace");
	input_end(&in, NULL);
	err_msg("unable to sum up lines that are not events; leave the summary out");
	return NO;
}
