/* SPDX-License-Identifier: ISC */
/* value.c - check values of the types that only hooks have */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "session/session.h"

#define DIGITS "0123456789"

static int is_syscall(const char *s)
{
	size_t n = *s == '!';

	n += s[n] == '%';
	n += strspn(s + n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" DIGITS
			   "_.-*?[]!");
	return n && n <= 64 && !s[n] && *s != '.' && *s != '-';
}

static int is_error(const char *s)
{
	return error_of_name(s, strlen(s)) != 0;
}

static int is_container(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" DIGITS
			     "_.-*?[]!");

	return n && n < NAME_MAX && !s[n] && *s != '.' && *s != '-';
}

static int is_id(const char *s)
{
	size_t n = strspn(s, DIGITS "abcdef");

	return n >= 4 && n <= CONTAINER_ID && !s[n];
}

/* Return the name of the disk or partition MAJOR:MINOR or MAJOR,MINOR, allocated, or NULL. */
static const char *disk_of_number(const char *number)
{
	char file[PATH_MAX], target[PATH_MAX];
	size_t major = strspn(number, "0123456789");
	size_t minor = strspn(number + major + !!number[major], "0123456789");
	ssize_t n;

	if (!major || !minor || !strchr(",:", number[major]) || number[major + 1 + minor])
		return NULL;
	str_format(file, sizeof(file), "%s/dev/block/%.*s:%s", path_sysfs(), (int)major, number,
		   number + major + 1);
	n = readlink(file, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return strdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static const char *check_disk(const struct opt *o, const char *name, char *why)
{
	struct suggest near = { .word = name };
	char disks[PATH_MAX], file[PATH_MAX], **names;

	const char *numbered = disk_of_number(name);

	(void)o;
	name = numbered ? numbered : name;
	if (!text_is_name(name))
		return NULL;
	str_format(disks, sizeof(disks), "%s/class/block", path_sysfs());
	str_format(file, sizeof(file), "%s/%s/partition", disks, name);
	if (file_exists(AT_FDCWD, file))
		return opt_why(why, "%s is a partition; give its disk", name);
	*strrchr(file, '/') = '\0';
	if (file_exists(AT_FDCWD, file))
		return name;
	names = file_names(disks);
	for (char **disk = names; disk && *disk; disk++) {
		str_format(file, sizeof(file), "%s/%s/partition", disks, *disk);
		if (!file_exists(AT_FDCWD, file))
			suggest_offer(&near, *disk);
	}
	opt_why(why, "no disk '%s' in %s; %s", name, disks,
	       suggest_remedy(&near, "give one of the names there"));
	free(names);
	return NULL;
}

/* As in option_values.c; the tools do without these checks, and without the tables behind them. */
static const struct opt_check types[] = {
	[TYPE_SYSCALL] = { .is = is_syscall, .what = "a system call, a glob such as open*, or a "
						     "class such as file" },
	[TYPE_ERROR] = { .is = is_error, .what = "the name of an error, such as ENOENT" },
	[TYPE_ID] = { .is = is_id, .what = "a container's id: at least 4 of its first digits, "
					   "0-9 a-f" },
	[TYPE_CONTAINER] = { .is = is_container, .what = "a name, a glob of names such as "
							 "web-*, or the first digits of an id" },
	[TYPE_DISK] = { .check = check_disk, .what = "the name of a disk, such as sda" },
};

const char *value_check(const struct opt *o, const char *s, char *why)
{
	if (o->type < sizeof(types) / sizeof(*types) && types[o->type].what)
		return opt_check_as(&types[o->type], o, s, why);
	return opt_check(o, s, why);
}
