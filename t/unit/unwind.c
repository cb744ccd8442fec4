/* SPDX-License-Identifier: ISC */
/*
 * unwind.c - a step from a frame to its caller, by .eh_frame
 *
 * With the name of a file: read what readelf --debug-dump=frames-interp prints of this file, and
 * compare each of its rows with a step from there. Print each difference, and the numbers of rows,
 * of those that are not compared because the CFA or the stack pointer has a rule of another kind,
 * of steps that fail, and of differences.
 */
#include <elf.h>
#include <sys/stat.h>

#include "base/base.h"
#include "elf/elf.h"
#include "unit.h"

/* Each register has a value from which one sees which register a CFA is relative to. */
enum { SHIFT = 40, COLUMNS = 48, IN_MEMORY = 63, AMD64_SP = 7, ARM64_SP = 31 };

static const char *const amd64_names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra" };

static int is_arm64;

static unsigned sp_number(void)
{
	return is_arm64 ? ARM64_SP : AMD64_SP;
}

static uint64_t value_of(unsigned reg)
{
	/* the stack pointer is the lowest, so that all steps go up */
	return (uint64_t)(reg == sp_number() ? 1 : reg + 2) << SHIFT;
}

static struct unwind_frame frame_of(uint64_t pc)
{
	struct unwind_frame f = { .pc = pc, .known = ~0ull, .interrupted = 1 };

	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		f.reg[i] = value_of(i);
	return f;
}

/* The word at an address tells the address. */
static int memory_of_addresses(void *arg, uint64_t address, uint64_t *word)
{
	(void)arg;
	*word = address | 1ull << IN_MEMORY;
	return 0;
}

/* ---- compared with readelf --------------------------------------------------------- */

static struct {
	char *columns[COLUMNS];
	unsigned n;
	int in_table;
	/* a CIE whose return address is in a register for a part of the function only: no step */
	char odd[16];
	int is_odd;
	unsigned long rows, other, failures, differences;
} seen;

static const char *name_of(unsigned reg)
{
	static char name[8];

	if (!is_arm64)
		return reg < 17 ? amd64_names[reg] : "?";
	str_format(name, sizeof(name), reg == ARM64_SP ? "sp" : reg == 30 ? "ra" : "x%u", reg);
	return name;
}

/* Return the next word of a row, but not the name of a register after its number. */
static const char *next_word(void)
{
	const char *word = strtok(NULL, " ");

	return word && *word == '(' ? strtok(NULL, " ") : word;
}

static void differ(uint64_t address, const char *what, const char *got, const char *wanted)
{
	seen.differences++;
	printf("%llx: %s is %s, not %s\n", (unsigned long long)address, what, got, wanted);
}

static void compare_cfa(uint64_t address, uint64_t cfa, const char *wanted)
{
	char got[64] = "?";

	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		if (cfa - value_of(i) + (1 << 20) < 1 << 21)
			str_format(got, sizeof(got), "%s+%lld", name_of(i),
				   (long long)(cfa - value_of(i)));
	if (strcmp(got, wanted))
		differ(address, "CFA", got, wanted);
}

static void compare_register(uint64_t address, const struct unwind_frame *f, unsigned reg,
			     const char *wanted)
{
	const uint64_t v = name_of(reg) == amd64_names[16] ? f->pc : f->reg[reg];
	const int64_t from_cfa = (int64_t)((v & ~(1ull << IN_MEMORY)) - f->reg[sp_number()]);
	char got[64];

	if (v >> IN_MEMORY)
		str_format(got, sizeof(got), "c%s%lld", from_cfa < 0 ? "" : "+",
			   (long long)from_cfa);
	else if (v == value_of(reg))
		str_format(got, sizeof(got), "u");
	else
		str_format(got, sizeof(got), "r%u", v == value_of(sp_number()) ? sp_number() :
			   (unsigned)(v >> SHIFT) - 2);
	if (strcmp(got, *wanted == 's' ? "u" : wanted) && !strstr(wanted, "exp"))
		differ(address, name_of(reg), got, wanted);
}

