/* SPDX-License-Identifier: ISC */
/* records.c - the formats of the events that BPF programs record */
#include <sys/utsname.h>

#include "event/event.h"
#include "calls/calls.h"

#define FIELD(TYPE, NAME, AT, SIZE, SIGNED) \
	"\tfield:" TYPE " " NAME ";\toffset:" AT ";\tsize:" SIZE ";\tsigned:" SIGNED ";\n"

/* The fields of struct call_record, after those that all events have */
#define CALL_FIELDS \
	FIELD("u64", "begin", "8", "8", "0") \
	FIELD("unsigned long long", "args[6]", "16", "48", "0") \
	FIELD("int", "nr", "64", "4", "1") FIELD("u16", "cpu", "68", "2", "0") \
	FIELD("u16", "flags", "70", "2", "0") FIELD("s64", "ret", "72", "8", "1") \
	FIELD("int", "ret_nr", "80", "4", "1") FIELD("u32", "reserved", "84", "4", "0") \
	FIELD("__data_loc u8[]", "memory", "88", "4", "0") \
	FIELD("__data_loc char[]", "path", "92", "4", "0")

/* The arguments of a call in the print fmt, after its name */
#define CALL_ARGUMENTS \
	"REC->args[0], REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5], " \
	"__get_str(path)"
#define CALL_FORMAT "%s(0x%llx, 0x%llx, 0x%llx, 0x%llx, 0x%llx, 0x%llx) path=\"%s\""

static const struct {
	const char *name, *fields;
	int call;               /* its print fmt begins with the name and arguments of the call */
	const char *format, *values;
} records[] = {
	{ "enter", CALL_FIELDS, 1, CALL_FORMAT, CALL_ARGUMENTS },
	{ "call", CALL_FIELDS, 1, CALL_FORMAT " = %lld", CALL_ARGUMENTS ", REC->ret" },
	{ "open", CALL_FIELDS, 1, CALL_FORMAT " = ?", CALL_ARGUMENTS },
	{ "part", FIELD("u32", "reserved", "8", "4", "0")
		  FIELD("__data_loc u8[]", "memory", "12", "4", "0"), 0,
	  "memory of the next call", NULL },
	{ "tcp", FIELD("u64", "socket", "8", "8", "0") FIELD("u64", "a", "16", "8", "0")
		 FIELD("u64", "b", "24", "8", "0") FIELD("char", "what", "32", "1", "0")
		 FIELD("u32", "inode", "36", "4", "0"), 0,
	  "%c socket=%llx a=%llx b=%llx", "REC->what, REC->socket, REC->a, REC->b" },
	{ "otel", FIELD("u64", "trace_high", "8", "8", "0")
		  FIELD("u64", "trace_low", "16", "8", "0") FIELD("u64", "span", "24", "8", "0")
		  FIELD("u8", "state", "32", "1", "0") FIELD("u8", "flags", "33", "1", "0"), 0,
	  "state=%u trace=%llx%016llx span=%016llx flags=%02x",
	  "REC->state, REC->trace_high, REC->trace_low, REC->span, REC->flags" },
	{ "cpu", FIELD("int", "process", "8", "4", "1") FIELD("u64", "ns", "16", "8", "0"), 0,
	  "process=%d ns=%llu", "REC->process, REC->ns" },
	{ "mark", FIELD("void *", "key", "8", "8", "0") FIELD("u32", "probe", "16", "4", "0")
		  FIELD("int", "task", "20", "4", "1") FIELD("char", "what[8]", "24", "8", "0"), 0,
	  "%s %x %d %llx", "REC->what, REC->probe, REC->task, REC->key" },
	{ "file", FIELD("u64", "id", "8", "8", "0") FIELD("u64", "inode", "16", "8", "0")
		  FIELD("u32", "device", "24", "4", "0") FIELD("u16", "mode", "28", "2", "0")
		  FIELD("u16", "flags", "30", "2", "0") FIELD("u32", "magic", "32", "4", "0")
		  FIELD("__data_loc char[]", "path", "36", "4", "0")
		  FIELD("__data_loc char[]", "socket", "40", "4", "0")
		  FIELD("u16", "family", "44", "2", "0") FIELD("u16", "type", "46", "2", "0")
		  FIELD("u16", "protocol", "48", "2", "0")
		  FIELD("__data_loc char[]", "inside", "52", "4", "0")
		  FIELD("u32", "space", "56", "4", "0")
		  FIELD("u32", "generation", "60", "4", "0")
		  FIELD("u32", "root", "64", "4", "0"), 0,
	  "id=%llx device=%u:%u inode=%llu mode=%o flags=%x path=\"%s\" socket=\"%s\" "
	  "inside=\"%s\"",
	  "REC->id, REC->device >> 20, REC->device & 0xfffff, REC->inode, REC->mode, REC->flags, "
	  "__get_str(path), __get_str(socket), __get_str(inside)" },
	{ "task", FIELD("u64", "start", "8", "8", "0") FIELD("char", "comm[16]", "16", "16", "0")
		  FIELD("int", "tgid", "32", "4", "1") FIELD("u32", "uid", "36", "4", "0"), 0,
	  "comm=%s tgid=%d uid=%u start=%llu", "REC->comm, REC->tgid, REC->uid, REC->start" },
	{ "user_stack", FIELD("u16", "of", "8", "2", "0")
			FIELD("__data_loc char[]", "frames", "12", "4", "0"), 0,
	  "<user stack trace>\\n%s", "__get_str(frames)" },
};
_Static_assert(sizeof(records) / sizeof(*records) == RECORDS, "each record has a format");

