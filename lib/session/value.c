/* SPDX-License-Identifier: ISC */
/* value.c - check a value of a hook's option by its type */

#include "base/base.h"
#include "proc/proc.h"
#include "session/session.h"

#define DIGITS "0123456789"

/* A function that checks a value returns this if it has reported the reason. */
static const char reported[] = "";

/* Return the number as an allocated text, or reported. */
static const char *number_text(unsigned long n)
{
	char *s = malloc(24);

	if (s)
		str_format(s, 24, "%lu", n);
	else
		err_msg("out of memory");
	return s ? s : reported;
}

static const char *check_flag(const struct hook_option *o, const char *s)
{
	err_msg("--%s takes no value; leave '%.80s' out", o->name, s);
	return reported;
}

static const char *check_name(const struct hook_option *o, const char *s)
{
	(void)o;
	return text_is_name(s) ? s : NULL;
}

/* drop_dead of request.c checks that the task is alive. */
static const char *check_pid(const struct hook_option *o, const char *s)
{
	if (text_pid(s))
		return s;
	if (strcmp(o->name, "pid") || *s < 'a' || *s > 'z')
		return NULL;
	err_msg("--pid: '%.80s' is not a pid; --comm selects tasks by name", s);
	return reported;
}

static const char *check_number(const struct hook_option *o, const char *s)
{
	unsigned long n;

	if (!text_number(s, o->least, o->most, &n))
		return s;
	if (o->most == ULONG_MAX)
		return NULL;
	err_msg("--%s: '%.80s' is not a number from %lu to %lu", o->name, s, o->least, o->most);
	return reported;
}

