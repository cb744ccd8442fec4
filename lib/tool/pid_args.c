/* SPDX-License-Identifier: ISC */
/* pid_args.c - pids of the command line or of standard input */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"

/* Add the pids of a list with commas between. Return -1, silent, if a word is not a pid. */
static int add_list(struct pids *s, const char *list, int flags)
{
	for (;; list++) {
		int other = flags & PID_LIST_OTHERS && *list == '-';
		size_t n = strcspn(list += other, ",");
		unsigned long pid;
		char word[24];

		/* a word that is too long is cut, but is still too large a number */
		str_format(word, sizeof(word), "%.*s",
			   (int)(n < sizeof(word) ? n : sizeof(word)), list);
		if (text_number(word, !(flags & PID_LIST_IDLE), K_PID_MAX_LIMIT, &pid) < 0)
			return -1;
		pids_add(s, other ? -(pid_t)pid : (pid_t)pid);
		list += n;
		if (!*list)
			return 0;
	}
}

int pids_option(const struct tool *t, const char *list, int flags, struct pids *out)
{
	if (add_list(out, list, flags) < 0)
		opt_refuse(t, "a list of pids");
	return pids_sort(out);
}

static void add_word(const struct tool *t, struct pids *s, const char *word)
{
	if (add_list(s, word, 0) < 0)
		usage_error(t, "'%.80s' is not a pid, a number from 1 to 4194304", word);
}

/* Add the pids of standard input. Return 0, or -1, reported. */
static int read_pids(const struct tool *t, struct pids *s)
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
	return in.failed ? -1 : 0;
}

int pids_operands(const struct tool *t, char **argv, struct pids *out)
{
	int r = 0;

	if (!*argv || (!strcmp(*argv, "-") && !argv[1]))
		r = read_pids(t, out);
	else
		while (*argv)
			add_word(t, out, *argv++);
	if (r < 0 || pids_sort(out) < 0)
		return -1;
	if (!out->n)
		usage_error(t, "no pids");
	return 0;
}
