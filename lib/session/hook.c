/* SPDX-License-Identifier: ISC */
/*
 * hook.c - find hooks and read their headers
 *
 * The header of a hook is the comment at the top of the file, up to the first line that is
 * not a comment. These lines of it are read, see trace-hook(5):
 *	# description: TEXT
 *	# requires: CONDITION... [| CONDITION...]... [(REMEDY)]
 *	# option: [-x, ]--name [VALUE]  TEXT
 *	# alternative: COMMAND
 *	# stream: alone
 *	# stream: plain
 *	# stream: ready[ with OPTION...]
 *	# adds: VIEW OPTION...
 *	# complete: OPTION
 *	# marks: waits
 *	# summary: OPTION...
 *	# summary: none  WHY
 *	# summary: with|without OPTION|EVENT...  WHY
 *	# question: TEXT
 *	# example: COMMAND[  TEXT]
 *	# columns: NAME[:WIDTH]=FIELD[-PREFIX]...
 *	# picture: none  WHY
 *	# picture: with|without OPTION|EVENT...  WHY
 *	# pass: --OPTION[=--NAME]... [| --OPTION[=--NAME]...] [(--OPTION)]
 *	# whom: optional
 *	# whom: hook  TEXT
 *	# whom: subject
 * A CONDITION is a path that must exist, or !PATH that must not. "|" separates alternatives;
 * one of them must hold. opt_parse reads the options.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "people/people.h"
#include "session/session.h"
#include "tracefs/tracefs.h"

/* ---- parsing ----------------------------------------------------------------------- */

static int add_option(struct hook *r, const char *line)
{
	struct opt o;

	if (r->noptions == HOOK_OPTIONS_MAX || opt_parse(&o, line) || !*o.name)
		return -1;
	o.for_hook = r->ncommon > 0;
	for (size_t i = 0; i < r->noptions; i++) {
		struct opt *other = &r->options[i];

		if (other->letter && other->letter == o.letter)
			return -1;
		if (strcmp(other->name, o.name))
			continue;
		/* the user and the name of a task change: a hook may test them at each event */
		if (i >= r->ncommon || (strcmp(o.name, "uid") && strcmp(o.name, "comm")))
			return -1;
		other->taken = 1;
	}
	r->options[r->noptions++] = o;
	return 0;
}

struct opt *hook_own_option(const struct hook *r, const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	for (size_t i = r->ncommon; i < r->noptions; i++)
		if (strlen(r->options[i].name) == n && !strncmp(r->options[i].name, name, n))
			return (struct opt *)(size_t)&r->options[i];
	return NULL;
}

/* Return the hook's own option at the beginning of s, --NAME, or NULL. */
static struct opt *own_option(const struct hook *r, const char *s)
{
	return strncmp(s, "--", 2) ? NULL : hook_own_option(r, s + 2);
}

/* Are these the columns of tfs-human? */
static int are_columns(const char *s)
{
	struct column c;
	int n;

	while ((n = column_next(&s, &c)) > 0)
		;
	return !n;
}

/* Is the value a condition (none, with or without options), two spaces and the reason? */
static int is_condition(const char *s)
{
	return strstr(s, "  ") && (!strncmp(s, "none  ", 6) ||
	       ((!strncmp(s, "with ", 5) || !strncmp(s, "without ", 8)) &&
		*strchr(s, ' ') && strchr(s, ' ')[1] != ' '));
}

/* Can the values of the option be passed on in one word, with commas between them? */
static int can_pass(const struct opt *o)
{
	return !o->may_be_empty && (!o->many || o->type != TYPE_TEXT || o->commas);
}

/* Read which options are passed to the stream, and the option in (), which they imply. 0, or -1. */
static int read_passed(struct hook *r, const char *s)
{
	const char *end = s + strcspn(s, "("), *equals;
	const struct opt *implied = *end ? own_option(r, end + 1) : NULL;
	int to_filter = 0;
	struct opt *o;

	if (*end && !implied)
		return -1;
	for (; s < end; s += strcspn(s, " "), s += strspn(s, " ")) {
		if (*s == '|') {
			to_filter = 1;
			continue;
		}
		o = own_option(r, s);
		if (!o || !can_pass(o))
			return -1;
		equals = s + strcspn(s, " =");
		o->pass = *equals == '=' ? equals + 1 : s;
		o->to_filter = to_filter;
		o->implied = implied;
	}
	return 0;
}

