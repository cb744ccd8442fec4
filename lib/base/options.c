/* SPDX-License-Identifier: ISC */
/* options.c - the command line of a tool: options, numbers, pids, operands that are too many */

#include "base/base.h"

char *opt_value;
const char *opt_root, *opt_instance;
int opt_index = 1;

enum { COLUMNS = 80 };

static const char *next_line(const char *line)
{
	return strchr(line, '\n') + 1;
}

/* Return the line of an option in the help, or NULL. */
static const char *find_option(const struct tool *t, char letter)
{
	for (const char *line = next_line(next_line(t->help)); *line; line = next_line(line))
		if (line[0] == '-' && line[1] == letter && letter != '-')
			return line;
	return NULL;
}

/* Return the length of the part before the text: option, command, value. */
static size_t length_of(const char *line)
{
	size_t n = 0;

	while (line[n] != ' ' || line[n + 1] != ' ')
		n++;
	return n;
}

/* Print the synopsis in lines of at most COLUMNS. Keep brackets, and "-k KEY", together. */
static void print_usage(const char *p)
{
	static const char head[] = "usage:";
	size_t column = strlen(head), n;
	int depth = 0;

	stdout_print("%s", head);
	for (; *p != '\n'; p += n + (p[n] == ' ')) {
		for (n = 0; p[n] != '\n' && (depth || p[n] != ' ' || (n == 2 && *p == '-')); n++)
			depth += (p[n] == '[') - (p[n] == ']');
		if (column + 1 + n > COLUMNS) {
			stdout_print("\n      ");
			column = strlen(head);
		}
		stdout_print(" %.*s", (int)n, p);
		column += 1 + n;
	}
}

_Noreturn static void print_help(const struct tool *t)
{
	static const char spaces[] = "                        ";
	const char *purpose = next_line(t->help), *options = next_line(purpose);
	const char *line, *end;
	size_t wide = 0, n;

	print_usage(t->help);
	stdout_print("\n%s - %.*s%s", t->name, (int)(options - purpose), purpose,
		     *options ? "\n" : "");
	for (line = options; *line; line = next_line(line)) {
		n = length_of(line);
		wide = n > wide ? n : wide;
	}
	for (line = options; *line; line = end) {
		end = next_line(line);
		n = length_of(line);
		stdout_print("  %.*s%.*s%.*s", (int)n, line, (int)(wide - n), spaces,
			     (int)(end - line - (ssize_t)n), line + n);
	}
	stdout_flush();
	exit(DONE);
}

/* Report an option that does not exist, and the one that was perhaps meant. */
_Noreturn static void no_such_option(const struct tool *t, const char *word)
{
	char letter = word[1];
	const char *near;

	near = letter == '-' ? find_option(t, word[2]) : find_option(t, (char)(letter ^ ' '));
	if (near)
		usage_error(t, "no such option: %s (did you mean %.2s?)", word, near);
	usage_error(t, "no such option: %s", word);
}

static const struct opt_place instance_places[] = {
	{ 'R', &opt_root, NULL }, { 'i', &opt_instance, NULL }, { 0 },
};

/* Put the option where it belongs. Return 0 if it has no place. */
static int put(const struct opt_place *p, char letter)
{
	while (p && p->letter && p->letter != letter)
		p++;
	if (!p || !p->letter)
		return 0;
	if (p->value)
		*p->value = opt_value;
	else
		*p->flag = 1;
	return 1;
}

int opt_next(const struct tool *t, int argc, char **argv)
{
	static const char *rest = ""; /* unread letters of the argument before opt_index */
	char letter_word[3] = "-";
	const char *known;
	char letter;

	program_name = t->name;
	if (opt_index == 1)
		rest = "";
	if (!*rest) {
		const char *word = opt_index < argc ? argv[opt_index] : "";

		if (word[0] != '-' || !word[1])
			return -1;
		opt_index++;
		if (!strcmp(word, "--"))
			return -1;
		if (!strcmp(word, "--help"))
			print_help(t);
		if (!strcmp(word, "--version")) {
			stdout_print("%s %s\n", t->name, VERSION);
			stdout_flush();
			exit(DONE);
		}
		if (word[1] == '-')
			no_such_option(t, word);
		rest = word + 1;
	}
	letter = *rest++;
	known = find_option(t, letter);
	if (!known && letter == 'h')
		print_help(t);
	if (letter == '-')
		usage_error(t, "no such option: %s", argv[opt_index - 1]);
	letter_word[1] = letter;
	if (!known)
		no_such_option(t, letter_word);
	opt_value = NULL;
	if (known[3] != ' ') { /* two spaces: the text */
		if (!*rest && opt_index == argc)
			usage_error(t, "option -%c needs a value", letter);
		opt_value = (char *)(size_t)(*rest ? rest : argv[opt_index++]);
		rest = "";
	}
	if ((t->takes_instance && put(instance_places, letter)) || put(t->places, letter))
		return opt_next(t, argc, argv);
	return letter;
}

void opt_number(const struct tool *t, const char *what, unsigned long low, unsigned long high,
		unsigned long *n)
{
	if (text_number(opt_value, low, high, n) < 0)
		usage_error(t, "not %s: '%.80s'", what, opt_value);
}

pid_t opt_pid(const struct tool *t, const char *argument)
{
	pid_t pid = text_pid(argument);

	if (!pid)
		usage_error(t, "not a pid: '%.80s'", argument);
	return pid;
}

void opt_end(const struct tool *t, const char *operand)
{
	if (operand)
		usage_error(t, "unexpected operand '%.80s'", operand);
}
