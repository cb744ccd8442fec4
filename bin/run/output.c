/* SPDX-License-Identifier: ISC */
/* output.c - where the trace goes: a file, a filter, a person */
#include <fnmatch.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#include "base/base.h"
#include "reader/reader.h"
#include "people/people.h"
#include "event/event.h"
#include "lines/lines.h"
#include "front.h"
#include "session/session.h"
#include "tracedat/tracedat.h"
#include "tracefs/tracefs.h"

/* ---- what the options ask for --------------------------------------------------------- */

static int ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

/*
 * Check that the end of the file's name names a format, if it looks like one: a dot and up to
 * five small letters. Return 0, or -1, reported.
 */
static int check_ending(const char *file)
{
	static const char *const known[] = { "json", "dat", "svg", "txt", "text", "log", "out",
					     "trace", "tmp", "" };
	const char *base = strrchr(file, '/'), *end = strrchr(base ? base : file, '.');
	size_t n;

	if (!end++)
		return 0;
	n = strspn(end, "abcdefghijklmnopqrstuvwxyz");
	if (end[n] || n > 5)
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i], end))
			return 0;
	return err_msg("-o %s: tfs-run writes no .%s; the name can end in .json, .dat, .svg or "
		       ".txt", file, end);
}

/* Can the session give the date? Not with a word such as "counter" or "--clock=counter". */
static int has_date(char *const *words)
{
	for (; *words; words++) {
		const char *equals = strchr(*words, '=');

		if (line_clock_counts(equals ? equals + 1 : *words))
			return 0;
	}
	return 1;
}

static int has_stacks(const struct ask *ask)
{
	return ask_has_word(ask->words, "--stack") || ask_has_word(ask->words, "--user-stack");
}

/* Does a word name the event, SYSTEM:EVENT: by a glob, or among other events? */
static int names_event(char *const *words, const char *event)
{
	char name[80];

	for (; *words; words++)
		for (const char *s = *words + (**words == '-' ? strcspn(*words, "=") : 0), *end;
		     s; s = *end ? end + 1 : NULL) {
			s += *s == '=';
			end = s + strcspn(s, ",");
			str_format(name, sizeof(name), "%.*s", (int)(end - s), s);
			if (!fnmatch(name, strchr(name, ':') ? event : strchr(event, ':') + 1, 0))
				return 1;
		}
	return 0;
}

/*
 * Check that the hook has the view, by this line of its header, see trace-hook(5). NULL: it has it.
 *	# VIEW: none  WHY
 *	# VIEW: with|without OPTION|EVENT...  WHY
 * option asks for the view; verb is what the hook does with it. Return 0, or -1, reported.
 */
static int check_view(const struct ask *ask, const struct hook *h, const char *line,
		      const char *option, const char *verb, const char *view)
{
	const char *why = line ? strstr(line, "  ") : NULL, *kind = line, *rest;
	struct strbuf list = { 0 };
	size_t n = line ? strcspn(line, " ") : 0;
	char word[60];
	int has = 0;

	if (!why)
		return 0;
	for (line += n; line < why; line += n) {
		line++;
		n = strcspn(line, " ");
		rest = line + n;
		str_format(word, sizeof(word), "%.*s", (int)n, line);
		has |= *word == '-' ? ask_has_word(ask->words, word) :
		       names_event(ask->words, word);
		strbuf_format(&list, "%s%s", !list.n ? "" : rest == why ? " or " : ", ", word);
	}
	why += 2;
	if (!strncmp(kind, "none", 4))
		return err_msg("%s: %s %s no %s: %s", option, h->name, verb, view, why);
	if (has == !strncmp(kind, "with ", 5))
		return 0;
	if (has)
		return err_msg("%s: %s %s no %s with %s: %s", option, h->name, verb, view,
			       list.text, why);
	return err_msg("%s: %s %s a %s only with %s: %s", option, h->name, verb, view, list.text,
		       why);
}

