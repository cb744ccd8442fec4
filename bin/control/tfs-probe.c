/* SPDX-License-Identifier: ISC */
/*
 * tfs-probe - define, list and remove probes of a group: new events
 *
 * Requires: tracefs, and permission to write its files.
 * With -o, if an offset is not the beginning of an instruction, every process that runs the
 * program fails. With -c, the kernel counts the users of the probe in the program's memory.
 * With -q, the caller does not learn whether FILE exists.
 * PROBE is one word: a place and the values to record there, in the kernel's grammar.
 * With -b or -a it is only a letter and a place: FILE and each ARG are words of their own,
 * which nothing splits.
 *	p SYMBOL[+OFFSET] [ARG]...  where a function of the kernel begins
 *	r SYMBOL [ARG]...           where the function returns
 *	f SYMBOL[%return] [ARG]...  the same by the function tracer; ARG may be a name of source
 *	p FILE:SYMBOL[+OFFSET], r FILE:SYMBOL, or FILE:OFFSET: in a program or library
 *	e SYSTEM/EVENT [ARG]...     at another event, with memory that its fields point to
 *	u FILE:PROVIDER:NAME [ARG]...  a USDT probe of a program, with its arguments. For its
 *	                            second place in the program the event is EVENT_2, and so on
 * An ARG is NAME=FETCH[:TYPE]; $arg1 to $arg8 work in programs, too. If the kernel allows no
 * p or r where a function of the kernel begins, tfs-probe makes it as f. If the kernel
 * refuses one probe, tfs-probe removes the probes before it again.
 * Exit: 0 done, 1 list, usdt or file: none, 100 usage error, 111 refused.
 */
#include <elf.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"
#include "named.h"
#include "usdt.h"

/* The options, and the values of -a. */
static const char *root, *group, *binary, *binary_name;
static int any_offset, counters, discreet;
static struct opt_list values = { .v = OPT_LIST(NULL) };

static const struct tool tool = {
	TOOL_TFS_PROBE,
	.places = (const struct opt_place[]){
		{ 'R', .text = &root }, { 'g', .text = &group }, { 'b', .text = &binary },
		{ 'n', .text = &binary_name }, { 'o', .flag = &any_offset },
		{ 'c', .flag = &counters }, { 'q', .flag = &discreet },
		{ 'a', .list = &values }, { 0 },
	},
};

/* The size of the longest record that the kernel takes (kernel/trace/trace.c, WRITE_BUFSIZE). */
enum { RECORD = 4096 };

/* A file with places of probes. It stays open until the kernel has opened it, too. */
struct probed {
	struct elf_file elf;
	char path[PATH_MAX];    /* by which the kernel opens the same file */
	struct probed *next;
};

/* A probe as a record, and the control file to write it to. */
struct made {
	char event[PROBE_NAME];
	const char *file;
	const struct probed *in; /* NULL: in the kernel */
	uint64_t offset;        /* in that file */
	const char *symbol;     /* a function of the kernel; NULL: none */
	char record[RECORD];
};

/* Return whether s is a C identifier that fits into PROBE_NAME (the kernel's is_good_name). */
static int is_identifier(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			     "0123456789_");

	return n && n < PROBE_NAME && !s[n] && !(*s >= '0' && *s <= '9');
}

/* ---- files ------------------------------------------------------------------------- */

/*
 * Open the file of a probe unless it is open already. Return it, or NULL, reported. A path
 * that the kernel would cut is refused even though uprobe_path does not need it: then no
 * record can ever depend on who reads it.
 */
static const struct probed *open_probed(const char *event, const char *path)
{
	static struct probed *files;
	const char *name = binary_name ? binary_name : path, *cut = ctl_cut(name);
	struct probed *f;

	for (f = files; f; f = f->next)
		if (!strcmp(f->elf.path, name))
			return f;
	if (cut) {
		err_msg("%s: the path '%.200s' has %s, where the kernel would cut it; give a link "
			"to the file that has none", event, name, ctl_cut_name(cut));
		return NULL;
	}
	f = xcalloc(1, sizeof(*f));
	if (elf_file_open(&f->elf, path, xstrdup(name), discreet) < 0)
		return NULL;
	uprobe_path(&f->elf, f->path);
	f->next = files;
	files = f;
	return f;
}

