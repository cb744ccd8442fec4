/* SPDX-License-Identifier: ISC */
/* probes.c - the dynamic events of a group in a plain directory */
#include <sys/stat.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "unit.h"

/* The events are disabled everywhere before the first is removed. */
static void test_disables_first(void)
{
	static const char list[] = "p:g/one f\np:g/two f\np:h/one f\n";
	char dir[] = "/tmp/probes.XXXXXX", *text;
	int root, file;

	EQUAL(mkdtemp(dir) != NULL, 1);
	root = open(dir, O_RDONLY | O_DIRECTORY);
	mkdirat(root, "events", 0700);
	mkdirat(root, "events/g", 0700);
	mkdirat(root, "instances", 0700);
	mkdirat(root, "instances/i", 0700);
	mkdirat(root, "instances/i/events", 0700);
	mkdirat(root, "instances/i/events/g", 0700);
	file = openat(root, "dynamic_events", O_WRONLY | O_CREAT, 0600);
	EQUAL(write(file, list, strlen(list)), (ssize_t)strlen(list));
	close(file);
	/* one file by three names shows the order of the writes */
	linkat(root, "dynamic_events", root, "events/g/enable", 0);
	linkat(root, "dynamic_events", root, "instances/i/events/g/enable", 0);
	EQUAL(probes_end(root, "g"), 0);
	text = file_read(root, "dynamic_events", NULL);
	EQUAL_TEXT(text ? text + strlen(list) : "", "0\n0\n-:g/two\n-:g/one\n");
	free(text);
	unlinkat(root, "instances/i/events/g/enable", 0);
	unlinkat(root, "instances/i/events/g", AT_REMOVEDIR);
	unlinkat(root, "instances/i/events", AT_REMOVEDIR);
	unlinkat(root, "instances/i", AT_REMOVEDIR);
	unlinkat(root, "instances", AT_REMOVEDIR);
	unlinkat(root, "events/g/enable", 0);
	unlinkat(root, "events/g", AT_REMOVEDIR);
	unlinkat(root, "events", AT_REMOVEDIR);
	unlinkat(root, "dynamic_events", 0);
	close(root);
	EQUAL(rmdir(dir), 0);
}

int main(void)
{
	TEST(disables_first);
	return unit_end();
}
