/* SPDX-License-Identifier: ISC */
/* options.c - options as lines declare them, and the command line of a tool */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"

struct opt opt_last;
char *opt_value;
const char *opt_root, *opt_instance;
int opt_index = 1;

enum { COLUMNS = 80, TEXT_COLUMN = 24 };

/* ---- the line of an option ----------------------------------------------------------- */

/* The word for each type, and the range: of a number, of a time in its unit, or of a size in KB. */
static const struct {
	char word[10];
	uint8_t type, least;    /* enum opt_type */
	int most;               /* -1: ULONG_MAX */
} types[] = {
#include "option_types.h"
};

/* Return the length of the part before the text: names, command, value. */
static size_t length_of(const char *line)
{
	size_t n = 0;

	while (line[n] && line[n] != '\n' && (line[n] != ' ' || line[n + 1] != ' '))
		n++;
	return n;
}

static int copy(char *to, size_t size, const char *from, size_t n)
{
	if (n >= size)
		return -1;
	memcpy(to, from, n);
	to[n] = '\0';
	return 0;
}

/* Parse the range of n bytes, LEAST-MOST, LEAST-all or LEAST-. Return 0 or -1. */
static int parse_range(struct opt *o, const char *s, size_t n)
{
	const char *end = s + n;

	o->least = (unsigned long)text_digits(&s);
	if (s == end || *s++ != '-')
		return -1;
	o->all = end - s == 3 && !strncmp(s, "all", 3);
	if (o->all) {
		o->most = 1000000000;
		return 0;
	}
	if (s < end)
		o->most = (unsigned long)text_digits(&s);
	return s == end && o->least <= o->most ? 0 : -1;
}

/* Parse the word of a type, n bytes, or choices. Return 0 or -1. */
static int parse_type(struct opt *o, const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n);
	size_t word = colon ? (size_t)(colon - s) : n;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strlen(types[i].word) != word || strncmp(types[i].word, s, word))
			continue;
		o->type = types[i].type;
		o->least = types[i].least;
		o->most = (unsigned long)(long)types[i].most;
		return !colon ? 0 : o->most ? parse_range(o, colon + 1, n - word - 1) : -1;
	}
	if (!memchr(s, '|', n) || memchr(s, ' ', n))
		return -1;
	o->type = TYPE_CHOICE;
	return copy(o->choices, sizeof(o->choices), s, n);
}

/* Parse a VALUE of n bytes into o. Return 0 or -1. */
static int parse_value(struct opt *o, const char *s, size_t n)
{
	const char *end;

	if (n > 5 && *s == '[' && !strncmp(s + n - 4, "...]", 4)) {
		o->may_be_empty = 1;
		s++;
		n -= 2;
	}
	if (n > 3 && !strncmp(s + n - 3, "...", 3)) {
		o->many = 1;
		n -= 3;
		o->commas = s[n - 1] == ',';
		n -= (size_t)o->commas;
	}
	if (*s == '[') {
		end = memchr(s, ']', n);
		if (!end || copy(o->prefix, sizeof(o->prefix), s + 1, (size_t)(end - s) - 1) < 0)
			return -1;
		n -= (size_t)(end + 1 - s);
		s = end + 1;
	}
	return parse_type(o, s, n);
}

int opt_parse(struct opt *o, const char *line)
{
	const char *s = line, *end = line + length_of(line);
	size_t n;

	*o = (struct opt){ .line = line };
	if (*s == '-' && s + 1 < end && s[1] != '-') {
		o->letter = s[1];
		s += 2;
		if (s + 1 < end && *s == ',' && s[1] == ' ')
			s += 2;
	}
	if (s + 2 < end && *s == '-' && s[1] == '-') {
		s += 2;
		n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");
		if (!n || *s == '-' || copy(o->name, sizeof(o->name), s, n) < 0)
			return -1;
		s += n;
	} else if (!o->letter) {
		return -1;
	}
	if (s == end)
		return 0;
	if (*s++ != ' ')
		return -1;
	if (s == end)
		return 0;
	o->type = TYPE_TEXT;
	return parse_value(o, s, (size_t)(end - s)) < 0;
}

/* Is this the option with the letter, or with the long name of n bytes unless name is NULL? */
static int is_named(const struct opt *o, char letter, const char *name, size_t n)
{
	return name ? n && strlen(o->name) == n && !strncmp(o->name, name, n) :
		      letter && o->letter == letter;
}

int opt_is(const struct opt *o, const char *word, const char **value)
{
	const char *name = strncmp(word, "--", 2) ? NULL : word + 2;
	size_t n = name ? strcspn(name, "=") : 0;

	*value = NULL;
	if (word[0] != '-' || !word[1] || !is_named(o, word[1], name, n))
		return 0;
	if (name ? name[n] == '=' : word[2] != '\0')
		*value = name ? name + n + 1 : word + 2;
	return 1;
}

/* ---- --help -------------------------------------------------------------------------- */

