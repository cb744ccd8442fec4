/* SPDX-License-Identifier: ISC */
/* output.c - where the trace goes: a file, a filter, a person */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "front/front.h"

/* ---- what the options ask for --------------------------------------------------------- */

static int has_word(char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return 1;
	return 0;
}

static int ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

int output_plan(struct output *o, const struct ask *ask)
{
	const char *file = ask->file ? ask->file : "";

	*o = (struct output){ .fd = STDOUT_FILENO, .file = ask->file, .asked = ask->human };
	o->dat = ends_with(file, ".dat");
	o->json = ends_with(file, ".json") && !has_word(ask->words, "--json");
	o->human = ask->human || (!ask->file && !has_word(ask->words, "--json") &&
				  isatty(STDOUT_FILENO));
	if (ask->summary) {
		o->filter[0] = "tfs-summary";
		if (ask->top) {
			o->filter[1] = "-n";
			o->filter[2] = ask->top;
		}
	} else if (ends_with(file, ".svg")) {
		o->filter[0] = has_word(ask->words, "--stack") ? "tfs-flame" : "tfs-timeline";
	} else if (o->human) {
		o->filter[0] = "tfs-human";
	}
	if (ask->summary && (o->dat || o->json || ends_with(file, ".svg")))
		return err_msg("--summary prints text, so -o %s is not possible; leave one of "
			       "them out", file);
	if (ask->human && (ask->file || ask->summary || has_word(ask->words, "--json")))
		return err_msg("--human prints text lines to standard output; leave it out, or "
			       "-o, --summary and --json");
	if (ask->top && !ask->summary)
		return err_msg("--top goes with --summary");
	return 0;
}

/* ---- begin and end ---------------------------------------------------------------------- */

/* Start the filter between tfs-run and o->fd, and set o->fd to its standard input. */
static int start_filter(struct output *o)
{
	char path[PATH_MAX], bin[PATH_MAX];
	int ends[2];

	if (program_directory(bin) < 0)
		return -1;
	if (str_format(path, sizeof(path), "%s/%s", bin, o->filter[0]) >= sizeof(path) ||
	    access(path, X_OK) < 0)
		return o->human && !o->asked ? 0 :
		       err_msg("no %s in %s: the installation is not complete", o->filter[0], bin);
	if (pipe2(ends, O_CLOEXEC) < 0 || (o->pid = fork()) < 0)
		return err_errno("unable to start %s", o->filter[0]);
	if (!o->pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGINT, SIG_IGN); /* ^C ends the session, and then the trace ends */
		dup2(ends[0], STDIN_FILENO);
		dup2(o->fd, STDOUT_FILENO);
		execv(path, (char *const *)(size_t)o->filter);
		err_errno("unable to run %s", path);
		_exit(126);
	}
	close(ends[0]);
	if (o->fd != STDOUT_FILENO)
		close(o->fd);
	o->fd = ends[1];
	return 0;
}

int output_open(struct output *o)
{
	if (o->file) {
		o->fd = open(o->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (o->fd < 0)
			return err_errno("unable to open %s", o->file);
	}
	return o->filter[0] ? start_filter(o) : 0;
}

int output_copy(struct output *o, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC);
	static char text[64 * 1024];
	ssize_t n;

	if (from < 0)
		return err_errno("unable to open %s", path);
	while ((n = read(from, text, sizeof(text))) > 0)
		if (fd_write_all(o->fd, text, (size_t)n) < 0)
			break;
	close(from);
	if (n)
		return err_errno("unable to write %s; the trace is in %s", o->file, path);
	unlink(path);
	return 0;
}

int output_close(struct output *o)
{
	int r = close(o->fd);

	if (o->file && r < 0)
		return err_errno("unable to write %s", o->file), REFUSED;
	return o->pid ? child_wait(o->pid) : 0;
}

/* ---- for a person ------------------------------------------------------------------------ */

/* Remember the number of lost events: the last such line counts all of them. */
static void read_lost(struct output *o)
{
	const char *number = o->last + sizeof("# lost ") - 1;

	o->lost = text_digits(&number);
}

void output_count(struct output *o, const char *text, size_t n)
{
	for (const char *end = text + n; text < end; text++) {
		if (!o->in_line && *text == '#')
			o->comment = 1;
		else if (!o->in_line)
			o->events++;
		o->in_line = *text != '\n';
		if (o->comment && o->nlast < sizeof(o->last) - 1)
			o->last[o->nlast++] = *text;
		if (o->in_line)
			continue;
		o->last[o->nlast] = '\0';
		if (o->comment && !strncmp(o->last, "# lost ", 7))
			read_lost(o);
		o->nlast = 0;
		o->comment = 0;
	}
}

void output_begin(const struct output *o, const char *prog, pid_t pid)
{
	if (!o->human || !isatty(STDERR_FILENO))
		return;
	if (prog)
		err_note("tracing %s (pid %d) until it ends", prog, (int)pid);
	else
		err_note("tracing; Ctrl-C ends");
}

/*
 * Return the size of a buffer, in KB, that had perhaps lost nothing: as much larger as the
 * share of lost events says, rounded up to a power of two. kb is the size that was given.
 */
static unsigned long larger_buffer(const struct output *o, unsigned long kb)
{
	unsigned long long wanted = kb * (1 + o->lost / (o->events ? o->events : 1)), size = 1;

	while (size <= wanted && size < 1 << 30)
		size *= 2;
	return (unsigned long)size;
}

/* Return the value of --buffer, or the size that a kernel gives a buffer on the first use. */
static unsigned long buffer_size(char *const *words)
{
	unsigned long kb = 1408; /* kernel/trace/trace.c: TRACE_BUF_SIZE_DEFAULT */

	for (; words[0] && words[1]; words++)
		if (!strcmp(words[0], "--buffer"))
			text_number(words[1], 1, INT_MAX, &kb);
	return kb;
}

void output_end(const struct output *o, const struct ask *ask)
{
	if (!o->human || !isatty(STDERR_FILENO))
		return;
	if (o->lost)
		err_note("%llu of %llu events are lost; --buffer %lu may keep them all", o->lost,
			 o->events + o->lost, larger_buffer(o, buffer_size(ask->words)));
	else if (!o->events)
		err_note("no event: the traced tasks caused none");
}
