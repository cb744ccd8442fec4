/* SPDX-License-Identifier: ISC */
/* value.c - a number in any notation, and its power of two */

#include "fuzz.h"

/* Return 1 if strtoull, which is independent of our parser, takes the text for a number. */
static int is_number(const char *s, uint64_t *whole)
{
	const char *first;
	char *end;

	s += *s == '-' || *s == '+';
	first = s;
	errno = 0;
	if (s[0] == '0' && s[1] == 'x') {
		*whole = strtoull(s, &end, 16);
		return !errno && end - s > 2 && !*end;
	}
	*whole = strtoull(s, &end, 10);
	if (*first < '0' || *first > '9' || errno)
		return 0;
	if (*end == '.' && end[1])
		end += 1 + strspn(end + 1, "0123456789");
	return !*end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *a = next_part(&data, &size), *b = next_part(&data, &size);
	struct decimal v, w;
	uint64_t whole;
	int is = decimal_parse(&v, (struct text_part){ a, strlen(a) }) == 0;

	if (strchr(a, '(')) /* 0x7b (123), of the kernel's option fields */
		is = 0;
	else
		must(is == is_number(a, &whole));
	if (is) {
		int power = decimal_power(&v);

		must(v.nano < 1000000000);
		must(v.whole == whole || v.whole == 0 - whole);
		must(power >= DECIMAL_POWER_MIN && power <= 64);
		must(power >= 0 ? !v.negative : v.negative);
		must(!decimal_compare(&v, &v));
		if (v.whole) {
			int p = (power < 0 ? -1 - power : power) - 1;

			must(v.whole >> p == 1);
		}
	}
	if (is && decimal_parse(&w, (struct text_part){ b, strlen(b) }) == 0) {
		must(decimal_compare(&v, &w) == -decimal_compare(&w, &v));
		must(decimal_compare(&v, &w) <= 0 || decimal_power(&v) >= decimal_power(&w));
	}
	free(a);
	free(b);
	return 0;
}
