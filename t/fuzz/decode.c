/* SPDX-License-Identifier: ISC */
/*
 * decode.c - records of system calls in any order and with any values, decoded
 *
 * Input: a byte with the ABI, a byte with options, then a record after the other, of tracefs or of
 * the programs of tfs-strings: a byte with
 * its kind, a byte with its task, and its values. Each output is complete lines, without control
 * characters, or JSON. Each beginning of a call gives one line, unless an option selects calls.
 */
#include "fuzz.h"
#include "help.h"

enum { HELD_MOST = 17 << 20, TASKS_MOST = 65536, NOTED_MOST = 17 << 20 };

static const uint8_t *data;
static size_t left;

static unsigned byte(void)
{
	return left ? (left--, *data++) : 0;
}

/* Return a number; some bytes stand for numbers that calls often have. */
static uint64_t number(void)
{
	static const int64_t some[] = { -1, -2, -100, -4095, -512, -516, -4096, INT32_MIN,
					INT64_MIN, INT64_MAX, UINT32_MAX, 0x80000 };
	unsigned b = byte();
	uint64_t v = 0;

	if (b < 0xf0)
		return b;
	if (b < 0xf4) {
		for (unsigned i = 1u << (b - 0xf0); i--;)
			v = v << 8 | byte();
		return v;
	}
	return (uint64_t)some[b - 0xf4];
}

/* ---- events ---- */

struct named {
	const char *name;
	int number;
};

