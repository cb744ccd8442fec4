/* SPDX-License-Identifier: ISC */
/*
 * tfs.c - all tools and managers as one program, tfs
 *
 * `make ONE=1` builds this program, for hosts on which a third of the size counts. The
 * tools and the managers are links to it. The name of the link selects the tool; for a
 * manager, the directory of the link selects the subsystem. `tfs TOOL ARGUMENT...` works
 * without a link.
 * The Makefile gives each main and each struct subsystem another name.
 * Exit: that of the tool; 100 if there is no such tool.
 */
#include <sys/auxv.h>

#include "base/base.h"
#include "tool/tool.h"
#include "session/session.h"

static const struct tool tool = {
	.name = "tfs",
	.help =
		"tfs TOOL [ARGUMENT]...\n"
		"all the tools, each by its name\n",
};

#define TOOL(name, main) int main(int, char **);
#define SUBSYSTEM(ours) extern struct subsystem ours;
#include "one.h" /* made by the Makefile from the names in bin/ and trace-hooks/ */
#undef TOOL
#undef SUBSYSTEM

int main_manager(int, char **);

static const struct {
	char name[16];
	int (*main)(int, char **);
} tools[] = {
#define TOOL(name, main) { name, main },
#define SUBSYSTEM(ours)
#include "one.h"
#undef TOOL
#undef SUBSYSTEM
};

static struct subsystem *const subsystems[] = {
#define TOOL(name, main)
#define SUBSYSTEM(ours) &ours,
#include "one.h"
};

struct subsystem manager_subsystem; /* a copy of the selected one */

static int is_subsystem(const char *name)
{
	for (size_t i = 0; i < sizeof(subsystems) / sizeof(*subsystems); i++)
		if (!strcmp(subsystems[i]->name, name)) {
			manager_subsystem = *subsystems[i];
			return 1;
		}
	return 0;
}

/*
 * Return whether the program was started as a manager, and select its subsystem. Follow the
 * links from the path that the kernel executed; one of them is in the directory of a subsystem.
 */
static int is_manager(void)
{
	static char dir[PATH_MAX];
	const char *called = (const char *)getauxval(AT_EXECFN);
	char at[PATH_MAX], next[PATH_MAX], *slash, *name;
	ssize_t n;

	str_format(at, sizeof(at), "%s", called ? called : "");
	for (int links = 0; links < 16; links++) {
		slash = strrchr(at, '/');
		name = slash ? slash + 1 : at;
		if (slash)
			*slash = '\0';
		if (!realpath(!slash ? "." : *at ? at : "/", dir))
			return 0;
		if (!strncmp(name, "manager", 7) && is_subsystem(strrchr(dir, '/') + 1)) {
			program_link = dir;
			return 1;
		}
		if (slash)
			*slash = '/';
		n = readlink(at, next, sizeof(next) - 1);
		if (n < 0)
			return 0;
		next[n] = '\0';
		if (*next == '/')
			str_format(at, sizeof(at), "%s", next);
		else
			str_format(at, sizeof(at), "%s/%s", dir, next);
	}
	return 0;
}

static void run(int argc, char **argv)
{
	const char *name = argc ? strrchr(*argv, '/') : NULL;

	name = name ? name + 1 : argc ? *argv : "";
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (!strcmp(tools[i].name, name))
			exit(tools[i].main(argc, argv));
}

int main(int argc, char **argv)
{
	if (is_manager())
		return main_manager(argc, argv);
	run(argc, argv);
	while (opt_next(&tool, argc, argv) != -1)
		;
	if (!argv[opt_index])
		usage_error(&tool, "no tool; give its name");
	argc -= opt_index;
	argv += opt_index;
	opt_index = 1; /* the tool's arguments begin here */
	run(argc, argv);
	usage_error(&tool, "no such tool: '%.80s'", *argv);
}
