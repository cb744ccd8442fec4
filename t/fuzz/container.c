/* SPDX-License-Identifier: ISC */
/*
 * container.c - names of containers from the file of a runtime
 *
 * Input: lines of /proc/PID/cgroup and names to select, each up to a NUL, then the file. Whatever
 * it has, names are short and plain, and a pod's names count only with its uid.
 */
#include "fuzz.h"

static void check_name(const char *name, size_t size)
{
	must(memchr(name, '\0', size));
	must(!*name || text_name_fits(name, size - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int prepared;
	char *lines = next_part(&data, &size), *names = next_part(&data, &size);
	char *text = copy_of(data, size), *uid;
	struct container c, before;

	if (!prepared)
		prepare_procfs();
	prepared = 1;
	container_of(&c, lines);
	must(strlen(c.id) == strspn(c.id, "0123456789abcdef") && strlen(c.id) <= CONTAINER_ID);
	must(strlen(c.uid) == 0 || strlen(c.uid) == 32 || strlen(c.uid) == 36);
	before = c;
	uid = memmem(text, size, c.uid, strlen(c.uid));
	container_said(&c, text, size);
	check_name(c.pod, sizeof(c.pod));
	check_name(c.namespace, sizeof(c.namespace));
	check_name(c.name, sizeof(c.name));
	must(!strcmp(c.id, before.id) && !strcmp(c.uid, before.uid));
	must(*c.uid || (!*c.pod && !*c.namespace));
	must(uid || (!*c.pod && !*c.namespace && !*c.name));
	if (*names && !strchr(names, '/') && container_is_named(lines, names))
		must(*c.id);
	container_is_named(lines, names);
	free(lines);
	free(names);
	free(text);
	return 0;
}