static const struct named calls[] = {
	{ "read", 0 }, { "open", 2 }, { "close", 3 }, { "poll", 7 }, { "rt_sigreturn", 15 },
	{ "dup", 32 }, { "nanosleep", 35 }, { "connect", 42 }, { "clone", 56 }, { "execve", 59 },
	{ "fcntl", 72 }, { "chdir", 80 }, { "exit_group", 231 }, { "openat", 257 }, { "dup3", 292 },
	{ "pipe2", 293 }, { "openat2", 437 },
	{ "a_call_that_has_a_name_of_very_many_letters_and_no_number", 999 },
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

enum { ENTER = 300, COPY = 350, EXIT = 400, RAW_ENTER = 450, RAW_EXIT, USER, NEWTASK, EXEC, END,
       OTHER };

static struct event_set sets[3][2];
static struct event_set *evs;

static void add(const char *system, const char *name, int id, const char *fields)
{
	static const char common[] =
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
	char text[4096];

	str_format(text, sizeof(text), "name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: \"x\"\n",
		   name, id, common, fields);
	must(event_add(evs, system, text, strlen(text)));
}

/* Write a field of a format after others. */
static void field(char *fields, const char *type, const char *name, int at, int size)
{
	char one[128];

	str_format(one, sizeof(one), "\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", type,
		   name, at, size, *type != 'u');
	strcat(fields, one);
}

static void make_events(void)
{
	int w = evs->long_size, copied;
	char fields[2048], name[80];

	for (int i = 0; i < CALLS; i++) {
		for (copied = 0; copied < 2; copied++) {
			*fields = '\0';
			field(fields, "int", "__syscall_nr", 8, 4);
			for (int a = 0; a < 6; a++)
				field(fields, "unsigned long", (char[]){ (char)('a' + a), '\0' },
				      8 + w + a * w, w);
			if (copied) {
				field(fields, "__data_loc char[]", "__a_val", 8 + 7 * w, 4);
				field(fields, "__data_loc char[]", "__b_val", 12 + 7 * w, 4);
			}
			str_format(name, sizeof(name), "sys_enter_%s", calls[i].name);
			add("syscalls", name, (copied ? COPY : ENTER) + i, fields);
		}
		*fields = '\0';
		field(fields, "int", "__syscall_nr", 8, 4);
		field(fields, "long", "ret", 8 + w, w);
		str_format(name, sizeof(name), "sys_exit_%s", calls[i].name);
		add("syscalls", name, EXIT + i, fields);
	}
	*fields = '\0';
	field(fields, "long", "id", 8, w);
	field(fields, "unsigned long", "args[6]", 8 + w, 6 * w);
	add("raw_syscalls", "sys_enter", RAW_ENTER, fields);
	*fields = '\0';
	field(fields, "long", "id", 8, w);
	field(fields, "long", "ret", 8 + w, w);
	add("raw_syscalls", "sys_exit", RAW_EXIT, fields);
	*fields = '\0';
	field(fields, "__data_loc char[]", "bpf_string", 8, 4);
	add("bpf_trace", "bpf_trace_printk", USER, fields);
	*fields = '\0';
	field(fields, "pid_t", "pid", 8, 4);
	field(fields, "unsigned long", "clone_flags", 16, w);
	add("task", "task_newtask", NEWTASK, fields);
	*fields = '\0';
	field(fields, "pid_t", "old_pid", 8, 4);
	add("sched", "sched_process_exec", EXEC, fields);
	add("sched", "sched_process_exit", END, fields);
	add("other", "other", OTHER, fields);
	must(!rings_formats(evs));
}

/* ---- records ---- */

static struct decode d;
static struct show show;
static unsigned char bytes[8192];
static struct record r;
static unsigned long begun, lines, others; /* resumed, denied or emulated: without an entry */
static unsigned long own_begun; /* records of our own that may begin a call */

static void put(size_t at, unsigned size, uint64_t v)
{
	for (unsigned i = 0; i < size; i++)
		bytes[at + (evs->big ? size - 1 - i : i)] = (unsigned char)(v >> 8 * i);
	if (at + size > r.len)
		r.len = (uint32_t)(at + size);
}

static void head(int id, int pid)
{
	memset(bytes, 0, sizeof(bytes));
	r.len = 0;
	put(0, 2, (uint64_t)id);
	put(4, 4, (uint64_t)pid);
}

static void words(size_t at, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(at + i * (unsigned)evs->long_size, (unsigned)evs->long_size, number());
}

/* Put a string of n bytes of the input after the record, and its place at the offset. */
static void string(size_t at, const char *text, size_t n)
{
	size_t from = r.len;

	must(from + n + 1 < sizeof(bytes));
	memcpy(bytes + from, text, n);
	r.len = (uint32_t)(from + n + 1);
	put(at, 4, (n + 1) << 16 | from);
}

static int ends_with(const char *s, const char *end, const char *word)
{
	const size_t n = strlen(word);

	return (size_t)(end - s) > n && !memcmp(end - n, word, n);
}

/* Return the end of a line without its context. */
static const char *before_context(const char *s, const char *end)
{
	for (const char *at = end; show.otel.on && at-- > s;)
		if (!strncmp(at, " otel=", 6) || !strncmp(at, " trace_id=", 10))
			return at;
	return end;
}

/* Check complete lines, and count those of calls. */
static void check(const char *text, size_t n, size_t room)
{
	const char *end = text + n, *body, *next, *stop;

	must(n <= room && (!n || end[-1] == '\n'));
	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		must(next - text < SHOW_ROOM / 4 + 64);
		for (const char *s = text; s < next; s++)
			must((unsigned char)*s >= ' ' && *s != 0x7f);
		if (show.json) {
			must_be_json(text, (size_t)(next - text), 6);
			if (memmem(text, (size_t)(next - text), ",\"lost\":", 8) ||
			    !strncmp(text, "{\"unnamed\":", 11) ||
			    !strncmp(text, "{\"reused\":", 10))
				continue;
			body = memmem(text, (size_t)(next - text), "\"resumed\":true", 14);
			if (!body)
				body = memmem(text, (size_t)(next - text), "\"denied\":true", 13);
			if (!body)
				body = memmem(text, (size_t)(next - text), "\"emulated\":true", 15);
			others += body != NULL;
			lines++;
			continue;
		}
		if (!strncmp(text, "CPU:", 4) || *text == '#')
			continue;
		body = memmem(text, (size_t)(next - text), ": ", 2);
		must(body);
		stop = before_context(body, next);
		others += !strncmp(body + 2, "<... ", 5) || ends_with(body, stop, " (denied)") ||
			  ends_with(body, stop, " (emulated)");
		lines++;
	}
}

