/* SPDX-License-Identifier: ISC */
/* ask.c - read what the words of tfs-run's command line ask for */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "front/front.h"

const char *const ask_options[] = {
	"-o FILE  write the trace to FILE; PROG keeps standard output; the name's end "
	"says the format: .json, .dat (trace.dat), .svg (a picture), or else text",
	"--summary  print a table of calls or times at the end, in place of the events",
	"--top N  with --summary: only the first N lines",
	"--human  print for people, as on a terminal: names of errors and signals, columns",
	"--check  print whether this kernel can run the hook with these options",
	NULL,
};

int ask_find_program(const char *name, char *path)
{
	const char *s = getenv("PATH");
	int status = 127;
	size_t n;

	if (strchr(name, '/'))
		return str_format(path, PATH_MAX, "%s", name) < PATH_MAX ? 0 : 127;
	for (s = s ? s : "/usr/bin:/bin"; *name && *s; s += n + (s[n] == ':')) {
		struct stat st;

		n = strcspn(s, ":");
		if (str_format(path, PATH_MAX, "%.*s%s%s", (int)n, s, n ? "/" : "", name) >=
			    PATH_MAX ||
		    stat(path, &st) || !S_ISREG(st.st_mode))
			continue;
		if (!access(path, X_OK))
			return 0;
		status = 126;
	}
	return status;
}

/* Is the word a program that a person may want to trace? */
static int is_program(const char *word)
{
	char path[PATH_MAX];

	return *word != '-' && !ask_find_program(word, path) && !access(path, X_OK);
}

/* Append a word to line as a person types it: in quotes only if a shell needs them. */
static void add_word(char *line, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:=,@%+";
	size_t n = strlen(line);

	if (!*word || word[strspn(word, plain)])
		words_quote(line, size, word);
	else
		str_format(line + n, size - n, " %s", word);
}

/* Write "tfs-run HOOK WORDS -- PROG..." to line, where PROG is words[prog]. */
static void suggest_line(char *line, size_t size, const struct ask *ask, size_t prog)
{
	str_format(line, size, "tfs-run");
	add_word(line, size, ask->hook);
	for (size_t i = 0; ask->words[i]; i++) {
		if (i == prog)
			add_word(line, size, "--");
		add_word(line, size, ask->words[i]);
	}
}

void ask_hint(const struct ask *ask)
{
	char line[400];

	for (size_t i = 0; !ask->command && ask->words[i]; i++)
		if (is_program(ask->words[i])) {
			suggest_line(line, sizeof(line), ask, i);
			err_note("to trace the program %s, put -- in front of it: %s",
				 ask->words[i], line);
			return;
		}
}

int ask_hook_is_program(const struct ask *ask)
{
	char line[400] = "";

	if (!is_program(ask->hook))
		return 0;
	add_word(line, sizeof(line), ask->hook);
	for (char **word = ask->words; *word; word++)
		add_word(line, sizeof(line), *word);
	err_msg("'%.80s' is a program, not a hook; tfs-run trace_process --%s shows what it "
		"does", ask->hook, line);
	return 1;
}

int ask_check_first(const struct ask *ask, const struct tool *tool)
{
	const char *word = *ask->words;
	char line[400];

	if (!word || *word == '-')
		return 0;
	if (!is_program(word))
		usage_error(tool, "'%.80s' is not an option of %s; tfs-run %s --help lists them",
			    word, ask->hook, ask->hook);
	suggest_line(line, sizeof(line), ask, 0);
	err_msg("'%.80s' is not an option; to trace that program, put -- in front of it: %s",
		word, line);
	return -1;
}

/*
 * Take tfs-run's own options out of the words behind HOOK. The other words are the hook's.
 */
static void take_own(struct ask *ask, const struct tool *tool)
{
	char **to = ask->words;

	/* --top may also be an option of the hook */
	for (char **word = ask->words; *word; word++)
		ask->summary |= !strcmp(*word, "--summary");
	for (char **from = ask->words; *from; from++) {
		const char **value = !strcmp(*from, "-o") ? &ask->file :
				     !strcmp(*from, "--top") && ask->summary ? &ask->top : NULL;
		int *flag = !strcmp(*from, "--help") ? &ask->help :
			    !strcmp(*from, "--check") ? &ask->check :
			    !strcmp(*from, "--summary") ? &ask->summary :
			    !strcmp(*from, "--human") ? &ask->human : NULL;

		if (flag)
			*flag = 1;
		else if (!value)
			*to++ = *from;
		else if (!(*value = *++from))
			usage_error(tool, "option %s needs a value", from[-1]);
	}
	*to = NULL;
}

void ask_parse(struct ask *ask, const struct tool *tool, int argc, char **argv)
{
	int c;

	*ask = (struct ask){ .subsystem = NULL };
	for (;;) {
		if (opt_index < argc && !strcmp(argv[opt_index], "--check")) {
			ask->check = 1;
			opt_index++;
			continue;
		}
		c = opt_next(tool, argc, argv);
		if (c == -1)
			break;
		if (c == 'm')
			ask->subsystem = opt_value;
		else
			ask->file = opt_value;
	}
	argv += opt_index;
	ask->hook = *argv;
	ask->words = argv + (*argv != NULL);
	for (argv = ask->words; *argv && strcmp(*argv, "--"); argv++)
		;
	if (*argv) {
		*argv = NULL;
		ask->command = argv + 1;
		if (!*ask->command)
			usage_error(tool, "no program after --");
	}
	take_own(ask, tool);
}
