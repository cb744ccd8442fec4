/* SPDX-License-Identifier: ISC */
/*
 * nolink - run a program on a kernel without links for BPF programs
 *
 *	nolink COMMAND...
 * bpf(BPF_LINK_CREATE) is refused with EINVAL, as by a kernel that does not know the
 * place: so dt-dev has no TCX. Exit: the command's, 111 without seccomp, 127.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <endian.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

enum { LINK_CREATE = 28, LOW = __BYTE_ORDER == __BIG_ENDIAN ? 4 : 0 };

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LINK_CREATE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (argc < 2)
		return 100;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("nolink: needs seccomp (CONFIG_SECCOMP_FILTER)");
		return 111;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
