/* SPDX-License-Identifier: ISC */
/*
 * confine.c - give up the rights that a tool no longer needs
 *
 * The tools run as root, and some of them parse untrusted text and files. An attacker who
 * takes over such a process through a fault in a parser must not get root's rights.
 *
 * The filter lets a refused system call fail with ENOSYS instead of killing the process,
 * because a later libc may try a new call first and then fall back to the old one. A build
 * with -DNO_CONFINE or with a sanitizer does nothing here, because sanitizers and valgrind
 * open files and start processes within the tool.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"

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

void confine_paths(uint64_t keep, const int *files, size_t n)
{
	(void)keep, (void)files, (void)n;
}

#else

/* Does another user own the file, so that access needs CAP_DAC_OVERRIDE? */
static int is_others(int file)
{
	struct stat st;

	return file >= 0 && (fstat(file, &st) < 0 || st.st_uid != geteuid());
}

void confine_paths(uint64_t keep, const int *files, size_t n)
{
	while (n--)
		if (is_others(files[n]))
			keep |= CAPS_DAC_OVERRIDE | CAPS_FOWNER;
	caps_keep(keep);
}

/* ---- system calls ---------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCH K_AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#define ARCH K_AUDIT_ARCH_AARCH64
#elif defined(__arm__) && !defined(__ARMEB__)
#define ARCH K_AUDIT_ARCH_ARM
#elif defined(__s390x__)
#define ARCH K_AUDIT_ARCH_S390X
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH K_AUDIT_ARCH_PPC64LE
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH K_AUDIT_ARCH_RISCV64
#elif defined(__MIPSEB__) && _MIPS_SIM == _ABIO32
#define ARCH K_AUDIT_ARCH_MIPS
#elif defined(__MIPSEL__) && _MIPS_SIM == _ABIO32
#define ARCH K_AUDIT_ARCH_MIPSEL
#elif defined(__MIPSEB__) && _MIPS_SIM == _ABI64
#define ARCH K_AUDIT_ARCH_MIPS64
#elif defined(__MIPSEL__) && _MIPS_SIM == _ABI64
#define ARCH K_AUDIT_ARCH_MIPSEL64
#endif

/* struct sock_filter and sock_fprog of linux/filter.h */
struct insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};
struct program {
	unsigned short n;
	struct insn *insns;
};
enum { LD = K_BPF_LD_W_ABS, JEQ = K_BPF_JMP_JEQ_K, JSET = K_BPF_JMP_JSET_K, RET = K_BPF_RET_K };
#define ALLOW K_SECCOMP_RET_ALLOW
#define FAIL (K_SECCOMP_RET_ERRNO | ENOSYS)
enum { NUMBER_AT = 0, ARCH_AT = 4, ARGS_AT = 16 };

/* The offset of the lower half of an argument. The kernel uses only that half of an int. */
#define LOW (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0)

/* The system calls that the filter allows, and the condition for each call. */
enum { ALWAYS, IS, HAS, LACKS, IS_OURS };
static const struct rule {
	uint16_t number;
	uint8_t argument, test; /* test compares argument and value */
	uint32_t value;
} rules[] = {
#include "allowed.h" /* made by the Makefile from allowed.in */
};

enum { NRULES = sizeof(rules) / sizeof(*rules) };

/* Install the filter. A kernel without seccomp, or one that refuses it, changes nothing. */
static void filter_calls(void)
{
#ifdef ARCH
	static struct insn insns[4 + 5 * NRULES + 1];
	struct program program = { .insns = insns };
	struct insn *i = insns;

	*i++ = (struct insn){ LD, 0, 0, ARCH_AT };
	*i++ = (struct insn){ JEQ, 1, 0, ARCH };
	*i++ = (struct insn){ RET, 0, 0, FAIL };
	*i++ = (struct insn){ LD, 0, 0, NUMBER_AT };
	for (const struct rule *r = rules; r < rules + NRULES; r++) {
		int equal = r->test == IS || r->test == IS_OURS;

		/* another call: skip this rule, and its reload of the number if it has one */
		*i++ = (struct insn){ JEQ, 0, r->test ? 4 : 1, r->number };
		if (r->test) {
			*i++ = (struct insn){ LD, 0, 0, ARGS_AT + 8u * r->argument + LOW };
			*i++ = (struct insn){ equal ? JEQ : JSET, r->test == LACKS,
				r->test != LACKS,
				r->test == IS_OURS ? (uint32_t)getpid() : r->value };
		}
		*i++ = (struct insn){ RET, 0, 0, ALLOW };
		if (r->test)
			*i++ = (struct insn){ LD, 0, 0, NUMBER_AT };
	}
	*i++ = (struct insn){ RET, 0, 0, FAIL };
	program.n = (unsigned short)(i - insns);
	prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &program, 0, 0);
#endif
}

void confine(void)
{
	int e = errno;

	caps_keep(0);
	filter_calls();
	errno = e;
}

#endif /* NO_CONFINE */