static void give(int64_t lost)
{
	static char text[SHOW_ROOM];
	unsigned char *exact = copy_of(bytes, r.len);
	struct record one = r;
	int shown;

	one.data = exact;
	check(text, show_record(&show, &one, lost, text, sizeof(text), &shown), sizeof(text));
	free(exact);
	must(d.held <= HELD_MOST && d.pairing.tasks.n <= PAIRING_TASKS &&
	     d.known.held <= NOTED_MOST);
}

/* Give a record of user memory: its id, a mark, and text of the input. */
static void user(int pid)
{
	static const char *const ids[] = { "tfs_1a ", "tfs_1a ", "tfs_1a ", "tfs_2", "tfs_1a", "" };
	static const char marks[] = "abcdexsk";
	char text[600];
	unsigned how = byte(), n = byte() * (how & 128 ? 2 : 1);
	size_t len = str_format(text, 80, "%s", ids[how % 6]);

	head(USER, pid);
	put(8, 4, 0);
	text[len++] = marks[how / 6 % 8];
	if (text[len - 1] != 'k' || n & 1) {
		text[len++] = (char)('0' + n % 8);
		text[len++] = ' ';
	}
	for (unsigned i = 0; i < n && left; i++)
		text[len++] = (char)byte();
	string(8, text, len);
}

/*
 * Put pieces of user memory at the offset: their tags, arguments and lengths as the programs write
 * them, or not. Return the number of bytes.
 */
static size_t pieces(size_t at)
{
	static const char tags[] = "AaBbCcXxDdEeSsZzPpNnKr";
	const size_t begin = at, most = at + 4 * CALL_USER_MOST / 10;

	for (unsigned n = byte() % 16; n-- && at < most;) {
		unsigned how = byte(), tag = byte(), size = byte() * (how & 64 ? 9 : 1);

		put(at, 1, tag < 200 ? (uint64_t)tags[tag % sizeof(tags)] : tag);
		put(at + 1, 1, how % 8);
		put(at + 2, 2, how & 128 ? number() : size);
		put(at + 4, 4, how & 8 ? number() : 16);
		at += 8;
		for (unsigned i = 0; i < size; i++)
			put(at + i, 1, how & 16 ? 'x' : byte());
		if (how % 8 == CALL_ARGS && size >= 8 && !(how & 32))
			put(at, 8, 0x7000 + how / 8 * 8u); /* pieces that follow each other */
		put(at + size, 1, 0);
		at += how & 128 && tag & 1 ? size :
		      (size + PIECE_ROUND) / PIECE_ROUND * PIECE_ROUND;
	}
	if (at > begin)
		put(at - 1, 1, 0);
	return at - begin;
}

/* Give a record of tfs-strings. */
static void own(int pid)
{
	static uint64_t last_begin[8], last_nr[8];
	uint64_t *begin = &last_begin[pid & 7], *nr = &last_nr[pid & 7];
	unsigned kind = byte(), how = byte();
	size_t n;

	head((int)(RECORD_FIRST + kind % RECORDS), pid);
	r.len = 8;
	switch (kind % RECORDS) {
	case RECORD_ENTER:
	case RECORD_CALL:
	case RECORD_OPEN:
		if (!(how & 1)) { /* not the call that has begun */
			*begin = how & 2 ? number() : (uint64_t)r.ts;
			*nr = how & 4 ? number() : (uint64_t)calls[byte() % CALLS].number;
		}
		put(offsetof(struct call_record, call.begin), 8, *begin);
		for (unsigned i = 0; i < CALL_ARGS; i++)
			put(offsetof(struct call_record, call.args[i]), 8, number());
		put(offsetof(struct call_record, call.nr), 4, *nr);
		put(offsetof(struct call_record, call.cpu), 2, how & 8 ? number() : 1);
		put(offsetof(struct call_record, call.flags), 2, kind / RECORDS);
		put(offsetof(struct call_record, ret), 8, number());
		put(offsetof(struct call_record, ret_nr), 4, how & 16 ? number() : *nr);
		n = pieces(sizeof(struct call_record));
		put(offsetof(struct call_record, memory), 4,
		    how & 32 ? number() << 16 | number() : n << 16 | sizeof(struct call_record));
		put(offsetof(struct call_record, path), 4,
		    how & 64 ? number() << 16 | number() : 84);
		if (r.len < sizeof(struct call_record))
			r.len = sizeof(struct call_record);
		own_begun++;
		break;
	case RECORD_PART:
		n = pieces(16);
		n -= how & 1 ? n / 2 : 0;
		put(12, 4, how & 32 ? number() << 16 | number() : n << 16 | 16);
		break;
	default: /* of other views: any bytes */
		n = byte() % 64;
		for (size_t i = 0; i < n; i++)
			put(8 + i, 1, byte());
	}
	if (how & 128) /* cut */
		r.len = 8 + byte() * 4u % (r.len - 7);
}

