/* SPDX-License-Identifier: ISC */
/*
 * json.c - a format of any text and a record of any bytes, as a line of JSON;
 * and a glob
 *
 * Input: a byte of flags (1 big-endian, 2 a long of 4 bytes, 4 of system "ftrace",
 * 8 a clock that counts, 16 little room), a glob up to a NUL, the format up to
 * a NUL, the record. The line must be an object by RFC 8259 and UTF-8, for a
 * reader that is independent of the writer. The glob must match as fnmatch does, except
 * for sets, in which C libraries differ.
 */
#include <fnmatch.h>

#include "fuzz.h"

static void check_line(struct json *j, const struct record *r, size_t size)
{
	char *buf = malloc(size);
	size_t n;

	must(buf);
	n = json_line(j, r, buf, size);
	must(n > 30 && n <= size && buf[n - 1] == '\n' && *buf == '{');
	must_be_json(buf, n - 1, 4);
	n = json_lost(j, r, 7, buf, size);
	must(n && n < 2000 && buf[n - 1] == '\n');
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_set evs = { 0 };
	struct line_format l = { .events = &evs };
	struct json j = { .line = &l };
	char *glob, *text;
	struct event *e;
	unsigned how;

	if (!size)
		return 0;
	how = *data;
	evs.big = how & 1;
	evs.long_size = how & 2 ? 4 : 8;
	l.raw_clock = (how & 8) != 0;
	data++;
	size--;
	glob = next_part(&data, &size);
	text = next_part(&data, &size);
	j.instance = how & 32 ? glob : NULL;
	comms_add(&evs.comms, 0x61616161 & 0x3fffff, glob, strlen(glob));
	if (!strchr(glob, '[') && strlen(glob) < 64) {
		char *subject = next_part(&(const uint8_t *){ (const uint8_t *)text },
					  &(size_t){ strlen(text) < 64 ? strlen(text) : 64 });

		must(glob_matches(glob, subject) == !fnmatch(glob, subject, 0));
		free(subject);
	} else {
		glob_matches(glob, text);
	}
	e = event_add(&evs, how & 4 ? "ftrace" : "d\"\xff", text, strlen(text));
	if (e) {
		unsigned char *record = copy_of(data, size);
		struct record r = { .ts = size * 123456789, .data = record,
				    .len = (uint32_t)size };

		if (size > 1 && !(how & 64)) {
			record[evs.big] = (unsigned char)e->id;
			record[!evs.big] = (unsigned char)(e->id >> 8);
		}
		check_line(&j, &r, how & 16 ? 8192 : JSON_ROOM);
		glob_names(glob, e->system, e->name);
		free(record);
	}
	events_free(&evs);
	free(glob);
	free(text);
	return 0;
}
