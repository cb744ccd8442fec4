/* SPDX-License-Identifier: ISC */
/*
 * tfs-seccomp - print a seccomp profile of the system calls in a trace
 *
 * Requires: only a trace on standard input, as text or lines of JSON, with the calls that
 * a program made: sys_enter and sys_exit events, by name or by number, or decoded calls.
 * The profile allows these calls, also those that only failed, and those that each program
 * needs to start and to end. All other calls fail with EPERM. tfs-seccomp prints JSON of the OCI
 * runtime specification, or with -s a line for a unit of systemd. It notes which calls seccomp(2)
 * denied or answered each time, and leaves out numbers of calls that no kernel has. A trace without
 * returns does not have the calls that seccomp(2) denies or answers: tfs-seccomp says so.
 * An event that was lost may have been a call that the profile would then lack. So tfs-seccomp
 * refuses a trace with lost events, unless -f is given. A profile is printed at the end of
 * the trace, or not at all. tfs-seccomp ignores SIGINT, so that the program that makes the trace
 * can finish first.
 * Exit: 0 done, 1 no system call, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "calls/calls.h"
#include "line_calls.h"

static int forced, systemd;

static const struct tool tool = {
	TOOL_TFS_SECCOMP,
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

/* A call by its name; one that this host does not know is syscall_0xNUMBER. */
struct allowed {
	struct table_entry entry;
	int made;                       /* seccomp(2) has not denied or answered it each time */
	int answered;                   /* with a result that is no error, at least once */
	int missing, there;             /* it failed with ENOSYS, or had another result */
};

static struct table names = { .size = sizeof(struct allowed) };
static struct line_calls calls = { .pairing.tasks.size = sizeof(struct call_task) };
static struct input in;
static int lost; /* events were lost */
static int returns; /* the trace has returns */

static const char number[] = "syscall_0x"; /* strace(1) writes so */

/* Add the call of an event. */
static void add(const struct seen *l)
{
	struct call_task *task;
	enum pairing_fate fate = line_calls_event(&calls, l, &task);
	const char *name = calls.name.text;
	struct allowed *a;
	int64_t result;

	if (fate == PAIRING_NOTHING || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return;
	a = table_at(&names, name, strlen(name));
	calls.pairing.entries |= fate == PAIRING_BEGAN; /* the trace has entries */
	returns |= l->decoded || (fate != PAIRING_BEGAN && fate != PAIRING_NO_RETURN);
	a->made |= fate != PAIRING_DENIED && fate != PAIRING_EMULATED;
	a->answered |= fate == PAIRING_EMULATED;
	if (!seen_call_result(l).n)
		return;
	if (text_part_is(l->error, "ENOSYS") ||
	    (!line_calls_result(l, &result) && result == -ENOSYS))
		a->missing = 1;
	else
		a->there = 1;
}

/*
 * Say which calls were denied or answered each time. Remove those without a name: no profile can
 * allow them.
 * Exit if the trace does not say that this kernel has no such call, unless -f is given.
 */
static void sort_out(void)
{
	struct strbuf denied = { 0 }, answered = { 0 }, nameless = { 0 };
	size_t n = 0;

	table_sort(&names, table_by_key);
	for (size_t i = 0; i < names.n; i++) {
		const struct allowed *a = (const void *)names.v[i];
		const char *name = a->entry.key;
		int unknown = !strncmp(name, number, sizeof(number) - 1);

		if (unknown && (a->there || !a->missing) && !forced)
			err_exit(REFUSED, "system call %s has no name on this host; trace its "
				 "return, or give -f to leave it out", name + 8);
		if (unknown)
			strbuf_format(&nameless, " %s", name + 8);
		else if (!a->made)
			strbuf_format(a->answered ? &answered : &denied, " %s", name);
		if (!unknown)
			names.v[n++] = names.v[i];
	}
	names.n = n;
	if (nameless.n)
		err_note("left out because this host has no such system calls:%s", nameless.text);
	if (denied.n)
		err_note("seccomp denied these calls while the program was traced, and the profile "
			 "allows them:%s", denied.text);
	if (answered.n)
		err_note("seccomp answered these calls instead of the kernel while the program was "
			 "traced, and the profile allows them:%s", answered.text);
	if (!returns)
		err_note("the trace has no returns, so it lacks calls that seccomp denied: trace "
			 "with --returns to have them");
}

/* Print the profile, or the line for systemd. */
static void print(void)
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

	for (size_t i = 0; i < names.n; i++)
		stdout_print("%s%s", form[i > 0], names.v[i]->key);
	stdout_print("%s", form[2]);
	stdout_flush();
}

/* Say what the profile may lack. Exit if it may lack calls, unless -f is given. */
static void tell_missing(const struct comments *c)
{
	char text[COMMENTS_MISSED];
	int missed = comments_missed(c, text, sizeof(text));

	if (missed && (forced || !names.n))
		err_note("not understood: %s", text);
	if (!names.n || forced)
		return;
	if (missed)
		err_exit(REFUSED, "not understood: %s; the profile may lack their calls: give "
			 "the trace alone, or -f", text);
	if (lost || comments_lost(c))
		err_exit(REFUSED, "events were lost, so the profile may lack calls: trace again "
			 "with a larger buffer, or give -f");
}

static void each(void)
{
	if (input_event(&in)) {
		add(&in.l);
	} else {
		lost |= comments_is_gap(in.line) || !strncmp(in.line, "# unwritten ", 12);
		comments_keep(&in.comments, in.line);
	}
}

int main(int argc, char **argv)
{
	const char *call = NULL;
	int n;

	opt_next(&tool, argc, argv);
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);
	input_each(&in, each);
	tell_missing(&in.comments);
	if (!names.n)
		return err_no("no system call in the trace, so there is no profile");
	/* the trace begins after the execve of its program, and may end before the program does */
	while ((call = syscall_next(call, &n)))
		if (role_of_call(call)->is & IS_NEEDED)
			((struct allowed *)table_at(&names, call, strlen(call)))->made = 1;
	sort_out();
	print();
	return in.damaged ? REFUSED : DONE;
}