static void compare_row(const struct elf_unwind *u, uint64_t address, uint64_t offset, char *row)
{
	struct unwind_frame f = frame_of(1ull << 62);
	enum unwind_result r = elf_unwind_step(u, offset, &f, memory_of_addresses, NULL);
	const char *cfa = strtok(row, " "), *words[COLUMNS];
	unsigned numbers[COLUMNS], other = !strcmp(cfa, "exp");

	seen.rows++;
	for (unsigned i = 0; i < seen.n; i++) {
		words[i] = next_word();
		for (numbers[i] = 0; numbers[i] < UNWIND_REGISTERS; numbers[i]++)
			if (!strcmp(name_of(numbers[i]), seen.columns[i]))
				break;
		other |= numbers[i] == sp_number() && strcmp(words[i], "u");
		if (r == UNWIND_END && numbers[i] == (is_arm64 ? 30 : 16) && !strcmp(words[i], "u"))
			return;
	}
	other |= seen.is_odd && r == UNWIND_BAD;
	seen.other += other;
	if (other)
		return;
	if (r != UNWIND_STEP) {
		printf("%llx: result %d\n", (unsigned long long)address, r);
		seen.failures++;
		return;
	}
	compare_cfa(address, f.reg[sp_number()], cfa);
	for (unsigned i = 0; i < seen.n; i++)
		if (numbers[i] < UNWIND_REGISTERS && numbers[i] != sp_number())
			compare_register(address, &f, numbers[i], words[i]);
}

/* Return the place in the file of an address of code, or 0. */
static uint64_t place_of(const char *file, uint64_t address)
{
	const Elf64_Ehdr *e = (const void *)file;
	const Elf64_Phdr *p = (const void *)(file + e->e_phoff);

	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X && address >= p[i].p_vaddr &&
		    address < p[i].p_vaddr + p[i].p_filesz)
			return address - p[i].p_vaddr + p[i].p_offset;
	return 0;
}

static int compare_file(const char *path)
{
	static char line[1024], header[1024];
	struct elf_unwind u;
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	char *file = malloc((size_t)st.st_size), *rest;

	if (fd < 0 || pread(fd, file, (size_t)st.st_size, 0) != st.st_size)
		return 1;
	elf_unwind_read(fd, (uint64_t)st.st_size, &u);
	is_arm64 = ((Elf64_Ehdr *)(void *)file)->e_machine == EM_AARCH64;
	if (elf_unwind_check(&u) < 0)
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t address = strtoull(line, &rest, 16), place = place_of(file, address);

		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, " CIE ") && !strstr(line, is_arm64 ? "ra=30" : "ra=16"))
			str_format(seen.odd, sizeof(seen.odd), "cie=%.8s", line);
		if (strstr(line, " FDE "))
			seen.is_odd = *seen.odd && strstr(line, seen.odd);
		if (!*line) {
			seen.in_table = 0;
		} else if (!strncmp(line, "   LOC", 6)) {
			seen.in_table = 1;
			seen.n = 0;
			strcpy(header, line);
			strtok(header, " ");
			strtok(NULL, " "); /* CFA */
			while (seen.n < COLUMNS && (seen.columns[seen.n] = strtok(NULL, " ")))
				seen.n++;
		} else if (rest == line + 16 && *rest == ' ' && seen.in_table && place) {
			compare_row(&u, address, place, rest);
		}
	}
	printf("%lu rows, %lu not compared, %lu fail, %lu differ\n", seen.rows, seen.other,
	       seen.failures, seen.differences);
	return 0;
}

/* ---- tables by hand ---------------------------------------------------------------- */

enum { FROM = 0x1000, LENGTH = 0x100 };

