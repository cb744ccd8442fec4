/* SPDX-License-Identifier: ISC */
/* traceline.c - a line of a trace, text or JSON, and a key of it */
#include "fuzz.h"
#include "traceline.h"

/* It is in the line, which is so long and no longer. */
static void must_be_in(struct part p, const char *line, size_t n)
{
	if (p.n == strlen("function") && !memcmp(p.text, "function", p.n))
		return; /* no word of the line's: it has two names instead */
	if (p.text)
		must(p.text >= line && p.text <= line + n && p.n <= (size_t)(line + n - p.text));
	else
		must(!p.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "comm", "pid", "cpu", "time", "event", "ret",
					    "func", "caller", "next_comm", ".pid" };
	char *key = next_part(&data, &size), *line = malloc(size);
	struct trace_line l;

	must(line || !size);
	if (size)
		memcpy(line, data, size);
	if (trace_line(&l, line, size)) {
		must(l.event.n && l.time.n);
		must_be_in(trace_key(&l, key), line, size);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			must_be_in(trace_key(&l, keys[i]), line, size);
	}
	free(line);
	free(key);
	return 0;
}
