/* SPDX-License-Identifier: ISC */
/*
 * subsystem.c - blktrace: a session traces block devices
 *
 * The hook sets up the tracing of the devices, with the session's name as key. The session also has
 * an instance, tfs-blk.SESSION. The instance follows the selected tasks, records the new tasks that
 * they make, and holds the lock that shows whether the session is alive. It is made first and
 * removed last. So the tracing of a device is stale if no live janitor has the instance of its key.
 */
#include <sys/vfs.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "block/blktrace.h"
#include "session/session.h"

static int instances = -1, instance = -1; /* of the janitor's session */

static int open_root(char *path)
{
	struct statfs fs;
	int fd;

	blk_directory("", path);
	*strstr(path, "/block/") = '\0';
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_file("unable to open %s", path);
	if (fstatfs(fd, &fs) < 0 || fs.f_type != K_DEBUGFS_MAGIC) {
		close(fd);
		return err_msg("no debugfs at %s: mount -t debugfs nodev %s", path, path);
	}
	return fd;
}

static int check(const struct request *rq, int root)
{
	int dir = recording_instances();

	(void)root;
	if (dir < 0)
		return -1;
	close(dir);
	if (rq->output == OUTPUT_DAT)
		return err_msg("--output dat is for ftrace; relay-cat -o keeps the records of "
			       "block devices");
	if (rq->clock)
		return err_msg("--clock: block devices have only one clock; leave it out");
	if (rq->json)
		return err_msg("--json is for ftrace, and this hook prints the text of blkparse; "
			       "leave it out");
	if (rq->header)
		return err_msg("--header is for ftrace, and this hook prints the text of "
			       "blkparse; leave it out");
	if (rq->containers)
		return err_msg("--container-names is for ftrace, and this hook prints the text of "
			       "blkparse; leave it out");
	if (rq->date)
		return err_msg("--date is for ftrace, and this hook prints the text of blkparse; "
			       "leave it out");
	return recording_check_tasks(rq);
}

/* ---- the session ------------------------------------------------------------------- */

/*
 * Make the instance. Record the new tasks of the followed tasks in it for blk-text, because a child
 * may live and die between two looks at the list of tasks, and the kernel does not follow threads
 * of io_uring.
 */
static int open_session(const struct request *rq)
{
	instances = recording_instances();
	if (instances < 0)
		return -1;
	instance = recording_own(rq, instances);
	if (instance < 0)
		return -1;
	if (rq->all_tasks)
		return 0;
	return recording_follow(rq, instance) < 0 ? -1 :
	       ctl_write(instance, "events/task/task_newtask/enable", "1", 0);
}

static int hook_env(const struct request *rq, const char **variables)
{
	static char text[32 + sizeof(rq->session)];

	str_format(text, sizeof(text), "BLK_TRACE_KEY=%s", recording_name(rq));
	variables[0] = text;
	variables[1] = NULL;
	return instance;
}

static uint64_t key; /* of the janitor's session */

static int start(const struct request *rq)
{
	char name[BLK_NAME];
	int n;

	key = blk_key(recording_name(rq));
	n = blk_each(key, blk_start, name);
	if (n < 0)
		return err_capability(CAPS_SYS_ADMIN, "unable to start the tracing of %s", name);
	return n ? 0 : err_msg("%s: the hook has set up no device; name one with --device",
			       rq->hook->name);
}

/*
 * Run blk-text. With --parent the instance has to follow the parents to follow their children, so
 * blk-text gets their pids to leave them out.
 */
static int stream(const struct request *rq, const char **argv)
{
	struct pids all = { 0 };
	const char *tasks = rq->all_tasks ? NULL : recording_name(rq);
	size_t n = recording_stream(rq, "blk-text", tasks, argv);
	const char *parents = recording_parents(rq, &all) < 0 ? NULL : pids_text(&all, ",");

	pids_clear(&all);
	n = recording_option(argv, n, "-n", parents);
	argv[n] = NULL;
	return parents ? 0 : -1;
}

/* Stop. Assume unread records, because relay files do not tell. */
static int stop(void)
{
	char name[BLK_NAME];

	return key && blk_each(key, blk_stop, name);
}

static int close_session(const struct request *rq)
{
	char name[BLK_NAME];

	if (instance < 0)
		return 0;
	if (blk_each(blk_key(recording_name(rq)), blk_remove, name) < 0)
		return err_capability(CAPS_SYS_ADMIN, "unable to remove the tracing of %s", name);
	return recording_remove(rq, instances, instance);
}

static int members(const struct request *rq, struct pids *out)
{
	return recording_followed(recording_name(rq), out);
}

extern const struct instance_kind blktrace_instances;

struct subsystem manager_subsystem = {
	.name = "blktrace", .instances = &blktrace_instances, .root = open_root, .check = check,
	.open = open_session, .hook_env = hook_env, .start = start, .stream = stream, .stop = stop,
	.close = close_session, .members = members, .sweep = recording_sweep,
};
