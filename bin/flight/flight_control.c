/* SPDX-License-Identifier: ISC */
/*
 * flight_control.c - control files of a flight recorder, in a plain directory
 *
 * inotify reports writes. The number in `dropped` is known only when a user asks for it, so
 * the recorder holds a lease (fcntl(2)) on the file. open(2) waits until the recorder gives
 * up the lease.
 */
#include <sys/inotify.h>

#include "base/base.h"
#include "host/host.h"
#include "flight.h"

/* Tries to get the lease, one per ms: inotify reports close(2) before the kernel is done. */
#define LEASE_TRIES 100

/* Replace the text of a control file. */
static void put_file(int fd, const char *text)
{
	size_t n = strlen(text);

	if (pwrite(fd, text, n, 0) == (ssize_t)n && ftruncate(fd, (off_t)n) < 0)
		return; /* the disk is full: the file keeps its old text */
}

static int make_control(int dir, const char *path, const char *name)
{
	int fd;

	unlinkat(dir, name, 0);
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		err_errno("unable to make %s/%s", path, name);
	return fd;
}

int flight_control_make(struct flight_control *c, int dir, const char *path, int on)
{
	int reset;

	c->dir = dir;
	c->state = make_control(dir, path, "state");
	c->dropped = c->state < 0 ? -1 : make_control(dir, path, "dropped");
	reset = c->dropped < 0 ? -1 : make_control(dir, path, "reset");
	if (reset < 0)
		return -1;
	close(reset);
	c->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (c->notify < 0 || inotify_add_watch(c->notify, path,
					       IN_CLOSE_WRITE | IN_CLOSE_NOWRITE) < 0)
		return err_errno("unable to watch %s", path);
	flight_control_tell(c, on);
	if (fcntl(c->dropped, F_SETLEASE, F_WRLCK) < 0)
		return err_capability(CAPS_LEASE, "unable to lease %s/dropped", path);
	return 0;
}

int flight_control_asked(struct flight_control *c)
{
	_Alignas(struct inotify_event) char text[4096];
	ssize_t n = read(c->notify, text, sizeof(text));
	int asked = 0;

	for (ssize_t at = 0; at < n; ) {
		const struct inotify_event *e = (const void *)(text + at);

		at += (ssize_t)(sizeof(*e) + e->len);
		if (!e->len)
			continue;
		if (e->mask & IN_CLOSE_WRITE && !strcmp(e->name, "state"))
			asked |= ASKED_STATE;
		if (e->mask & IN_CLOSE_WRITE && !strcmp(e->name, "reset"))
			asked |= ASKED_RESET;
		if (!strcmp(e->name, "dropped"))
			c->tries = LEASE_TRIES;
	}
	return asked;
}

int flight_control_state(const struct flight_control *c)
{
	char text[16] = "";

	if (pread(c->state, text, sizeof(text) - 1, 0) < 0)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, "start") ? 1 : !strcmp(text, "stop") ? 0 : -1;
}

void flight_control_tell(const struct flight_control *c, int on)
{
	put_file(c->state, on ? "start\n" : "stop\n");
}

void flight_control_lease(struct flight_control *c)
{
	if (c->tries)
		c->tries = fcntl(c->dropped, F_SETLEASE, F_WRLCK) < 0 ? c->tries - 1 : 0;
}

void flight_control_answer(struct flight_control *c, unsigned long long dropped)
{
	char text[32];

	str_format(text, sizeof(text), "%llu\n", dropped);
	put_file(c->dropped, text);
	fcntl(c->dropped, F_SETLEASE, F_UNLCK);
	/* a user whose open(2) failed (O_NONBLOCK) never closes the file: lease it in any case */
	c->tries = LEASE_TRIES;
}

void flight_control_budget(struct flight_control *c, const char *line)
{
	if (c->dir && !c->budget)
		c->budget = make_control(c->dir, "the directory of dumps", "budget");
	if (c->budget > 0)
		put_file(c->budget, line);
}

void flight_control_remove(const struct flight_control *c)
{
	if (!c->dir)
		return;
	unlinkat(c->dir, "state", 0);
	unlinkat(c->dir, "dropped", 0);
	unlinkat(c->dir, "reset", 0);
	if (c->budget)
		unlinkat(c->dir, "budget", 0);
}
