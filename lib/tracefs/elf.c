/* SPDX-License-Identifier: ISC */
/*
 * elf.c - where in its file a function of a program or library begins
 *
 * A probe in user space is at an offset of a file: the symbol gives an address,
 * and the program header that maps it the offset. Both classes, both byte
 * orders, whatever the machine that asks; no number of a file is believed
 * before it was compared with the file's size.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"

/* No symbols that anybody made need more; a file with holes may promise it. */
enum { MOST = 1 << 30 };

struct elf_table {
	unsigned char *v;
	uint64_t size;
};

struct elf {
	int fd, discreet;
	const char *path;
	uint64_t size;
	int wide, big;
	unsigned machine;
	struct elf_table segments, sections;
	unsigned segment_size, section_size;
	struct elf_table names[2]; /* of .symtab and .dynsym: a message may quote one */
};

/* What was found of one name, or at one place of the file. */
struct found {
	const char *name;       /* wanted; NULL: whatever function begins at offset */
	uint64_t offset;
	int begins;             /* one does */
	int rank;               /* 0: nothing; the higher, the likelier it is meant */
	int undefined;
	unsigned type, other;
	uint64_t value, size;
	unsigned others;        /* of the same rank, at another address */
};

static uint64_t get(const struct elf *e, const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[e->big ? i : n - 1 - i];
	return v;
}

