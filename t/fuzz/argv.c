/* SPDX-License-Identifier: ISC */
/*
 * argv.c - the options of the tools and of the manager
 *
 * Input: argv[1] NUL argv[2] ...; the first byte selects the tool.
 */
#include <setjmp.h>

#include "fuzz.h"
#include "help.h"

static jmp_buf left;
static int status;

static _Noreturn void leave(int with)
{
	status = with;
	longjmp(left, 1);
}

static _Noreturn void leave_saying(int with, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	str_vformat(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_msg("%s", text);
	leave(with);
}

/* Include both sources, with an exit that leads back here. */
#define exit leave
#define err_exit leave_saying
#define main manager_main
#include "../../lib/tool/options.c"
#include "../../lib/session/manager.c"
#undef exit
#undef err_exit
#undef main

/* ---- what the manager's main calls --------------------------------------------- */

static int calls;

int hook_list(const char *dir)
{
	must(dir && *dir == '/');
	calls++;
	return 0;
}

int hook_read(struct hook *r, const char *dir, const char *name)
{
	(void)r;
	must(dir && name);
	calls++;
	return err_msg("no hook '%.80s'", name);
}

void hook_describe(const struct hook *r)
{
	(void)r;
}

int hook_check_requirements(const struct hook *r, int root, const char *path, char *why,
			    size_t size)
{
	(void)r, (void)root, (void)path, (void)why, (void)size;
	return 0;
}

int request_parse(struct request *rq, struct hook *r, char **words)
{
	(void)rq, (void)r, (void)words;
	return 0;
}

int request_find_containers(struct request *rq)
{
	(void)rq;
	return 0;
}

int request_wait(struct request *rq)
{
	(void)rq;
	return 0;
}

int request_expand_syscalls(struct request *rq, int dir)
{
	(void)rq, (void)dir;
	return 0;
}

int request_is_empty(const struct selector *s)
{
	(void)s;
	return 0;
}

int request_names_cgroup(const struct request *rq)
{
	(void)rq;
	return 0;
}

int request_lacks_threads(const struct request *rq)
{
	(void)rq;
	return 0;
}

int session_run(const struct request *rq, const char *tools)
{
	(void)rq, (void)tools;
	return 0;
}

int session_clear(void)
{
	calls++;
	return 0;
}

static int nothing(void)
{
	return 0;
}

static int root(char *path)
{
	strcpy(path, "/");
	return open(path, O_RDONLY);
}

void session_hold_signals(void)
{
}

struct subsystem manager_subsystem = { .name = "none", .root = root, .reset = nothing };

/* ---- the tools ---------------------------------------------------------------------- */

static const struct tool tools[] = {
	{ .name = "pids-of",
	  .help = "pids-of ...\nprint pids\n-d, --down  a\n-t  b\n-c C  c\n-n, --number N:1-9  d\n"
		  "-u, --uid UID  e\n--time MS  f\n" },
	{ .name = "tfs-write",
	  .help = "tfs-write ...\nput records\n-c  a\n" HELP_INSTANCE },
	{ .name = "syscall-nr",
	  .help = "syscall-nr [NAME]...\nprint numbers\n" },
	{ .name = "tfs-run",
	  .help = "tfs-run ...\nrun a hook\n-m M  a\n-- PROG...  b\n" },
};

static void run_tool(const struct tool *t, int argc, char **argv)
{
	int c;

	while ((c = opt_next(t, argc, argv)) != -1) {
		must(c > 0 && c != '-' && strstr(t->help, opt_last.line));
		must(c == (opt_last.letter ? opt_last.letter : OPT_LONG));
		must((opt_last.type != TYPE_FLAG) == (opt_value != NULL));
		must(opt_last.type != TYPE_NUMBER || (opt_number() >= 1 && opt_number() <= 9));
	}
	must(opt_index >= 1 && opt_index <= argc);
	status = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "tool";
	char *argv[20] = { name };
	int argc = 1, which;
	size_t said;

	if (!size)
		return 0;
	which = *data++ % 5;
	for (size--; size && argc < 19; argc++)
		argv[argc] = next_part(&data, &size);
	listen_to_stderr();
	opt_index = 1;
	calls = 0;
	status = -1;
	if (setjmp(left))
		which = -1;
	else if (which == 4)
		status = manager_main(argc, argv);
	else
		run_tool(&tools[which], argc, argv);
	heard(&said);
	must(status == -1 || status == DONE || status == MISUSED);
	must_be_said(status == MISUSED ? -1 : 0);
	must(which != -1 || calls == 0);
	must(calls <= 1);
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	return 0;
}