enum { COMPAT_SHIFT = 12 };

/* Add the names of the calls of an ABI. In the print fmt, their numbers have these bits set. */
static void add_abi(struct out *o, const char *abi, unsigned bits)
{
	struct calls *calls = calls_open(abi);
	const struct call *c;

	for (unsigned n = 0; calls && n <= calls_most(calls); n++)
		if ((c = calls_find(calls, n)))
			out_format(o, ",{%u,\"%s\"}", n | bits, c->name);
}

/* Add the table of the names of calls to a print fmt. */
static void add_names(struct out *o)
{
	struct utsname host;
	const char *abi_32 = uname(&host) < 0 ? NULL : calls_abi_32(host.machine);

	out_format(o, "__print_symbolic(((REC->flags & %d) << %d) + REC->nr", CALL_COMPAT,
		   COMPAT_SHIFT);
	add_abi(o, NULL, 0);
	if (abi_32)
		add_abi(o, abi_32, CALL_COMPAT << COMPAT_SHIFT);
	out_string(o, "), ");
}

size_t record_format(unsigned i, char *text, size_t size)
{
	struct out o = out_to(text, size);

	out_format(&o, "name: %s\nID: %u\nformat:\n", records[i].name, RECORD_FIRST + i);
	out_string(&o, FIELD("unsigned short", "common_type", "0", "2", "0")
		       FIELD("unsigned char", "common_flags", "2", "1", "0")
		       FIELD("unsigned char", "common_preempt_count", "3", "1", "0")
		       FIELD("int", "common_pid", "4", "4", "1") "\n");
	out_string(&o, records[i].fields);
	out_string(&o, "\nprint fmt: \"");
	for (const char *p = records[i].format; *p; p++)
		out_format(&o, *p == '"' ? "\\\"" : "%c", *p);
	out_char(&o, '"');
	if (records[i].values)
		out_string(&o, ", ");
	if (records[i].call)
		add_names(&o);
	if (records[i].values)
		out_string(&o, records[i].values);
	out_char(&o, '\n');
	return (size_t)(o.at - text);
}

int record_helps(const struct record *r)
{
	struct record_head head = { 0 };

	if (r->len >= sizeof(head))
		memcpy(&head, r->data, sizeof(head));
	return head.id == RECORD_FIRST + RECORD_ENTER || head.id == RECORD_FIRST + RECORD_PART ||
	       head.id == RECORD_FIRST + RECORD_FILE || head.id == RECORD_FIRST + RECORD_TASK ||
	       head.id == RECORD_FIRST + RECORD_STACK;
}

size_t records_in(const struct subbuf_format *f, const void *data, size_t size)
{
	struct record r;
	struct subbuf p;
	size_t n = 0;

	subbuf_open(&p, f, data, size, 0);
	while (subbuf_next(&p, &r))
		n += !record_helps(&r);
	return n;
}
