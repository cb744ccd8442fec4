/* SPDX-License-Identifier: ISC */
/*
 * table.c - read tfs-calls.tab, the tables of calls, constants and structures
 *
 * tables.awk writes the file and describes it. calls_read checks its size and finds its lines.
 * A line is parsed when a call needs it. Each line ends with a newline and the text with a
 * NUL, so no parser runs beyond the text; a line that makes no sense gives less.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "syscalls/tables.h"

enum { CALLS_MOST = 2048, LINES_MOST = 4096 };  /* numbers of calls; lines of a part */

/* Read a number in base 10 or 16, and move *s behind it. */
static uint64_t number(char **s, unsigned base)
{
	uint64_t n = 0;

	for (;; (*s)++) {
		unsigned d = (unsigned char)**s - '0';

		if (d > 9)
			d = base > 10 && d >= 'a' - '0' && d <= 'f' - '0' ? d + '0' - 'a' + 10 : 99;
		if (d > 15)
			return n;
		n = n * base + d;
	}
}

static int next(char **s, char c)
{
	if (**s != c)
		return 0;
	(*s)++;
	return 1;
}

/* Return the length of the word at s. */
static size_t word(const char *s)
{
	return strcspn(s, " \n=/");
}

/* Read the value of a constant: HEX, -HEX, or - for none in this ABI. Return 0 for none. */
static int value(char **s, uint64_t *v)
{
	int minus = next(s, '-');
	char *start = *s;

	*v = number(s, 16);
	if (minus)
		*v = 0 - *v;
	return *s != start;
}

/*
 * Behind the value of a constant, take that of this ABI from /ABIS:VALUE. here: the constant has
 * a value. Return the same of this ABI.
 */
static int own_value(const struct calls *c, char **s, int here, uint64_t *v)
{
	while (next(s, '/')) {
		uint64_t other;
		int mine = 0, is;

		for (; **s >= '0' && **s <= '9'; (*s)++)
			mine |= **s - '0' == c->abi;
		next(s, ':');
		is = value(s, &other);
		if (mine) {
			here = is;
			*v = other;
		}
	}
	return here;
}

/* A set: "f" or "e", how to print the rest, MASK[:SUB], PREFIX or -, constants. */
static void parse_set(struct calls *c, unsigned index)
{
	struct set *set = &c->sets[index];
	struct constant *v = c->constants;
	char *s;
	uint64_t last = 0;

	if (index >= c->nsets || set->parsed)
		return;
	s = c->lines[index];
	set->parsed = 1;
	set->v = v;
	set->flags = *s == 'f';
	if (*s == '\n' || s[1] == '\n' || s[2] != ' ')
		return;
	set->rest = s[1];
	s += 3;
	set->mask = number(&s, 16);
	if (next(&s, ':') && index) {
		set->sub = (uint16_t)(number(&s, 10) % index);
		parse_set(c, set->sub);
		v = c->constants;
		set->v = v;
	}
	next(&s, ' ');
	set->prefix = s;
	set->nprefix = (uint8_t)word(s);
	s += word(s);
	if (*set->prefix == '-')
		set->nprefix = 0;
	while (next(&s, ' ') && c->nconstants) {
		struct constant k = { .name = s, .length = word(s), .value = last + 1 };
		int here = 1;
		size_t i;

		s += k.length;
		if (next(&s, '=')) {
			here = value(&s, &k.value);
			last = k.value;
			here = own_value(c, &s, here, &k.value);
		} else {
			last = k.value;
		}
		if (!here)
			continue;
		for (i = set->n; !set->flags && i > 0 && v[i - 1].value > k.value; i--)
			v[i] = v[i - 1];
		v[i] = k;
		set->n++;
		c->constants++;
		c->nconstants--;
	}
}

/* The kinds of values, by their letters. */
static const char letters[] = "HDUNOFWSPQVBTALXGIECZYJKMR";
static const uint8_t kinds[] = {
	CALL_HEX, CALL_INT, CALL_UINT, CALL_ID, CALL_OCTAL, CALL_FD, CALL_DIRFD, CALL_SET,
	CALL_PATH, CALL_STRING, CALL_STRINGS, CALL_BUFFER, CALL_STRUCT, CALL_SOCKADDR, CALL_OPTION,
	CALL_NONE, MEMBER_SIGSET, MEMBER_FDSET, MEMBER_WAIT, MEMBER_CHARS, MEMBER_PAD, MEMBER_PORT,
	MEMBER_INET, MEMBER_INET6, MEMBER_SUN_PATH, MEMBER_DEV,
};

