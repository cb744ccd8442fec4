/* SPDX-License-Identifier: ISC */
/* ask.c - read what the words of tfs-run's command line ask for */
#include <sys/stat.h>

#include "base/base.h"
#include "tool/tool.h"
#include "front.h"
#include "session/session.h"

const char *const ask_options[] = {
	"-o, --file FILE  write the trace to FILE; PROG keeps standard output; the name's end "
	"says the format: .json, .dat (trace.dat), .svg (a picture), or else text",
	"--summary  print a table of calls or times at the end, in place of the events",
	"--top N  with --summary: only the first N lines",
	"--sort TEXT  with --summary: sort by calls, errors, total, avg, p99, max or name",
	"--per KEY,...  with --summary: a line for each thread, or value of a key, such as comm",
	"--every MS  with --summary: a table every MS milliseconds, as 1s; at a terminal in place",
	"--human  print for people, as on a terminal: names of errors and signals, columns",
	"--color auto|always|never  colours in lines for people; auto: only at a terminal",
	"--check  print whether this kernel can run the hook with these options",
	NULL,
};

int ask_has_word(char *const *words, const char *word)
{
	while (*words && strcmp(*words, word))
		words++;
	return *words != NULL;
}

/* Return 0 if the path leads to a program, 126 if its file is not executable, or else 127. */
static int program_status(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 127;
	return access(path, X_OK) ? 126 : 0;
}

int ask_find_program(const char *name, char *path)
{
	const char *s = getenv("PATH");
	char file[PATH_MAX];
	int status = 127;
	size_t n;

	if (strchr(name, '/'))
		return str_format(path, PATH_MAX, "%s", name) < PATH_MAX ? program_status(path) :
									   127;
	for (s = s ? s : "/usr/bin:/bin"; *name && *s && status; s += n + (s[n] == ':')) {
		int found;

		n = strcspn(s, ":");
		if (str_format(file, PATH_MAX, "%.*s%s%s", (int)n, s, n ? "/" : "", name) >=
		    PATH_MAX)
			continue;
		found = program_status(file);
		if (found < status) {
			status = found;
			str_format(path, PATH_MAX, "%s", file);
		}
	}
	return status;
}

int ask_is_program(const char *word)
{
	char path[PATH_MAX];

	return *word != '-' && !ask_find_program(word, path);
}

int ask_check_units(const struct ask *ask, const struct hook *h)
{
	const char *value;

	for (char **word = ask->words; *word; word++)
		for (size_t i = 0; i < h->noptions; i++) {
			const struct opt *o = &h->options[i];

			if ((o->type != TYPE_MS && o->type != TYPE_US) || !opt_is(o, *word, &value))
				continue;
			value = value ? value : word[1];
			if (value && *value && strcmp(value, "0") &&
			    !value[strspn(value, "0123456789")])
				return err_msg(o->type == TYPE_MS ?
					       "--%s %s has no unit; give %ss or %sms" :
					       "--%s %s has no unit; give %sms or %sus",
					       o->name, value, value, value);
		}
	return 0;
}

void ask_add_word(char *line, size_t size, const char *word)
{
	size_t n = strlen(line);

	if (n + 2 > size)
		return;
	strcpy(line + n, " ");
	words_quote(line + n + 1, size - n - 1, word);
}

/* Write "tfs-run HOOK WORDS -- PROG..." to line, where PROG is words[prog]. */
static void suggest_line(char *line, size_t size, const struct ask *ask, size_t prog)
{
	str_format(line, size, "tfs-run");
	ask_add_word(line, size, ask->hook);
	for (size_t i = 0; ask->words[i]; i++) {
		if (i == prog)
			ask_add_word(line, size, "--");
		ask_add_word(line, size, ask->words[i]);
	}
}

int ask_takes_values(const struct hook *h, const char *word)
{
	const char *value;

	for (size_t i = 0; i < h->noptions; i++)
		if (h->options[i].type != TYPE_FLAG && opt_is(&h->options[i], word, &value))
			return !value;
	return 0;
}

