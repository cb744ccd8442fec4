/* SPDX-License-Identifier: ISC */
/* probe.c - hold and end a request probe, and keep its event quiet */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "requests/requests.h"
#include "requests/pins.h"

/* Longer than it takes to load and attach the programs, except on an emulated machine. */
#define HELD_MS 5000

int dt_tasks(int map, int by_hand, struct pids *out)
{
	struct dt_task t;
	uint32_t pid;
	int r = bpf_next(map, NULL, &pid);

	/* if a task exits meanwhile, the kernel starts over: limit the number of rounds */
	for (unsigned i = 0; !r && i < 4 * DT_TASKS; i++, r = bpf_next(map, &pid, &pid))
		if (!by_hand || (!bpf_lookup(map, &pid, &t) && !t.tag))
			pids_add(out, (pid_t)pid);
	return pids_sort(out);
}

/* The kernel enables this event of the top level with each program that prints. */
#define PRINTK "events/bpf_trace/bpf_trace_printk/enable"

enum { QUIET_NS = 30 * 1000 * 1000 };

/* Return 1 if the event is enabled, or if that cannot be read. */
static int is_on(int root)
{
	char *state = file_read(root, PRINTK, NULL);
	int on = !state || *state != '0';

	free(state);
	return on;
}

/*
 * Disable the event after programs were loaded. Newer kernels enable it from a work queue,
 * at some time after a load. So disable it, load one more such program, and wait until the
 * event is enabled. But the work of an earlier load may have enabled it, with the work of
 * our load still to come. So do all of this twice, and then disable the event until it
 * stays disabled for QUIET_NS. Return 0 or -1.
 */
static int hush(int root)
{
	static const struct bpf_load_as raw = { .kind = PROGRAM_RAW_TRACEPOINT };
	const struct timespec pause = { 0, 1000000 }, quiet = { 0, QUIET_NS };
	char why[8];

	for (int round = 0; round < 2; round++) {
		struct bpf_code c = { 0 };
		int fd, on = 0;

		if (ctl_write(root, PRINTK, "0", 0))
			return -1;
		emit_store_imm(&c, SIZE_DW, FP, -8, 0); /* an empty text */
		emit_alu(&c, ALU_MOV, R1, FP);
		emit_alu_imm(&c, ALU_ADD, R1, -8);
		emit_alu_imm(&c, ALU_MOV, R2, 8);
		emit_call(&c, FN_TRACE_PRINTK);
		emit_exit(&c, 0);
		fd = bpf_load(&c, "dt_quiet", &raw, why, sizeof(why));
		if (fd < 0)
			return 0; /* then no other program was loaded either */
		close(fd);
		for (int i = 0; i < 1000 && !on; i++) {
			on = is_on(root);
			if (!on)
				nanosleep(&pause, NULL);
		}
	}
	for (int i = 0; i < 30; i++) {
		if (ctl_write(root, PRINTK, "0", 0))
			return -1;
		nanosleep(&quiet, NULL);
		if (!is_on(root))
			break;
	}
	return 0;
}

/*
 * The lock on the directory of all request probes, from dt_hush before loads to dt_hush
 * after them; -1: not held. Without it, a second dt-probe reads the event while the first
 * one's loads have enabled it, and takes the event for one that the user has enabled.
 */
static int hushing = -1;

/* Wait for the lock. Return 0, or -1 without an error message. */
static int lock_event(void)
{
	hushing = dt_open_home(0);
	if (hushing < 0)
		return -1;
	while (flock(hushing, LOCK_EX) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

/* Disable or note the event, as dt_hush says. */
static int keep_quiet(const char *name, int before)
{
	struct dt_settings s;
	uint32_t zero = 0;
	char *state;
	int root, map = dt_pinned(name, DT_SETTINGS), r = 0;

	if (map < 0)
		return -1;
	if (bpf_lookup(map, &zero, &s) < 0) {
		r = -1;
	} else if (before || s.was_quiet) {
		if (hushing < 0 && lock_event() < 0)
			r = err_errno("unable to lock the probe %s", name);
		root = tracefs_open(NULL, "", NULL);
		state = root < 0 ? NULL : file_read(root, PRINTK, NULL);
		if (!state)
			r = root < 0 ? -1 : err_file("unable to read " PRINTK);
		else if (before)
			s.was_quiet = *state == '0';
		else
			r = hush(root), s.was_quiet = 0;
		free(state);
		if (root >= 0)
			close(root);
		if (!r && bpf_update(map, &zero, &s) < 0)
			r = err_capability(CAPS_BPF,
					   "unable to write the settings of the probe %s", name);
	}
	close(map);
	return r;
}

int dt_hush(const char *name, int before)
{
	int r = keep_quiet(name, before);

	if (!before && hushing >= 0) {
		close(hushing);
		hushing = -1;
	}
	return r;
}

/*
 * Open the directory and lock it. Return a descriptor, or -1 and errno. Only a directory
 * that cannot be opened gives an error message.
 */
static int lock(const char *name, int how)
{
	int fd = dt_open_probe(name), e;

	if (fd >= 0 && flock(fd, how) < 0) {
		e = errno;
		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

int dt_hold(const char *name)
{
	return lock(name, LOCK_SH);
}

/* Does a process hold the request probe? */
static int dt_held(const char *name)
{
	int fd = lock(name, LOCK_EX | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EWOULDBLOCK;
}

/* Is this the name of one of our pins? */
static int is_ours(const char *what)
{
	static const char *const plain_names[] = {
		DT_PIDS, DT_SETTINGS, DT_STATE, DT_DEVICES, DT_MARK, DT_MARK_BARE, "rx", "sendpage",
	};
	/* if there are several of these, the others end with a digit (make.c) */
	static const char *const numbered[] = {
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
		if (fd >= 0)
			close(fd);
		return err_file("unable to list the probe %s", name);
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!is_ours(e->d_name))
			r = err_msg("'%.80s' in the directory of the probe %s was not made by "
				    "dt-probe and stays", e->d_name, name);
		else if (unlinkat(dir, e->d_name, 0) < 0 && errno != ENOENT)
			r = err_file("unable to remove %s of the probe %s", e->d_name, name);
	}
	closedir(d);
	return r;
}

int dt_off(const char *name)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	long long end = time_now_ms() + HELD_MS;
	int r = 0, held;

	while ((held = lock(name, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK) {
		if (time_now_ms() >= end)
			return err_msg("another dt-probe or dt-dev is using the probe %s: try "
				       "again", name);
		nanosleep(&pause, NULL);
	}
	if (held < 0)
		return errno == ENOENT ? 0 : -1;
	/* first, because without this pin no program takes the request probe for one that is on */
	unlinkat(held, DT_PIDS, 0);
	dt_hush(name, 0);
	if (dt_devices_off(name) < 0)
		r = -1;
	if (empty(held, name) < 0)
		r = -1;
	if (!r && dt_remove_directory(name) < 0)
		r = -1;
	close(held);
	return r < 0 ? -1 : 1;
}

/* How long to wait for a tool of a dead session to end by itself. */
#define ORPHAN_MS 2000

int dt_end_session(const char *instance)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	long long end = time_now_ms() + ORPHAN_MS;

	while (dt_held(instance)) {
		if (time_now_ms() >= end) {
			errno = EBUSY;
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return dt_off(instance) < 0 ? -1 : 0;
}
