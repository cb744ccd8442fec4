/* SPDX-License-Identifier: ISC */
/* sessions.c - list the sessions that run and the dumps of ended ones, and remove one of them */
#include <sys/stat.h>
#include <time.h>

#include "base/base.h"
#include "front.h"
#include "proc/proc.h"
#include "session/session.h"
#include "tracefs/tracefs.h"

enum { WIDTH = 34 };

/* ---- what procfs says about a session --------------------------------------------------- */

/* Return the words of the process's command line, NULL at the end; *text owns them. */
static char **command_line(pid_t pid, char **text)
{
	size_t len = 0, n = 0;
	int cut;
	char **words;

	*text = procfs_read(pid, "cmdline", &len, &cut);
	words = xcalloc(len + 1, sizeof(*words));
	for (size_t at = 0; *text && at < len; at += strlen(*text + at) + 1)
		words[n++] = *text + at;
	return words;
}

/* Print the time when the process began, in UTC. */
static void print_start(pid_t pid)
{
	struct task t = { .start = 0 };
	char date[TIME_DATE];
	int64_t us;

	task_read(pid, &t);
	us = time_of_day_us() - (int64_t)(time_ns(CLOCK_BOOTTIME) / 1000) +
	     (int64_t)(t.start * 1000000 / (unsigned long)sysconf(_SC_CLK_TCK));
	time_date(date, us);
	stdout_print(" %.10s %.8s", date, date + 11);
}

/* ---- the list ---------------------------------------------------------------------------- */

struct list {
	int sessions, dumps;    /* lines that were printed */
	int instances;          /* -1: no tracefs */
	struct strbuf files;    /* lines of dumps */
};

/* Write the name of the session's instance to name (NAME_MAX bytes), and print its lost events. */
static void print_instance(const struct list *l, const char *session)
{
	DIR *d = l->instances < 0 ? NULL : file_list(l->instances, ".");
	const char *dot, *name;
	int dir = -1;

	while ((name = file_next(d)))
		if (!strncmp(name, "tfs", 3) && (dot = strchr(name, '.')) &&
		    !strcmp(dot + 1, session))
			dir = dir_open(l->instances, name);
	if (dir >= 0)
		stdout_print(" %8llu", instance_lost(dir));
	else
		stdout_print(" %8s", "-");
	fd_close(dir);
}

/* Print the user, the pid and the command of the process that started the session's janitor. */
static void print_caller(const struct list *l, const char *session, pid_t janitor)
{
	struct task t = { .ppid = 0 }, up;
	char *text, **words, word[400];
	pid_t tgid, pid;
	uid_t uid = 0;

	task_read(janitor, &t);
	pid = t.ppid > 1 ? t.ppid : janitor;
	if (!task_read(pid, &t) && !task_read(t.ppid, &up) && !strcmp(up.comm, "tfs-run"))
		pid = t.ppid;
	task_ids(pid, &tgid, &uid);
	stdout_print(" %5u %7d", (unsigned)uid, (int)pid);
	print_start(janitor);
	print_instance(l, session);
	words = command_line(pid, &text);
	for (char **w = words; *w; w++) {
		struct out o = out_to(word, sizeof(word) - 1);

		out_escaped(&o, *w, strlen(*w), ESCAPE_TEXT);
		*o.at = '\0';
		stdout_print(" %s", w == words && strrchr(word, '/') ? strrchr(word, '/') + 1 :
			     word);
	}
	stdout_print("\n");
	free(words);
	free(text);
}

