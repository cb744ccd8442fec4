/* SPDX-License-Identifier: ISC */
/*
 * caps.c - name the capability whose absence made the kernel refuse something
 *
 * The numbers are those of capabilities(7). CAP_PERFMON and CAP_BPF are parts of
 * CAP_SYS_ADMIN since Linux 5.8, and a task that has CAP_SYS_ADMIN needs neither.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tfs.h"

/* linux/capability.h: programs for musl are built without the kernel's headers. */
enum { CAPABILITY_VERSION = 0x20080522 };

static const struct { uint64_t cap; int number; const char *name; } known[] = {
	{ NEEDS_DAC_OVERRIDE, 1, "CAP_DAC_OVERRIDE" }, { NEEDS_NET_ADMIN, 12, "CAP_NET_ADMIN" },
	{ NEEDS_SYS_PTRACE, 19, "CAP_SYS_PTRACE" }, { NEEDS_SYS_ADMIN, 21, "CAP_SYS_ADMIN" },
	{ NEEDS_PERFMON, 38, "CAP_PERFMON" }, { NEEDS_BPF, 39, "CAP_BPF" },
};

/* The effective set by the NEEDS_ bits; all of them if the kernel does not tell. */
static uint64_t effective(void)
{
	struct { uint32_t version; int pid; } head = { CAPABILITY_VERSION, 0 };
	struct { uint32_t effective, permitted, inheritable; } data[2] = { { 0, 0, 0 } };
	uint64_t has = 0;

	if (syscall(SYS_capget, &head, data) < 0)
		return ~(uint64_t)0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (data[known[i].number / 32].effective >> known[i].number % 32 & 1)
			has |= known[i].cap;
	if (has & NEEDS_SYS_ADMIN)
		has |= NEEDS_PERFMON | NEEDS_BPF;
	return has;
}

/* Are we in a user namespace? The first one maps all ids to themselves. */
static int in_user_namespace(void)
{
	char *map = ctl_read(AT_FDCWD, "/proc/self/uid_map", NULL);
	const char *p = map ? map + strspn(map, " ") : "";
	int is = map && (*p != '0' || strtoul(p + 1, (char **)&p, 10) != 0 ||
			 strtoul(p, NULL, 10) != 4294967295UL);

	free(map);
	return is;
}

/* The kernel's lockdown level into level, which is empty without lockdown. */
static void lockdown(char *level, size_t size)
{
	char path[PATH_MAX], *text, *from, *to;

	*level = '\0';
	format(path, sizeof(path), "%s/kernel/security/lockdown", sysfs());
	text = ctl_read(AT_FDCWD, path, NULL);
	from = text ? strchr(text, '[') : NULL;
	to = from ? strchr(from, ']') : NULL;
	if (to && strncmp(from, "[none]", 6))
		format(level, size, "%.*s", (int)(to - from) - 1, from + 1);
	free(text);
}

/* Write the likely reason of a refusal into hint, or nothing. */
static void explain(char *hint, size_t size, uint64_t needs)
{
	uint64_t missing = needs & ~effective();
	const char *word = "; this needs";
	char level[32];
	size_t n = 0;

	*hint = '\0';
	/* before Linux 5.8 CAP_SYS_ADMIN stands for these two */
	if (missing & (NEEDS_PERFMON | NEEDS_BPF) && prctl(PR_CAPBSET_READ, 39, 0, 0, 0) < 0)
		missing = (missing & ~(uint64_t)(NEEDS_PERFMON | NEEDS_BPF)) | NEEDS_SYS_ADMIN;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (missing & known[i].cap && n < size) {
			n += format(hint + n, size - n, "%s %s", word, known[i].name);
			word = " and";
		}
	if (missing)
		return;
	lockdown(level, sizeof(level));
	if (in_user_namespace())
		n = format(hint, size,
			   "; the capabilities of a user namespace are not enough here");
	if (*level)
		n += format(hint + n, size - n, "; the kernel is in lockdown (%s)", level);
	if (!n && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2)
		format(hint, size, "; a seccomp filter may forbid it");
}

int complain_needs(uint64_t needs, const char *fmt, ...)
{
	char text[640], hint[200] = "";
	int e = errno;
	va_list ap;

	va_start(ap, fmt);
	vformat(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (e == EPERM || e == EACCES)
		explain(hint, sizeof(hint), needs);
	complain("%s: %s%s", text, strerror(e), hint);
	errno = e;
	return -1;
}
