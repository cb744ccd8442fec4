/* SPDX-License-Identifier: ISC */
/*
 * tfs-seccomp - print a seccomp profile of the system calls in a trace
 *
 * Requires: only a trace on standard input, as text or lines of JSON, with the calls that
 * a program made: sys_enter and sys_exit events, by name or by number, or decoded calls.
 * The profile allows these calls, also those that only failed, and those that each program
 * needs to start and to end. All other calls fail with EPERM. tfs-seccomp prints JSON of the OCI
 * runtime specification, or with -s a line for a unit of systemd.
 * An event that was lost may have been a call that the profile would then lack. So tfs-seccomp
 * refuses a trace with lost events, unless -f is given. A profile is printed at the end of
 * the trace, or not at all. tfs-seccomp ignores SIGINT, so that the program that makes the trace
 * can finish first.
 * Exit: 0 done, 1 no system call, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "lines/lines.h"

static int forced, systemd;

static const struct tool tool = {
	.name = "tfs-seccomp",
	.help =
		"tfs-seccomp [-fs]\n"
		"print a seccomp profile that allows the system calls of a trace\n"
		"-f  print the profile although events were lost\n"
		"-s  print SystemCallFilter= for a unit of systemd instead of JSON\n",
	.places = (const struct opt_place[]){
		{ 'f', .flag = &forced }, { 's', .flag = &systemd }, { 0 },
	},
};

/* The name that libseccomp has for the architecture of this program. */
#if defined(__x86_64__)
#define ARCH "X86_64"
#elif defined(__i386__)
#define ARCH "X86"
#elif defined(__aarch64__)
#define ARCH "AARCH64"
#elif defined(__arm__)
#define ARCH "ARM"
#elif defined(__s390x__)
#define ARCH "S390X"
#elif defined(__riscv)
#define ARCH "RISCV64"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH "PPC64LE"
#elif defined(__mips__) && defined(__MIPSEL__) && _MIPS_SIM == _ABIO32
#define ARCH "MIPSEL"
#elif defined(__mips__) && defined(__MIPSEL__) && _MIPS_SIM == _ABI64
#define ARCH "MIPSEL64"
#elif defined(__mips__) && _MIPS_SIM == _ABIO32
#define ARCH "MIPS"
#elif defined(__mips__) && _MIPS_SIM == _ABI64
#define ARCH "MIPS64"
#endif

/* A trace begins after the execve of its program, and may end before the program does. */
static const char needed[][16] = {
	"execve", "exit", "exit_group", "restart_syscall", "rt_sigreturn",
};

static struct table calls = { .size = sizeof(struct table_entry) };
static int lost; /* events were lost */

static void add(struct text_part p)
{
	if (p.n && strspn(p.text, "abcdefghijklmnopqrstuvwxyz0123456789_") >= p.n)
		table_at(&calls, p.text, p.n);
}

/* Return the call that an event of raw_syscalls names by its number. -1 is none: seccomp(2). */
static struct text_part call_of_number(const struct trace_line *l)
{
	struct text_part p = trace_line_number(l);
	const char *name;
	uint64_t n;

	if (!p.n || *p.text == '-')
		return (struct text_part){ 0 };
	if (text_part_number(p, 10, &n) < 0 || !(name = name_of_syscall((int64_t)n)))
		err_exit(REFUSED, "system call %.*s has no name on this host", (int)p.n, p.text);
	return (struct text_part){ name, strlen(name) };
}

/* Return the call of a line "NAME(ARGUMENTS) = RESULT" or "<... NAME resumed>", or nothing. */
static struct text_part decoded(const struct trace_line *l)
{
	struct text_part p = l->event;
	const char *s = p.text;

	if (s && !strncmp(s, "<... ", 5)) {
		p.text += 5;
		p.n = strcspn(p.text, " ");
	} else if (!p.n || s[p.n] != '(') {
		p.n = 0;
	}
	return p;
}

/* Print the profile, or the line for systemd. */
static void print(struct table *names)
{
	static const char *const json[] = {
		"{\n\t\"defaultAction\": \"SCMP_ACT_ERRNO\",\n"
#ifdef ARCH
		"\t\"architectures\": [\n\t\t\"SCMP_ARCH_" ARCH "\"\n\t],\n"
#endif
		"\t\"syscalls\": [\n\t\t{\n\t\t\t\"names\": [\n\t\t\t\t\"",
		"\",\n\t\t\t\t\"",
		"\"\n\t\t\t],\n\t\t\t\"action\": \"SCMP_ACT_ALLOW\"\n\t\t}\n\t]\n}\n",
	}, *const line[] = { "SystemCallFilter=", " ", "\n" };
	const char *const *form = systemd ? line : json;

	table_sort(names, table_by_key);
	for (size_t i = 0; i < names->n; i++)
		stdout_print("%s%s", form[i > 0], names->v[i]->key);
	stdout_print("%s", form[2]);
	stdout_flush();
}

static void each_line(struct input *in)
{
	const struct trace_line *l = &in->l;

	in->comments.lines++;
	if (!trace_line(&in->l, in->line, in->n)) {
		struct text_part call = decoded(l);

		lost |= comments_is_gap(in->line) || !strncmp(in->line, "# unwritten ", 12);
		comments_keep(&in->comments, in->line);
		if (!call.n)
			comments_miss(&in->comments, l);
		add(call);
	} else if (text_part_is(l->event, "sys_enter") || text_part_is(l->event, "sys_exit")) {
		add(call_of_number(l));
	} else {
		add(trace_line_key(l, "call"));
	}
}

/* Say what the profile may lack. Exit if it may lack calls, unless -f is given. */
static void tell_missing(const struct comments *c)
{
	char text[COMMENTS_MISSED];
	int missed = comments_missed(c, text, sizeof(text));

	if (missed && (forced || !calls.n))
		err_note("not understood: %s", text);
	if (!calls.n || forced)
		return;
	if (missed)
		err_exit(REFUSED, "not understood: %s; the profile may lack their calls: give "
			 "the trace alone, or -f", text);
	/* comments.c keeps "# lost" before the others */
	if (lost || (c->n && !*c->kind))
		err_exit(REFUSED, "events were lost, so the profile may lack calls: trace again "
			 "with a larger buffer, or give -f");
}

int main(int argc, char **argv)
{
	static struct table allowed = { .size = sizeof(struct table_entry) };
	static struct input in;

	opt_next(&tool, argc, argv);
	opt_end(&tool, argv[opt_index]);

	input_begin();
	while (input_read(&in))
		each_line(&in);
	if (in.in.failed)
		return REFUSED;
	tell_missing(&in.comments);
	if (!calls.n)
		return NO;
	table_sort(&calls, table_by_key);
	for (size_t i = 0; i < calls.n; i++) {
		const char *name = syscall_of_function(calls.v[i]->key);

		table_at(&allowed, name, strlen(name));
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		table_at(&allowed, needed[i], strlen(needed[i]));
	print(&allowed);
	return DONE;
}