void ask_hint(const struct ask *ask, const struct catalog_hook *hook)
{
	struct hook h;
	char line[400];

	if (hook_read(&h, hook->dir, hook->name) < 0)
		return;
	for (size_t i = 0; !ask->command && ask->words[i]; i++)
		if (ask_is_program(ask->words[i]) && !ask_takes_values(&h, ask->words[i - 1])) {
			suggest_line(line, sizeof(line), ask, i);
			err_note("to trace the program %s, put -- before it: %s",
				 ask->words[i], line);
			return;
		}
}

int ask_hook_is_program(const struct ask *ask)
{
	char line[400] = "";

	if (!ask_is_program(ask->hook))
		return 0;
	for (char **word = ask->words - 1; *word; word++) /* HOOK is the first one */
		ask_add_word(line, sizeof(line), *word);
	err_msg("'%.80s' is a program, not a hook; tfs-run trace_syscalls --%s shows what it "
		"does", ask->hook, line);
	return 1;
}

/* Is the word an option that belongs before HOOK? */
static int stands_first(const char *word)
{
	static const char *const own[] = { "--", "--check", "--help", "--version", "--file",
					   "--subsystem", "--list", "--kill" };

	if (word[1] != '-')
		return strchr("hmolk", word[1]) != NULL;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(own[i], word))
			return 1;
	return 0;
}

/* Report the line in which the hook, one of the words, comes before the others. Return -1. */
static int hook_first(char **words, char **hook)
{
	char line[400] = "tfs-run";

	ask_add_word(line, sizeof(line), *hook);
	for (char **word = words; *word; word++)
		if (word != hook)
			ask_add_word(line, sizeof(line), *word);
	return err_msg("option %.80s belongs after the hook: %s", *words, line);
}

int ask_check_option(const char *hooks, char **words)
{
	char line[400], **word;

	while (*words && words[1] && (!strcmp(*words, "-o") || !strcmp(*words, "-m")))
		words += 2;
	if (!*words || **words != '-' || stands_first(*words))
		return 0;
	for (word = words; *word && strcmp(*word, "--"); word++)
		if (!strncmp(*word, "trace_", 6))
			return hook_first(words, word);
	if (!peers_command(hooks, words, line, sizeof(line)))
		return 0;
	return err_msg("option %.80s needs a hook before it; %s shows system calls", *words,
		       line);
}

int ask_check_first(const struct ask *ask, const struct hook *h)
{
	const char *word = *ask->words;
	const struct opt *o = h->options + h->ncommon;
	char line[400];

	if (!word || *word == '-')
		return 0;
	if (ask_is_program(word)) {
		suggest_line(line, sizeof(line), ask, 0);
		return err_msg("'%.80s' is not an option; to trace that program, put -- before "
			       "it: %s", word, line);
	}
	if (!word[strspn(word, "0123456789")])
		return err_msg("'%.80s' is not an option; to trace that task: tfs-run %s --pid "
			       "%s", word, ask->hook, word);
	if (h->noptions == h->ncommon || o->type == TYPE_FLAG)
		return err_msg("'%.80s' is not an option of %s; tfs-run %s --help lists them",
			       word, ask->hook, ask->hook);
	if (!strcmp(o->name, "binary") && strchr(word, ':'))
		return err_msg("'%.80s' is not an option of %s; did you mean --binary %.*s "
			       "--symbol %s?", word, ask->hook, (int)strcspn(word, ":"), word,
			       strchr(word, ':') + 1);
	return err_msg("'%.80s' is not an option of %s; did you mean --%s %s?", word, ask->hook,
		       o->name, word);
}

/* If the word is one of tfs-run's own options, read its line, and set the value in the word. */
static int find_own(const char *word, struct opt *o, const char **value)
{
	for (const char *const *line = ask_options; *line; line++)
		if (!opt_parse(o, *line) && opt_is(o, word, value))
			return o->type != TYPE_FLAG || !*value;
	return !opt_parse(o, "--help") && opt_is(o, word, value) && !*value;
}

