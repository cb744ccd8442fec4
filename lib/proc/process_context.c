/* SPDX-License-Identifier: ISC */
/*
 * process_context.c - the resource that a process publishes (OpenTelemetry's OTEP 4719)
 *
 * An SDK publishes it in a mapping with the name OTEL_CTX: a header, which has the address of a
 * message ProcessContext of opentelemetry-proto (processcontext/v1development). While the SDK
 * writes, the time in the header is 0; a time that is the same before and after says that the
 * message is whole. All of it is a stranger's: a helper reads it, and only names and values of a
 * plain form pass.
 */
#include <fcntl.h>
#include <poll.h>

#include "base/base.h"
#include "proc/proc.h"

enum {
	VERSION_OF_HEADER = 2,
	MESSAGE_MOST = 64 * 1024,       /* bytes of a message */
	TRIES = 8,                      /* while the process writes */
	VALUE_MOST = 256,               /* bytes of a string, as in the environment */
};

struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published;             /* 0: the process writes */
	uint64_t address;
};

/* ---- in the helper ------------------------------------------------------------------------- */

/* Read the message of the header at this address. Return 0, or -1: it is none. */
static int read_message(int memory, uint64_t at, int *tries, struct stranger_answer *a)
{
	for (; *tries; --*tries) {
		struct header h, again;
		const off_t place = (off_t)at;

		stranger_step();
		if (pread(memory, &h, sizeof(h), place) != sizeof(h) ||
		    memcmp(h.signature, "OTEL_CTX", 8) || h.version != VERSION_OF_HEADER)
			return -1;
		if (h.published && h.size <= MESSAGE_MOST && h.address <= INT64_MAX &&
		    (a->part[0] = malloc(h.size + 1)) &&
		    pread(memory, a->part[0], h.size, (off_t)h.address) == (ssize_t)h.size &&
		    pread(memory, &again, sizeof(again), place) == sizeof(again) &&
		    !memcmp(&h, &again, sizeof(h))) {
			a->size[0] = h.size;
			return 0;
		}
		free(a->part[0]);
		a->part[0] = NULL;
		poll(NULL, 0, 1);
	}
	return -1;
}

/* Has the mapping of this line of maps the name? A memfd may have more after it: " (deleted)". */
static int is_context(const char *line, size_t n)
{
	static const char *const names[] = { "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
					     "/memfd:OTEL_CTX" };
	size_t before = 0;

	while (before < n && line[before] != '/' && line[before] != '[')
		before++;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (n - before >= strlen(names[i]) &&
		    !memcmp(line + before, names[i], strlen(names[i])))
			return 1;
	return 0;
}

/* Find and read the message of a process: a stranger_fn. */
static void read_context(const void *question, struct stranger_answer *a)
{
	char path[PATH_MAX], *maps = NULL;
	int memory = -1, tries = TRIES; /* of all mappings with the name */
	size_t size;
	pid_t pid;

	memcpy(&pid, question, sizeof(pid));
	str_format(path, sizeof(path), "%s/%d/maps", path_procfs(), (int)pid);
	if (!stranger_enter(STRANGER_PROCESS | (unsigned)pid))
		maps = file_read_most(AT_FDCWD, path, PROCFS_MOST, &size);
	for (const char *line = maps, *end; line && *line; line = end + (*end == '\n')) {
		const char *at = line;

		end = line + strcspn(line, "\n");
		if (!is_context(line, (size_t)(end - line)))
			continue;
		if (memory < 0) {
			str_format(path, sizeof(path), "%s/%d/mem", path_procfs(), (int)pid);
			memory = open(path, O_RDONLY | O_CLOEXEC);
		}
		if (memory < 0 || !read_message(memory, text_hex(&at, end), &tries, a))
			break;
	}
	fd_close(memory);
	free(maps);
}

/* ---- the message --------------------------------------------------------------------------- */

struct message {
	const unsigned char *at, *end;
};

/* Read a number of up to ten bytes. Return 0, or -1: the message is cut. */
static int read_varint(struct message *m, uint64_t *n)
{
	*n = 0;
	for (unsigned shift = 0; m->at < m->end && shift < 64; shift += 7) {
		*n |= (uint64_t)(*m->at & 0x7f) << shift;
		if (!(*m->at++ & 0x80))
			return 0;
	}
	return -1;
}

/*
 * Read a field: its number in *field, and its value in *inner, or, if inner->at is NULL, in *n.
 * Return 1, or 0 at the end and where the message is none.
 */
static int next_field(struct message *m, uint64_t *field, uint64_t *n, struct message *inner)
{
	uint64_t tag, size = 0;

	*inner = (struct message){ NULL, NULL };
	if (read_varint(m, &tag) < 0)
		return 0;
	*field = tag >> 3;
	switch (tag & 7) {
	case 0:
		return !read_varint(m, n);
	case 1:
		size = 8;
		break;
	case 2:
		if (read_varint(m, &size) < 0)
			return 0;
		break;
	case 5:
		size = 4;
		break;
	default:
		return 0;
	}
	if (size > (size_t)(m->end - m->at))
		return 0;
	*inner = (struct message){ m->at, m->at + size };
	m->at += size;
	return 1;
}

/* Write an attribute, a KeyValue: a string, a boolean or an integer as AnyValue has it. */
static void put_attribute(struct out *o, struct message attribute)
{
	struct message key = { NULL, NULL }, any = { NULL, NULL }, text;
	struct out before = *o;
	uint64_t field, n = 0;

	while (next_field(&attribute, &field, &n, &text))
		if (text.at && field == 1)
			key = text;
		else if (text.at && field == 2)
			any = text;
	if (!any.at || !resource_is_name((struct text_part){ (const char *)key.at,
							    (size_t)(key.end - key.at) }))
		return;
	json_key(o, (const char *)key.at, (size_t)(key.end - key.at));
	if (!next_field(&any, &field, &n, &text))
		field = 0;
	if (field == 1 && text.at && text.end - text.at <= VALUE_MOST)
		json_string(o, text.at, (size_t)(text.end - text.at));
	else if (field == 2 && !text.at)
		out_string(o, n ? "true" : "false");
	else if (field == 3 && !text.at)
		out_format(o, "%lld", (long long)n);
	else
		o->cut = 1; /* another kind of value */
	if (o->cut)
		*o = before;
}

void process_context_put(struct out *o, const void *bytes, size_t n)
{
	struct message all = { bytes, (const unsigned char *)bytes + n }, resource, attribute;
	uint64_t field, kind, number;

	while (next_field(&all, &field, &number, &resource))
		while (field == 1 && next_field(&resource, &kind, &number, &attribute))
			if (kind == 1 && attribute.at)
				put_attribute(o, attribute);
}

void process_context(struct out *o, pid_t pid)
{
	struct stranger_answer a = { 0 };

	if (stranger_ask(read_context, &pid, sizeof(pid), pid, &a) < 0)
		return;
	if (a.size[0])
		process_context_put(o, a.part[0], a.size[0]);
	stranger_free(&a);
}
