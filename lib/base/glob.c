/* SPDX-License-Identifier: ISC */
/* glob.c - match names of events against a glob */

#include "base/base.h"

/*
 * Is c in the set that follows a '['? Move *g after the ']'. Return -1 if there is no
 * ']'; the '[' then stands for itself.
 */
static int in_set(const char **g, unsigned char c)
{
	const char *p = *g;
	int not = *p == '!' || *p == '^', found = 0;

	for (const char *first = p += not; *p && (*p != ']' || p == first); p++) {
		unsigned char low, high;

		if (*p == '\\' && p[1])
			p++;
		low = high = (unsigned char)*p;
		if (p[1] == '-' && p[2] && p[2] != ']') {
			p += 2 + (p[2] == '\\' && p[3]);
			high = (unsigned char)*p;
		}
		found |= c >= low && c <= high;
	}
	if (!*p)
		return -1;
	*g = p + 1;
	return found != not;
}

/*
 * fnmatch(3) matches the same globs, but its tables of characters make up a sixth of a
 * static program.
 */
int glob_matches(const char *g, const char *s)
{
	const char *star = NULL, *from = s;

	for (;;) {
		const char *next = g + 1;
		int r = 0;

		if (*g == '*') { /* first it matches nothing, then more and more */
			star = ++g;
			from = s;
			continue;
		}
		if (!*s && !*g)
			return 1;
		if (*g == '[' && *s)
			r = in_set(&next, (unsigned char)*s);
		else if (*g == '?')
			r = *s != '\0';
		else if (*g == '\\') /* at the end of the glob it matches nothing */
			r = g[1] && *s == *next++;
		else
			r = *g == *s;
		if (r < 0)
			r = *s == '[';
		if (r && *s) {
			g = next;
			s++;
			continue;
		}
		if (!star || !*from)
			return 0;
		g = star;
		s = ++from;
	}
}

int glob_names(const char *glob, const char *system, const char *event)
{
	char name[512];

	if (!strchr(glob, ':'))
		return glob_matches(glob, event);
	str_format(name, sizeof(name), "%s:%s", system, event);
	return glob_matches(glob, name);
}

int glob_listed(const char *list, const char *name)
{
	char glob[1024];

	for (size_t n; *list; list += n + !!list[n]) {
		n = strcspn(list, ", ");
		str_format(glob, sizeof(glob), "%.*s", (int)n, list);
		if (glob_matches(glob, name))
			return 1;
	}
	return 0;
}
