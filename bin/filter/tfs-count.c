/* SPDX-License-Identifier: ISC */
/*
 * tfs-count - count the events of a trace by the values of a key
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * A field is one of the event; .NAME is a field with one of these names. With several -k,
 * tfs-count counts each combination of values.
 * At the end of the trace, tfs-count prints a line for each value: the count, a space, and
 * the values with a tab between them. The most frequent value comes first; values with the
 * same count are sorted by name. "-" stands for a key that an event does not have. The
 * lines about lost events come last. On a terminal, tfs-count prints as with -H. tfs-count
 * ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "lines/lines.h"

static struct opt_list keys = { .v = OPT_LIST("event") };
static int header;
static unsigned long most = ULONG_MAX;

static const struct tool tool = {
	.name = "tfs-count",
	.help =
		"tfs-count [-H] [-k KEY]... [-n N]\n"
		"count the events of a trace by the values of a key\n"
		"-k, --key KEY  count by KEY: event (default), comm, pid, cpu, time, or a field\n"
		"-n, --top N:1-  print only the N most frequent values\n"
		"-H, --header  print a header, and system calls without sys_enter_\n",
	.places = (const struct opt_place[]){
		{ 'k', .list = &keys }, { 'n', .number = &most }, { 'H', .flag = &header }, { 0 },
	},
};

struct counted {
	struct table_entry entry;
	unsigned long long n;
};

/* Compare two entries: the most frequent first, then by name. */
static int order(const void *a, const void *b)
{
	const struct counted *x = *(struct counted *const *)a, *y = *(struct counted *const *)b;

	return x->n != y->n ? x->n < y->n ? 1 : -1 : table_by_key(a, b);
}

/* If no event has had any of the keys, say so. */
static void tell_missing(const struct table *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (strspn(table->v[i]->key, "-\t") != strlen(table->v[i]->key))
			return;
	for (const char **key = keys.v; table->n && *key; key++)
		stdout_print("# no event has the key %s\n", *key);
}

static void print_header(void)
{
	stdout_print("  count %s", *keys.v);
	for (const char **key = keys.v + 1; *key; key++)
		stdout_print("\t%s", *key);
	stdout_print("\n");
}

int main(int argc, char **argv)
{
	static struct table table = { .size = sizeof(struct counted) };
	static struct input f;
	static struct strbuf values;

	header = isatty(STDOUT_FILENO);
	opt_next(&tool, argc, argv);
	opt_end(&tool, argv[opt_index]);

	input_begin();
	while (input_read(&f)) {
		if (!input_event(&f)) {
			comments_keep(&f.comments, f.line);
			continue;
		}
		trace_line_values(&values, &f.l, keys.v);
		((struct counted *)table_at(&table, values.text, values.n))->n++;
	}
	if (f.in.failed)
		return REFUSED;
	table_sort(&table, order);
	if (header && table.n)
		print_header();
	for (size_t i = 0; i < table.n && i < most; i++) {
		if (header)
			trace_line_shorten(table.v[i]->key);
		/* the number is as wide as uniq -c prints it */
		stdout_print("%7llu %s\n", ((struct counted *)table.v[i])->n, table.v[i]->key);
	}
	tell_missing(&table);
	return input_end(&f, table.n ? DONE : NO);
}
