/* SPDX-License-Identifier: ISC */
/*
 * allowed NUMBER,... PROG... - run PROG with only the system calls of these numbers; all
 * others fail with EPERM
 *
 * Exit: that of PROG, 111 if the kernel refuses the filter, 126 if PROG does not run.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CALLS = 250 };

/* of linux/filter.h and linux/seccomp.h, which not every libc has beside it */
enum { LOAD_WORD = 0x20, JUMP_IF_EQUAL = 0x15, RETURN = 0x06 };
enum { NUMBER_AT = 0, FILTER_MODE = 2, ERROR = 0x50000, ALLOW = 0x7fff0000 };
struct sock_filter { unsigned short code; unsigned char jt, jf; unsigned k; };
struct sock_fprog { unsigned short len; struct sock_filter *filter; };

int main(int argc, char **argv)
{
	struct sock_filter v[CALLS + 3] = {
		{ LOAD_WORD, 0, 0, NUMBER_AT },
	};
	struct sock_fprog program = { .filter = v };
	unsigned n = 0;
	char *s = argc > 2 ? argv[1] : NULL;

	for (; s && *s && n < CALLS; s += *s == ',')
		v[++n] = (struct sock_filter){ JUMP_IF_EQUAL, 0, 0, (unsigned)strtoul(s, &s, 10) };
	if (!n || *s)
		return 100;
	for (unsigned i = 1; i <= n; i++)
		v[i].jt = (unsigned char)(n + 1 - i);
	v[n + 1] = (struct sock_filter){ RETURN, 0, 0, ERROR | EPERM };
	v[n + 2] = (struct sock_filter){ RETURN, 0, 0, ALLOW };
	program.len = (unsigned short)(n + 3);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, FILTER_MODE, &program) < 0)
		return 111;
	execvp(argv[2], argv + 2);
	return 126;
}