/* As many tasks and as much user memory as there may be. */
static void many(void)
{
	char text[256];

	memset(text, 'x', sizeof(text));
	memcpy(text, "tfs_1a b1 ", 10);
	for (int pid = 1000; pid < 3000; pid++) {
		head(ENTER + 13, pid);
		put(8, 4, 257);
		put(8 + 7u * (unsigned)evs->long_size - 1, 1, 0);
		begun++;
		give(0);
		for (int i = 0; i < 40; i++) {
			head(USER, pid);
			put(8, 4, 0);
			string(8, text, sizeof(text));
			give(0);
		}
	}
	for (int pid = 3000; pid < 3000 + TASKS_MOST + 100; pid++) {
		head(RAW_ENTER, pid);
		put(8 + 7u * (unsigned)evs->long_size - 1, 1, 0);
		begun++;
		give(0);
	}
}

/* Give the next record of the input. */
static void next(void)
{
	static int last[8]; /* the call of a task, and whether it was by number */
	unsigned kind = byte(), task = byte(), w = (unsigned)evs->long_size, call;
	int pid = task < 250 ? (int)task % 6 + 40 : (int)number(), *of = &last[pid & 7];
	int64_t lost = 0;
	char text[256];
	size_t n;

	r.ts += task;
	r.cpu = (int)(kind >> 4 & 3);
	if (kind >> 6 == 3)
		lost = kind & 16 ? LOST_UNKNOWN : 3;
	switch (kind & 15) {
	case 0:
	case 1:
	case 2:
		call = byte() % CALLS;
		head((kind & 15) == 2 ? COPY + (int)call : ENTER + (int)call, pid);
		put(8, 4, (uint64_t)calls[call].number);
		words(8 + w, 6);
		if ((kind & 15) == 2) {
			put(8 + 7 * w, 4, 0);
			put(12 + 7 * w, 4, 0);
			for (unsigned i = 0; i < 2; i++) {
				unsigned most = byte() % 200;

				for (n = 0; n < most && left; n++)
					text[n] = (char)byte();
				string(8 + 7 * w + 4 * i, text, n);
			}
		}
		*of = (int)call;
		begun++;
		break;
	case 3:
		call = byte() % CALLS;
		head(EXIT + (int)call, pid);
		put(8, 4, (uint64_t)calls[call].number);
		words(8 + w, 1);
		break;
	case 4:
	case 5: /* the end of the last call */
		if (*of < 0) {
			head(RAW_EXIT, pid);
			put(8, w, (uint64_t)(-1 - *of));
		} else {
			head(EXIT + *of, pid);
			put(8, 4, (uint64_t)calls[*of].number);
		}
		words(8 + w, 1);
		break;
	case 6:
		head(RAW_ENTER, pid);
		words(8, 7);
		*of = -1 - (int)bytes[evs->big ? 8 + w - 1 : 8];
		begun++;
		break;
	case 7:
		head(RAW_EXIT, pid);
		words(8, 2);
		break;
	case 8:
	case 9:
	case 10:
		user(pid);
		break;
	case 11:
		head(NEWTASK, pid);
		put(8, 4, number());
		words(16, 1);
		break;
	case 12:
		head(EXEC, pid);
		put(8, 4, 40 + byte() % 6);
		break;
	case 13:
		head(END, pid);
		put(8, 4, (uint64_t)pid);
		break;
	case 14:
		if (byte() % 8) {
			own(pid);
			break;
		}
		head(OTHER, pid);
		put(8, 4, number());
		break;
	default: /* any bytes */
		n = byte() % 64;
		head(0, pid);
		for (size_t i = 0; i < n; i++)
			put(i, 1, byte());
		call = r.len >= 2 ? (unsigned)bytes[evs->big] | (unsigned)bytes[!evs->big] << 8 : 0;
		begun += call - ENTER < CALLS || call - COPY < CALLS || call == RAW_ENTER;
		own_begun += call - RECORD_FIRST < RECORDS;
	}
	give(lost);
}

