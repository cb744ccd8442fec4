/* SPDX-License-Identifier: ISC */
/* interval.c - a table every so often, of the events since the table before */
#include <poll.h>
#include <sys/ioctl.h>

#include "people/people.h"
#include "interval.h"

static struct interval {
	unsigned long every;            /* ms; 0: one table at the end */
	void (*print)(const struct interval_now *);
	int fd;                         /* of the input */
	int marks;                      /* tfs-run shows the tables, see reader.h */
	int people;                     /* or this tool, at a terminal */
	int ended;                      /* the trace has ended */
	long long began, last, next;
	struct strbuf text;             /* the table */
	struct screen screen;
} this;

/* Return the size of the terminal that shows the table, or zeros. */
static struct winsize window(void)
{
	struct winsize w = { .ws_row = 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	return w;
}

/* Print each line of the table, with its time before it. */
static void put_lines(long long ms)
{
	static struct strbuf timed;

	if (!this.text.n && !this.ended)
		stdout_print("# %lld.%03lld no event\n", ms / 1000, ms % 1000);
	screen_timed(strbuf_empty(&timed), this.text.text, this.text.n, ms);
	stdout_print("%.*s", (int)timed.n, timed.n ? timed.text : "");
}

/* Print a frame for a terminal: here, or in tfs-run. */
static void put_frame(void)
{
	static struct strbuf shown;
	struct winsize w = window();

	if (this.marks) {
		stdout_print("%s", this.text.text);
		return;
	}
	shown.n = 0;
	screen_add(&this.screen, &shown, this.text.text, this.text.n, w.ws_col, w.ws_row);
	stdout_print("%.*s", (int)shown.n, shown.text);
}

/* Print the table of the interval that ends now, or of all intervals. */
static void tick(long long now, int all)
{
	struct interval_now at = { .ms = (unsigned long)(now - this.last), .all = all };
	unsigned rows = window().ws_row;

	if (all)
		at.ms = (unsigned long)(now - this.began);
	/* without the title, header, total, and the cursor */
	at.rows = all || rows < 8 || !this.people ? ULONG_MAX : rows - 5;
	stdout_flush();
	this.text.n = 0;
	if (this.people)
		screen_title(&this.text, now - this.began, all ? 0 : this.every);
	stdout_collect(&this.text);
	this.print(&at);
	stdout_collect(NULL);
	this.people ? put_frame() : put_lines(now - this.began);
	stdout_flush();
	this.last = now;
}

/*
 * Wait for input, and print the tables that are due. If the terminal takes no output, print no
 * table and let the interval go on, so that the trace is read nevertheless.
 */
static void wait_for_input(void)
{
	struct pollfd in = { this.fd, POLLIN, 0 }, out = { STDOUT_FILENO, POLLOUT, 0 };

	for (;;) {
		long long now = time_now_ms();

		if (now >= this.next) {
			if (!this.people || poll(&out, 1, 0) > 0)
				tick(now, 0);
			this.next += (now - this.next) / (long long)this.every *
				     (long long)this.every + (long long)this.every;
		}
		if (poll(&in, 1, (int)(this.next - now < INT_MAX ? this.next - now : INT_MAX)))
			return;
	}
}

int interval_people(void)
{
	return this.people;
}

void interval_begin(struct input *in, unsigned long every,
		    void (*print)(const struct interval_now *))
{
	this.every = every;
	this.print = print;
	this.fd = in->in.fd;
	this.marks = !isatty(STDOUT_FILENO);
	this.people = !in->comments.json && (!this.marks || getenv(PEOPLE_SCREEN));
	this.began = this.last = time_now_ms();
	this.next = this.began + (long long)every;
	if (every)
		in->in.wait = wait_for_input;
}

void interval_end(void)
{
	struct interval_now at = { .rows = ULONG_MAX, .all = 1 };
	long long now = time_now_ms();

	if (!this.every) {
		this.print(&at);
		return;
	}
	this.ended = 1;
	tick(now, this.people);
}
