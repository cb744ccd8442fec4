/* SPDX-License-Identifier: ISC */
/* reserved.c - instances in memory that the command line reserved */

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "tracedat/tracedat.h"

int reserved_is(int instances, const char *name)
{
	char file[NAME_MAX + 20];

	str_format(file, sizeof(file), "%s/last_boot_info", name);
	return file_exists(instances, file);
}

int reserved_at_rest(int instance)
{
	char *tracer;
	int rest;

	if (!file_exists(instance, "tracing_on"))
		return 1;
	tracer = file_read(instance, "current_tracer", NULL);
	rest = tracer && !strcmp(tracer, "nop\n") && file_begins(instance, "tracing_on", '0') &&
	       file_begins(instance, "set_event", '\0');
	free(tracer);
	return rest;
}

/* Remove the filter and the triggers of an event. Triggers are removed by "!" and their text. */
static void reset_event(int instance, const char *event)
{
	char file[PATH_MAX], *triggers, *line, *save, word[1024];

	ctl_event_file(file, event, "filter");
	ctl_try(instance, file, "0", 0);
	ctl_event_file(file, event, "trigger");
	triggers = file_read(instance, file, NULL);
	line = triggers ? strtok_r(triggers, "\n", &save) : NULL;
	for (; line; line = strtok_r(NULL, "\n", &save)) {
		if (*line == '#')
			continue;
		str_format(word, sizeof(word), "!%s", line);
		ctl_try(instance, file, word, 0);
	}
	free(triggers);
}

int reserved_reset(int instance)
{
	static const char *const lists[] = {
		"set_event_pid", "set_event_notrace_pid", "set_ftrace_pid",
		"set_ftrace_notrace_pid", "set_ftrace_filter", "set_ftrace_notrace",
	};
	static const char *const options[] = {
		"event-fork", "function-fork", "stacktrace", "userstacktrace", "func-args",
		"funcgraph-args", "copy_trace_marker", "bitmask-list",
	};
	char *events, *event, *save, file[40];
	int r = ctl_write(instance, "tracing_on", "0", 0);

	if (file_exists(instance, "current_tracer"))
		r |= ctl_write(instance, "current_tracer", "nop", 0);
	events = file_read(instance, "set_event", NULL);
	r |= ctl_write(instance, "events/enable", "0", 0);
	event = events ? strtok_r(events, " \n", &save) : NULL;
	for (; event; event = strtok_r(NULL, " \n", &save))
		reset_event(instance, event);
	free(events);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (file_exists(instance, lists[i]))
			ctl_try(instance, lists[i], "", CTL_TRUNCATE);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		str_format(file, sizeof(file), "options/%s", options[i]);
		if (file_exists(instance, file))
			ctl_try(instance, file, "0", 0);
	}
	return r | ctl_write(instance, "trace", "", CTL_TRUNCATE) ? -1 : 0;
}

/* ---- where to reserve ---------------------------------------------------------------- */

#define MB UINT64_C(0x100000)
#define ALIGN (2 * MB)

/* A range of /proc/iomem, both ends included. */
struct range {
	uint64_t first, last;
	int top;                /* no other range contains it */
	int ram;
};

/* Read the next range after *at, and set *at after its line. Return 0 at the end. */
static int next_range(const char **at, struct range *r)
{
	const char *line = *at, *p, *end;

	for (; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		p = line + strspn(line, " ");
		r->top = p == line;
		r->first = text_hex(&p, end);
		if (*p++ != '-')
			continue;
		r->last = text_hex(&p, end);
		r->ram = !strncmp(p, " : System RAM\n", 14);
		*at = end + (*end == '\n');
		return 1;
	}
	return 0;
}

/* Return the end of a used range that overlaps the one from first to last, or 0. */
static uint64_t used_until(const char *iomem, uint64_t first, uint64_t last)
{
	struct range r;

	while (next_range(&iomem, &r))
		if (!(r.top && r.ram) && r.first <= last && r.last >= first)
			return r.last;
	return 0;
}

/*
 * Return an address for size bytes: in the middle of the largest range of memory, far from
 * its ends, where firmware and boot loaders put their own. Return 0 if there is none.
 */
static uint64_t place_for(const char *iomem, uint64_t size)
{
	struct range r, best = { 0 };
	const char *at = iomem;
	uint64_t first, used;

	while (next_range(&at, &r))
		if (r.top && r.ram && r.last - r.first > best.last - best.first)
			best = r;
	if (!best.last || best.last - best.first < 4 * size)
		return 0;
	first = (best.first + (best.last - best.first + 1) / 2) / ALIGN * ALIGN;
	while (first <= best.last && (used = used_until(iomem, first, first + size - 1))) {
		if (used > best.last - ALIGN)
			return 0;
		first = (used + ALIGN) / ALIGN * ALIGN;
	}
	return first <= best.last && best.last - first >= size - 1 ? first : 0;
}

/* Does the caller see addresses? The kernel shows zeros without CAP_SYS_ADMIN. */
static int shows_addresses(const char *iomem)
{
	struct range r;

	while (next_range(&iomem, &r))
		if (r.last)
			return 1;
	return 0;
}

int reserved_words(const char *iomem, const char *machine, unsigned long mb, char *words,
		   size_t size)
{
	uint64_t at;

	if (strcmp(machine, "x86_64") && strcmp(machine, "i686")) {
		str_format(words, size, "reserve_mem=%luM:2M:tfs "
			   "trace_instance=" PERSIST_INSTANCE "^traceoff@tfs", mb);
		return 0;
	}
	at = place_for(iomem, mb * MB);
	if (!at && !shows_addresses(iomem))
		return err_msg("/proc/iomem does not show where memory is; run tfs-persist as "
			       "root, with CAP_SYS_ADMIN");
	if (!at)
		return err_msg("/proc/iomem has no room for %lu MB in the largest range of "
			       "memory; give a smaller number", mb);
	str_format(words, size, "memmap=%luM$0x%llx "
		   "trace_instance=" PERSIST_INSTANCE "^traceoff@0x%llx:%luM", mb,
		   (unsigned long long)at, (unsigned long long)at, mb);
	return 0;
}
