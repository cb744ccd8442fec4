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

/* Return the word at *p, which a NUL ends before end, and move *p after it. NULL: there is none. */
static const char *take_word(const char **p, const char *end)
{
	const char *word = *p, *nul = memchr(word, '\0', (size_t)(end - word));

	*p = nul ? nul + 1 : end;
	return nul ? word : NULL;
}

/* Return where words of this kind go; NULL if the kind is unknown, or was given before. */
static const char **place_of(struct stream_words *s, const char *kind)
{
	if (!strcmp(kind, "options"))
		return s->word;
	if (!strcmp(kind, "filter"))
		return *s->filter ? NULL : s->filter;
	if (strcmp(kind, "tool") || *s->word)
		return NULL;
	s->tool = 1;
	return s->word;
}

/* Take one record: KIND, COUNT, and COUNT words, which may be anything. */
static int take_record(struct stream_words *s, const char **p, const char *end, const char *hook,
		       const char *tools)
{
	const char *kind = take_word(p, end), *count = take_word(p, end), *word, **to;
	unsigned long n;
	size_t at = 0;

	if (!kind || !count || !(to = place_of(s, kind)) ||
	    text_number(count, 0, STREAM_BYTES, &n) < 0)
		return err_msg("%s: the hook printed '%.80s' where options, tool or filter and the "
			       "number of its words must stand; see trace-hook(5)", hook,
			       kind ? kind : "");
	while (to[at])
		at++;
	for (; n; n--) {
		word = take_word(p, end);
		if (!word)
			return err_msg("%s: the hook printed fewer words than it says; see "
				       "trace-hook(5)", hook);
		if (text_has_control(word))
			return err_msg("%s: the hook printed '%.80s', which has a control "
				       "character", hook, word);
		if (at == STREAM_WORDS_MAX - 1)
			return err_msg("%s: the hook printed too many arguments", hook);
		to[at++] = word;
	}
	return *kind == 'o' ? 0 : check_tool(hook, tools, *to ? *to : "");
}

/*
 * Put the option in front of the words, because an operand ends the options of a tool. All values
 * are in one word, after the name, so none can become another option. Return 0, or -1: no room.
 */
static int put_first(const char **words, const struct opt *o)
{
	struct strbuf word = { 0 };
	size_t n = 0;

	while (words[n])
		n++;
	if (n >= STREAM_WORDS_MAX - 2)
		return -1;
	memmove(words + 1, words, (n + 1) * sizeof(*words));
	strbuf_format(&word, "%.*s", (int)strcspn(o->pass, " "), o->pass);
	for (size_t i = 0; i < o->n; i++)
		strbuf_format(&word, "%c%s", i ? ',' : '=', o->v[i]);
	*words = word.text;
	return 0;
}

int stream_parse(struct stream_words *s, size_t n, const struct hook *h, const char *tools)
{
	const char *p = s->text, *end = s->text + n;

	if (n == sizeof(s->text))
		return err_msg("%s: the hook printed too many arguments", h->name);
	if (n && !memchr(p, '\0', n))
		return err_msg("%s: the hook printed lines; it must pass words by printf '%%s\\0', "
			       "see trace-hook(5)", h->name);
	while (p < end)
		if (take_record(s, &p, end, h->name, tools) < 0)
			return -1;
	for (const struct opt *o = h->options + h->noptions; o-- > h->options + h->ncommon;)
		if (o->given && o->pass && (!o->to_filter || *s->filter) &&
		    put_first(o->to_filter ? s->filter + 1 : s->word + s->tool, o) < 0)
			return err_msg("%s: the hook printed too many arguments", h->name);
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
	pid_t pid;

	if (pipe2(two.text, O_CLOEXEC) < 0 || pipe2(two.go, O_CLOEXEC) < 0 ||
	    (pid = child_fork()) < 0)
		_exit(REFUSED);
	two.filter = pid > 0;
	two.tool = !pid;
	if (!pid)
		close(two.go[1]);
}

/* Descriptors that the tool inherits */
static int *inherited;
static size_t ninherited, room_inherited;

void stream_inherits(int fd)
{
	inherited = xgrow(inherited, ninherited, &room_inherited, sizeof(*inherited));
	inherited[ninherited++] = fd;
}

int stream_hold(const struct request *rq, const struct stream_words *s, int pids, int go)
{
	pid_t self[2];
	char c;

	if (rq->output != OUTPUT_DAT && *s->filter)
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
	       !rq->json && !rq->header && !rq->hook->alone && !*s->filter;
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
	while (ninherited)
		fcntl(inherited[--ninherited], F_SETFD, 0);
	if (two.tool) {
		dup2(two.text[1], STDOUT_FILENO);
		if (rq->output == OUTPUT_LINES) /* the filter writes packets */
			tool.output = OUTPUT_FIFO;
	}
	if (rq->output != OUTPUT_DAT && s->tool && !rq->hook->alone) {
		manager_subsystem.hook_env(rq, variables);
		for (const char **v = variables; *v; v++)
			putenv((char *)(size_t)*v);
		if (!*s->filter)
			limit_output(rq);
		run(tools, s->word);
	}
	tool.human = for_eyes(rq, s);
	if (manager_subsystem.stream(&tool, argv) < 0)
		_exit(REFUSED);
	if (rq->hook->alone && s->tool) /* this tool takes the options of a stream */
		argv[0] = *word++;
	for (; rq->output != OUTPUT_DAT && *word; word++) {
		while (argv[n])
			n++;
		argv[n] = *word;
		argv[n + 1] = NULL;
	}
	run(tools, argv);
}
