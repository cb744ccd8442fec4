/* SPDX-License-Identifier: ISC */
/* types.c - the sizes of C types by their names */

#include "event/compile.h"

/* Parse u8 __u8 s64 be16 uint32_t and the like. Return 1, or 0 if it is another name. */
static int sized_type(const char *s, size_t n, struct c_type *t)
{
	static const char *const stems[] = { "uint", "int", "be", "le", "u", "s" };
	const char *end = s + n;
	unsigned bits = 0;

	for (; s < end && *s == '_'; s++)
		;
	for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++) {
		size_t len = strlen(stems[i]);

		if ((size_t)(end - s) <= len || memcmp(s, stems[i], len))
			continue;
		t->is_signed = *s == 's' || *s == 'i';
		for (s += len; s < end && is_digit(*s); s++)
			bits = bits * 10 + (unsigned)(*s - '0');
		break;
	}
	if (end - s == 2 && !memcmp(s, "_t", 2))
		s = end;
	if (s != end || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return 0;
	t->size = (uint8_t)(bits / 8);
	return 1;
}

int type_named(const char *s, size_t n, unsigned long_size, struct c_type *t)
{
	static const struct {
		const char *name;
		uint8_t size, is_signed; /* 0: a long */
	} types[] = {
#include "c_types.h"
	};

	if (sized_type(s, n, t))
		return 1;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, s, n)) {
			t->size = (uint8_t)(types[i].size ? types[i].size : long_size);
			t->is_signed = types[i].is_signed;
			t->is_bool = strstr(types[i].name, "ool") != NULL;
			return 1;
		}
	return 0;
}
