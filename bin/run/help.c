/* SPDX-License-Identifier: ISC */
/* help.c - print what hooks there are, what one of them does, and what this kernel can run */

#include "base/base.h"
#include "tool/tool.h"
#include "front.h"
#include "session/session.h"

/* ---- what this kernel can run ------------------------------------------------------------ */

int help_ask(const char *const *argv, char *why, size_t size)
{
	char *line, rest[512];
	size_t n = 0;
	int ends[2];
	ssize_t got;
	pid_t pid;

	if (pipe(ends) < 0 || (pid = fork()) < 0) {
		str_format(why, size, "unable to run %s: %s", *argv, strerror(errno));
		return REFUSED;
	}
	if (!pid) {
		int null = open("/dev/null", O_RDONLY);

		if (null >= 0)
			dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		execv(*argv, (char *const *)(size_t)argv);
		err_errno("unable to run %s", *argv);
		_exit(126);
	}
	close(ends[1]);
	while ((got = read(ends[0], n < size - 1 ? why + n : rest,
			   n < size - 1 ? size - 1 - n : sizeof(rest))) > 0)
		n += n < size - 1 ? (size_t)got : 0;
	close(ends[0]);
	why[n] = '\0';
	why[strcspn(why, "\n")] = '\0';
	if ((line = strstr(why, "fatal: ")))
		memmove(why, line + 7, strlen(line + 7) + 1);
	return child_wait(pid);
}

/*
 * Run the hook's manager with --check. Write its first line, without the names of the
 * manager and the hook, to why (size bytes). Return its exit status.
 */
static int ask_manager(const struct catalog_hook *h, char *why, size_t size)
{
	char manager[PATH_MAX + 16];
	size_t skip = strlen(h->name);
	int status;

	str_format(manager, sizeof(manager), "%s/manager", h->dir);
	status = help_ask((const char *[]){ manager, "--check", h->name, NULL }, why, size);
	if (!strncmp(why, h->name, skip) && !strncmp(why + skip, ": ", 2))
		memmove(why, why + skip + 2, strlen(why + skip + 2) + 1);
	return status;
}

int help_check(const char *dir, const char *subsystem)
{
	size_t n, width = 0;
	struct catalog_hook *v = catalog_read(dir, subsystem, &n);
	char why[PATH_MAX];
	int r = DONE;

	for (size_t i = 0; i < n; i++)
		if (strlen(v[i].name) > width)
			width = strlen(v[i].name);
	for (size_t i = 0; i < n; i++) {
		if (!v[i].executable)
			str_format(why, sizeof(why), "not executable; run chmod +x %s", v[i].path);
		if (!v[i].executable || ask_manager(&v[i], why, sizeof(why)))
			r = NO;
		stdout_print("%s", v[i].name);
		print_wrapped(why, strlen(v[i].name), width + 2);
	}
	stdout_flush();
	free(v);
	return r;
}

/* ---- the list ------------------------------------------------------------------------------ */

/* One hook of the list. */
struct entry {
	struct hook parsed;
	int printed;
};

static void read_header(struct entry *e, const struct catalog_hook *h)
{
	char *text = file_read(AT_FDCWD, h->path, NULL);

	e->parsed.name = h->name;
	if (text)
		hook_parse_header(&e->parsed, text, h->path);
	if (!e->parsed.question)
		e->parsed.question = "Other hooks";
	if (!e->parsed.description)
		e->parsed.description = "";
}

static void print_entry(const struct catalog_hook *h, const struct hook *parsed, size_t width)
{
	char why[PATH_MAX], line[PATH_MAX + 64];

	stdout_print("  %s", h->name);
	print_wrapped(parsed->description, 2 + strlen(h->name), width);
	if (!h->executable)
		str_format(why, sizeof(why), "not executable; run chmod +x %s", h->path);
	else if (!ask_manager(h, why, sizeof(why)))
		return;
	str_format(line, sizeof(line), "(cannot run here: %s)", why);
	print_wrapped(line, 0, width);
}

