/* SPDX-License-Identifier: ISC */
/*
 * elf.c - find functions and USDT probes of a program or library, by name or by place
 *
 * A probe in user space needs the offset of a function in its file. The symbol gives an
 * address, and the program header that maps this address gives the offset. The code reads
 * both ELF classes and both byte orders on every host. It checks every number of a file
 * against the file's size before using it.
 */
#include <elf.h>
#include <sys/stat.h>

#include "base/base.h"
#include "proc/proc.h"
#include "elf/elf.h"

/*
 * No real symbol table has more bytes, but a sparse file may claim so. SILENT_MOST is for files of
 * traced programs, of which a tool may read many.
 */
enum { MOST = 1 << 30, SILENT_MOST = 1 << 27, FRAMES_MOST = 1 << 26 };

/* The bytes and symbols that are read at once. */
enum { CHUNK = 1 << 20, WINDOW = 8192 };

/* For struct elf: report nothing. */
enum { SILENT = 2 };

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
	unsigned segment_size, section_size, section_names;
	struct elf_table names[2]; /* of .symtab and .dynsym; messages may quote them */
};

/* Return the number of n bytes at p, in the byte order of the file. */
static uint64_t number_at(const struct elf *e, const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[e->big ? i : n - 1 - i];
	return v;
}

