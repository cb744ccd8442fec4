/* SPDX-License-Identifier: ISC */
/*
 * probes.c - dynamic events, which the whole kernel shares
 *
 * The dynamic events of a session are in a group that is named after the session, so that
 * they can be distinguished from other users' events. dynamic_events has one per line:
 *	TYPE:GROUP/EVENT PLACE [ARGUMENT]...
 * The record "-:GROUP/EVENT" removes an event that no instance has enabled.
 */
#include <time.h>

#include "base/base.h"
#include "tracefs/tracefs.h"

static char *put_hex(char *to, uint64_t n)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[n >> shift & 15];
	return to;
}

void probe_group(char *group, const char *session)
{
	const char *s = session;
	char *to = group + strlen(strcpy(group, PROBE_PREFIX));

	for (; *s && to < group + PROBE_NAME - 2; s++) {
		if (*s == '_' || *s == '.' || *s == '-')
			*to++ = '_';
		if (*s != '.' && *s != '-')
			*to++ = *s;
		else
			*to++ = *s == '.' ? 'd' : 'm';
	}
	if (*s) { /* too long: "_x", which no name above contains, and a hash */
		to = stpcpy(group + strlen(PROBE_PREFIX), "_x");
		to = put_hex(to, text_hash(TEXT_HASH, session, strlen(session)));
		to = put_hex(to, text_hash(0x84222325cbf29ce4u, session, strlen(session)));
	}
	*to = '\0';
}

int probe_next(const char **text, struct probe *p)
{
	const char *line = *text, *end, *colon, *slash;

	for (; *line; line = *end ? end + 1 : end) {
		size_t n;

		end = line + strcspn(line, "\n");
		colon = line + strcspn(line, ": \n");
		slash = colon + strcspn(colon, "/ \n");
		n = *slash == '/' ? strcspn(slash + 1, " \t\n") : 0;
		if (*colon != ':' || !n || n >= sizeof(p->event) ||
		    (size_t)(slash - colon) > sizeof(p->group))
			continue;
		p->line = line;
		p->length = (size_t)(end - line);
		str_format(p->group, sizeof(p->group), "%.*s", (int)(slash - colon - 1), colon + 1);
		str_format(p->event, sizeof(p->event), "%.*s", (int)n, slash + 1);
		*text = *end ? end + 1 : end;
		return 1;
	}
	return 0;
}

/* Is the event enabled below dir? "0*": only a trigger uses it. */
static int is_enabled(int root, const char *dir, const char *group, const char *event)
{
	char path[NAME_MAX + 2 * PROBE_NAME + 40], *text;
	int on;

	str_format(path, sizeof(path), "%s/events/%s/%s/enable", dir, group, event);
	text = file_read(root, path, NULL);
	on = text && (*text != '0' || text[1] == '*');
	free(text);
	return on;
}

/* Is the event enabled at the top level or in an instance? */
static int is_enabled_anywhere(int root, const char *group, const char *event)
{
	int on = is_enabled(root, ".", group, event);
	DIR *d = file_list(root, "instances");
	char dir[NAME_MAX + 16];
	const char *name;

	while ((name = file_next(d))) {
		str_format(dir, sizeof(dir), "instances/%s", name);
		on = on || is_enabled(root, dir, group, event);
	}
	return on;
}

/*
 * Must all[i] stay? The removal of an enabled uprobe event of two places can hang tracefs for
 * ever in Linux 5.10 to 6.18, see add in bin/control/tfs-probe.c.
 */
static int must_stay(int root, const struct probe *all, size_t n, size_t i)
{
	for (size_t k = 0; k < n; k++)
		if (k != i && !strcmp(all[k].event, all[i].event))
			return is_enabled_anywhere(root, all[i].group, all[i].event);
	return 0;
}

int probes_remove(int root, const char *group, const char *event)
{
	char *text = file_read(root, "dynamic_events", NULL), record[2 * PROBE_NAME + 4];
	const char *at = text;
	struct probe *all = NULL, *more, p;
	size_t n = 0;
	int r, e = 0;

	if (!text)
		return errno == ENOENT ? 0 : -1;
	while (probe_next(&at, &p)) {
		if (strcmp(p.group, group) || (event && strcmp(p.event, event)))
			continue;
		more = array_more(all, n, sizeof(*all));
		if (!more) {
			e = ENOMEM; /* remove the events that were read so far */
			break;
		}
		all = more;
		all[n++] = p;
	}
	/* the newest first, because an event probe may be attached to an older event */
	for (size_t i = n; i--;) {
		str_format(record, sizeof(record), "-:%s/%s", group, all[i].event);
		r = must_stay(root, all, n, i) ? EBUSY :
		    -ctl_try(root, "dynamic_events", record, 0);
		/* ENOENT: one record removes all probes of an event */
		if (r && r != ENOENT)
			e = r;
	}
	free(all);
	free(text);
	errno = e;
	return e ? -1 : 0;
}

int probes_end(int root, const char *group)
{
	char file[PROBE_NAME + NAME_MAX + 32];
	const char *instance;
	DIR *dir;

	/*
	 * Another process may have enabled all events of an instance. If an event has two
	 * places, the kernel does not refuse to remove it while it is enabled, and hangs later
	 * (see add in tfs-probe.c). So disable first.
	 */
	str_format(file, sizeof(file), "events/%s/enable", group);
	if (file_exists(root, file)) {
		ctl_try(root, file, "0", 0);
		dir = file_list(root, "instances");
		while ((instance = file_next(dir))) {
			str_format(file, sizeof(file), "instances/%s/events/%s/enable", instance,
				   group);
			ctl_try(root, file, "0", 0);
		}
	}
	return probes_remove(root, group, NULL);
}

/* The tracefs root is always the parent of the directory of instances. */
int probes_end_session(int instances, const char *session)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	int root = dir_open(instances, ".."), r;
	char group[PROBE_NAME];

	if (root < 0)
		return -1;
	probe_group(group, session);
	/* wait for memory: the kernel's OOM killer frees some */
	for (int tries = 0; (r = probes_end(root, group)) < 0 && errno == ENOMEM && tries < 100;
	     tries++)
		nanosleep(&pause, NULL);
	close(root);
	return r;
}