/* Read a line of the header. Return NULL, or an error; one that ends in a space needs the value. */
static const char *read_line(struct hook *r, const char *key, const char *value)
{
	if (!strcmp(key, "description")) {
		r->description = value;
	} else if (!strcmp(key, "alternative")) {
		r->alternative = value;
	} else if (!strcmp(key, "question")) {
		r->question = value;
	} else if (!strcmp(key, "columns")) {
		r->columns = value;
		return are_columns(value) ? NULL : "not columns: ";
	} else if (!strcmp(key, "summary")) {
		r->summary = value;
		return *value == '-' || is_condition(value) ? NULL :
		       "not options, 'none', 'with' or 'without' and a reason: ";
	} else if (!strcmp(key, "picture")) {
		r->picture = value;
		return is_condition(value) ? NULL :
		       "not 'none', 'with' or 'without' and a reason: ";
	} else if (!strcmp(key, "requires")) {
		if (r->nrequires == sizeof(r->requires) / sizeof(*r->requires))
			return "too many requirements";
		r->requires[r->nrequires++] = value;
	} else if (!strcmp(key, "example")) {
		if (r->nexamples < sizeof(r->examples) / sizeof(*r->examples))
			r->examples[r->nexamples++] = value;
	} else if (!strcmp(key, "stream")) {
		r->alone = !strcmp(value, "alone");
		r->plain = !strcmp(value, "plain");
		r->ready = !strcmp(value, "ready") ? "" :
			   !strncmp(value, "ready with ", 11) ? value + 11 : NULL;
		return r->alone || r->plain || r->ready ? NULL : "unknown value of stream: ";
	} else if (!strcmp(key, "marks")) {
		r->marked = !strcmp(value, "waits");
		return r->marked ? NULL : "unknown value of marks: ";
	} else if (!strcmp(key, "complete")) {
		r->complete = value;
	} else if (!strcmp(key, "adds")) {
		if (r->nadds == sizeof(r->adds) / sizeof(*r->adds) || !strstr(value, " --"))
			return "not a view and options, or too many: ";
		r->adds[r->nadds++] = value;
	} else if (!strcmp(key, "pass")) {
		return read_passed(r, value) < 0 ?
		       "not options of lines above, or with values that cannot be passed: " : NULL;
	} else if (!strcmp(key, "whom")) {
		r->selectors_optional = !strcmp(value, "optional");
		r->selects_subjects = !strcmp(value, "subject");
		if (!strncmp(value, "hook  ", 6))
			r->selects = value + 6;
		else if (!r->selectors_optional && !r->selects_subjects)
			return "unknown value of whom: ";
	} else if (!strcmp(key, "option")) {
		return add_option(r, value) < 0 ?
		       "not an option declaration, or its name is in use: " : NULL;
	}
	return NULL;
}

int hook_parse_header(struct hook *r, char *text, const char *file)
{
	char *line, *value;

	for (unsigned number = 1; (line = text_next_line(&text)) && *line == '#'; number++) {
		const char *wrong = NULL;

		for (size_t n = strlen(line); n && strchr(" \t\r", line[n - 1]); n--)
			line[n - 1] = '\0';
		value = strncmp(line, "# ", 2) ? NULL : strchr(line, ':');
		if (value) {
			*value++ = '\0';
			value += strspn(value, " \t");
			wrong = read_line(r, line + 2, value);
		}
		if (wrong)
			return err_msg("%s: line %u: %s%s", file, number, wrong,
				       wrong[strlen(wrong) - 1] == ' ' ? value : "");
	}
	return 0;
}

/* ---- files ------------------------------------------------------------------------- */

const char *hook_help(const char *name)
{
	static char line[160];

	if (getenv(FOR_PEOPLE))
		str_format(line, sizeof(line), "tfs-run %s --help", name);
	else
		str_format(line, sizeof(line), "--describe %s", name);
	return line;
}

int hook_is_name(const char *name)
{
	return text_is_name(name) && !strchr(name, '.');
}