/* The size of a record, and a field of the record at p, in the class of the file. */
#define SIZE(e, type) ((e)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define FIELD(e, p, type, field) \
	((e)->wide ? number_at(e, (p) + offsetof(Elf64_##type, field), \
			       sizeof(((Elf64_##type *)0)->field)) \
		   : number_at(e, (p) + offsetof(Elf32_##type, field), \
			       sizeof(((Elf32_##type *)0)->field)))

/*
 * Report the message, with reason unless it is NULL. If the caller must not learn anything about
 * the file, report the one message that stands for all, and nothing if e is silent. Return -1.
 */
__attribute__((format(printf, 3, 4)))
static int fail(const struct elf *e, const char *reason, const char *fmt, ...)
{
	va_list ap;

	if (e->discreet == SILENT)
		return -1;
	if (e->discreet)
		return err_msg("%s is not a program or library that can be probed", e->path);
	va_start(ap, fmt);
	err_vmsg(fmt, ap, reason);
	va_end(ap);
	return -1;
}

/* Fail if the file cannot have a table of n bytes at the offset. Return 0, or -1, reported. */
static int check_table(const struct elf *e, uint64_t offset, uint64_t n)
{
	if (offset > e->size || n > e->size - offset)
		return fail(e, NULL, "%s is damaged: a table lies after the end of the file",
			    e->path);
	if (n > (e->discreet == SILENT ? SILENT_MOST : MOST))
		return fail(e, NULL, "%s has a table of more than a gigabyte", e->path);
	return 0;
}

struct part {
	char path[64];
	uint64_t offset;
	size_t n;
};

/* Read a part of a file: a stranger_fn. */
static void read_part(const void *question, struct stranger_answer *a)
{
	struct part p;
	struct stat st;
	ssize_t n = -1;
	int fd;

	memcpy(&p, question, sizeof(p));
	fd = stranger_open(p.path, &st);
	a->part[0] = malloc(p.n);
	if (fd >= 0 && a->part[0])
		n = pread(fd, a->part[0], p.n, (off_t)p.offset);
	a->error = n < 0 ? errno : 0;
	a->size[0] = n < 0 ? 0 : (size_t)n;
	fd_close(fd);
}

/*
 * Read as pread does. If e is silent, this process is a helper that may be abandoned, and reads the
 * file itself. Otherwise, ask a helper, because the file's server may fall silent at any time.
 */
static ssize_t read_at(const struct elf *e, void *to, size_t n, uint64_t offset)
{
	struct part p = { .offset = offset, .n = n };
	struct stranger_answer a;
	ssize_t got = -1;
	int error;

	if (e->discreet == SILENT)
		return pread(e->fd, to, n, (off_t)offset);
	str_format(p.path, sizeof(p.path), "%s/%d/fd/%d", path_procfs(), task_self(), e->fd);
	if (stranger_ask(read_part, &p, sizeof(p), 0, &a) < 0) {
		a.error = EHOSTDOWN;
	} else if (!a.error && a.size[0] <= n) {
		memcpy(to, a.part[0], a.size[0]);
		got = (ssize_t)a.size[0];
	}
	error = a.error;
	stranger_free(&a);
	errno = error;
	return got;
}

/* Load n bytes of the file, and append a NUL. Return 0, or -1, reported. */
static int load(const struct elf *e, uint64_t offset, uint64_t n, struct elf_table *t)
{
	uint64_t at = 0;

	if (check_table(e, offset, n) < 0)
		return -1;
	t->v = malloc((size_t)n + 1);
	if (!t->v)
		return err_msg("out of memory");
	for (t->size = n; at < n;) {
		size_t part = (size_t)(n - at < CHUNK ? n - at : CHUNK);
		ssize_t got = read_at(e, t->v + at, part, offset + at);

		stranger_step();
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(t->v);
			t->v = NULL;
			return fail(e, strerror(errno), "unable to read %s", e->path);
		}
		at += (uint64_t)got;
	}
	t->v[n] = '\0';
	return 0;
}

/* Load a table of n records of size bytes each. Fail if size is less than least. */
static int load_table(const struct elf *e, uint64_t offset, uint64_t n, unsigned size,
		      size_t least, struct elf_table *t)
{
	if (n && size < least)
		return fail(e, NULL, "%s is damaged: a table has records of %u bytes", e->path,
			    size);
	return load(e, n ? offset : 0, n * size, t);
}

/*
 * Set *offset to the file offset of the address. Return 0, or -1, silent, if the address is
 * not in a segment with this flag, PF_X or PF_W.
 */
static int segment_offset(const struct elf *e, uint64_t address, unsigned flag, uint64_t *offset)
{
	for (uint64_t i = 0; i < e->segments.size; i += e->segment_size) {
		const unsigned char *p = e->segments.v + i;
		uint64_t from = FIELD(e, p, Phdr, p_vaddr);

		if (FIELD(e, p, Phdr, p_type) == PT_LOAD &&
		    FIELD(e, p, Phdr, p_flags) & flag && address >= from &&
		    address - from < FIELD(e, p, Phdr, p_filesz)) {
			*offset = address - from + FIELD(e, p, Phdr, p_offset);
			return *offset < e->size ? 0 : -1;
		}
	}
	return -1;
}

/* Append a section. Link it with the second section, the names of the symbols. */
static void add_section(struct elf *e, unsigned type, uint64_t address, uint64_t size)
{
	unsigned char *s = e->sections.v + e->sections.size;
	uint64_t offset = 0;
	int known = address && !segment_offset(e, address, PF_R, &offset);
	const struct { size_t at, n; uint64_t v; } fields[] = {
		{ offsetof(Elf64_Shdr, sh_type), 4, known ? type : SHT_NULL },
		{ offsetof(Elf64_Shdr, sh_offset), 8, offset },
		{ offsetof(Elf64_Shdr, sh_size), 8, size },
		{ offsetof(Elf64_Shdr, sh_link), 4, 1 },
	};
	for (size_t f = 0; f < sizeof(fields) / sizeof(*fields); f++)
		for (size_t i = 0; i < fields[f].n; i++)
			s[fields[f].at + (e->big ? fields[f].n - 1 - i : i)] =
				(unsigned char)(fields[f].v >> 8 * i);
	e->sections.size += sizeof(Elf64_Shdr);
}

/*
 * Make a table of sections for a file that has none, from the symbols and relocations that the
 * loader finds by the dynamic segment. Return 0, or -1, reported.
 */
static int make_sections(struct elf *e)
{
	/* the table of symbols has no size, but another table begins after it */
	enum { SYMBOLS, NAMES, HASH, GNU_HASH, VERSIONS, RELA, TABLES, PLT = TABLES,
	       NAMES_SIZE, RELA_SIZE, PLT_SIZE, ENTRIES };
	static const uint64_t tags[] = { DT_SYMTAB, DT_STRTAB, DT_HASH, DT_GNU_HASH, DT_VERSYM,
		DT_RELA, DT_JMPREL, DT_STRSZ, DT_RELASZ, DT_PLTRELSZ };
	uint64_t v[ENTRIES] = { 0 }, end = UINT64_MAX;
	struct elf_table all = { 0 };

	for (uint64_t i = 0; i < e->segments.size && !all.v; i += e->segment_size) {
		const unsigned char *p = e->segments.v + i;

		if (FIELD(e, p, Phdr, p_type) == PT_DYNAMIC &&
		    load(e, FIELD(e, p, Phdr, p_offset), FIELD(e, p, Phdr, p_filesz), &all) < 0)
			return -1;
	}
	for (uint64_t at = 0; all.size - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn))
		for (size_t i = 0; i < ENTRIES; i++)
			if (FIELD(e, all.v + at, Dyn, d_tag) == tags[i])
				v[i] = FIELD(e, all.v + at, Dyn, d_un);
	free(all.v);
	for (size_t i = NAMES; i < TABLES; i++)
		if (v[i] > v[SYMBOLS] && v[i] < end)
			end = v[i];
	e->sections.v = calloc(4, sizeof(Elf64_Shdr));
	if (!e->sections.v)
		return err_msg("out of memory");
	e->section_size = sizeof(Elf64_Shdr);
	add_section(e, SHT_DYNSYM, v[SYMBOLS], end - v[SYMBOLS]);
	add_section(e, SHT_STRTAB, v[NAMES], v[NAMES_SIZE]);
	add_section(e, SHT_RELA, v[RELA], v[RELA_SIZE]);
	add_section(e, SHT_RELA, v[PLT], v[PLT_SIZE]);
	return 0;
}

static int read_head(struct elf *e)
{
	unsigned char head[sizeof(Elf64_Ehdr)] = { 0 };
	ssize_t n = read_at(e, head, sizeof(head), 0);

	if (n < 0)
		return fail(e, strerror(errno), "unable to read %s", e->path);
	e->wide = head[EI_CLASS] == ELFCLASS64;
	e->big = head[EI_DATA] == ELFDATA2MSB;
	if (memcmp(head, ELFMAG, SELFMAG) || (size_t)n < SIZE(e, Ehdr) ||
	    (!e->wide && head[EI_CLASS] != ELFCLASS32) ||
	    (!e->big && head[EI_DATA] != ELFDATA2LSB))
		return fail(e, NULL, "%s is not a program or library (ELF)", e->path);
	n = (ssize_t)FIELD(e, head, Ehdr, e_type);
	if (n != ET_EXEC && n != ET_DYN)
		return fail(e, NULL, "%s is ELF, but neither a program nor a library", e->path);
	e->machine = (unsigned)FIELD(e, head, Ehdr, e_machine);
	e->segment_size = (unsigned)FIELD(e, head, Ehdr, e_phentsize);
	e->section_size = (unsigned)FIELD(e, head, Ehdr, e_shentsize);
	e->section_names = (unsigned)FIELD(e, head, Ehdr, e_shstrndx);
	if (load_table(e, FIELD(e, head, Ehdr, e_phoff), FIELD(e, head, Ehdr, e_phnum),
		       e->segment_size, SIZE(e, Phdr), &e->segments) < 0)
		return -1;
	if (e->wide && !FIELD(e, head, Ehdr, e_shnum))
		return make_sections(e);
	return load_table(e, FIELD(e, head, Ehdr, e_shoff), FIELD(e, head, Ehdr, e_shnum),
			  e->section_size, SIZE(e, Shdr), &e->sections);
}

static uint64_t section_count(const struct elf *e)
{
	return e->sections.size / (e->section_size ? e->section_size : 1);
}

/* Return the next section of the type from index *i on, and set *i after it, or NULL. */
static const unsigned char *section(const struct elf *e, unsigned type, uint64_t *i)
{
	while (*i < section_count(e)) {
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

/*
 * Set *found to the section of this type and name, or to NULL if there is none. Return 0, or -1,
 * reported.
 */
static int named_section(const struct elf *e, unsigned type, const char *name,
			 const unsigned char **found)
{
	struct elf_table names = { 0 };
	uint64_t i = 0;
	const unsigned char *s = NULL;

	*found = NULL;
	if (e->section_names >= section_count(e))
		return 0;
	if (load_section(e, e->sections.v + e->section_names * e->section_size, &names) < 0)
		return -1;
	while (!*found && (s = section(e, type, &i)))
		if (FIELD(e, s, Shdr, sh_name) < names.size &&
		    !strcmp((char *)names.v + FIELD(e, s, Shdr, sh_name), name))
			*found = s;
	free(names.v);
	return 0;
}

/* Set *offset to the file offset of the address. Return 0, or -1, silent, if it is not code. */
static int offset_of(const struct elf *e, uint64_t address, uint64_t *offset)
{
	return segment_offset(e, address, PF_X, offset);
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

/* A symbol of a table. */
struct symbol {
	const char *name;       /* "": none */
	uint32_t name_at;       /* in the table of names */
	unsigned type, other;
	uint64_t index;
	int defined, local, hidden; /* hidden: a version that new programs do not get */
	uint64_t value, size;
};

typedef void symbol_fn(const struct elf *, const struct symbol *, void *);

static struct symbol read_symbol(const struct elf *e, const unsigned char *s,
				 const struct elf_table *names)
{
	unsigned info = (unsigned)FIELD(e, s, Sym, st_info);
	uint64_t name = FIELD(e, s, Sym, st_name);

	return (struct symbol){
		.name = name && name < names->size ? (const char *)names->v + name : "",
		.name_at = (uint32_t)name,
		.type = ELF64_ST_TYPE(info),
		.other = (unsigned)FIELD(e, s, Sym, st_other),
		.defined = FIELD(e, s, Sym, st_shndx) != SHN_UNDEF,
		.local = ELF64_ST_BIND(info) == STB_LOCAL,
		.value = FIELD(e, s, Sym, st_value),
		.size = FIELD(e, s, Sym, st_size),
	};
}

/* Some symbols of a table: the n from number `first` on. */
struct window {
	uint64_t first, n, offset;
	const unsigned char *versions; /* the section of their versions, or NULL */
};

/* Call fn for each symbol of the window but symbol 0. Return 0, or -1, reported. */
static int each_in_window(const struct elf *e, const struct window *w,
			  const struct elf_table *names, symbol_fn *fn, void *arg)
{
	struct elf_table symbols = { 0 }, versions = { 0 };
	uint64_t all = w->versions ? FIELD(e, w->versions, Shdr, sh_size) / 2 : 0;
	uint64_t n = all < w->first ? 0 : all - w->first < w->n ? all - w->first : w->n;
	int r = load(e, w->offset + w->first * SIZE(e, Sym), w->n * SIZE(e, Sym), &symbols);

	if (!r && n)
		r = load(e, FIELD(e, w->versions, Shdr, sh_offset) + 2 * w->first, 2 * n,
			 &versions);
	for (uint64_t i = !w->first; !r && i < w->n; i++) {
		struct symbol one = read_symbol(e, symbols.v + i * SIZE(e, Sym), names);

		one.index = w->first + i;
		one.hidden = i < n && number_at(e, versions.v + 2 * i, 2) & 0x8000;
		fn(e, &one, arg);
	}
	free(symbols.v);
	free(versions.v);
	return r;
}

/*
 * Load the names of the first symbol table of the type, and call fn for each symbol. The names stay
 * until elf_close. Return 0, or -1, reported.
 */
static int each_symbol(const struct elf *e, unsigned type, struct elf_table *names, symbol_fn *fn,
		       void *arg)
{
	uint64_t i = 0, j = 0, linked, n, offset, size = SIZE(e, Sym);
	const unsigned char *s = section(e, type, &i), *v = NULL;
	int r = 0;

	if (!s)
		return 0;
	linked = FIELD(e, s, Shdr, sh_link);
	if (linked >= section_count(e))
		return fail(e, NULL, "%s is damaged: its symbols have no names", e->path);
	while (type == SHT_DYNSYM && (v = section(e, SHT_GNU_versym, &j)) &&
	       FIELD(e, v, Shdr, sh_link) != i - 1)
		;
	offset = FIELD(e, s, Shdr, sh_offset);
	n = FIELD(e, s, Shdr, sh_size);
	if (check_table(e, offset, n) < 0 ||
	    load_section(e, e->sections.v + linked * e->section_size, names) < 0 ||
	    (v && check_table(e, FIELD(e, v, Shdr, sh_offset), FIELD(e, v, Shdr, sh_size)) < 0))
		return -1;
	n /= size;
	for (uint64_t at = 0; !r && at < n; at += WINDOW)
		r = each_in_window(e, &(struct window){
			.first = at, .n = n - at < WINDOW ? n - at : WINDOW, .offset = offset,
			.versions = v }, names, fn, arg);
	return r;
}

/* A search for a function by its place. */
struct place {
	uint64_t offset;
	int begins;             /* a function begins there, by either entry */
};

static void compare_offset(const struct elf *e, const struct symbol *s, void *arg)
{
	struct place *p = arg;
	uint64_t offset;

	if (s->type == STT_FUNC && s->defined)
		p->begins |= (!offset_of(e, s->value, &offset) && offset == p->offset) ||
			     (!offset_of(e, entry(e, s->value, s->other), &offset) &&
			      offset == p->offset);
}

/* A search for the best symbol of a name. */
struct found {
	const char *name;
	struct suggest near;
	int rank;               /* 0: nothing found; the highest rank wins */
	int undefined;          /* the file uses the name without defining it */
	struct symbol symbol;
	unsigned others;        /* symbols of the same rank at another address */
};

/*
 * Is the symbol's name the wanted one? A library may have several versions of a name;
 * libc calls the default version NAME@@VERSION.
 */
static int is_named(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return !strncmp(name, wanted, n) && (!name[n] || !strncmp(name + n, "@@", 2));
}

/*
 * Note the symbol if it is better than the one found so far. A global symbol is better than a
 * local one, and a hidden version is the worst.
 */
static void compare_name(const struct elf *e, const struct symbol *s, void *arg)
{
	int rank = s->hidden ? 1 : s->local ? 2 : 3;
	struct found *f = arg;

	(void)e;
	if (!*s->name)
		return;
	if (!is_named(s->name, f->name)) {
		if (s->type == STT_FUNC && s->defined)
			suggest_offer(&f->near, s->name);
	} else if (!s->defined) {
		f->undefined = 1;
	} else if (s->type == STT_FILE || s->type == STT_SECTION || s->type == STT_TLS) {
		;
	} else if (rank == f->rank) {
		f->others += s->value != f->symbol.value;
	} else if (rank > f->rank) {
		f->rank = rank;
		f->symbol = *s;
		f->others = 0;
	}
}

/* Add a function, unless its size is not known. */
static void add_function(const struct elf *e, const struct symbol *s, void *arg)
{
	struct elf_functions *all = arg;
	struct elf_function f = {
		.name = s->name_at, .size = (uint32_t)s->size,
		/* a global name, without underscores */
		.rank = !s->local * 4 - (*s->name == '_') - !strncmp(s->name, "__", 2),
	};

	/* bit 0 says that the function is Thumb code */
	if (!*s->name || s->type != STT_FUNC || !s->defined || !s->size || f.size != s->size ||
	    offset_of(e, e->machine == EM_ARM ? s->value & ~1ull : s->value, &f.from) < 0)
		return;
	all->v = xgrow(all->v, all->n, &all->room, sizeof(f));
	all->v[all->n++] = f;
}

/* Report why the file has no symbol of this name. Return -1. */
static int report_missing(const struct elf *e, const struct found *f)
{
	uint64_t i = 0, j = 0;
	const unsigned char *all = section(e, SHT_SYMTAB, &i);
	const unsigned char *exported = section(e, SHT_DYNSYM, &j);

	if (f->undefined)
		return err_msg("%s only calls '%.80s'; probe the library that defines it",
			       e->path, f->name);
	if (!all && !exported)
		return err_msg("%s is stripped and has no symbols; give the function as "
			       "FILE:OFFSET", e->path);
	if (!all && !f->near.n)
		return err_msg("%s has no function '%.80s'; the file is stripped, so only exported "
			       "functions have names", e->path, f->name);
	return err_msg("%s has no function '%.80s'%s%s", e->path, f->name, f->near.n ? "; " : "",
		       suggest_remedy(&f->near, ""));
}

/* Set *location to the byte at offset `into` of the found symbol. Return 0, or -1, reported. */
static int locate(const struct elf *e, uint64_t into, const struct found *f,
		  struct elf_location *location)
{
	const struct symbol *s = &f->symbol;

	if (!f->rank)
		return report_missing(e, f);
	if (f->others)
		return err_msg("%s has %u functions '%s': give one as FILE:OFFSET", e->path,
			       f->others + 1, f->name);
	if (s->type == STT_GNU_IFUNC)
		return err_msg("%s has several versions of '%s' and chooses one when it is "
			       "loaded (IFUNC); probe one of the versions", e->path, f->name);
	if (e->machine == EM_ARM && s->value & 1)
		return err_msg("'%s' of %s is Thumb code, which Linux cannot probe", f->name,
			       e->path);
	if ((s->type != STT_FUNC && s->type != STT_NOTYPE) ||
	    offset_of(e, entry(e, s->value, s->other), &location->offset) < 0)
		return err_msg("'%s' of %s is not code; name a function", f->name, e->path);
	if (!s->size)
		return err_msg("'%s' of %s has no size and may not be a function; its place is "
			       "%s:%llu", f->name, e->path, e->path,
			       (unsigned long long)location->offset);
	if (into >= s->size)
		return err_msg("'%s' of %s has only %llu bytes", f->name, e->path,
			       (unsigned long long)s->size);
	location->offset += into;
	location->machine = e->machine;
	location->wide = e->wide;
	return 0;
}

/* The state of a file: a change of the file changes it. */
struct state {
	uint64_t size;
	struct timespec modified;
};

/*
 * Open a file, read a byte, and close it, because any of these may ask the file's server: a
 * stranger_fn. Answer the file's state and a descriptor that asks no server (O_PATH).
 */
static void try_file(const void *path, struct stranger_answer *a)
{
	struct state *s = xcalloc(1, sizeof(*s));
	struct stat st;
	int fd = stranger_open(path, &st), known;
	char byte, link[64];

	a->part[0] = s;
	if (fd < 0 || read(fd, &byte, 1) < 0) {
		a->error = fd == FILE_OTHER ? FILE_OTHER : errno;
		fd_close(fd);
		return;
	}
	*s = (struct state){ (uint64_t)st.st_size, st.st_mtim };
	a->size[0] = sizeof(*s);
	str_format(link, sizeof(link), "%s/self/fd/%d", path_procfs(), fd);
	known = open(link, O_PATH | O_CLOEXEC);
	a->error = known < 0 ? errno : 0;
	a->fd = known < 0 ? 0 : known;
	close(fd);
}

/*
 * Set *s to the state of a file whose server answers, and *fd, unless fd is NULL, to an O_PATH
 * descriptor of the file. Return 0, or FILE_OTHER or -1 and errno as file_open does, silent.
 */
static int look_at(const char *path, struct state *s, int *fd)
{
	char whole[PATH_MAX], here[PATH_MAX] = "";
	struct stranger_answer a;
	int r = 0, error = EHOSTDOWN;

	if (*path != '/' && !getcwd(here, sizeof(here)))
		return -1;
	str_format(whole, sizeof(whole), "%s%s%s", here, *here ? "/" : "", path);
	if (!stranger_ask(try_file, whole, strlen(whole) + 1, 0, &a))
		error = a.error;
	if (error || a.size[0] != sizeof(*s) || !a.fd) {
		r = error == FILE_OTHER ? FILE_OTHER : -1;
	} else {
		memcpy(s, a.part[0], sizeof(*s));
		if (fd) {
			*fd = a.fd;
			a.fd = 0;
		}
	}
	stranger_free(&a);
	errno = error;
	return r;
}

int elf_file_open(struct elf_file *file, const char *path, const char *name, int discreet)
{
	const struct elf e = { .path = name, .discreet = discreet };
	struct state s = { 0 };
	int r;

	*file = (struct elf_file){ .path = name, .discreet = discreet, .fd = -1 };
	r = look_at(path, &s, &file->fd);
	if (r == FILE_OTHER)
		return fail(&e, NULL, "%s is not a regular file", name);
	if (r < 0)
		return fail(&e, strerror(errno), "unable to open %s", name);
	file->size = s.size;
	file->modified = s.modified;
	return 0;
}

int elf_file_is_unchanged(const struct elf_file *file)
{
	char path[PATH_MAX];
	struct state s;

	str_format(path, sizeof(path), "%s/%d/fd/%d", path_procfs(), task_self(), file->fd);
	return !look_at(path, &s, NULL) && s.size == file->size &&
	       s.modified.tv_sec == file->modified.tv_sec &&
	       s.modified.tv_nsec == file->modified.tv_nsec;
}

/* Begin to read the file. Return 0, or -1, reported. The caller calls elf_close in both cases. */
static int elf_open(struct elf *e, const struct elf_file *file)
{
	*e = (struct elf){ .path = file->path, .discreet = file->discreet, .fd = file->fd,
			   .size = file->size };
	return read_head(e);
}

/* Do as elf_open, and then call fn for all symbols of both tables. */
static int elf_search(struct elf *e, const struct elf_file *file, symbol_fn *fn, void *arg)
{
	if (elf_open(e, file) < 0 || each_symbol(e, SHT_SYMTAB, &e->names[0], fn, arg) < 0)
		return -1;
	return each_symbol(e, SHT_DYNSYM, &e->names[1], fn, arg);
}

static void elf_close(struct elf *e)
{
	free(e->names[0].v);
	free(e->names[1].v);
	free(e->segments.v);
	free(e->sections.v);
}

int elf_symbol(const struct elf_file *file, const char *name, uint64_t into,
	       struct elf_location *location)
{
	struct found f = { .name = name, .near.word = name };
	struct elf e;
	int r = elf_search(&e, file, compare_name, &f);

	if (!r)
		r = locate(&e, into, &f, location);
	elf_close(&e);
	return r;
}

int elf_function_at(const struct elf_file *file, uint64_t offset, struct elf_location *location)
{
	struct place p = { .offset = offset };
	struct elf e;
	int r = elf_search(&e, file, compare_offset, &p);

	if (!r)
		*location = (struct elf_location){ .offset = offset, .machine = e.machine,
						   .wide = e.wide };
	elf_close(&e);
	return r < 0 ? -1 : p.begins;
}

/* Compare functions by their place. At the same place, the better name comes last. */
static int by_place(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	return x->from != y->from ? x->from < y->from ? -1 : 1 : x->rank - y->rank;
}

void elf_functions(int fd, uint64_t size, struct elf_functions *f)
{
	struct elf e = { .path = "", .discreet = SILENT, .fd = fd, .size = size };
	int dynamic = 0;

	*f = (struct elf_functions){ 0 };
	if (!read_head(&e) &&
	    (each_symbol(&e, SHT_SYMTAB, &e.names[0], add_function, f) < 0 || !f->n)) {
		dynamic = 1;
		each_symbol(&e, SHT_DYNSYM, &e.names[1], add_function, f);
	}
	f->names = (char *)e.names[dynamic].v;
	f->names_size = e.names[dynamic].size;
	e.names[dynamic].v = NULL;
	if (f->n)
		array_sort(f->v, f->n, sizeof(*f->v), by_place);
	elf_close(&e);
}

const char *elf_function_around(const struct elf_functions *f, uint64_t offset, uint64_t *into)
{
	size_t low = 0, high = f->n, mid;

	while (low < high) { /* find the first function after the offset */
		mid = low + (high - low) / 2;
		if (f->v[mid].from > offset)
			high = mid;
		else
			low = mid + 1;
	}
	/* a function may lie inside another one */
	for (high = low < 8 ? 0 : low - 8; low-- > high;) {
		*into = offset - f->v[low].from;
		if (*into < f->v[low].size)
			return f->names + f->v[low].name;
	}
	return NULL;
}

/*
 * Return the address of .eh_frame, and the bytes that it has at most in *size. The loader knows it
 * by its index, which has no size, and to which all linkers write this form of a pointer. 0: none.
 */
static uint64_t frames_address(const struct elf *e, uint64_t *size)
{
	uint64_t address = 0, i = 0;
	const unsigned char *s = NULL;
	unsigned char head[8];

	for (; i < e->segments.size; i += e->segment_size) {
		const unsigned char *p = e->segments.v + i;

		if (FIELD(e, p, Phdr, p_type) == PT_GNU_EH_FRAME &&
		    pread(e->fd, head, 8, (off_t)FIELD(e, p, Phdr, p_offset)) == 8 &&
		    head[0] == 1 && head[1] == 0x1b) /* version 1; relative to itself, signed */
			address = FIELD(e, p, Phdr, p_vaddr) + 4 +
				  (uint64_t)(int32_t)number_at(e, head + 4, 4);
	}
	*size = FRAMES_MOST;
	for (i = 0; i < section_count(e) && address; i++) {
		s = e->sections.v + i * e->section_size;
		if (FIELD(e, s, Shdr, sh_addr) == address && FIELD(e, s, Shdr, sh_size)) {
			*size = FIELD(e, s, Shdr, sh_size);
			return address;
		}
	}
	if (!address && !named_section(e, SHT_PROGBITS, ".eh_frame", &s) && s) {
		*size = FIELD(e, s, Shdr, sh_size);
		address = FIELD(e, s, Shdr, sh_addr);
	}
	return address;
}

static int code_offset(const void *e, uint64_t address, uint64_t *offset)
{
	return offset_of(e, address, offset);
}

void elf_unwind_read(int fd, uint64_t size, struct elf_unwind *u)
{
	struct elf e = { .path = "", .discreet = SILENT, .fd = fd, .size = size };
	struct elf_unwind_head h;
	struct elf_table t = { 0 };
	uint64_t offset, n;

	*u = (struct elf_unwind){ 0 };
	if (!read_head(&e) && e.wide && !e.big &&
	    (e.machine == EM_X86_64 || e.machine == EM_AARCH64) &&
	    (h.address = frames_address(&e, &n)) &&
	    !segment_offset(&e, h.address, PF_R, &offset) && offset >= sizeof(h)) {
		h.machine = e.machine;
		h.address -= sizeof(h);
		/* read the bytes before it, too: the place of the head */
		n = n < size - offset ? n : size - offset;
		if (n <= FRAMES_MOST && !load(&e, offset - sizeof(h), n + sizeof(h), &t)) {
			memcpy(t.v, &h, sizeof(h));
			u->bytes = t.v;
			u->size = (size_t)t.size;
			elf_unwind_index(u, code_offset, &e);
			if (!u->n) {
				free(u->bytes);
				u->bytes = NULL;
				u->size = 0;
			}
		}
	}
	elf_close(&e);
}

/*
 * Thread-local variables: the models of "ELF Handling For Thread-Local Storage". The thread pointer
 * is at the end of a program's block on x86-64, and two words before it on arm64.
 */

/* For each machine: the relocations that put one or two words about a variable into a program. */
static const struct {
	unsigned machine, offset, module, desc;
} tls_kinds[] = {
	{ EM_X86_64, R_X86_64_TPOFF64, R_X86_64_DTPMOD64, R_X86_64_TLSDESC },
	{ EM_AARCH64, R_AARCH64_TLS_TPREL, R_AARCH64_TLS_DTPMOD, R_AARCH64_TLSDESC },
};

/* A search for a variable. */
struct variable {
	const char *name;
	struct symbol symbol;
};

static void compare_variable(const struct elf *e, const struct symbol *s, void *arg)
{
	struct variable *v = arg;

	(void)e;
	if (s->type == STT_TLS && !strcmp(s->name, v->name))
		v->symbol = *s;
}

/* Return the offset from the thread pointer of a variable that the program defines. */
static int64_t own_offset(const struct elf *e, const unsigned char *tls, uint64_t value)
{
	uint64_t align = FIELD(e, tls, Phdr, p_align), at = FIELD(e, tls, Phdr, p_vaddr);
	uint64_t size = FIELD(e, tls, Phdr, p_memsz);

	align = align ? align : 1;
	if (e->machine == EM_X86_64)
		return (int64_t)(value - size - ((0 - at - size) & (align - 1)));
	return e->machine == EM_AARCH64 ? (int64_t)(value + 16 + ((at - 16) & (align - 1))) : 0;
}

/* Fill in the code, the loader and the offset of a defined variable, from the program headers. */
static void read_segments(const struct elf *e, const struct symbol *s, struct elf_tls *t)
{
	for (uint64_t i = 0; i < e->segments.size; i += e->segment_size) {
		const unsigned char *p = e->segments.v + i;
		uint64_t type = FIELD(e, p, Phdr, p_type), offset = FIELD(e, p, Phdr, p_offset);
		char path[32] = "";

		if (type == PT_LOAD && FIELD(e, p, Phdr, p_flags) & PF_X && !t->code_end) {
			t->code = FIELD(e, p, Phdr, p_vaddr) - offset;
			t->code_from = offset;
			t->code_end = offset + FIELD(e, p, Phdr, p_filesz);
		}
		if (type == PT_TLS && s->defined)
			t->offset = own_offset(e, p, s->value);
		if (type == PT_INTERP && pread(e->fd, path, sizeof(path) - 1, (off_t)offset) > 0)
			t->loader = strstr(path, "ld-musl") ? ELF_MUSL : ELF_GLIBC;
	}
}

/*
 * Take the relocation if it is about the variable. If none is, take one about the block of the file
 * that defines the variable: code by the local-dynamic model has such a relocation, and so has a
 * library that uses only its own variables.
 */
static void take_relocation(const struct elf *e, const unsigned char *r, const struct symbol *s,
			    struct elf_tls *t)
{
	uint64_t info = FIELD(e, r, Rela, r_info), about = ELF64_R_SYM(info);
	uint64_t type = ELF64_R_TYPE(info);
	int own = !about && s->defined && !t->words;

	for (size_t i = 0; i < sizeof(tls_kinds) / sizeof(*tls_kinds); i++) {
		if (e->machine != tls_kinds[i].machine || (about != s->index && !own))
			continue;
		if (type == tls_kinds[i].offset)
			t->form = ELF_TLS_OFFSET;
		else if (type == tls_kinds[i].desc)
			t->form = ELF_TLS_DESC;
		else if (type == tls_kinds[i].module)
			t->form = own ? ELF_TLS_OWN_MODULE : ELF_TLS_MODULE;
		else
			continue;
		t->words = FIELD(e, r, Rela, r_offset);
		t->value = own ? s->value - FIELD(e, r, Rela, r_addend) : 0;
	}
}

void elf_tls(int fd, uint64_t size, const char *name, struct elf_tls *t)
{
	struct elf e = { .path = "", .discreet = SILENT, .fd = fd, .size = size };
	struct variable v = { .name = name };
	const unsigned char *s;
	uint64_t i = 0, all = 0;
	int dynamic = 0;

	*t = (struct elf_tls){ 0 };
	if (!read_head(&e) && e.wide) {
		each_symbol(&e, SHT_DYNSYM, &e.names[1], compare_variable, &v);
		dynamic = v.symbol.index != 0;
		if (!dynamic) /* a static program */
			each_symbol(&e, SHT_SYMTAB, &e.names[0], compare_variable, &v);
		t->named = v.symbol.index != 0;
		read_segments(&e, &v.symbol, t);
	}
	while (dynamic && all < SILENT_MOST && (s = section(&e, SHT_RELA, &i))) {
		struct elf_table part = { 0 };

		load_section(&e, s, &part);
		for (uint64_t at = 0; part.v && part.size - at >= SIZE(&e, Rela);
		     at += SIZE(&e, Rela))
			take_relocation(&e, part.v + at, &v.symbol, t);
		free(part.v);
		all += part.size;
	}
	elf_close(&e);
}

/*
 * USDT probes are notes of the owner stapsdt, in a section of their own
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). The description is
 * three addresses (of the probe, of the section .stapsdt.base when the file was linked, and
 * of the semaphore) and three strings (provider, name and arguments).
 */

/*
 * Read the description d (n bytes) of a note. Return 0, or -1, silent, if it is invalid
 * or contains other characters than printable ones.
 */
static int read_usdt(const struct elf *e, const unsigned char *d, size_t n, uint64_t base,
		     struct elf_usdt *u)
{
	size_t width = e->wide ? 8 : 4;
	const char **text[] = { &u->provider, &u->name, &u->args };
	const unsigned char *at = d + 3 * width, *end;
	uint64_t linked, counter;

	if (n < 3 * width)
		return -1;
	linked = number_at(e, d + width, width);
	base = base && linked ? base - linked : 0;
	for (size_t i = 0; i < 3; i++, at = end + 1) {
		end = memchr(at, '\0', n - (size_t)(at - d));
		for (const unsigned char *c = at; c < end; c++)
			if (*c < ' ' || *c > '~')
				return -1;
		if (!end)
			return -1;
		*text[i] = (const char *)at;
	}
	counter = number_at(e, d + 2 * width, width);
	u->counter = 0;
	if (counter && segment_offset(e, counter + base, PF_W, &u->counter) < 0)
		return -1;
	u->machine = e->machine;
	return offset_of(e, number_at(e, d, width) + base, &u->offset);
}

/* Call fn for each USDT probe in the section t. Return 0, or what fn returned. */
static int each_note(const struct elf *e, const struct elf_table *t, uint64_t base,
		     int (*fn)(void *, const struct elf_usdt *), void *arg)
{
	struct elf_usdt u;
	int r = 0;

	for (uint64_t at = 0; !r && t->size - at >= 12;) {
		const unsigned char *n = t->v + at;
		uint64_t name = (number_at(e, n, 4) + 3) & ~3ull, size = number_at(e, n + 4, 4);

		at += 12;
		if (name > t->size - at || size > t->size - at - name)
			break;
		if (number_at(e, n + 8, 4) == 3 && name == 8 && !memcmp(n + 12, "stapsdt", 8) &&
		    !read_usdt(e, n + 20, (size_t)size, base, &u))
			r = fn(arg, &u);
		at += name + size;
		at += t->size - at < (-at & 3) ? t->size - at : -at & 3;
	}
	return r;
}

int elf_each_usdt(const struct elf_file *file, int (*fn)(void *, const struct elf_usdt *),
		  void *arg)
{
	const unsigned char *s = NULL;
	uint64_t i = 0, base = 0;
	struct elf e;
	int r = elf_open(&e, file);

	if (!r)
		r = named_section(&e, SHT_PROGBITS, ".stapsdt.base", &s);
	if (!r && s)
		base = FIELD(&e, s, Shdr, sh_addr);
	while (!r && (s = section(&e, SHT_NOTE, &i))) {
		struct elf_table notes = { 0 };

		r = load_section(&e, s, &notes);
		if (!r)
			r = each_note(&e, &notes, base, fn, arg);
		free(notes.v);
	}
	elf_close(&e);
	return r;
}
