/* SPDX-License-Identifier: ISC */
/*
 * capability.c - name the capability that a refused call lacks, and give capabilities up
 *
 * The numbers are those of capabilities(7). Linux 5.8 split CAP_PERFMON and CAP_BPF from
 * CAP_SYS_ADMIN. A task that has CAP_SYS_ADMIN needs neither of them.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"

struct caps_head {
	uint32_t version;
	int pid;
};
#define HEAD { K_LINUX_CAPABILITY_VERSION_3, 0 }
/* the lower half of each set, then the upper one */
struct caps_half {
	uint32_t effective, permitted, inheritable;
};

static const struct { uint64_t cap; char name[20]; } known[] = {
	{ CAPS_DAC_OVERRIDE, "DAC_OVERRIDE" }, { CAPS_NET_ADMIN, "NET_ADMIN" },
	{ CAPS_SYS_PTRACE, "SYS_PTRACE" }, { CAPS_SYS_ADMIN, "SYS_ADMIN" },
	{ CAPS_LEASE, "LEASE" }, { CAPS_PERFMON, "PERFMON" }, { CAPS_BPF, "BPF" },
	{ CAPS_CHECKPOINT_RESTORE, "CHECKPOINT_RESTORE" },
};

void caps_keep(uint64_t keep)
{
	struct caps_head head = HEAD;
	struct caps_half sets[2];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capget, &head, sets) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		sets[i].effective &= (uint32_t)(keep >> 32 * i);
		sets[i].permitted &= (uint32_t)(keep >> 32 * i);
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &head, sets);
}

/* Return the effective set, or all capabilities if capget fails. */
static uint64_t effective(void)
{
	struct caps_head head = HEAD;
	struct caps_half sets[2];
	uint64_t has;

	if (syscall(SYS_capget, &head, sets) < 0)
		return ~(uint64_t)0;
	has = (uint64_t)sets[1].effective << 32 | sets[0].effective;
	return has & CAPS_SYS_ADMIN ? has | CAPS_PERFMON | CAPS_BPF : has;
}

int caps_have(uint64_t needs)
{
	errno = EPERM;
	return !(needs & ~effective());
}

/*
 * Is the process in a user namespace other than the initial one? The initial namespace
 * maps all ids to themselves.
 */
static int in_user_namespace(void)
{
	static const uint32_t first[] = { 0, 0, UINT32_MAX };
	char *map = file_read(AT_FDCWD, "/proc/self/uid_map", NULL);
	const char *p = map;
	int is = 0;

	for (size_t i = 0; map && i < sizeof(first) / sizeof(*first); i++) {
		p += strspn(p, " ");
		is |= text_digits(&p) != first[i];
	}
	free(map);
	return is;
}

/* Write the kernel's lockdown level into level, or "" without lockdown. */
static void lockdown(char *level, size_t size)
{
	char path[PATH_MAX], *text, *from, *to;

	*level = '\0';
	str_format(path, sizeof(path), "%s/kernel/security/lockdown", path_sysfs());
	text = file_read(AT_FDCWD, path, NULL);
	from = text ? strchr(text, '[') : NULL;
	to = from ? strchr(from, ']') : NULL;
	if (to && strncmp(from, "[none]", 6))
		str_format(level, size, "%.*s", (int)(to - from) - 1, from + 1);
	free(text);
}

const char *caps_hint(int e, uint64_t needs)
{
	static char hint[200];
	uint64_t missing;
	const char *word = "; this needs";
	char level[32];
	size_t n = 0;

	*hint = '\0';
	if (e != EPERM && e != EACCES)
		return hint;
	/* a file's permissions give EACCES, so CAP_DAC_OVERRIDE does not help after EPERM */
	if (e == EPERM)
		needs &= ~CAPS_DAC_OVERRIDE;
	missing = needs & ~effective();
	/* before Linux 5.8 CAP_SYS_ADMIN includes these two */
	if (missing & (CAPS_PERFMON | CAPS_BPF) && prctl(PR_CAPBSET_READ, 39, 0, 0, 0) < 0)
		missing = (missing & ~(CAPS_PERFMON | CAPS_BPF)) | CAPS_SYS_ADMIN;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (missing & known[i].cap && n < sizeof(hint)) {
			n += str_format(hint + n, sizeof(hint) - n, "%s CAP_%s", word,
					known[i].name);
			word = " and";
		}
	if (missing)
		return hint;
	lockdown(level, sizeof(level));
	if (needs && in_user_namespace())
		n = str_format(hint, sizeof(hint),
			       "; the capabilities of a user namespace are not enough here");
	if (*level && e == EPERM) /* the error of lockdown */
		n += str_format(hint + n, sizeof(hint) - n, "; the kernel is in lockdown (%s)",
				level);
	if (!n && needs & ~CAPS_DAC_OVERRIDE && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2)
		str_format(hint, sizeof(hint), "; a seccomp filter may forbid it");
	return hint;
}

/* Report the message with strerror(errno) and the hint. Keep errno. */
static void report(uint64_t needs, const char *fmt, va_list ap)
{
	int e = errno;
	char reason[300];

	str_format(reason, sizeof(reason), "%s%s", strerror(e), caps_hint(e, needs));
	err_vmsg(fmt, ap, reason);
	errno = e;
}

int err_capability(uint64_t needs, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(needs, fmt, ap);
	va_end(ap);
	return -1;
}

int err_file(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(CAPS_DAC_OVERRIDE, fmt, ap);
	va_end(ap);
	return -1;
}
