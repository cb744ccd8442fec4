/* SPDX-License-Identifier: ISC */
/* peers.c - answer the words of strace, perf, bcc and trace-cmd with those of tfs-run */

#include "base/base.h"
#include "tool/tool.h"
#include "front.h"
#include "session/session.h"

/*
 * Options of the peers. An option with " %" after it takes a value. A row with " #" is for a value
 * that is a number, and counts even if the hook has an option of that letter. Each row counts only
 * if the hook, or tfs-run, has the option that it needs. The text use replaces the option, and % in
 * it stands for the value. If options begin with the same letters, the longest comes first.
 */
struct peer_option {
	const char *word, *needs, *use, *why;
};

static const struct peer_option options[] = {
#include "peer_options.h"
};

/* How peers begin the name of a probe or an event, and the option that takes the rest. */
static const struct { const char *start, *answer; } probes[] = {
	{ "kprobe:", "trace_kprobe -k" }, { "p:", "trace_kprobe -k" },
	{ "kretprobe:", "trace_kprobe --return -k" }, { "r:", "trace_kprobe --return -k" },
	{ "tracepoint:", "trace_event -e" }, { "t:", "trace_event -e" },
};

/* Names of peers' tools and commands, and what answers their questions here. */
static const struct { const char *name, *answer; } names[] = {
#include "peer_names.h"
};

/* ---- options --------------------------------------------------------------------------- */

int peers_has(const struct hook *h, const char *word)
{
	const char *value;

	for (size_t i = 0; i < h->noptions; i++)
		if (!h->options[i].taken && opt_is(&h->options[i], word, &value) &&
		    strcmp(h->options[i].name, "output"))
			return 1;
	return ask_is_own(word);
}

static int has_named(const struct hook *h, const char *name)
{
	char word[40];

	str_format(word, sizeof(word), "--%s", name);
	return peers_has(h, word);
}

/* Return the length of the row's option if the word is or begins with this option, else 0. */
static size_t match(const struct peer_option *row, const char *word)
{
	size_t n = strcspn(row->word, " ");

	if (strncmp(row->word, word, n))
		return 0;
	return word[1] != '-' || !word[n] || word[n] == '=' ? n : 0;
}

/* Return the row for an option; NULL if the hook or no peer has it. next: the word after it. */
static const struct peer_option *find(const struct hook *h, const char *word, const char *next)
{
	for (const struct peer_option *row = options;
	     row < options + sizeof(options) / sizeof(*options); row++) {
		size_t n = match(row, word);
		char kind = n && row->word[n] ? row->word[n + 1] : '\0';
		const char *value = n && word[n] ? word + n + (word[n] == '=') : next;

		if (!n || (*row->needs && !has_named(h, row->needs)))
			continue;
		if (kind == '#' && (!value || !*value || value[strspn(value, "0123456789")]))
			continue;
		if (kind == '%' && (!value || *value == '-'))
			continue;
		if (kind != '#' && (n == 2 || word[1] == '-') && peers_has(h, word))
			continue;
		return row;
	}
	return NULL;
}

/* Append the words that replace an option, with this value. */
static void add_use(char *line, size_t size, const char *use, const char *value)
{
	char word[200];

	if (value && !strncmp(value, "trace=", 6))
		value += 6;
	for (size_t n; *use; use += n + (use[n] == ' ')) {
		size_t before = strcspn(use, "% ");

		n = strcspn(use, " ");
		if (use[before] == '%')
			str_format(word, sizeof(word), "%.*s%s%.*s", (int)before, use, value,
				   (int)(n - before - 1), use + before + 1);
		else
			str_format(word, sizeof(word), "%.*s", (int)n, use);
		ask_add_word(line, size, word);
	}
}

/*
 * Append to line what replaces the word **words, and move *words to the last word that was read.
 * Return the row of its first letter. NULL: no peer has the option, and nothing is appended.
 */
static const struct peer_option *replace(const struct hook *h, char ***words, char *line,
					 size_t size)
{
	const struct peer_option *first = NULL, *row;
	char letters[64];

	str_format(letters, sizeof(letters), "%s", **words);
	while (letters[0] == '-' && (row = find(h, letters, (*words)[1]))) {
		size_t n = strcspn(row->word, " ");
		const char *value = NULL;

		if (!first)
			first = row;
		if (row->word[n])
			value = letters[n] ? letters + n + (letters[n] == '=') : *++*words;
		add_use(line, size, row->use, value);
		if (value || !letters[n])
			return first;
		memmove(letters + 1, letters + n, strlen(letters + n) + 1);
	}
	if (first)
		ask_add_word(line, size, letters);
	return first;
}

/*
 * Write "tfs-run HOOK WORDS -- COMMAND" to line, with the words that replace those of peers. If
 * there is no command, a program among the words begins it. Return the row of the first option that
 * was replaced, or NULL.
 */
