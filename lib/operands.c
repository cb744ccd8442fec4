/* SPDX-License-Identifier: ISC */
/* operands.c - pids that somebody gives: operands, or lines of standard input */
#include <stdlib.h>
#include <string.h>

#include "tfs.h"

static void add_word(const struct tool *t, struct pids *s, const char *word)
{
	pid_t pid = pid_number(word);

	if (!pid)
		misused(t, "not a pid: '%.80s'", word);
	pids_add(s, pid);
}

static void read_pids(const struct tool *t, struct pids *s)
{
	struct reader in = { 0 };
	char *line, *word, *save;
	ssize_t n;

	while ((n = next_line(&in, &line)) >= 0) {
		if (strlen(line) != (size_t)n)
			misused(t, "a NUL byte among the pids");
		for (word = strtok_r(line, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save))
			add_word(t, s, word);
	}
	free(in.text);
}

void pid_operands(const struct tool *t, char **argv, struct pids *out)
{
	if (!*argv || (!strcmp(*argv, "-") && !argv[1]))
		read_pids(t, out);
	else
		while (*argv)
			add_word(t, out, *argv++);
	if (pids_sort(out) < 0)
		exit(REFUSED);
	if (!out->n)
		misused(t, "no pids");
}
