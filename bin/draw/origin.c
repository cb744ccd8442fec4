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
	resource_attributes(&names, own ? own : "");
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

/*
 * Look up the program of a task's process, and the service that the process publishes, or that its
 * environment names. Return 0 if the task has ended: it keeps what is known.
 */
static int look_at_process(struct origin_task *t, pid_t tid)
{
	char names[sizeof(t->names)];
	struct out o = out_to(names, sizeof(names));
	pid_t process;
	uid_t uid;
	int found;

	if (task_ids(tid, &process, &uid) < 0)
		return 0;
	members_begin(&o);
	found = resource_put(&o, process);
	members_end(&o);
	if (!found && t->process == process)
		return 0; /* a zombie, or a thread of the kernel */
	t->process = process;
	t->named = found == RESOURCE_NAMED;
	memcpy(t->names, names, sizeof(names));
	return found != 0;
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
	resource_text(&o, "process.executable.name", 23, program.text, program.n);
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
		resource_text(&o, "service.name", 12, program.text, program.n);
	members_end(&o);
}

/* Copy all that is known of a task. */
static void copy_task(struct origin_task *to, const struct origin_task *from)
{
	memcpy((char *)to + sizeof(to->entry), (const char *)from + sizeof(from->entry),
	       sizeof(*to) - sizeof(to->entry));
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
	copy_task(t, parent);
	t->looked = 0;
	if (!(flags & THREAD))
		t->process = parent->process ? key : 0;
}

/* Forget all tasks, and their containers, if there are too many. */
static void make_room(struct origin *o)
{
	if (o->tasks.n < TASKS_MOST && o->containers.n < CONTAINERS_MOST)
		return;
	table_clear(&o->tasks);
	table_clear(&o->containers);
}

/* ---- what the trace tells of its tasks --------------------------------------------------- */

static const struct container nowhere;

/* Return a number of JSON, or 0. */
static int32_t pid_of(struct text_part value)
{
	uint64_t n;

	return text_part_number(value, 10, &n) < 0 || n > INT32_MAX ? 0 : (int32_t)n;
}

/* Return the task for a line or record about it. */
static struct origin_task *task_at(struct origin *o, int32_t pid)
{
	struct origin_task *t = table_find(&o->tasks, (const char *)&pid, sizeof(pid));

	if (t)
		return t;
	t = table_at(&o->tasks, (const char *)&pid, sizeof(pid));
	t->container = &nowhere;
	return t;
}

/* Return the container that n bytes of an object of JSON name, a line or a part of it. */
static const struct container *container_read(struct origin *o, const char *s, size_t n)
{
	const char *end = s + n;
	struct text_part name, value;
	struct container c = { .of_user = -1 }; /* not one that the tool has looked up */

	while (json_member(&s, end, &name, &value))
		container_take(&c, name, json_unquoted(value));
	return containers_keep(&o->containers, &c);
}

/* Take the members of a resource. Does its service have another name than its program? */
static void read_resource(struct origin_task *t, struct text_part object)
{
	struct out o = out_to(t->names, sizeof(t->names));
	struct text_part name, value, program = { "", 0 }, service = { "", 0 };

	members_begin(&o);
	for (const char *s = object.text; json_member(&s, object.text + object.n, &name, &value);) {
		struct out before = o;

		if (!resource_is_name(name))
			continue;
		json_key(&o, name.text, name.n);
		out_text(&o, value.text, value.n);
		if (o.cut)
			o = before;
		if (text_part_is(name, "process.executable.name"))
			program = value;
		else if (text_part_is(name, "service.name"))
			service = value;
	}
	members_end(&o);
	t->named = service.n != program.n || memcmp(service.text, program.text, service.n) != 0;
}

int origin_note(struct origin *o, const struct export_record *r)
{
	const char *s = r->line, *end = s + r->n;
	struct text_part name, value, container = { NULL, 0 }, resource = { NULL, 0 };
	const struct origin_task *from;
	struct origin_task *t, known = { .container = &nowhere };
	int32_t task = 0, made_by = 0, process = 0;
	int thread = 0;

	while (json_member(&s, end, &name, &value)) {
		thread |= text_part_is(name, "thread_of");
		if (text_part_is(name, "task"))
			task = pid_of(value);
		else if (text_part_is(name, "process"))
			process = pid_of(value);
		else if (text_part_is(name, "of") || text_part_is(name, "thread_of"))
			made_by = pid_of(value);
		else if (text_part_is(name, "container"))
			container = value;
		else if (text_part_is(name, "resource"))
			resource = value;
	}
	if (!task || r->event.n || r->host.n || (!made_by && !process))
		return 0;
	make_room(o);
	o->noted = 1;
	t = task_at(o, task); /* it may forget all others, with their containers */
	from = made_by ? table_find(&o->tasks, (const char *)&made_by, sizeof(made_by)) : NULL;
	if (from)
		copy_task(&known, from);
	known.process = process ? process : thread ? known.process : task;
	known.looked = process && (o->begun || t->process);
	if (container.n)
		known.container = container_read(o, container.text, container.n);
	if (resource.n)
		read_resource(&known, resource);
	copy_task(t, &known);
	return 1;
}

/* Return what the trace told of the record's task. */
static const struct origin_task *told_of(struct origin *o, const struct export_record *r,
					 struct origin_task *t)
{
	struct text_part program = executed(r);

	/* a line before the record of an exec knows the program already */
	if (program.n && !t->looked)
		note_program(t, program);
	if (program.n)
		t->looked = 0;
	note_child(o, t, r);
	return t;
}

const struct origin_task *origin_of(struct origin *o, const struct export_record *r)
{
	static struct origin_task none;
	const int32_t pid = (int32_t)(r->tgid ? r->tgid : r->tid);
	struct text_part program = { NULL, 0 };
	const struct container *in;
	struct origin_task *t;

	make_room(o);
	none.container = r->contained ? container_read(o, r->line, r->n) : &nowhere;
	if (pid <= 0 || r->host.n || (o->no_tasks && !o->noted) || (r->contained && !o->processes))
		return &none;
	t = table_find(&o->tasks, (const char *)&pid, sizeof(pid));
	o->begun = 1;
	if (o->noted && !t) /* the pid may be that of another process by now */
		return &none;
	if (o->noted && r->contained)
		t->container = none.container;
	if (o->noted)
		return told_of(o, r, t);
	if (o->processes)
		program = executed(r);
	if (!t || program.n || r->time - t->looked >= SECOND) {
		t = task_at(o, pid);
		t->looked = r->time;
		in = r->contained ? NULL : containers_find_task(&o->containers, pid);
		t->container = in ? in : t->container;
		if (o->processes && !look_at_process(t, pid) && program.n)
			note_program(t, program);
	}
	if (r->contained)
		t->container = none.container;
	if (o->processes)
		note_child(o, t, r);
	return t;
}