/* ---- options ---- */

/* Take an option of a tool, "-D" or "--name=VALUE". */
static void option(const char *word)
{
	static const struct tool tool = { .name = "fuzz", .help = "fuzz\nfuzz\n" HELP_DECODE };
	char *argv[] = { (char *)"fuzz", (char *)(uintptr_t)word, NULL };

	opt_index = 1;
	must(opt_next(&tool, 2, argv) != -1 && decode_take(&d, &tool));
	show_calls_check(&show, &d, &tool);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static const char *const abis[] = { "x86_64", "arm", "s390x" };
	static struct calls *tables[3];
	static char text[SHOW_ROOM];
	static struct line_format line;
	unsigned abi, how, all = 1;
	size_t n;

	data = input;
	left = size;
	abi = byte();
	how = byte();
	evs = &sets[abi % 3][how & 1];
	if (!evs->long_size) {
		evs->long_size = abi % 3 == 1 ? 4 : 8;
		evs->big = abi % 3 == 2;
		make_events();
	}
	if (!tables[abi % 3])
		tables[abi % 3] = calls_open(abis[abi % 3]);
	memset(&show, 0, sizeof(show));
	memset(&d, 0, sizeof(d));
	line = (struct line_format){ .events = evs, .raw_clock = (abi & 64) != 0 };
	r = (struct record){ 0 };
	begun = own_begun = lines = others = 0;

	option("-D");
	if (how & 2)
		option("--names");
	if (how & 4)
		option("--paths");
	show.json = (how & 8) != 0;
	show.otel.on = (how & 128) != 0;
	if (how & 16)
		option("--id=tfs_1a");
	if (how & 32) {
		static const char *const filters[] = { "--failed", "--errno=ENOENT,EINTR",
						       "--fd=3", "--slower=1", "--path=*a*",
						       "--path=/*", "--files=written",
						       "--files=opened,written,read,renamed" };

		option(filters[byte() % 8]);
		all = 0;
	}
	if (how & 64)
		option("--abi=i386"); /* 32-bit calls are known */
	if (how & 1)
		must(!pick_event(&show.pick, "sys_*"));
	show_begin(&show, &line);
	d.calls = tables[abi % 3];
	must(d.calls);
	show_calls_begin(&show, &d);
	if (left == 4 && !memcmp(data, "many", 4))
		many();
	while (left)
		next();
	while ((n = show_calls_end(&show, text, sizeof(text))))
		check(text, n, sizeof(text));
	/* with how & 1 the lines of calls are all lines */
	must(!(all && how & 1) || (lines - others >= begun && lines - others <= begun + own_begun));
	decode_free(&d);
	for (unsigned i = 0; i < d.wanted.n; i++) /* of an option, for the whole program */
		free(d.wanted.path[i]);
	must(!d.held && !d.known.held);
	told_free(&show.told);
	event_notes_free(&show.pick.picked);
	event_notes_free(&show.facts.roles);
	comms_clear(&show.facts.tasks);
	event_notes_free(&show.otel.events);
	table_clear(&show.otel.tasks);
	free(show.otel.tasks.v);
	free(show.pick.globs);
	return 0;
}
