/* SPDX-License-Identifier: ISC */
/* option_values.c - check the value of an option by its type */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"

#define DIGITS "0123456789"

const char *opt_why(char *why, const char *fmt, ...)
{
	size_t n = strlen(why);
	va_list ap;

	va_start(ap, fmt);
	str_vformat(why + n, OPT_WHY - n, fmt, ap);
	va_end(ap);
	return NULL;
}

/* Return the number as an allocated text. */
static const char *number_text(unsigned long n, char *why)
{
	char *s = malloc(24);

	if (!s)
		return opt_why(why, "out of memory");
	str_format(s, 24, "%lu", n);
	return s;
}

static const char *check_number(const struct opt *o, const char *s, char *why)
{
	unsigned long n;

	if (!text_number(s, o->least, o->most, &n))
		return s;
	if (o->all && !strcmp(s, "all"))
		return number_text(o->most, why);
	if (o->most == ULONG_MAX)
		return o->least ? opt_why(why, "'%.80s' is not a number of at least %lu", s,
					      o->least) :
				  NULL;
	return opt_why(why, "'%.80s' is not a number from %lu to %lu", s, o->least, o->most);
}

/* Times and sizes. The value becomes the number of the first unit. */
static const struct quantity {
	struct text_unit units[8];
	const char *what, *unit, *examples;
} quantities[] = {
	[TYPE_MS - TYPE_MS] = {
		{ { "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } },
		"a time", "milliseconds", "500ms, 5s, 2m or 1h",
	},
	[TYPE_US - TYPE_MS] = {
		{ { "", 1 }, { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } },
		"a time", "microseconds", "500us, 10ms or 1s",
	},
	[TYPE_KB - TYPE_MS] = {
		{ { "", 1 }, { "K", 1 }, { "k", 1 }, { "M", 1024 }, { "m", 1024 },
		  { "G", 1048576 }, { "g", 1048576 } },
		"a size", "kilobytes", "64M or 1G",
	},
};

static const char *check_quantity(const struct opt *o, const char *s, char *why)
{
	const struct quantity *q = &quantities[o->type - TYPE_MS];
	int bare = !s[strspn(s, DIGITS)];
	unsigned long n;

	if (!text_quantity(s, q->units, o->least, o->most, &n))
		return bare ? s : number_text(n, why);
	if (*s && (bare || !text_quantity(s, q->units, 0, ULONG_MAX, &n)))
		return opt_why(why, "'%.80s' is not from %lu to %lu %s; give %s such as %s", s,
			      o->least, o->most, q->unit, q->what, q->examples);
	return opt_why(why, "'%.80s' is not %s such as 500 (%s), %s", s, q->what, q->unit,
		      q->examples);
}

/* Check the number or the name of a user or a port. The hook gets the number. */
static const char *check_known(const struct opt *o, const char *s, char *why)
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
		return number_text(n, why);
	if (r < 0)
		return opt_why(why, "unable to look up %s '%.80s' in %s, give the number: %s", what,
			      s, file, strerror(errno));
	return opt_why(why, "no %s '%.80s' in %s; %s", what, s, file,
		      suggest_remedy(&near, user ? "give the number, as id -u prints it" :
						   "give the number"));
}

static int is_text(const char *s)
{
	return *s && !text_has_control(s);
}

static int is_key(const char *s)
{
	return is_text(s) && strcmp(s, ".");
}

static const char *check_choice(const struct opt *o, const char *s, char *why)
{
	size_t n = strlen(s), m;

	for (const char *choice = o->choices; n && *choice; choice += m + (choice[m] == '|')) {
		m = strcspn(choice, "|");
		if (m == n && !strncmp(choice, s, n))
			return s;
	}
	return opt_why(why, "'%.80s' is not one of %s", s, o->choices);
}

static int is_pid(const char *s)
{
	return text_pid(s) != 0;
}

static const struct opt_check types[] = {
	[TYPE_NAME] = { .is = text_is_name,
			.what = "a name: letters, digits, _ . - and 64 of them at most" },
	[TYPE_PID] = { .is = is_pid, .what = "a pid, a number from 1 to 4194304" },
	[TYPE_NUMBER] = { .check = check_number, .what = "a number" },
	[TYPE_MS] = { .check = check_quantity },
	[TYPE_US] = { .check = check_quantity },
	[TYPE_KB] = { .check = check_quantity },
	[TYPE_UID] = { .check = check_known, .what = "the name or the number of a user" },
	[TYPE_PORT] = { .check = check_known, .what = "the name or the number of a port" },
	[TYPE_KEY] = { .is = is_key, .what = "a key, the name of a field such as pid" },
	[TYPE_TEXT] = { .is = is_text, .what = "printable text" },
	[TYPE_CHOICE] = { .check = check_choice },
};

const char *opt_check_as(const struct opt_check *c, const struct opt *o, const char *s, char *why)
{
	size_t n = str_format(why, OPT_WHY, "--%s: ", o->name);
	const char *value = c->check ? c->check(o, s, why) : !c->is || c->is(s) ? s : NULL;

	if (!value && !why[n])
		opt_why(why, "'%.80s' is not %s", s, c->what);
	return value;
}

const char *opt_check(const struct opt *o, const char *s, char *why)
{
	if (o->type != TYPE_FLAG)
		return opt_check_as(&types[o->type], o, s, why);
	str_format(why, OPT_WHY, "--%s takes no value; leave '%.80s' out", o->name, s);
	return NULL;
}