static void parse_layout(struct calls *c, unsigned index);

/*
 * A value: NAME, a letter, and the width, or N for a pointer, or a number. The width is 1, 2, 4,
 * 8, l of a long, i of an old id; or where an argument of 8 bytes is: w x y z of PLACE_PAIR and
 * those that follow.
 */
static void parse_value(struct calls *c, char **s, struct member *m)
{
	const char *letter;
	size_t n;

	*m = (struct member){ .name = *s, .width = c->word };
	n = strspn(*s, "abcdefghijklmnopqrstuvwxyz0123456789_");
	*s += n;
	m->length = (uint8_t)n;
	letter = **s ? strchr(letters, **s) : NULL;
	if (!letter)
		return;
	(*s)++;
	m->kind = kinds[letter - letters];
	if (m->kind == CALL_STRUCT || m->kind == CALL_OPTION) {
		m->set = (uint16_t)number(s, 10);
	} else if (m->kind <= CALL_SET || m->kind >= MEMBER_SIGSET) {
		if (**s >= '1' && **s <= '8')
			m->width = (uint8_t)(*(*s)++ - '0');
		else if (**s >= 'w' && **s <= 'z') {
			m->place = (uint8_t)(PLACE_PAIR + *(*s)++ - 'w');
			m->width = 8;
		} else if (next(s, 'i')) {
			m->width = c->word == 4 ? 2 : 4;
		} else if (!next(s, 'l') && next(s, 'N'))
			m->set = HEX_POINTER;
		if (m->kind == CALL_HEX && next(s, 'N'))
			m->set = HEX_POINTER;
		if (m->kind == CALL_HEX && next(s, 'B'))
			m->set = HEX_BITS;
		if (m->kind == CALL_SET) {
			m->set = (uint16_t)number(s, 10);
			parse_set(c, m->set);
		}
	}
}

/* When a member is left out: ?, ?N, ?N&BITS, ?N!BITS with a member N, or one more ? in front. */
static void parse_condition(char **s, struct member *m)
{
	if (!next(s, '?'))
		return;
	m->rare = RARE_ZERO;
	if (next(s, '?'))
		m->rare = RARE_BOTH;
	else if (**s >= '0' && **s <= '9')
		m->rare = RARE_OTHER;
	else
		return;
	m->other = (uint8_t)number(s, 10);
	m->test = **s == '&' || **s == '!' ? *(*s)++ : '\0';
	m->bits = m->test ? number(s, 16) : UINT64_MAX;
}

/*
 * A structure: /ABIS, the letters b (bare), l (length), p (packed), m (more), n (now) or -, then
 * members: a value, *N for an array, < at the offset of the member in front, ? if it may be left
 * out, ! if the kernel writes it, ^ if the kernel reads and writes it. Other ABIs follow on the
 * same line.
 */
static void parse_layout(struct calls *c, unsigned index)
{
	struct layout *l = &c->layouts[index];
	size_t size = 0, most = 1;
	uint16_t last = 0;
	int packed = 0;
	char *s;

	if (index >= c->nlayouts || l->parsed)
		return;
	l->parsed = 1;
	s = c->lines[c->nsets + index];
	while (next(&s, '/')) {
		int mine = 0;

		for (; *s >= '0' && *s <= '9'; s++)
			mine |= *s - '0' == c->abi;
		if (mine)
			break;
		s += strcspn(s, "/\n");
	}
	for (; *s > ' '; s++) {
		l->bare |= *s == 'b';
		l->length |= *s == 'l';
		l->more |= *s == 'm';
		l->now |= *s == 'n';
		packed |= *s == 'p';
	}
	for (const char *t = s; (t = strpbrk(t, "T\n")) && *t == 'T';)
		if (t++) {
			/* the members of an inner structure come first */
			char *at = (char *)t;
			uint64_t inner = number(&at, 10);

			if (inner < index)
				parse_layout(c, (unsigned)inner);
		}
	l->v = c->members;
	while (next(&s, ' ') && *s != '/' && c->nmembers) {
		struct member *m = c->members;
		size_t align, one;

		parse_value(c, &s, m);
		one = align = m->width;
		if (m->kind == CALL_STRUCT) {
			if (m->set >= index)
				return;
			one = c->layouts[m->set].size;
			align = c->word == 4 && c->align8 == 4 ? 4 : one % 8 ? 4 : 8;
			if (one < align)
				align = one ? one : 1;
		}
		if (align == 8)
			align = c->align8;
		if (m->kind == MEMBER_INET6)
			one = 16, align = 4;
		if (packed)
			align = 1;
		m->count = 1;
		m->array = (uint8_t)next(&s, '*');
		if (m->array)
			m->count = (uint16_t)number(&s, 10);
		if (next(&s, '<')) {
			m->offset = last;
		} else {
			if (align > most)
				most = align;
			size = (size + align - 1) / align * align;
			last = m->offset = (uint16_t)size;
		}
		parse_condition(&s, m);
		m->out = (uint8_t)next(&s, '!');
		m->both = (uint8_t)next(&s, '^');
		if (m->offset + one * m->count > 4096)
			return;
		if (m->offset + one * m->count > size)
			size = m->offset + one * m->count;
		l->size = (uint16_t)((size + most - 1) / most * most);
		if (m->kind != MEMBER_PAD && m->offset + one * m->count > l->used)
			l->used = (uint16_t)(m->offset + one * m->count);
		l->n++;
		c->members++;
		c->nmembers--;
	}
}