static const struct peer_option *translate(const struct hook *h, char **words, char **command,
					   char *line, size_t size)
{
	const struct peer_option *first = NULL, *row;
	int value = 0; /* may the word be the value of an option? */

	str_format(line, size, "tfs-run");
	ask_add_word(line, size, h->name);
	for (; *words; words++) {
		if (!command && !value && ask_is_program(*words)) {
			command = words;
			break;
		}
		value = ask_takes_values(h, *words);
		row = replace(h, &words, line, size);
		if (!row)
			ask_add_word(line, size, *words);
		else if (!first)
			first = row;
	}
	if (command && strcmp(*command, "--"))
		ask_add_word(line, size, "--");
	for (; command && *command; command++)
		ask_add_word(line, size, *command);
	return first;
}

/* Does one of tfs-run's own options look like the word? The manager suggests those of the hook. */
static int is_mistyped(const char *word)
{
	struct suggest near = { .word = word + 2 };
	struct opt o;

	if (strncmp(word, "--", 2) || strchr(word, '='))
		return 0;
	suggest_offer(&near, "help");
	for (const char *const *line = ask_options; *line; line++)
		if (!opt_parse(&o, *line))
			suggest_offer(&near, o.name);
	return near.n && 3 * near.far[0] <= strlen(word + 2);
}

int peers_check_options(const struct ask *ask, const struct hook *h)
{
	char line[400];
	const struct peer_option *row = translate(h, ask->words, ask->command, line, sizeof(line));

	if (row)
		return err_msg("%s has no option %.*s%s: %s; %s", h->name,
			       (int)strcspn(row->word, " "), row->word,
			       strchr(row->word, '#') ? " N" : "", row->why, line);
	for (char **word = ask->words; *word; word++)
		if (is_mistyped(*word) && !peers_has(h, *word))
			return request_no_option(h, *word, ask_options);
	return 0;
}

/* Read the hook that does most of what strace does. Return NULL, reported, if it is gone. */
static const struct hook *read_syscalls(const char *hooks)
{
	static struct hook h;
	static char dir[PATH_MAX];

	str_format(dir, sizeof(dir), "%s/ftrace", hooks);
	return hook_read(&h, dir, "trace_syscalls") < 0 ? NULL : &h;
}

int peers_command(const char *hooks, char **words, char *line, size_t size)
{
	const struct hook *h = read_syscalls(hooks);

	if (!h || !(peers_has(h, *words) || find(h, *words, words[1])))
		return 0;
	translate(h, words, NULL, line, size);
	return 1;
}

/* ---- names ----------------------------------------------------------------------------- */

/* Is there an event of this name, [SYSTEM:]EVENT? Do not report errors. */
static int is_event(const char *name)
{
	const char *colon = strchr(name, ':');
	char path[PATH_MAX], **systems;
	int found = 0;

	str_format(path, sizeof(path), "%s/kernel/tracing/events", path_sysfs());
	systems = file_names(path);
	for (char **system = systems; system && *system && !found; system++) {
		if (colon && (strncmp(*system, name, (size_t)(colon - name)) ||
			      (*system)[colon - name]))
			continue;
		str_format(path, sizeof(path), "%s/kernel/tracing/events/%s/%s/format",
			   path_sysfs(), *system, colon ? colon + 1 : name);
		found = file_exists(AT_FDCWD, path);
	}
	free(systems);
	return found;
}

/* Return what answers the question of a peer's tool or command. NULL: no peer has this name. */
static const char *answer_of(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].answer;
	return NULL;
}

int peers_answer(const struct ask *ask)
{
	const char *word = ask->hook, *next = *ask->words, *answer;
	int has_commands = !strcmp(word, "perf") || !strcmp(word, "trace-cmd");
	char call[128], line[400] = "";

	if (has_commands && next && (answer = answer_of(next)))
		return err_msg("'%s %s' is not a hook: tfs-run %s", word, next, answer);
	if (!strcmp(word, "help") && next)
		return err_msg("'help' is not a hook: tfs-run %.80s --help", next);
	/* with a word that is no option, it is a program that is to be traced */
	answer = answer_of(word);
	if (answer && (!next || *next == '-' || !ask_is_program(word)))
		return err_msg("'%s' is not a hook: tfs-run %s", word, answer);
	for (char **more = ask->words; *more; more++)
		ask_add_word(line, sizeof(line), *more);
	if (ask->command)
		ask_add_word(line, sizeof(line), "--");
	for (char **more = ask->command; more && *more; more++)
		ask_add_word(line, sizeof(line), *more);
	str_format(call, sizeof(call), "syscalls:sys_enter_%.80s", word);
	if (ask_is_program(word) || strchr(word, '/'))
		return 0;
	if (is_event(call))
		return err_msg("'%s' is a system call, not a hook: tfs-run trace_syscalls -s %s%s",
			       word, word, line);
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		if (!strncmp(probes[i].start, word, strlen(probes[i].start)))
			return err_msg("'%s' is a probe, not a hook: tfs-run %s %s%s", word,
				       probes[i].answer, word + strlen(probes[i].start), line);
	if (is_event(word))
		return err_msg("'%s' is an event, not a hook: tfs-run trace_event -e %s%s", word,
			       word, line);
	return 0;
}

int peers_strace(const struct ask *ask, const char *hooks)
{
	const struct hook *h = read_syscalls(hooks);
	char line[400];

	if (!h)
		return -1;
	translate(h, ask->words, ask->command, line, sizeof(line));
	return err_msg("'strace' is not a hook: %s", line);
}
