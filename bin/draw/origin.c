/* SPDX-License-Identifier: ISC */
/* origin.c - the host, the boot and the container that a record comes from */
#include <sys/utsname.h>

#include "base/base.h"
#include "proc/proc.h"
#include "export.h"

enum {
	TASKS_MOST = 32768,             /* tasks whose containers are known */
	SECOND = 1000000000,
};

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Is the name short, and does it have only characters that need no escapes in JSON? */
static int is_plain(const char *s)
{
	size_t n = strspn(s, LETTERS_AND_DIGITS "-_.:");

	return n && !s[n] && n <= 64;
}

int origin_is_name(struct text_part name)
{
	char text[128];

	if (name.n >= sizeof(text))
		return 0;
	str_format(text, sizeof(text), "%.*s", (int)name.n, name.text);
	return name.n && strspn(text, LETTERS_AND_DIGITS "_.-") == name.n &&
	       strncmp(text, "tfs.", 4) != 0;
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
		if (*v++ != '=' || !origin_is_name((struct text_part){ s, n }))
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
	o->containers.size = sizeof(struct origin_container);
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

/* ---- tasks -------------------------------------------------------------------------------- */

/* Return the value of a variable in the text of /proc/PID/environ, or NULL. */
static const char *variable(const char *text, size_t size, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = text, *end = s ? s + size : s; s < end; s += strlen(s) + 1)
		if (!strncmp(s, name, n))
			return s + n;
	return NULL;
}

/* Is there a service among the names that were written so far? */
static int names_service(const struct origin_task *t, const struct out *o)
{
	return memmem(t->names, (size_t)(o->at - t->names), "\"service.name\":", 15) != NULL;
}

/*
 * Look up the program of a task's process, and the service that the process publishes, or that its
 * environment names. Return 0 if the task has ended: it keeps what is known.
 */
static int look_at_process(struct origin_task *t, pid_t tid)
{
	struct out o = out_to(t->names, sizeof(t->names));
	char path[PATH_MAX], exe[PATH_MAX];
	const char *name, *more, *program;
	size_t size = 0;
	char *environment;
	pid_t process;
	ssize_t n;
	uid_t uid;
	int cut;

	if (task_ids(tid, &process, &uid) < 0)
		return 0;
	str_format(path, sizeof(path), "%s/%d/exe", path_procfs(), process);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	if (n < 0 && t->process == process)
		return 0; /* a zombie, or a thread of the kernel */
	t->process = process;
	program = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	environment = procfs_read(process, "environ", &size, &cut);
	name = variable(environment, size, "OTEL_SERVICE_NAME=");
	more = variable(environment, size, "OTEL_RESOURCE_ATTRIBUTES=");
	members_begin(&o);
	if (*program)
		put_member(&o, "process.executable.name", program);
	process_context(&o, process);
	if (name && *name && !names_service(t, &o))
		put_member(&o, "service.name", name);
	if (more)
		origin_attributes(&o, more);
	t->named = names_service(t, &o);
	if (*program && !t->named)
		put_member(&o, "service.name", program);
	members_end(&o);
	free(environment);
	return n >= 0;
}

/* ---- what records tell of processes that may have ended ------------------------------------- */

/* Return the member of the record's fields, or an empty string. */
static struct text_part field_of(const struct export_record *r, const char *key)
{
	const char *s = r->fields.text, *end = s ? s + r->fields.n : NULL;
	struct text_part name, value;

	while (s && json_member(&s, end, &name, &value))
		if (text_part_is(name, key))
			return value;
	return (struct text_part){ NULL, 0 };
}

/* Return the member "text" of a decoded call's argument with this name, or an empty string. */
static struct text_part argument_of(const struct export_record *r, const char *key)
{
	struct text_part args = field_of(r, "args"), argument, name, value, text;
	const char *a = args.text, *end = a ? a + args.n : NULL;

	while (a && json_element(&a, end, &argument)) {
		const char *s = argument.text, *last = s + argument.n;
		int found = 0;

		text = (struct text_part){ NULL, 0 };
		while (json_member(&s, last, &name, &value)) {
			found |= text_part_is(name, "name") &&
				 text_part_is(json_unquoted(value), key);
			if (text_part_is(name, "text"))
				text = json_unquoted(value);
		}
		if (found)
			return text;
	}
	return (struct text_part){ NULL, 0 };
}

/* Return the name of the program that the task has executed by this record, or an empty string. */
static struct text_part executed(const struct export_record *r)
{
	struct text_part event = json_unquoted(r->event), path = { NULL, 0 };
	size_t n;