/* ---- make the record of a probe -------------------------------------------------- */

/* Append to the record. Return 0, or -1, reported. */
__attribute__((format(printf, 2, 3)))
static int append(struct made *m, const char *fmt, ...)
{
	size_t len = strlen(m->record), n;
	va_list ap;

	va_start(ap, fmt);
	n = str_vformat(m->record + len, sizeof(m->record) - len, fmt, ap);
	va_end(ap);
	return n < sizeof(m->record) - len ? 0 :
	       err_msg("%s: the probe is longer than the kernel takes; record fewer values",
		       m->event);
}

/*
 * Write the register of a function's n-th argument by the calling convention to name (16 bytes).
 * Return -1, silent, if it is unknown or the argument is on the stack.
 */
static int argument_register(const struct elf_location *p, unsigned n, char *name)
{
	static const char *const x86[] = { "di", "si", "dx", "cx", "r8", "r9" };
	static const struct { unsigned machine, first, most; const char *letters; } regular[] = {
		{ EM_AARCH64, 0, 8, "x" }, { EM_ARM, 0, 4, "r" }, { EM_S390, 2, 5, "r" },
		{ EM_PPC64, 3, 8, "gpr" }, { EM_RISCV, 0, 8, "a" }, { EM_MIPS, 4, 4, "r" },
	};

	if (p->machine == EM_X86_64 && p->wide && n <= 6)
		return str_format(name, 16, "%s", x86[n - 1]), 0;
	for (size_t i = 0; i < sizeof(regular) / sizeof(*regular); i++)
		if (regular[i].machine == p->machine && n <= regular[i].most)
			return str_format(name, 16, "%s%u", regular[i].letters,
					  regular[i].first + n - 1), 0;
	return -1;
}

/*
 * Append the ARGs. If place is not NULL, replace each $argN by its register, because the
 * kernel may not know $argN there.
 */
static int append_args(struct made *m, const char *s, const struct elf_location *place)
{
	char reg[16];

	for (const char *p; place && (p = strstr(s, "$arg")) && p[4] >= '1' && p[4] <= '8';
	     s = p + 5) {
		if (*m->record == 'r')
			return err_msg("%s: a return has no $arg%c; record it where the function "
				       "begins", m->event, p[4]);
		if (argument_register(place, (unsigned)(p[4] - '0'), reg) < 0)
			return err_msg("%s: the register of $arg%c is not known for such a "
				       "program; give a register instead", m->event, p[4]);
		if (append(m, "%.*s%%%s", (int)(p - s), s, reg) < 0)
			return -1;
	}
	return append(m, "%s", s);
}

/* Append the ARGs s of the PROBE, and those of -a. Return 0, or -1, reported. */
static int append_all(struct made *m, const char *s, const struct elf_location *place)
{
	if (append_args(m, s, place) < 0)
		return -1;
	for (const char **v = values.v; *v; v++)
		if (append(m, " ") < 0 || append_args(m, *v, place) < 0)
			return -1;
	return 0;
}

/*
 * Check that the kernel reads the PROBE as the words that tfs-probe does. Return 0, or -1,
 * reported.
 */
static int check_words(const char *event, const char *probe)
{
	const char *p = probe;

	while ((p = ctl_cut(p)) && *p == ' ')
		p++;
	if (p)
		return err_msg("%s: a probe cannot have %s, where the kernel would cut it; "
			       "remove that", event, ctl_cut_name(p));
	p = probe + strcspn(probe, " ");
	p += strspn(p, " ");
	if ((binary || values.n) && strchr(p, ' '))
		return err_msg("%s: with -b and -a a PROBE is a letter and a place; give each ARG "
			       "by -a", event);
	return 0;
}

