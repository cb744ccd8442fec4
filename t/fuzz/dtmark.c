/* SPDX-License-Identifier: ISC */
/* dtmark.c - read a probe's mark from a line, compared with strtoull and sscanf */
#include <ctype.h>
#include <stdio.h>

#include "fuzz.h"

/* Return the number of digits in that base, or -1 if there are none or too many. */
static int plain(const char *s, int base, uint64_t *n)
{
	char *end;

	for (const char *p = s; *p; p++)
		if (base == 10 ? !isdigit((unsigned char)*p) :
				 !isxdigit((unsigned char)*p) || isupper((unsigned char)*p))
			return -1;
	errno = 0;
	*n = strtoull(s, &end, base);
	return *s && !*end && !errno ? 0 : -1;
}

/* Read the text after the event's name in another way. */
static int is_mark(const char *text, struct dt_mark *m)
{
	char what, id[64], tid[64], key[64], again[256];
	size_t n = strlen(text), len;

	while (n && text[n - 1] == ' ')
		n--;
	if (sscanf(text, "dt%c %63s %63s %63s", &what, id, tid, key) != 4 ||
	    !strchr("BRME", what))
		return 0;
	must(snprintf(again, sizeof(again), "dt%c %s %s %s", what, id, tid, key) > 0);
	m->what = what;
	len = strlen(again);
	return len <= n && !memcmp(again, text, len) &&
	       (len == n || !strncmp(text + len, " otel=", 6) ||
		!strncmp(text + len, " trace_id=", 10)) && !plain(id, 16, &m->id) &&
	       !plain(tid, 10, &m->tid) && !plain(key, 16, &m->key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "          server-4711    [001] .....     1.000002: ";
	char *text = next_part(&data, &size), *line, *json;
	struct dt_mark m = { 0 }, want = { 0 };
	struct seen l;
	int n, plain_text;

	n = asprintf(&line, "%s%s: %s", head, size % 2 ? "mark" : "bpf_trace_printk", text);
	must(n > 0 && seen_line(&l, line, (size_t)n));
	plain_text = strlen(text) < 60 && *text != ' ' && strncmp(text, "bpf_string=", 11) != 0;
	if (plain_text) {
		int is = is_mark(text, &want);

		must(dt_mark(&m, &l) == is);
		must(!is || (m.what == want.what && m.id == want.id && m.tid == want.tid &&
			     m.key == want.key));
	} else {
		(void)dt_mark(&m, &l);
	}
	free(line);
	/* the same text in JSON, if it has no quotes or backslashes */
	if (plain_text && !strpbrk(text, "\"\\")) {
		n = asprintf(&json, "{\"ts\":1.0,\"event\":\"bpf_trace_printk\","
			     "\"fields\":{\"bpf_string\":\"%s\"}}", text);
		must(n > 0 && seen_line(&l, json, (size_t)n));
		must(dt_mark(&m, &l) == is_mark(text, &want));
		free(json);
		/* as the manager writes it */
		n = asprintf(&json, "{\"ts\":1.0,\"event\":\"print\","
			     "\"fields\":{\"ip\":1,\"buf\":\"%s\\n\"}}", text);
		must(n > 0 && seen_line(&l, json, (size_t)n));
		must(dt_mark(&m, &l) == is_mark(text, &want));
		free(json);
	}
	/* fields of any text */
	n = asprintf(&json, "{\"ts\":1.0,\"event\":\"mark\",\"fields\":{%s}}", text);
	must(n > 0);
	if (seen_line(&l, json, (size_t)n) && dt_mark(&m, &l))
		must(memchr("BRME", m.what, 4) != NULL);
	free(json);
	/* a line of any bytes that is not of that event */
	if (seen_line(&l, (const char *)data, size))
		(void)dt_mark(&m, &l);
	n = asprintf(&line, "%sprint: %s", head, text);
	must(n > 0 && (!seen_line(&l, line, (size_t)n) || !dt_mark(&m, &l)));
	free(line);
	free(text);
	return 0;
}
