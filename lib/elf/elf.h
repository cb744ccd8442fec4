/* SPDX-License-Identifier: ISC */
/*
 * elf.h - programs and libraries: their functions, USDT probes and thread-local variables
 *
 * The files may belong to the traced programs, so their contents are untrusted.
 */
#ifndef TFS_ELF_H
#define TFS_ELF_H

#include "base/base.h"

/* An open program or library. All that is read of it comes from the same file. */
struct elf_file {
	int fd;                 /* O_PATH; the caller closes it; negative: not open */
	const char *path;       /* for messages, not copied */
	/*
	 * If not 0, one message stands for all reasons that the file has no usable symbols, and the
	 * message does not tell whether the file exists.
	 */
	int discreet;
	uint64_t size;
	struct timespec modified;
};

/* Open the file, if it is a regular one, and call it name. Return 0, or -1, reported. */
int elf_file_open(struct elf_file *, const char *path, const char *name, int discreet);

/* Return whether nobody has written to the file since it was opened. */
int elf_file_is_unchanged(const struct elf_file *);

struct elf_location {
	uint64_t offset;        /* in the file */
	unsigned machine;       /* EM_* of <elf.h> */
	int wide;               /* 64 bits */
};

/*
 * Find the byte at offset `into` of the function `name`. Return 0, or -1, reported: the file is no
 * ELF, is stripped, has no such function (similar names are suggested), or the symbol has no code.
 */
int elf_symbol(const struct elf_file *, const char *name, uint64_t into, struct elf_location *);

/*
 * Does a function with a symbol begin at this offset of the file? Return 1 or 0 and the location,
 * or -1, reported.
 */
int elf_function_at(const struct elf_file *, uint64_t offset, struct elf_location *);

/* A function: its place and size in the file, and the place of its name. */
struct elf_function {
	uint64_t from;
	uint32_t size, name;
	int rank;               /* of several functions at one place the last is the best */
};

/* The functions of a file, by place. The caller frees v and names. */
struct elf_functions {
	struct elf_function *v;
	size_t n, room;
	char *names;            /* of names_size bytes, and a NUL */
	uint64_t names_size;
};

/*
 * Read the functions in .symtab, or else in .dynsym, of the open file of this size. Silent: a file
 * that is not ELF, is damaged, or has tables of more than 128 MiB has none. Exit REFUSED without
 * memory.
 */
void elf_functions(int fd, uint64_t size, struct elf_functions *);

/*
 * Return the name, any bytes, of the function that contains the byte at offset of the file, and the
 * place in it in *into; NULL if no symbol tells.
 */
const char *elf_function_around(const struct elf_functions *, uint64_t offset, uint64_t *into);

/* A USDT probe: a place that the author of a program has marked. */
struct elf_usdt {
	const char *provider, *name;
	const char *args;       /* assembler operands, as in "-4@%edi 8@16(%rsp)" */
	uint64_t offset;        /* in the file */
	uint64_t counter;       /* the offset of the reference counter; 0: none */
	unsigned machine;       /* EM_* of <elf.h> */
};

/*
 * Call fn for each USDT probe of the file until fn returns nonzero. Leave out probes whose
 * addresses are not in the file. Return 0, or what fn returned, or -1, reported.
 */
int elf_each_usdt(const struct elf_file *, int (*fn)(void *, const struct elf_usdt *), void *arg);

/* A thread-local variable of a program or library, which a debugger would look up by its name. */
struct elf_tls {
	int named;              /* the file defines or uses a variable of this name */
	enum { ELF_GLIBC = 1, ELF_MUSL } loader; /* of a program; 0: a library, or static */
	uint64_t code;          /* the address of the file's code minus its offset in the file */
	uint64_t code_from, code_end; /* the offsets in the file where that code is */
	int64_t offset;         /* of a program's own variable from the thread pointer; 0: none */
	/* the address of the words that a relocation fills, and with what; 0: no relocation */
	uint64_t words;
	enum { ELF_TLS_OFFSET, ELF_TLS_MODULE, ELF_TLS_OWN_MODULE, ELF_TLS_DESC } form;
	uint64_t value;         /* to add to the words' offset; of an own module, the offset */
};

/*
 * Find the thread-local variable in the dynamic symbols of an open file of this size, or, if it has
 * none, in its .symtab. Silent: a file that is not ELF or is damaged has no such variable.
 */
void elf_tls(int fd, uint64_t size, const char *name, struct elf_tls *);

#endif
