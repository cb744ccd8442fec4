/* SPDX-License-Identifier: ISC */
/*
 * tfs-count - count the events of a trace by the values of a key
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * A field is one of the event; .NAME is a field with one of these names. With several -k,
 * tfs-count counts each combination of values.
 * With -c, a system call counts once, as sys_enter_NAME, whether the trace has its beginning, its
 * end or both: a call that seccomp(2) denies or answers has no beginning.
 * At the end of the trace, tfs-count prints a line for each value: the count, a space, and
 * the values with a tab between them. The most frequent value comes first; values with the
 * same count are sorted by name. "-" stands for a key that an event does not have. The
 * lines about lost events come last. On a terminal, tfs-count prints as with -H. tfs-count
 * ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "interval.h"
#include "line_calls.h"

static struct opt_list keys = { .v = OPT_LIST("event") };
static int header, by_name, json, metrics, once;
static unsigned long most = ULONG_MAX, every;

static struct line_calls calls = {
	.pairing.tasks.size = sizeof(struct call_task), .pairing.entries = 1,
};

static const struct tool tool = {
	TOOL_TFS_COUNT,
	.places = (const struct opt_place[]){
		{ 'k', .list = &keys }, { 'n', .number = &most }, { 'H', .flag = &header },
		{ 'i', .number = &every }, { 'j', .flag = &json }, { 'M', .flag = &metrics },
		{ 'c', .flag = &once }, { 'b', .flag = &calls.pairing.complete }, { 0 },
	},
};

static struct input in;

struct counted {
	struct table_entry entry;
	unsigned long long n, before;   /* since the last table, and before */
};

static struct table table = { .size = sizeof(struct counted) };

/* Compare two entries: the most frequent first, then by name. */
static int order(const void *a, const void *b)
{
	const struct counted *x = *(struct counted *const *)a, *y = *(struct counted *const *)b;

	return x->n != y->n && !by_name ? ASCENDING(y->n, x->n) : table_by_key(a, b);
}

/* If no event has had any of the keys, say so. */
static void tell_missing(void)
{
	const struct table_entry *e;

	for (size_t i = 0; (e = table_next(&table, &i));)
		if (strspn(e->key, "-\t") != strlen(e->key))
			return;
	for (const char **key = keys.v; table.n && *key; key++)
		if (json) {
			stdout_print("{\"comment\":\"no event has the key\"");
			json_print_string("key", (struct text_part){ *key, strlen(*key) });
			stdout_print("}\n");
		} else {
			stdout_print("# no event has the key %s\n", *key);
		}
}

static void print_header(int people)
{
	stdout_print("  count %s%s", people ? "       /s      total " : "", *keys.v);
	for (const char **key = keys.v + 1; *key; key++)
		stdout_print("\t%s", *key);
	stdout_print("\n");
}

static void print_metric(const struct counted *c)
{
	static struct strbuf labels;

	metrics_labels(&labels, keys.v, c->entry.key);
	stdout_print("tfs_events_total{%s} %llu\n", labels.text, c->n);
}

/* Print the number as wide as uniq -c does; for people per second and in total, too. */
static void print_row(const struct counted *c, const struct interval_now *at, int people)
{
	static struct strbuf values;
	unsigned long long tenths = at->ms ? c->n * 10000 / at->ms : 0;

	if (json) {
		stdout_print("{\"events\":%llu", c->n);
		json_print_keys(keys.v, c->entry.key);
		stdout_print("}\n");
		return;
	}
	strbuf_puts(strbuf_empty(&values), c->entry.key);
	if (header)
		seen_shorten(values.text);
	stdout_print("%7llu ", c->n);
	if (people)
		stdout_print("%6llu.%llu %10llu ", tenths / 10, tenths % 10, c->before + c->n);
	stdout_print("%s\n", values.text);
}

/*
 * With -c, return whether the event counts. A call counts at its beginning. If seccomp(2) denies a
 * call, it has no beginning: count its end, under the name of the beginning.
 */
static int counts(struct seen *l)
{
	static const char exit[] = "sys_exit_", enter[] = "sys_enter_";
	int side = once ? seen_side(l) : 0;
	enum pairing_fate fate;
	struct call_task *t;

	if (!side)
		return 1;
	fate = line_calls_event(&calls, l, &t);
	if (side < 0 && text_part_is(l->event, "sys_exit")) {
		l->event = (struct text_part){ enter, strlen("sys_enter") };
	} else if (side < 0) {
		l->event.text += *l->prefix ? 0 : strlen(exit);
		l->event.n -= *l->prefix ? 0 : strlen(exit);
		l->prefix = enter;
	}
	return line_calls_counts(fate, t);
}

/* Print the counts since the last table, or at the end all counts. */
static void print_table(const struct interval_now *at)
{
	struct table rows = { .v = xcalloc(table.n + 1, sizeof(*rows.v)) };
	const int people = every && !json && interval_people();
	struct counted *c;

	for (size_t i = 0; (c = table_next(&table, &i));) {
		if (at->all) {
			c->n += c->before;
			c->before = 0;
		}
		if (c->n)
			rows.v[rows.n++] = &c->entry;
	}
	rows.room = rows.n;
	table_sort(&rows, order);
	if (metrics)
		metrics_family("tfs_events_total", "counter", "Events of a trace.");
	if (rows.n && !metrics && (header || people) && (!every || people))
		print_header(people);
	for (size_t i = 0; i < rows.n; i++) {
		c = (void *)rows.v[i];

		if (i < most && i < at->rows)
			metrics ? print_metric(c) : print_row(c, at, people);
		c->before += c->n;
		c->n = 0;
	}
	if (json && every && !rows.n && !at->all)
		stdout_print("{\"events\":0}\n");
	free(rows.v);
}

static void each(void)
{
	static struct strbuf values;

	if (!input_event(&in)) {
		calls.pairing.losses += (uint32_t)comments_is_gap(in.line);
		comments_keep(&in.comments, in.line);
		return;
	}
	metrics_time(&in.l);
	if (!counts(&in.l))
		return;
	seen_values(&values, &in.l, keys.v);
	((struct counted *)table_at(&table, values.text, values.n))->n++;
}

int main(int argc, char **argv)
{
	header = isatty(STDOUT_FILENO);
	while (opt_next(&tool, argc, argv) != -1)
		by_name = *opt_value == 'n';
	if (metrics && (every || json))
		usage_error(&tool, "--metrics cannot be combined with %s",
			    every ? "--every" : "--json");
	header &= !json;
	in.comments.json = json;
	in.metrics = metrics;
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);

	interval_begin(&in, every, print_table);
	input_each(&in, each);
	interval_end();
	if (!metrics)
		tell_missing();
	return input_end(&in, table.n ? NULL : "no event in the trace");
}
