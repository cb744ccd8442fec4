/* SPDX-License-Identifier: ISC */
/* table.c - keys that come and go, compared with a list of them */
#include "fuzz.h"

struct kept {
	struct table_entry entry;
	unsigned value;
};

enum { MOST = 4096 };

/* For each byte: the highest bit removes or adds the key that the other bits name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table t = { .size = sizeof(struct kept) };
	unsigned there[MOST] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		unsigned key = data[i] % 128u * 32 + data[i + 1] % 32u;
		char text[2] = { (char)(key >> 7), (char)(key & 127) };
		struct kept *k = table_find(&t, text, sizeof(text));

		must(!k == !there[key]);
		must(!k || k->value == there[key]);
		if (data[i] < 128) {
			k = table_at(&t, text, sizeof(text));
			must(k->value == there[key]);
			must(k->entry.n == 2 && !memcmp(k->entry.key, text, 3 - 1) &&
			     !k->entry.key[2]);
			n += !there[key];
			k->value = there[key] = (unsigned)i + 1;
		} else if (k) {
			table_remove(&t, k);
			there[key] = 0;
			n--;
		}
		must(t.n == n);
	}
	table_sort(&t, table_by_key);
	for (size_t i = 0; i < t.n; i++) {
		struct kept *k = (struct kept *)t.v[i];

		must(!i || table_by_key(&t.v[i - 1], &t.v[i]) < 0);
		must(k->value == there[(unsigned)k->entry.key[0] * 128 +
				       (unsigned)k->entry.key[1]]);
	}
	for (size_t i = 0; i < t.n; i++)
		free(t.v[i]);
	free(t.v);
	return 0;
}
