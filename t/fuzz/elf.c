/* SPDX-License-Identifier: ISC */
/*
 * elf.c - a program or library, damaged or not
 *
 * Input: the name of a function, a NUL, the file. A place that is found is inside the
 * file, and a failure is reported on one line.
 */
#include "base/base.h"
#include "tracefs/tracefs.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = next_part(&data, &size), path[PATH_MAX];
	struct elf_location p = { 0 };
	int r;

	put_file("elf", data, size);
	str_format(path, sizeof(path), "%s/elf", place());
	listen_to_stderr();
	r = elf_symbol(path, name, 0, &p);
	must_be_said(r);
	must(r || p.offset < size);
	free(name);
	return 0;
}
