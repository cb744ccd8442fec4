/* SPDX-License-Identifier: ISC */
/* replay - pass each of the files to a harness, if there is no fuzzer */
#include <stdio.h>

#include "fuzz.h"

static size_t replay(const char *path)
{
	size_t size = 0;
	char *text = file_read(AT_FDCWD, path, &size);
	uint8_t *data;

	must(text);
	data = copy_of(text, size);
	free(text);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

int main(int argc, char **argv)
{
	size_t n = 0;

	LLVMFuzzerInitialize(&argc, &argv);
	for (argv++; *argv; argv++) {
		char **names = file_names(*argv), path[PATH_MAX];

		must(names);
		for (char **name = names; *name; name++) {
			snprintf(path, sizeof(path), "%s/%s", *argv, *name);
			n += replay(path);
		}
		free(names);
	}
	printf("%zu\n", n);
	return 0;
}
