/* SPDX-License-Identifier: ISC */
/* mark.c - the marks of distributed tracing in a trace */
#include <string.h>

#include "join.h"

/* The number at *s, of digits of this base, up to most; *s behind it. -1: it is none. */
static int digits(const char **s, const char *end, unsigned base, uint64_t most, uint64_t *n)
{
	static const char letters[] = "0123456789abcdef";
	const char *first = *s;

	for (*n = 0; *s < end; ++*s) {
		const char *digit = memchr(letters, **s, base);
		uint64_t d = digit ? (uint64_t)(digit - letters) : 0;

		if (!digit)
			break;
		if (*n > (most - d) / base)
			return -1;
		*n = base * *n + d;
	}
	return *s > first ? 0 : -1;
}

int trace_mark(const struct trace_line *l, struct mark *m)
{
	static const char event[] = "bpf_trace_printk", kinds[] = "MBRE";
	struct part body = l->json ? trace_key(l, "bpf_string") : l->body;
	const char *s = body.text, *end = s + body.n, *kind;
	uint64_t id, tid;

	if (l->event.n != strlen(event) || memcmp(l->event.text, event, l->event.n) ||
	    *l->prefix || body.n < 4 || s[0] != 'd' || s[1] != 't' || s[3] != ' ')
		return 0;
	kind = memchr(kinds, s[2], strlen(kinds));
	s += 4;
	if (!kind || digits(&s, end, 16, UINT32_MAX, &id) < 0 || s == end || *s++ != ' ' ||
	    digits(&s, end, 10, UINT32_MAX, &tid) < 0 || s == end || *s++ != ' ' ||
	    digits(&s, end, 16, UINT64_MAX, &m->key) < 0 || s != end)
		return 0;
	m->what = (unsigned)(kind - kinds);
	m->id = (uint32_t)id;
	m->tid = (uint32_t)tid;
	return 1;
}
