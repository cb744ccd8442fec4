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
#include "base/base.h"
#include "event/event.h"
#include "view/view.h"

static const unsigned char *at, *end;

static void character(void)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned n = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3
		     : *at < 0xf8 ? 4 : 0;
	uint32_t c;

	must(n && n <= (size_t)(end - at));
	c = n == 1 ? *at : *at & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		must((at[i] & 0xc0) == 0x80);
		c = c << 6 | (at[i] & 0x3f);
	}
	must(c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) && c >= ' ');
	at += n;
}

static void string(void)
{
	must(*at == '"');
	for (at++; *at != '"';) {
		must(at < end);
		if (*at != '\\') {
			character();
			continue;
		}
		at++;
		must(*at && strchr("\"\\/bfnrtu", *at));
		if (*at++ == 'u')
			for (int i = 0; i < 4; i++, at++)
				must(*at && strchr("0123456789abcdefABCDEF", *at));
	}
	at++;
}

static void integer(void)
{
	must(*at >= '0' && *at <= '9');
	must(*at != '0' || at[1] < '0' || at[1] > '9');
	while (*at >= '0' && *at <= '9')
		at++;
}

static void value(int depth)
{
	unsigned char open = *at, close = open == '{' ? '}' : ']';

	must(at < end && depth < 4);
	if (open == '"') {
		string();
	} else if (open == '-' || (open >= '0' && open <= '9')) {
		at += open == '-';
		integer();
		if (*at == '.') {
			at++;
			must(*at >= '0' && *at <= '9');
			while (*at >= '0' && *at <= '9')
				at++;
		}
	} else if (open == '{' || open == '[') {
		for (at++; *at != close; at += *at == ',') {
			if (open == '{') {
				string();
				must(*at++ == ':');
			}
			value(depth + 1);
			must(*at == close || (*at == ',' && at[1] != close));
		}
		at++;
	} else if (!strncmp((const char *)at, "null", 4) ||
		   !strncmp((const char *)at, "true", 4)) {
		at += 4;
	} else {
		must(!"a value");
	}
}

static void check_line(struct json *j, const struct record *r, size_t size)
{
	char *buf = malloc(size), *copy;
	size_t n;

	must(buf);
	n = json_line(j, r, buf, size);
	must(n > 30 && n <= size && buf[n - 1] == '\n' && *buf == '{');
	copy = malloc(n + 1);
	must(copy);
	memcpy(copy, buf, n);
	copy[n] = '\0';
	at = (const unsigned char *)copy;
	end = at + n - 1;
	value(0);
	must(at == end);
	free(copy);
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
		unsigned char *record = malloc(size ? size : 1);
		struct record r = { .ts = size * 123456789, .data = record,
				    .len = (uint32_t)size };

		must(record);
		memcpy(record, data, size);
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