/*
 * An argument or result: a value; ! if the kernel writes it, ~ if it does so when a signal
 * interrupts the call, ^ if the kernel reads and writes it, with a label or _ if what was written
 * is printed behind the result; [N or %N for the argument with the count or size, {N bytes.
 */
static void parse_arg(struct calls *c, char **s, struct call_arg *a)
{
	struct member m;

	parse_value(c, s, &m);
	*a = (struct call_arg){ .name = m.name, .length = m.length, .kind = m.kind, .count = -1,
				.place = m.place, .size = m.width, .set = m.set };
	if (a->kind == CALL_OPTION)
		parse_layout(c, a->set);
	if (a->kind == CALL_STRUCT) {
		parse_layout(c, a->set);
		a->size = a->set < c->nlayouts ? c->layouts[a->set].size : 0;
		a->used = a->size ? c->layouts[a->set].used : 0;
	}
	if (a->kind == CALL_BUFFER || a->kind == CALL_SOCKADDR || a->kind == CALL_OPTION)
		a->size = 1;
	if (a->kind == CALL_BUFFER)
		a->set = (uint16_t)next(s, '0');
	if (next(s, '!')) {
		a->out = CALL_OUT;
	} else if (next(s, '~')) {
		a->out = CALL_OUT_INTERRUPTED;
	} else {
		a->in = 1;
		a->out = next(s, '^') ? CALL_OUT : 0;
		a->label = *s;
		*s += strspn(*s, "abcdefghijklmnopqrstuvwxyz_");
		a->behind = *s > a->label;
		a->nlabel = *a->label == '_' ? 0 : (uint8_t)(*s - a->label);
	}
	if (next(s, '['))
		a->count = (int8_t)(number(s, 10) % CALL_ARGS);
	if (next(s, '%')) {
		a->count = (int8_t)(number(s, 10) % CALL_ARGS);
		a->sized = 1;
	}
	if (next(s, '{'))
		a->size = (uint16_t)number(s, 10);
}

/*
 * A call: NAME, or for a variant of the last one or two of ?ARG, = & or !, HEX; arguments, =result.
 * A number of 64 bits takes two registers of a 32-bit ABI, from an even one on if the ABI aligns
 * 8 bytes so.
 */
static void parse_call(struct calls *c, struct call_entry *e)
{
	static const struct call_arg none = { .kind = CALL_NONE, .count = -1 };
	struct call_arg *args = e->call.args;
	uint8_t at[CALL_ARGS], n = 0;   /* the registers of the arguments in the tables */
	uint8_t *nargs = &e->call.nargs;
	char *s = c->lines[c->nsets + c->nlayouts + (size_t)(e - c->calls)];

	e->parsed = 1;
	if (*s == '?') {
		for (unsigned i = 0; i < 2 && next(&s, '?'); i++) {
			e->when[i].arg = (uint8_t)(number(&s, 10) % CALL_ARGS);
			e->when[i].test = *s;
			s += *s != '\0';
			if (!own_value(c, &s, value(&s, &e->when[i].value), &e->when[i].value))
				e->when[i].value = UINT64_MAX; /* nothing is equal to it */
			e->when[i].bits = next(&s, '%') ? number(&s, 16) : UINT32_MAX;
		}
		e->call.name = e[-1].call.name;
	} else {
		e->call.name = s;
		s += strcspn(s, " \n");
	}
	e->call.result.kind = CALL_INT;
	e->call.result.size = c->word;
	while (*s == ' ') {
		*s++ = '\0';            /* ends the name */
		if (next(&s, '=')) {
			parse_arg(c, &s, &e->call.result);
			break;
		}
		if (*nargs == CALL_ARGS)
			break;
		parse_arg(c, &s, &args[*nargs]);
		if (args[*nargs].place == PLACE_PAIR && c->word == 4) {
			if (c->align8 == 8 && *nargs % 2 && *nargs < CALL_ARGS - 1) {
				args[*nargs + 1] = args[*nargs];
				args[(*nargs)++] = none;
			}
			at[n++] = *nargs;
			if (*nargs < CALL_ARGS - 1)
				args[++*nargs] = none;
			++*nargs;
		} else {
			at[n++] = (*nargs)++;
		}
	}
	for (unsigned i = 0; i < *nargs; i++) {
		struct call_arg *a = &args[i];

		if (a->count >= 0)
			a->count = (int8_t)(a->count < n ? at[a->count] : -1);
		if (a->sized) { /* one structure */
			a->sized = (uint8_t)(a->count + 1);
			a->count = -1;
		}
	}
	for (unsigned i = 0; i < 2; i++)
		e->when[i].arg = e->when[i].arg < n ? at[e->when[i].arg] : 0;
	if (*s == '\n')
		*s = '\0';
}