/* Check that the hook's events have a duration or stacks, so that there is more than ticks. */
static int check_picture(const struct ask *ask, const struct hook *h)
{
	struct strbuf option = { 0 };

	if (has_stacks(ask))
		return 0;
	strbuf_format(&option, "-o %s", ask->file);
	return check_view(ask, h, h->picture, option.text, "draws", "picture");
}

/* Add a word of the command, quoted if a shell would split or expand it. */
static void add_to_title(struct strbuf *w, const char *word)
{
	const char *quote = *word && !word[strcspn(word, " \t\n*?[]$&;|<>()\"\\`#")] ? "" : "'";

	strbuf_format(w, " %s%s%s", quote, word, quote);
}

/* Choose the tool that draws the picture, and its title: the command. */
static void plan_picture(struct output *o, const struct ask *ask)
{
	size_t n = 0;

	strbuf_format(&o->title, "tfs-run %s", ask->hook);
	for (char **w = ask->words; *w; w++)
		add_to_title(&o->title, *w);
	if (ask->command)
		strbuf_puts(&o->title, " --");
	for (char **w = ask->command; w && *w; w++)
		add_to_title(&o->title, *w);
	o->filter[n++] = has_stacks(ask) ? "tfs-flame" : "tfs-timeline";
	o->filter[n++] = "-T";
	o->filter[n++] = o->title.text;
	if (has_stacks(ask)) {
		o->filter[n++] = "-w";
		o->filter[n++] = "lat,bytes_alloc";
	}
	o->header = !ask_has_word(ask->words, "--header");
}

/* Are all traced tasks made within the session, and is each call recorded with its beginning? */
static int is_complete(const struct ask *ask)
{
	static const char *const others[] = {
		"sys_exit_", "-p", "--pid", "--all", "--cgroup", "--container", "--comm", "--uid",
		"--pod", "--namespace", "--parent", "--slower", "--decode",
	};

	for (char *const *word = ask->words; *word; word++)
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
			if (!strncmp(*word, others[i], strlen(others[i])))
				return 0;
	return ask->command != NULL;
}

/* Split a list in the header of a hook, which has no quotes. The words live as long as the run. */
static char **list_of(const char *list)
{
	const char *why;

	return list ? words_split(list, &why) : NULL;
}

/* Is one of the options given? */
static int has_one(const struct ask *ask, char *const *options)
{
	while (*options && !ask_has_word(ask->words, *options))
		options++;
	return *options != NULL;
}

/* Choose the options that the hook needs for the output, by its header. */
static void plan_more(struct output *o, const struct ask *ask, const struct hook *h)
{
	const char *view = ask->summary ? "summary" : o->dat ? "dat" :
			   o->human || o->title.n ? "people" : "";
	size_t n = 0;
	char **words;

	for (size_t i = 0; i < h->nadds; i++) {
		words = list_of(h->adds[i]);
		if (words && !strcmp(*words, view) && !has_one(ask, words + 1))
			o->more[n++] = words[1];
	}
	o->decoded = ask_has_word(ask->words, "--decode") ||
		     (n && !strcmp(o->more[0], "--decode"));
	if (h->complete && hook_own_option(h, h->complete + 2) && is_complete(ask) &&
	    !ask_has_word(ask->words, h->complete))
		o->more[n] = h->complete;
}

/* Choose the options of tfs-summary: those of the person, or else those of the hook's header. */
static void plan_summary(struct output *o, const struct ask *ask, const struct hook *h)
{
	const char **word = o->filter, **end = o->filter + sizeof(o->filter) / sizeof(*word) - 1;
	char **words = h->summary && *h->summary == '-' ? list_of(h->summary) : NULL;
	char *keys = xstrdup(ask->per ? ask->per : ""), *save;

	*word++ = "tfs-summary";
	if (ask->top)
		*word++ = "-n", *word++ = ask->top;
	if (ask->sort)
		*word++ = "-s", *word++ = ask->sort;
	if (ask->every)
		*word++ = "-i", *word++ = ask->every;
	if (o->json || ask_has_word(ask->words, "--json"))
		*word++ = "-j";
	if (h->complete && !hook_own_option(h, h->complete + 2) && is_complete(ask))
		*word++ = h->complete;
	for (char *key = strtok_r(keys, ",", &save); key && word < end - 3;
	     key = strtok_r(NULL, ",", &save)) {
		int thread = !strcmp(key, "thread");

		*word++ = "-k", *word++ = thread ? "comm" : key;
		if (thread)
			*word++ = "-k", *word++ = "pid";
	}
	/* the vectors live as long as the run */
	for (; words && *words && word < end - 1; words++) {
		if (ask->per && !strcmp(*words, "-k"))
			words++;
		else
			*word++ = *words;
	}
}

