/* SPDX-License-Identifier: ISC */
/*
 * functions.c - the functions of a file, by their places in it
 *
 * With an argument: print each function of that file as "PLACE SIZE NAME".
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/base.h"
#include "elf/elf.h"
#include "unit.h"

static void print_all(const char *path)
{
	struct elf_functions f;
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);

	elf_functions(fd, (uint64_t)st.st_size, &f);
	for (size_t i = 0; i < f.n; i++)
		printf("%llx %u %s\n", (unsigned long long)f.v[i].from, f.v[i].size,
		       f.names + f.v[i].name);
	close(fd);
}

/* The function around a place is the innermost, and of several at one place the best name. */
static void test_around(void)
{
	static char names[] = "\0outer\0inner\0__best\0best";
	static struct elf_function v[] = {
		{ 0x100, 0x100, 1, 0 }, { 0x140, 0x10, 7, 0 }, { 0x300, 8, 13, 0 },
		{ 0x300, 8, 20, 6 },
	};
	struct elf_functions f = { .v = v, .n = 4, .names = names, .names_size = sizeof(names) };
	uint64_t into = 0;

	EQUAL(elf_function_around(&f, 0xff, &into) != NULL, 0);
	EQUAL_TEXT(elf_function_around(&f, 0x100, &into), "outer");
	EQUAL(into, 0);
	EQUAL_TEXT(elf_function_around(&f, 0x14f, &into), "inner");
	EQUAL(into, 0xf);
	EQUAL_TEXT(elf_function_around(&f, 0x150, &into), "outer");
	EQUAL(into, 0x50);
	EQUAL(elf_function_around(&f, 0x200, &into) != NULL, 0);
	EQUAL_TEXT(elf_function_around(&f, 0x307, &into), "best");
	EQUAL(elf_function_around(&f, 0x308, &into) != NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		print_all(argv[1]);
		return 0;
	}
	TEST(around);
	return unit_end();
}
