/* SPDX-License-Identifier: ISC */
/*
 * names.c - users and ports by their names
 *
 * getpwnam(3) and getservbyname(3) would load modules, ask servers, and need half of a static
 * program. Everybody on the host may read these two files, and only root can change them.
 */

#include "base/base.h"
#include "tool/tool.h"

/* Names after this many bytes of a file are not found. */
enum { MOST_BYTES = 4 * 1024 * 1024 };

/* Return the beginning of the file, valid until the next call, for suggestions, too; or NULL. */
static char *read_some(const char *path)
{
	static char *kept;

	free(kept);
	return kept = file_read_most(AT_FDCWD, path, MOST_BYTES, NULL);
}

/* passwd(5): name:password:uid:... */
int names_user(const char *name, unsigned long *n, struct suggest *near)
{
	char *text = read_some("/etc/passwd"), *at = text, *line;

	while ((line = text_next_line(&at))) {
		char *password = strchr(line, ':'), *uid = NULL, *end;

		if (password && (uid = strchr(password + 1, ':'))) {
			*password = *uid++ = '\0';
			end = uid + strcspn(uid, ":");
			*end = '\0';
		}
		/* a NIS line such as +::: has no uid */
		if (!uid || text_number(uid, 0, UINT_MAX, n) < 0)
			continue;
		if (!strcmp(line, name))
			return 0;
		suggest_offer(near, line);
	}
	return text ? 1 : -1;
}

/* services(5): name port/protocol alias... */
int names_port(const char *name, unsigned long *n, struct suggest *near)
{
	static const char spaces[] = " \t\r";
	char *text = read_some("/etc/services"), *at = text, *line, *word, *rest, *slash;

	while ((line = text_next_line(&at))) {
		line[strcspn(line, "#")] = '\0';
		word = strtok_r(line, spaces, &rest);
		line = word ? strtok_r(NULL, spaces, &rest) : NULL;
		slash = line ? strchr(line, '/') : NULL;
		if (!slash || strcmp(slash, "/tcp"))
			continue;
		*slash = '\0';
		if (text_number(line, 1, 65535, n) < 0)
			continue;
		for (; word; word = strtok_r(NULL, spaces, &rest)) {
			if (!strcmp(word, name))
				return 0;
			suggest_offer(near, word);
		}
	}
	return text ? 1 : -1;
}
