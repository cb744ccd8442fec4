/* SPDX-License-Identifier: ISC */
/* operands.c - pids that somebody gives: operands, or lines of standard input */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "proc/proc.h"

/* Add the pids of a list with commas between. -1, silent: a word is no pid. */
static int add_list(struct pids *s, const char *list, int flags)
{
	for (;; list++) {
		int other = flags & PID_LIST_OTHERS && *list == '-';
		size_t n = strcspn(list += other, ",");
		unsigned long pid;
		char word[24];

		/* a longer word fails as a number, too */
		str_format(word, sizeof(word), "%.*s",
			   (int)(n < sizeof(word) ? n : sizeof(word)), list);
		if (text_number(word, !(flags & PID_LIST_IDLE), PID_MAX_LIMIT, &pid) < 0)
			return -1;
		pids_add(s, other ? -(pid_t)pid : (pid_t)pid);
		list += n;
		if (!*list)
			return 0;
	}
}

void pids_option(const struct tool *t, const char *list, int flags, struct pids *out)
{
	if (add_list(out, list, flags) < 0)
		usage_error(t, "not a list of pids: '%.80s'", list);
	if (pids_sort(out) < 0)
		exit(REFUSED);
}

static void add_word(const struct tool *t, struct pids *s, const char *word)
{
	if (add_list(s, word, 0) < 0)
		usage_error(t, "not a pid: '%.80s'", word);
}

static void read_pids(const struct tool *t, struct pids *s)
{
	struct line_reader in = { 0 };
	char *line, *word, *save;
	ssize_t n;

	while ((n = line_read(&in, &line)) >= 0) {
		if (strlen(line) != (size_t)n)
			usage_error(t, "a NUL byte among the pids");
		for (word = strtok_r(line, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save))
			add_word(t, s, word);
	}
	free(in.text);
}

void pids_operands(const struct tool *t, char **argv, struct pids *out)
{
	if (!*argv || (!strcmp(*argv, "-") && !argv[1]))
		read_pids(t, out);
	else
		while (*argv)
			add_word(t, out, *argv++);
	if (pids_sort(out) < 0)
		exit(REFUSED);
	if (!out->n)
		usage_error(t, "no pids");
}