/*
 * Find the tool beside tfs-run. Write its path to path (PATH_MAX bytes). Return 0, or -1, reported
 * unless silent is set.
 */
static int find_tool(const char *tool, char *path, int silent)
{
	char bin[PATH_MAX];

	if (program_directory(bin) < 0)
		return -1;
	if (str_format(path, PATH_MAX, "%s/%s", bin, tool) < PATH_MAX && !access(path, X_OK))
		return 0;
	return silent ? -1 : err_msg("no %s in %s: the installation is not complete", tool, bin);
}

/*
 * Let the filter read nothing, so that it checks its options. Return 0, or -1, reported. A filter
 * that is missing is reported when it is to start.
 */
static int check_filter(const struct output *o)
{
	const char *argv[sizeof(o->filter) / sizeof(*o->filter)];
	char path[PATH_MAX], why[PATH_MAX], *usage;

	memcpy(argv, o->filter, sizeof(argv));
	if (find_tool(*argv, path, 1) < 0)
		return 0;
	*argv = path;
	if (help_ask(argv, why, sizeof(why)) != MISUSED)
		return 0;
	usage = strstr(why, "; usage: ");
	if (usage)
		*usage = '\0';
	return err_msg("--summary: %s", why);
}

/* Return the last value of an option that takes one, or NULL. letter may be NULL. */
static const char *value_of(char *const *words, const char *option, const char *letter)
{
	const char *value = NULL;
	size_t n = strlen(option);

	for (; *words; words++)
		if (!strncmp(*words, option, n) && (*words)[n] == '=')
			value = *words + n + 1;
		else if (words[1] && (!strcmp(*words, option) ||
				      (letter && !strcmp(*words, letter))))
			value = words[1];
	return value;
}

int output_plan(struct output *o, const struct ask *ask, const struct hook *h)
{
	const char *file = ask->file ? ask->file : "";
	int strace = ask_has_word(ask->words, "--strace");
	char **ready = list_of(h->ready);

	*o = (struct output){ .fd = STDOUT_FILENO, .file = ask->file, .alone = h->alone };
	o->ready = ready && (!*ready || has_one(ask, ready));
	o->terminal = !ask->file && !ask->summary && isatty(STDOUT_FILENO);
	o->dat = ends_with(file, ".dat");
	o->json = ends_with(file, ".json") && !ask_has_word(ask->words, "--json");
	o->human = ask->human || (o->terminal && !strace && !ask_has_word(ask->words, "--json"));
	o->counted = (ask->file || ask->summary) && isatty(STDERR_FILENO);
	/* the progress would overwrite the lines of PROG */
	o->progress = o->counted && !ask->command && !ask->every;
	if (ask->summary) {
		plan_summary(o, ask, h);
	} else if (ends_with(file, ".svg")) {
		plan_picture(o, ask);
	} else if (o->human || o->terminal) {
		o->reader[0] = "tfs-human"; /* passes JSON through */
		o->direct = o->human && has_date(ask->words) && !h->plain;
		o->date = o->direct && !ask_has_word(ask->words, "--date");
	}
	if (o->human && h->columns) {
		o->reader[1] = "-c";
		o->reader[2] = h->columns;
	}
	plan_more(o, ask, h);
	if (check_ending(file) < 0 || (o->title.n && check_picture(ask, h) < 0) ||
	    (ask->summary && check_view(ask, h, h->summary, "--summary", "has", "summary") < 0))
		return -1;
	if (strace && (ask->human || ask->summary || o->json || o->title.n ||
		       ask_has_word(ask->words, "--json")))
		return err_msg("--strace prints text as strace does; leave it out, or --human, "
			       "--summary, --json and -o FILE.json or FILE.svg");
	if (ask->summary && (o->dat || ends_with(file, ".svg")))
		return err_msg("--summary prints text or JSON, so -o %s is not possible; leave one "
			       "of them out", file);
	if (ask->human && (ask->file || ask->summary || ask_has_word(ask->words, "--json")))
		return err_msg("--human prints text lines to standard output; leave it out, or "
			       "-o, --summary and --json");
	if (!o->dat && !h->alone && value_of(ask->words, "--size", NULL))
		return err_msg("--size limits a trace.dat; give -o FILE.dat, or leave it out");
	if (ask->color && strcmp(ask->color, "auto") && strcmp(ask->color, "always") &&
	    strcmp(ask->color, "never"))
		return err_msg("--color: '%.80s' is not auto, always or never", ask->color);
	if (ask->color && !strcmp(ask->color, "always") && !o->human)
		return err_msg("--color always is for lines for people; add --human");
	return ask->summary ? check_filter(o) : 0;
}

