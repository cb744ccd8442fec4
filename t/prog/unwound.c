/* SPDX-License-Identifier: ISC */
/*
 * unwound - unwind the stacks that a debugger has copied: what t/stacks/compare -u compares with it
 *
 * Standard input: "stop TID"; "map BEGIN END OFFSET PATH" for each mapping of code that is new;
 * "regs" and 17 numbers: pc, and the registers by their numbers in DWARF; and "stack ADDRESS
 * BYTES" of the same stop. All numbers are hexadecimal. It prints a user stack for each stop, as
 * the stream does, but without names.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/base.h"
#include "elf/elf.h"
#include "prog.h"

static struct map {
	uint64_t begin, end, offset;
	char *path;
	struct elf_unwind *u;
} maps[512];

static size_t maps_n;

static struct file {
	char *path;
	struct elf_unwind u;
} files[256];

static struct copy {
	uint64_t from;
	size_t size;
	unsigned char *bytes;
} stack;

static int word_of(void *arg, uint64_t address, uint64_t *word)
{
	(void)arg;
	if (address < stack.from || address - stack.from > stack.size ||
	    stack.size - (address - stack.from) < sizeof(*word))
		return -1;
	memcpy(word, stack.bytes + (address - stack.from), sizeof(*word));
	return 0;
}

static struct elf_unwind *tables_of(const char *path)
{
	struct file *f = files;
	struct stat s;
	int fd;

	for (; f->path; f++)
		if (!strcmp(f->path, path))
			return &f->u;
	f->path = strdup(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &s)) {
		elf_unwind_read(fd, (uint64_t)s.st_size, &f->u);
		elf_unwind_check(&f->u);
	}
	close(fd);
	return &f->u;
}

static const struct map *map_of(uint64_t address)
{
	for (size_t i = maps_n; i-- > 0;)
		if (address >= maps[i].begin && address < maps[i].end)
			return maps + i;
	return NULL;
}

static void unwind(struct unwind_frame *f)
{
	static const char *const ends[] = { [UNWIND_NO_TABLE] = "no unwind table",
		[UNWIND_NO_MEMORY] = "page not in memory", [UNWIND_BAD] = "bad unwind table" };

	for (int i = 0; i < 2000; i++) {
		uint64_t call = !f->interrupted;
		const struct map *m = map_of(f->pc - call);
		enum unwind_result result = UNWIND_NO_TABLE;

		if (m) {
			const uint64_t offset = f->pc - m->begin + m->offset;

			printf(" => %s:0x%jx\n", m->path, (uintmax_t)offset);
			result = elf_unwind_step(m->u, offset - call, f, word_of, NULL);
		} else {
			puts(" => [no code there]");
			return;
		}
		if (result == UNWIND_END)
			return;
		if (result != UNWIND_STEP) {
			printf(" => [%s]\n", ends[result]);
			return;
		}
	}
	puts(" => [more than 2000 frames]");
}

static void take_map(char *line)
{
	struct map *m = maps + maps_n++ % 512;
	int at = 0;

	maps_n = maps_n > 511 ? 511 : maps_n;
	if (sscanf(line, "%jx %jx %jx %n", (uintmax_t *)&m->begin, (uintmax_t *)&m->end,
		   (uintmax_t *)&m->offset, &at) != 3 || !at)
		exit(100);
	m->path = strdup(line + at);
	m->u = tables_of(!strcmp(m->path, "[vdso]") && getenv("VDSO") ? getenv("VDSO") : m->path);
}

static void take_registers(char *line, struct unwind_frame *f)
{
	*f = (struct unwind_frame){ .interrupted = 1, .known = 0xffff };
	f->pc = strtoull(line, &line, 16);
	for (int i = 0; i < 16; i++)
		f->reg[i] = strtoull(line, &line, 16);
}

static void take_stack(char *line)
{
	stack.from = strtoull(line, &line, 16);
	stack.size = strlen(++line) / 2;
	stack.bytes = realloc(stack.bytes, stack.size + 1);
	for (size_t i = 0; i < stack.size; i++) {
		const char two[3] = { line[2 * i], line[2 * i + 1] };

		stack.bytes[i] = (unsigned char)strtoul(two, NULL, 16);
	}
}

int main(void)
{
	struct unwind_frame f;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "stop ", 5)) {
			printf("x-%s [000] ..... 1.0: <user stack trace>\n", line + 5);
		} else if (!strncmp(line, "map ", 4)) {
			take_map(line + 4);
		} else if (!strncmp(line, "regs ", 5)) {
			take_registers(line + 5, &f);
		} else if (!strncmp(line, "stack ", 6)) {
			take_stack(line + 6);
			unwind(&f);
		}
	}
	free(line);
	return 0;
}