/* Parse a number as C has it: 16, 020 or 0x10. Return 0, or -1, silent. */
static int parse_offset(const char *s, uint64_t *n)
{
	const int hex = *s == '0' && (s[1] | 0x20) == 'x';
	const char *first = s + 2 * hex, *end;

	*n = text_value(first, &end, hex ? 16 : *s == '0' ? 8 : 10);
	return *s < '0' || *s > '9' || end == first || *end || *n == UINT64_MAX ||
	       strpbrk(s, " \t") ? -1 : 0;
}

/*
 * Cut "(OFFSET)" off the end of name and return OFFSET, or "" if there is none, or NULL
 * after an error message. The kernel adds 1 to the program's memory at OFFSET while the
 * probe is enabled (Documentation/trace/uprobetracer.rst, reference counter).
 */
static const char *cut_counter(const struct made *m, char *name)
{
	char *open = strchr(name, '('), *close = open ? strchr(open, ')') : NULL;
	uint64_t n;

	if (!open)
		return "";
	if (!counters) {
		err_msg("%s: '%.80s' asks the kernel to write into the program's memory; -c "
			"allows that", m->event, open);
		return NULL;
	}
	if (close && !close[1]) {
		*close = '\0';
		*open++ = '\0';
	}
	if (!close || parse_offset(open, &n) < 0) {
		err_msg("%s: not a reference counter: '%.80s'; give its offset as (NUMBER)",
			m->event, open);
		return NULL;
	}
	return open;
}

/*
 * Find the offset in the file of name, which is SYMBOL[+OFFSET] or OFFSET. Return 0, or
 * -1, reported. Without -o, accept only the beginning of a function: a
 * breakpoint inside an instruction changes that instruction in every process that runs
 * the file.
 */
static int find_place(const struct made *m, char *name, struct elf_location *place)
{
	const struct elf_file *file = &m->in->elf;
	uint64_t into = 0;
	char *plus;
	int r;

	if (*name >= '0' && *name <= '9') {
		if (parse_offset(name, &place->offset) < 0)
			return err_msg("%s: not an offset: '%.80s'", m->event, name);
		if (any_offset)
			return 0;
		r = elf_function_at(file, place->offset, place);
		if (!r)
			return err_msg("%s: no function with a symbol begins at %s:%s, which may "
				       "be inside an instruction; -o allows it",
				       m->event, file->path, name);
		return r < 0 ? -1 : 0;
	}
	plus = strchr(name, '+');
	if (plus) {
		*plus++ = '\0';
		if (parse_offset(plus, &into) < 0)
			return err_msg("%s: not an offset: '%.80s'", m->event, plus);
		if (into && !any_offset)
			return err_msg("%s: %.80s+%s may be inside an instruction; -o allows "
				       "it", m->event, name, plus);
	}
	return elf_symbol(file, name, into, place);
}

/* Append the FILE:OFFSET of m as the kernel has to read it, and (COUNTER) unless it is empty. */
static int append_offset(struct made *m, const char *counter)
{
	return append(m, "%s:%llu%s%s%s", m->in->path, (unsigned long long)m->offset,
		      *counter ? "(" : "", counter, *counter ? ")" : "");
}

/*
 * Append the place s (n bytes), FILE:SYMBOL[+OFFSET] or FILE:OFFSET, as FILE:OFFSET; with
 * -c also with its (COUNTER). With -b the place has no FILE.
 */
static int append_place(struct made *m, const char *s, size_t n, struct elf_location *place)
{
	char *text = strndup(s, n), *name = text && !binary ? strrchr(text, ':') : text;
	const char *counter = NULL;
	int r = -1;

	if (!text)
		return err_msg("out of memory");
	if (!name || (!binary && !*++name)) {
		err_msg("%s: no function of %s; give FILE:SYMBOL", m->event, text);
	} else {
		if (!binary)
			name[-1] = '\0';
		m->in = open_probed(m->event, binary ? binary : text);
		counter = m->in ? cut_counter(m, name) : NULL;
	}
	if (counter)
		r = find_place(m, name, place);
	m->offset = place->offset;
	if (!r)
		r = append_offset(m, counter);
	free(text);
	return r;
}