static struct {
	unsigned char v[1 << 18];
	size_t n;
	struct elf_unwind u;
} table;

static void put(uint64_t v, size_t n)
{
	for (; n--; v >>= 8)
		table.v[table.n++] = (unsigned char)v;
}

static void put_entry(uint32_t second, const char *bytes, size_t n)
{
	put(4 + n, 4);
	put(second, 4);
	memcpy(table.v + table.n, bytes, n);
	table.n += n;
}

static int same_offset(const void *arg, uint64_t address, uint64_t *offset)
{
	(void)arg;
	*offset = address;
	return 0;
}

/*
 * Make a table of one function from FROM on: its CIE has this augmentation and data after it, and
 * the first instructions; return whether it is well formed.
 */
static int make_table(unsigned machine, const char *cie, size_t cie_n, const char *program,
		      size_t n)
{
	struct elf_unwind_head h = { 0x10000, machine };

	memcpy(table.v, &h, sizeof(h));
	table.n = sizeof(h);
	put_entry(0, cie, cie_n);
	put(4 + 8 + 1 + n, 4);
	put(table.n - sizeof(h), 4);
	put(FROM - (0x10000 + table.n), 4); /* relative to itself */
	put(LENGTH, 4);
	put(0, 1); /* no more data of the augmentation */
	memcpy(table.v + table.n, program, n);
	table.n += n;
	put(0, 4);
	free(table.u.v);
	table.u = (struct elf_unwind){ .bytes = table.v, .size = table.n };
	elf_unwind_index(&table.u, same_offset, NULL);
	return elf_unwind_check(&table.u);
}

/* zR, factors 1 and -8, return address 16; the CFA is rsp + 8, the return address is below it */
#define AMD64 "\1zR\0\1\x78\x10\1\x1b\x0c\7\x8\x90\1"
/* ... zRS, a signal's frame */
#define SIGNAL "\1zRS\0\1\x78\x10\1\x1b\x0c\7\x8\x90\1"
/* return address 30; the CFA is sp */
#define ARM64 "\1zR\0\4\x78\x1e\1\x1b\x0c\x1f\0"

#define MAKE(cie, program) make_table(EM_X86_64, cie, sizeof(cie) - 1, program, sizeof(program) - 1)
#define MAKE_ARM64(program) make_table(EM_AARCH64, ARM64, sizeof(ARM64) - 1, program, \
				       sizeof(program) - 1)

static enum unwind_result step(uint64_t offset, struct unwind_frame *f)
{
	return elf_unwind_step(&table.u, offset, f, memory_of_addresses, NULL);
}

static enum unwind_result step_once(void)
{
	struct unwind_frame f = frame_of(FROM);

	return step(FROM, &f);
}

static void test_rows(void)
{
	struct unwind_frame f = frame_of(FROM);
	const uint64_t sp = value_of(AMD64_SP);

	/* push rbp; after 0x40 bytes the CFA is rbp + 16 */
	EQUAL(MAKE(AMD64, "\x41\x0e\x10\x86\2\x7f\x0d\6"), 0);
	EQUAL(table.u.n, 1);
	EQUAL(table.u.size, table.n - 4);
	EQUAL(step(FROM, &f), UNWIND_STEP);
	EQUAL(f.pc, sp | 1ull << IN_MEMORY);
	EQUAL(f.reg[AMD64_SP], sp + 8);
	EQUAL(f.interrupted, 0);
	EQUAL(f.known, 0x1f0c8); /* rbx, rbp, rsp, r12 to r15, and the return address */
	f = frame_of(FROM + 1);
	EQUAL(step(FROM + 1, &f), UNWIND_STEP);
	EQUAL(f.reg[AMD64_SP], sp + 16);
	EQUAL(f.reg[6], sp | 1ull << IN_MEMORY);
	f = frame_of(FROM + 0x40);
	EQUAL(step(FROM + 0x40, &f), UNWIND_STEP);
	EQUAL(f.reg[AMD64_SP], value_of(6) + 16);
	EQUAL(step(FROM - 1, &f), UNWIND_NO_TABLE);
	EQUAL(step(FROM + LENGTH, &f), UNWIND_NO_TABLE);
}

