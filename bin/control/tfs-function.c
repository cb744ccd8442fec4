/* SPDX-License-Identifier: ISC */
/*
 * tfs-function - select the functions that the function tracers record
 *
 * Requires: tracefs, CONFIG_DYNAMIC_FTRACE, and permission to write its files.
 * FUNCTION is a name or a glob of * ? [ ]. If the kernel can trace no function of that
 * name, tfs-function writes nothing. Otherwise it adds the functions to those that are
 * set already. -l without FUNCTION prints all functions.
 * Exit: 0 done, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"

static int lists, excludes;

static const struct tool tool = {
	TOOL_TFS_FUNCTION,
	.takes_instance = 1,
	.places = (const struct opt_place[]){
		{ 'l', .flag = &lists }, { 'n', .flag = &excludes }, { 0 },
	},
};

/*
 * Return the next name of available_filter_functions, or NULL, and advance *next. Write a
 * NUL after the name, where a function of a module has " [MODULE]".
 */
static char *next_name(char **next, char *end)
{
	char *name = *next, *line_end;

	if (name >= end)
		return NULL;
	line_end = memchr(name, '\n', (size_t)(end - name));
	if (!line_end)
		return NULL;
	*next = line_end + 1;
	*line_end = '\0';
	name[strcspn(name, " ")] = '\0';
	return name;
}

/*
 * Return 0 if the word matches a function in all, the content of
 * available_filter_functions; otherwise -1, reported.
 */
static int check(const char *word, const char *all, size_t len)
{
	struct suggest near = { .word = word };
	char *text = xrealloc(NULL, len + 1, 1), *next = text, *name;
	int found = 0;

	memcpy(text, all, len);
	while (!found && (name = next_name(&next, text + len))) {
		found = glob_matches(word, name);
		suggest_offer(&near, name);
	}
	if (found && (ctl_cut(word) || strchr(word, ':'))) { /* in brackets */
		free(text);
		return err_msg("not a glob for the kernel: '%.80s'; a colon begins a command, and "
			       "a space another name", word);
	}
	if (!found)
		err_msg("the kernel cannot trace a function that is called '%.80s'; %s", word,
			suggest_remedy(&near, "tfs-function -l prints the names of all"));
	free(text);
	return found ? 0 : -1;
}

static void list(char **words, char *all, size_t len)
{
	char *name, **w;

	for (char *next = all; (name = next_name(&next, all + len));) {
		for (w = words; *w && !glob_matches(*w, name); w++)
			;
		if (*w || !*words)
			stdout_print("%s\n", name);
	}
	stdout_flush();
}

/* Write all words. Return 0, or undo the writes and return -1, reported. */
static int set(int dir, const char *file, char **words)
{
	char undo[512];
	char **w = words;

	while (*w && !ctl_write(dir, file, *w, 0))
		w++;
	if (!*w)
		return 0;
	while (w > words) {
		str_format(undo, sizeof(undo), "!%s", *--w);
		ctl_try(dir, file, undo, 0);
	}
	return -1;
}

int main(int argc, char **argv)
{
	const char *file;
	int dir, top;
	size_t len;
	char *all;

	opt_next(&tool, argc, argv);
	file = excludes ? "set_ftrace_notrace" : "set_ftrace_filter";
	argv += opt_index;
	if (!*argv && !lists)
		usage_error(&tool, "no function; give at least one, or -l to list them");
	top = tracefs_open(opt_root, "", NULL);
	dir = top < 0 ? -1 : tracefs_open(opt_root, opt_instance, NULL);
	if (dir < 0)
		return REFUSED;
	all = file_read(top, "available_filter_functions", &len);
	if (!all)
		return err_file("unable to read available_filter_functions"), REFUSED;
	for (char **w = argv; *w; w++)
		if (check(*w, all, len) < 0)
			return REFUSED;
	if (!lists)
		return set(dir, file, argv) < 0 ? REFUSED : DONE;
	list(argv, all, len);
	return DONE;
}