/*
 * Return whether a return probe may kill the program. On 32-bit ARM, uprobe_return
 * (arch/arm/probes/uprobes/core.c) returns to the caller in ARM state. If the caller is
 * Thumb code, the program dies.
 */
static int returns_kill(const struct elf_location *place)
{
#ifdef __arm__
	return !place->machine || place->machine == EM_ARM;
#else
	return place->machine == EM_ARM;
#endif
}

/* Make the record of an EVENT and its PROBE. Return 0, or -1, reported. */
static int make_record(struct made *m, const char *event, const char *probe)
{
	size_t type = strcspn(probe, " "), n;   /* length of "p", "r100" or "e" */
	const char *where = probe + type + strspn(probe + type, " ");
	struct elf_location place = { 0 };

	str_format(m->event, sizeof(m->event), "%s", event);
	if (!strchr("pref", *probe) || (*probe == 'r' ? strspn(probe + 1, "0123456789") + 1 : 1) !=
	    type || !*where)
		return err_msg("%s: not a probe: '%.80s'; give p, r, f, e or u, then the place",
			       event, probe);
	if (check_words(event, probe) < 0)
		return -1;
	if (binary && !strchr("pr", *probe))
		return err_msg("%s: a probe of kind %c is not in a program; leave -b out", event,
			       *probe);
	n = strcspn(where, " ");
	if (append(m, "%.*s:%s/%s ", (int)type, probe, group, event) < 0)
		return -1;
	if (strchr("pr", *probe) && (binary || memchr(where, '/', n))) {
		m->file = "uprobe_events";
		if (append_place(m, where, n, &place) < 0)
			return -1;
		if (*probe == 'r' && returns_kill(&place))
			return err_msg("%s: a return to Thumb code would end the program, so "
				       "returns of programs are not probed on 32-bit ARM", event);
		return append_all(m, where + n, place.machine ? &place : NULL);
	}
	m->file = strchr("ef", *probe) ? "dynamic_events" : "kprobe_events";
	if (*probe != 'e')
		m->symbol = where;
	/* not all kernels of these architectures know $arg1 */
#if defined(__arm__)
	place.machine = EM_ARM;
#elif defined(__powerpc__)
	place.machine = EM_PPC64;
#elif defined(__mips__)
	place.machine = EM_MIPS;
#endif
	/* at a return only the kernel knows the arguments, since Linux 6.9 */
	return append_all(m, where, place.machine && *probe == 'p' ? &place : NULL);
}

/* ---- USDT probes ----------------------------------------------------------------- */

/* A program has a few places of a probe; a file that claims more is damaged. */
enum { PLACES = 256 };

/* The records of all probes. */
static struct made *made;
static size_t made_n, made_room;

static struct made *next_made(void)
{
	made = xgrow(made, made_n, &made_room, sizeof(*made));
	made[made_n] = (struct made){ .file = NULL };
	return &made[made_n++];
}

/* The things to look for in a file. */
struct usdt_search {
	const char *event, *args;
	const struct probed *in;
	const char *probe;      /* PROVIDER:NAME */
	struct suggest near;
	struct strbuf text;
	size_t first;           /* the first record of this probe */
};

