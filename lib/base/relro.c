/* SPDX-License-Identifier: ISC */
/*
 * relro.c - write-protect the relocated data of a static program
 *
 * The loader of a dynamic program does this before main (PT_GNU_RELRO, the linker's
 * -z relro). In a static program the start code of libc has to do it: glibc does, musl
 * 1.2 does not. So a static program does it again, as its first step.
 */
#ifdef STATIC_PIE
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* The linker defines this symbol at the beginning of the mapped file. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* After an error the pages stay writable, as musl leaves them. No message is possible yet. */
__attribute__((constructor)) static void protect(void)
{
	const ElfW(Phdr) *part = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM), page = getauxval(AT_PAGESZ);
	size_t from, to;

	for (; part && n; part++, n--) {
		if (part->p_type != PT_GNU_RELRO)
			continue;
		from = (size_t)__ehdr_start + part->p_vaddr;
		to = (from + part->p_memsz) & ~(page - 1);
		from &= ~(page - 1);
		if (from < to)
			mprotect((char *)from, to - from, PROT_READ);
	}
}
#endif
