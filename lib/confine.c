/* SPDX-License-Identifier: ISC */
/*
 * confine.c - give up the rights that a tool does not need any more
 *
 * The tools run as root, and some of them parse text and files of strangers. Whoever
 * takes over such a process by a fault in a parser must not get root's rights with it.
 *
 * A system call that the filter refuses fails with ENOSYS and does not kill: a later
 * libc that tries a new call first goes on with the old one then. A build with
 * -DNO_CONFINE, or with a sanitizer, does nothing here, because a sanitizer and valgrind
 * open files and start processes in our name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tfs.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef NO_CONFINE
#define NO_CONFINE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
	__has_feature(thread_sanitizer)
#undef NO_CONFINE
#define NO_CONFINE
#endif
#endif

#ifdef NO_CONFINE

void confine(void)
{
}

void confine_stream(int dir, int place)
{
	(void)dir, (void)place;
}

#else

/* ---- capabilities ---------------------------------------------------------------- */

/* linux/capability.h: programs for musl are built without the kernel's headers. */
enum { CAPABILITY_VERSION = 0x20080522 };
enum { DAC_OVERRIDE = 1, FOWNER = 3, SYS_PTRACE = 19, SYS_RESOURCE = 24, SYSLOG = 34 };

#define BIT(n) ((uint64_t)1 << (n))

static void drop_capabilities(uint64_t keep)
{
	struct { uint32_t version; int pid; } head = { CAPABILITY_VERSION, 0 };
	struct { uint32_t effective, permitted, inheritable; } sets[2];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capget, &head, sets) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		sets[i].effective &= (uint32_t)(keep >> 32 * i);
		sets[i].permitted &= (uint32_t)(keep >> 32 * i);
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &head, sets);
}

/* Does the directory belong to another user, so that root's own rights are not enough? */
static int is_others(int dir)
{
	struct stat st;

	return dir >= 0 && (fstat(dir, &st) < 0 || st.st_uid != geteuid());
}

void confine_stream(int dir, int place)
{
	/* addresses of symbols; pipes beyond the limits; procfs with hidepid= */
	uint64_t keep = BIT(SYSLOG) | BIT(SYS_RESOURCE) | BIT(SYS_PTRACE);

	if (is_others(dir) || is_others(place))
		keep |= BIT(DAC_OVERRIDE) | BIT(FOWNER);
	drop_capabilities(keep);
}

/* ---- system calls ---------------------------------------------------------------- */

/* linux/audit.h: AUDIT_ARCH_*, the machine's ELF number and flags */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCH 0xc000003eu
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#define ARCH 0xc00000b7u
#elif defined(__arm__) && !defined(__ARMEB__)
#define ARCH 0x40000028u
#elif defined(__s390x__)
#define ARCH 0x80000016u
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH 0xc0000015u
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH 0xc00000f3u
#endif

#ifdef ARCH

/* linux/filter.h, linux/bpf_common.h, linux/seccomp.h */
struct insn {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};
struct program {
	unsigned short n;
	struct insn *insns;
};
enum { LOAD = 0x20, EQUAL = 0x15, ANY_BIT = 0x45, RETURN = 0x06 };
#define ALLOW 0x7fff0000u
#define FAIL (0x00050000u | ENOSYS)
enum { NUMBER_AT = 0, ARCH_AT = 4, ARGS_AT = 16 };

/* The lower half of an argument, which is all that the kernel takes of an int. */
#define LOW (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0)

/* Calls that use open files, memory and our own signals only. */
static const uint16_t harmless[] = {
	SYS_read, SYS_write, SYS_pread64, SYS_lseek, SYS_close, SYS_readv, SYS_writev,
	SYS_ftruncate, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_exit, SYS_exit_group,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall,
	SYS_getpid, SYS_gettid, SYS_sched_yield, SYS_sysinfo,
#ifdef SYS_ppoll
	SYS_ppoll,
#endif
#ifdef SYS_ppoll_time64
	SYS_ppoll_time64,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_fstat
	SYS_fstat,
#endif
#ifdef SYS_fstat64
	SYS_fstat64,
#endif
#ifdef SYS__llseek
	SYS__llseek,
#endif
#ifdef SYS_ftruncate64
	SYS_ftruncate64,
#endif
#ifdef SYS_sigreturn
	SYS_sigreturn,
#endif
#ifdef SYS_clock_gettime
	SYS_clock_gettime,
#endif
#ifdef SYS_clock_gettime64
	SYS_clock_gettime64,
#endif
#ifdef SYS_futex
	SYS_futex,
#endif
#ifdef SYS_futex_time64
	SYS_futex_time64,
#endif
#ifdef SYS_getrandom
	SYS_getrandom,
#endif
};

