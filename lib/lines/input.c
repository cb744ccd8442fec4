/* SPDX-License-Identifier: ISC */
/* input.c - the frame of a filter: it reads a trace from standard input to the end */

#include "base/base.h"
#include "lines/lines.h"
#include "reader/reader.h"

void input_begin(void)
{
	reader_of_filter();
	confine();
	signal(SIGINT, SIG_IGN);
}

int input_read(struct input *f)
{
	ssize_t n = line_read(&f->in, &f->line);

	f->n = n < 0 ? 0 : (size_t)n;
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

int input_end(struct input *f, int status)
{
	comments_print(&f->comments);
	stdout_flush();
	return status;
}
