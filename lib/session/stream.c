/* SPDX-License-Identifier: ISC */
/*
 * stream.c - the processes that write a session's output
 *
 * Without a filter there is one process: the subsystem's tool, or the tool that the hook printed.
 * With a filter there are two in one process group: the filter is the stream, and the tool is its
 * child. SIGTERM stays blocked in the filter, which ends when it has read all of the tool's text.
 *
 * Both processes are forked before the session records, so that the janitor knows their pids. The
 * filter then waits for a reader, and the tool waits for the filter.
 */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/base.h"
#include "reader/reader.h"
#include "proc/proc.h"
#include "session/session.h"

/* ---- parse what the hook printed --------------------------------------------------- */

static int check_tool(const char *hook, const char *tools, const char *name)
{
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/%s", tools, name);
	if (text_is_name(name) && !access(path, X_OK))
		return 0;
	return err_msg("%s: the hook printed '%.80s', which is not a tool of tfs-tools", hook,
		       name);
}

int stream_parse(struct stream_words *s, size_t n, const char *hook, const char *tools)
{
	size_t words = 0;
	char *end;

	if (n == sizeof(s->text) || (n && s->text[n - 1] != '\n'))
		return err_msg("%s: the hook printed too many arguments, or no newline after the "
			       "last argument", hook);
	for (char *p = s->text; p < s->text + n; p = end + 1) {
		end = memchr(p, '\n', (size_t)(s->text + n - p));
		*end = '\0';
		if (words == STREAM_WORDS_MAX - 1)
			return err_msg("%s: the hook printed too many arguments", hook);
		if (!s->filter && !strcmp(p, STREAM_FILTER))
			s->filter = &s->word[words++ + 1];
		else
			s->word[words++] = p;
	}
	if (s->word[0] && *s->word[0] != '-' && check_tool(hook, tools, s->word[0]) < 0)
		return -1;
	if (s->filter)
		return check_tool(hook, tools, *s->filter ? *s->filter : "");
	return 0;
}

/* ---- become the stream ------------------------------------------------------------- */

static _Noreturn void run(const char *tools, const char *const *argv)
{
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/%s", tools, *argv);
	execv(path, (char *const *)(size_t)argv);
	_exit(127);
}

/* Prepare standard output for a tool that knows nothing about sessions. */
static void limit_output(const struct request *rq)
{
	struct rlimit most = { KB_BYTES(rq->size_kb), KB_BYTES(rq->size_kb) };

	if (rq->output == OUTPUT_LINES) /* pipe(7): packets */
		fcntl(STDOUT_FILENO, F_SETFL, O_DIRECT);
	if (rq->output >= OUTPUT_FILE)
		prlimit(0, RLIMIT_FSIZE, &most, NULL);
	signal(SIGPIPE, SIG_DFL);
}

/* The state of a stream with a filter, in both of its processes. */
static struct {
	int filter, tool;       /* this process is the filter, or the tool; both 0: no filter */
	int text[2], go[2];     /* pipes: the tool's text, and the signal to start */
} two;

/* Fork the tool. Return in both processes. */
static void split(void)
{
	pid_t self = getpid(), pid;

	if (pipe2(two.text, O_CLOEXEC) < 0 || pipe2(two.go, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		_exit(REFUSED);
	two.filter = pid > 0;
	two.tool = !pid;
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(REFUSED);
	close(two.go[1]);
}

int stream_hold(const struct request *rq, const struct stream_words *s, int pids, int go)
{
	pid_t self[2];
	char c;

	if (rq->output != OUTPUT_DAT && s->filter)
		split();
	self[0] = task_self();
	self[1] = getpid();
	if (write(pids, self, sizeof(self)) != sizeof(self))
		_exit(REFUSED);
	close(pids);
	if (read(two.tool ? two.go[0] : go, &c, 1) != 1)
		_exit(REFUSED);
	return two.tool;
}

/* Let the tool start, because the reader has come, and execute the filter. */
static void begin_filter(const struct request *rq, const char *tools, const char *const *argv)
{
	if (write(two.go[1], "", 1) != 1)
		_exit(REFUSED);
	dup2(two.text[0], STDIN_FILENO);
	limit_output(rq);
	run(tools, argv);
}

/* Can the tool of the subsystem make lines for people, and has tfs-run asked for them? */
static int for_eyes(const struct request *rq, const struct stream_words *s)
{
	const char *people = getenv(FOR_PEOPLE);

	for (const char *const *word = s->word; *word; word++)
		if (!strcmp(*word, "-x") || !strcmp(*word, "-k"))
			return 0;
	return people && !strcmp(people, FOR_EYES) && rq->output == OUTPUT_FIFO && rq->date &&
	       !rq->json && !rq->header && !rq->hook->alone && !s->filter;
}

void stream_run(const struct request *rq, const struct stream_words *s, const char *tools)
{
	const char *argv[STREAM_ARGV + STREAM_WORDS_MAX], *variables[HOOK_VARIABLES_MAX + 1];
	const char *const *word = s->word;
	struct request tool = *rq;
	size_t n = 0;

	/* the tool before a filter writes to a pipe, whose only reader is the filter */
	if (rq->output < OUTPUT_FILE && !two.tool && reader_expect_next(STDOUT_FILENO) < 0)
		_exit(REFUSED);
	if (two.filter)
		begin_filter(rq, tools, s->filter);
	if (two.tool) {
		dup2(two.text[1], STDOUT_FILENO);
		if (rq->output == OUTPUT_LINES) /* the filter writes packets */
			tool.output = OUTPUT_FIFO;
	}
	if (rq->output != OUTPUT_DAT && *s->word && **s->word != '-' && !rq->hook->alone) {
		manager_subsystem.hook_env(rq, variables);
		for (const char **v = variables; *v; v++)
			putenv((char *)(size_t)*v);
		if (!s->filter)
			limit_output(rq);
		run(tools, s->word);
	}
	tool.human = for_eyes(rq, s);
	if (manager_subsystem.stream(&tool, argv) < 0)
		_exit(REFUSED);
	if (rq->hook->alone && *word) /* this tool takes the options of a stream */
		argv[0] = *word++;
	for (; rq->output != OUTPUT_DAT && *word; word++) {
		while (argv[n])
			n++;
		argv[n] = *word;
		argv[n + 1] = NULL;
	}
	run(tools, argv);
}
