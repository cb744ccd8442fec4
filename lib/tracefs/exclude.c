/* SPDX-License-Identifier: ISC */
/*
 * exclude.c - exclude tasks from an instance that traces all tasks
 *
 * The kernel drops every event that happens while a task of set_event_notrace_pid runs
 * (kernel/trace/trace_events.c). So it also drops events of interrupts, which belong to
 * no task: if the end of another task's disk request interrupts the stream, its event is
 * lost. An event filter can distinguish an interrupt from the task. It costs more than the
 * list, so the list stays in use for events that never come from an interrupt.
 */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "select/select.h"
#include "tracefs/tracefs.h"

/* TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI of <linux/trace_events.h>. */
#define CLAUSE "(common_flags & 0x58 || ("

/* The kernel accepts less than a memory page (trace_events.c, event_filter_write). */
enum { FILTER = 4096 };

/* Events of these systems happen only in the task that they describe. */
static const char *const in_tasks[] = { "syscalls:", "raw_syscalls:", "task:" };

static int may_interrupt(const char *event)
{
	for (size_t i = 0; i < sizeof(in_tasks) / sizeof(*in_tasks); i++)
		if (!strncmp(event, in_tasks[i], strlen(in_tasks[i])))
			return 0;
	return 1;
}

/* Write "FIELD != PID && ..." and a parenthesis. */
static void none_of(struct out *o, const char *field, const struct pids *tasks)
{
	for (size_t i = 0; i < tasks->n; i++)
		out_format(o, "%s%s != %d", i ? " && " : "", field, (int)tasks->v[i]);
	out_char(o, ')');
}

int exclude_filter(char *buf, size_t size, const char *event, const char *filter,
		   const struct pids *tasks)
{
	const struct subject *s = subject_named(event);
	const char *clause = NULL;
	size_t length = filter ? strcspn(filter, "\n") : 0;
	struct out o = out_to(buf, size - 1);

	/* the clause of an earlier call is at the end, and may name other tasks */
	for (const char *p = filter; p && (p = strstr(p, CLAUSE)); p++)
		clause = p;
	if (clause)
		out_text(&o, filter, (size_t)(clause - filter));
	else if (length && strncmp(filter, "none\n", length + 1))
		out_format(&o, "(%.*s) && ", (int)length, filter);
	out_string(&o, CLAUSE);
	none_of(&o, "common_pid", tasks);
	/*
	 * A switch and a wake-up have a second task. Like the list of pids, the filter lets these
	 * events pass if the second task is not excluded.
	 */
	if (s && *s->field) {
		out_string(&o, " || (");
		none_of(&o, s->field, tasks);
	}
	out_char(&o, ')');
	*o.at = '\0';
	return o.cut ? -1 : 0;
}

/* Exclude the tasks from one event by its filter. Return 0, or -1, reported. */
static int exclude_from(int dir, const char *event, const struct pids *tasks)
{
	char file[PATH_MAX], filter[FILTER], *old;
	int r;

	if (!strchr(event, ':'))
		return 0;
	ctl_event_file(file, event, "filter");
	old = file_read(dir, file, NULL);
	if (!old)
		return err_file("unable to read %s", file);
	r = exclude_filter(filter, sizeof(filter), event, old, tasks) < 0 ?
	    err_msg("--all: %s is too long with the session's own tasks excluded; give a "
		    "shorter filter", file) : ctl_write(dir, file, filter, 0);
	free(old);
	return r;
}

int exclude_tasks(int dir, const struct pids *tasks)
{
	char *tracer = file_read(dir, "current_tracer", NULL);
	char *enabled = file_read(dir, "set_event", NULL), *p, *save;
	int r = 0, interrupts = 0;

	if (tasks->failed || !tracer || !enabled)
		r = tasks->failed ? -1 : err_file("unable to read set_event");
	/* event filters do not apply to function tracers, which need the list */
	else if (!strcmp(tracer, "nop\n"))
		for (p = enabled; *p && !interrupts; p += strcspn(p, " \n"), p += !!*p)
			interrupts = strchr(p, ':') && may_interrupt(p);
	for (p = interrupts ? strtok_r(enabled, " \n", &save) : NULL; p && !r;
	     p = strtok_r(NULL, " \n", &save))
		r = exclude_from(dir, p, tasks);
	free(tracer);
	free(enabled);
	if (r || !interrupts)
		return r;
	r = ctl_write(dir, "set_event_notrace_pid", "", CTL_TRUNCATE);
	return r ? r : ctl_write(dir, "options/event-fork", "0", 0);
}
