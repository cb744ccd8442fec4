/* SPDX-License-Identifier: ISC */
/*
 * tfs.c - all the tools as one program, tfs: its name says which it is
 *
 * What `make ONE=1` makes, for hosts where a third of the room counts. The
 * tools are links to it; `tfs TOOL ARGUMENT...` needs no link. Each tool's main
 * has another name there, which the Makefile gives it.
 * Exit: as the tool; 100 no such tool.
 */
#include <stdlib.h>
#include <string.h>

#include "tfs.h"

static const struct tool tool = {
	.name = "tfs",
	.usage = "tfs TOOL [ARGUMENT]...",
	.purpose = "all the tools, each by its name",
	.letters = "",
};

#define TOOL(name, main) int main(int, char **);
#include "one.h" /* made by the Makefile from the names in bin/ */
#undef TOOL

static const struct {
	const char *name;
	int (*main)(int, char **);
} tools[] = {
#define TOOL(name, main) { name, main },
#include "one.h"
};

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
	run(argc, argv);
	while (next_option(&tool, argc, argv) != -1)
		;
	if (!argv[opt_index])
		misused(&tool, "which tool?");
	argc -= opt_index;
	argv += opt_index;
	opt_index = 1; /* the tool's own begin here */
	run(argc, argv);
	misused(&tool, "no such tool: '%.80s'", *argv);
}
