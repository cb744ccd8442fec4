/* SPDX-License-Identifier: ISC */
/*
 * unwind.c - steps through a stack, by an .eh_frame that is valid or not
 *
 * Input: a byte whose bit 0 chooses the machine, and .eh_frame. The functions are sorted. A step
 * changes the frame only if it succeeds, and then the stack has become smaller, unless a signal was
 * handled; it reads a limited number of words; and it does the same without the rows of steps
 * before. A table of functions that points anywhere does no harm.
 */
#include <elf.h>

#include "fuzz.h"

enum { STEPS = 16, WORDS = 33 * 65, ADDRESS = 0x10000 };

static unsigned words;

/* Memory with the same words each time, of which some look like addresses; some is not there. */
static int word_at(void *arg, uint64_t address, uint64_t *word)
{
	uint64_t hash = (address + 1) * 0x9e3779b97f4a7c15;

	(void)arg;
	words++;
	*word = hash >> 60 ? hash >> 50 : hash;
	return (hash >> 40) % 16 ? 0 : -1;
}

static int some_offset(const void *arg, uint64_t address, uint64_t *offset)
{
	(void)arg;
	*offset = address & 0xffff;
	return address % 61 ? 0 : -1;
}

static void check_step(const struct unwind_frame *was, const struct unwind_frame *is, unsigned sp)
{
	must(is->pc);
	must(is->known >> sp & 1);
	must(is->interrupted || is->reg[sp] >= was->reg[sp]);
	must(is->interrupted || was->interrupted || is->reg[sp] > was->reg[sp]);
}

/* Walk from this place in the file, each step twice: the second time with a new number. */
static void walk(struct elf_unwind *u, uint64_t offset, int interrupted, unsigned sp)
{
	struct unwind_frame f = { .pc = offset, .known = ~0ull, .interrupted = interrupted }, was;
	enum unwind_result r, again;

	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		f.reg[i] = 0x7000 + 64 * i;
	for (unsigned i = 0; i < STEPS; i++) {
		struct unwind_frame g = was = f;
		struct elf_unwind other = *u;

		words = 0;
		r = elf_unwind_step(u, f.pc & 0xffff, &f, word_at, NULL);
		must(words <= WORDS);
		must(!elf_unwind_check(&other) && other.number != u->number);
		again = elf_unwind_step(&other, g.pc & 0xffff, &g, word_at, NULL);
		must(again == r && !memcmp(&f, &g, sizeof(f)));
		if (r != UNWIND_STEP) {
			must(!memcmp(&f, &was, sizeof(f)));
			return;
		}
		check_step(&was, &f, sp);
	}
}

/* Steps by functions that a helper has made up. */
static void check_any(const struct elf_unwind *u, unsigned sp)
{
	struct elf_unwind any = *u;

	any.n = u->size / sizeof(*any.v);
	any.v = copy_of(u->bytes, any.n * sizeof(*any.v));
	if (!elf_unwind_check(&any))
		for (unsigned i = 0; i < 8; i++)
			walk(&any, i * 0x1fff, 1, sp);
	free(any.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int arm64 = size && *data & 1;
	struct elf_unwind_head h = { ADDRESS, arm64 ? EM_AARCH64 : EM_X86_64 };
	struct elf_unwind u = { .size = sizeof(h) + size - (size != 0) };
	unsigned sp = arm64 ? 31 : 7;

	u.bytes = malloc(u.size);
	must(u.bytes);
	memcpy(u.bytes, &h, sizeof(h));
	if (size)
		memcpy(u.bytes + sizeof(h), data + 1, size - 1);
	elf_unwind_index(&u, some_offset, NULL);
	must(u.size <= sizeof(h) + size);
	must(elf_unwind_check(&u) == (u.n ? 0 : -1));
	for (size_t i = 0; i < u.n; i++) {
		must(!i || u.v[i].from >= u.v[i - 1].from);
		must(u.v[i].size && u.v[i].place < u.size);
		if (i < 32) {
			walk(&u, u.v[i].from, 1, sp);
			walk(&u, u.v[i].from + u.v[i].size / 2, 0, sp);
			walk(&u, u.v[i].from + u.v[i].size - 1, 1, sp);
		}
	}
	check_any(&u, sp);
	free(u.v);
	free(u.bytes);
	return 0;
}
