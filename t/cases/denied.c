/* SPDX-License-Identifier: ISC */
/*
 * denied - make calls that a seccomp filter denies: 5 mkdir EPERM, 2 getppid ENOSYS,
 * 1 openat EACCES
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <linux/filter.h>

#ifndef SYS_mkdir /* not every architecture has it */
#define SYS_mkdir SYS_mkdirat
#endif

int main(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 012345, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
	};
	struct sock_fprog p = { sizeof f / sizeof *f, f };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 1;
	for (int i = 0; i < 3; i++)
		mkdir("denied-dir", 0700);
	for (int i = 0; i < 2; i++)
		syscall(SYS_getppid);
	syscall(SYS_openat, -100, "/etc/hostname", 012345, 0);
	syscall(SYS_mkdir, "x", 0);
	mkdir("/none/y/z", 0);
	return errno;
}
