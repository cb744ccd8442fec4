/* SPDX-License-Identifier: ISC */
/*
 * tfs-event - enable events by name or glob, with filter and triggers
 *
 * Requires: tracefs, and permission to write its files.
 *	-l           print the names of the events instead
 *	-f FILTER    record only what this holds for
 *	-t TRIGGER   what else is to happen at each event; may be given again
 *	-R ROOT      take ROOT for the tracefs root, unchecked
 *	-i INSTANCE  events of this instance; default $TFS_INSTANCE
 * EVENT is SYSTEM:EVENT, or EVENT in any system; both are globs of * ? [ ]. Each
 * must name one at least, before anything is written; -l without one means all.
 * Filters come first, then triggers, and when the kernel takes all of them the
 * events are enabled. What it refuses is shown with its reason, and those that
 * were written before are taken back.
 * Exit: 0 done, 100 misused, 111 refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tracefs/tracefs.h"

static const struct tool tool = {
	.name = "tfs-event",
	.usage = "tfs-event [-l] [-f FILTER] [-t TRIGGER]... [-R ROOT] [-i INSTANCE] [EVENT]...",
	.purpose = "enable events by name or glob, with filter and triggers",
	.letters = "lf:t:R:i:",
};

struct event_names {
	char **name;            /* SYSTEM:EVENT */
	size_t n;
};

/* The file of an event. */
static void path_of(char *path, size_t size, const char *name, const char *file)
{
	int system = (int)strcspn(name, ":");

	str_format(path, size, "events/%.*s/%s/%s", system, name, name + system + 1, file);
}

static int names(const char *glob, char *name)
{
	char *colon = strchr(name, ':');
	int r;

	*colon = '\0';
	r = glob_names(glob, name, colon + 1);
	*colon = ':';
	return r;
}

/* No event is called that: say which are nearly. */
static int unknown(const char *word, const struct event_names *all)
{
	struct suggest near = { .word = word };
	const char *n[SUGGEST_MAX] = { "", "", "" };

	for (size_t i = 0; i < all->n; i++)
		suggest_offer(&near, strchr(word, ':') ? all->name[i] :
						      strchr(all->name[i], ':') + 1);
	if (!near.n)
		return err_msg("no event is called '%.80s'; tfs-event -l prints the names "
			       "of all", word);
	for (unsigned i = 0; i < near.n; i++)
		n[i] = near.name[i];
	return err_msg("no event is called '%.80s'; is it %s%s%s%s%s?", word, n[0],
		       *n[1] ? ", " : "", n[1], *n[2] ? ", " : "", n[2]);
}

/* All that can be enabled. text stays as long as they do. -1 said. */
static int all_events(struct event_names *all, char *text)
{
	size_t lines = 0;

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	all->name = calloc(lines + 1, sizeof(*all->name));
	if (!all->name)
		return err_msg("out of memory");
	for (char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
		*end = '\0';
		if (strchr(p, ':'))
			all->name[all->n++] = p;
	}
	return 0;
}

/* Those of all that the words name go to its front. -1 said. */
static int choose(struct event_names *all, char **words)
{
	size_t n = 0;

	for (char **w = words; *w; w++) {
		size_t i;

		for (i = 0; i < all->n && !names(*w, all->name[i]); i++)
			;
		if (i == all->n)
			return unknown(*w, all);
	}
	for (size_t i = 0; i < all->n; i++)
		for (char **w = words; *w; w++)
			if (names(*w, all->name[i])) {
				all->name[n++] = all->name[i];
				break;
			}
	all->n = n;
	return 0;
}

/* ---- what is written, and can be taken back -------------------------------------- */

struct change {
	int dir;
	const char *name;
	const char *filter;     /* NULL: as it is */
	char *old_filter;
	const char *const *triggers;
	size_t triggered;       /* how many of them it has by us */
	int enabled;            /* by us */
};

static int put(const struct change *c, const char *file, const char *record)
{
	char path[PATH_MAX];

	path_of(path, sizeof(path), c->name, file);
	if (!ctl_write(c->dir, path, record, 0))
		return 0;
	ctl_caret(c->dir, record);
	return -1;
}