const struct call *calls_find(struct calls *c, uint64_t n)
{
	struct call_entry *e;

	if (n >= c->nnumbers || !c->numbers[n])
		return NULL;
	e = &c->calls[c->numbers[n] - 1];
	if (!e->parsed) {
		if (*c->lines[c->nsets + c->nlayouts + (size_t)(e - c->calls)] == '?')
			return NULL;
		struct call_entry *v = e;

		do
			parse_call(c, v++);
		while (v < c->calls + c->ncalls &&
		       *c->lines[c->nsets + c->nlayouts + (size_t)(v - c->calls)] == '?');
	}
	return &e->call;
}

const struct call *calls_match(const struct call *call, const uint64_t *args)
{
	for (const struct call_entry *e = (const void *)call; (++e)->when[0].test;) {
		int is = 1;

		for (unsigned i = 0; i < 2 && e->when[i].test; i++) {
			uint64_t a = args[e->when[i].arg], v = e->when[i].value;

			is &= e->when[i].test == '=' ? (a & e->when[i].bits) == v
						     : !(a & v) == (e->when[i].test == '!');
		}
		if (is)
			return &e->call;
	}
	return call;
}

/* Is the variant chosen by the value of one argument alone? */
static int has_value(const struct call_entry *e)
{
	return e->when[0].test == '=' && !e->when[1].test && e->when[0].value <= UINT32_MAX &&
	       e->when[0].bits == UINT32_MAX;
}

int calls_variant(const struct call *call, unsigned i, struct call_variant *v)
{
	for (const struct call_entry *e = (const void *)call; (++e)->when[0].test;) {
		const struct call_entry *f = (const void *)call;

		if (!has_value(e))
			continue;
		while (++f < e && (!has_value(f) || f->when[0].arg != e->when[0].arg ||
				   f->when[0].value != e->when[0].value))
			;
		if (f < e || i--)
			continue;
		*v = (struct call_variant){ &e->call, (uint32_t)e->when[0].value, e->when[0].arg };
		return 1;
	}
	return 0;
}

unsigned calls_most(const struct calls *c)
{
	return (unsigned)c->nnumbers - 1;
}

int calls_big_endian(const struct calls *c)
{
	return c->big;
}

/* The calls of the ABI in the order of their numbers: an index, or ~N for N numbers. */
static int parse_numbers(struct calls *c, char *s)
{
	size_t n = 0;

	c->word = (uint8_t)(*s - '0');
	c->big = s[1] == 'b';
	c->align8 = (uint8_t)(s[2] - '0');
	for (s += 3; next(&s, ' ');) {
		uint64_t i;

		if (next(&s, '~')) {
			n += (size_t)number(&s, 10);
			continue;
		}
		i = number(&s, 10);
		if (n >= CALLS_MOST || i >= c->ncalls)
			return -1;
		c->numbers[n++] = (uint16_t)(i + 1);
	}
	c->nnumbers = n;
	return *s == '\n' && n && (c->word == 4 || c->word == 8) &&
	       (c->align8 == 4 || c->align8 == 8) ? 0 : -1;
}

