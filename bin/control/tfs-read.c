/* SPDX-License-Identifier: ISC */
/*
 * tfs-read - print control files of tracefs: now, periodically, or at the end
 *
 * Requires: tracefs.
 * HUP, INT, TERM and USR1 stop tfs-read. It reads a whole file before it prints it.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "reader/reader.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"

static int at_end;
static unsigned long ms = ULONG_MAX;

static const struct tool tool = {
	TOOL_TFS_READ,
	.takes_instance = 1,
	.places = (const struct opt_place[]){
		{ 'w', .flag = &at_end }, { 'e', .number = &ms }, { 0 },
	},
};

static int print_files(int dir, char **files)
{
	for (; *files; files++) {
		size_t len;
		char *text = file_read(dir, *files, &len);

		if (!text)
			return err_file("unable to read %s", *files);
		for (char *p = text, *end; p < text + len; p = end) {
			end = memchr(p, '\n', (size_t)(text + len - p));
			end = end ? end + 1 : text + len;
			stdout_print("%.*s", (int)(end - p), p);
		}
		free(text);
	}
	stdout_flush();
	return 0;
}

/* Does another user own the file or a directory on the way to it? -1 and errno. */
static int is_others(int dir, char *file)
{
	struct stat st;
	int r = 0;

	for (char *end = file; r >= 0; end++) {
		char c = *end;

		if (c && c != '/')
			continue;
		*end = '\0';
		if (fstatat(dir, file, &st, 0) < 0)
			r = -1;
		else if (st.st_uid != geteuid())
			r = 1;
		*end = c;
		if (!c)
			break;
	}
	return r;
}

int main(int argc, char **argv)
{
	sigset_t none;
	struct wait w = { .signals = &none, .fd = -1 };
	int dir, signo, others, r = 0;
	uint64_t keep = CAPS_SYSLOG;

	opt_next(&tool, argc, argv);
	w.ms = (long)ms; /* without -e: -1 */
	argv += opt_index;
	if (!*argv)
		usage_error(&tool, "no file; give at least one");
	dir = tracefs_open(opt_root, opt_instance, NULL);
	if (dir < 0)
		return REFUSED;
	for (char **f = argv; *f; f++) {
		if (!file_is_below(*f))
			usage_error(&tool, "%.200s is not below the tracefs root or the "
					   "instance", *f);
		others = is_others(dir, *f);
		if (others < 0)
			return err_file("unable to read %s", *f), REFUSED;
		if (others)
			keep |= CAPS_DAC_OVERRIDE;
	}
	reader_of_filter();
	confine_paths(keep, &dir, 1);
	sigemptyset(&none);
	if (at_end || w.ms >= 0) {
		w.fd = wait_stop_signals();
		while ((r = wait_for(&w, &signo)) == ENDED_TIME)
			if (print_files(dir, argv) < 0)
				return REFUSED;
	}
	return r < 0 || print_files(dir, argv) < 0 ? REFUSED : DONE;
}
