/* SPDX-License-Identifier: ISC */
/* silence.c - a person waits for a session that begins or ends: say what it waits for */
#include <sys/stat.h>

#include "base/base.h"
#include "front.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"

/* Return the last child of the task, or 0. */
static pid_t last_child(pid_t pid)
{
	struct pids children = { 0 };
	char name[40], text[4096];
	pid_t last;

	str_format(name, sizeof(name), "task/%d/children", (int)pid);
	if (task_read_file(pid, name, text, sizeof(text)) < 0 || pids_parse(&children, text) < 0)
		return 0;
	last = children.n ? children.v[children.n - 1] : 0;
	pids_clear(&children);
	return last;
}

/* Add what the last process of the session does: the others wait for it. */
static void add_cause(struct strbuf *to, pid_t pid)
{
	char function[64] = "";
	struct task t;

	for (pid_t child; (child = last_child(pid));)
		pid = child;
	if (task_read(pid, &t) < 0)
		return;
	if (task_read_file(pid, "wchan", function, sizeof(function)) < 0 || *function == '0')
		*function = '\0';
	strbuf_puts(to, ": ");
	strbuf_escaped(to, t.comm, strlen(t.comm), ESCAPE_TEXT);
	if (t.state == 'R')
		strbuf_puts(to, " works");
	else
		strbuf_format(to, " waits for the kernel%s%s%s", *function ? " (" : "", function,
			      *function ? ")" : "");
}

/* Add the number of the other sessions, which make each step slower. */
static void add_sessions(struct strbuf *to)
{
	int root = tracefs_open(NULL, TOP_LEVEL, NULL), dir = dir_open(root, "instances"), n = -1;
	DIR *d = dir < 0 ? NULL : file_list(dir, ".");
	const char *name;

	while ((name = file_next(d)))
		n += !strncmp(name, "tfs", 3) && !strchr(name, '+');
	if (n > 0)
		strbuf_format(to, "; %d other session%s", n, n > 1 ? "s" : "");
	fd_close(dir);
	fd_close(root);
}

void silence_begin(struct silence *s, const char *what, pid_t manager)
{
	*s = (struct silence){ .what = what, .manager = manager };
	s->since = isatty(STDERR_FILENO) ? time_now_ms() : 0;
	s->next = s->since + SILENCE_MS;
}

int silence_wait(const struct silence *s)
{
	long long left = s->next - time_now_ms();

	return s->since <= 0 ? -1 : left < 0 ? 0 : (int)left;
}

void silence_tell(struct silence *s)
{
	long long now = time_now_ms();
	struct strbuf line = { 0 };

	if (s->since <= 0 || now < s->next || output_is_taken())
		return;
	s->next = now + SILENCE_MS;
	strbuf_format(&line, "\r\033[Ktfs-run: %s for %lld s", s->what, (now - s->since) / 1000);
	add_cause(&line, task_procfs_pid(s->manager));
	add_sessions(&line);
	strbuf_puts(&line, "\r");
	fd_write_all(STDERR_FILENO, line.text, line.n);
	free(line.text);
	s->drawn = 1;
}

void silence_end(struct silence *s)
{
	if (s->drawn)
		fd_write_all(STDERR_FILENO, "\033[K", 3);
	s->drawn = 0;
	s->since = 0;
}
