/* SPDX-License-Identifier: ISC */
/*
 * tfs-event - enable events by name or glob, with filter and triggers
 *
 * Requires: tracefs, and permission to write its files.
 * EVENT is SYSTEM:EVENT, or EVENT in any system; both are globs of * ? [ ]. If a glob
 * matches no event, tfs-event writes nothing. -l without EVENT prints all events.
 * tfs-event writes the filters first, then the triggers. If the kernel accepts all of
 * them, tfs-event enables the events. Otherwise it prints the kernel's reason and undoes
 * its changes.
 * Exit: 0 done, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"

static int lists;
static const char *filter;
static struct opt_list triggers = { .v = OPT_LIST(NULL) };

static const struct tool tool = {
	TOOL_TFS_EVENT,
	.takes_instance = 1,
	.places = (const struct opt_place[]){
		{ 'l', .flag = &lists }, { 'f', .text = &filter }, { 't', .list = &triggers },
		{ 0 },
	},
};

struct event_names {
	char **name;            /* SYSTEM:EVENT */
	size_t n;
};

/*
 * Return whether the glob matches the event SYSTEM:EVENT, or is another name of its system call:
 * syscalls:sys_enter_umount2 is sys_enter_umount.
 */
static enum serves matches(const char *glob, const char *name)
{
	const char *event = strchr(name, ':') + 1, *call;

	if (glob_matches(glob, strchr(glob, ':') ? name : event))
		return SERVES;
	if (strncmp(name, "syscalls:sys_", 13))
		return SERVES_NOT;
	glob += strncmp(glob, "syscalls:", 9) ? 0 : 9;
	call = event + (event[4] == 'e' && event[5] == 'n' ? 10 : 9);
	return strncmp(glob, event, (size_t)(call - event)) ? SERVES_NOT :
	       syscall_serves(call, glob + (call - event));
}

/* Return how well a glob matches the event that it matches best. */
static enum serves best_match(const char *glob, const struct event_names *all)
{
	enum serves best = SERVES_NOT, m;

	for (size_t i = 0; i < all->n && best < SERVES; i++)
		if ((m = matches(glob, all->name[i])) > best)
			best = m;
	return best;
}

/* Print an error for a glob without a match, with the nearest names. Return -1. */
static int no_such_event(const char *word, const struct event_names *all)
{
	struct suggest near = { .word = word };

	for (size_t i = 0; i < all->n; i++)
		suggest_offer(&near, strchr(word, ':') ? all->name[i] :
							 strchr(all->name[i], ':') + 1);
	return err_msg("no event is called '%.80s'; %s", word,
		       suggest_remedy(&near, "tfs-event -l prints the names of all"));
}

/*
 * Collect the names in text, the content of available_events. They point into text, which
 * must outlive them.
 */
static void parse_events(struct event_names *all, char *text)
{
	size_t lines = 0;

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	all->name = xcalloc(lines + 1, sizeof(*all->name));
	for (char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
		*end = '\0';
		if (strchr(p, ':'))
			all->name[all->n++] = p;
	}
}

/*
 * Keep only the events that match one of the globs. Return 0, or -1, reported, if one of the
 * globs matches none.
 */
static int select_events(struct event_names *all, char **globs)
{
	char *chosen = xcalloc(all->n + 1, 1);
	size_t n = 0;

	for (char **g = globs; *g; g++) {
		enum serves best = best_match(*g, all);

		if (best == SERVES_NOT)
			return no_such_event(*g, all);
		for (size_t i = 0; i < all->n; i++)
			chosen[i] |= matches(*g, all->name[i]) >= best;
	}
	for (size_t i = 0; i < all->n; i++)
		if (chosen[i])
			all->name[n++] = all->name[i];
	all->n = n;
	free(chosen);
	return 0;
}

/* ---- change the events, and undo the changes after a refusal ------------------------ */

static int dir;                 /* the instance */
static int fresh;               /* none of its events was enabled */

struct change {
	const char *name;
	char *old_filter;
	size_t attached;        /* number of triggers that tfs-event has attached */
	int enabled;            /* by tfs-event */
};