/* ---- begin and end ---------------------------------------------------------------------- */

/*
 * Start a tool with a pipe as its standard input, and *fd as its standard output; or the other way
 * round, if reads is set. Set *fd to the other end of the pipe. Return 0, or -1, reported.
 */
static int start_tool(struct output *o, const char *const *tool, int reads, int *fd)
{
	char path[PATH_MAX];
	int ends[2];

	if (find_tool(*tool, path, 0) < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0 || (o->pid = fork()) < 0)
		return err_errno("unable to start %s", *tool);
	if (!o->pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGINT, SIG_IGN); /* ^C ends the session, and then the trace ends */
		dup2(reads ? *fd : ends[0], STDIN_FILENO);
		dup2(reads ? ends[1] : *fd, STDOUT_FILENO);
		if (o->file)
			setenv(STDOUT_NAME, o->file, 1);
		execv(path, (char *const *)(size_t)tool);
		err_errno("unable to run %s", path);
		_exit(126);
	}
	close(ends[reads]);
	if (*fd != STDOUT_FILENO)
		close(*fd);
	*fd = ends[!reads];
	return 0;
}

int output_open(struct output *o)
{
	const char *tool = o->filter[0] ? o->filter[0] : o->reader[0];
	char path[PATH_MAX];

	if (tool && find_tool(tool, path, 0) < 0)
		return -1;
	if (!o->file)
		return 0;
	o->fd = output_file(o->file, &o->made);
	return o->fd < 0 ? -1 : 0;
}

void output_drop(const struct output *o)
{
	if (o->made)
		unlink(o->file);
}

/*
 * Open the terminal again, because a write to it must not wait, and its mode is that of other
 * programs as well. If that is not possible, writes may wait until the terminal has room.
 */
static void open_terminal(struct output *o)
{
	char path[PATH_MAX];
	int fd;

	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), STDOUT_FILENO);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		o->fd = fd;
}

int output_start(struct output *o)
{
	struct stat st;

	if (o->file && !fstat(o->fd, &st) && S_ISREG(st.st_mode) && ftruncate(o->fd, 0) < 0)
		return err_errno("unable to write %s", o->file);
	if (o->terminal)
		open_terminal(o);
	return o->filter[0] ? start_tool(o, o->filter, 0, &o->fd) : 0;
}

int output_reader(struct output *o, int *trace)
{
	static const char date[] = "# 2026-11-23, UTC\n";
	char line[sizeof(date)] = "";
	int copy[2], people = 1;

	if (pipe2(copy, O_CLOEXEC) < 0)
		return err_errno("unable to read the trace");
	if (tee(*trace, copy[1], sizeof(line) - 1, SPLICE_F_NONBLOCK) > 0 &&
	    read(copy[0], line, sizeof(line) - 1) < 0)
		*line = '\0';
	close(copy[0]);
	close(copy[1]);
	o->decided = 1;
	for (size_t i = 0; i < sizeof(date) - 1; i++)
		people &= date[i] >= '0' && date[i] <= '9' ? line[i] >= '0' && line[i] <= '9' :
			  line[i] == date[i];
	return people || *line == '{' ? 0 : start_tool(o, o->reader, 1, trace);
}

