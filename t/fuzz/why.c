/* SPDX-License-Identifier: ISC */
/* why.c - the account of a trace: the parts of each task add up to its time */
#include "again.h"

#define main tool_main
#include "../../bin/filter/tfs-why.c"
#undef main

static struct text_part member_of(struct text_part object, const char *want)
{
	const char *s = object.text;
	struct text_part name, value;

	while (json_member(&s, object.text + object.n, &name, &value))
		if (text_part_is(name, want))
			return value;
	return (struct text_part){ NULL, 0 };
}

static uint64_t number_of(struct text_part object, const char *want)
{
	uint64_t n = 0;

	must(!text_part_number(member_of(object, want), 10, &n));
	return n;
}

/* The parts of a task have all of its time, and those of a waker no more than the wait. */
static void check_sum(struct text_part object, const char *whole, int all)
{
	struct text_part parts = member_of(object, "parts"), part;
	const char *s = parts.text;
	uint64_t sum = 0, total = number_of(object, whole);

	while (s && json_element(&s, parts.text + parts.n, &part)) {
		sum += number_of(part, "ns");
		check_sum(part, "ns", 0);
	}
	must(all ? sum == total : sum <= total);
}

static void check(const char *out, size_t n, int status, const char *line)
{
	must(status != REFUSED || !n);
	for (const char *end = out + n, *next; out < end; out = next) {
		next = memchr(out, '\n', (size_t)(end - out));
		must(next++);
		if (*out == '#')
			continue;
		if (*out != '{')
			must_be_clean(out, (size_t)(next - out));
		if (line[0] == '-' && line[1] == 'j' && !memcmp(out, "{\"pid\"", 6))
			check_sum((struct text_part){ out, (size_t)(next - out) - 1 },
				  "total_ns", 1);
	}
}

RUN_AGAIN(check, "-j", "-j -c", "-j -d 32 -n 1000", "-j -s a -e b", "-j -r", "-j -p 1,2", "",
	  "-d 0 -n 1", "-f", "-c -m 1")