/* Write a record to a control file of the event. Return 0, or -1, reported. */
static int write_record(const struct change *c, const char *file, const char *record)
{
	char path[PATH_MAX];

	ctl_event_file(path, c->name, file);
	return ctl_explain(dir, path, record, 0);
}

/*
 * Write the filter, and store the old one. The kernel drops the old filter even if it
 * refuses the new one, so the old one must be restored in any case.
 */
static int write_filter(struct change *c)
{
	char path[PATH_MAX], line[PATH_MAX + 24], *end;
	size_t n;

	if (!filter)
		return 0;
	ctl_event_file(path, c->name, "filter");
	c->old_filter = file_read(dir, path, NULL);
	end = c->old_filter ? strchr(c->old_filter, '\n') : NULL;
	if (end)
		*end = '\0';
	if (!write_record(c, "filter", filter))
		return 0;
	/* with two spaces, as the lines of the kernel above it */
	ctl_event_file(path, c->name, "format");
	n = str_format(line, sizeof(line), "  %s lists the fields\n", path);
	fd_write_all(STDERR_FILENO, line, n);
	return -1;
}

static int attach_triggers(struct change *c)
{
	for (; triggers.v[c->attached]; c->attached++)
		if (write_record(c, "trigger", triggers.v[c->attached]) < 0)
			return -1;
	return 0;
}

static int enable(struct change *c)
{
	char path[PATH_MAX];

	ctl_event_file(path, c->name, "enable");
	if (!fresh && file_begins(dir, path, '1'))
		return 0;
	c->enabled = 1;
	return write_record(c, "enable", "1");
}

static void undo(struct change *c)
{
	char path[PATH_MAX], record[PATH_MAX];

	if (c->enabled) {
		ctl_event_file(path, c->name, "enable");
		ctl_try(dir, path, "0", 0);
	}
	ctl_event_file(path, c->name, "trigger");
	while (c->attached) {
		str_format(record, sizeof(record), "!%s", triggers.v[--c->attached]);
		ctl_try(dir, path, record, 0);
	}
	if (c->old_filter) {
		ctl_event_file(path, c->name, "filter");
		ctl_try(dir, path, strcmp(c->old_filter, "none") ? c->old_filter : "0", 0);
	}
}

/* Apply all changes. Return 0, or undo them and return -1, reported. */
static int apply(struct change *c, size_t n)
{
	static int (*const steps[])(struct change *) = { write_filter, attach_triggers, enable };

	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++)
		for (size_t i = 0; i < n; i++)
			if (steps[s](&c[i]) < 0) {
				for (i = n; i > 0; i--)
					undo(&c[i - 1]);
				return -1;
			}
	return 0;
}

int main(int argc, char **argv)
{
	static struct change *changes;
	static struct event_names events;
	int top;
	char *text;

	opt_next(&tool, argc, argv);
	argv += opt_index;
	if (!*argv && !lists)
		usage_error(&tool, "no event; give at least one, or -l to list them");
	if (lists && (filter || triggers.n))
		usage_error(&tool, "-l writes nothing: it cannot be combined with -f and -t");

	top = tracefs_open(opt_root, "", NULL);
	if (top < 0)
		return REFUSED;
	dir = tracefs_open(opt_root, opt_instance, NULL);
	if (dir < 0)
		return REFUSED;
	text = file_read(top, "available_events", NULL);
	if (!text)
		return err_file("unable to read available_events"), REFUSED;
	parse_events(&events, text);
	if (*argv && select_events(&events, argv) < 0)
		return REFUSED;
	if (lists) {
		for (size_t i = 0; i < events.n; i++)
			stdout_print("%s\n", events.name[i]);
		stdout_flush();
		return DONE;
	}
	fresh = file_begins(dir, "set_event", '\0');
	changes = xcalloc(events.n, sizeof(*changes));
	for (size_t i = 0; i < events.n; i++)
		changes[i].name = events.name[i];
	return apply(changes, events.n) < 0 ? REFUSED : DONE;
}