/* Set the numbers of lost events to those of the trace.dat. Errors are reported. */
static void read_losses(const char *path, struct output *o)
{
	struct dat d;

	if (dat_file(&d, path) < 0 || dat_read_head(&d) < 0)
		return;
	o->lost = o->overwritten = 0;
	for (size_t i = 0; i < d.nbuffers; i++) {
		o->overwritten += d.buffers[i].lost;
		o->lost += d.buffers[i].lost + d.buffers[i].unwritten;
	}
	dat_close(&d);
}

int output_copy(struct output *o, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC);
	static char text[64 * 1024];
	char dir[PATH_MAX];
	ssize_t n;

	read_losses(path, o);
	if (from < 0)
		return err_errno("unable to open %s", path);
	while ((n = read(from, text, sizeof(text))) > 0) {
		if (fd_write_all(o->fd, text, (size_t)n) < 0)
			break;
		o->bytes += (size_t)n;
	}
	close(from);
	if (n)
		return err_errno("unable to write %s; the trace is in %s", o->file, path);
	unlink(path);
	/* the session's directory, which the manager left because of the file */
	str_format(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	rmdir(dir);
	return 0;
}

int output_close(struct output *o)
{
	int r = o->fd < 0 ? 0 : close(o->fd), status = o->pid ? child_wait(o->pid) : 0;

	if (status > 128 && status != 128 + SIGPIPE) /* it has not reported that itself */
		err_msg("%s was killed by signal %d (%s)",
			o->filter[0] ? o->filter[0] : o->reader[0], status - 128,
			strsignal(status - 128));
	if (o->file && r < 0)
		return err_errno("unable to write %s", o->file), REFUSED;
	return status;
}

/* ---- a terminal --------------------------------------------------------------------------- */

/* Add those of n bytes of whole lines that are shown even if nobody waits for the others. */
static void add_last(struct output *o, const char *text, size_t n)
{
	for (size_t len; n; text += len, n -= len) {
		len = text_line_length(text, n);
		if (reader_is_last(text, len))
			strbuf_add(&o->shown, text, len);
		else
			o->unwritten++;
	}
}

void output_show(struct output *o, const char **text, size_t *n)
{
	struct strbuf *lines = &o->lines;
	struct winsize w = { .ws_col = 0 };
	size_t whole;

	strbuf_add(lines, *text, *n);
	if (!*n && lines->n) /* the tool that wrote the line was killed */
		strbuf_puts(lines, "\n");
	for (whole = lines->n; whole && lines->text[whole - 1] != '\n';)
		whole--;
	o->shown.n = 0;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	o->tables |= whole && (*lines->text == SCREEN_FRAME || *lines->text == SCREEN_LAST);
	if (o->hurried)
		add_last(o, lines->text, whole);
	else if (o->tables)
		screen_add(&o->screen, &o->shown, lines->text, whole, w.ws_col, w.ws_row);
	else if (o->human)
		people_wrap(&o->shown, lines->text, whole, w.ws_col);
	else
		strbuf_add(&o->shown, lines->text, whole);
	if (!*n && o->unwritten)
		strbuf_format(&o->shown, "# unwritten %llu lines: the terminal was too slow\n",
			      o->unwritten);
	memmove(lines->text, lines->text + whole, lines->n -= whole);
	*text = o->shown.text;
	*n = o->shown.n;
}

/* ---- for a person ------------------------------------------------------------------------ */

/* Read a number after this word of the line. */
static unsigned long long number_behind(const char *line, const char *word)
{
	const char *s = strstr(line, word);

	s += s ? strlen(word) : 0;
	return s ? text_digits(&s) : 0;
}

