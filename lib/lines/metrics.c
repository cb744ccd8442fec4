/* SPDX-License-Identifier: ISC */
/*
 * metrics.c - the output of a filter as metrics, for Prometheus
 *
 * The form is the text format 0.0.4 of Prometheus, which node_exporter's textfile collector reads.
 * In OpenMetrics the family of a counter lacks "_total", so that this reader finds no type.
 */

#include "lines/lines.h"

static uint64_t first = UINT64_MAX, last;       /* times of events in nanoseconds */

void metrics_time(const struct seen *l)
{
	uint64_t time = 0;
	int digits;

	if (seen_time(l, &time, &digits) < 0 || digits < 0)
		return;
	first = time < first ? time : first;
	last = time > last ? time : last;
}

void metrics_family(const char *name, const char *type, const char *help)
{
	stdout_print("# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

void metrics_labels(struct strbuf *to, const char *const *keys, const char *values)
{
	strbuf_puts(strbuf_empty(to), "");
	for (const char *s = values; *keys; keys++) {
		const char *name = *keys + (**keys == '.');
		size_t n = strcspn(s, "\t");

		strbuf_puts(to, to->n ? "," : "");
		if (*name >= '0' && *name <= '9')
			strbuf_add(to, "_", 1);
		for (; *name; name++)
			strbuf_add(to, strchr(".-:", *name) ? "_" : name, 1);
		strbuf_puts(to, "=\"");
		for (size_t len; n; n -= len, s += len) {
			int control;

			len = text_char(s, n, &control);
			if (*s == '\\' || *s == '"')
				strbuf_add(to, "\\", 1);
			if (len == 1 && *s & 0x80) /* readers refuse the whole file */
				strbuf_puts(to, "\xef\xbf\xbd");
			else
				strbuf_add(to, s, len);
		}
		strbuf_puts(to, "\"");
		s += *s == '\t';
	}
}

void metrics_seconds(char *s, const struct decimal *us)
{
	str_format(s, DECIMAL_TEXT, "%llu.%06u%03u", (unsigned long long)us->whole / 1000000,
		   (unsigned)(us->whole % 1000000), us->nano / 1000000);
}

void metrics_end(const struct comments *c)
{
	unsigned long long lost = 0;

	for (unsigned i = 0; i < c->n; i++) {
		const char *s = strstr(c->line[i], "# lost ");

		s = s ? s : strstr(c->line[i], "{\"lost\":");
		if (s) {
			s += strcspn(s, "0123456789");
			lost += text_digits(&s);
		}
	}
	if (first <= last) {
		metrics_family("tfs_sample_seconds", "gauge", "From the first event to the last.");
		stdout_print("tfs_sample_seconds %llu.%09u\n",
			     (unsigned long long)(last - first) / 1000000000,
			     (unsigned)((last - first) % 1000000000));
	}
	metrics_family("tfs_lost_events_total", "counter", "Events that the trace has lost.");
	stdout_print("tfs_lost_events_total %llu\n", lost);
	metrics_family("tfs_unknown_lines_total", "counter", "Lines that were not understood.");
	stdout_print("tfs_unknown_lines_total %llu\n", c->missed);
}
