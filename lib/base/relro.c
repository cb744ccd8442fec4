/* SPDX-License-Identifier: ISC */
/*
 * relro.c - relocate and write-protect the data of a static program
 *
 * The loader of a dynamic program does both before main. In a static program the start code
 * of libc has to do it, and musl 1.2.3 neither applies packed relocations nor protects data.
 */
#ifdef STATIC_PIE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* The linker defines this symbol at the beginning of the mapped file. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

#ifdef PACKED_RELOCS
/* Tags of _DYNAMIC (generic ABI, "Relative Relocation Table"), which older headers lack. */
enum { TAG_RELRSZ = 35, TAG_RELR = 36 };

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/*
 * The entry of the program: apply the packed relocations, then go on in libc. %rsp points to
 * the arguments, and libc aligns it.
 */
__asm__(".globl packed_start\n"
	"packed_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rbx\n"
	"	and $-16, %rsp\n"
	"	call packed_relocate\n"
	"	mov %rbx, %rsp\n"
	"	xor %edx, %edx\n"
	"	jmp _start");

/*
 * Add the address of the program to each word in the table. An even entry is the address of
 * a word. In an odd entry each bit from bit 1 on stands for one word behind the last address;
 * a bit that is set selects its word. Empty the table, because a newer libc would apply it
 * again. The stack protector does not work yet.
 */
__attribute__((used, no_stack_protector, visibility("hidden"))) void packed_relocate(void)
{
	const uintptr_t base = (uintptr_t)__ehdr_start, bits = 8 * sizeof(uintptr_t) - 1;
	const uintptr_t *entry = NULL;
	uintptr_t *word = NULL;
	size_t n = 0;

	for (ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == TAG_RELR)
			entry = (const uintptr_t *)(base + d->d_un.d_ptr);
		if (d->d_tag == TAG_RELRSZ) {
			n = d->d_un.d_val / sizeof(*entry);
			d->d_un.d_val = 0;
		}
	}
	for (; n; n--, entry++) {
		if (!(*entry & 1)) {
			word = (uintptr_t *)(base + *entry);
			*word++ += base;
			continue;
		}
		for (size_t i = 0; i < bits; i++)
			if (*entry >> (i + 1) & 1)
				word[i] += base;
		word += bits;
	}
}
#endif

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
