/* SPDX-License-Identifier: ISC */
/*
 * stale.c - instances of stale sessions
 *
 * The lock on an instance shows whether its session is alive. A session also has parts outside
 * of the instance: dynamic events, the tracing of devices, BPF programs. These are found by the
 * name of the instance, so they have to be removed first.
 */
#include <ctype.h>

#include "tracefs/tracefs.h"
#include "tracedat/tracedat.h"
#include "session/session.h"

int instance_is_session_name(const char *name)
{
	if (strncmp(name, "tfs", 3))
		return 0;
	name += 3;
	if (*name == '-')
		for (name++; islower((unsigned char)*name) || isdigit((unsigned char)*name); )
			name++;
	return *name == '.';
}

struct each {
	int (*fn)(void *, int instances, const char *name);
	void *arg;
};

/* Return whether it is a reserved instance that no session uses. */
static int rests(int instances, const char *name)
{
	int dir, r;

	if (!reserved_is(instances, name))
		return 0;
	dir = dir_open(instances, name);
	r = dir >= 0 && reserved_at_rest(dir);
	fd_close(dir);
	return r;
}

int stale_remove(int instances, const char *name, long ms)
{
	int dir, r;

	if (!reserved_is(instances, name))
		return instance_remove(instances, name, ms);
	dir = dir_open(instances, name);
	r = dir < 0 ? -1 : reserved_at_rest(dir) ? 0 : reserved_reset(dir);
	fd_close(dir);
	return r;
}

static int call_if_stale(void *arg, int instances, const char *name, pid_t owner)
{
	struct each *e = arg;

	return owner == OWNER_NONE && !rests(instances, name) ? e->fn(e->arg, instances, name) : 0;
}

int stale_each(int instances, int (*fn)(void *, int instances, const char *name), void *arg)
{
	struct each e = { fn, arg };
	int sum = 0;

	for (size_t i = 0; instance_kinds[i]; i++) {
		int r = owned_each(instances, instance_kinds[i]->prefix, call_if_stale, &e);

		if (r < 0)
			return -1;
		sum += r;
	}
	return sum;
}

int stale_release(int instances, const char *name)
{
	for (size_t i = 0; instance_kinds[i]; i++) {
		const char *prefix = instance_kinds[i]->prefix;

		if (!strncmp(name, prefix, strlen(prefix)))
			return instance_kinds[i]->release(instances, name);
	}
	return 0;
}