void help_list(const char *dir, const char *subsystem)
{
	/* the order of the groups; hooks with another question come last */
	static const char *const questions[] = {
		"What does a program do?", "Where does the time go?", "Who talks to whom?",
		"Which functions run?", "How often does it happen?",
		"Any event, and what happened before?",
	};
	size_t n, width = 0, groups = sizeof(questions) / sizeof(*questions);
	struct catalog_hook *v = catalog_read(dir, subsystem, &n);
	struct entry *all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		read_header(&all[i], &v[i]);
		if (strlen(v[i].name) + 4 > width)
			width = strlen(v[i].name) + 4;
	}
	for (size_t g = 0; g < groups + n; g++) {
		const char *question = g < groups ? questions[g] : all[g - groups].parsed.question;
		int title = 0;

		for (size_t i = 0; i < n; i++) {
			if (all[i].printed || strcmp(all[i].parsed.question, question))
				continue;
			if (!title++)
				stdout_print("%s\n", question);
			print_entry(&v[i], &all[i].parsed, width);
			all[i].printed = 1;
		}
	}
	stdout_print("\ntfs-run HOOK --help shows options and examples; man HOOK has all "
		     "details.\n");
	stdout_flush();
}

/* ---- one hook ------------------------------------------------------------------------------ */

static void print_examples(const struct hook *parsed)
{
	for (size_t i = 0; i < parsed->nexamples; i++) {
		const char *line = parsed->examples[i], *text = strstr(line, "  ");

		if (!i)
			stdout_print("examples:\n");
		stdout_print("  %.*s\n", (int)(text ? text - line : (long)strlen(line)), line);
		if (text)
			print_wrapped(text + 2, 0, 6);
	}
}

/* Does the help show this common option? tfs-run itself gives --output. */
static int shows_common(const struct hook *h, size_t i)
{
	return hook_shows(h, &h->options[i]) && strcmp(h->options[i].name, "output");
}

/* Print the common options, and those of tfs-run. */
static void print_all(const struct hook *h, const char *const *front_options, int summary)
{
	size_t selectors = h->ncommon;

	while (selectors && strcmp(h->options[selectors - 1].name, "all"))
		selectors--;
	stdout_print("\nwhich tasks, and their later children; PROG needs none of these:\n");
	if (h->selects)
		print_wrapped(h->selects, 0, 2);
	for (size_t i = 0; i < h->ncommon; i++) {
		if (i == selectors)
			stdout_print("\nthe session:\n");
		if (shows_common(h, i))
			opt_print(h->options[i].line);
	}
	if (*front_options)
		stdout_print("\nthe output:\n");
	for (; *front_options; front_options++)
		if (summary || !ask_is_of_summary(*front_options))
			opt_print(*front_options);
}

/* Print the names of the common options, and how to read about them. */
static void print_common(const struct hook *h, const char *const *front_options, int summary)
{
	static const char label[] = "common options, which --help all describes:";
	struct strbuf names = { 0 };

	for (size_t i = 0; i < h->ncommon; i++)
		if (shows_common(h, i))
			opt_add_name(&names, h->options[i].line);
	for (; *front_options; front_options++)
		if (summary || !ask_is_of_summary(*front_options))
			opt_add_name(&names, *front_options);
	stdout_print("\n%s", label);
	print_wrapped(names.text, strlen(label), 2);
	free(names.text);
}

int help_hook(const struct catalog_hook *h, const char *const *front_options, int all)
{
	struct hook parsed;
	int summary;

	if (hook_read(&parsed, h->dir, h->name) < 0)
		return -1;
	summary = (!parsed.summary || strncmp(parsed.summary, "none", 4)) &&
		  !hook_own_option(&parsed, "summary");
	stdout_print("usage: tfs-run %s [OPTION]... [-- PROG...]\n", h->name);
	print_wrapped(parsed.description, 0, 0);
	if (parsed.noptions > parsed.ncommon)
		stdout_print("\noptions of this hook:\n");
	for (size_t i = parsed.ncommon; i < parsed.noptions; i++)
		opt_print(parsed.options[i].line);
	if (all)
		print_all(&parsed, front_options, summary);
	else
		print_common(&parsed, front_options, summary);
	stdout_print("\n");
	print_examples(&parsed);
	stdout_print("man %s has the fields, the cost and all messages.\n", h->name);
	stdout_flush();
	return 0;
}
