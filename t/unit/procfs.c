/* SPDX-License-Identifier: ISC */
/* procfs.c - files of procfs that a task makes long */
#include <sys/stat.h>

#include "proc/proc.h"
#include "unit.h"

/* Make DIR/7/maps, of n lines with 100 bytes each. */
static void make(const char *dir, unsigned n)
{
	char path[PATH_MAX], line[101];
	FILE *f;

	str_format(path, sizeof(path), "%s/7", dir);
	mkdir(path, 0700);
	str_format(path, sizeof(path), "%s/7/maps", dir);
	memset(line, 'x', 99);
	line[99] = '\n';
	line[100] = '\0';
	f = fopen(path, "w");
	CHECK(f != NULL);
	while (f && n--)
		fputs(line, f);
	if (f)
		fclose(f);
}

static const char *dir;

static void test_whole(void)
{
	size_t n = 1;
	int cut = 1;
	char *text;

	make(dir, 1000);
	text = procfs_read(7, "maps", &n, &cut);
	CHECK(text && !cut);
	EQUAL(n, 100000);
	EQUAL(procfs_missed(), 0);
	free(text);
	make(dir, 0);
	text = procfs_read(7, "maps", &n, &cut);
	CHECK(text && !*text && !cut);
	EQUAL(n, 0);
	free(text);
	errno = 0;
	CHECK(!procfs_read(8, "maps", &n, &cut));
	EQUAL(errno, ENOENT);
}

static void test_cut(void)
{
	size_t n = 0;
	int cut = 0;
	char *text;

	make(dir, PROCFS_MOST / 100 + 1000);
	text = procfs_read(7, "maps", &n, &cut);
	CHECK(text && cut);
	EQUAL(n, PROCFS_MOST / 100 * 100);
	CHECK(text && strlen(text) == n && text[n - 1] == '\n');
	EQUAL(procfs_missed(), 1);
	free(text);
}

static void test_stop(void)
{
	int cut;

	CHECK(!procfs_begin() && !procfs_begin());
	procfs_end();
	procfs_end();
	procfs_limit();
	CHECK(!procfs_begin());
	procfs_end();
	procfs_stop();
	CHECK(procfs_begin() < 0);
	errno = 0;
	CHECK(!procfs_read(7, "maps", NULL, &cut));
	EQUAL(errno, EAGAIN);
	EQUAL(procfs_missed(), 1); /* a stop is no fault of the task */
}

int main(void)
{
	char made[] = "procfs.XXXXXX", *now = mkdtemp(made), cwd[PATH_MAX], path[PATH_MAX];

	if (!now || !getcwd(cwd, sizeof(cwd)))
		return 1;
	str_format(path, sizeof(path), "%s/%s", cwd, made);
	setenv("TRACER_PROCFS_PATH", path, 1);
	dir = path;
	TEST(whole);
	TEST(cut);
	TEST(stop);
	return unit_end();
}