void print_wrapped(const char *text, size_t column, size_t indent)
{
	while (*text && *text != '\n') {
		size_t n = strcspn(text, " \n");

		if (column > indent && column + 1 + n > COLUMNS) {
			stdout_print("\n");
			column = 0;
		}
		for (; column < indent; column++)
			stdout_print(" ");
		if (column > indent) {
			stdout_print(" ");
			column++;
		}
		stdout_print("%.*s", (int)n, text);
		column += n;
		text += n + strspn(text + n, " ");
	}
	stdout_print("\n");
}

/*
 * Print the part before the text without the range. Break a list of words where the line would be
 * longer than most. Return the length of the last line.
 */
static size_t print_label(const char *line, size_t most)
{
	const char *end = line + length_of(line);
	size_t n = 0;

	for (const char *s = line; s < end; s++)
		if (*s == ':' && s[1] >= '0' && s[1] <= '9') {
			s += strspn(s, ":-0123456789al") - 1;
		} else if (*s == '|' && n + 1 + strcspn(s + 1, "| ") > most) {
			stdout_print("|\n%6s", "");
			n = 4; /* 6 less 2, the caller's indent */
		} else {
			stdout_print("%c", *s);
			n++;
		}
	return n;
}

void opt_describe(const char *line)
{
	const char *text = line + length_of(line);

	print_label(line, SIZE_MAX);
	stdout_print("%.*s\n", (int)strcspn(text, "\n"), text);
}

