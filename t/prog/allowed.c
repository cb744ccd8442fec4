/* SPDX-License-Identifier: ISC */
/*
 * allowed - run a program with fewer system calls
 *
 *	allowed NUMBER,... PROG...   only those of these numbers; all others fail with EPERM
 *	allowed nolink PROG...       all but bpf(BPF_LINK_CREATE), which fails with EINVAL, as on a
 *	                             kernel without links for BPF programs: dt-dev has no TCX
 * Exit: that of PROG, 100 usage error, 111 if the kernel refuses the filter, 127 if PROG does not
 * run.
 */
#include <endian.h>
#include <sys/prctl.h>

#include "prog.h"

enum { CALLS = 250 };

/* of linux/filter.h and linux/seccomp.h, which not every libc has beside it */
enum { LOAD_WORD = 0x20, JUMP_IF_EQUAL = 0x15, RETURN = 0x06 };
enum { FILTER_MODE = 2, ERROR = 0x50000, ALLOW = 0x7fff0000 };
struct sock_filter { unsigned short code; unsigned char jt, jf; unsigned k; };
struct sock_fprog { unsigned short len; struct sock_filter *filter; };

/* offsets of the call's number and of the low half of its first argument */
enum { NUMBER_AT = 0, FIRST_AT = 16 + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0), LINK_CREATE = 28 };

static struct sock_filter no_links[] = {
	{ LOAD_WORD, 0, 0, NUMBER_AT },
	{ JUMP_IF_EQUAL, 0, 3, SYS_bpf },
	{ LOAD_WORD, 0, 0, FIRST_AT },
	{ JUMP_IF_EQUAL, 0, 1, LINK_CREATE },
	{ RETURN, 0, 0, ERROR | EINVAL },
	{ RETURN, 0, 0, ALLOW },
};

/* Store a filter that allows the calls of the list. Return its length, or 0. */
static unsigned short only(struct sock_filter *v, char *list)
{
	unsigned n = 0;

	v[0] = (struct sock_filter){ LOAD_WORD, 0, 0, NUMBER_AT };
	for (; *list && n < CALLS; list += *list == ',')
		v[++n] = (struct sock_filter){ JUMP_IF_EQUAL, 0, 0,
					       (unsigned)strtoul(list, &list, 10) };
	if (!n || *list)
		return 0;
	for (unsigned i = 1; i <= n; i++)
		v[i].jt = (unsigned char)(n + 1 - i);
	v[n + 1] = (struct sock_filter){ RETURN, 0, 0, ERROR | EPERM };
	v[n + 2] = (struct sock_filter){ RETURN, 0, 0, ALLOW };
	return (unsigned short)(n + 3);
}

int main(int argc, char **argv)
{
	struct sock_filter v[CALLS + 3];
	struct sock_fprog program = { sizeof(no_links) / sizeof(*no_links), no_links };

	if (argc < 3)
		return 100;
	if (strcmp(argv[1], "nolink"))
		program = (struct sock_fprog){ only(v, argv[1]), v };
	if (!program.len)
		return 100;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, FILTER_MODE, &program) < 0) {
		perror("allowed: needs seccomp (CONFIG_SECCOMP_FILTER)");
		return 111;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
