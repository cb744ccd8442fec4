/* SPDX-License-Identifier: ISC */
/*
 * page.c - sub-buffers of any bytes, printed by fixed formats; and header_page
 *
 * Input: a byte of flags (1 big-endian, 2 a long of 4 bytes, 4 the rest is a
 * header_page's text up to a NUL, and a sub-buffer), then the sub-buffer.
 */
#include "fuzz.h"
#include "seen/of_record.h"

#define COMMON "ID: %d\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct {
	const char *system, *text;
} formats[] = {
	{ "ftrace", "name: print\n" COMMON
		"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n" },
	{ "ftrace", "name: kernel_stack\n" COMMON
		"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\n"
		"print fmt: \"\"\n" },
	{ "ftrace", "name: bprint\n" COMMON
		"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n" },
	{ "ftrace", "name: raw_data\n" COMMON
		"\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n" },
	{ "syscalls", "name: sys_enter_write\n" COMMON
		"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:const char * buf;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:size_t count;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] __buf_val;\toffset:32;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"\"\n" },
	{ "demo", "name: all\n" COMMON
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:__data_loc char[] s;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc u32[] a;\toffset:28;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc cpumask_t[] m;\toffset:32;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%s %10.4s %s %s %s %s %*pbl %pISpc %pI6c %pU %pM %*phC\", REC->comm, "
		"__get_str(s), __get_bitmask(m), __print_hex(__get_rel_dynamic_array(a), "
		"__get_rel_dynamic_array_len(a)), __print_array(__get_rel_dynamic_array(a), "
		"__get_rel_dynamic_array_len(a) / 4, 4), __print_hex_dump(\"x\", 2, 16, 4, "
		"__get_dynamic_array(s), __get_dynamic_array_len(s), 1), "
		"__get_dynamic_array_len(m) * 8, __get_dynamic_array(m), "
		"__get_dynamic_array(s), __get_dynamic_array(s), __get_dynamic_array(s), "
		"__get_dynamic_array(s), __get_dynamic_array_len(s), __get_dynamic_array(s)\n" },
	{ "raw_syscalls", "name: sys_enter\n" COMMON
		"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
		"print fmt: \"\"\n" },
	{ "raw_syscalls", "name: sys_exit\n" COMMON
		"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "signal", "name: signal_deliver\n" COMMON
		"\tfield:int sig;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:int code;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long sa_handler;\toffset:16;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"\"\n" },
	{ "signal", "name: signal_generate\n" COMMON
		"\tfield:int sig;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "task", "name: task_newtask\n" COMMON
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
		"\tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"\"\n" },
	{ "task", "name: task_rename\n" COMMON
		"\tfield:char newcomm[16];\toffset:8;\tsize:16;\tsigned:0;\n\n"
		"print fmt: \"\"\n" },
	{ "sched", "name: sched_process_exec\n" COMMON
		"\tfield:pid_t old_pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "sched", "name: sched_process_exit\n" COMMON
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "demo", "name: plain\n" COMMON
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:int n;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:u64 big;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:s16 small;\toffset:40;\tsize:2;\tsigned:1;\n"
		"\tfield:__data_loc char[] s;\toffset:44;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"comm=%s n=%d, big=%llu small=%d hex=%x len=%d of s=%s\", REC->comm, "
		"REC->n, REC->big, REC->small, REC->n, REC->n, __get_str(s)\n" },
};

/* Print the record as the process tracer does: one line for any contents. */
static void one_process(struct show *s, const struct record *r, char *buf, size_t size)
{
	size_t n;

	facts_learn(&s->facts, r, r->len % 64 == 60);
	identity_learn(&s->identity, r, r->len % 64 == 60);
	if (!process_picks(s) || !identity_picks(&s->identity, r))
		return;
	n = process_line(s, r, buf, size);
	must(n > 40 && n < 256 && memchr(buf, '\n', n) == buf + n - 1);
}

static int same(struct text_part a, struct text_part b)
{
	return a.n == b.n && !a.text == !b.text && (!a.n || !memcmp(a.text, b.text, a.n));
}

