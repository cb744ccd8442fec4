/* SPDX-License-Identifier: ISC */
/*
 * containers.c - name the container and the pod of each task that is shown
 *
 * A task may have ended when its record is read. So a task has the container of the task that made
 * it, until it enters another one. After that, /proc tells of a task that is alive.
 */

#include "base/base.h"
#include "proc/proc.h"
#include "event/event.h"
#include "show/show.h"

enum {
	TASKS_MOST = 32768,     /* tasks whose containers are known */
	AGAIN_MS = 1000,        /* look at a task again, because pids are used again */
};

/* A task whose container is known */
struct place {
	struct table_entry entry;       /* the pid */
	const struct container *in;     /* without an id if it is in none; NULL: not known */
	long long looked;               /* when, in ms */
	const struct container *told;   /* the last line about the task named this one, */
	int named;                      /* and its name was known */
};

static struct table places = { .size = sizeof(struct place) }, known;

/* Return what is known of a task: nothing if it is new. */
static struct place *place_of(int pid)
{
	const int32_t key = pid;

	return table_at(&places, (const char *)&key, sizeof(key));
}

/*
 * Look where the task is. If it has ended, it is in the container that it has entered, unless this
 * is NULL or none: by version 1, it enters cgroups of several hierarchies.
 */
static void look(struct place *p, int pid, long long now, const struct container *entered)
{
	const struct container *c = containers_find_task(&known, pid);

	if (!c && entered && *entered->id)
		c = entered;
	p->in = c ? c : p->in;
	p->looked = now;
}

/* Return where the task is, if that is known. */
static struct place *find(int pid, long long now)
{
	struct place *p = place_of(pid);

	if (!p->looked || now - p->looked >= AGAIN_MS)
		look(p, pid, now, NULL);
	return p;
}

/* Follow the tasks from record to record. */
static void learn(const struct event_set *evs, const struct event *e, const struct record *r,
		  long long now)
{
	const int running = record_pid(evs, r), is_new = e->id == evs->newtask,
		  is_exec = e->id == evs->rename;
	const struct container *in = NULL, *entered = NULL;
	struct place *p;
	int pid;

	if (!is_new && !is_exec && strcmp(e->name, "cgroup_attach_task"))
		return;
	pid = is_exec ? running : (int)field_integer(evs, event_field(e, "pid"), r);
	/* clone3 may make the task in another cgroup than that of its maker */
	if (is_new &&
	    !(field_integer(evs, event_field(e, "clone_flags"), r) & K_CLONE_INTO_CGROUP))
		in = find(running, now)->in;
	p = place_of(pid);
	if (is_new)
		*p = (struct place){ .entry = p->entry, .in = in };
	else if (!is_exec)
		entered = containers_find(&known, field_string(evs, event_field(e, "dst_path"), r));
	if (!in)
		look(p, pid, now, entered);
	else
		p->looked = now;
}

/* Write the members of JSON that name the container of a task. */
static void put_members(struct out *o, int pid)
{
	const struct container *c = pid ? find(pid, time_now_ms())->in : NULL;

	if (c)
		container_members(o, c, 1);
}

/* Write the line that names the container of a task, if it differs from the last one. */
static size_t put_line(struct place *p, int pid, char *buf, size_t size)
{
	struct out o = out_to(buf, size);
	char text[sizeof(struct container)];
	const int is_first = !p->told, named = p->in && *p->in->name;

	if (!p->in || (p->in == p->told && named == p->named))
		return 0;
	p->told = p->in;
	p->named = named;
	container_text(p->in, text, sizeof(text));
	if (*p->in->id || !is_first)
		out_format(&o, "# container: %d %s\n", pid, *p->in->id ? text : "-");
	return (size_t)(o.at - buf);
}

/* Take a record. Write a line about its task if the record is shown as text. */
static size_t take(const struct show *s, const struct record *r, int shown, char *buf, size_t size)
{
	const long long now = time_now_ms();
	const struct event *e = event_wanted(s->line->events, r);
	const int pid = record_pid(s->line->events, r);

	if (places.n >= TASKS_MOST || known.n >= CONTAINERS_MOST) {
		table_clear(&places);
		table_clear(&known);
	}
	if (e)
		learn(s->line->events, e, r, now);
	return shown && pid && !s->json && !s->sink ? put_line(find(pid, now), pid, buf, size) : 0;
}

int containers_take(struct show *s)
{
	if (strcmp(opt_last.name, "container-names"))
		return 0;
	s->container = take;
	s->lines.container = put_members;
	s->asked = 1;
	return 1;
}
