/* SPDX-License-Identifier: ISC */
/*
 * tcp.c - TCP connections from changes of state and from the records of tfs-strings tcp
 *
 * Input: a byte with options, then a record after the other: a byte with its kind, a byte with its
 * socket, and its values. Each output is complete lines, or JSON.
 */
#include "fuzz.h"
#include "help.h"

enum { STATE = 300, DESTROYED, OTHER };

static const uint8_t *data;
static size_t left;
static struct event_set sets[2];
static struct show show;
static int json;

static unsigned byte(void)
{
	return left ? (left--, *data++) : 0;
}

static void make_events(struct event_set *evs)
{
	static const char common[] =
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n";
	static const char state[] =
		"\tfield:int oldstate;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\tfield:int newstate;\toffset:20;\tsize:4;\tsigned:1;\n"
		"\tfield:__u16 sport;\toffset:24;\tsize:2;\tsigned:0;\n"
		"\tfield:__u16 dport;\toffset:26;\tsize:2;\tsigned:0;\n"
		"\tfield:__u16 protocol;\toffset:28;\tsize:2;\tsigned:0;\n"
		"\tfield:__u8 saddr_v6[16];\toffset:30;\tsize:16;\tsigned:0;\n"
		"\tfield:__u8 daddr_v6[16];\toffset:46;\tsize:16;\tsigned:0;\n";
	static const char *const names[] = { "inet_sock_set_state", "tcp_destroy_sock", "other" };
	static const char *const systems[] = { "sock", "tcp", "other" };
	char text[4096];

	for (int i = 0; i < 3; i++) {
		size_t n = str_format(text, sizeof(text), "name: %s\nID: %d\nformat:\n%s%s\n"
				      "print fmt: \"x\"\n", names[i], STATE + i, common,
				      i ? "" : state);

		must(event_add(evs, systems[i], text, n));
	}
	must(!rings_formats(evs));
}

static void check(const char *text, size_t n, size_t room)
{
	const char *end = text + n, *next;

	must(n <= room && (!n || end[-1] == '\n'));
	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		for (const char *s = text; s < next; s++)
			must((unsigned char)*s >= ' ' && *s != 0x7f);
		if (json)
			must_be_json(text, (size_t)(next - text), 5);
	}
}

/* Give the next record of the input. */
static void next(struct record *r, int big)
{
	static const uint8_t letters[] = "SQEWDLFA";
	static char text[SHOW_ROOM];
	unsigned char bytes[64] = { 0 }, *exact;
	unsigned kind = byte(), socket = byte(), at[] = { 20, 16 };
	const unsigned id = kind % 4 == 3 ? RECORD_FIRST + RECORD_TCP : STATE + kind % 4;
	int shown;

	r->ts += kind;
	r->cpu = (int)(socket >> 6);
	r->len = id == STATE ? 62 : id < OTHER ? 16 : sizeof(struct tcp_record);
	bytes[!big] = (unsigned char)(id >> 8);
	bytes[big] = (unsigned char)id;
	bytes[2] = kind & 4 ? 8 : 0; /* in an interrupt */
	bytes[big ? 7 : 4] = (unsigned char)(40 + socket % 3);
	bytes[big ? 15 : 8] = (unsigned char)(socket % 8);
	if (id == STATE) {
		for (int i = 0; i < 2; i++)
			bytes[at[i] + (big ? 3 : 0)] = (unsigned char)(byte() % 16);
		bytes[28 + big] = kind & 8 ? 132 : 6; /* SCTP, TCP */
		bytes[24] = bytes[27] = (unsigned char)byte();
		bytes[30 + 15] = bytes[46 + 3] = (unsigned char)byte();
	} else if (id >= RECORD_FIRST) {
		for (int i = 16; i < 32; i++)
			bytes[i] = kind & 16 ? 0xff : (unsigned char)byte();
		bytes[32] = kind & 32 ? (unsigned char)byte() : letters[byte() % sizeof(letters)];
	}
	if (kind & 64)
		r->len = 8 + byte() % (r->len - 7);
	exact = copy_of(bytes, r->len);
	r->data = exact;
	check(text, show_record(&show, r, kind & 128 ? LOST_UNKNOWN : 0, text, sizeof(text),
				&shown), sizeof(text));
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static const struct tool tool = { .name = "fuzz", .help = "fuzz\nfuzz\n" HELP_TCP };
	static char text[SHOW_ROOM];
	static struct line_format line;
	static struct tcp tcp;
	char *argv[] = { (char *)"fuzz", (char *)"-Tlatency,life,accept,connect,failed", NULL };
	struct record r = { 0 };
	unsigned how;
	size_t n;

	data = input;
	left = size;
	how = byte();
	if (!sets[how & 1].long_size) {
		sets[how & 1].long_size = 8;
		sets[how & 1].big = how & 1;
		make_events(&sets[how & 1]);
	}
	memset(&show, 0, sizeof(show));
	show.tcp = &tcp;
	line = (struct line_format){ .events = &sets[how & 1], .raw_clock = (how & 2) != 0 };
	json = show.json = (how & 4) != 0;
	show.otel.on = (how & 8) != 0;
	opt_index = 1;
	must(opt_next(&tool, 2, argv) != -1 && show_tcp_take(&show, &tool));
	show_begin(&show, &line);
	while (left)
		next(&r, how & 1);
	while ((n = show_tcp_end(&show, text, sizeof(text))))
		check(text, n, sizeof(text));
	event_notes_free(&show.pick.picked);
	event_notes_free(&show.facts.roles);
	event_notes_free(&show.otel.events);
	table_clear(&show.otel.tasks);
	free(show.otel.tasks.v);
	comms_clear(&show.facts.tasks);
	return 0;
}
