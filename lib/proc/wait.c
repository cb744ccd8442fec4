/* SPDX-License-Identifier: ISC */
/* wait.c - wait for a signal, a time limit, a descriptor, or the end of tasks */
#include <poll.h>
#include <sys/signalfd.h>

#include "base/base.h"
#include "proc/proc.h"

/* The interval at which to look at a task that has no descriptor (task_fd). */
#define LOOK_AGAIN_MS 1000

/*
 * All tasks must end, so it is enough to wait for one task, and then for the next. This needs only
 * one descriptor, and at most one wake-up per task.
 */
struct tasks {
	struct pids now, before; /* the newest list of tasks, and the list before it */
	size_t next;             /* all tasks of now[0..next) are gone */
	int fd;
};

/*
 * Find a task that is alive. Return 1 with its descriptor, or -1, in t->fd; 0 if all
 * tasks are gone; or -1, reported.
 */
static int find_living(const struct wait *w, struct tasks *t)
{
	for (;;) {
		for (; t->next < t->now.n; t->next++) {
			if (!task_alive(t->now.v[t->next]))
				continue;
			t->fd = task_fd(t->now.v[t->next]);
			return 1;
		}
		/*
		 * A task of this list may have forked after the list was read. So all
		 * tasks are gone only if a second list is the same.
		 */
		pids_clear(&t->before);
		t->before = t->now;
		t->now = (struct pids){ 0 };
		t->next = 0;
		if (w->tasks(w->arg, &t->now) < 0)
			return -1;
		if (pids_same(&t->now, &t->before))
			return 0;
	}
}

int wait_for(const struct wait *w, int *signo)
{
	long long end = w->ms < 0 ? -1 : time_now_ms() + w->ms;
	struct tasks t = { .fd = -1 };
	int sfd = signalfd(-1, w->signals, SFD_CLOEXEC | SFD_NONBLOCK), r = -1;

	if (sfd < 0)
		return err_errno("unable to wait for signals");
	for (;;) {
		struct signalfd_siginfo si;
		struct pollfd p[3];
		long long left;
		int alive = 1;

		if (w->tasks && t.fd < 0) {
			alive = find_living(w, &t);
			if (alive <= 0) {
				r = alive ? -1 : ENDED_TASKS;
				break;
			}
		}
		p[0] = (struct pollfd){ .fd = sfd, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = w->fd, .events = POLLIN };
		p[2] = (struct pollfd){ .fd = t.fd, .events = POLLIN };
		left = end < 0 ? -1 : end - time_now_ms();
		if (end >= 0 && left < 0)
			left = 0;
		if (w->tasks && t.fd < 0 && (left < 0 || left > LOOK_AGAIN_MS))
			left = LOOK_AGAIN_MS;
		if (left > INT_MAX)
			left = INT_MAX;
		if (poll(p, 3, (int)left) < 0)
			continue; /* EINTR: every signal of interest is blocked */
		if (p[0].revents && read(sfd, &si, sizeof(si)) == sizeof(si)) {
			*signo = (int)si.ssi_signo;
			r = ENDED_SIGNAL;
			break;
		}
		if (p[1].revents) {
			r = ENDED_FD;
			break;
		}
		if (p[2].revents) {
			close(t.fd);
			t.fd = -1;
		}
		if (end >= 0 && time_now_ms() >= end) {
			r = ENDED_TIME;
			break;
		}
	}
	close(sfd);
	fd_close(t.fd);
	pids_clear(&t.now);
	pids_clear(&t.before);
	return r;
}