static int no_memory(void *arg, uint64_t address, uint64_t *word)
{
	(void)arg, (void)address, (void)word;
	return -1;
}

static int zeros(void *arg, uint64_t address, uint64_t *word)
{
	(void)arg, (void)address;
	*word = 0;
	return 0;
}

static void test_ends(void)
{
	struct unwind_frame f = frame_of(FROM), before = f;

	EQUAL(MAKE(AMD64, ""), 0);
	EQUAL(elf_unwind_step(&table.u, FROM, &f, no_memory, NULL), UNWIND_NO_MEMORY);
	EQUAL(elf_unwind_step(&table.u, FROM, &f, zeros, NULL), UNWIND_END);
	f.known = 0;
	EQUAL(step(FROM, &f), UNWIND_BAD);
	f.known = ~0ull;
	EQUAL(memcmp(&f, &before, sizeof(f)), 0);
	table.u.number = 0;
	EQUAL(step(FROM, &f), UNWIND_NO_TABLE);
	/* undefined: the return address */
	EQUAL(MAKE(AMD64, "\7\x10"), 0);
	EQUAL(step_once(), UNWIND_END);
	/* the CFA is below the stack: rsp - 8 */
	EQUAL(MAKE(AMD64, "\x13\1"), 0);
	EQUAL(step_once(), UNWIND_BAD);
	EQUAL(MAKE(AMD64, "\x13\1\x09\x10\2"), 0);
	EQUAL(step_once(), UNWIND_BAD);
	/* at it, and the return address is in rcx */
	EQUAL(MAKE(AMD64, "\x0e\0\x09\x10\2"), 0);
	EQUAL(step_once(), UNWIND_STEP);
	f.interrupted = 0;
	EQUAL(step(FROM, &f), UNWIND_BAD);
}

static void test_signals(void)
{
	struct unwind_frame f = frame_of(FROM);

	EQUAL(MAKE(SIGNAL, "\x13\1"), 0);
	EQUAL(step(FROM, &f), UNWIND_STEP);
	EQUAL(f.interrupted, 1);
	EQUAL(f.reg[AMD64_SP], value_of(AMD64_SP) - 8);
}

static void test_expressions(void)
{
	struct unwind_frame f = frame_of(FROM + 11);

	/* as of a PLT: rsp + 8 + ((rip & 15) >= 11) << 3 */
	EQUAL(MAKE(AMD64, "\x0f\x0b\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22"), 0);
	EQUAL(step(FROM + 11, &f), UNWIND_STEP);
	EQUAL(f.reg[AMD64_SP], value_of(AMD64_SP) + 16);
	f = frame_of(FROM + 10);
	EQUAL(step(FROM + 10, &f), UNWIND_STEP);
	EQUAL(f.reg[AMD64_SP], value_of(AMD64_SP) + 8);
	/* rbx is at CFA - 32: const1s -32, plus; r12 is rax + 3: breg0, 2, swap, drop, ... */
	f = frame_of(FROM);
	EQUAL(MAKE(AMD64, "\x10\3\3\x09\xe0\x22\x16\x0c\5\x70\3\x12\x16\x13"), 0);
	EQUAL(step(FROM, &f), UNWIND_STEP);
	EQUAL(f.reg[3], (value_of(AMD64_SP) - 24) | 1ull << IN_MEMORY);
	EQUAL(f.reg[12], value_of(0) + 3);
	/* after an expression the offset is the one from before, as OpenSSL means it */
	EQUAL(MAKE(AMD64, "\x0e\x38\x0f\1\x31\x0d\7"), 0);
	f = frame_of(FROM);
	EQUAL(step(FROM, &f), UNWIND_STEP);
	EQUAL(f.reg[AMD64_SP], value_of(AMD64_SP) + 0x38);
	/* not enough numbers, an unknown operation, a register that does not exist */
	EQUAL(MAKE(AMD64, "\x0f\2\x22\x22"), 0);
	EQUAL(step_once(), UNWIND_BAD);
	EQUAL(MAKE(AMD64, "\x0f\1\x9c"), 0);
	EQUAL(step_once(), UNWIND_BAD);
	EQUAL(MAKE(AMD64, "\x0f\3\x92\x7f\0"), 0);
	EQUAL(step_once(), UNWIND_BAD);
}

