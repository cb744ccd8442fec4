/* SPDX-License-Identifier: ISC */
/*
 * mounts.c - the mount table, when the usual places have no tracefs
 *
 * Input: the table. "@" in it stands for the prepared directory.
 */
#include <sys/stat.h>
#include <sys/statfs.h>

#include "fuzz.h"

static void prepare(void)
{
	char path[PATH_MAX];

	prepare_procfs();
	str_format(path, sizeof(path), "%s/sys", place());
	must(!mkdir(path, 0700) || errno == EEXIST);
	setenv("TRACER_SYSFS_PATH", path, 1);
	unsetenv("TFS_INSTANCE");
	/* a tracefs that only the table leads to, if this host has one */
	str_format(path, sizeof(path), "%s/here", place());
	must(!symlink("/sys/kernel/tracing", path) || errno == EEXIST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int prepared;
	char *table = next_part(&data, &size), *text, *p, path[PATH_MAX];
	size_t n = strlen(table), at = 0;
	struct statfs fs;
	int fd;

	if (!prepared)
		prepare();
	prepared = 1;
	text = p = calloc(n + 1, strlen(place()) + 1);
	must(text);
	for (; table[at]; at++)
		if (table[at] == '@')
			p = stpcpy(p, place());
		else
			*p++ = table[at];
	put_file("proc/1/mounts", text, strlen(text));
	listen_to_stderr();
	fd = tracefs_open(NULL, "", path);
	must_be_said(fd < 0 ? -1 : 0);
	if (fd >= 0) {
		must(!fstatfs(fd, &fs) && fs.f_type == 0x74726163);
		must(strstr(text, " tracefs") && strlen(path) < PATH_MAX);
		close(fd);
	}
	free(text);
	free(table);
	return 0;
}
