/* SPDX-License-Identifier: ISC */
/*
 * procfs.c - read files that a task can make long or slow, with limits of bytes and of time
 *
 * The kernel writes these files when they are read, and a task decides how long they are: by its
 * mappings with long names (maps), its mounts (mountinfo), its groups (status), what its
 * descriptors watch (fdinfo), the symbols of its programs. Without limits, a stream that reads them
 * would have no time for other tasks, and would not end when it is told to.
 */

#include "base/base.h"
#include "proc/proc.h"

enum {
	SHARE = 4,              /* procfs may take one in so many milliseconds */
	SAVED_MS = 1000,        /* time that can be saved up, as for the first look at many tasks */
};

static struct {
	int limited, stopped, depth;
	long long left_us;      /* of the share */
	long long begun_us;     /* of the reading that goes on */
	long long seen_us;      /* when the share last grew */
	unsigned long long missed;
} procfs;

void procfs_limit(void)
{
	procfs.limited = 1;
	procfs.left_us = SAVED_MS * 1000LL;
	procfs.seen_us = time_now_us();
}

void procfs_stop(void)
{
	procfs.stopped = 1;
	stranger_stop();
}

unsigned long long procfs_missed(void)
{
	return procfs.missed;
}

void procfs_miss(void)
{
	procfs.missed++;
}

/* Let the share grow until now. */
static void grow(long long now)
{
	procfs.left_us += (now - procfs.seen_us) / SHARE;
	if (procfs.left_us > SAVED_MS * 1000LL)
		procfs.left_us = SAVED_MS * 1000LL;
	procfs.seen_us = now;
}

int procfs_begin(void)
{
	if (procfs.stopped)
		return -1;
	if (!procfs.limited || procfs.depth) {
		procfs.depth++;
		return 0;
	}
	procfs.begun_us = time_now_us();
	grow(procfs.begun_us);
	if (procfs.left_us > 0) {
		procfs.depth++;
		return 0;
	}
	procfs.missed++;
	return -1;
}

int procfs_begin_file(void)
{
	int stopped = procfs.stopped, r;

	if (procfs.depth && procfs.limited &&
	    time_now_us() - procfs.begun_us >= procfs.left_us) {
		procfs.missed++;
		return -1;
	}
	procfs.stopped = 0;
	r = procfs_begin();
	procfs.stopped = stopped;
	return r;
}

void procfs_end(void)
{
	if (!--procfs.depth && procfs.limited)
		procfs.left_us -= time_now_us() - procfs.begun_us;
}

struct question {
	pid_t pid;
	char name[24];
};

/* Read a file in a task's directory: a stranger_fn. */
static void read_file(const void *question, struct stranger_answer *a)
{
	const struct question *q = question;
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/%d/%s", path_procfs(), (int)q->pid, q->name);
	if (!stranger_enter(STRANGER_PROCESS | (unsigned)q->pid))
		a->part[0] = file_read_most(AT_FDCWD, path, PROCFS_MOST, &a->size[0]);
	a->error = a->part[0] ? 0 : errno;
}

char *procfs_read(pid_t pid, const char *name, size_t *len, int *cut)
{
	struct stranger_answer a = { 0 };
	struct question q = { .pid = pid };
	char *text;
	size_t n;
	int e;

	if (procfs_begin() < 0) {
		errno = EAGAIN;
		return NULL;
	}
	str_format(q.name, sizeof(q.name), "%s", name);
	/* for these files, the kernel reads the memory of the task, or locks it */
	if (strcmp(name, "maps") && strcmp(name, "environ") && strcmp(name, "cmdline"))
		read_file(&q, &a);
	else if (stranger_ask(read_file, &q, sizeof(q), pid, &a) < 0)
		a.error = errno;
	text = a.part[0];
	n = a.size[0];
	e = a.error;
	free(a.part[1]);
	if (e) {
		free(text);
		text = NULL;
		n = 0;
	}
	procfs_end();
	errno = e;
	if (cut)
		*cut = n >= PROCFS_MOST;
	if (n >= PROCFS_MOST) {
		procfs.missed++;
		while (n && text[n - 1] != '\n')
			n--;
		text[n] = '\0';
	}
	if (len)
		*len = n;
	return text;
}
