/* SPDX-License-Identifier: ISC */
/*
 * notif - make calls that seccomp(2) answers, most of them by a supervisor
 *
 *	2 getsid       0 by the filter: ERRNO 0
 *	4 getppid      4242 by the supervisor
 *	3 mkdirat      EDQUOT by the supervisor
 *	2 getpgid      let pass by the supervisor (CONTINUE): the kernel's own answer
 *	1 openat       a descriptor that the supervisor adds (ADDFD, SEND)
 *	3 gettid       ENOSYS: the supervisor dies while the first waits, then it is gone
 *
 * It prints what the program got. Another task waits 20 ms before each answer, notif-boss.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND 2
#endif

static int take_listener(int from)
{
	char control[CMSG_SPACE(sizeof(int))], c;
	struct iovec v = { &c, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(from, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void give_listener(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, c = 0;
	struct iovec v = { &c, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	sendmsg(to, &m, 0);
}

/* Answer until the first gettid. */
static void supervise(int fd)
{
	for (;;) {
		struct seccomp_notif n = { 0 };
		struct seccomp_notif_resp a = { 0 };
		struct seccomp_notif_addfd add = { 0 };

		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
			return;
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
		a.id = add.id = n.id;
		switch (n.data.nr) {
		case SYS_getppid:
			a.val = 4242;
			break;
		case SYS_mkdirat:
			a.error = -EDQUOT;
			break;
		case SYS_getpgid:
			a.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
			break;
		case SYS_openat:
			add.srcfd = STDIN_FILENO;
			add.flags = SECCOMP_ADDFD_FLAG_SEND;
			if (ioctl(fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0)
				continue;
			a.error = -EDOM; /* before Linux 5.14 */
			break;
		case SYS_gettid:
			return;
		}
		ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &a);
	}
}

#define IF(NUMBER, ACTION) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NUMBER, 0, 1), BPF_STMT(BPF_RET | BPF_K, ACTION)

int main(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		IF(SYS_getsid, SECCOMP_RET_ERRNO),
		IF(SYS_getppid, SECCOMP_RET_USER_NOTIF),
		IF(SYS_mkdirat, SECCOMP_RET_USER_NOTIF),
		IF(SYS_getpgid, SECCOMP_RET_USER_NOTIF),
		IF(SYS_gettid, SECCOMP_RET_USER_NOTIF),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		IF(012345, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(*f), f };
	int pair[2], fd, boss;
	long r = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return 1;
	boss = fork();
	if (!boss) {
		prctl(PR_SET_NAME, "notif-boss");
		close(pair[0]);
		supervise(take_listener(pair[1]));
		_exit(0);
	}
	close(pair[1]);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			  &p);
	if (fd < 0)
		return 2;
	give_listener(pair[0], fd);
	close(fd); /* that of the supervisor is the last one */
	for (int i = 0; i < 2; i++)
		r += syscall(SYS_getsid, 0);
	printf("getsid %ld\n", r);
	for (int i = r = 0; i < 4; i++)
		r += syscall(SYS_getppid);
	printf("getppid %ld\n", r);
	for (int i = r = 0; i < 3; i++)
		r += syscall(SYS_mkdirat, -100, "notif-dir", 0700) < 0 && errno == EDQUOT;
	printf("mkdirat %ld\n", r);
	for (int i = r = 0; i < 2; i++)
		r += syscall(SYS_getpgid, 0) == getpgrp();
	printf("getpgid %ld\n", r);
	r = syscall(SYS_openat, -100, "/notif", 012345, 0);
	printf("openat %s\n", r >= 0 ? "descriptor" : errno == EDOM ? "old" : strerror(errno));
	for (int i = r = 0; i < 3; i++)
		r += syscall(SYS_gettid) < 0 && errno == ENOSYS;
	printf("gettid %ld\n", r);
	waitpid(boss, NULL, 0);
	return 0;
}
