/* SPDX-License-Identifier: ISC */
/*
 * elf.h - programs and libraries: functions, USDT probes, thread-local variables, unwinding
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

/* ---- unwind.c: from a frame of a stack to the frame of its caller, by .eh_frame ------------- */

/* A function that .eh_frame describes: its place and size in the file, the place in the bytes. */
struct elf_unwind_entry {
	uint32_t from, size, place;
};

/* The beginning of the bytes; .eh_frame follows. */
struct elf_unwind_head {
	uint64_t address;       /* of the bytes, as the file numbers its addresses */
	uint64_t machine;       /* EM_X86_64 or EM_AARCH64 */
};

/*
 * How to unwind the functions of a file, by place. The caller frees v and bytes. Both are plain
 * data, and tell all, so a helper can send them to the tool.
 */
struct elf_unwind {
	struct elf_unwind_entry *v;
	size_t n;
	unsigned char *bytes;
	size_t size;
	uint32_t number;        /* of elf_unwind_check; 0: no step can use it */
};

/*
 * Read .eh_frame of the open file of this size. Silent: a file that is not ELF of amd64 or arm64,
 * is damaged, or has more than 64 MiB of it has none (n is 0). Exit REFUSED without memory.
 */
void elf_unwind_read(int fd, uint64_t size, struct elf_unwind *);

/*
 * Make the table of functions from u->bytes, a head and an .eh_frame, and leave out bytes after its
 * end. offset_of sets the place in the file of an address of code and returns 0, or returns -1.
 */
typedef int elf_offset_fn(const void *arg, uint64_t address, uint64_t *offset);
void elf_unwind_index(struct elf_unwind *u, elf_offset_fn *offset_of, const void *arg);

/*
 * Prepare what a helper has sent, of which nothing is trusted, for steps: give it a number of its
 * own. Return 0, or -1, silent, if it is no such table.
 */
int elf_unwind_check(struct elf_unwind *);

/*
 * Registers by their numbers in DWARF. amd64: 0 to 15, where 6 is rbp and 7 is rsp; arm64: 0 to 30,
 * and 31 is sp. The others are not used.
 */
enum { UNWIND_REGISTERS = 33 };

struct unwind_frame {
	uint64_t pc, reg[UNWIND_REGISTERS];
	uint64_t known;         /* a bit for each register whose value is known */
	/* pc is the next instruction, not one after a call: the innermost, or a signal came */
	int interrupted;
};

enum unwind_result {
	UNWIND_STEP,            /* the frame is now that of the caller */
	UNWIND_END,             /* it is the outermost */
	UNWIND_NO_TABLE,        /* nothing describes this place */
	UNWIND_NO_MEMORY,       /* unwind_memory_fn does not have the return address */
	UNWIND_BAD,             /* the description is invalid, or is not understood */
};

/* Set *word to the eight bytes of the stack at the address. Return 0, or -1: they are not there. */
typedef int unwind_memory_fn(void *arg, uint64_t address, uint64_t *word);

/*
 * Go to the caller of the frame, whose code is at this offset of the file: that of frame->pc, or,
 * unless it was interrupted, that of the byte before. With any result other than UNWIND_STEP, leave
 * the frame as it was. The number of instructions and operations of a step is limited, but that of
 * steps is the caller's: a signal's frame may lead to any other stack.
 */
enum unwind_result elf_unwind_step(const struct elf_unwind *, uint64_t offset,
				   struct unwind_frame *, unwind_memory_fn *, void *arg);

#endif