int ask_is_own(const char *word)
{
	struct opt o;
	const char *value;

	return find_own(word, &o, &value);
}

int ask_is_of_summary(const char *line)
{
	return !strncmp(line, "--summary", 9) || strstr(line, "  with --summary: ");
}

int ask_check_summary(struct ask *ask, const struct hook *h)
{
	static char summary[] = "--summary";
	const char *value;
	struct opt o;
	size_t i = 0;

	if (ask->summary && hook_own_option(h, summary + 2)) {
		if (ask->top || ask->sort || ask->every || ask->per)
			return err_msg("--%s: the table of %s has no such option; leave it out",
				       ask->top ? "top" : ask->sort ? "sort" :
				       ask->every ? "every" : "per", ask->hook);
		ask->summary = 0;
		while (ask->words[i]) /* take_own has made room */
			i++;
		ask->words[i] = summary;
		ask->words[i + 1] = NULL;
	}
	for (char **word = ask->words; *word && !ask->summary; word++) {
		if (!find_own(*word, &o, &value) || !ask_is_of_summary(o.line))
			continue;
		for (i = 0; i < h->noptions && !opt_is(&h->options[i], *word, &value); i++)
			;
		if (i == h->noptions)
			return err_msg("--%s needs --summary; add it", o.name);
	}
	return 0;
}

/* Take tfs-run's own options out of the words after HOOK. The other words are the hook's. */
static void take_own(struct ask *ask, const struct tool *tool)
{
	const struct {
		const char *name;
		int *flag;
		const char **text;
	} all[] = {
		{ "file", NULL, &ask->file }, { "top", NULL, &ask->top },
		{ "sort", NULL, &ask->sort }, { "every", NULL, &ask->every },
		{ "per", NULL, &ask->per }, { "color", NULL, &ask->color },
		{ "summary", &ask->summary, NULL }, { "human", &ask->human, NULL },
		{ "check", &ask->check, NULL }, { "help", &ask->help, NULL },
	};
	char **to = ask->words;
	const char *value;
	struct opt o;

	/* these may also be options of the hook */
	ask->summary = ask_has_word(ask->words, "--summary");
	for (char **from = ask->words; *from; from++) {
		size_t i = 0;

		if (!find_own(*from, &o, &value) || (!ask->summary && ask_is_of_summary(o.line))) {
			*to++ = *from;
			continue;
		}
		while (strcmp(all[i].name, o.name))
			i++;
		if (all[i].flag) {
			*all[i].flag = 1;
			if (all[i].flag == &ask->help && from[1] && !strcmp(from[1], HELP_ALL)) {
				ask->help_all = 1;
				from++;
			}
			continue;
		}
		if (*all[i].text)
			usage_error(tool, "option %s is given twice; leave one out", *from);
		if (!value && !(value = *++from))
			usage_error(tool, "option %s needs a value", from[-1]);
		*all[i].text = value;
	}
	*to = NULL;
}

void ask_parse(struct ask *ask, const struct tool *tool, int argc, char **argv)
{
	int c;

	*ask = (struct ask){ .subsystem = NULL };
	while ((c = opt_next(tool, argc, argv)) != -1) {
		if (c == 'o' && ask->file)
			usage_error(tool, "option -o is given twice; leave one out");
		if (c == OPT_LONG)
			ask->check = 1;
		else if (c == 'l')
			ask->list = 1;
		else if (c == 'k')
			ask->end = opt_value;
		else if (c == 'm')
			ask->subsystem = opt_value;
		else
			ask->file = opt_value;
	}
	argv += opt_index;
	if ((ask->list || ask->end) && *argv)
		usage_error(tool, "unexpected operand '%.80s'", *argv);
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
	/* the same as without -o */
	if (ask->file && (!strcmp(ask->file, "-") || !strcmp(ask->file, "/dev/stdout")))
		ask->file = NULL;
}
