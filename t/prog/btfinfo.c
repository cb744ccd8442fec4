/* SPDX-License-Identifier: ISC */
/*
 * btfinfo - what lib/bpf/btf.c finds in a kernel's description of its types
 *
 *	btfinfo FILE WORD...
 * Of each WORD a line: of STRUCTURE.MEMBER where it is, in bytes, of a FUNCTION its
 * number; -1 or 0 for none. Exit: 0, 111 one line on stderr: it cannot be read.
 */
#include <stdio.h>
#include <string.h>

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
