/* SPDX-License-Identifier: ISC */
/*
 * manager - run the trace hooks of one subsystem
 *
 * Requires: what the subsystem requires; the hooks in the hooks.d/ of its directory.
 * With --args, --check makes the session, records nothing, and removes it: it refuses what --run
 * refuses. --run ends at a signal, a time limit or the end of the traced tasks; when the session
 * records, it prints the absolute path of the trace.
 * Exit: 0 done, 1 --check: this kernel cannot, 100 usage error, 111 the system refused,
 * 128+n signal n before the session recorded.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "session/session.h"


static char help[sizeof(HELP_MANAGER) + 64]; /* main puts the name of the subsystem in */
static struct tool tool = { .name = "manager", .help = help };

/* Find the directory of the tools, with the subsystem's stream in it. Return 0, or -1, reported. */
static int find_tools(const char *dir, const struct request *rq, char *tools)
{
	static const char *const near[] = { "../../bin", "../../../bin", NULL };
	char trial[PATH_MAX + 256];
	const char *argv[STREAM_ARGV];

	if (manager_subsystem.stream(rq, argv) < 0)
		return -1;
	if (program_find(dir, tools, near) < 0 ||
	    str_format(trial, sizeof(trial), "%s/%s", tools, argv[0]) >= sizeof(trial) ||
	    access(trial, X_OK) < 0)
		return err_msg("no tools near %s: the tree is not complete", dir);
	return 0;
}

/*
 * Check what the kernel needs for the hook. Return 0, or -1 and what it lacks, and what can
 * be used in place of the hook, in why (size bytes).
 */
static int find_lack(const struct hook *r, int root, const char *path, char *why, size_t size)
{
	size_t n;

	if (!hook_check_requirements(r, root, path, why, size))
		return 0;
	n = strlen(why);
	if (r->alternative)
		str_format(why + n, size - n, "; instead: %s", r->alternative);
	return -1;
}

/* Print the result of --check. Return status. */
static int tell_verdict(const char *hook, const char *verdict, int status)
{
	stdout_print("%s: %s\n", hook, verdict);
	stdout_flush();
	return status;
}

/* Return the words as a shell splits them, in one text that stays. */
static char *join_words(char **words)
{
	size_t size = 1;
	char *text;

	for (char **word = words; *word; word++)
		size += 4 * strlen(*word) + 3;
	text = xcalloc(size, 1);
	for (char **word = words; *word; word++)
		words_quote(text, size, *word);
	return text;
}

/*
 * Run a session with the words, or if they are NULL with those in args. With dry, for --check with
 * options, make and remove it, because only the hook, its tools and the kernel know what they
 * refuse. Return the exit status.
 */
static int run(const char *dir, const char *hook, const char *args, char **words, int dry)
{
	char tools[PATH_MAX], path[PATH_MAX];
	struct hook parsed;
	struct request rq;
	char why[PATH_MAX + 256];
	const char *wrong;
	int root, status;

	if (hook_read(&parsed, dir, hook) < 0)
		return MISUSED;
	if (words)
		args = join_words(words);
	else if (!(words = words_split(args, &wrong)))
		return err_msg("--args: %s", wrong), MISUSED;
	if (request_parse(&rq, &parsed, words) < 0)
		return MISUSED;
	rq.args = args;
	rq.dry = dry;
	if (policy_request(&rq) < 0 || request_find_containers(&rq) < 0 ||
	    request_wait(&rq) < 0)
		return REFUSED;
	root = manager_subsystem.root(path);
	if (root < 0 || procfs_is_initial() < 0)
		return REFUSED;
	if (request_expand_syscalls(&rq, root) < 0)
		return MISUSED;
	if (find_lack(&parsed, root, path, why, sizeof(why)) < 0) {
		if (dry)
			return tell_verdict(hook, why, NO);
		err_exit(REFUSED, "%s: %s", hook, why);
	}
	if (manager_subsystem.check(&rq, root) < 0)
		return REFUSED;
	close(root);
	if (find_tools(dir, &rq, tools) < 0)
		return REFUSED;
	status = session_run(&rq, tools);
	return dry && !status ? tell_verdict(hook, "yes", DONE) : status;
}

