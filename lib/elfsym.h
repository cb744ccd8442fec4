/* SPDX-License-Identifier: ISC */
/* elfsym.h - elf.c: where in its file a function of a program or library is */
#ifndef ELFSYM_H
#define ELFSYM_H

#include <stdint.h>

struct elf_place {
	uint64_t offset;        /* in the file */
	unsigned machine;       /* EM_* of <elf.h> */
	int wide;               /* 64 bits */
	/*
	 * The caller sets it. Then one message stands for all reasons that a file has no
	 * symbols for us, and does not tell whether the file exists.
	 */
	int discreet;
};

/*
 * The place of the function name, and so many bytes into it. 0 or -1 said: no
 * ELF, stripped, no such function (with the nearest names), none with code.
 */
int elf_symbol(const char *path, const char *name, uint64_t into, struct elf_place *);

/*
 * Does a function that has a symbol begin at this offset of the file? 1 or 0, and the
 * place is filled; -1 said.
 */
int elf_function_at(const char *path, uint64_t offset, struct elf_place *);

#endif
