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

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Is the name short, and does it have only characters that need no escapes in JSON? */
static int is_plain(const char *s)
{
	size_t n = strspn(s, LETTERS_AND_DIGITS "-_.:");

	return n && !s[n] && n <= 64;
}

/* ---- attributes --------------------------------------------------------------------------- */

/* Begin and end an object of JSON, and keep room for its end. */
static void members_begin(struct out *o)
{
	o->end -= 2;
	out_char(o, '{');
}

static void members_end(struct out *o)
{
	o->end += 2;
	out_char(o, '}');
	*o->at = '\0';
}

/* Write a member, or nothing if there is no room for it. */
static void put_text(struct out *o, const char *key, size_t n, const char *value, size_t length)
{
	struct out before = *o;

	json_key(o, key, n);
	json_string(o, value, length);
	if (o->cut)
		*o = before;
}

static void put_member(struct out *o, const char *key, const char *value)
{
	put_text(o, key, strlen(key), value, strlen(value));
}

void origin_attributes(struct out *o, const char *text)
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
		if (!n || *v++ != '=' || !strncmp(s, "tfs.", 4))
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
			put_text(o, s, n, value, length);
	}
}

/* ---- the host ---------------------------------------------------------------------------- */

/* Set the text to the first line of a file of procfs if it is plain and fits. */
static void read_name(char *to, size_t size, const char *file)
{
	char *text, path[PATH_MAX];

	str_format(path, sizeof(path), "%s/%s", path_procfs(), file);
	text = file_read(AT_FDCWD, path, NULL);
	if (!text)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (strlen(text) < size && is_plain(text))
		str_format(to, size, "%s", text);
	free(text);
}

int origin_begin(struct origin *o, const char *host, const char *session)
{
	const char *own = getenv("OTEL_RESOURCE_ATTRIBUTES");
	struct out names = out_to(o->names, sizeof(o->names));
	struct utsname name;

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
	read_name(o->boot, sizeof(o->boot), "sys/kernel/random/boot_id");
	if (!o->no_tasks) /* machine-id(5), of the host also in a container */
		read_name(o->id, sizeof(o->id), "1/root/etc/machine-id");
	members_begin(&names);
	origin_attributes(&names, own ? own : "");
	members_end(&names);
	return 0;
}

void origin_session(struct origin *o, uint64_t time)
{
	if (*o->session)
		return;
	str_format(o->unnamed, sizeof(o->unnamed), "%llu", (unsigned long long)time);
	o->session = o->unnamed;
}

/* ---- containers --------------------------------------------------------------------------- */

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
 * kubepods-burstable-podUID.slice (docs.kubernetes.io: cgroup drivers). The outermost container has
 * chosen the names in the rest of the path.
 */
static void parse_path(struct origin_task *t, const char *path)
{
	size_t n = cgroup_container(path, t->container), all = strcspn(path, "\n");

	*t->pod = '\0';
	if (!n)
		n = all;
	/* a user who may make cgroups elsewhere may name them like a pod */
	if (strncmp(path, "/kubepods", 9) && strncmp(path, "/kubelet", 8))
		return;
	for (const char *s = path; s < path + n && !*t->pod; s++)
		if (!strncmp(s, "pod", 3))
			take_uid(t->pod, s + 3);
}

/*
 * Take the outermost container from the lines of all hierarchies. If the lines disagree, take none,
 * because a program that may make cgroups in one hierarchy need not be able to in another.
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

/* ---- tasks -------------------------------------------------------------------------------- */

/* Return the value of a variable in the text of /proc/PID/environ, or NULL. */
static const char *variable(const char *text, size_t size, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = text, *end = text + size; s < end; s += strlen(s) + 1)
		if (!strncmp(s, name, n))
			return s + n;
	return NULL;
}

/* Look up the program of a task's process, and the service that its environment names. */
static void look_at_process(struct origin_task *t, pid_t tid)
{
	struct out o = out_to(t->names, sizeof(t->names));
	char path[PATH_MAX], exe[PATH_MAX];
	const char *name, *more, *program;
	size_t size = 0;
	char *environment;
	ssize_t n;
	uid_t uid;
	int cut;

	if (task_ids(tid, &t->process, &uid) < 0)
		return;
	str_format(path, sizeof(path), "%s/%d/exe", path_procfs(), t->process);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	program = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	environment = procfs_read(t->process, "environ", &size, &cut);
	name = variable(environment, size, "OTEL_SERVICE_NAME=");
	more = variable(environment, size, "OTEL_RESOURCE_ATTRIBUTES=");
	members_begin(&o);
	out_format(&o, "\"process.pid\":%d", t->process);
	if (*program)
		put_member(&o, "process.executable.name", program);
	if (name && *name)
		put_member(&o, "service.name", name);
	if (more)
		origin_attributes(&o, more);
	if (*program && !memmem(t->names, (size_t)(o.at - t->names), "\"service.name\"", 14))
		put_member(&o, "service.name", program);
	members_end(&o);
	free(environment);
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
	if (o->processes)
		look_at_process(t, pid);
	return t;
}
