/* SPDX-License-Identifier: ISC */
/* diff_normal.c - text without what differs from run to run: pids, addresses, temporary names */

#include "lines/lines.h"
#include "diff.h"

static struct table pids = { .size = sizeof(struct table_entry) };
static struct table temporary = { .size = sizeof(struct table_entry) };

enum { RANDOM = 6 /* letters that mkstemp(3) chooses */, LONG = 5 /* constants: fewer digits */ };

void diff_pid(struct text_part pid)
{
	static char last[12];

	if (pid.n < 2 || pid.n >= sizeof(last) || text_part_is(pid, last))
		return;
	str_format(last, sizeof(last), "%.*s", (int)pid.n, pid.text);
	table_at(&pids, pid.text, pid.n);
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Are there letters of two of the three classes? */
static int looks_random(const char *s, size_t n)
{
	int lower = 0, upper = 0, digit = 0;

	for (size_t i = 0; i < n; i++) {
		lower |= s[i] >= 'a' && s[i] <= 'z';
		upper |= s[i] >= 'A' && s[i] <= 'Z';
		digit |= is_digit(s[i]);
	}
	return lower + upper + digit > 1;
}

/*
 * Find the part of a name that mkstemp(3) and the like choose: the last letters before the last
 * dot. Return its length, and set *at; 0: the name is too short.
 */
static size_t random_part(const char *name, size_t n, size_t *at)
{
	size_t end = n, begin;
	const char *dot = memrchr(name, '.', n);

	if (n > 4 + RANDOM && !memcmp(name, "tmp.", 4)) { /* mktemp(1) */
		*at = 4;
		return n - 4;
	}
	if (dot && dot - name >= RANDOM)
		end = (size_t)(dot - name);
	for (begin = end; begin && is_word(name[begin - 1]);)
		begin--;
	if (end - begin < RANDOM)
		return 0;
	/* Python chooses eight letters */
	*at = end - begin <= 8 ? begin : end - begin == 11 && !memcmp(name + begin, "tmp", 3) ?
	      begin + 3 : end - RANDOM;
	return end - *at;
}

/* Is a path's directory one for temporary files? */
static int is_for_temporary(const char *path, size_t n)
{
	static const char dirs[][10] = { "/tmp/", "/var/tmp/", "/dev/shm/" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (n == strlen(dirs[i]) && !memcmp(path, dirs[i], n))
			return 1;
	return 0;
}

/* Append a name of a path, which begins at path and has n bytes before the name. */
static void add_name(struct strbuf *to, const char *path, size_t n, size_t length, int made)
{
	const char *name = path + n;
	size_t at = 0, random = random_part(name, length, &at), digits;
	int odd = random && looks_random(name + at, random), below = is_for_temporary(path, n);

	if (random && made && (odd || below))
		table_at(&temporary, name, length);
	if (random && ((odd && below) || table_find(&temporary, name, length))) {
		strbuf_add(to, name, at);
		strbuf_puts(to, "??????");
		strbuf_add(to, name + at + random, length - at - random);
		return;
	}
	for (size_t i = 0; i < length; i += digits + !digits) {
		for (digits = 0; i + digits < length && is_digit(name[i + digits]);)
			digits++;
		if (digits && ((n == 6 && digits == length && !memcmp(path, "/proc/", n)) ||
			       (digits > 2 && table_find(&pids, name + i, digits))))
			strbuf_puts(to, "PID");
		else
			strbuf_add(to, name + i, digits + !digits);
	}
}

void diff_path(struct strbuf *to, struct text_part path, int made)
{
	for (size_t i = 0, n; i < path.n; i += n) {
		for (n = 0; i + n < path.n && path.text[i + n] != '/';)
			n++;
		if (n)
			add_name(to, path.text, i, n, made && i + n == path.n);
		else
			strbuf_add(to, path.text + i, n = 1);
	}
}

/* Append the digits at s. Return how many. */
static size_t add_digits(struct strbuf *to, const char *s, const char *end, char before)
{
	size_t n = 0;

	if (end - s > 2 && *s == '0' && s[1] == 'x') {
		for (n = 2; s + n < end && (is_digit(s[n]) || (s[n] >= 'a' && s[n] <= 'f'));)
			n++;
		strbuf_puts(to, "0x?");
		return n;
	}
	while (s + n < end && is_digit(s[n]))
		n++;
	if (n >= LONG || before == '[' || (n > 1 && table_find(&pids, s, n)))
		strbuf_puts(to, "N");
	else
		strbuf_add(to, s, n);
	return n;
}

void diff_text(struct strbuf *to, struct text_part text)
{
	const char *s = text.text, *end = s + text.n;
	char before = ' ';

	while (s < end) {
		size_t n = 0;

		if (*s == '/' && (before == '"' || before == '<')) {
			while (s + n < end && s[n] != '"' && s[n] != '>')
				n++;
			diff_path(to, (struct text_part){ s, n }, 0);
		} else if (is_digit(*s) && !is_word(before)) {
			n = add_digits(to, s, end, before);
		} else {
			while (s + n < end && (!n || !(s[n] == '/' || (is_digit(s[n]) &&
								       !is_word(s[n - 1])))))
				n++;
			strbuf_add(to, s, n);
		}
		s += n;
		before = s[-1];
	}
}
