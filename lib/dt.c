/* SPDX-License-Identifier: ISC */
/* dt.c - a probe by its name: where it is pinned */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "dt.h"
#include "tfs.h"

#define PREFIX "tfs-"

/* To load and attach the programs takes less, on a machine that is no emulation. */
#define HELD_MS 5000

#define BPFFS_MAGIC_NUMBER 0xcafe4a11 /* include/uapi/linux/magic.h */

/* bpffs has no names with a dot; no probe's has a plus. */
void dt_path(char *path, const char *name, const char *what)
{
	char plain[DT_NAME];

	format(plain, sizeof(plain), "%s", name);
	for (char *p = plain; *p; p++)
		if (*p == '.')
			*p = '+';
	format(path, PATH_MAX, "%s/fs/bpf/" PREFIX "%s%s%s", sysfs(), plain, what ? "/" : "",
	       what ? what : "");
}

const char *dt_name(void)
{
	const char *name = getenv("TFS_PROBE");

	return name && *name ? name : "dt";
}

/* As an instance's, whose session may have a long one. */
int dt_name_ok(const char *name)
{
	return name_fits(name, DT_NAME - 1);
}

int dt_ready(void)
{
	char path[PATH_MAX];
	struct statfs fs;

	format(path, sizeof(path), "%s/fs/bpf", sysfs());
	if (!statfs(path, &fs) && (unsigned)fs.f_type == BPFFS_MAGIC_NUMBER)
		return 0;
	return complain("no bpffs at %s: as root, mount -t bpf bpf %s", path, path);
}

int dt_open(const char *name, const char *what)
{
	char path[PATH_MAX];
	int fd;

	dt_path(path, name, DT_PIDS);
	fd = bpf_pinned(path);
	if (fd >= 0 && strcmp(what, DT_PIDS)) {
		dt_path(path, name, what);
		fd = bpf_pinned(path);
	}
	if (fd < 0 && errno == ENOENT)
		return complain("the probe %s is off: dt-probe on begins it", name);
	return fd < 0 ? complain_errno("unable to open %s", path) : fd;
}

int dt_tasks(int map, int by_hand, struct pids *out)
{
	struct dt_task t;
	uint32_t pid;
	int r = bpf_next(map, NULL, &pid);

	/* a task that went meanwhile begins the list anew: not for ever */
	for (unsigned i = 0; !r && i < 4 * DT_TASKS; i++, r = bpf_next(map, &pid, &pid))
		if (!by_hand || (!bpf_lookup(map, &pid, &t) && !t.tag))
			pids_add(out, (pid_t)pid);
	return pids_sort(out);
}

/* The top level's event goes on with each program that prints, for no reader of ours. */
#define PRINTK "events/bpf_trace/bpf_trace_printk/enable"

/*
 * Off with it, for good. Newer kernels switch it on from a work queue, at some time
 * after the load. So one more such program is loaded, which nobody keeps: once the
 * event is on again, the work is done that was still to be done. It may have been the
 * end of what was under way for another load, and ours behind that: hence twice.
 */
static int hush(int root)
{
	static const struct kind raw = { .kind = PROGRAM_RAW_TRACEPOINT };
	const struct timespec moment = { 0, 1000000 };
	char why[8], *state;

	for (int round = 0; round < 2; round++) {
		struct code c = { 0 };
		int fd, on = 0;

		if (ctl_write(root, PRINTK, "0", 0))
			return -1;
		store_number(&c, U64, FP, -8, 0); /* an empty text */
		compute(&c, SET, R1, FP);
		compute_number(&c, PLUS, R1, -8);
		compute_number(&c, SET, R2, 8);
		call(&c, TRACE_PRINTK);
		leave(&c, 0);
		fd = code_load(&c, "dt_quiet", &raw, why, sizeof(why));
		if (fd < 0)
			return 0; /* nor was any other loaded */
		close(fd);
		for (int i = 0; i < 1000 && !on; i++) {
			state = ctl_read(root, PRINTK, NULL);
			on = !state || *state != '0';
			free(state);
			if (!on)
				nanosleep(&moment, NULL);
		}
	}
	return ctl_write(root, PRINTK, "0", 0);
}

int dt_hush(const char *name, int before)
{
	struct dt_settings s;
	uint32_t zero = 0;
	char path[PATH_MAX], *state;
	int root, map, r = 0;

	dt_path(path, name, DT_SETTINGS);
	map = bpf_pinned(path);
	if (map < 0 || bpf_lookup(map, &zero, &s) < 0)
		return -1;
	if (before || s.was_quiet) {
		root = open_tracefs(NULL, "", NULL);
		state = root < 0 ? NULL : ctl_read(root, PRINTK, NULL);
		if (!state)
			r = root < 0 ? -1 : complain_errno("unable to read " PRINTK);
		else if (before)
			s.was_quiet = *state == '0';
		else
			r = hush(root), s.was_quiet = 0;
		free(state);
		if (root >= 0)
			close(root);
		if (!r && bpf_update(map, &zero, &s) < 0)
			r = complain_errno("unable to write %s", path);
	}
	close(map);
	return r;
}

/* The directory, locked; -1 and errno, silent. */
static int lock(const char *name, int how)
{
	char dir[PATH_MAX];
	int fd;

	dt_path(dir, name, NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, how) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int dt_hold(const char *name)
{
	return lock(name, LOCK_SH);
}

int dt_held(const char *name)
{
	int fd = lock(name, LOCK_EX | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EWOULDBLOCK;
}

int dt_off(const char *name)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	char path[PATH_MAX], dir[PATH_MAX], **names;
	long long end = now_ms() + HELD_MS;
	int r = 0, held;

	dt_path(dir, name, NULL);
	while ((held = lock(name, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK) {
		if (now_ms() >= end)
			return complain("somebody is at work on the probe %s: dt-probe on or "
					"dt-dev", name);
		nanosleep(&pause, NULL);
	}
	names = held < 0 ? NULL : names_in(dir);
	if (!names) {
		r = errno == ENOENT ? 0 : complain_errno("unable to list %s", dir);
		if (held >= 0)
			close(held);
		return r;
	}
	/* first that others may no longer take it for one that is on */
	dt_path(path, name, DT_PIDS);
	unlink(path);
	dt_hush(name, 0);
	if (dt_devices_off(name) < 0)
		r = -1;
	for (char **n = names; *n; n++) {
		dt_path(path, name, *n);
		if (unlink(path) < 0 && errno != ENOENT)
			r = complain_errno("unable to remove %s", path);
	}
	free(names);
	if (!r && rmdir(dir) < 0 && errno != ENOENT)
		r = complain_errno("unable to remove %s", dir);
	close(held);
	return r < 0 ? -1 : 1;
}

/* How long to wait for a tool of the dead session; it ends by itself. */
#define ORPHAN_MS 2000

int dt_end_session(const char *instance)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	long long end = now_ms() + ORPHAN_MS;

	while (dt_held(instance)) {
		if (now_ms() >= end) {
			errno = EBUSY;
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return dt_off(instance) < 0 ? -1 : 0;
}