/* Has the record, asked for its parts, the same as its line of n bytes? */
static void one_event(struct event_set *evs, const struct record *r, const char *text, size_t n)
{
	static const char *const keys[] = { "comm", ".comm", "pid", "cpu", "time", "event", "call",
					    "n", "big", "small", "hex", "len", "s", "ret", "id" };
	static struct replay of;
	struct seen seen, line;
	uint64_t times[2];
	int digits[2];

	of.events = *evs;
	of.line = (struct line_format){ .events = &of.events };
	of.show.line = &of.line;
	if (!n || record_pid(evs, r) < 0 || !seen_line(&line, text, n - 1) ||
	    !seen_record(&seen, &of, r, NULL))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		must(same(seen_text(&seen, keys[i]), seen_text(&line, keys[i])));
	must(same(seen_body(&seen), line.body) && seen.flags.n == line.flags.n);
	must(seen_time(&seen, &times[0], &digits[0]) ==
	     seen_time(&line, &times[1], &digits[1]));
	must(times[0] == times[1] && digits[0] == digits[1]);
	must(seen_number(&seen, "n") == seen_number(&line, "n"));
}

static void one_subbuf(struct event_set *evs, const struct subbuf_format *f, const uint8_t *data,
		     size_t size)
{
	static char buf[65536];
	struct line_format l = { .events = evs };
	static struct show shows[2]; /* all tasks, and some */
	size_t n = 0, printed = 0, length;
	struct record r;
	struct subbuf p;

	if (subbuf_open(&p, f, data, size, 1) < 0) {
		must(size < f->data || size < f->commit + f->commit_size || size < 8);
		return;
	}
	must(p.lost >= LOST_UNKNOWN);
	must(line_lost(1, p.lost, buf, sizeof(buf)) < 64);
	for (int i = 0; i < 2; i++) {
		shows[i].line = &l;
		shows[i].process = SHOW_SYSCALLS | SHOW_SIGNALS | SHOW_LIFECYCLE;
		shows[i].identity = (struct identity){ .by_uid = i, .comm = i ? "a\n" : NULL };
		shows[i].facts = (struct facts){ 0 };
		facts_begin(&shows[i].facts, evs);
		identity_begin(&shows[i].identity, &l, &shows[i].facts);
	}
	for (; subbuf_next(&p, &r); n++) {
		must(r.data >= data + f->data && r.data <= data + size);
		must(r.len <= (size_t)(data + size - r.data));
		if (n < 64) {
			length = line_print(&l, &r, buf, sizeof(buf));
			printed += length;
			one_event(evs, &r, buf, length);
		}
		if (n < 64) {
			one_process(&shows[0], &r, buf, sizeof(buf));
			one_process(&shows[1], &r, buf, sizeof(buf));
		}
	}
	must(n <= size / 4 && (!n || printed) && !subbuf_next(&p, &r));
	comms_clear(&evs->comms);
	for (int i = 0; i < 2; i++) {
		event_notes_free(&shows[i].facts.roles);
		comms_clear(&shows[i].facts.tasks);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event_set kinds[4];
	struct subbuf_format f;
	unsigned how;
	char *text, page_text[512];
	uint8_t *subbuf;

	if (!size)
		return 0;
	how = *data;
	data++;
	size--;
	for (unsigned k = 0; k < 4 && !kinds[k].long_size; k++) {
		kinds[k].big = k & 1;
		kinds[k].long_size = k & 2 ? 4 : 8;
		must(!events_strings(&kinds[k], "0x10 : \"%d %s %5.*llx %p %c\\n\"\n", 31));
		for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
			char format_text[4096];
			const char *id = strstr(formats[i].text, "%d");
			struct event *e;

			must(id);
			str_format(format_text, sizeof(format_text), "%.*s%zu%s",
				   (int)(id - formats[i].text), formats[i].text, i + 1, id + 2);
			e = event_add(&kinds[k], formats[i].system, format_text,
				      strlen(format_text));
			must(e && !event_prepare(&kinds[k], e));
		}
	}
	str_format(page_text, sizeof(page_text),
		   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		   "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
		   "\tfield: char data;\toffset:%d;\tsize:4080;\tsigned:0;\n",
		   how & 2 ? 4 : 8, how & 2 ? 12 : 16);
	f.big = how & 1;
	must(!subbuf_format_parse(&f, page_text));
	must(f.data == (how & 2 ? 12 : 16) && f.commit == 8 && f.size == f.data + 4080);
	if (how & 4) {
		text = next_part(&data, &size);
		subbuf_format_parse(&f, text);
		must(f.commit + f.commit_size <= f.data && f.data <= 128);
		free(text);
	}
	subbuf = copy_of(data, size);
	one_subbuf(&kinds[how & 3], &f, subbuf, size);
	free(subbuf);
	return 0;
}