/* Times and sizes. The hook gets the number of the smallest unit, from low to high. */
static const struct quantity {
	struct text_unit units[8];
	unsigned long low, high;
	const char *what, *unit, *examples;
} quantities[] = {
	[TYPE_MS] = {
		{ { "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } },
		1, INT_MAX, "a time", "milliseconds", "500ms, 5s, 2m or 1h",
	},
	[TYPE_US] = {
		{ { "", 1 }, { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } },
		0, ULONG_MAX, "a time", "microseconds", "500us, 10ms or 1s",
	},
	[TYPE_KB] = {
		{ { "", 1 }, { "K", 1 }, { "k", 1 }, { "M", 1024 }, { "m", 1024 },
		  { "G", 1048576 }, { "g", 1048576 } },
		1, INT_MAX, "a size", "kilobytes", "64M or 1G",
	},
};

static const char *check_quantity(const struct hook_option *o, const char *s)
{
	const struct quantity *q = &quantities[o->type];
	int bare = !s[strspn(s, DIGITS)];
	unsigned long n;

	if (!text_quantity(s, q->units, q->low, q->high, &n))
		return bare ? s : number_text(n);
	if (*s && (bare || !text_quantity(s, q->units, 0, ULONG_MAX, &n)))
		err_msg("--%s: '%.80s' is not from %lu to %lu %s; give %s such as %s", o->name, s,
			q->low, q->high, q->unit, q->what, q->examples);
	else
		err_msg("--%s: '%.80s' is not %s such as 500 (%s), %s", o->name, s, q->what,
			q->unit, q->examples);
	return reported;
}

/* Check the number or the name of a user or a port. The hook gets the number. */
static const char *check_known(const struct hook_option *o, const char *s)
{
	int user = o->type == TYPE_UID, r;
	const char *what = user ? "user" : "port";
	const char *file = user ? "/etc/passwd" : "/etc/services";
	struct suggest near = { .word = s };
	unsigned long n;

	if (!text_number(s, 0, user ? UINT_MAX : 65535, &n))
		return s;
	/* a name of a service may begin with a digit */
	if (!text_is_name(s) || (user ? strchr(DIGITS, *s) != NULL : !s[strspn(s, DIGITS)]))
		return NULL;
	r = user ? names_user(s, &n, &near) : names_port(s, &n, &near);
	if (!r)
		return number_text(n);
	if (r < 0)
		err_errno("--%s: unable to look up %s '%.80s' in %s, give the number", o->name,
			  what, s, file);
	else
		err_msg("--%s: no %s '%.80s' in %s; %s", o->name, what, s, file,
			suggest_remedy(&near, user ? "give the number, as id -u prints it" :
						     "give the number"));
	return reported;
}

static const char *check_syscall(const struct hook_option *o, const char *s)
{
	size_t n = *s == '!';

	(void)o;
	n += s[n] == '%';
	n += strspn(s + n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" DIGITS
			   "_.-*?[]!");
	return n && n <= 64 && !s[n] && *s != '.' && *s != '-' ? s : NULL;
}

static const char *check_error(const struct hook_option *o, const char *s)
{
	(void)o;
	return error_of_name(s, strlen(s)) ? s : NULL;
}

static const char *check_id(const struct hook_option *o, const char *s)
{
	size_t n = strspn(s, DIGITS "abcdef");

	(void)o;
	return n >= 4 && n <= CONTAINER_ID && !s[n] ? s : NULL;
}

static const char *check_disk(const struct hook_option *o, const char *name)
{
	struct suggest near = { .word = name };
	char disks[PATH_MAX], file[PATH_MAX], **names;

	if (!text_is_name(name))
		return NULL;
	str_format(disks, sizeof(disks), "%s/class/block", path_sysfs());
	str_format(file, sizeof(file), "%s/%s/partition", disks, name);
	if (file_exists(AT_FDCWD, file)) {
		err_msg("--%s: %s is a partition; give its disk", o->name, name);
		return reported;
	}
	*strrchr(file, '/') = '\0';
	if (file_exists(AT_FDCWD, file))
		return name;
	names = file_names(disks);
	for (char **disk = names; disk && *disk; disk++) {
		str_format(file, sizeof(file), "%s/%s/partition", disks, *disk);
		if (!file_exists(AT_FDCWD, file))
			suggest_offer(&near, *disk);
	}
	err_msg("--%s: no disk '%s' in %s; %s", o->name, name, disks,
		suggest_remedy(&near, "give one of the names there"));
	free(names);
	return reported;
}

static const char *check_text(const struct hook_option *o, const char *s)
{
	/* the hook gets many values with spaces between them (option_variable) */
	if (o->many && o->for_hook && strchr(s, ' ')) {
		err_msg("--%s: '%.80s' has a space, which would make it two values; give "
			"each value as a word", o->name, s);
		return reported;
	}
	/* the hook may print the value as a word for its stream (stream_parse) */
	if (o->for_hook && !strcmp(s, STREAM_FILTER)) {
		err_msg("--%s: '%s' alone is not a value; leave it out", o->name, s);
		return reported;
	}
	return *s && !text_has_control(s) ? s : NULL;
}

static const char *check_choice(const struct hook_option *o, const char *s)
{
	size_t n = strlen(s), m;

	for (const char *choice = o->choices; n && *choice; choice += m + (choice[m] == '|')) {
		m = strcspn(choice, "|");
		if (m == n && !strncmp(choice, s, n))
			return s;
	}
	err_msg("--%s: '%.80s' is not one of %s", o->name, s, o->choices);
	return reported;
}

/*
 * How a value of each type is checked: the function returns the value as the hook gets it, NULL if
 * it is not "what", or reported.
 */
static const struct {
	const char *(*check)(const struct hook_option *, const char *);
	const char *what;
} types[] = {
	[TYPE_FLAG] = { check_flag, NULL },
	[TYPE_NAME] = { check_name, "a name: letters, digits, _ . - and 64 of them at most" },
	[TYPE_PID] = { check_pid, "a pid" },
	[TYPE_NUMBER] = { check_number, "a number" },
	[TYPE_MS] = { check_quantity, NULL },
	[TYPE_US] = { check_quantity, NULL },
	[TYPE_KB] = { check_quantity, NULL },
	[TYPE_UID] = { check_known, "the name or the number of a user" },
	[TYPE_PORT] = { check_known, "the name or the number of a port" },
	[TYPE_SYSCALL] = { check_syscall,
			   "a system call, a glob such as open*, or a class such as file" },
	[TYPE_ERROR] = { check_error, "the name of an error, such as ENOENT" },
	[TYPE_ID] = { check_id, "a container's id: at least 4 of its first digits, 0-9 a-f" },
	[TYPE_DISK] = { check_disk, "the name of a disk, such as sda" },
	[TYPE_TEXT] = { check_text, "printable text" },
	[TYPE_CHOICE] = { check_choice, NULL },
};

const char *value_check(const struct hook_option *o, const char *s)
{
	const char *value = types[o->type].check(o, s);

	if (!value)
		err_msg("--%s: '%.80s' is not %s", o->name, s, types[o->type].what);
	return value && value != reported ? value : NULL;
}
