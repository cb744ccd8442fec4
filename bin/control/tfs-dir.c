/* SPDX-License-Identifier: ISC */
/*
 * tfs-dir - print the tracefs root, or the directory of an instance
 *
 * Requires: tracefs.
 * Exit: 0 printed, 100 usage error, 111 the root or instance does not exist, or the
 * caller may not open it.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"

static const struct tool tool = { TOOL_TFS_DIR, .takes_instance = 1 };

int main(int argc, char **argv)
{
	char path[PATH_MAX];

	opt_next(&tool, argc, argv);
	opt_end(&tool, argv[opt_index]);
	if (tracefs_open(opt_root, opt_instance, path) < 0)
		return REFUSED;
	stdout_print("%s\n", path);
	stdout_flush();
	return DONE;
}
