/* SPDX-License-Identifier: ISC */
/* resource.c - the program and the service that a process is, as members of JSON */

#include "base/base.h"
#include "proc/proc.h"

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

int resource_is_name(struct text_part name)
{
	char text[128];

	if (name.n >= sizeof(text))
		return 0;
	str_format(text, sizeof(text), "%.*s", (int)name.n, name.text);
	return name.n && strspn(text, LETTERS_AND_DIGITS "_.-") == name.n &&
	       strncmp(text, "tfs.", 4) != 0;
}

void resource_text(struct out *o, const char *key, size_t n, const char *value, size_t length)
{
	struct out before = *o;

	json_key(o, key, n);
	json_string(o, value, length);
	if (o->cut)
		*o = before;
}

static void put_member(struct out *o, const char *key, const char *value)
{
	resource_text(o, key, strlen(key), value, strlen(value));
}

void resource_attributes(struct out *o, const char *text)
{
	static const char blanks[] = " \t";
	char value[256];

	for (const char *s = text, *end; *s; s = end + (*end == ',')) {
		const char *v, *last;
		size_t n, length = 0;

		end = last = s + strcspn(s, ",");
		s += strspn(s, blanks);
		n = strspn(s, LETTERS_AND_DIGITS "_.-");
		v = s + n + strspn(s + n, blanks);
		if (*v++ != '=' || !resource_is_name((struct text_part){ s, n }))
			continue;
		v += strspn(v, blanks);
		while (last > v && strchr(blanks, last[-1]))
			last--;
		for (; v < last && length < sizeof(value); v++) {
			uint64_t byte = (unsigned char)*v;

			if (*v == '%' && last - v > 2 &&
			    !text_part_number((struct text_part){ v + 1, 2 }, 16, &byte))
				v += 2;
			value[length++] = (char)byte;
		}
		if (v == last && length)
			resource_text(o, s, n, value, length);
	}
}

/* Return the value of a variable in the text of /proc/PID/environ, or NULL. */
static const char *variable(const char *text, size_t size, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = text, *end = s ? s + size : s; s < end; s += strlen(s) + 1)
		if (!strncmp(s, name, n))
			return s + n;
	return NULL;
}

/* Is there a service among the members that were written so far? */
static int names_service(const char *start, const struct out *o)
{
	return memmem(start, (size_t)(o->at - start), "\"service.name\":", 15) != NULL;
}

int resource_put(struct out *o, pid_t process)
{
	char path[PATH_MAX], exe[PATH_MAX];
	const char *start = o->at, *name, *more, *program;
	size_t size = 0;
	char *environment;
	ssize_t n;
	int named;

	str_format(path, sizeof(path), "%s/%d/exe", path_procfs(), (int)process);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	program = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	environment = procfs_read(process, "environ", &size, NULL);
	name = variable(environment, size, "OTEL_SERVICE_NAME=");
	more = variable(environment, size, "OTEL_RESOURCE_ATTRIBUTES=");
	if (*program)
		put_member(o, "process.executable.name", program);
	process_context(o, process);
	if (name && *name && !names_service(start, o))
		put_member(o, "service.name", name);
	if (more)
		resource_attributes(o, more);
	named = names_service(start, o);
	if (*program && !named)
		put_member(o, "service.name", program);
	free(environment);
	return n < 0 ? 0 : named ? RESOURCE_NAMED : 1;
}
