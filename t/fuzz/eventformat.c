/* SPDX-License-Identifier: ISC */
/*
 * eventformat.c - a format of any text, and a record of any bytes that it prints
 *
 * Input: a byte of flags (1 big-endian, 2 a long of 4 bytes, 4 of system "ftrace",
 * 8 of "syscalls", 16 an old kernel), the format up to a NUL, the record.
 */
#include "fuzz.h"

static void check_field(const struct event_set *evs, const struct field *f,
			const struct record *r)
{
	const unsigned char *end = r->data + r->len;
	struct field_data v;
	size_t bytes;

	must(*f->name && f->type && f->elem <= 8);
	if (field_value(evs, f, r, &v) < 0)
		return;
	must(v.kind == (enum field_kind)f->kind);
	if (v.kind == FIELD_NUMBER || v.kind == FIELD_POINTER) {
		must(v.data >= r->data && v.data + f->size <= end);
		return;
	}
	bytes = v.kind == FIELD_ARRAY ? v.n * f->elem : v.n;
	must(v.data >= r->data && v.data <= end && bytes <= (size_t)(end - v.data));
	if (v.kind == FIELD_ARRAY)
		for (size_t i = 0; i < v.n; i++)
			field_element(evs, f, &v, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t rooms[] = { 65536, LINE_HEAD_ROOM, 200, 1000 };
	struct event_set evs = { 0 };
	struct line_format l = { .events = &evs };
	const char *system = "demo";
	struct event *e;
	unsigned how;
	char *text;

	if (!size)
		return 0;
	how = *data;
	evs.big = how & 1;
	evs.long_size = how & 2 ? 4 : 8;
	evs.version = how & 16 ? KERNEL(5, 10) : 0;
	system = how & 4 ? "ftrace" : how & 8 ? "syscalls" : system;
	data++;
	size--;
	text = next_part(&data, &size);
	must(!events_strings(&evs, "0x61616161 : \"%d %s\\n\"\n", 23));
	e = event_add(&evs, system, text, strlen(text));
	if (e) {
		unsigned char *record = copy_of(data, size);
		struct record r = { .ts = 1, .data = record, .len = (uint32_t)size };
		size_t whole = 0;

		must(event_by_id(&evs, e->id) == e && e->ncommon <= e->nfields);
		if (size > 1) { /* the record is this event's */
			record[evs.big] = (unsigned char)e->id;
			record[!evs.big] = (unsigned char)(e->id >> 8);
			must(event_of(&evs, &r) == e);
		}
		must((event_prepare(&evs, e) < 0) == e->opaque);
		for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
			char *buf = malloc(rooms[i]);
			size_t n;

			must(buf);
			n = line_print(&l, &r, buf, rooms[i]);
			must(n <= rooms[i] && (n > 30 || l.no_irq_info));
			/* the same text in less room: it is cut and otherwise equal */
			whole = i ? whole : n;
			must(n == (whole < rooms[i] ? whole : n));
			free(buf);
		}
		for (unsigned i = 0; i < e->nfields; i++) {
			must(event_field(e, e->fields[i].name));
			check_field(&evs, &e->fields[i], &r);
		}
		record_pid(&evs, &r);
		free(record);
	}
	events_free(&evs);
	free(text);
	return 0;
}
