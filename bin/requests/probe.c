/* SPDX-License-Identifier: ISC */
/* probe.c - hold and end a request probe */
#include <sys/file.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "bpf/bpf.h"
#include "requests.h"
#include "pins.h"

/* Longer than it takes to load and attach the programs, except on an emulated machine. */
#define HELD_MS 5000

/* How long to wait for a tool of a dead session to end by itself. */
#define ORPHAN_MS 2000

int dt_tasks(int map, int by_hand, struct pids *out)
{
	struct dt_task t;
	uint32_t pid = 0;
	int r = bpf_next(map, NULL, &pid);

	/* if a task exits meanwhile, the kernel starts over: limit the number of rounds */
	for (unsigned i = 0; !r && i < 4 * DT_TASKS; i++, r = bpf_next(map, &pid, &pid))
		if (!by_hand || (!bpf_lookup(map, &pid, &t) && !t.tag))
			pids_add(out, (pid_t)pid);
	return pids_sort(out);
}

int dt_follow(int map, pid_t pid)
{
	static const struct dt_task by_hand = { .count = 1 };

	return bpf_update(map, &pid, &by_hand) < 0 ?
	       err_capability(CAPS_BPF, "unable to follow task %d", (int)pid) : 0;
}

int dt_lock(const char *name, int how)
{
	int fd = dt_open_probe(name);

	if (fd >= 0 && flock(fd, how) < 0) {
		fd_close(fd);
		return -1;
	}
	return fd;
}

int dt_hold(const char *name)
{
	return dt_lock(name, LOCK_SH);
}

/*
 * Lock the directory when no process holds it, but wait at most so many milliseconds. Return a
 * descriptor, or -1 and errno, which is EWOULDBLOCK after that time.
 */
static int lock_within(const char *name, int ms)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	const long long end = time_now_ms() + ms;
	int fd;

	while ((fd = dt_lock(name, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK &&
	       time_now_ms() < end)
		nanosleep(&pause, NULL);
	return fd;
}

/* Is this the name of one of our pins? */
static int is_ours(const char *what)
{
	static const char *const plain_names[] = {
		DT_PIDS, DT_SETTINGS, DT_STATE, DT_DEVICES, DT_CONTROLS, DT_RINGS, DT_MARK,
		DT_MARK_BARE, "rx", "sendpage",
	};
	/* if there are several of these, the others end with a digit (make.c) */
	static const char numbered[][8] = {
		"gone", "exit", "fork", "sockets", "read", "wait", "end", "send",
	};
	unsigned long long n;
	const char *s = what;

	for (size_t i = 0; i < sizeof(plain_names) / sizeof(*plain_names); i++)
		if (!strcmp(what, plain_names[i]))
			return 1;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++) {
		size_t len = strlen(numbered[i]);

		if (!strncmp(what, numbered[i], len) &&
		    (!what[len] || (what[len] >= '2' && what[len] <= '9' && !what[len + 1])))
			return 1;
	}
	if (strncmp(s, "dev_", 4)) /* a device's link is dev_NETNS_INDEX (device.c) */
		return 0;
	s += 4;
	n = text_digits(&s);
	if (!n || *s++ != '_')
		return 0;
	return text_digits(&s) && !*s;
}

/* Remove our pins from the directory. Return 0, or -1 if something is left in it. */
static int empty(int dir, const char *name)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		fd_close(fd);
		return err_file("unable to list the request probe %s", name);
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!is_ours(e->d_name))
			r = err_msg("'%.80s' in the directory of the request probe %s was not "
				    "made by dt-probe and stays", e->d_name, name);
		else if (unlinkat(dir, e->d_name, 0) < 0 && errno != ENOENT)
			r = err_file("unable to remove %s of the request probe %s", e->d_name,
				     name);
	}
	closedir(d);
	return r;
}

int dt_off(const char *name)
{
	int r, held = lock_within(name, HELD_MS);

	if (held < 0 && errno == EWOULDBLOCK)
		return err_msg("another dt-probe or dt-dev is using the request probe "
			       "%s: try again", name);
	if (held < 0)
		return errno == ENOENT ? 0 : -1;
	/* first, because without this pin no program takes the request probe for one that is on */
	unlinkat(held, DT_PIDS, 0);
	r = dt_devices_off(name);
	if (empty(held, name) < 0)
		r = -1;
	if (!r && dt_remove_directory(name) < 0)
		r = -1;
	close(held);
	return r < 0 ? -1 : 1;
}

int dt_end_session(const char *instance)
{
	int fd = lock_within(instance, ORPHAN_MS);

	if (fd < 0 && errno == EWOULDBLOCK) {
		errno = EBUSY;
		return -1;
	}
	fd_close(fd);
	return dt_off(instance) < 0 ? -1 : 0;
}
