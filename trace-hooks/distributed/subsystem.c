/* SPDX-License-Identifier: ISC */
/*
 * subsystem.c - distributed: a session is a probe (dt.h) and an instance that
 * records for everybody
 *
 * The instance, tfs-dt.SESSION, carries the lock by which others see whether the
 * session lives; the probe has its name. It is made first and removed last. The
 * hook makes the probe and says which events; dt-window lets through what
 * happened in windows. Who was named is added when all is armed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "requests/requests.h"
#include "session/session.h"

#define PREFIX DT_INSTANCE_PREFIX

/* Readers let go of an instance when they die; not all at once. */
#define REMOVE_MS 5000

static int instances = -1, instance = -1; /* of the janitor's session */

static const char *name_of(const struct request *rq)
{
	static char name[sizeof(PREFIX) + sizeof(rq->session)];

	str_format(name, sizeof(name), PREFIX "%s", rq->session);
	return name;
}

static int open_root(char *path)
{
	return tracefs_open(NULL, "", path);
}

static int check(const struct request *rq, int root)
{
	if (rq->output == OUTPUT_DAT)
		return err_msg("--output dat is for ftrace: what lies between windows is left "
			       "out of text");
	if (rq->parents.n)
		return err_msg("--parent is for ftrace; name the tasks with --pid");
	if (dt_ready() < 0 || recording_check(rq, root) < 0)
		return -1;
	return rq->everybody ? 0 : recording_check_tasks(rq);
}

/* One clock for all hosts' sessions to begin with, and what dt-join can read. */
static int open_session(const struct request *rq)
{
	if (dt_there(name_of(rq)))
		return err_msg("there is a probe %s already; give --instance another name",
			       name_of(rq));
	instances = recording_instances();
	if (instances < 0)
		return -1;
	instance = recording_make(rq, instances, name_of(rq), rq->clock ? rq->clock : "mono");
	return instance < 0 ? -1 : recording_exclude_us(instance);
}

static int place(const struct request *rq, const char **variables)
{
	static char traced[32 + sizeof(rq->session)], probe[32 + sizeof(rq->session)];

	str_format(traced, sizeof(traced), "TFS_INSTANCE=%s", name_of(rq));
	str_format(probe, sizeof(probe), "TFS_PROBE=%s", name_of(rq));
	variables[0] = traced;
	variables[1] = probe;
	variables[2] = NULL;
	return instance;
}

/* DT_GROUP and others; -1 said. */
static int flags_of(const struct request *rq)
{
	int map = dt_open(name_of(rq), DT_SETTINGS), r;
	struct dt_settings s;
	uint32_t zero = 0;

	if (map < 0)
		return -1;
	r = bpf_lookup(map, &zero, &s) < 0 ?
	    err_capability(CAPS_BPF, "unable to read what the probe is") : (int)s.flags;
	close(map);
	return r;
}

/*
 * The tasks that were named, their threads and descendants, until a look finds no
 * new one: from there on the probe follows them itself. Their windows begin with
 * a line in the trace, as all do. Of processes, a probe that follows those knows
 * no threads.
 */
static int add_named(const struct request *rq)
{
	static const struct dt_task by_hand = { .count = 1 };
	struct pids known = { 0 }, now = { 0 };
	int map = dt_open(name_of(rq), DT_PIDS), r;
	uint32_t id = map < 0 ? 0 : bpf_id(map);
	int flags = map < 0 ? -1 : flags_of(rq);
	int which = SELECT_DESCENDANTS | SELECT_GONE_OK;
	char line[64];

	if (flags < 0) {
		if (map >= 0)
			close(map);
		return -1;
	}
	which |= flags & DT_GROUP ? 0 : SELECT_THREADS;
	do {
		pids_clear(&now);
		r = select_pids(rq->who, rq->nwho, which, &now);
		pids_minus(&now, &known);
		for (size_t i = 0; !r && i < now.n; i++) {
			str_format(line, sizeof(line), "dtB %x %d 0", id, (int)now.v[i]);
			r = bpf_update(map, &now.v[i], &by_hand) < 0 ?
			    err_capability(CAPS_BPF, "unable to add %d", (int)now.v[i]) :
			    ctl_write(instance, "trace_marker", line, 0);
			pids_add(&known, now.v[i]);
		}
		r |= pids_sort(&known);
	} while (!r && now.n);
	if (!r && !known.n)
		r = err_msg("nobody to trace: the tasks are gone");
	pids_clear(&known);
	pids_clear(&now);
	close(map);
	return r;
}

static int exclude(const struct request *rq, const struct pids *us)
{
	(void)rq;
	return exclude_tasks(instance, us);
}

static int arm(const struct request *rq)
{
	if (ctl_write(instance, "tracing_on", "1", 0) < 0)
		return -1;
	return rq->everybody ? 0 : add_named(rq);
}

static int stream(const struct request *rq, const char **argv)
{
	static char kb[32];
	size_t n = 0;

	argv[n++] = "tfs-catpipe";
	argv[n++] = "-i";
	argv[n++] = name_of(rq);
	str_format(kb, sizeof(kb), "%lu", rq->size_kb);
	if (rq->output == OUTPUT_FILE) {
		argv[n++] = "-s";
		argv[n++] = kb;
	}
	if (rq->output == OUTPUT_LINES)
		argv[n++] = "-l";
	if (rq->header)
		argv[n++] = "-H";
	argv[n] = NULL;
	return 0;
}

static int disarm(void)
{
	if (instance < 0)
		return 0;
	ctl_try(instance, "tracing_on", "0", 0);
	return instance_buffer_count(instance, "entries: ") > 0;
}

static int close_session(const struct request *rq)
{
	int r = 0;

	if (instance < 0)
		return 0;
	if (dt_off(name_of(rq)) < 0)
		r = -1;
	/* removed before the lock goes: nobody else takes it for a stale one */
	else if (instance_remove(instances, name_of(rq), REMOVE_MS) < 0 && errno != ENOENT)
		r = err_file("unable to remove instance %s", name_of(rq));
	close(instance);
	close(instances);
	return r;
}

/* Those that were added and what they started, not who serves a request just now. */
static int members(const struct request *rq, struct pids *out)
{
	int map = dt_pinned(name_of(rq), DT_PIDS), r;

	if (map < 0)
		return 0; /* removed under us: nobody is followed any more */
	r = dt_tasks(map, 1, out);
	close(map);
	return r;
}

static int sweep(const char *session)
{
	return recording_sweep(PREFIX, session, dt_end_session);
}

/* Whatever else is marked is somebody else's. */
static int reset(void)
{
	return 0;
}

struct subsystem manager_subsystem = {
	.name = "distributed", .root = open_root, .check = check, .open = open_session,
	.place = place, .exclude = exclude, .arm = arm, .stream = stream, .disarm = disarm,
	.close = close_session, .members = members, .sweep = sweep, .reset = reset,
};
