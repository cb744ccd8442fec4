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

/* ---- shares of the time ------------------------------------------------------------------ */

static unsigned long long missed;

unsigned long long procfs_missed(void)
{
	return missed;
}

void procfs_miss(void)
{
	missed++;
}

void share_limit(struct share *s)
{
	*s = (struct share){ .limited = 1, .left_us = SAVED_MS * 1000LL, .seen_us = time_now_us() };
}

int share_begin(struct share *s)
{
	if (!s->limited)
		return 0;
	s->begun_us = time_now_us();
	s->left_us += (s->begun_us - s->seen_us) / SHARE;
	if (s->left_us > SAVED_MS * 1000LL)
		s->left_us = SAVED_MS * 1000LL;
	s->seen_us = s->begun_us;
	if (s->left_us > 0)
		return 0;
	missed++;
	return -1;
}

void share_end(struct share *s)
{
	if (s->limited)
		s->left_us -= time_now_us() - s->begun_us;
}

/* ---- readings ---------------------------------------------------------------------------- */

static struct {
	struct share share;
	int stopped, depth;
} procfs;

void procfs_limit(void)
{
	share_limit(&procfs.share);
}

void procfs_stop(void)
{
	procfs.stopped = 1;
	stranger_stop();
}

int procfs_begin(void)
{
	if (procfs.stopped || (!procfs.depth && share_begin(&procfs.share) < 0))
		return -1;
	procfs.depth++;
	return 0;
}

int procfs_begin_file(void)
{
	int stopped = procfs.stopped, r;

	if (procfs.depth && procfs.share.limited &&
	    time_now_us() - procfs.share.begun_us >= procfs.share.left_us) {
		missed++;
		return -1;
	}
	procfs.stopped = 0;
	r = procfs_begin();
	procfs.stopped = stopped;
	return r;
}

void procfs_end(void)
{
	if (!--procfs.depth)
		share_end(&procfs.share);
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
		missed++;
		while (n && text[n - 1] != '\n')
			n--;
		text[n] = '\0';
	}
	if (len)
		*len = n;
	return text;
}
