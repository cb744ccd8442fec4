/* SPDX-License-Identifier: ISC */
/* ask.c - read what the words of tfs-run's command line ask for */
#include <sys/stat.h>

#include "base/base.h"
#include "front.h"
#include "session/session.h"

const char *const ask_options[] = {
	"-o, --file FILE  write the trace to FILE; PROG keeps standard output; the name's end "
	"says the format: .json, .dat (trace.dat), .svg (a picture), or else text",
	"--summary  print a table of calls or times at the end, in place of the events",
	"--top N  with --summary: only the first N lines",
	"--human  print for people, as on a terminal: names of errors and signals, columns",
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

/* Is the word a program that a person may want to trace? */
static int is_program(const char *word)
{
	char path[PATH_MAX];

	return *word != '-' && !ask_find_program(word, path);
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

/* Is the word an option of the hook whose values are the next words? */
static int takes_values(const struct hook *h, const char *word)
{
	const char *value;

	for (size_t i = 0; i < h->noptions; i++)
		if (h->options[i].type != TYPE_FLAG && opt_is(&h->options[i], word, &value))
			return !value;
	return 0;
}

void ask_hint(const struct ask *ask, const struct catalog_hook *hook)
{
	struct hook parsed;
	char line[400];

	if (hook_read(&parsed, hook->dir, hook->name) < 0)
		return;

	for (size_t i = 0; !ask->command && ask->words[i]; i++)
		if (is_program(ask->words[i]) && !takes_values(&parsed, ask->words[i - 1])) {
			suggest_line(line, sizeof(line), ask, i);
			err_note("to trace the program %s, put -- before it: %s",
				 ask->words[i], line);
			return;
		}
}

int ask_hook_is_program(const struct ask *ask)
{
	int strace = !strcmp(ask->hook, "strace");
	char line[400] = "", **word = ask->words;

	while (strace && *word && !is_program(*word))
		word++;
	if (!*word || !strace) {
		if (!is_program(ask->hook))
			return 0;
		word = ask->words - 1; /* HOOK */
	}
	for (; *word; word++)
		add_word(line, sizeof(line), *word);
	err_msg("'%.80s' is a program, not a hook; tfs-run trace_process --%s shows what it "
		"does", ask->hook, line);
	return 1;
}

/* Is the word an option that belongs before HOOK? */
static int stands_first(const char *word)
{
	return !strcmp(word, "--") || !strcmp(word, "--check") || !strcmp(word, "--help") ||
	       !strcmp(word, "--version");
}

int ask_check_option(const struct tool *tool, char **words)
{
	char line[400] = "", **word;
	int pid;

	while (*words && words[1] && (!strcmp(*words, "-o") || !strcmp(*words, "-m")))
		words += 2;
	word = words;
	if (*words && words[1] && !strncmp(*words, "--", 2) && !stands_first(*words)) {
		program_name = tool->name;
		return err_msg("option %.80s belongs after the hook: tfs-run HOOK %.80s ...; "
			       "tfs-run alone lists the hooks", *words, *words);
	}
	if (!*words || **words != '-' || strchr("-hmo", (*words)[1]))
		return 0;
	pid = !strcmp(*words, "-p");
	for (; !pid && *word && !is_program(*word); word++)
		if (word[1] && (!strcmp(*word, "-e") || !strcmp(*word, "-o")))
			word++; /* the value */
	if (!*word)
		return 0;
	for (char **w = word; *w; w++)
		add_word(line, sizeof(line), *w);
	program_name = tool->name;
	return err_msg("option %s needs a hook before it; tfs-run trace_process%s%s shows "
		       "system calls", *words, pid ? "" : " --", line);
}

int ask_check_first(const struct ask *ask, const struct tool *tool)
{
	const char *word = *ask->words;
	char line[400];

	if (ask_has_word(ask->words, "--output"))
		return err_msg("tfs-run has no --output; give -o FILE, such as x.json, x.dat or "
			       "x.svg");
	if (!word || *word == '-')
		return 0;
	if (!is_program(word))
		usage_error(tool, "'%.80s' is not an option of %s; tfs-run %s --help lists them",
			    word, ask->hook, ask->hook);
	suggest_line(line, sizeof(line), ask, 0);
	err_msg("'%.80s' is not an option; to trace that program, put -- before it: %s",
		word, line);
	return -1;
}

/* Is the word one of tfs-run's own options? Then read its line, and set the value in the word. */
static int find_own(const char *word, struct opt *o, const char **value)
{
	for (const char *const *line = ask_options; *line; line++)
		if (!opt_parse(o, *line) && opt_is(o, word, value))
			return o->type != TYPE_FLAG || !*value;
	return !opt_parse(o, "--help") && opt_is(o, word, value) && !*value;
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
		{ "summary", &ask->summary, NULL }, { "human", &ask->human, NULL },
		{ "check", &ask->check, NULL }, { "help", &ask->help, NULL },
	};
	char **to = ask->words;
	const char *value;
	struct opt o;

	/* --top may also be an option of the hook */
	ask->summary = ask_has_word(ask->words, "--summary");
	for (char **from = ask->words; *from; from++) {
		size_t i = 0;

		if (!find_own(*from, &o, &value) || (!strcmp(o.name, "top") && !ask->summary)) {
			*to++ = *from;
			continue;
		}
		while (strcmp(all[i].name, o.name))
			i++;
		if (all[i].flag) {
			*all[i].flag = 1;
			continue;
		}
		if (*all[i].text)
			usage_error(tool, "option %s is given twice", *from);
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
			usage_error(tool, "option -o is given twice");
		if (c == OPT_LONG)
			ask->check = 1;
		else if (c == 'm')
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