/* A field of the record at p, as either class has it. */
#define SIZE(e, type) ((e)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define FIELD(e, p, type, field) \
	((e)->wide ? get(e, (p) + offsetof(Elf64_##type, field), \
			 sizeof(((Elf64_##type *)0)->field)) \
		   : get(e, (p) + offsetof(Elf32_##type, field), \
			 sizeof(((Elf32_##type *)0)->field)))

/* Give the one answer about a file that the asker may learn nothing of. 0: say it all. */
static int discreet(const struct elf *e)
{
	if (e->discreet)
		err_msg("%s is not a program or library that can be probed", e->path);
	return e->discreet;
}

/* n bytes of the file, a NUL behind them. -1 said. */
static int load(const struct elf *e, uint64_t offset, uint64_t n, struct elf_table *t)
{
	uint64_t at = 0;

	if (offset > e->size || n > e->size - offset)
		return discreet(e) ? -1 :
		       err_msg("%s is damaged: a table of it lies behind its end", e->path);
	if (n > MOST)
		return discreet(e) ? -1 :
		       err_msg("%s has a table of more than a gigabyte", e->path);
	t->v = malloc((size_t)n + 1);
	if (!t->v)
		return err_msg("out of memory");
	for (t->size = n; at < n;) {
		ssize_t got = pread(e->fd, t->v + at, (size_t)(n - at), (off_t)(offset + at));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(t->v);
			t->v = NULL;
			return discreet(e) ? -1 : err_errno("unable to read %s", e->path);
		}
		at += (uint64_t)got;
	}
	t->v[n] = '\0';
	return 0;
}

/* The records of one size that a header tells of. */
static int load_table(const struct elf *e, uint64_t offset, uint64_t n, unsigned size,
		      size_t least, struct elf_table *t)
{
	if (n && size < least)
		return discreet(e) ? -1 :
		       err_msg("%s is damaged: a table of it has records of %u bytes", e->path,
			       size);
	return load(e, n ? offset : 0, n * size, t);
}

static int read_head(struct elf *e)
{
	unsigned char head[sizeof(Elf64_Ehdr)] = { 0 };
	ssize_t n = pread(e->fd, head, sizeof(head), 0);

	if (n < 0)
		return discreet(e) ? -1 : err_errno("unable to read %s", e->path);
	e->wide = head[EI_CLASS] == ELFCLASS64;
	e->big = head[EI_DATA] == ELFDATA2MSB;
	if (memcmp(head, ELFMAG, SELFMAG) || (size_t)n < SIZE(e, Ehdr) ||
	    (!e->wide && head[EI_CLASS] != ELFCLASS32) ||
	    (!e->big && head[EI_DATA] != ELFDATA2LSB))
		return discreet(e) ? -1 : err_msg("%s is no program or library (ELF)", e->path);
	n = (ssize_t)FIELD(e, head, Ehdr, e_type);
	if (n != ET_EXEC && n != ET_DYN)
		return discreet(e) ? -1 :
		       err_msg("%s is ELF, but neither a program nor a library", e->path);
	e->machine = (unsigned)FIELD(e, head, Ehdr, e_machine);
	e->segment_size = (unsigned)FIELD(e, head, Ehdr, e_phentsize);
	e->section_size = (unsigned)FIELD(e, head, Ehdr, e_shentsize);
	if (load_table(e, FIELD(e, head, Ehdr, e_phoff), FIELD(e, head, Ehdr, e_phnum),
		       e->segment_size, SIZE(e, Phdr), &e->segments) < 0)
		return -1;
	return load_table(e, FIELD(e, head, Ehdr, e_shoff), FIELD(e, head, Ehdr, e_shnum),
			  e->section_size, SIZE(e, Shdr), &e->sections);
}

/* The next section of the type from *i on, *i behind it; NULL: none. */
static const unsigned char *section(const struct elf *e, unsigned type, uint64_t *i)
{
	while (*i < e->sections.size / (e->section_size ? e->section_size : 1)) {
		const unsigned char *s = e->sections.v + (*i)++ * e->section_size;

		if (FIELD(e, s, Shdr, sh_type) == type)
			return s;
	}
	return NULL;
}

static int load_section(const struct elf *e, const unsigned char *s, struct elf_table *t)
{
	return load(e, FIELD(e, s, Shdr, sh_offset), FIELD(e, s, Shdr, sh_size), t);
}

/* The address' place in the file. 0, or -1, silent: it is no code. */
static int offset_of(const struct elf *e, uint64_t address, uint64_t *offset)
{
	for (uint64_t i = 0; i < e->segments.size; i += e->segment_size) {
		const unsigned char *p = e->segments.v + i;
		uint64_t from = FIELD(e, p, Phdr, p_vaddr);

		if (FIELD(e, p, Phdr, p_type) == PT_LOAD &&
		    FIELD(e, p, Phdr, p_flags) & PF_X && address >= from &&
		    address - from < FIELD(e, p, Phdr, p_filesz)) {
			*offset = address - from + FIELD(e, p, Phdr, p_offset);
			return *offset < e->size ? 0 : -1;
		}
	}
	return -1;
}

/*
 * Return the address of a function's first instruction. On 64-bit PowerPC direct calls
 * skip the instructions that a call through a pointer begins with (ELFv2 ABI).
 */
static uint64_t entry(const struct elf *e, uint64_t value, unsigned other)
{
	if (e->machine == EM_PPC64)
		value += ((1u << (other >> 5 & 7)) >> 2) << 2;
	return value;
}

/* Note whether the function s begins at the wanted offset, by either entry. */
static void compare_place(const struct elf *e, const unsigned char *s, struct found *f)
{
	uint64_t value = FIELD(e, s, Sym, st_value), offset;

	if (ELF64_ST_TYPE(FIELD(e, s, Sym, st_info)) != STT_FUNC ||
	    FIELD(e, s, Sym, st_shndx) == SHN_UNDEF)
		return;
	if (!offset_of(e, value, &offset) && offset == f->offset)
		f->begins = 1;
	value = entry(e, value, (unsigned)FIELD(e, s, Sym, st_other));
	if (!offset_of(e, value, &offset) && offset == f->offset)
		f->begins = 1;
}

/* A library may have several of one name; libc calls the default NAME@@VERSION. */
static int is_named(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return !strncmp(name, wanted, n) && (!name[n] || !strncmp(name + n, "@@", 2));
}

/* hidden: of a version that new programs do not get. */
static void consider(const struct elf *e, const unsigned char *s, int hidden, struct found *f)
{
	unsigned info = (unsigned)FIELD(e, s, Sym, st_info), type = ELF64_ST_TYPE(info);
	int rank = hidden ? 1 : ELF64_ST_BIND(info) == STB_LOCAL ? 2 : 3;
	uint64_t value = FIELD(e, s, Sym, st_value);

	if (FIELD(e, s, Sym, st_shndx) == SHN_UNDEF) {
		f->undefined = 1;
		return;
	}
	if (type == STT_FILE || type == STT_SECTION || type == STT_TLS || rank < f->rank)
		return;
	if (rank == f->rank) {
		f->others += value != f->value;
		return;
	}
	*f = (struct found){ .name = f->name, .rank = rank, .undefined = f->undefined,
			     .type = type, .value = value,
			     .other = (unsigned)FIELD(e, s, Sym, st_other),
			     .size = FIELD(e, s, Sym, st_size) };
}

/* All symbols of the first table of the type. -1 said. */
static int search(struct elf *e, unsigned type, struct elf_table *names, struct found *f,
		  struct suggest *near)
{
	struct elf_table symbols = { 0 }, versions = { 0 };
	uint64_t i = 0, j = 0, number;
	const unsigned char *s = section(e, type, &i), *v = NULL;
	int r = 0;

	if (!s)
		return 0;
	number = FIELD(e, s, Shdr, sh_link);
	if (number >= e->sections.size / e->section_size)
		return discreet(e) ? -1 :
		       err_msg("%s is damaged: its symbols have no names", e->path);
	while (type == SHT_DYNSYM && (v = section(e, SHT_GNU_versym, &j)) &&
	       FIELD(e, v, Shdr, sh_link) != i - 1)
		;
	if (load_section(e, s, &symbols) < 0 ||
	    load_section(e, e->sections.v + number * e->section_size, names) < 0 ||
	    (v && load_section(e, v, &versions) < 0))
		r = -1;
	for (i = 1; !r && i < symbols.size / SIZE(e, Sym); i++) {
		const char *name;

		s = symbols.v + i * SIZE(e, Sym);
		if (!f->name) {
			compare_place(e, s, f);
			continue;
		}
		number = FIELD(e, s, Sym, st_name);
		if (!number || number >= names->size)
			continue;
		name = (const char *)names->v + number;
		if (is_named(name, f->name))
			consider(e, s, 2 * i + 2 <= versions.size &&
				 get(e, versions.v + 2 * i, 2) & 0x8000, f);
		else if (ELF64_ST_TYPE(FIELD(e, s, Sym, st_info)) == STT_FUNC &&
			 FIELD(e, s, Sym, st_shndx) != SHN_UNDEF)
			suggest_offer(near, name);
	}
	free(symbols.v);
	free(versions.v);
	return r;
}

static int none_of_that_name(const struct elf *e, const char *name, const struct found *f,
			     const struct suggest *near)
{
	uint64_t i = 0, j = 0;

	if (f->undefined)
		return err_msg("%s only calls '%.80s', which a library defines: probe that one",
			       e->path, name);
	if (!section(e, SHT_SYMTAB, &i) && !section(e, SHT_DYNSYM, &j))
		return err_msg("%s is stripped, it has no symbols: give it as FILE:OFFSET",
			       e->path);
	if (!near->n)
		return err_msg("%s has no function '%.80s'%s", e->path, name,
			       i < e->sections.size / e->section_size || !j ? "" :
			       "; it is stripped, only what it exports has a name");
	return err_msg("%s has no function '%.80s'; is it %s%s%s%s%s?", e->path, name,
		       near->name[0], near->n > 1 ? ", " : "", near->n > 1 ? near->name[1] : "",
		       near->n > 2 ? ", " : "", near->n > 2 ? near->name[2] : "");
}

static int place_of(const struct elf *e, const char *name, uint64_t into,
		    const struct found *f, const struct suggest *near, struct elf_location *place)
{
	if (!f->rank)
		return none_of_that_name(e, name, f, near);
	if (f->others)
		return err_msg("%s has %u functions '%s': give one as FILE:OFFSET", e->path,
			       f->others + 1, name);
	if (f->type == STT_GNU_IFUNC)
		return err_msg("%s has several versions of '%s' and chooses one when it is "
			       "loaded (IFUNC): probe that one", e->path, name);
	if (e->machine == EM_ARM && f->value & 1)
		return err_msg("'%s' of %s is Thumb code, which Linux cannot probe", name,
			       e->path);
	if ((f->type != STT_FUNC && f->type != STT_NOTYPE) ||
	    offset_of(e, entry(e, f->value, f->other), &place->offset) < 0)
		return err_msg("'%s' of %s is no code", name, e->path);
	if (!f->size)
		return err_msg("'%s' of %s has no size, it may be no function; its place is "
			       "%s:%llu", name, e->path, e->path,
			       (unsigned long long)place->offset);
	if (into >= f->size)
		return err_msg("'%s' of %s has only %llu bytes", name, e->path,
			       (unsigned long long)f->size);
	place->offset += into;
	place->machine = e->machine;
	place->wide = e->wide;
	return 0;
}

/* Search both symbol tables of the file for f. 0 with *e to close, or -1 said. */
static int look_up(struct elf *e, const char *path, int discreetly, struct found *f,
		   struct suggest *near)
{
	struct stat st;

	*e = (struct elf){ .path = path, .discreet = discreetly,
			   .fd = file_open(path, FILE_REGULAR, O_RDONLY, &st) };
	if (e->fd == FILE_OTHER)
		return discreet(e) ? -1 : err_msg("%s is not a regular file", path);
	if (e->fd < 0)
		return discreet(e) ? -1 : err_errno("unable to open %s", path);
	e->size = (uint64_t)st.st_size;
	if (read_head(e) < 0 || search(e, SHT_SYMTAB, &e->names[0], f, near) < 0 ||
	    search(e, SHT_DYNSYM, &e->names[1], f, near) < 0)
		return -1;
	return 0;
}

static void let_go(struct elf *e)
{
	free(e->names[0].v);
	free(e->names[1].v);
	free(e->segments.v);
	free(e->sections.v);
	if (e->fd >= 0)
		close(e->fd);
}

int elf_symbol(const char *path, const char *name, uint64_t into, struct elf_location *place)
{
	struct suggest near = { .word = name };
	struct found f = { .name = name };
	struct elf e;
	int r = look_up(&e, path, place->discreet, &f, &near);

	if (!r)
		r = place_of(&e, name, into, &f, &near, place);
	let_go(&e);
	return r;
}

int elf_function_at(const char *path, uint64_t offset, struct elf_location *place)
{
	struct found f = { .offset = offset };
	struct elf e;
	int r = look_up(&e, path, place->discreet, &f, NULL);

	if (!r)
		*place = (struct elf_location){ .offset = offset, .machine = e.machine,
					     .wide = e.wide };
	let_go(&e);
	return r < 0 ? -1 : f.begins;
}