/* Print whether this kernel can run the hook, or what it lacks. Return the exit status. */
static int check(const char *dir, const char *hook)
{
	char path[PATH_MAX], tools[PATH_MAX], why[PATH_MAX + 256] = "yes";
	struct hook parsed;
	struct request rq = { .hook = &parsed, .ms = -1 };
	int root, r;

	if (hook_read(&parsed, dir, hook) < 0)
		return MISUSED;
	root = manager_subsystem.root(path);
	if (root < 0 || procfs_is_initial() < 0 || find_tools(dir, &rq, tools) < 0)
		return REFUSED;
	r = find_lack(&parsed, root, path, why, sizeof(why));
	return tell_verdict(hook, why, r < 0 ? NO : DONE);
}

static int clear(void)
{
	char path[PATH_MAX];
	int root = manager_subsystem.root(path), r;

	if (root < 0)
		return REFUSED;
	close(root);
	r = session_clear();
	if (manager_subsystem.reset && manager_subsystem.reset() < 0)
		r = -1;
	return r < 0 ? REFUSED : DONE;
}

static int describe(const char *dir, const char *hook)
{
	struct hook parsed;

	if (hook_read(&parsed, dir, hook) < 0)
		return MISUSED;
	hook_describe(&parsed);
	return DONE;
}

/* ---- the command line ---------------------------------------------------------------- */

/*
 * Return the letter of the action. Set its hook, and args, or words if they are behind "--". Exit
 * if the arguments are wrong.
 */
static char read_action(int argc, char **argv, const char **hook, const char **args, char ***words)
{
	char action = 0;
	int c;

	while ((c = opt_next(&tool, argc, argv)) != -1) {
		if (c == 'a' ? *args != NULL : action != 0)
			usage_error(&tool, "--%s is one option too many", opt_last.name);
		if (c == 'a') {
			*args = opt_value;
			continue;
		}
		action = (char)c;
		*hook = opt_value;
	}
	if (!*args && argv[opt_index] && !strcmp(argv[opt_index - 1], "--"))
		*words = argv + opt_index;
	else
		opt_end(&tool, argv[opt_index]);
	if (!action)
		usage_error(&tool, "no action");
	if ((*args || *words) && action != 'r' && action != 'k')
		usage_error(&tool, "--args needs --run or --check");
	return action;
}

/* Unset variables that name descriptors: the caller may be a process of another session. */
static void forget_descriptors(void)
{
	static const char names[][16] = { SESSION_RINGS, SESSION_COUNTS, LATE_FD, TASKSTATS_FD,
					  MAPPINGS_RINGS };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

int main(int argc, char **argv)
{
	const char *hook = NULL, *args = NULL;
	char dir[PATH_MAX], action, **words = NULL;
	int status = DONE;

	if (getenv(FOR_PEOPLE))
		tool.name = "tfs-run"; /* in messages */
	str_format(help, sizeof(help), HELP_MANAGER, manager_subsystem.name);
	fd_open_standard();
	forget_descriptors();
	action = read_action(argc, argv, &hook, &args, &words);
	if (program_directory(dir) < 0)
		return REFUSED;
	if (action == 'r' || (action == 'k' && (args || words)))
		session_hold_signals();
	/* --clear is always allowed */
	if (strchr("gdkr", action) && policy_read() < 0)
		return REFUSED;
	if (hook && !policy_hook(hook))
		err_exit(REFUSED, "%s: the policy does not allow this hook; %s lists those that "
			 "it does", hook, getenv(FOR_PEOPLE) ? "tfs-run --check" : "--get-all");
	switch (action) {
	case 'r':
		return run(dir, hook, args ? args : "", words, 0);
	case 'k':
		return args || words ? run(dir, hook, args, words, 1) : check(dir, hook);
	case 'c':
		return clear();
	case 'g':
		status = hook_list(dir) < 0 ? REFUSED : DONE;
		break;
	case 'd':
		status = describe(dir, hook);
		break;
	}
	stdout_flush();
	return status;
}
