/* SPDX-License-Identifier: ISC */
/*
 * metrics.c - metrics as text, for Prometheus
 *
 * There are two forms: the text format 0.0.4, which node_exporter's textfile collector reads, and
 * OpenMetrics 1.0. In OpenMetrics the family of a counter lacks the "_total" of its samples, and a
 * family has a unit. Neither has native histograms, which Prometheus reads as protobuf only.
 */

#include "base/base.h"

int metrics_open;

/* As Go prints these numbers: readers of OpenMetrics refuse others. */
static const char *const bounds[METRICS_BUCKETS] = {
	"1e-06", "2e-06", "4e-06", "8e-06", "1.6e-05", "3.2e-05", "6.4e-05", "0.000128",
	"0.000256", "0.000512", "0.001024", "0.002048", "0.004096", "0.008192", "0.016384",
	"0.032768", "0.065536", "0.131072", "0.262144", "0.524288", "1.048576", "2.097152",
	"4.194304", "8.388608", "16.777216", "33.554432", "67.108864",
};

unsigned metrics_bucket(uint64_t ns)
{
	unsigned k = 0;

	while (k < METRICS_BUCKETS && ns > 1000ull << k)
		k++;
	return k;
}

void metrics_family(const char *name, const char *type, const char *help)
{
	const size_t n = strlen(name), total = strlen("_total"), unit = strlen("_seconds");
	const int family = (int)(metrics_open && *type == 'c' ? n - total : n);

	stdout_print("# TYPE %.*s %s\n# HELP %.*s %s\n", family, name, type, family, name, help);
	if (metrics_open && n > unit && !strcmp(name + n - unit, "_seconds"))
		stdout_print("# UNIT %s seconds\n", name);
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

void metrics_histogram(const char *family, const char *labels, const uint64_t *buckets,
		       const char *sum, int seconds)
{
	const char *comma = *labels ? "," : "";
	uint64_t n = 0;

	for (unsigned k = 0; k < METRICS_BUCKETS; k++) {
		n += buckets[k];
		stdout_print("%s_bucket{%s%sle=\"", family, labels, comma);
		if (seconds)
			stdout_print("%s", bounds[k]);
		else
			stdout_print("%llu", 1ull << k);
		stdout_print("\"} %llu\n", (unsigned long long)n);
	}
	n += buckets[METRICS_BUCKETS];
	stdout_print("%s_bucket{%s%sle=\"+Inf\"} %llu\n%s_count{%s} %llu\n", family, labels, comma,
		     (unsigned long long)n, family, labels, (unsigned long long)n);
	if (*sum)
		stdout_print("%s_sum{%s} %s\n", family, labels, sum);
}
