/* SPDX-License-Identifier: ISC */
/*
 * tfs-count - count the events of a trace by the values of a key
 *
 * Requires: only a trace on standard input, as text or lines of JSON.
 * A field is one of the event; .NAME is a field with one of these names. With several -k,
 * tfs-count counts each combination of values.
 * At the end of the trace, tfs-count prints a line for each value: the count, a blank, and
 * the values with a tab between them. The most frequent value comes first; values with the
 * same count are sorted by name. "-" stands for a key that an event does not have. The
 * lines about lost events come last. On a terminal, tfs-count prints as with -H. tfs-count
 * ignores SIGINT, so that the program that makes the trace can finish first.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lines/lines.h"

static const struct tool tool = {
	.name = "tfs-count",
	.help =
		"tfs-count [-H] [-k KEY]... [-n N]\n"
		"count the events of a trace by the values of a key\n"
		"-k KEY  count by KEY: event (default), comm, pid, cpu, time, or a field\n"
		"-n N  print only the N most frequent values\n"
		"-H  print a header, and system calls without sys_enter_\n",
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

/* Print a line, with the number as wide as uniq -c prints it. */
static void print_one(const struct counted *c)
{
	static const char blanks[] = "       ";
	char number[24];
	size_t n = str_format(number, sizeof(number), "%llu", c->n);

	stdout_print("%s%s %s\n", blanks + (n < 7 ? n : 7), number, c->entry.key);
}

/* If no event has had any of the keys, say so. */
static void tell_missing(const struct table *table, const char *const *keys)
{
	for (size_t i = 0; i < table->n; i++)
		if (strspn(table->v[i]->key, "-\t") != strlen(table->v[i]->key))
			return;
	for (; table->n && *keys; keys++)
		stdout_print("# no event has the key %s\n", *keys);
}

static void print_header(const char *const *keys)
{
	stdout_print("  count %s", *keys);
	while (*++keys)
		stdout_print("\t%s", *keys);
	stdout_print("\n");
}

int main(int argc, char **argv)
{
	static const char **keys;
	static struct table table = { .size = sizeof(struct counted) };
	static struct comments comments;
	static struct strbuf words;
	static struct line_reader in;
	unsigned long most = ULONG_MAX;
	char *line;
	size_t nkeys = 0;
	ssize_t n;
	int c, header = isatty(STDOUT_FILENO);

	keys = xcalloc((size_t)argc + 2, sizeof(*keys));
	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'k') {
			if (!*opt_value || !strcmp(opt_value, "."))
				usage_error(&tool, "not a key: '%s'", opt_value);
			keys[nkeys++] = opt_value;
		} else if (c == 'H') {
			header = 1;
		} else if (text_number(opt_value, 1, LONG_MAX, &most) < 0) {
			usage_error(&tool, "not a number: '%.80s'", opt_value);
		}
	opt_end(&tool, argv[opt_index]);
	if (!nkeys)
		keys[0] = "event";

	confine();
	signal(SIGINT, SIG_IGN);
	while ((n = line_read(&in, &line)) >= 0) {
		struct trace_line l;

		if (comments_event(&comments, &l, line, (size_t)n)) {
			trace_line_values(&words, &l, keys);
			((struct counted *)table_at(&table, words.text, words.n))->n++;
		} else {
			comments_keep(&comments, line);
		}
	}
	if (in.failed)
		return REFUSED;
	table_sort(&table, order);
	if (header && table.n)
		print_header(keys);
	for (size_t i = 0; i < table.n && i < most; i++) {
		if (header)
			trace_line_shorten(table.v[i]->key);
		print_one((struct counted *)table.v[i]);
	}
	tell_missing(&table, keys);
	comments_print(&comments);
	stdout_flush();
	return table.n ? DONE : NO;
}
