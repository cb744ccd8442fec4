/* SPDX-License-Identifier: ISC */
/* opt.c - options of the tools, one face for all of them */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tfs.h"

static _Noreturn void refuse(const struct tool *t, const char *what)
{
	die(MISUSED, "%s; usage: %s", what, t->usage);
}

void misused(const struct tool *t, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vformat(what, sizeof(what), fmt, ap);
	va_end(ap);
	refuse(t, what);
}

char *opt_value;
int opt_index = 1;

int next_option(const struct tool *t, int argc, char **argv)
{
	static const char *rest = ""; /* letters of the word before opt_index */
	const char *known;
	char letter;

	prog = t->name;
	if (opt_index == 1)
		rest = "";
	if (opt_index == 1 && argc > 1 && !strcmp(argv[1], "--help")) {
		print("usage: %s\n%s - %s\n", t->usage, t->name, t->purpose);
		flush();
		exit(DONE);
	}
	if (opt_index == 1 && argc > 1 && !strcmp(argv[1], "--version")) {
		print("%s %s\n", t->name, VERSION);
		flush();
		exit(DONE);
	}
	if (!*rest) {
		const char *word = opt_index < argc ? argv[opt_index] : "";

		if (word[0] != '-' || !word[1])
			return -1;
		opt_index++;
		if (!strcmp(word, "--"))
			return -1;
		if (word[1] == '-')
			misused(t, "no such option: %s", word);
		rest = word + 1;
	}
	letter = *rest++;
	known = letter == ':' ? NULL : strchr(t->letters, letter);
	if (letter == '-')
		misused(t, "no such option: %s", argv[opt_index - 1]);
	if (!known)
		misused(t, "no such option: -%c", letter);
	opt_value = NULL;
	if (known[1] != ':')
		return letter;
	if (!*rest && opt_index == argc)
		misused(t, "option -%c needs a value", letter);
	opt_value = (char *)(size_t)(*rest ? rest : argv[opt_index++]);
	rest = "";
	return letter;
}