/* Count a line by its beginning, which is in o->last. The last of lost events counts all. */
static void count_line(struct output *o)
{
	const char *line = o->last;

	if (!strncmp(line, "# lost ", 7)) {
		o->lost = number_behind(line, "# lost ");
		o->overwritten = number_behind(line, " events: ");
	} else if (!strncmp(line, "{\"lost\":", 8)) {
		o->lost = number_behind(line, "{\"lost\":");
		o->overwritten = number_behind(line, "\"overwritten\":");
	} else if (reader_is_event(line) && !comments_is_gap(line)) {
		o->events += o->decoded ? 2 : 1;
	}
}

void output_count(struct output *o, const char *text, size_t n)
{
	if (!o->human && !o->counted && !o->filter[0])
		return;
	o->bytes += n;
	for (const char *end = text + n; text < end; text++) {
		if (*text != '\n') {
			if (o->nlast < sizeof(o->last) - 1)
				o->last[o->nlast++] = *text;
			continue;
		}
		o->last[o->nlast] = '\0';
		o->nlast = 0;
		count_line(o);
	}
}

/* ---- progress ------------------------------------------------------------------------------ */

enum { FIRST_MS = 1000 }; /* no line for a shorter recording */

/* Ask the ring buffer of the session's instance, which is gone when the session has ended. */
static void ask_buffer(struct output *o)
{
	int dir = dir_open(o->tracefs, o->instance);
	unsigned long long read;

	if (dir < 0)
		return;
	/* with rings, the recorder counts the events of the buffer, too */
	read = file_number(o->session, SESSION_COUNTS_FILE, "read: ", 0);
	o->lost = instance_lost(dir) + file_number(o->session, SESSION_COUNTS_FILE, "lost: ", 0);
	if (o->dat)
		o->events = instance_buffer_count(dir, "entries: ") +
			    (read ? read : instance_buffer_count(dir, "read events: "));
	close(dir);
}

/* Write n with commas between groups of three digits to text (32 bytes). Return text. */
static const char *with_commas(char *text, unsigned long long n)
{
	char *s = text + 31;

	*s = '\0';
	for (int i = 0; n || !i; n /= 10, i++) {
		if (i && i % 3 == 0)
			*--s = ',';
		*--s = (char)('0' + n % 10);
	}
	return s;
}

int output_is_taken(void)
{
	struct termios t;

	return tcgetattr(STDERR_FILENO, &t) < 0 || (t.c_lflag & (ICANON | ECHO)) != (ICANON | ECHO);
}

void output_watch(struct output *o, const char *path)
{
	const char *end = strrchr(path, '/'), *name = end;
	char dir[PATH_MAX];

	if (!o->progress || !end)
		return;
	while (name > path && name[-1] != '/')
		name--;
	str_format(o->instance, sizeof(o->instance), "instances/" INSTANCE_PREFIX "%.*s",
		   (int)(end - name), name);
	o->tracefs = tracefs_open(NULL, TOP_LEVEL, NULL);
	str_format(dir, sizeof(dir), "%.*s", (int)(end - path), path);
	o->session = dir_open(AT_FDCWD, dir);
	o->next = time_now_ms() + FIRST_MS;
}

void output_progress(struct output *o)
{
	char events[32], lost[32], size[32] = "", line[120];
	long long now = time_now_ms();

	if (!o->progress || now < o->next)
		return;
	o->next = now + PROGRESS_MS;
	if (output_is_taken())
		return;
	ask_buffer(o);
	if (!o->dat)
		str_format(size, sizeof(size), ", %llu.%llu MB", o->bytes / 1000000,
			   o->bytes / 100000 % 10);
	/* \r: another text overwrites the line */
	str_format(line, sizeof(line), "\r\033[K%s events, %s lost%s\r",
		   with_commas(events, o->events), with_commas(lost, o->lost), size);
	fd_write_all(STDERR_FILENO, line, strlen(line));
	o->drawn = 1;
}

void output_clear(struct output *o)
{
	if (o->drawn)
		fd_write_all(STDERR_FILENO, "\033[K", 3);
	o->drawn = o->progress = 0;
}

/* ---- what a person reads ------------------------------------------------------------------- */