/* Make the record for a place if the probe u is the wanted one. Return 0, or -1, reported. */
static int add_place(void *arg, const struct elf_usdt *u)
{
	struct usdt_search *s = arg;
	struct made *m;
	char number[64];
	size_t n = made_n - s->first + 1;

	strbuf_puts(strbuf_empty(&s->text), u->provider);
	strbuf_puts(&s->text, ":");
	strbuf_puts(&s->text, u->name);
	if (strcmp(s->text.text, s->probe)) {
		for (unsigned i = 0; i < s->near.n; i++)
			if (!strcmp(s->text.text, s->near.name[i]))
				return 0;
		suggest_offer(&s->near, xstrdup(s->text.text));
		return 0;
	}
	/* the linker may have kept a note twice */
	for (size_t i = s->first; i < made_n; i++)
		if (made[i].offset == u->offset)
			return 0;
	if (n > PLACES)
		return err_msg("%s: more than %d places", s->event, PLACES);
	m = next_made();
	m->file = "uprobe_events";
	m->in = s->in;
	m->offset = u->offset;
	*number = '\0';
	if (n > 1)
		str_format(number, sizeof(number), "_%zu", n);
	str_format(m->event, sizeof(m->event), "%.*s%s", PROBE_NAME - 5, s->event, number);
	*number = '\0';
	if (u->counter)
		str_format(number, sizeof(number), "%llu", (unsigned long long)u->counter);
	s->text.n = 0;
	usdt_args(u, &s->text, NULL);
	strbuf_puts(&s->text, s->args);
	return append(m, "p:%s/%s ", group, m->event) < 0 || append_offset(m, number) < 0 ||
	       append_all(m, s->text.text, NULL) < 0 ? -1 : 0;
}

/* Make a record for each place of the probe "u FILE:PROVIDER:NAME [ARG]...". */
static int make_usdt(const char *event, const char *probe)
{
	const char *where = probe + 1 + strspn(probe + 1, " ");
	char *path = xstrdup(where), *colon = NULL;
	struct usdt_search s = { .event = event, .args = where + strcspn(where, " "),
				 .first = made_n };
	int r;

	if (check_words(event, probe) < 0)
		return -1;
	path[strcspn(path, " ")] = '\0';
	if (!binary) {
		colon = strrchr(path, ':');
		while (colon && colon > path && *--colon != ':')
			;
		if (!colon || colon == path)
			return err_msg("%s: no USDT probe in '%.80s'; give FILE:PROVIDER:NAME",
				       event, path);
		*colon = '\0';
	}
	s.near.word = s.probe = binary ? path : colon + 1;
	s.in = open_probed(event, binary ? binary : path);
	r = s.in ? elf_each_usdt(&s.in->elf, add_place, &s) : -1;
	if (r || made_n > s.first)
		return r;
	return err_msg("%s has no USDT probe '%.80s'; %s", s.in->elf.path, s.probe,
		       suggest_remedy(&s.near, "tfs-probe usdt FILE prints those that it has"));
}

/* Print a USDT probe, its arguments, and after # those that cannot be read. */
static int print_usdt(void *arg, const struct elf_usdt *u)
{
	struct strbuf fetch = { 0 }, other = { 0 };

	usdt_args(u, &fetch, &other);
	stdout_print("%s:%s%s%s%s\n", u->provider, u->name, fetch.n ? fetch.text : "",
		     other.n ? " # not read:" : "", other.n ? other.text : "");
	free(fetch.text);
	free(other.text);
	*(int *)arg = DONE;
	return 0;
}

static int list_usdt(const char *path)
{
	struct elf_file file;
	int status = NO;

	if (elf_file_open(&file, path, path, discreet) < 0 ||
	    elf_each_usdt(&file, print_usdt, &status) < 0)
		return REFUSED;
	stdout_flush();
	return status ? err_no("no USDT probe in %s", path) : DONE;
}

/* ---- why the kernel refused a probe ------------------------------------------------ */

/*
 * Return 1 if the kernel has a function of that name, 0 if not, or -1 if procfs does not
 * show it. Offer all names to near, which points into *text; the caller frees *text.
 */
static int has_function(const char *word, char **text, struct suggest *near)
{
	char path[PATH_MAX], *end;
	int known = -1;

	str_format(path, sizeof(path), "%s/kallsyms", path_procfs());
	*text = file_read(AT_FDCWD, path, NULL);
	for (char *p = *text; p && known < 1 && (end = strchr(p, '\n')); p = end + 1) {
		char *name = strchr(p, ' ');

		*end = '\0';
		/* ADDRESS TYPE NAME[\tMODULE] */
		if (!name || !name[1] || name[2] != ' ' || !strchr("tTwW", name[1]))
			continue;
		name += 3;
		name[strcspn(name, "\t")] = '\0';
		known = !strcmp(name, word);
		suggest_offer(near, name);
	}
	return known;
}

