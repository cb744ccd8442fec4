/* SPDX-License-Identifier: ISC */
/* numbers.c - numbers, names and lists of pids, against the C library */
#include <ctype.h>

#include "fuzz.h"

static void check_number(const char *s)
{
	static const unsigned long limits[] = { 0, 1, INT_MAX, UINT_MAX, ULONG_MAX };
	unsigned long expected, n;
	int digits = *s != '\0';

	for (const char *p = s; *p; p++)
		digits &= isdigit((unsigned char)*p) != 0;
	errno = 0;
	expected = strtoul(s, NULL, 10);
	digits &= !errno;
	for (size_t low = 0; low < 5; low++)
		for (size_t high = low; high < 5; high++) {
			int ok = digits && expected >= limits[low] &&
				 expected <= limits[high];

			n = 12345;
			must((text_number(s, limits[low], limits[high], &n) == 0) == ok);
			must(n == (ok ? expected : 12345));
		}
	must(text_pid(s) == (digits && expected <= 1 << 22 ? (pid_t)expected : 0));
}

static void check_pids(const char *s)
{
	struct pids all = { 0 }, odd = { 0 }, rest = { 0 };
	size_t n = 0;

	pids_parse(&all, s);
	for (size_t i = 0; i < all.n; i++) {
		must(!i || all.v[i] > all.v[i - 1]);
		must(pids_has(&all, all.v[i]));
		if (all.v[i] % 2)
			pids_add(&odd, all.v[i]);
		pids_add(&rest, all.v[i]);
	}
	/* the list has every number of the text, and nothing else */
	for (const char *p = s; *p;) {
		unsigned long long value = 0;

		if (!isdigit((unsigned char)*p)) {
			p++;
			continue;
		}
		for (; isdigit((unsigned char)*p); p++)
			value = value * 10 + (unsigned)(*p - '0');
		if ((pid_t)value) {
			must(pids_has(&all, (pid_t)value));
			n++;
		}
	}
	must(all.n <= n && (all.n > 0) == (n > 0));
	must(!pids_has(&all, 0));
	pids_minus(&rest, &odd);
	must(rest.n == all.n - odd.n);
	for (size_t i = 0; i < rest.n; i++)
		must(rest.v[i] % 2 == 0);
	pids_clear(&all);
	pids_clear(&odd);
	pids_clear(&rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = next_part(&data, &size);
	const char *p = s;
	int ok = *s && *s != '.' && *s != '-' && strlen(s) < 65;

	for (; *p; p++)
		ok &= *p > 0 && (isalnum((unsigned char)*p) || strchr("_.-", *p));
	must(text_is_name(s) == ok);
	check_number(s);
	check_pids(s);
	free(s);
	return 0;
}