	if (text_part_is(event, "sched_process_exec"))
		path = json_unquoted(field_of(r, "filename"));
	else if (text_part_begins(event, "sys_exit_execve") &&
		 text_part_is(field_of(r, "ret"), "0"))
		path = argument_of(r, "filename");
	while (path.n && (path.text[path.n - 1] == '"' || path.text[path.n - 1] == '\\'))
		path.n--;
	for (n = 0; n < path.n && strchr(LETTERS_AND_DIGITS "-_.+", path.text[path.n - n - 1]);)
		n++;
	/* a name with other characters would need its escapes */
	return n < path.n && path.text[path.n - n - 1] == '/' ?
	       (struct text_part){ path.text + path.n - n, n } : (struct text_part){ NULL, 0 };
}

/*
 * Set the program of a task that has ended meanwhile. What was known of its service stays true,
 * because most programs hand their environment on, unless it was the name of the program.
 */
static void note_program(struct origin_task *t, struct text_part program)
{
	struct out o = out_to(t->names, sizeof(t->names));
	char old[sizeof(t->names)];
	struct text_part name, value;
	const char *s = old, *end;

	memcpy(old, t->names, sizeof(old));
	end = old + strlen(old);
	members_begin(&o);
	put_text(&o, "process.executable.name", 23, program.text, program.n);
	while (t->named && json_member(&s, end, &name, &value)) {
		struct out before = o;

		if (text_part_is(name, "process.executable.name"))
			continue;
		json_key(&o, name.text, name.n);
		out_text(&o, value.text, value.n);
		if (o.cut)
			o = before;
	}
	if (!t->named)
		put_text(&o, "service.name", 12, program.text, program.n);
	members_end(&o);
}

/* If the record tells that the task has made another one, hand its container and service on. */
static void note_child(struct origin *o, const struct origin_task *parent,
		       const struct export_record *r)
{
	enum { THREAD = 0x10000 };      /* CLONE_THREAD */
	struct text_part event = json_unquoted(r->event), child = { NULL, 0 };
	struct origin_task *t;
	uint64_t pid, flags = 0;
	int32_t key;

	if (text_part_is(event, "task_newtask"))
		child = field_of(r, "pid");
	else if (text_part_is(event, "sched_process_fork"))
		child = field_of(r, "child_pid");
	if (!child.n || text_part_number(child, 10, &pid) < 0 || !pid || pid > INT32_MAX ||
	    o->tasks.n >= TASKS_MOST)
		return;
	key = (int32_t)pid;
	child = field_of(r, "clone_flags");
	if (child.n && text_part_number(child, 10, &flags) < 0)
		flags = 0;
	t = table_at(&o->tasks, (const char *)&key, sizeof(key));
	if (t == parent)
		return;
	memcpy((char *)t + sizeof(t->entry), (const char *)parent + sizeof(t->entry),
	       sizeof(*t) - sizeof(t->entry));
	t->looked = 0;
	if (!(flags & THREAD))
		t->process = parent->process ? key : 0;
}

/* Return the container of a task with these lines of /proc/PID/cgroup, with its names. */
static const struct container *container_with(struct origin *o, const char *lines)
{
	struct container c;
	struct origin_container *known;
	char key[sizeof(c.id) + sizeof(c.uid)];

	container_of(&c, lines);
	known = table_at(&o->containers, key, str_format(key, sizeof(key), "%s%s", c.id, c.uid));
	if (*known->names.name)
		return &known->names;
	container_name(&c);
	known->names = c;
	return &known->names;
}

const struct origin_task *origin_of(struct origin *o, const struct export_record *r)
{
	static const struct container nowhere;
	static const struct origin_task none = { .container = &nowhere };
	const int32_t pid = (int32_t)(r->tgid ? r->tgid : r->tid);
	struct text_part program = { NULL, 0 };
	struct origin_task *t;
	char *text;
	int cut;

	if (o->no_tasks || pid <= 0 || r->host.n)
		return &none;
	t = table_find(&o->tasks, (const char *)&pid, sizeof(pid));
	if (o->processes)
		program = executed(r);
	if (!t || program.n || r->time - t->looked >= SECOND) {
		if ((!t && o->tasks.n >= TASKS_MOST) || o->containers.n >= TASKS_MOST) {
			t = NULL;
			table_clear(&o->tasks);
			table_clear(&o->containers);
		}
		if (!t) {
			t = table_at(&o->tasks, (const char *)&pid, sizeof(pid));
			t->container = &nowhere;
		}
		t->looked = r->time;
		text = procfs_read(pid, "cgroup", NULL, &cut);
		if (text)
			t->container = container_with(o, text);
		free(text);
		if (o->processes && !look_at_process(t, pid) && program.n)
			note_program(t, program);
	}
	if (o->processes)
		note_child(o, t, r);
	return t;
}
