/* SPDX-License-Identifier: ISC */
/*
 * nolink - run a program on a kernel without links for BPF programs
 *
 *	nolink COMMAND...
 * bpf(BPF_LINK_CREATE) fails with EINVAL, as on a kernel that does not know this kind of
 * link, so dt-dev has no TCX. Exit: the command's, 111 without seccomp, 127.
 */
#include <endian.h>
#include <sys/prctl.h>

#include "prog.h"

/* from <linux/filter.h> and <linux/seccomp.h>, which not every libc has */
struct insn { uint16_t code; uint8_t yes, no; uint32_t n; };
struct program { unsigned short n; const struct insn *insns; };

enum { LOAD = 0x20, IS = 0x15, ANSWER = 0x06, FILTER = 2, ALLOW = 0x7fff0000, REFUSE = 0x00050000 };

/* offsets of the call's number and of the low half of its first argument */
enum { NR = 0, FIRST = 16 + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0), LINK_CREATE = 28 };

int main(int argc, char **argv)
{
	static const struct insn insns[] = {
		{ LOAD, 0, 0, NR },
		{ IS, 0, 3, SYS_bpf },
		{ LOAD, 0, 0, FIRST },
		{ IS, 0, 1, LINK_CREATE },
		{ ANSWER, 0, 0, REFUSE | EINVAL },
		{ ANSWER, 0, 0, ALLOW },
	};
	const struct program program = { sizeof(insns) / sizeof(*insns), insns };

	if (argc < 2)
		return 100;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, FILTER, &program)) {
		perror("nolink: needs seccomp (CONFIG_SECCOMP_FILTER)");
		return 111;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
