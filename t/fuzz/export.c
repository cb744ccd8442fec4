/* SPDX-License-Identifier: ISC */
/*
 * export.c - records that leave the host
 *
 * Input: the room of the fields, and lines; or a process context. Fields take no more room than
 * they have, and no record of OTLP makes a line longer.
 */

#include "proc/proc.h"
#include "draw/export.h"
#include "fuzz.h"

enum { ROOM_LEAST = 64, LINE_MOST = 4096 };

/* The members that a process context gives are JSON, and have room. */
static void take_context(const uint8_t *data, size_t size)
{
	unsigned char *copy = (unsigned char *)copy_of((const char *)data, size);
	struct text_part name, value;
	char text[512];
	struct out o = out_to(text, sizeof(text));
	const char *s = text;

	o.end -= 2;
	out_char(&o, '{');
	process_context_put(&o, copy, size);
	must(!o.cut);
	o.end += 2;
	out_char(&o, '}');
	while (json_member(&s, o.at, &name, &value))
		must(resource_is_name(name) && value.n);
	must(o.at == text + 2 || s == o.at - 1);
	free(copy);
}

static void take_line(const char *line, size_t n, size_t room)
{
	static struct origin origin = {
		.host = "h", .session = "s", .no_tasks = 1,
		.tasks.size = sizeof(struct origin_task),
	};
	static struct otlp logs = { .origin = &origin, .most = LINE_MOST };
	static struct otlp to = { .origin = &origin, .most = LINE_MOST, .spans = 1 };
	static struct spans spans = { .to = &to, .sample = 2 };
	struct export_record r;
	struct container c;
	char path[256];

	str_format(path, sizeof(path), "%.*s", (int)(n < 255 ? n : 255), line);
	container_of(&c, path);
	must(strlen(c.id) < sizeof(c.id));
	must(strlen(c.uid) < sizeof(c.uid));
	if (!export_read(&r, line, n) || origin_note(&origin, &r))
		return;
	for (int flags = 0; flags <= EXPORT_REDACT; flags++) {
		struct strbuf b = { 0 };
		struct out o = strbuf_out(&b, room);

		export_fields(&o, &r, flags);
		must(o.at > b.text && o.at[-1] == '}' && !o.cut);
		free(b.text);
	}
	otlp_log(&logs, &r, 1);
	otlp_flush(&logs);
	spans_take(&spans, &r, 1);
	if (n % 16 == 0)
		spans_end(&spans, r.time);
	otlp_flush(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int null = -1;
	size_t room = size ? ROOM_LEAST + 8u * data[0] : 0;

	if (null < 0) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		must(null >= 0);
		stdout_to(null, "/dev/null");
	}
	if (!size)
		return 0;
	take_context(data, size);
	for (const char *s = (const char *)data + 1, *end = s + size - 1, *line; s < end; s++) {
		char *copy;

		for (line = s; s < end && *s != '\n'; s++)
			;
		copy = copy_of(line, (size_t)(s - line));
		take_line(copy, (size_t)(s - line), room);
		free(copy);
	}
	return 0;
}
