/* SPDX-License-Identifier: ISC */
/*
 * btf.c - BTF, damaged or not
 *
 * Input: "STRUCTURE MEMBER FUNCTION", a NUL, the file. A member that is found has its name
 * somewhere in the file; a direct member of the structure has the offset that the file
 * gives; the function has the number that the file gives. Cyclic references must not make
 * the search slow.
 */

#include "fuzz.h"

/* bytes of a type after its first twelve, for each kind, and bytes of each element */
static const unsigned char more[][2] = {
	{ 0, 0 }, { 4, 0 }, { 0, 0 }, { 12, 0 }, { 0, 12 }, { 0, 12 }, { 0, 8 }, { 0, 0 },
	{ 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 8 }, { 4, 0 }, { 0, 12 },
	{ 0, 0 }, { 4, 0 }, { 0, 0 }, { 0, 12 },
};

static uint32_t at(const char *p, int i)
{
	uint32_t n;

	memcpy(&n, p + 4 * i, 4);
	return n;
}

static int same(const struct btf *b, uint32_t name, const char *wanted)
{
	char *s;
	int is;

	if (name >= b->nstrings || !memchr(b->strings + name, '\0', b->nstrings - name))
		return 0;
	s = strdup(b->strings + name);
	is = !strcmp(s, wanted);
	free(s);
	return is;
}

static void look(const struct btf *b, const char *structure, const char *member,
		 const char *function)
{
	int found = btf_member(b, structure, member), own = -2, known = 0;
	uint32_t number = 0, f = 0;

	for (const char *p = b->types; b->types_end - p >= 12;) {
		unsigned kind = at(p, 1) >> 24 & 31, n = at(p, 1) & 0xffff;
		long size;

		if (kind >= sizeof(more) / sizeof(*more))
			break;
		size = 12 + more[kind][0] + (long)more[kind][1] * n;
		if (size > b->types_end - p)
			break;
		number++;
		if (kind == 12 && !f && same(b, at(p, 0), function))
			f = number;
		for (unsigned i = 0; (kind == 4 || kind == 5) && i < n; i++) {
			const char *m = p + 12 + 12 * i;
			uint32_t bits = at(p, 1) >> 31 ? at(m, 2) & 0xffffff : at(m, 2);

			if (!same(b, at(m, 0), member))
				continue;
			known = 1;
			/* in the first structure of this name, or in an inner one before */
			if (own == -2 && kind == 4 && same(b, at(p, 0), structure))
				own = bits % 8 ? -1 : (int)(bits / 8);
		}
		if (own == -2 && kind == 4 && same(b, at(p, 0), structure))
			own = -3;
		/* an unnamed member before it may contain a member of that name, too */
		for (unsigned i = 0; own >= -1 && kind == 4 && i < n; i++)
			if (same(b, at(p, 0), structure) && same(b, at(p + 12 + 12 * i, 0), ""))
				own = -3;
		p += size;
	}
	must(btf_function(b, function) == f);
	must(found >= -1);
	must(found == -1 || known);
	must(own < -1 || found == own);
	must(own != -2 || found == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = next_part(&data, &size), *save, path[PATH_MAX];
	const char *structure = strtok_r(words, " ", &save);
	const char *member = strtok_r(NULL, " ", &save), *function = strtok_r(NULL, " ", &save);
	struct btf b;

	put_file("btf", data, size);
	str_format(path, sizeof(path), "%s/btf", place());
	listen_to_stderr();
	if (!btf_read(&b, path)) {
		look(&b, structure ? structure : "", member ? member : "",
		     function ? function : "");
		btf_free(&b);
	}
	must(!b.text);
	must_be_said(0);
	free(words);
	return 0;
}
