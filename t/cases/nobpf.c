/* SPDX-License-Identifier: ISC */
/*
 * nobpf [perf] PROG... - run PROG without bpf(2), and with the word perf without
 * perf_event_open(2): both fail with EPERM
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int c, char **v)
{
	int both = !strcmp(v[1], "perf");
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, both ? SYS_perf_event_open : SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { 5, f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, 2, &p);
	execvp(v[1 + both], v + 1 + both);
	return 127;
}
