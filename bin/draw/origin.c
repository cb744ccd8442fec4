/* SPDX-License-Identifier: ISC */
/* origin.c - the host, the boot and the container that a record comes from */
#include <sys/utsname.h>

#include "base/base.h"
#include "proc/proc.h"
#include "export.h"

enum {
	TASKS_MOST = 65536,             /* tasks whose containers are known */
	UID = 36,                       /* characters of the uid of a pod */
	SECOND = 1000000000,
};

/* Has the name only characters that mean themselves in JSON, and is it short? */
static int is_plain(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:");

	return n && !s[n] && n <= 64;
}

int origin_begin(struct origin *o, const char *host, const char *session)
{
	struct utsname name;
	char *boot, path[PATH_MAX];

	if (host && !is_plain(host))
		return err_msg("not a name of a host: '%.80s'; use letters, digits, - _ . and :",
			       host);
	if (session && *session && !is_plain(session))
		return err_msg("not a name of a session: '%.80s'; use letters, digits, - _ . and :",
			       session);
	if (!host && !uname(&name)) {
		str_format(o->name, sizeof(o->name), "%.64s", name.nodename);
		host = is_plain(o->name) ? o->name : NULL;
	}
	o->tasks.size = sizeof(struct origin_task);
	o->host = host ? host : "";
	o->session = session ? session : "";
	str_format(path, sizeof(path), "%s/sys/kernel/random/boot_id", path_procfs());
	boot = file_read(AT_FDCWD, path, NULL);
	if (boot) {
		boot[strcspn(boot, "\n")] = '\0';
		if (strlen(boot) == UID && is_plain(boot))
			str_format(o->boot, sizeof(o->boot), "%s", boot);
		free(boot);
	}
	return 0;
}

static size_t hex_digits(const char *s)
{
	return strspn(s, "0123456789abcdef");
}

/* Copy a uid of 36 characters, where systemd writes "_" for "-". Return 1, or 0 if it is none. */
static int take_uid(char *to, const char *s)
{
	for (unsigned i = 0; i < UID; i++) { /* no character after the NUL is read */
		int dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' && s[i] != '_' : hex_digits(s + i) == 0)
			return 0;
	}
	for (unsigned i = 0; i < UID; i++)
		to[i] = s[i] == '_' ? '-' : s[i];
	to[UID] = '\0';
	return 1;
}

/*
 * Parse the path of one hierarchy. The pod's uid follows "pod" before the container, as in
 * kubepods-burstable-podUID.slice (docs.kubernetes.io calls both the cgroup drivers). What is
 * after the outermost container is named by that container.
 */
static void parse_path(struct origin_task *t, const char *path)
{
	size_t n = cgroup_container(path, t->container), all = strcspn(path, "\n");

	*t->pod = '\0';
	if (!n)
		n = all;
	/* who may make cgroups elsewhere may give them the name of a pod */
	if (strncmp(path, "/kubepods", 9) && strncmp(path, "/kubelet", 8))
		return;
	for (const char *s = path; s < path + n && !*t->pod; s++)
		if (!strncmp(s, "pod", 3))
			take_uid(t->pod, s + 3);
}

/*
 * Of the lines of all hierarchies the outermost container counts; lines that disagree tell
 * nothing, because a program that may make cgroups in one hierarchy need not be able to in another.
 */
void origin_parse(struct origin_task *t, const char *text)
{
	struct origin_task one;
	int clash = 0, pods = 0;

	*t->container = *t->pod = '\0';
	for (const char *line = text; *line; line += !!*line) {
		const char *path = strchr(line, '/');
		size_t n = strcspn(line, "\n");

		if (path && path < line + n) {
			parse_path(&one, path);
			clash |= *one.container && *t->container &&
				 strcmp(one.container, t->container);
			pods |= *one.pod && *t->pod && strcmp(one.pod, t->pod);
			if (*one.container)
				memcpy(t->container, one.container, sizeof(t->container));
			if (*one.pod)
				memcpy(t->pod, one.pod, sizeof(t->pod));
		}
		line += n;
	}
	if (clash)
		*t->container = '\0';
	if (clash || pods)
		*t->pod = '\0';
}

const struct origin_task *origin_of(struct origin *o, const struct export_record *r)
{
	static const struct origin_task none;
	int32_t pid = (int32_t)r->tid;
	struct origin_task *t;
	char *text;
	int cut;

	if (o->no_tasks || pid <= 0 || r->host.n)
		return &none;
	t = table_find(&o->tasks, (const char *)&pid, sizeof(pid));
	if (t && r->time - t->looked < SECOND)
		return t;
	if (!t && o->tasks.n >= TASKS_MOST)
		table_clear(&o->tasks);
	if (!t)
		t = table_at(&o->tasks, (const char *)&pid, sizeof(pid));
	t->looked = r->time;
	text = procfs_read(pid, "cgroup", NULL, &cut);
	if (text)
		origin_parse(t, text);
	free(text);
	return t;
}