/* Return the option that selects tasks which may come later, or NULL; set *value to its value. */
static const char *later(const struct ask *ask, const char **value)
{
	static const char *const options[] = {
		"--comm", "--uid", "--cgroup", "--container", "--pod", "--namespace",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		*value = value_of(ask->words, options[i], NULL);
		if (*value)
			return options[i];
	}
	return NULL;
}

void output_begin(const struct output *o, const struct ask *ask, pid_t pid)
{
	const char *time = value_of(ask->words, "--time", "-t");
	const char *value, *option = later(ask, &value);
	char tasks[120] = "";

	if (option)
		str_format(tasks, sizeof(tasks),
			   " the tasks of %s %.60s, those that come later too", option, value);
	if (!(o->human || o->counted) || !isatty(STDERR_FILENO))
		return;
	if (ask->command)
		err_note("tracing %s (pid %d) until it ends%s%s%s", *ask->command, (int)pid,
			 time ? ", for at most " : "", time ? time : "",
			 time ? "; after that it goes on" : "");
	else
		err_note("tracing%s%s%s; Ctrl-C ends", tasks, time ? " for " : "",
			 time ? time : "");
}

/* The bytes of a record with all arguments of a system call, the largest of the usual ones. */
enum { RECORD_BYTES = 72 };

/*
 * Return the size of a buffer, in KB, that would probably have lost nothing: it also has room for
 * the lost events, as if one CPU had made them all, rounded up to a power of two. kb is the
 * size that was given. Return 0 if that would be more than a quarter of the memory.
 */
static unsigned long larger_buffer(const struct output *o, unsigned long kb)
{
	unsigned long long wanted = kb + (o->overwritten * RECORD_BYTES >> 10), size = 1;
	long cpus = sysconf(_SC_NPROCESSORS_CONF), pages = sysconf(_SC_PHYS_PAGES);
	long most = pages / 4 / (cpus > 0 ? cpus : 1) * (sysconf(_SC_PAGESIZE) / 1024);

	while (size < wanted)
		size *= 2;
	return size > (unsigned long)most ? 0 : (unsigned long)size;
}

/* Return the value of --buffer or --size, or kb without one. */
static unsigned long kilobytes(char *const *words, const char *option, unsigned long kb)
{
	const char *value = value_of(words, option, NULL);
	char why[OPT_WHY], line[24];
	struct opt size;

	str_format(line, sizeof(line), "%s KB", option);
	if (value && !opt_parse(&size, line) && (value = opt_check(&size, value, why)))
		text_number(value, 1, INT_MAX, &kb);
	return kb;
}

/* Was the trace.dat too full for another sub-buffer (a page, unless somebody changes its size)? */
static int is_full(const struct output *o, const struct ask *ask)
{
	return o->bytes + (unsigned long)sysconf(_SC_PAGESIZE) >
	       (unsigned long long)kilobytes(ask->words, "--size", 65536) << 10;
}

/* Tell how many events are lost, and what keeps them. status: that of the session */
static void tell_loss(const struct output *o, const struct ask *ask, int status)
{
	/* kernel/trace/trace.c: TRACE_BUF_SIZE_DEFAULT */
	unsigned long kb = larger_buffer(o, kilobytes(ask->words, "--buffer", 1408));
	unsigned long long unwritten = o->lost - o->overwritten;
	char of[48] = "", advice[80] = "";

	/* a call that lost one of its events has no line, so the sum would not be exact */
	if (!o->decoded)
		str_format(of, sizeof(of), " of %llu", o->events + o->lost);
	if (o->dat && is_full(o, ask)) /* later events overwrote each other in the buffer */
		str_format(advice, sizeof(advice), "; a larger --size keeps more");
	else if (o->dat && status) /* the disk is full */
		*advice = '\0';
	else if (o->overwritten && kb)
		str_format(advice, sizeof(advice), "; --buffer %lu may keep them all", kb);
	else if (o->overwritten && !o->dat)
		str_format(advice, sizeof(advice), "; -o FILE.dat keeps up with more");
	if (o->dat)
		err_note("lost %llu events: %llu overwritten in a full buffer, %llu not written%s",
			 o->lost, o->overwritten, unwritten, advice);
	else
		err_note("%llu%s events are lost%s%s", o->lost, of, o->overwritten ?
			 ", because the buffer was full" : ": they were not written", advice);
}

