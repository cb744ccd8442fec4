/* SPDX-License-Identifier: ISC */
/*
 * manager - run the trace hooks of one subsystem
 *
 * Requires: what the subsystem requires; the hooks in hooks.d/ beside it.
 *	-g, --get-all        print the names of all hooks
 *	-d, --describe HOOK  say what a hook does and which options it has
 *	-k, --check HOOK     say whether this kernel can run it, or what it lacks;
 *	                     with --args make the session, but record nothing, and
 *	                     remove it: what --run refuses, this does
 *	-c, --clear          end and remove all sessions, reset the subsystem
 *	-r, --run HOOK       run a session until a signal, its time limit or the
 *	                     end of the traced tasks; prints the absolute path
 *	                     that the trace is read from, once it records
 *	-a, --args "WORDS"   run, check: the hook's options, split as a shell
 *	                     splits words
 * Exit: 0 done, 1 check: no, 100 misused, 111 refused, 128+n signal n before it recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager.h"

static const char usage[] =
	"manager --get-all | --describe HOOK | --clear | --check|--run HOOK [--args WORDS]";

static const struct option_name {
	const char *name;
	char letter;
	int takes;
} names[] = {
	{ "get-all", 'g', 0 }, { "describe", 'd', 1 }, { "clear", 'c', 0 },
	{ "check", 'k', 1 }, { "run", 'r', 1 }, { "args", 'a', 1 }, { "help", 'h', 0 },
	{ "version", 'V', 0 },
};

/* No path of ours may land in a file that the caller left no room for. */
static void occupy_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* The directory of the tools, and in it the one that makes streams. 0 or -1 said. */
static int find_tools(const char *dir, const struct request *rq, char *tools)
{
	static const char *const near[] = { "../../bin", "../../../bin", NULL };
	char trial[PATH_MAX + 256];
	const char *argv[16];

	if (ours.stream(rq, argv) < 0)
		return -1;
	if (find_near(dir, tools, near) < 0 ||
	    format(trial, sizeof(trial), "%s/%s", tools, argv[0]) >= sizeof(trial) ||
	    access(trial, X_OK) < 0)
		return complain("no tools near %s: the tree is not complete", dir);
	return 0;
}

/* Print what --check has found. Return the status. */
static int tell_verdict(const char *hook, const char *verdict, int status)
{
	print("%s: %s\n", hook, verdict);
	flush();
	return status;
}

/*
 * Run a session. dry: of --check, which knows what the recipe, its tools and the kernel
 * refuse only if it asks them.
 */
static int run(const char *dir, const char *hook, const char *args, int dry)
{
	char tools[PATH_MAX], path[PATH_MAX];
	struct recipe recipe;
	struct request rq;
	char why[PATH_MAX + 256];
	int root, status;

	if (read_recipe(&recipe, dir, hook) < 0 || parse_request(&rq, &recipe, args) < 0)
		return MISUSED;
	rq.args = args;
	rq.dry = dry;
	if (policy_request(&rq) < 0)
		return REFUSED;
	root = ours.root(path);
	if (root < 0 || procfs_is_initial() < 0)
		return REFUSED;
	if (check_requirements(&recipe, root, path, why, sizeof(why)) < 0) {
		if (dry)
			return tell_verdict(hook, why, NO);
		die(REFUSED, "%s: %s", hook, why);
	}
	if (ours.check(&rq, root) < 0)
		return REFUSED;
	close(root);
	if (find_tools(dir, &rq, tools) < 0)
		return REFUSED;
	status = run_session(&rq, tools);
	return dry && !status ? tell_verdict(hook, "yes", DONE) : status;
}

/* What the kernel lacks. */
static int check(const char *dir, const char *hook)
{
	char path[PATH_MAX], tools[PATH_MAX], why[PATH_MAX + 256] = "yes";
	struct recipe recipe;
	struct request rq = { .recipe = &recipe, .ms = -1 };
	int root, r;

	if (read_recipe(&recipe, dir, hook) < 0)
		return MISUSED;
	root = ours.root(path);
	if (root < 0 || procfs_is_initial() < 0 || find_tools(dir, &rq, tools) < 0)
		return REFUSED;
	r = check_requirements(&recipe, root, path, why, sizeof(why));
	return tell_verdict(hook, why, r < 0 ? NO : DONE);
}

static int clear(void)
{
	char path[PATH_MAX];
	int root = ours.root(path), r;

	if (root < 0)
		return REFUSED;
	close(root);
	r = clear_sessions();
	return ours.reset() < 0 || r < 0 ? REFUSED : DONE;
}

static int describe(const char *dir, const char *hook)
{
	struct recipe recipe;

	if (read_recipe(&recipe, dir, hook) < 0)
		return MISUSED;
	describe_recipe(&recipe);
	return DONE;
}

/* Which of names a word is, its value or NULL when it must be the next word. */
static const struct option_name *find_name(const char *word, const char **value)
{
	*value = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i].name);

		if (word[0] == '-' && word[1] == names[i].letter && !word[2])
			return &names[i];
		if (strncmp(word, "--", 2) || strncmp(word + 2, names[i].name, n))
			continue;
		if (!word[2 + n])
			return &names[i];
		if (word[2 + n] == '=' && names[i].takes) {
			*value = word + 3 + n;
			return &names[i];
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *hook = NULL, *args = NULL, *value;
	char dir[PATH_MAX], verb = 0;
	int status = DONE;

	prog = "manager";
	occupy_standard_descriptors();
	for (int i = 1; i < argc; i++) {
		const struct option_name *o = find_name(argv[i], &value);

		if (!o)
			die(MISUSED, "no such option: '%.80s'; usage: %s", argv[i], usage);
		if (o->takes && !value && !(value = argv[++i]))
			die(MISUSED, "--%s needs a value; usage: %s", o->name, usage);
		if (o->letter == 'a' ? args != NULL : verb != 0)
			die(MISUSED, "--%s is one too many; usage: %s", o->name, usage);
		if (o->letter == 'a') {
			args = value;
			continue;
		}
		verb = o->letter;
		hook = value;
	}
	if (!verb)
		die(MISUSED, "nothing to do; usage: %s", usage);
	if (args && verb != 'r' && verb != 'k')
		die(MISUSED, "--args goes with --run or --check; usage: %s", usage);
	if (own_directory(dir) < 0)
		return REFUSED;
	if (verb == 'r' || (verb == 'k' && args))
		hold_signals();
	/* to clear away is always allowed */
	if (strchr("gdkr", verb) && policy_read() < 0)
		return REFUSED;
	if (hook && !policy_hook(hook))
		die(REFUSED, "%s: the policy does not allow this hook; --get-all lists those that "
		    "it does", hook);
	switch (verb) {
	case 'g':
		status = list_recipes(dir) < 0 ? REFUSED : DONE;
		break;
	case 'd':
		status = describe(dir, hook);
		break;
	case 'k':
		return args ? run(dir, hook, args, 1) : check(dir, hook);
	case 'c':
		return clear();
	case 'r':
		return run(dir, hook, args ? args : "", 0);
	case 'h':
		print("usage: %s\nmanager - run the trace hooks of %s\n", usage,
		       ours.name);
		break;
	case 'V':
		print("manager %s\n", VERSION);
		break;
	}
	flush();
	return status;
}