/* Calls that are harmless if an argument is so. */
static const struct rule {
	uint16_t number;
	uint8_t argument;
	enum { IS, HAS, LACKS, IS_OURS } test;
	uint16_t value;
} rules[] = {
	/* no memory that runs */
#ifdef SYS_mmap
	{ SYS_mmap, 2, LACKS, PROT_EXEC },
#endif
#ifdef SYS_mmap2
	{ SYS_mmap2, 2, LACKS, PROT_EXEC },
#endif
	{ SYS_mprotect, 2, LACKS, PROT_EXEC },
	/* F_SETOWN and F_SETSIG would send signals to others */
#define FCNTL(number) \
	{ number, 1, IS, F_GETFD }, { number, 1, IS, F_GETFL }, { number, 1, IS, F_SETFL }, \
	{ number, 1, IS, F_GETPIPE_SZ }, { number, 1, IS, F_SETPIPE_SZ },
#ifdef SYS_fcntl
	FCNTL(SYS_fcntl)
#endif
#ifdef SYS_fcntl64
	FCNTL(SYS_fcntl64)
#endif
	/* raise(3), abort(3) */
	{ SYS_tgkill, 0, IS_OURS, 0 },
	{ SYS_tkill, 0, IS_OURS, 0 },
	/* fstat(3) of some libcs */
#ifdef SYS_newfstatat
	{ SYS_newfstatat, 3, HAS, AT_EMPTY_PATH },
#endif
#ifdef SYS_fstatat64
	{ SYS_fstatat64, 3, HAS, AT_EMPTY_PATH },
#endif
#ifdef SYS_statx
	{ SYS_statx, 2, HAS, AT_EMPTY_PATH },
#endif
};

enum { NHARMLESS = sizeof(harmless) / sizeof(*harmless) };
enum { NRULES = sizeof(rules) / sizeof(*rules) };

/* A kernel without seccomp, or one that refuses it, leaves us as we are. */
static void filter_calls(void)
{
	static struct insn insns[4 + 2 * NHARMLESS + 5 * NRULES + 1];
	struct program program = { .insns = insns };
	struct insn *i = insns;

	*i++ = (struct insn){ LOAD, 0, 0, ARCH_AT };
	*i++ = (struct insn){ EQUAL, 1, 0, ARCH };
	*i++ = (struct insn){ RETURN, 0, 0, FAIL };
	*i++ = (struct insn){ LOAD, 0, 0, NUMBER_AT };
	for (size_t n = 0; n < NHARMLESS; n++) {
		*i++ = (struct insn){ EQUAL, 0, 1, harmless[n] };
		*i++ = (struct insn){ RETURN, 0, 0, ALLOW };
	}
	for (const struct rule *r = rules; r < rules + NRULES; r++) {
		int equal = r->test == IS || r->test == IS_OURS;

		*i++ = (struct insn){ LOAD, 0, 0, NUMBER_AT };
		*i++ = (struct insn){ EQUAL, 0, 3, r->number };
		*i++ = (struct insn){ LOAD, 0, 0, (uint32_t)(ARGS_AT + 8 * r->argument + LOW) };
		*i++ = (struct insn){ equal ? EQUAL : ANY_BIT, r->test == LACKS,
				      r->test != LACKS,
				      r->test == IS_OURS ? (uint32_t)getpid() : r->value };
		*i++ = (struct insn){ RETURN, 0, 0, ALLOW };
	}
	*i++ = (struct insn){ RETURN, 0, 0, FAIL };
	program.n = (unsigned short)(i - insns);
	prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &program, 0, 0);
}

#else

static void filter_calls(void)
{
}

#endif /* ARCH */

void confine(void)
{
	int e = errno;

	drop_capabilities(0);
	filter_calls();
	errno = e;
}

#endif /* NO_CONFINE */
