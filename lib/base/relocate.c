/* SPDX-License-Identifier: ISC */
/*
 * relocate.c - relocate a static program of x86_64 whose relocations are packed (DT_RELR)
 *
 * A packed relocation takes a byte in place of 24, but the start code of musl does not know it
 * before version 1.2.4. The Makefile makes relocate_start the entry of a static program then.
 */
#ifdef __x86_64__
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* glibc has them since 2.36, musl since 1.2.4 */
enum { RELR_SIZE = 35, RELR = 36 };

/* The linker defines this symbol: the beginning of the mapped file. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

void relocate_all(void) __attribute__((used));
void relocate_start(void) __attribute__((naked, used));

static void add_load_address(uint64_t *at)
{
	*at += (uintptr_t)__ehdr_start;
}

/*
 * Return the dynamic section, or NULL if the program is not position-independent. The compiler
 * would read a weak symbol from a table that is not relocated yet.
 */
static ElfW(Dyn) *dynamic_section(void)
{
	ElfW(Dyn) *section;

	__asm__(".weak _DYNAMIC\n.hidden _DYNAMIC\nlea _DYNAMIC(%%rip), %0" : "=r"(section));
	return section;
}

/*
 * The section has an address, and bits for the 63 words after it, bits for the next 63 and so on;
 * bits have the lowest one set. Nothing may be called here that has relocations or needs a canary.
 */
void relocate_all(void)
{
	const uint64_t *relr = NULL, *end;
	uint64_t *at = NULL;
	ElfW(Dyn) *size = NULL;

	for (ElfW(Dyn) *d = dynamic_section(); d && d->d_tag; d++) {
		if (d->d_tag == RELR)
			relr = (const uint64_t *)(__ehdr_start + d->d_un.d_ptr);
		else if (d->d_tag == RELR_SIZE)
			size = d;
	}
	if (!relr || !size)
		return;
	end = relr + size->d_un.d_val / sizeof(*relr);
	size->d_un.d_val = 0; /* a start code that knows them does not add the address again */
	for (; relr < end; relr++) {
		if (*relr & 1) {
			for (unsigned i = 0; i < 63; i++)
				if (*relr >> i & 2)
					add_load_address(at + i);
			at += 63;
		} else {
			at = (uint64_t *)(uintptr_t)(__ehdr_start + *relr);
			add_load_address(at++);
		}
	}
}

/* The stack is aligned as the kernel has left it, and _start needs no register. */
void relocate_start(void)
{
	__asm__("call relocate_all\n\tjmp _start");
}
#endif
