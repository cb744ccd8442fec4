/* SPDX-License-Identifier: ISC */
/*
 * subsystem.c - distributed: a session has a request probe (requests.h) and an instance that
 * records all tasks
 *
 * The instance, tfs-dt.SESSION, holds the lock that shows whether the session is alive; the probe
 * has the same name. The instance is made first and removed last. The hook makes the probe and
 * enables events. dt-window passes the events inside of windows. The selected tasks are added to
 * the probe after recording has begun.
 */

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "requests/requests.h"
#include "session/session.h"

static int instances = -1, instance = -1; /* of the janitor's session */

static int open_root(char *path)
{
	return tracefs_open(NULL, "", path);
}

static int check(const struct request *rq, int root)
{
	if (rq->output == OUTPUT_DAT)
		return err_msg("--output dat is for ftrace, because only text can omit the "
			       "events between windows; leave it out");
	if (rq->parents.n)
		return err_msg("--parent is for ftrace; name the tasks with --pid");
	if (dt_ready() < 0 || recording_check(rq, root) < 0)
		return -1;
	return rq->all_tasks ? 0 : recording_check_tasks(rq);
}

/* The default clock is mono, the same for the sessions of all hosts, which dt-join can read. */
static int open_session(const struct request *rq)
{
	if (dt_there(recording_name(rq)))
		return err_msg("the request probe %s exists already; give --instance another name",
			       recording_name(rq));
	instances = recording_instances();
	if (instances < 0)
		return -1;
	instance = recording_make(rq, instances, rq->clock ? rq->clock : "mono");
	return instance < 0 ? -1 : recording_exclude_session(instance);
}

static int hook_env(const struct request *rq, const char **variables)
{
	static char traced[32 + sizeof(rq->session)], probe[32 + sizeof(rq->session)];

	str_format(traced, sizeof(traced), "TFS_INSTANCE=%s", recording_name(rq));
	str_format(probe, sizeof(probe), "TFS_PROBE=%s", recording_name(rq));
	variables[0] = traced;
	variables[1] = probe;
	variables[2] = NULL;
	return instance;
}

/*
 * Add the selected tasks, their threads and descendants to the probe, until a look finds no new
 * task; from then on the probe follows their children. Begin the window of each task with a line in
 * the trace. Do not add threads to a probe that follows processes. Return 0, or -1, reported.
 */
static int add_selected(const struct request *rq)
{
	struct pids known = { 0 }, now = { 0 };
	int map = dt_open(recording_name(rq), DT_PIDS), r;
	uint32_t id = map < 0 ? 0 : bpf_id(map);
	int flags = map < 0 ? -1 : dt_flags(recording_name(rq));
	int which = SELECT_DESCENDANTS | SELECT_GONE_OK;
	char line[64];

	if (flags < 0) {
		fd_close(map);
		return -1;
	}
	which |= flags & DT_GROUP ? 0 : SELECT_THREADS;
	do {
		pids_clear(&now);
		r = select_pids(rq->selectors, rq->nselectors, which, &now);
		pids_minus(&now, &known);
		for (size_t i = 0; !r && i < now.n; i++) {
			str_format(line, sizeof(line), "dtB %x %d 0", id, (int)now.v[i]);
			r = dt_follow(map, now.v[i]) < 0 ? -1 :
			    ctl_write(instance, "trace_marker", line, 0);
			pids_add(&known, now.v[i]);
		}
		r |= pids_sort(&known);
	} while (!r && now.n);
	if (!r && !known.n)
		r = err_msg("no task to trace: the selected tasks have ended");
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

static int start(const struct request *rq)
{
	if (ctl_write(instance, "tracing_on", "1", 0) < 0)
		return -1;
	return rq->all_tasks ? 0 : add_selected(rq);
}

static int stream(const struct request *rq, const char **argv)
{
	recording_stream(rq, "tfs-catpipe", recording_name(rq), argv);
	return 0;
}

static int stop(void)
{
	return recording_stop(instance);
}

static int close_session(const struct request *rq)
{
	if (instance < 0)
		return 0;
	return dt_off(recording_name(rq)) < 0 ? -1 : recording_remove(rq, instances, instance);
}

/* Add the selected tasks and their descendants, but not tasks that only serve a request. */
static int members(const struct request *rq, struct pids *out)
{
	int map = dt_pinned(recording_name(rq), DT_PIDS), r;

	if (map < 0)
		return 0; /* the probe was removed, so it follows no task */
	r = dt_tasks(map, 1, out);
	close(map);
	return r;
}

extern const struct instance_kind distributed_instances;

struct subsystem manager_subsystem = {
	.name = "distributed", .instances = &distributed_instances, .root = open_root,
	.check = check, .open = open_session, .hook_env = hook_env, .exclude = exclude,
	.start = start, .stream = stream, .stop = stop, .close = close_session,
	.members = members, .sweep = recording_sweep,
};
