/* SPDX-License-Identifier: ISC */
/* sample.c - what the metrics of a filter say of the trace that it has read */

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
