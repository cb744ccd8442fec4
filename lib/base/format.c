/* SPDX-License-Identifier: ISC */
/* format.c - the part of snprintf(3) that the tools need */
#include <stdint.h>
#include <string.h>

#include "base/base.h"

/* Write the digits of n in front of end, and return the first digit. */
static char *digits(char *end, unsigned long long n, unsigned base)
{
	do
		*--end = "0123456789abcdef"[n % base];
	while (n /= base);
	return end;
}

size_t str_vformat(char *buf, size_t size, const char *f, va_list ap)
{
	size_t n = 0;

	for (; *f; f++) {
		char number[24], *end = number + sizeof(number);
		const char *s = f;
		size_t len = 1, most = SIZE_MAX;
		int longs = 0;

		if (*f == '%') {
			f++;
			if (*f == '.' && f[1] == '*') {
				most = (size_t)va_arg(ap, int);
				f += 2;
			} else if (*f == '.') {
				for (most = 0, f++; *f >= '0' && *f <= '9'; f++)
					most = 10 * most + (size_t)(*f - '0');
			}
			for (; *f == 'l' || *f == 'z'; f++)
				longs += *f == 'l' ? 1 : (int)(sizeof(size_t) / sizeof(long));
			if (*f == 's') {
				s = va_arg(ap, const char *);
				len = strnlen(s, most);
			} else if (*f == 'd') {
				long long d = longs > 1 ? va_arg(ap, long long) :
					      longs ? va_arg(ap, long) : va_arg(ap, int);

				s = digits(end, d < 0 ? 0 - (unsigned long long)d
						      : (unsigned long long)d, 10);
				if (d < 0)
					*(char *)--s = '-';
				len = (size_t)(end - s);
			} else if (*f == 'u' || *f == 'x') {
				s = digits(end, longs > 1 ? va_arg(ap, unsigned long long) :
					   longs ? va_arg(ap, unsigned long)
						 : va_arg(ap, unsigned), *f == 'u' ? 10 : 16);
				len = (size_t)(end - s);
			} else if (*f == 'c') {
				*number = (char)va_arg(ap, int);
				s = number;
			} else {
				s = f; /* %% */
			}
		}
		if (n < size)
			memcpy(buf + n, s, len < size - n ? len : size - n);
		n += len;
	}
	if (size)
		buf[n < size ? n : size - 1] = '\0';
	return n;
}

size_t str_format(char *buf, size_t size, const char *f, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = str_vformat(buf, size, f, ap);
	va_end(ap);
	return n;
}