void opt_print(const char *line)
{
	const char *text = line + length_of(line);
	size_t column = 2;

	stdout_print("  ");
	column += print_label(line, COLUMNS - 2);
	if (column + 2 > TEXT_COLUMN) {
		stdout_print("\n");
		column = 0;
	}
	print_wrapped(text + strspn(text, " "), column, TEXT_COLUMN);
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

static const char *next_line(const char *line)
{
	return strchr(line, '\n') + 1;
}

/* Return the lines of the options and the commands. */
static const char *option_lines(const struct tool *t)
{
	return next_line(next_line(t->help));
}

void opt_add_name(struct strbuf *names, const char *line)
{
	struct opt o;

	if (opt_parse(&o, line) < 0)
		return;
	strbuf_puts(names, names->n ? ", " : "");
	if (*o.name)
		strbuf_format(names, "--%s", o.name);
	else
		strbuf_format(names, "-%c", o.letter);
}

/*
 * Print the help. If all is set, print the lines of the options below a title, ":TITLE", and
 * otherwise only their names.
 */
_Noreturn static void print_help(const struct tool *t, int all)
{
	const char *purpose = next_line(t->help), *line = option_lines(t), *title = NULL;
	struct strbuf names = { 0 };
	int n = 0;

	print_usage(t->help);
	stdout_print("\n%s - %.*s%s", t->name, (int)(line - purpose), purpose,
		     *line ? "\n" : "");
	for (;; line = next_line(line)) {
		if (title && !all && (!*line || *line == ':')) {
			stdout_print("%.*s:", n, title);
			print_wrapped(names.text, (size_t)n + 1, 2);
			names.n = 0;
		}
		if (!*line)
			break;
		if (*line == ':') {
			if (!title || all)
				stdout_print("\n");
			title = line + 1;
			n = (int)strcspn(title, "\n");
			if (all)
				stdout_print("%.*s:\n", n, title);
		} else if (title && !all) {
			opt_add_name(&names, line);
		} else {
			opt_print(line);
		}
	}
	if (title && !all)
		stdout_print("%s --help all describes these, too.\n", t->name);
	free(names.text);
	stdout_flush();
	exit(DONE);
}

_Noreturn static void print_version(const struct tool *t)
{
	stdout_print("%s %s\n", t->name, VERSION);
	stdout_flush();
	exit(DONE);
}

/* ---- the command line ---------------------------------------------------------------- */

/* Find an option by its letter, or by its long name of n bytes unless name is NULL. */
static int find(const struct tool *t, struct opt *o, char letter, const char *name, size_t n)
{
	for (const char *line = option_lines(t); *line; line = next_line(line))
		if (opt_parse(o, line) >= 0 && is_named(o, letter, name, n))
			return 1;
	return 0;
}

/* Report that the option does not exist, and which one the user may have meant. */
_Noreturn static void no_such_option(const struct tool *t, const char *word)
{
	char name[64], best[32] = "", remedy[64] = "";
	static const char *const all_have[] = { "help", "version" };
	struct suggest near = { .word = name };
	struct opt o;

	str_format(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	if (word[1] != '-' && find(t, &o, (char)(word[1] ^ ' '), NULL, 0))
		usage_error(t, "no such option: %s (did you mean -%c?)", name, o.letter);
	near.word += 2;
	for (const char *line = option_lines(t); *line && word[1] == '-' && word[2] && word[3];
	     line = next_line(line)) {
		if (opt_parse(&o, line) < 0)
			continue;
		suggest_offer(&near, o.name);
		if (near.n && near.name[0] == o.name)
			near.name[0] = strcpy(best, o.name);
	}
	for (size_t i = 0; i < 2 && word[1] == '-' && word[2] && word[3]; i++) {
		suggest_offer(&near, all_have[i]);
		if (near.n && near.name[0] == all_have[i])
			strcpy(best, all_have[i]);
	}
	if (*best)
		str_format(remedy, sizeof(remedy), " (did you mean --%s?)", best);
	usage_error(t, "no such option: %s%s", name, remedy);
}

static const struct opt_place instance_places[] = {
	{ 'R', .text = &opt_root }, { 'i', .text = &opt_instance }, { 0 },
};

int opt_put(const struct opt_place *p)
{
	struct opt_list *l;

	while (p && (p->name ? strcmp(p->name, opt_last.name) :
			       p->letter && p->letter != opt_last.letter))
		p++;
	if (!p || (!p->letter && !p->name))
		return 0;
	if (p->flag) {
		*p->flag = 1;
	} else if (p->text) {
		*p->text = opt_value;
	} else if (p->number) {
		*p->number = opt_number();
	} else {
		l = p->list;
		l->v = xrealloc(l->n ? l->v : NULL, l->n + 2, sizeof(*l->v));
		l->v[l->n++] = opt_value;
		l->v[l->n] = NULL;
	}
	return 1;
}

/* Check the value of the last option, NULL if it has none, and set opt_value. */
static void take_value(const struct tool *t, const char *value)
{
	char why[OPT_WHY];

	/* main checks a list, which may have special words */
	if (value && opt_last.type != TYPE_TEXT && !opt_last.many) {
		value = opt_check(&opt_last, value, why);
		if (!value)
			usage_error(t, "%s", why);
	}
	opt_value = (char *)(size_t)value;
}

/* Return the value of an option that needs one: the next argument. Exit MISUSED without it. */
static const char *next_value(const struct tool *t, int argc, char **argv, const char *dashes,
			      const char *name)
{
	if (opt_index == argc)
		usage_error(t, "option %s%s needs a value", dashes, name);
	return argv[opt_index++];
}

/* Read an option by its long name, --name or --name=VALUE. */
static void take_long(const struct tool *t, const char *word, int argc, char **argv)
{
	const char *value;

	if (!strcmp(word, "--help"))
		print_help(t, opt_index < argc && !strcmp(argv[opt_index], HELP_ALL));
	if (!strcmp(word, "--version"))
		print_version(t);
	if (!find(t, &opt_last, 0, word + 2, strcspn(word + 2, "=")))
		no_such_option(t, word);
	opt_is(&opt_last, word, &value);
	if (value && opt_last.type == TYPE_FLAG)
		usage_error(t, "option --%s takes no value", opt_last.name);
	if (!value && opt_last.type != TYPE_FLAG)
		value = next_value(t, argc, argv, "--", opt_last.name);
	take_value(t, value);
}

int opt_next(const struct tool *t, int argc, char **argv)
{
	static const char *rest = ""; /* unread letters of the argument before opt_index */
	const char *word, *value = NULL;
	char letter[3] = "-";

	program_name = t->name;
	if (opt_index == 1)
		rest = "";
	if (!*rest) {
		word = opt_index < argc ? argv[opt_index] : "";
		if (word[0] != '-' || !word[1])
			return -1;
		opt_index++;
		if (!strcmp(word, "--"))
			return -1;
		rest = word + 1;
	}
	if (*rest == '-') {
		word = argv[opt_index - 1];
		if (rest != word + 1)
			usage_error(t, "no such option: %s", word);
		rest = "";
		take_long(t, word, argc, argv);
	} else {
		letter[1] = *rest++;
		if (!find(t, &opt_last, letter[1], NULL, 0)) {
			if (letter[1] == 'h')
				print_help(t, opt_index < argc &&
						      !strcmp(argv[opt_index], HELP_ALL));
			no_such_option(t, letter);
		}
		if (!strcmp(opt_last.name, "version"))
			print_version(t);
		if (opt_last.type != TYPE_FLAG) {
			value = *rest ? rest : next_value(t, argc, argv, "", letter);
			rest = "";
		}
		take_value(t, value);
	}
	if ((t->takes_instance && opt_put(instance_places)) || opt_put(t->places))
		return opt_next(t, argc, argv);
	return opt_last.letter ? opt_last.letter : OPT_LONG;
}

unsigned long opt_number(void)
{
	unsigned long n = 0;

	text_number(opt_value, 0, ULONG_MAX, &n);
	return n;
}

void usage_error(const struct tool *t, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	str_vformat(what, sizeof(what), fmt, ap);
	va_end(ap);
	err_exit(MISUSED, "%s; usage: %.*s", what, (int)strcspn(t->help, "\n"), t->help);
}

void opt_refuse(const struct tool *t, const char *what)
{
	usage_error(t, "--%s: '%.80s' is not %s", opt_last.name, opt_value, what);
}

pid_t opt_pid(const struct tool *t, const char *operand)
{
	pid_t pid = text_pid(operand);

	if (!pid)
		usage_error(t, "'%.80s' is not a pid, a number from 1 to 4194304", operand);
	return pid;
}

void opt_end(const struct tool *t, const char *operand)
{
	if (operand)
		usage_error(t, "unexpected operand '%.80s'", operand);
}
