/* SPDX-License-Identifier: ISC */
/* running.c - the sessions of all subsystems that run, and how to end them */
#include <poll.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

/* Time for a session to end after SIGTERM. */
#define CLEAR_MS 10000

struct each {
	int (*fn)(void *, int dir, const char *subsystem, const char *name, pid_t janitor);
	void *arg;
	const char *subsystem;
};

static int call(void *arg, int dir, const char *name, pid_t janitor)
{
	struct each *e = arg;

	return e->fn(e->arg, dir, e->subsystem, name, janitor);
}

int running_each(int (*fn)(void *, int dir, const char *subsystem, const char *name,
			   pid_t janitor), void *arg)
{
	const char *root = rundir_root();
	char **names = file_names(root), path[PATH_MAX];
	struct each e = { .fn = fn, .arg = arg };
	int sum = 0, r;

	if (!names && errno != ENOENT)
		return err_file("unable to read %s", root);
	for (char **name = names; name && *name; name++) {
		int dir;

		str_format(path, sizeof(path), "%s/%s", root, *name);
		dir = dir_open(AT_FDCWD, path);
		e.subsystem = *name;
		r = dir < 0 ? -1 : owned_each(dir, "", call, &e);
		if (r < 0)
			sum = err_file("unable to read %s", path);
		fd_close(dir);
		if (r < 0)
			break;
		sum += r;
	}
	free(names);
	return sum;
}

/* Wait for the end of a janitor that got SIGTERM. Kill it at the given time. */
static void await_end(pid_t pid, long long end)
{
	struct pollfd p = { .fd = task_fd(pid), .events = POLLIN };
	long long left = end - time_now_ms();
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

	while (p.fd < 0 && !kill(pid, 0) && time_now_ms() < end) /* no pidfds */
		nanosleep(&pause, NULL);
	if (p.fd < 0)
		return;
	if (poll(&p, 1, left > 0 ? (int)left : 0) == 0) {
		kill(pid, SIGKILL);
		poll(&p, 1, CLEAR_MS);
	}
	close(p.fd);
}

void running_end(const struct pids *janitors)
{
	long long end = time_now_ms() + CLEAR_MS;

	for (size_t i = 0; i < janitors->n; i++)
		kill(janitors->v[i], SIGTERM);
	for (size_t i = 0; i < janitors->n; i++)
		await_end(janitors->v[i], end);
}