/* Add the dumps in a session's directory to the lines of l. */
static void add_dumps(struct list *l, int dir, const char *subsystem, const char *name)
{
	char path[PATH_MAX], **files;
	struct stat st;

	(void)dir;
	str_format(path, sizeof(path), "%s/%s/%s", rundir_root(), subsystem, name);
	files = file_names(path);
	for (char **file = files; file && *file; file++) {
		if (strncmp(*file, DUMP_PREFIX, strlen(DUMP_PREFIX)))
			continue;
		str_format(path, sizeof(path), "%s/%s/%s/%s", rundir_root(), subsystem, name,
			   *file);
		if (stat(path, &st) < 0)
			continue;
		strbuf_format(&l->files, "%s (%llu KB)\n", path,
			      ((unsigned long long)st.st_size + 1023) / 1024);
		l->dumps++;
	}
	free(files);
}

static int print_session(void *arg, int dir, const char *subsystem, const char *name, pid_t janitor)
{
	struct list *l = arg;

	add_dumps(l, dir, subsystem, name);
	if (janitor == OWNER_NONE)
		return 0;
	if (!l->sessions++)
		stdout_print("%-*s %5s %7s %-19s %8s COMMAND\n", WIDTH, "SESSION", "UID", "PID",
			     "SINCE (UTC)", "LOST");
	stdout_print("%-*s", WIDTH, name);
	if (janitor > 0)
		print_caller(l, name, janitor);
	else
		stdout_print(" in another pid namespace\n");
	return 0;
}

int sessions_list(void)
{
	struct list l = { .instances = -1 };
	char path[PATH_MAX];
	int r;

	str_format(path, sizeof(path), "%s/kernel/tracing/instances", path_sysfs());
	l.instances = dir_open(AT_FDCWD, path);
	r = running_each(print_session, &l);
	if (l.dumps)
		stdout_print("%sdumps of the flight recorder:\n%s", l.sessions ? "\n" : "",
			     l.files.text);
	stdout_flush();
	if (!r && !l.sessions && !l.dumps && isatty(STDERR_FILENO))
		err_note("no session runs");
	fd_close(l.instances);
	free(l.files.text);
	return r < 0 ? REFUSED : DONE;
}

/* ---- the end of one ------------------------------------------------------------------------ */

struct search {
	const char *name;
	struct pids janitors;
	int elsewhere;
	struct suggest near;
	char best[NAME_MAX + 1];
};

static int find_session(void *arg, int dir, const char *subsystem, const char *name, pid_t janitor)
{
	struct search *s = arg;

	(void)dir, (void)subsystem;
	if (janitor == OWNER_NONE)
		return 0;
	suggest_offer(&s->near, name);
	if (s->near.n && s->near.name[0] == name)
		s->near.name[0] = strcpy(s->best, name);
	if (strcmp(name, s->name))
		return 0;
	s->elsewhere |= janitor < 0;
	if (janitor > 0)
		pids_add(&s->janitors, janitor);
	return 1;
}

/* Is the path that of a dump in the run directory? */
static int is_dump(const char *path)
{
	const char *root = rundir_root(), *file = strrchr(path, '/');
	size_t n = strlen(root);

	return !strncmp(path, root, n) && path[n] == '/' && !strstr(path, "/../") &&
	       !strncmp(file + 1, DUMP_PREFIX, strlen(DUMP_PREFIX));
}

/* Remove a dump, and its directory if that was the last file of an ended session. */
static int remove_dump(const char *path)
{
	char dir[PATH_MAX];

	if (unlink(path) < 0)
		return err_errno("unable to remove %s", path), REFUSED;
	str_format(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	rmdir(dir);
	return DONE;
}

int sessions_end(const char *name)
{
	struct search s = { .name = name, .near = { .word = name } };
	int n;

	if (is_dump(name))
		return remove_dump(name);
	n = running_each(find_session, &s);
	if (n < 0)
		return REFUSED;
	if (!n)
		return err_msg("no session '%.80s' runs; %s", name, s.near.n ?
			       suggest_remedy(&s.near, "") : "tfs-run -l lists them"), NO;
	if (s.elsewhere)
		return err_msg("the session %s belongs to another pid namespace; end it there",
			       name), REFUSED;
	running_end(&s.janitors);
	pids_clear(&s.janitors);
	return DONE;
}