static void test_arm64(void)
{
	struct unwind_frame f;

	is_arm64 = 1;
	/* a leaf, interrupted before and after the signing of the return address */
	EQUAL(MAKE_ARM64("\x41\x2d"), 0);
	f = frame_of(FROM);
	f.pc = f.reg[ARM64_SP] = 0x7fff12345678;
	f.reg[30] = 0x00355555aaaabbb0;
	EQUAL(step(FROM, &f), UNWIND_STEP);
	EQUAL(f.pc, 0x00355555aaaabbb0);
	f.pc = f.reg[ARM64_SP] = 0x7fff12345678;
	f.known |= 1ull << ARM64_SP;
	f.interrupted = 1;
	EQUAL(step(FROM + 4, &f), UNWIND_STEP);
	EQUAL(f.pc, 0x00005555aaaabbb0);
	EQUAL(f.reg[30], f.pc);
	/* not innermost: nobody knows the return address */
	EQUAL(f.interrupted, 0);
	EQUAL(step(FROM, &f), UNWIND_BAD);
	/* the loader of glibc: it is at c+8, and 16 bytes above are the caller's */
	EQUAL(MAKE_ARM64("\x11\x1e\x7f"), 0);
	f = frame_of(FROM);
	EQUAL(step(FROM, &f), UNWIND_STEP);
	EQUAL(f.pc, (value_of(ARM64_SP) + 8) | 1ull << IN_MEMORY);
	EQUAL(f.reg[ARM64_SP], value_of(ARM64_SP) + 16);
	is_arm64 = 0;
}

/* Programs that are too long, or go around too much. */
static void test_limits(void)
{
	static char nops[40000];

	EQUAL(make_table(EM_X86_64, AMD64, sizeof(AMD64) - 1, nops, 30000), 0);
	EQUAL(step_once(), UNWIND_STEP);
	EQUAL(make_table(EM_X86_64, AMD64, sizeof(AMD64) - 1, nops, sizeof(nops)), 0);
	EQUAL(step_once(), UNWIND_BAD);
	memset(nops, 0x96, 99);
	memcpy(nops, "\x0f\x61", 2); /* an expression of nops */
	EQUAL(make_table(EM_X86_64, AMD64, sizeof(AMD64) - 1, nops, 99), 0);
	EQUAL(step_once(), UNWIND_BAD);
	memset(nops, 0x0a, 99); /* remember_state */
	EQUAL(make_table(EM_X86_64, AMD64, sizeof(AMD64) - 1, nops, 8), 0);
	EQUAL(step_once(), UNWIND_STEP);
	EQUAL(make_table(EM_X86_64, AMD64, sizeof(AMD64) - 1, nops, 9), 0);
	EQUAL(step_once(), UNWIND_BAD);
	EQUAL(MAKE(AMD64, "\x0b"), 0);
	EQUAL(step_once(), UNWIND_BAD);
	EQUAL(make_table(EM_386, AMD64, sizeof(AMD64) - 1, nops, 9), -1);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return compare_file(argv[1]);
	TEST(rows);
	TEST(ends);
	TEST(signals);
	TEST(expressions);
	TEST(arm64);
	TEST(limits);
	free(table.u.v);
	return unit_end();
}
