/* SPDX-License-Identifier: ISC */
/* symbols.c - find the symbol of an address in kallsyms */

#include "base/base.h"
#include "event/event.h"
#include "event/vm.h"

struct line_of {
	uint64_t address;
	uint32_t at;            /* offset of its line in text */
};

struct symbols {
	char *text;
	struct line_of *v;
	size_t n;
	/* bounds of the kernel image, without modules */
	uint64_t text_from, text_to, text_end, init_from, init_to;
	/* the last results, by address */
	struct symbol cache[256];
	uint64_t cached[256];
};

static int by_address(const void *a, const void *b)
{
	const struct line_of *x = a, *y = b;

	/* if several symbols have one address, the first in the file counts */
	return x->address != y->address ? x->address < y->address ? -1 : 1
	       : x->at < y->at ? -1 : x->at > y->at;
}

/* Find name and module in a line "ADDRESS T NAME\t[MODULE]". Return the name. */
static const char *name_of(const char *line, uint32_t *len, const char **module,
			   uint32_t *mlen)
{
	const char *s = strchr(line, ' ') + 3, *end = s + strcspn(s, " \t\n");
	const char *open = end + strspn(end, " \t");

	*len = (uint32_t)(end - s);
	*module = NULL;
	*mlen = 0;
	if (*open == '[') {
		*module = open + 1;
		*mlen = (uint32_t)strcspn(open + 1, "]\n");
	}
	return s;
}

/* Note the address if the line's symbol is a bound of the kernel image. */
static void bounds(struct symbols *t, uint64_t address, const char *line)
{
	static const char *const names[] = { "_stext", "_end", "_etext", "_sinittext",
					     "_einittext" };
	uint64_t *const to[] = { &t->text_from, &t->text_to, &t->text_end, &t->init_from,
				 &t->init_to };
	const char *module, *name;
	uint32_t len, mlen;

	name = name_of(line, &len, &module, &mlen);
	if (module || len > 10)
		return;
	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++)
		if (strlen(names[i]) == len && !memcmp(name, names[i], len))
			*to[i] = address;
}

struct symbols *symbols_parse(char *text, size_t len)
{
	struct symbols *t = calloc(1, sizeof(*t));
	size_t lines = 0;
	int sorted = 1;
	char *next;

	/* count only lines of at least "0 T n", because a file may have 32 MB of empty lines */
	for (const char *p = text, *end; (end = memchr(p, '\n', len - (size_t)(p - text)));
	     p = end + 1)
		lines += end - p >= 5;
	if (t)
		t->v = malloc((lines + 1) * sizeof(*t->v));
	if (!t || !t->v || len > UINT32_MAX) {
		free(t ? t->v : NULL);
		free(t);
		free(text);
		return NULL;
	}
	t->text = text;
	for (char *p = text; (next = memchr(p, '\n', len - (size_t)(p - text))); p = next + 1) {
		const char *end = p;
		uint64_t address;

		*next = '\0';
		address = text_hex(&end, next);
		if (end == p || *end != ' ' || !end[1] || end[2] != ' ' || !end[3])
			continue;
		/* thousands of names begin with two underscores: skip them */
		if (end[3] == '_' && end[4] != '_')
			bounds(t, address, p);
		sorted &= !t->n || address >= t->v[t->n - 1].address;
		t->v[t->n++] = (struct line_of){ address, (uint32_t)(p - text) };
	}
	if (!t->text_to) /* without CONFIG_KALLSYMS_ALL there is no _end */
		t->text_to = t->text_end;
	if (!sorted)
		array_sort(t->v, t->n, sizeof(*t->v), by_address);
	if (!t->n || !t->v[t->n - 1].address) {
		symbols_free(t);
		return NULL;
	}
	return t;
}

void symbols_free(struct symbols *t)
{
	free(t->text);
	free(t->v);
	free(t);
}

/* Find the symbol of an address. Return 1, or 0 if there is none. */
static int look_up(const struct symbols *t, uint64_t address, struct symbol *s)
{
	size_t low = 0, high = t->n, next;

	while (low < high) { /* find the first symbol above the address */
		size_t mid = low + (high - low) / 2;

		if (t->v[mid].address > address)
			high = mid;
		else
			low = mid + 1;
	}
	if (!low)
		return 0;
	next = low--;
	while (low && t->v[low - 1].address == t->v[low].address)
		low--;
	s->address = t->v[low].address;
	s->name = name_of(t->text + t->v[low].at, &s->len, &s->module, &s->mlen);
	s->size = (next < t->n ? t->v[next].address : t->text_to) - s->address;
	if (s->module) /* the end of the last symbol of a module is not known */
		return address - s->address < 1 << 20;
	return !t->text_to || (address >= t->text_from && address < t->text_to) ||
	       (address >= t->init_from && address < t->init_to);
}

int symbols_at(struct symbols *t, uint64_t address, struct symbol *s)
{
	size_t i = (address ^ address >> 8 ^ address >> 16) % 256;

	if (t->cached[i] != address || !address) {
		if (!look_up(t, address, &t->cache[i]))
			t->cache[i].len = 0;
		t->cached[i] = address;
	}
	*s = t->cache[i];
	return s->len > 0;
}
