/* SPDX-License-Identifier: ISC */
/* input.c - the frame of a filter: it reads a trace to the end */

#include "base/base.h"
#include "tool/tool.h"
#include "reader/reader.h"
#include "seen/seen.h"

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

/* Return the kind of a file that begins so, or KINDS. */
static size_t kind_of(const char *text, ssize_t n)
{
	size_t kind = 0;

	while (kind < KINDS && (n < (ssize_t)strlen(kinds[kind].magic) ||
				memcmp(text, kinds[kind].magic, strlen(kinds[kind].magic))))
		kind++;
	return kind;
}

void input_file(struct input *f, const struct tool *t, char **operands)
{
	const char *file = *operands;
	int fd = STDIN_FILENO;
	char text[16];
	size_t kind;

	if (file)
		opt_end(t, operands[1]);
	if (file && strcmp(file, "-"))
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err_refuse("unable to open %s", file);
	kind = kind_of(text, pread(fd, text, sizeof(text), 0));
	if (kind < KINDS && (kind != DAT || !f || !f->each_of_dat))
		err_exit(REFUSED, "%s is %s, not text; type %s FILE | %s",
			 file ? file : "standard input", kinds[kind].name, kinds[kind].command,
			 t->name);
	if (fd != STDIN_FILENO && (read(fd, NULL, 0) < 0 || dup2(fd, STDIN_FILENO) < 0))
		err_refuse("unable to read %s", file);
	if (kind == DAT) {
		f->dat = fd == STDIN_FILENO ? "/dev/stdin" : file;
	} else if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
		err_note("reading a trace from the terminal; ^D ends it; or give FILE, or a pipe");
	}
}

void input_each(struct input *f, void (*each)(void))
{
	unsigned long long lines = 0;
	ssize_t n;

	reader_of_filter();
	if (!isatty(STDIN_FILENO))
		signal(SIGINT, SIG_IGN);
	f->each = each;
	if (f->dat) {
		f->each_of_dat(f);
		return;
	}
	confine();
	while ((n = line_read(&f->in, &f->line)) >= 0) {
		f->n = (size_t)n;
		if (f->n && f->line[f->n - 1] == '\r') /* text of other systems */
			f->line[--f->n] = '\0';
		if (!lines++ && kind_of(f->line, n) < KINDS)
			err_exit(REFUSED, "standard input is %s in a pipe; give the file instead",
				 kinds[kind_of(f->line, n)].name);
		each();
	}
	if (f->in.failed)
		exit(REFUSED);
}

int input_look(struct input *f)
{
	f->comments.lines++;
	return f->is_event || seen_line(&f->l, f->line, f->n);
}

int input_event(struct input *f)
{
	return f->is_event ? input_look(f) : comments_event(&f->comments, &f->l, f->line, f->n);
}

int input_end(struct input *f, const char *nothing)
{
	if (f->metrics)
		metrics_end(&f->comments);
	else
		comments_print(&f->comments);
	stdout_flush();
	return f->damaged ? REFUSED : nothing ? err_no("%s", nothing) : DONE;
}