/* Return 1 after an error message if the kernel has no such function; otherwise 0. */
static int is_unknown_function(const struct made *m)
{
	struct suggest near = { .word = NULL };
	char word[2 * PROBE_NAME], *text;
	int unknown;

	str_format(word, sizeof(word), "%.*s", (int)strcspn(m->symbol, " +%"), m->symbol);
	/* kallsyms has no entry in the form MODULE:FUNCTION, and none for an address */
	if (strchr(word, ':') || (*word >= '0' && *word <= '9'))
		return 0;
	near.word = word;
	unknown = !has_function(word, &text, &near);
	if (unknown)
		err_msg("the kernel has no function '%s'; %s", word,
			suggest_remedy(&near, "it may be part of its callers"));
	free(text);
	return unknown;
}

/*
 * Return whether the kernel lacks CONFIG_EPROBE_EVENTS. The README of tracefs does not
 * show it: some kernels list event probes there and have none.
 */
static int lacks_event_probes(void)
{
	struct suggest near = { .word = "" };
	char *text;
	int r = has_function("__trace_eprobe_create", &text, &near);

	free(text);
	return !r;
}

/* ---- add, list and remove ---------------------------------------------------------- */

/* Read the next probe of the group in the text of a list, and move *text after it. */
static int next_of_group(const char **text, struct probe *p)
{
	while (probe_next(text, p))
		if (!strcmp(p->group, group))
			return 1;
	return 0;
}

/* Return whether text, the content of dynamic_events, has the event of the group. */
static int is_defined(const char *text, const char *event)
{
	struct probe p;

	while (text && next_of_group(&text, &p))
		if (!strcmp(p.event, event))
			return 1;
	return 0;
}

/* Return whether the kernel has probes of kind f, with CONFIG_FPROBE_EVENTS. */
static int has_function_probes(int top)
{
	char *text = file_read(top, "README", NULL);
	int has = text && strstr(text, " f[:");

	free(text);
	return has;
}

/*
 * Where ftrace has changed the beginning of functions, a kernel without CONFIG_KPROBES_ON_FTRACE
 * allows no kprobe there. Define m, a kprobe at a function, as kind f instead. Return 0 or an
 * error.
 */
static int define_as_function(int top, struct made *m)
{
	const char *name = strchr(m->record, ':'), *end = strchr(m->record, ' ');
	size_t n = strcspn(m->symbol, " "), word = strcspn(m->symbol, " :+%");
	struct made f = { .file = "dynamic_events", .symbol = m->symbol };
	int e;

	if (word != n || (*m->symbol >= '0' && *m->symbol <= '9') || !has_function_probes(top))
		return -EINVAL;
	str_format(f.event, sizeof(f.event), "%s", m->event);
	if (append(&f, "f%.*s%.*s%s", (int)(end + 1 - name), name, (int)n, m->symbol,
		   *m->record == 'r' ? "%return" : "") < 0 ||
	    append_all(&f, m->symbol + n, NULL) < 0)
		return -EINVAL;
	e = ctl_try(top, f.file, f.record, 0);
	if (!e)
		*m = f;
	return e;
}

static int define(int top, struct made *m)
{
	int e = ctl_try(top, m->file, m->record, 0);

	if (!e || (e == -EINVAL && *m->file == 'k' && !define_as_function(top, m)))
		return 0;
	if (m->symbol && e != -EACCES && e != -EPERM && is_unknown_function(m))
		return -1;
	if (*m->record == 'e' && e == -EINVAL && lacks_event_probes())
		return err_msg("this kernel has no probes at events; they need Linux 5.15 with "
			       "CONFIG_EPROBE_EVENTS");
	if (*m->record == 'f' && e == -EINVAL && !has_function_probes(top))
		return err_msg("this kernel has no probes of kind f; they need Linux 6.5 with "
			       "CONFIG_FPROBE_EVENTS");
	/* write it again, to print the kernel's own reason */
	return ctl_explain(top, m->file, m->record, 0);
}

