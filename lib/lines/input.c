/* SPDX-License-Identifier: ISC */
/* input.c - the frame of a filter: it reads a trace from standard input to the end */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "lines/lines.h"
#include "reader/reader.h"

/* Files that are no text, by their first bytes, and the commands that make text of them. */
static const struct {
	char magic[12], name[16], command[16];
} kinds[] = {
	{ "\x17\x08\x44tracing", "a trace.dat", "tfs-report" },
	{ "PERFILE2", "a file of perf", "perf script -i" },
	{ "\x1f\x8b", "compressed", "zcat" },
	{ "\xfd" "7zXZ", "compressed", "xzcat" },
	{ "\x28\xb5\x2f\xfd", "compressed", "zstdcat" },
};
enum { DAT, KINDS = sizeof(kinds) / sizeof(*kinds) };

/* Return the kind of the file, which is not read and may be a pipe, or KINDS. */
static size_t kind_of(int fd)
{
	char text[16];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	size_t kind = 0;

	while (kind < KINDS && (n < (ssize_t)strlen(kinds[kind].magic) ||
				memcmp(text, kinds[kind].magic, strlen(kinds[kind].magic))))
		kind++;
	return kind;
}

int input_is_dat(int fd)
{
	return kind_of(fd) == DAT;
}

void input_file(const struct tool *t, char **operands)
{
	const char *file = *operands;
	int fd = STDIN_FILENO;
	size_t kind;

	if (file)
		opt_end(t, operands[1]);
	if (file && strcmp(file, "-"))
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err_refuse("unable to open %s", file);
	kind = kind_of(fd);
	if (kind < KINDS)
		err_exit(REFUSED, "%s is %s, not text; type %s FILE | %s",
			 file ? file : "standard input", kinds[kind].name, kinds[kind].command,
			 t->name);
	if (fd != STDIN_FILENO && (read(fd, NULL, 0) < 0 || dup2(fd, STDIN_FILENO) < 0))
		err_refuse("unable to read %s", file);
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		err_note("reading a trace from the terminal; ^D ends it; or give FILE, or a pipe");
}

void input_begin(void)
{
	reader_of_filter();
	confine();
	if (!isatty(STDIN_FILENO))
		signal(SIGINT, SIG_IGN);
}

int input_read(struct input *f)
{
	ssize_t n = line_read(&f->in, &f->line);

	f->n = n < 0 ? 0 : (size_t)n;
	if (f->n && f->line[f->n - 1] == '\r') /* text of other systems */
		f->line[--f->n] = '\0';
	return n >= 0;
}

void text_mask_nul(char *line, size_t n)
{
	for (char *nul; (nul = memchr(line, '\0', n)); *nul = '?')
		;
}

int input_event(struct input *f)
{
	return comments_event(&f->comments, &f->l, f->line, f->n);
}

int input_end(struct input *f, const char *nothing)
{
	if (f->metrics)
		metrics_end(&f->comments);
	else
		comments_print(&f->comments);
	stdout_flush();
	return nothing ? err_no("%s", nothing) : DONE;
}
