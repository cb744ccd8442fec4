/* SPDX-License-Identifier: ISC */
/*
 * tfs-dir - print the tracefs root, or the directory of an instance
 *
 * Requires: tracefs.
 *	-R ROOT      take ROOT for the tracefs root, unchecked
 *	-i INSTANCE  the directory of this instance; default $TFS_INSTANCE
 * Exit: 0 printed, 100 misused, 111 not there or not permitted.
 */
#include <unistd.h>

#include "tfs.h"

static const struct tool tool = {
	.name = "tfs-dir",
	.usage = "tfs-dir [-R ROOT] [-i INSTANCE]",
	.purpose = "print the tracefs root, or the directory of an instance",
	.letters = "R:i:",
};

int main(int argc, char **argv)
{
	const char *root = NULL, *instance = NULL;
	char path[PATH_MAX];
	int c;

	while ((c = next_option(&tool, argc, argv)) != -1)
		if (c == 'R')
			root = opt_value;
		else
			instance = opt_value;
	if (argv[opt_index])
		misused(&tool, "unexpected operand '%s'", argv[opt_index]);
	if (open_tracefs(root, instance, path) < 0)
		return REFUSED;
	print("%s\n", path);
	flush();
	return DONE;
}
