/* SPDX-License-Identifier: ISC */
/*
 * protect.c - write-protect the constants of a static program after their relocation
 *
 * The loader of a dynamic program does that before main, and so does the start code of glibc, but
 * not that of musl. The Makefile links this file to a static program.
 */
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* The linker defines this symbol at the beginning of the mapped file. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* After an error the pages stay writable. No message is possible yet. */
__attribute__((constructor)) void protect_constants(void)
{
	const ElfW(Phdr) *part = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM), page = getauxval(AT_PAGESZ), from, to;
	/* addresses in a program that is not position-independent are those of the process */
	size_t load = __ehdr_start.e_type == ET_DYN ? (size_t)&__ehdr_start : 0;

	for (; part && n; part++, n--) {
		if (part->p_type != PT_GNU_RELRO)
			continue;
		from = load + part->p_vaddr;
		to = (from + part->p_memsz) & ~(page - 1);
		from &= ~(page - 1);
		if (from < to)
			mprotect((char *)from, to - from, PROT_READ);
	}
}
