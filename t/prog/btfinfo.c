/* SPDX-License-Identifier: ISC */
/*
 * btfinfo - print what lib/bpf/btf.c finds in a kernel's BTF
 *
 *	btfinfo FILE WORD...
 * Prints a line for each WORD: for STRUCTURE.MEMBER its offset in bytes, for a FUNCTION its
 * number; -1 or 0 if there is none. Exit: 0, or 111 and one line if FILE cannot be read.
 */
#include <stdio.h>

#include "base/base.h"
#include "bpf/bpf.h"

int main(int argc, char **argv)
{
	struct btf b;

	program_name = "btfinfo";
	if (argc < 2)
		return 100;
	if (btf_read(&b, argv[1]) < 0) {
		err_errno("unable to read %s", argv[1]);
		return 111;
	}
	for (argv += 2; *argv; argv++) {
		char *dot = strchr(*argv, '.');

		if (dot)
			*dot++ = '\0';
		if (dot)
			printf("%d\n", btf_member(&b, *argv, dot));
		else
			printf("%u\n", btf_function(&b, *argv));
	}
	btf_free(&b);
	return 0;
}
