/* SPDX-License-Identifier: ISC */
/* options.c - the command line of a tool */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

char *opt_value;
const char *opt_root, *opt_instance;
int opt_index = 1;

int opt_next(const struct tool *t, int argc, char **argv)
{
	static const char *rest = ""; /* unread letters of the word before opt_index */
	const char *known;
	char letter;

	program_name = t->name;
	if (opt_index == 1)
		rest = "";
	if (opt_index == 1 && argc > 1 && !strcmp(argv[1], "--help")) {
		stdout_print("usage: %s\n%s - %s\n", t->usage, t->name, t->purpose);
		stdout_flush();
		exit(DONE);
	}
	if (opt_index == 1 && argc > 1 && !strcmp(argv[1], "--version")) {
		stdout_print("%s %s\n", t->name, VERSION);
		stdout_flush();
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
			usage_error(t, "no such option: %s", word);
		rest = word + 1;
	}
	letter = *rest++;
	known = letter == ':' ? NULL : strchr(t->letters, letter);
	if (letter == '-')
		usage_error(t, "no such option: %s", argv[opt_index - 1]);
	if (!known)
		usage_error(t, "no such option: -%c", letter);
	opt_value = NULL;
	if (known[1] != ':')
		return letter;
	if (!*rest && opt_index == argc)
		usage_error(t, "option -%c needs a value", letter);
	opt_value = (char *)(size_t)(*rest ? rest : argv[opt_index++]);
	rest = "";
	if (t->takes_instance && (letter == 'R' || letter == 'i')) {
		*(letter == 'R' ? &opt_root : &opt_instance) = opt_value;
		return opt_next(t, argc, argv);
	}
	return letter;
}
