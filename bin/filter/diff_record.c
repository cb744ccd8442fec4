/* SPDX-License-Identifier: ISC */
/* diff_record.c - record runs of one or two commands by tfs-run */
#include <sys/stat.h>
#include <sys/wait.h>

#include "diff.h"

/* The words of tfs-run: -o FILE HOOK OPTION... -- COMMAND... */
struct words {
	char **v;
	size_t n, room;
};

static void add_word(struct words *w, char *word)
{
	w->v = xgrow(w->v, w->n, &w->room, sizeof(*w->v));
	w->v[w->n++] = word;
}

static void add_words(struct words *w, char **words)
{
	for (; *words; words++)
		add_word(w, *words);
}

static volatile sig_atomic_t interrupted, recorder;
static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

/*
 * Somebody ends the run: tfs-run ends its session, and then this tool ends, too. A terminal
 * interrupts both.
 */
static void interrupt(int signo)
{
	interrupted = signo;
	if (signo != SIGINT && recorder)
		kill(recorder, signo);
}

/* Record one run of a command. Return 0, or -1, reported. */
static int record_run(const char *file, char **hook, char **command)
{
	char dir[PATH_MAX], run[2 * PATH_MAX];
	struct words w = { 0 };
	sigset_t all, before;
	siginfo_t gone;
	pid_t child;
	int status;

	if (program_directory(dir) < 0)
		return -1;
	str_format(run, sizeof(run), "%s/tfs-run", dir);
	add_word(&w, run);
	add_word(&w, (char *)(uintptr_t)"-o");
	add_word(&w, (char *)(uintptr_t)file);
	add_words(&w, hook);
	add_word(&w, (char *)(uintptr_t)"--");
	add_words(&w, command);
	add_word(&w, NULL);
	sigemptyset(&all);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaddset(&all, ends[i]);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = child_fork();
	if (child > 0)
		recorder = child;
	for (size_t i = 0; !child && i < sizeof(ends) / sizeof(*ends); i++)
		signal(ends[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child < 0)
		return err_errno("unable to start a process");
	if (!child) {
		fd_to_null(STDIN_FILENO);
		fd_to_null(STDOUT_FILENO);
		execv(run, w.v);
		err_errno("unable to run %s", run);
		_exit(REFUSED);
	}
	if (interrupted)
		interrupt(interrupted); /* before the recorder was there */
	/* from here on its pid may be that of another process */
	while (waitid(P_PID, (id_t)child, &gone, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	recorder = 0;
	status = child_wait(child);
	free(w.v);
	if (interrupted)
		exit(128 + interrupted);
	return status == REFUSED || access(file, R_OK) ?
	       err_msg("unable to record %.80s with %.80s: status %d", *command, *hook, status) : 0;
}

static const char sides[][7] = { "before", "after" };

/* Make the directory unless it is there and empty, but for sides. Return 0, or -1, reported. */
static int make_directory(const char *path, int of_sides)
{
	char **names;
	int used;

	if (!mkdir(path, 0700))
		return 0;
	names = errno == EEXIST ? file_names(path) : NULL;
	if (!names)
		return err_errno("unable to make the directory %s", path);
	used = *names && !of_sides;
	free(names);
	return used ? err_msg("%s has files already; give another directory", path) : 0;
}

void diff_remove(const char *dir)
{
	static struct strbuf path;

	for (size_t k = 0; k < 2; k++) {
		char **names;

		strbuf_format(strbuf_empty(&path), "%s/%s", dir, sides[k]);
		names = file_names(path.text);
		for (size_t i = 0, n = path.n; names && names[i]; i++) {
			path.n = n;
			strbuf_format(&path, "/%s", names[i]);
			unlink(path.text);
		}
		free(names);
		strbuf_format(strbuf_empty(&path), "%s/%s", dir, sides[k]);
		rmdir(path.text);
	}
	rmdir(dir);
}

int diff_record(const char *dir, unsigned long runs, char ***hooks, char ***commands)
{
	const struct sigaction take = { .sa_handler = interrupt };
	static struct strbuf file;
	struct sigaction before[sizeof(ends) / sizeof(*ends)];

	if (make_directory(dir, commands[1] != NULL) < 0)
		return REFUSED;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &take, &before[i]);
	for (unsigned long i = 0; i < runs; i++)
		for (size_t k = 0; k < 2 && commands[k]; k++) {
			strbuf_format(strbuf_empty(&file), "%s%s%s", dir,
				      commands[1] ? "/" : "", commands[1] ? sides[k] : "");
			if (!i && commands[1] && make_directory(file.text, 0) < 0)
				return REFUSED;
			for (size_t h = 0, n = file.n; hooks[h]; h++) {
				file.n = n;
				strbuf_format(&file, "/%lu-%s.dat", i + 1, *hooks[h]);
				if (record_run(file.text, hooks[h], commands[k]) < 0)
					return REFUSED;
			}
		}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &before[i], NULL);
	return DONE;
}
