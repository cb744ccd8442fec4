/* SPDX-License-Identifier: ISC */
/*
 * jit.c - the functions that a just-in-time compiler has made, from /tmp/perf-PID.map of a stranger
 *
 * Whatever the file has, each function has a size, and a name that ends in the file.
 */
#include "record/record.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = copy_of(data, size);
	struct elf_functions f;
	uint64_t into;

	jit_parse(text, size, &f);
	for (size_t i = 0; i < f.n; i++) {
		must(f.v[i].size > 0 && f.v[i].name < size && text[f.v[i].name]);
		must(strlen(text + f.v[i].name) < size - f.v[i].name);
	}
	elf_function_around(&f, 0x1000, &into);
	free(f.v);
	free(text);
	return 0;
}