/*
 * Append the options that select events, with their values, to text. Return 1 if the hook would
 * record more events without one of them.
 */
static int add_selecting(struct strbuf *text, char *const *words)
{
	static const char *const options[] = {
		"-e", "-f", "-k", "--event", "--function", /* required by their hooks */
		"-d", "-s", "--device", "--errno", "--failed", "--fd", "--filter", "--only",
		"--path", "--port", "--signal", "--slower", "--syscall", NULL,
	};
	int selects = 0, narrows = 0;

	for (; *words; words++) {
		size_t i = 0, n = strcspn(*words, "=");

		while (options[i] && (strlen(options[i]) != n || strncmp(options[i], *words, n)))
			i++;
		if (**words == '-')
			selects = options[i] != NULL;
		narrows |= options[i] && i >= 5;
		if (selects)
			add_to_title(text, *words);
	}
	return narrows;
}

/* The %s are the arguments of tfs-stuck: pids, or another selector */
#define STUCK_SAYS "; tfs-stuck %s%s%s says what it waits for, and who has to act"

int output_waits(const struct ask *ask)
{
	static const char head[] = "# waits: ";
	int again;
	const char *value = value_of(ask->words, "--pid", "-p"), *argv[64];
	const char *option = value ? "" : later(ask, &value);
	char path[PATH_MAX], line[600], *list, *save;
	size_t n = 0;

	if (!option || find_tool("tfs-stuck", path, 1) < 0)
		return 1;
	list = xstrdup(value);
	argv[n++] = path;
	argv[n++] = "--marks";
	if (*option)
		argv[n++] = option;
	for (argv[n] = strtok_r(list, ",", &save); argv[n] && n < 62; n++)
		argv[n + 1] = strtok_r(NULL, ",", &save);
	argv[n] = NULL;
	n = sizeof(head) - 1;
	again = !help_ask(argv, line, sizeof(line)) && !strncmp(line, "# runs:", 7);
	/* up to ";": the rest says who has to act */
	if (!strncmp(line, head, n) && !output_is_taken())
		err_note("waiting: %.*s" STUCK_SAYS,
			 (int)strcspn(line + n, ";"), line + n, option, *option ? " " : "", value);
	free(list);
	return !again;
}

/* Say that the trace has no event, and what is known about the reason. */
static void tell_none(const struct ask *ask)
{
	const char *value, *option = later(ask, &value);
	const char *pid = value_of(ask->words, "--pid", "-p");
	struct strbuf why = { .n = 0 };
	int narrows;
	size_t n;

	if (ask->command)
		strbuf_format(&why, "%.80s has ended, and ", *ask->command);
	strbuf_puts(&why, "no traced task caused one that");
	n = why.n;
	narrows = add_selecting(&why, ask->words);
	if (why.n == n)
		strbuf_format(&why, " %s records", ask->hook);
	else
		strbuf_puts(&why, " selects");
	if (option)
		strbuf_format(&why, ", or there was no task of %s %.60s", option, value);
	if (pid && text_pid(pid))
		strbuf_format(&why, STUCK_SAYS, "", "", pid);
	err_note("no event: %s%s", why.text, narrows ? "; fewer options select more" : "");
	free(why.text);
}

void output_end(const struct output *o, const struct ask *ask, int none, int status)
{
	int person = isatty(STDERR_FILENO) && (o->human || o->file || ask->summary);

	if (o->dat && o->lost) /* a trace.dat has no last line that says it */
		tell_loss(o, ask, status);
	if (o->dat || (!person && !none))
		return;
	if (ask->file && o->events && person)
		err_note("%s has %llu events", ask->file, o->events);
	if (o->lost)
		tell_loss(o, ask, status);
	else if (status) /* the session failed, so its trace may lack events */
		return;
	else if (!o->events && !o->alone)
		tell_none(ask);
	else if (none)
		err_note("no event of the trace has what the output needs");
}