/* The kernel drops a filter when it refuses the next: one more to take back. */
static int put_filter(struct change *c)
{
	char path[PATH_MAX], *end;

	if (!c->filter)
		return 0;
	path_of(path, sizeof(path), c->name, "filter");
	c->old_filter = file_read(c->dir, path, NULL);
	end = c->old_filter ? strchr(c->old_filter, '\n') : NULL;
	if (end)
		*end = '\0';
	return put(c, "filter", c->filter);
}

static int put_triggers(struct change *c)
{
	for (; c->triggers[c->triggered]; c->triggered++)
		if (put(c, "trigger", c->triggers[c->triggered]) < 0)
			return -1;
	return 0;
}

static int enable(struct change *c)
{
	char path[PATH_MAX], *now;
	int before;

	path_of(path, sizeof(path), c->name, "enable");
	now = file_read(c->dir, path, NULL);
	before = now && *now == '1';
	free(now);
	if (before)
		return 0;
	c->enabled = 1;
	return put(c, "enable", "1");
}

static void take_back(struct change *c)
{
	char path[PATH_MAX], record[PATH_MAX];

	if (c->enabled) {
		path_of(path, sizeof(path), c->name, "enable");
		ctl_try(c->dir, path, "0", 0);
	}
	path_of(path, sizeof(path), c->name, "trigger");
	while (c->triggered) {
		str_format(record, sizeof(record), "!%s", c->triggers[--c->triggered]);
		ctl_try(c->dir, path, record, 0);
	}
	if (c->old_filter) {
		path_of(path, sizeof(path), c->name, "filter");
		ctl_try(c->dir, path, strcmp(c->old_filter, "none") ? c->old_filter : "0", 0);
	}
}

/* 0, or -1 said and all is as it was. */
static int apply(struct change *c, size_t n)
{
	static int (*const steps[])(struct change *) = { put_filter, put_triggers, enable };

	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++)
		for (size_t i = 0; i < n; i++)
			if (steps[s](&c[i]) < 0) {
				for (i = n; i > 0; i--)
					take_back(&c[i - 1]);
				return -1;
			}
	return 0;
}

int main(int argc, char **argv)
{
	const char *root = NULL, *instance = NULL, *filter = NULL;
	static const char **triggers;
	static struct change *changes;
	static struct event_names events;
	int c, dir, top, list = 0;
	size_t n = 0;
	char *text;

	triggers = calloc((size_t)argc + 1, sizeof(*triggers));
	if (!triggers)
		err_exit(REFUSED, "out of memory");
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'l':
			list = 1;
			break;
		case 'f':
			filter = opt_value;
			break;
		case 't':
			triggers[n++] = opt_value;
			break;
		case 'R':
			root = opt_value;
			break;
		default:
			instance = opt_value;
		}
	argv += opt_index;
	if (!*argv && !list)
		usage_error(&tool, "which events?");
	if (list && (filter || n))
		usage_error(&tool, "-l writes nothing: -f and -t have no part in it");

	top = tracefs_open(root, "", NULL);
	if (top < 0)
		return REFUSED;
	dir = tracefs_open(root, instance, NULL);
	if (dir < 0)
		return REFUSED;
	text = file_read(top, "available_events", NULL);
	if (!text) {
		err_file("unable to read available_events");
		return REFUSED;
	}
	if (all_events(&events, text) < 0 || (*argv && choose(&events, argv) < 0))
		return REFUSED;
	if (list) {
		for (size_t i = 0; i < events.n; i++)
			stdout_print("%s\n", events.name[i]);
		stdout_flush();
		return DONE;
	}
	changes = calloc(events.n, sizeof(*changes));
	if (!changes)
		err_exit(REFUSED, "out of memory");
	for (size_t i = 0; i < events.n; i++)
		changes[i] = (struct change){ .dir = dir, .name = events.name[i],
					      .filter = filter, .triggers = triggers };
	return apply(changes, events.n) < 0 ? REFUSED : DONE;
}