int hook_own_directory(char *path, size_t i)
{
	const char *s = secure_getenv(HOOK_DIRECTORIES);
	size_t n;

	for (s = s ? s : ""; *s; s += n + (s[n] == ':')) {
		n = strcspn(s, ":");
		if (*s == '/' && n < PATH_MAX && !i--)
			return str_format(path, PATH_MAX, "%.*s", (int)n, s), 0;
	}
	return -1;
}

/* Does the path lead to a file that can be a hook? It need not be executable. */
static int is_file(char *path, const char *dir, const char *name, struct stat *st)
{
	return str_format(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && !stat(path, st) &&
	       S_ISREG(st->st_mode);
}

/*
 * Write the path of the hook to path. Return 0, or -1 if there is no such hook; errno is
 * then EACCES if the file of that name is not executable.
 */
static int find_hook(char *path, const char *dir, const char *name)
{
	char own[PATH_MAX];
	struct stat st = { .st_mode = 0111 };
	int found = 0;

	errno = ENOENT;
	if (!hook_is_name(name))
		return -1;
	for (size_t i = 0; !found && !hook_own_directory(own, i); i++)
		found = is_file(path, own, name, &st);
	if (!found) {
		str_format(own, sizeof(own), "%s/hooks.d", dir);
		found = is_file(path, own, name, &st);
	}
	errno = found ? EACCES : ENOENT;
	return found && (st.st_mode & 0111) ? 0 : -1;
}

int hook_list(const char *dir)
{
	char path[PATH_MAX], **names;

	str_format(path, sizeof(path), "%s/hooks.d", dir);
	names = file_names(path);
	if (!names)
		return err_errno("unable to list %s", path);
	for (char **name = names; *name; name++)
		if (!find_hook(path, dir, *name) && policy_hook(*name))
			stdout_print("%s\n", *name);
	free(names);
	return 0;
}

int hook_read(struct hook *r, const char *dir, const char *name)
{
	char *commons = strdup(request_common_options);

	*r = (struct hook){ .name = name };
	if (!commons)
		return err_msg("out of memory");
	if (hook_parse_header(r, commons, "common options") < 0)
		return -1;
	r->ncommon = r->noptions;
	if (find_hook(r->path, dir, name) < 0)
		return errno == EACCES
			       ? err_msg("%s is not executable; run chmod +x %s", name, r->path)
			       : err_msg("no hook '%.80s'; %s lists them", name,
					 getenv(FOR_PEOPLE) ? "tfs-run alone" : "--get-all");
	r->text = file_read(AT_FDCWD, r->path, NULL);
	if (!r->text)
		return err_errno("unable to read %s", r->path);
	if (hook_parse_header(r, r->text, r->path) < 0)
		return -1;
	return r->description ? 0 : err_msg("%s: no description in its header", r->path);
}

int hook_shows(const struct hook *r, const struct opt *o)
{
	return !o->taken && !(r->alone && !strcmp(o->name, "json")) &&
	       !(r->selectors_optional && !strcmp(o->name, "all")) &&
	       !(r->selects && !strcmp(o->name, "parent"));
}

void hook_describe(const struct hook *r)
{
	stdout_print("%s\n", r->description);
	for (size_t i = r->ncommon; i < r->noptions; i++)
		opt_describe(r->options[i].line);
	if (r->selects)
		stdout_print("with selectors: %s\n", r->selects);
	for (size_t i = 0; i < r->ncommon; i++)
		if (hook_shows(r, &r->options[i]))
			opt_describe(r->options[i].line);
}

const struct opt *hook_common_option(const struct hook *r, const char *name)
{
	for (size_t i = 0; i < r->ncommon; i++)
		if (!strcmp(r->options[i].name, name))
			return &r->options[i];
	__builtin_trap(); /* a bug: request_common_options has no such name */
}

/* ---- requirements ------------------------------------------------------------------ */

/* Return the option that {NAME} in a requirement names, or NULL. */
static const struct opt *braces(const struct hook *r, const char *s)
{
	const char *open = strchr(s, '{');

	return open ? hook_own_option(r, open + 1) : NULL;
}

/* Copy a condition of n bytes to path, with value for {NAME}. Return 0, or -1 if it is too long. */
static int fill_in(char *path, const char *s, size_t n, const char *value)
{
	const char *open = value ? memchr(s, '{', n) : NULL;
	const char *close = open ? memchr(open, '}', n - (size_t)(open - s)) : NULL;
	size_t len = close ? str_format(path, PATH_MAX, "%.*s%s%.*s", (int)(open - s), s, value,
					(int)(n - (size_t)(close + 1 - s)), close + 1)
			   : str_format(path, PATH_MAX, "%.*s", (int)n, s);

	return len >= PATH_MAX ? -1 : 0;
}

/*
 * Return whether all conditions of one alternative hold. If not, write the failed condition
 * to missing. If its file exists but cannot be opened, set reason to the errno, else to 0.
 */
static int holds(int root, const char *s, const char *end, const char *value,
		 char *missing, int *reason)
{
	int fd;

	*reason = 0;
	for (size_t n;; s += n) {
		s += strspn(s, " \t");
		n = strcspn(s, " \t|");
		if (s >= end || !n || *s == '(')
			return 1;
		if (fill_in(missing, s, n, value) < 0)
			return 0;
		if (*missing == '!' ? file_exists(root, missing + 1)
				    : !file_exists(root, missing))
			return 0;
		if (*missing == '!')
			continue;
		fd = openat(root, missing, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0) { /* lockdown may refuse that */
			*reason = errno;
			return 0;
		}
		close(fd);
	}
}

/* A condition that does not hold. value replaced {NAME} of the option o; both NULL: no {NAME}. */
struct lack {
	const char *line, *path; /* the line "requires"; the path of the root */
	const struct opt *o;
	const char *value;
	char missing[PATH_MAX];
	int reason;             /* why the file cannot be opened; 0: it does not exist */
};

/* Write what is missing, and where to look, to why. Return -1. */
static int report_lack(const struct lack *l, int root, char *why, size_t size)
{
	const char *remedy = strchr(l->line, '('), *hint = "", *value = l->value;
	struct suggest near;
	char look[PATH_MAX + 32], *slash;

	if (l->reason) {
		if (l->reason == EACCES)
			hint = caps_hint(l->reason, CAPS_DAC_OVERRIDE);
		if (!*hint)
			hint = "; the kernel or its security policy forbids that";
		str_format(why, size, "unable to open %s in %s: %s%s", l->missing, l->path,
			   strerror(l->reason), hint);
	} else if (remedy) {
		str_format(why, size, "no %s in this kernel; it needs %.*s", l->missing,
			   (int)strcspn(remedy + 1, ")"), remedy + 1);
	} else if (value && l->o->type == TYPE_SYSCALL) {
		value += !strncmp(value, "sys_exit_", 9) ? 9 : 0;
		near = (struct suggest){ .word = value };
		syscalls_suggest(root, value, &near);
		str_format(look, sizeof(look), "look in %s/events/syscalls", l->path);
		str_format(why, size, "no system call '%.80s' in this kernel; %s", value,
			   suggest_remedy(&near, look));
	} else {
		str_format(look, sizeof(look), "%s", l->missing);
		slash = strrchr(look, '/');
		if (slash)
			*slash = '\0';
		if (slash && file_exists(root, look))
			str_format(why, size, "no %s in this kernel; look in %s/%s", l->missing,
				   l->path, look);
		else
			str_format(why, size, "no %s in this kernel", l->missing);
	}
	return -1;
}

/* Check one line. The message names the first of the alternatives. */
static int check_one(struct lack *l, int root, char *why, size_t size)
{
	const char *end = l->line + strcspn(l->line, "("), *bar;
	char other[PATH_MAX];
	int reason;

	for (const char *s = l->line;; s = bar + 1) {
		int first = s == l->line;

		bar = s + strcspn(s, "|");
		if (bar > end)
			bar = end;
		if (holds(root, s, bar, l->value, first ? l->missing : other,
			  first ? &l->reason : &reason))
			return 0;
		if (bar == end)
			return report_lack(l, root, why, size);
	}
}

int hook_check_requirements(const struct hook *r, int root, const char *path, char *why,
			    size_t size)
{
	for (size_t i = 0; i < r->nrequires; i++) {
		const struct opt *o = braces(r, r->requires[i]);

		for (size_t j = 0; j < (o ? o->n : 1); j++)
			if (check_one(&(struct lack){ .line = r->requires[i], .path = path, .o = o,
						      .value = o ? o->v[j] : NULL },
				      root, why, size) < 0)
				return -1;
	}
	return 0;
}
