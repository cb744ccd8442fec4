/* SPDX-License-Identifier: ISC */
/* services.c - lines that say which process, service and container a task is of */

#include "base/base.h"
#include "proc/proc.h"
#include "services.h"

enum {
	TASKS_MOST = 65536,     /* tasks that are known; then forget all */
	MEMBERS = 1022,         /* bytes of the members of a resource: tfs-export keeps so many */
};

static struct table known = { .size = sizeof(struct table_entry) };

void services_begin(void)
{
	table_clear(&known);
}

/* Is a line of the task written? If not, it will be now. */
static int is_known(int32_t pid)
{
	size_t before = known.n;

	if (before >= TASKS_MOST)
		table_clear(&known);
	before = known.n;
	table_at(&known, (const char *)&pid, sizeof(pid));
	return known.n == before;
}

static void forget(int32_t pid)
{
	void *e = table_find(&known, (const char *)&pid, sizeof(pid));

	if (e)
		table_remove(&known, e);
}

/* Write the container of a process. */
static void put_container(struct out *o, pid_t process)
{
	static struct table containers;
	const struct container *c;

	if (containers.n >= CONTAINERS_MOST)
		table_clear(&containers);
	c = containers_find_task(&containers, process);
	if (!c || !*c->id)
		return;
	json_key(o, "container", 9);
	out_char(o, '{');
	container_members(o, c, 0);
	out_char(o, '}');
}

/* Write the line of a process. Return its length; 0: it has ended, or has no program. */
static size_t put_process(pid_t pid, char *buf)
{
	/* room for the ends, so that no line is cut */
	struct out o = out_to(buf, SERVICES_ROOM / 2 - 4), members;

	out_format(&o, "{\"task\":%d,\"process\":%d", (int)pid, (int)pid);
	put_container(&o, pid);
	out_string(&o, ",\"resource\":{");
	members = o;
	if (out_room(&o) > MEMBERS)
		members.end = o.at + MEMBERS;
	if (o.cut || !resource_put(&members, pid))
		return 0;
	members.end += 4;
	out_string(&members, "}}\n");
	return (size_t)(members.at - buf);
}

size_t services_task(int32_t pid, char *buf)
{
	struct out o;
	pid_t process;
	uid_t uid;
	size_t n;

	if (!pid || is_known(pid) || task_ids(pid, &process, &uid) < 0)
		return 0;
	if (process == pid)
		return put_process(pid, buf);
	n = is_known(process) ? 0 : put_process(process, buf);
	o = out_to(buf + n, SERVICES_ROOM - n);
	out_format(&o, "{\"task\":%d,\"thread_of\":%d}\n", (int)pid, (int)process);
	return (size_t)(o.at - buf);
}

size_t services_record(struct event_set *evs, const struct record *r, char *buf)
{
	enum { THREAD = 0x10000 };      /* CLONE_THREAD */
	const struct event *e = event_wanted(evs, r);
	const int exec = e && !strcmp(e->name, "sched_process_exec");
	const struct field *f = exec || record_names_task(evs, r) ? event_field(e, "pid") : NULL;
	const int32_t pid = record_pid(evs, r), about = f ? (int32_t)field_integer(evs, f, r) : 0;
	struct out o;
	size_t n;

	if (about)
		forget(about);
	if (e && e->id == evs->rename) /* at an exec, before the program has its environment */
		return 0;
	n = services_task(pid, buf);
	if (exec || !about)
		return n;
	is_known(about);
	f = event_field(e, "clone_flags");
	o = out_to(buf + n, SERVICES_ROOM);
	out_format(&o, "{\"task\":%d,\"%s\":%d}\n", (int)about,
		   f && field_integer(evs, f, r) & THREAD ? "thread_of" : "of", (int)pid);
	return (size_t)(o.at - buf);
}