/*
 * Does the line of the kernel's list describe the probe m? Compare what decides where the
 * kernel writes: the letter, and for a program the path and the offset.
 */
static int is_as_made(const struct made *m, const struct probe *p)
{
	const char *s = p->line + strcspn(p->line, " "), *end = p->line + p->length;
	size_t n = m->in ? strlen(m->in->path) : 0;
	char number[32];
	uint64_t offset;

	if (*p->line != *m->record)
		return 0;
	if (!m->in)
		return 1;
	s += *s == ' ';
	if ((size_t)(end - s) <= n || strncmp(s, m->in->path, n) || s[n] != ':')
		return 0;
	s += n + 1;
	str_format(number, sizeof(number), "%.*s", (int)strspn(s, "0123456789abcdefABCDEFx"), s);
	return !parse_offset(number, &offset) && offset == m->offset;
}

/*
 * Read a probe back from the kernel, before any instance can enable it. Return 0, or -1,
 * reported, if the kernel did not make exactly the probe m in the file that was read.
 */
static int read_back(int top, const struct made *m)
{
	char *text = file_read(top, m->file, NULL);
	const char *at = text;
	struct probe p;
	int lines = 0, right = 0;

	if (!text)
		return err_file("unable to read %s", m->file);
	while (next_of_group(&at, &p))
		if (!strcmp(p.event, m->event)) {
			lines++;
			right += is_as_made(m, &p);
		}
	free(text);
	if (lines != 1 || right != 1)
		return err_msg("%s/%s: the kernel understood another probe than '%.200s', so it "
			       "was removed", group, m->event, m->record);
	if (m->in && !elf_file_is_unchanged(&m->in->elf))
		return err_msg("%s: a process writes to the program or library; try again when it "
			       "has ended", m->event);
	return 0;
}

/*
 * Make no event with two places. If such a uprobe event is removed while it is enabled,
 * Linux 5.10 to 6.18 frees the place without unregistering it (trace_uprobe.c,
 * unregister_trace_uprobe tests for users only without siblings). The next enabled uprobe
 * then hangs in the kernel, with a lock that all of tracefs needs.
 */
static int add(int top, char **words)
{
	char *text = file_read(top, "dynamic_events", NULL);
	size_t i;
	int r = 0;

	if (!text && errno != ENOENT)
		return err_file("unable to read dynamic_events");
	for (; *words && !r; words += 2)
		r = words[1][0] == 'u' && words[1][1] == ' ' ? make_usdt(words[0], words[1]) :
		    make_record(next_made(), words[0], words[1]);
	for (i = 0; i < made_n && !r; i++) {
		if (is_defined(text, made[i].event))
			r = err_msg("%s/%s exists already; remove it, or give another name",
				    group, made[i].event);
		for (size_t j = 0; j < i && !r; j++)
			if (!strcmp(made[i].event, made[j].event))
				r = err_msg("two probes have the name '%s'; give each its own name",
					    made[i].event);
		if (!r && !file_exists(top, made[i].file))
			r = err_msg("this kernel has no %s; it needs %s", made[i].file,
				    *made[i].file == 'k' ? "CONFIG_KPROBE_EVENTS" :
				    "CONFIG_UPROBE_EVENTS");
	}
	free(text);
	if (r)
		return r;
	for (i = 0; i < made_n && !r; i++)
		r = define(top, &made[i]);
	for (size_t j = 0; j < made_n && !r; j++)
		r = read_back(top, &made[j]);
	while (r && i-- > 0)
		probes_remove(top, group, made[i].event);
	return r;
}

