/* SPDX-License-Identifier: ISC */
/*
 * tfs-write - write records to control files of tracefs
 *
 * Requires: tracefs, and permission to write the files.
 * Without -c, tfs-write truncates no file.
 * Each FILE is below the root or the instance. Each RECORD is one write and ends in a
 * newline. A RECORD of "-" stands for the lines of standard input, one record each.
 * tfs-write checks all files before it writes the first record. It writes the records in
 * order and stops at the first one that the kernel refuses, with the kernel's reason.
 * Exit: 0 all written, 100 usage error, 111 refused.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"

static int clears;

static const struct tool tool = {
	TOOL_TFS_WRITE,
	.takes_instance = 1,
	.places = (const struct opt_place[]){ { 'c', .flag = &clears }, { 0 } },
};

/* Write each line of standard input as a record. */
static int write_lines(int dir, const char *file, int flags)
{
	struct line_reader in = { 0 };
	char *line;
	ssize_t n;
	int r = 0;

	/* clear the file once, even if there is no line */
	if (flags & CTL_TRUNCATE)
		r = ctl_explain(dir, file, "", flags);
	while (!r && (n = line_read(&in, &line)) >= 0)
		if (strlen(line) != (size_t)n)
			r = err_msg("a NUL byte in a record for %s", file);
		else
			r = ctl_explain(dir, file, line, 0);
	free(in.text);
	return in.failed ? -1 : r;
}

/*
 * May the process write the file? This replaces faccessat(3), which in musl makes a child for
 * kernels before 5.8. The older call, which asks for the real user, is for seccomp filters that
 * do not know the newer one.
 */
static int writable(int dir, const char *file)
{
	if (!syscall(SYS_faccessat2, dir, file, W_OK, AT_EACCESS))
		return 1;
	return (errno == ENOSYS || errno == EPERM) && !syscall(SYS_faccessat, dir, file, W_OK);
}

/* Exit with an error message unless the record can be written to the file. */
static void check(int dir, char *file, char *record)
{
	struct stat st;

	if (!file_is_below(file))
		usage_error(&tool, "%.200s is not below the tracefs root or the instance", file);
	if (strchr(record, '\n'))
		usage_error(&tool, "a newline in the record for %s: give each record "
			    "a FILE of its own", file);
	if (fstatat(dir, file, &st, 0) < 0 || !writable(dir, file)) {
		err_file("unable to write %s", file);
		exit(REFUSED);
	}
	if (S_ISDIR(st.st_mode))
		err_exit(REFUSED, "unable to write %s: it is a directory", file);
}

/* Return the flags for the operands at i: clear a file only before its first record. */
static int flags_of(char **argv, int i)
{
	for (int j = 0; j < i; j += 2)
		if (!strcmp(argv[j], argv[i]))
			return 0;
	return clears ? CTL_TRUNCATE : 0;
}

int main(int argc, char **argv)
{
	int dir;

	opt_next(&tool, argc, argv);
	argc -= opt_index;
	argv += opt_index;
	if (!argc || argc % 2)
		usage_error(&tool, argc ? "%s needs a RECORD" :
			    "nothing to write; give FILE and RECORD",
			    argc ? argv[argc - 1] : "");
	dir = tracefs_open(opt_root, opt_instance, NULL);
	if (dir < 0)
		return REFUSED;
	for (int i = 0; i < argc; i += 2)
		check(dir, argv[i], argv[i + 1]);
	for (int i = 0; i < argc; i += 2) {
		int flags = flags_of(argv, i);

		if ((strcmp(argv[i + 1], "-") ? ctl_explain(dir, argv[i], argv[i + 1], flags)
					      : write_lines(dir, argv[i], flags)) < 0)
			return REFUSED;
	}
	return DONE;
}
