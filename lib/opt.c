/* SPDX-License-Identifier: ISC */
/* opt.c - options of the tools: getopt, and one face for all of them */
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

int next_option(const struct tool *t, int argc, char **argv)
{
	char letters[64];
	const char *word;
	int c;

	prog = t->name;
	if (optind == 1 && argc > 1 && !strcmp(argv[1], "--help")) {
		print("usage: %s\n%s - %s\n", t->usage, t->name, t->purpose);
		flush();
		exit(DONE);
	}
	if (optind == 1 && argc > 1 && !strcmp(argv[1], "--version")) {
		print("%s %s\n", t->name, VERSION);
		flush();
		exit(DONE);
	}
	/* '+': operands end the options on glibc too; ':': we do the talking */
	format(letters, sizeof(letters), "+:%s", t->letters);
	word = optind < argc ? argv[optind] : NULL; /* getopt may be past it then */
	c = getopt(argc, argv, letters);
	if (c == '?' && (!optopt || optopt == '-'))
		misused(t, "no such option: %s", word);
	if (c == '?')
		misused(t, "no such option: -%c", optopt);
	if (c == ':')
		misused(t, "option -%c needs a value", optopt);
	return c;
}
