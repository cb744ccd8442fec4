/* SPDX-License-Identifier: ISC */
/* printk.c - keep the event of programs that print quiet */
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"

enum { QUIET_NS = 30 * 1000 * 1000 };

int printk_lock(int root)
{
	int fd = openat(root, "events/bpf_trace", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			fd_close(fd);
			return -1;
		}
	return fd;
}

int printk_is_on(int root)
{
	char *state = file_read(root, PRINTK_ENABLE, NULL);
	int on = state ? *state != '0' : -1;

	free(state);
	return on;
}

/*
 * Newer kernels enable the event from a work queue, at some time after a load. So disable it,
 * load one more such program, and wait until the event is enabled. But the work of an earlier
 * load may have enabled it, with the work of our load still to come. So do all of this twice,
 * and then disable the event until it stays disabled for QUIET_NS.
 */
int printk_quiet(int root)
{
	static const struct bpf_load_as raw = { .kind = PROGRAM_RAW_TRACEPOINT };
	const struct timespec pause = { 0, 1000000 }, quiet = { 0, QUIET_NS };
	char why[8];

	for (int round = 0; round < 2; round++) {
		static struct bpf_code c;
		int fd, on = 0;

		if (ctl_write(root, PRINTK_ENABLE, "0", 0))
			return -1;
		memset(&c, 0, sizeof(c));
		emit_store_imm(&c, SIZE_DW, FP, -8, 0); /* an empty text */
		emit_address(&c, R1, FP, -8);
		emit_mov_imm(&c, R2, 8);
		emit_call(&c, FN_TRACE_PRINTK);
		emit_exit(&c, 0);
		fd = bpf_load(&c, "tfs_quiet", &raw, why, sizeof(why));
		if (fd < 0)
			return 0; /* then no other program was loaded either */
		close(fd);
		for (int i = 0; i < 1000 && !on; i++) {
			on = printk_is_on(root);
			if (!on)
				nanosleep(&pause, NULL);
		}
	}
	for (int i = 0; i < 30; i++) {
		if (ctl_write(root, PRINTK_ENABLE, "0", 0))
			return -1;
		nanosleep(&quiet, NULL);
		if (printk_is_on(root) != 1)
			break;
	}
	return 0;
}

/* Wait until the process at the other end ends, or says that nothing is to be done. */
static _Noreturn void guard(int root, int end)
{
	ssize_t n;
	char c;

	setsid(); /* a signal to the group of the other process must not end this one, too */
	for (int s = 1; s < 32; s++)
		signal(s, SIG_IGN);
	for (int fd = 0; fd < 3; fd++) /* somebody may wait for their end */
		fd_to_null(fd);
	while ((n = read(end, &c, 1)) < 0 && errno == EINTR)
		;
	_exit(n == 1 || !printk_quiet(root) ? 0 : REFUSED);
}

static pid_t guard_pid;

int printk_guard(int root)
{
	int ends[2];

	/* a socket: to write to a guard that was killed must not raise SIGPIPE */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
	    (guard_pid = fork()) < 0)
		return err_errno("unable to start a process");
	if (!guard_pid) {
		close(ends[0]);
		guard(root, ends[1]);
	}
	close(ends[1]);
	return ends[0];
}

void printk_relieve(int end)
{
	send(end, "", 1, MSG_NOSIGNAL);
	close(end);
	child_wait(guard_pid);
}