/* Set up the tables in the text of n bytes. Return 1 if it has no such ABI, -1 if it is bad. */
static int parse(struct calls *c, char *text, size_t n, const char *abi)
{
	static const char magic[] = "tfs-calls 1 ";
	uint64_t counts[6];
	size_t nlines, i = 0;
	char *s = text;

	c->ppc = *abi == 'p';

	if (strncmp(s, magic, sizeof(magic) - 1))
		return -1;
	s += sizeof(magic) - 1;
	for (unsigned k = 0; k < 6; k++) {
		counts[k] = number(&s, 10);
		if (counts[k] > n || !next(&s, k < 5 ? ' ' : '\n'))
			return -1;
	}
	if (counts[0] != n || text[n - 1] != '\n' || memchr(text, 0, n))
		return -1;
	c->nsets = (size_t)counts[1];
	c->nlayouts = (size_t)counts[2];
	c->ncalls = (size_t)counts[3];
	c->nconstants = (size_t)counts[4];
	c->nmembers = (size_t)counts[5];
	if (c->nsets < SET_OWN || c->nsets > LINES_MOST || c->nlayouts < LAYOUTS_OWN ||
	    c->nlayouts > LINES_MOST || c->ncalls > LINES_MOST)
		return -1;
	nlines = c->nsets + c->nlayouts + c->ncalls;
	c->lines = calloc(nlines, sizeof(*c->lines));
	c->sets = calloc(c->nsets, sizeof(*c->sets));
	c->layouts = calloc(c->nlayouts, sizeof(*c->layouts));
	c->calls = calloc(c->ncalls + 1, sizeof(*c->calls));
	c->constants = c->all_constants = calloc(c->nconstants + 1, sizeof(*c->constants));
	c->members = c->all_members = calloc(c->nmembers + 1, sizeof(*c->members));
	c->numbers = calloc(CALLS_MOST, sizeof(*c->numbers));
	if (!c->lines || !c->sets || !c->layouts || !c->calls || !c->constants || !c->members ||
	    !c->numbers)
		return -1;
	for (; s < text + n; s = strchr(s, '\n') + 1) {
		size_t len = strlen(abi);

		if (i < nlines) {
			c->lines[i++] = s;
		} else if (strncmp(s, abi, len) || s[len] != ' ') {
			c->abi++;
		} else if (parse_numbers(c, s + len + 1)) {
			return -1;
		} else {
			parse_set(c, SET_ERRNO);
			parse_set(c, SET_SIGNAL);
			for (unsigned k = 0; k < LAYOUTS_OWN; k++)
				parse_layout(c, k);
			return 0;
		}
	}
	return i < nlines ? -1 : 1;
}

void calls_free(struct calls *c)
{
	free(c->text);
	free(c->lines);
	free(c->sets);
	free(c->layouts);
	free(c->calls);
	free(c->all_constants);
	free(c->all_members);
	free(c->numbers);
	free(c);
}

struct calls *calls_read(const char *path, const char *abi)
{
	struct calls *c = calloc(1, sizeof(*c));
	size_t n = 0;
	char *text = c ? file_read(AT_FDCWD, path, &n) : NULL;
	int bad;

	if (!abi)
		abi =
#if defined(__x86_64__)
			"x86_64";
#elif defined(__i386__)
			"i386";
#elif defined(__aarch64__)
			"aarch64";
#elif defined(__arm__)
			"arm";
#elif defined(__s390x__)
			"s390x";
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			"ppc64le";
#elif defined(__riscv) && __riscv_xlen == 64
			"riscv64";
#elif defined(__mips64)
			"mips64";
#elif defined(__mips__)
			"mips";
#else
			"this architecture";
#endif
	if (!strncmp(abi, "armv", 4))
		abi = "arm";
	else if (*abi == 'i' && !strcmp(abi + 2, "86"))
		abi = "i386";
	if (!text) {
		err_errno("unable to read %s", path);
		free(c);
		return NULL;
	}
	c->text = text;
	errno = 0;
	bad = n ? parse(c, text, n, abi) : -1;
	if (!bad)
		return c;
	if (bad > 0)
		err_msg("%s has no system calls of %s", path, abi);
	else if (errno == ENOMEM)
		err_errno("unable to read %s", path);
	else
		err_msg("%s is damaged; install it again", path);
	calls_free(c);
	return NULL;
}

const char *calls_abi_32(const char *abi)
{
	return !strcmp(abi, "x86_64") ? "i386" : !strcmp(abi, "aarch64") ? "arm" : NULL;
}

struct calls *calls_open(const char *abi)
{
	char dir[PATH_MAX], path[PATH_MAX + 48];

	if (program_directory(dir))
		return NULL;
	str_format(path, sizeof(path), "%s/tfs-calls.tab", dir);
	if (!file_exists(AT_FDCWD, path))
		str_format(path, sizeof(path), "%s/../lib/trace-hooks/tfs-calls.tab", dir);
	return calls_read(path, abi);
}