static int list(int top)
{
	char *text = file_read(top, "dynamic_events", NULL);
	const char *next = text;
	struct probe p;
	int r = NO;

	if (!text)
		return err_file("unable to read dynamic_events"), REFUSED;
	for (; next_of_group(&next, &p); r = DONE) {
		const char *place = p.line + strcspn(p.line, " \n"), *shown;

		place += *place == ' ';
		shown = uprobe_shown(place);
		stdout_print("%.*s%.*s\n", (int)(place - p.line), p.line,
			     (int)(p.line + p.length - shown), shown);
	}
	free(text);
	stdout_flush();
	return r ? err_no("no probe in the group %s", group) : DONE;
}

static int remove_one(int top, const char *event)
{
	if (!probes_remove(top, group, event))
		return 0;
	return err_file("unable to remove %s%s%s%s", group, event ? "/" : "",
			event ? event : "",
			errno == EBUSY ? ", which is enabled or in use" : "");
}

static int remove_probes(int top, char **events)
{
	char *text = file_read(top, "dynamic_events", NULL);
	int r = 0;

	for (char **e = events; *e; e++)
		if (!is_defined(text, *e))
			r = err_msg("no such probe: %s/%.80s; tfs-probe list prints the names",
				       group, *e);
	free(text);
	if (r || !*events)
		return r ? r : remove_one(top, NULL);
	for (char **e = events; *e; e++)
		r |= remove_one(top, *e);
	return r;
}

/* Exit MISUSED if the arguments after add, list or remove, or the options, are wrong. */
static void check(const char *verb, char **words)
{
	int adds = *verb == 'a';
	size_t n;

	if (!group || !*group)
		usage_error(&tool, "no group; give -g or set TFS_GROUP");
	if (!is_identifier(group))
		usage_error(&tool,
			    "not the name of a group: '%.80s'; use letters, digits and _", group);
	for (n = 0; words[n]; n++)
		if ((!adds || n % 2 == 0) && !is_identifier(words[n]))
			usage_error(&tool,
				    "not the name of an event: '%.80s'; use letters, digits and _",
				    words[n]);
	if (adds && (!n || n % 2))
		usage_error(&tool, "add needs pairs of EVENT and PROBE, each one word");
	if (*verb == 'l')
		opt_end(&tool, *words);
	if (!adds && (binary || values.n))
		usage_error(&tool, "-b and -a need the command add");
	if (binary_name && !binary)
		usage_error(&tool, "-n needs -b");
	for (const char **v = values.v; *v; v++)
		if (!**v || ctl_cut(*v))
			err_exit(MISUSED, "not one value to record: '%.80s'%s%s", *v,
				 **v ? " has " : "", **v ? ctl_cut_name(ctl_cut(*v)) : "");
}

static int print_file(char **words)
{
	struct pids tasks = { 0 };
	int status;

	if (!*words)
		usage_error(&tool, "file needs a FILE or NAME");
	if (**words == '/')
		opt_end(&tool, words[1]);
	if (words[1] && pids_operands(&tool, words + 1, &tasks) < 0)
		return REFUSED;
	status = named_file(*words, &tasks);
	pids_clear(&tasks);
	return status;
}

int main(int argc, char **argv)
{
	const char *verb;
	int top;

	group = getenv("TFS_GROUP");
	opt_next(&tool, argc, argv);
	argv += opt_index;
	verb = *argv ? *argv++ : "";
	if (!strcmp(verb, "usdt")) {
		if (!*argv)
			usage_error(&tool, "usdt needs a FILE");
		opt_end(&tool, argv[1]);
		return list_usdt(*argv);
	}
	if (!strcmp(verb, "file"))
		return print_file(argv);
	if (strcmp(verb, "add") && strcmp(verb, "list") && strcmp(verb, "remove"))
		usage_error(&tool, "no command; give add, list, remove, usdt or file");
	check(verb, argv);
	top = tracefs_open(root, "", NULL);
	if (top < 0)
		return REFUSED;
	if (*verb == 'l')
		return list(top);
	return (*verb == 'a' ? add(top, argv) : remove_probes(top, argv)) < 0 ? REFUSED : DONE;
}
