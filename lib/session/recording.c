/* SPDX-License-Identifier: ISC */
/*
 * recording.c - sessions that record in an instance, used by all subsystems
 *
 * Outline: check what the kernel can do, make the instance, find and follow the selected
 * tasks, follow tasks that the kernel does not follow, remove the instances of stale sessions.
 */
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "live/live.h"
#include "event/event.h"
#include "tracedat/tracedat.h"
#include "session/session.h"

/* ---- check the request, make the instance ------------------------------------------ */

static int check_clock(const char *clock, int root)
{
	char *clocks = file_read(root, "trace_clock", NULL), *p, *save;
	int found = 0;

	if (!clocks)
		return err_file("unable to read trace_clock");
	/* "[local] global counter": the brackets are around the current one */
	for (p = strtok_r(clocks, " []\n", &save); p; p = strtok_r(NULL, " []\n", &save))
		found |= !strcmp(p, clock);
	free(clocks);
	return found ? 0 : err_msg("--clock: this kernel has no clock %s; trace_clock "
				   "lists them", clock);
}

/*
 * Refuse a buffer that takes more than half of the free memory: the kernel would kill another
 * process to get that memory. Return 0, or -1, reported.
 */
static int check_buffer(unsigned long kb, int root)
{
	/* with musl, sysconf counts only the CPUs of this process's affinity mask */
	int per_cpu = dir_open(root, "per_cpu");
	unsigned cpus = per_cpu < 0 ? 0 : instance_cpu_count(per_cpu);
	unsigned long long most;
	char path[PATH_MAX];

	fd_close(per_cpu);
	str_format(path, sizeof(path), "%s/meminfo", path_procfs());
	most = file_number(AT_FDCWD, path, "MemAvailable:", ULLONG_MAX) / 2 / (cpus ? cpus : 1);
	if (kb <= most)
		return 0;
	return err_msg("--buffer: %lu KB for each of %u CPUs is more than half "
		       "of the memory that is free; %llu would fit", kb, cpus, most);
}

/* Check that the instance of --persist exists. Return 0, or -1, reported. */
static int check_reserved(const struct request *rq, int root)
{
	int instances = dir_open(root, "instances");
	int there = instances >= 0 && reserved_is(instances, recording_name(rq));

	fd_close(instances);
	if (!there)
		return err_msg("--persist: this boot has no reserved instance %s: add the "
			       "parameters that 'tfs-persist reserve' prints to the kernel's "
			       "command line, and reboot", recording_name(rq));
	return rq->buffer_kb ? err_msg("--buffer: the size of %s is fixed; leave it out",
				       recording_name(rq)) : 0;
}

int recording_check(const struct request *rq, int root)
{
	if (!file_exists(root, "instances"))
		return err_msg("this kernel has no instances; it needs CONFIG_TRACING");
	if (rq->persist && check_reserved(rq, root) < 0)
		return -1;
	if (rq->clock && check_clock(rq->clock, root) < 0)
		return -1;
	if (rq->date && rq->clock && line_clock_counts(rq->clock))
		return err_msg("--date: the clock %s does not count seconds; choose another",
			       rq->clock);
	return rq->buffer_kb ? check_buffer(rq->buffer_kb, root) : 0;
}

const char *recording_name(const struct request *rq)
{
	static char name[16 + sizeof(rq->session)];

	str_format(name, sizeof(name), "%s%s", manager_subsystem.instances->prefix, rq->session);
	return name;
}

/* Take the reserved instance, and save the events of the last boot, which it may still have. */
static int take_reserved(const char *name, int instances)
{
	static struct persist p; /* large */
	struct last_boot last = { 0 };
	int instance = owned_take(instances, name);

	if (instance < 0 && errno == EBUSY)
		return err_msg("another session records in %s; end it first", name);
	if (instance < 0)
		return err_file("unable to open instance %s", name);
	if (!reserved_at_rest(instance))
		err_msg("another program uses %s", name);
	else if (persist_open(&p) >= 0 && last_boot_save(&p, instance, &p.last, &last) >= 0 &&
		 reserved_reset(instance) >= 0)
		return instance;
	close(instance);
	return -1;
}

int recording_own(const struct request *rq, int instances)
{
	const char *name = recording_name(rq);
	int instance = rq->persist ? take_reserved(name, instances) :
				     owned_make(instances, name, 0750);

	if (rq->persist)
		return instance;
	if (instance < 0 && errno == EEXIST)
		return err_msg("instance %s exists already; give --instance another name", name);
	return instance < 0 ? err_file("unable to make instance %s", name) : instance;
}

int recording_make(const struct request *rq, int instances, const char *clock)
{
	int instance = recording_own(rq, instances);
	char kb[32];

	if (instance < 0)
		return -1;
	str_format(kb, sizeof(kb), "%lu", rq->buffer_kb);
	if (ctl_write(instance, "tracing_on", "0", 0) < 0 ||
	    (rq->buffer_kb && ctl_write(instance, "buffer_size_kb", kb, 0) < 0) ||
	    (clock && ctl_write(instance, "trace_clock", clock, 0) < 0)) {
		stale_remove(instances, recording_name(rq), 0);
		close(instance);
		return -1;
	}
	return instance;
}

int recording_pin(const struct request *rq)
{
	int dir = tracefs_open(NULL, recording_name(rq), NULL);
	int fd = dir < 0 ? -1 : openat(dir, "tracing_on", O_RDONLY);

	fd_close(dir);
	return fd < 0 ? err_file("unable to open instance %s", recording_name(rq)) : 0;
}

int recording_stop(int instance)
{
	if (instance < 0)
		return 0;
	ctl_try(instance, "tracing_on", "0", 0);
	return instance_buffer_count(instance, "entries: ") > 0;
}

int recording_remove(const struct request *rq, int instances, int instance)
{
	const char *name = recording_name(rq);
	int r = 0;

	/* with its events disabled, the kernel drops the pid filter without waiting for all CPUs */
	ctl_try(instance, "events/enable", "0", 0);
	if (stale_remove(instances, name, INSTANCE_REMOVE_MS) < 0 && errno != ENOENT)
		r = err_file("unable to remove instance %s", name);
	close(instance);
	close(instances);
	return r;
}

size_t recording_option(const char **argv, size_t n, const char *option, const char *value)
{
	if (!value || !*value)
		return n;
	argv[n] = option;
	argv[n + 1] = value;
	return n + 2;
}

size_t recording_stream(const struct request *rq, const char *tool, const char *instance,
			const char **argv)
{
	static char kb[32], memory[32];
	size_t n;

	argv[0] = tool;
	n = recording_option(argv, 1, "-i", instance);
	str_format(kb, sizeof(kb), "%lu", rq->size_kb);
	if (rq->output >= OUTPUT_FILE || rq->hook->alone)
		n = recording_option(argv, n, rq->output == OUTPUT_DAT ? "-m" : "-s", kb);
	if (policy_memory_kb() && !strcmp(tool, "tfs-catpipe")) {
		str_format(memory, sizeof(memory), "%lu", policy_memory_kb());
		n = recording_option(argv, n, "-M", memory);
	}
	if (rq->output == OUTPUT_LINES)
		argv[n++] = "-l";
	if (rq->json)
		argv[n++] = "-j";
	if (rq->header)
		argv[n++] = "-H";
	if (rq->containers)
		argv[n++] = "--container-names";
	if (rq->date) /* tfs-flight has another -d */
		argv[n++] = rq->hook->alone ? "-D" : "-d";
	if (rq->human) {
		argv[n++] = "-m";
		n = recording_option(argv, n, "-c", rq->hook->columns);
	}
	argv[n] = NULL;
	return n;
}

int recording_own_tasks(struct pids *us)
{
	struct task janitor, manager;

	if (task_read(task_self(), &janitor) < 0 || task_read(janitor.ppid, &manager) < 0)
		return err_errno("unable to find this process in %s", path_procfs());
	pids_add(us, janitor.pid);
	pids_add(us, manager.pid);
	if (getenv(FOR_PEOPLE))
		pids_add(us, manager.ppid);
	return pids_sort(us);
}

int recording_exclude_session(int instance)
{
	struct pids us = { 0 };
	int r = recording_own_tasks(&us) < 0 ||
		ctl_write(instance, "options/event-fork", "1", 0) < 0 ? -1 :
		pidfilter_remove(instance, &us, 0);

	pids_clear(&us);
	return r;
}

/* ---- follow the selected tasks ----------------------------------------------------- */

int recording_instances(void)
{
	int root = tracefs_open(NULL, "", NULL), fd;

	if (root < 0)
		return -1;
	fd = dir_open(root, "instances");
	close(root);
	return fd < 0 ? err_file("unable to open instances") : fd;
}

int recording_check_tasks(const struct request *rq)
{
	struct pids found = { 0 };
	int plain = 0, r = 0;

	/* request.c has checked the pids; check that the other selectors match */
	for (size_t i = 0; i < rq->nselectors; i++) {
		const struct selector *s = &rq->selectors[i];
		struct cgroup c;

		plain |= s->kind == SELECT_PID;
		if (s->kind == SELECT_NAMED && !rq->waits && request_is_empty(s))
			return err_msg("no container that --container, --pod or --namespace names "
				       "has a task now; give its name or id, or the cgroup with "
				       "--cgroup");
		if (rq->waits || s->kind != SELECT_CGROUP || s->pid)
			continue;
		r = cgroup_find(s->text, &c);
		if (r)
			return r < 0 ? -1 : err_msg("no such cgroup: '%.200s'; give a path, "
						    "its last part, or a pid", s->text);
	}
	if (!plain && !rq->all_tasks && !rq->waits) {
		r = select_pids(rq->selectors, rq->nselectors, 0, &found);
		if (!r && !found.n)
			r = err_msg("no task to trace: the selectors match none; correct them");
		pids_clear(&found);
	}
	return r;
}

int recording_parents(const struct request *rq, struct pids *out)
{
	struct task t;

	for (size_t i = 0; i < rq->parents.n; i++)
		if (!task_read(rq->parents.v[i], &t))
			task_add_threads(out, &t);
	return pids_sort(out);
}

/* Nobody reads yet, so the comments must fit into the FIFO: 16 packets of 4096 bytes. */
enum { DEAD_LINE = 4000, DEAD_LINES = 8 };

size_t recording_dead_comment(const struct request *rq, size_t *at, char *line, size_t size)
{
	size_t n = str_format(line, size, "# not alive when the session began:");

	if (*at == rq->dead.n)
		return 0;
	while (*at < rq->dead.n && n < size - 16)
		n += str_format(line + n, size - n, " %d", (int)rq->dead.v[(*at)++]);
	return n;
}

size_t recording_write_dead_comments(const struct request *rq, int fd)
{
	/* Viewers recognize a trace by its first line. The stream repeats these lines. */
	static const char header[] = "# tracer: nop\n#\n";
	char line[DEAD_LINE + 64];
	size_t at = 0, n, all = 0;

	if (!rq->dead.n)
		return 0;
	if (rq->output == OUTPUT_LINES) /* pipe(7): packets */
		fcntl(fd, F_SETFL, O_DIRECT);
	if (rq->header)
		fd_write_all(fd, header, sizeof(header) - 1);
	for (int i = 0; i < DEAD_LINES; i++) {
		n = recording_dead_comment(rq, &at, line, DEAD_LINE);
		if (!n)
			break;
		if (i == DEAD_LINES - 1 && at < rq->dead.n)
			n += str_format(line + n, sizeof(line) - n, " and %zu more",
					rq->dead.n - at);
		line[n++] = '\n';
		fd_write_all(fd, line, n);
		all += n;
	}
	return all;
}

/* The tasks of this session: the janitor, and those of recording_own_tasks. */
static struct {
	pid_t janitor;
	struct pids tasks;
} own;

/*
 * Take the session's own tasks out of the set, with the children that the janitor has now. They
 * would record how they read the trace, for ever. Return 0, or -1, reported.
 */
static int leave_own_out(struct pids *set)
{
	struct selector s = { .kind = SELECT_PID };
	struct pids children = { 0 };
	int r = 0;

	if (!own.janitor) {
		own.janitor = task_self();
		r = recording_own_tasks(&own.tasks);
	}
	s.pid = own.janitor;
	if (!r)
		r = select_pids(&s, 1, SELECT_THREADS | SELECT_DESCENDANTS | SELECT_GONE_OK,
				&children);
	pids_minus(set, &own.tasks);
	pids_minus(set, &children);
	pids_clear(&children);
	return r;
}

/*
 * Add all matching tasks but the session's own with one write, because a second write waits for
 * all CPUs to drop the first list. From that write on, the kernel follows their children. List
 * them in the map calls (rings_list) before, if that is not -1.
 * With again, look for children that were born before that write, until a look finds none. Without
 * again, the stream learns such children from their records: new tasks of a name might come faster
 * than one look takes. Return 0; 1 if there was no task; or -1, reported.
 */
static int add_all(const struct selector *selectors, size_t n, int instance, int calls, int again)
{
	struct pids known = { 0 }, now = { 0 };
	int r;

	do {
		pids_clear(&now);
		r = select_pids(selectors, n,
				SELECT_THREADS | SELECT_DESCENDANTS | SELECT_GONE_OK, &now);
		pids_minus(&now, &known);
		if (!r && now.n)
			r = leave_own_out(&now);
		if (!r && calls >= 0 && rings_list(calls, &now) < 0)
			r = err_errno("unable to record the calls of more tasks");
		if (!r)
			r = pidfilter_add(instance, &now, PIDFILTER_MIRRORED);
		if (!r)
			r = pids_plus(&known, &now);
	} while (!r && now.n && again);
	r = r ? -1 : !known.n;
	pids_clear(&known);
	pids_clear(&now);
	return r;
}

int recording_follow(const struct request *rq, int instance)
{
	int r = add_all(rq->selectors, rq->nselectors, instance, -1, !rq->waits);

	if (r <= 0 || rq->waits)
		return r < 0 ? -1 : 0;
	return err_msg("no task to trace: the selected tasks have ended, or are the session's own");
}

/* For task_each_process: add the threads of the process. */
static int add_threads(void *pids, pid_t pid)
{
	struct task t;

	if (!task_read(pid, &t))
		task_add_threads(pids, &t);
	return 0;
}

int recording_exclude_others(int instance, int followed)
{
	struct pids others = { 0 }, ours = { 0 };
	int r = ctl_write(instance, "options/event-fork", "1", 0);

	/* the second time, those that were born before the kernel followed the first ones */
	for (int times = 0; times < 2 && !r; times++) {
		r = task_each_process(add_threads, &others);
		pids_add(&others, 0); /* the idle tasks */
		r |= pids_sort(&others);
		/* after the others, so that no child of ours is one of them */
		if (!r)
			r = pidfilter_list(followed, &ours);
		pids_minus(&others, &ours);
		if (!r)
			r = pidfilter_remove(instance, &others, 0);
		pids_clear(&others);
		pids_clear(&ours);
	}
	return r;
}

int recording_followed(const char *instance, struct pids *out)
{
	int dir = recording_instances(), fd, r;

	if (dir < 0)
		return -1;
	fd = dir_open(dir, instance);
	close(dir);
	if (fd < 0)
		return 0; /* the instance was removed, so it follows no task */
	r = pidfilter_list(fd, out);
	close(fd);
	return r;
}

/* ---- follow tasks that the kernel does not follow ------------------------------------ */

#define ATTACH "events/cgroup/cgroup_attach_task/enable"
#define NEW "events/task/task_newtask/"

int recording_is_late(const struct request *rq)
{
	return (request_names_cgroup(rq) && !rq->waits) || request_lacks_threads(rq);
}

int recording_watch_late(const struct request *rq, int instances, const char *name)
{
	/* UAPI linux/sched.h: CLONE_UNTRACED and CLONE_THREAD; no fork of a program has both */
	static const char filter[] = "clone_flags & 0x800000 && clone_flags & 0x10000";
	int fd = owned_make(instances, name, 0750), r;

	if (fd < 0)
		return err_file("unable to make instance %s", name);
	r = ctl_write(fd, "buffer_size_kb", "64", 0);
	ctl_try(fd, "buffer_percent", "0", 0); /* poll(2) tells of each event */
	if (!r && request_names_cgroup(rq) && file_exists(fd, ATTACH))
		r = ctl_write(fd, ATTACH, "1", 0);
	if (!r && request_lacks_threads(rq) && file_exists(fd, NEW "enable"))
		r = ctl_write(fd, NEW "filter", filter, 0) < 0 ||
		    ctl_write(fd, NEW "enable", "1", 0) < 0;
	if (!r)
		return fd;
	close(fd);
	return -1;
}

/* The process that follows these tasks */
struct follower {
	const struct request *rq;
	struct cgroup *cgroups;
	size_t n;
	int pipe, instance, count, calls;
};

/* Is the cgroup that a task has entered a selected one? path was its path at that time. */
static int has_entered(const struct follower *f, pid_t pid, const char *path)
{
	int alive = task_alive(pid);

	for (size_t i = 0; i < f->n; i++)
		if (alive ? cgroup_has(&f->cgroups[i], pid) :
		    cgroup_is_named(path, &(struct cgroup_name){ .text = f->cgroups[i].path }))
			return 1;
	for (size_t i = 0; i < f->rq->nselectors; i++) {
		struct cgroup_name name = { .container = 1, .text = f->rq->selectors[i].text };

		if (f->rq->selectors[i].kind == SELECT_NAMED &&
		    (alive ? cgroup_names_task(&name, pid) > 0 : cgroup_is_named(path, &name)))
			return 1;
	}
	return 0;
}

/*
 * Follow the task of a line of trace_pipe that has entered a cgroup. A cgroup or a task may have a
 * name like "x pid=1", so check each number in procfs.
 */
static void add_entry(const struct follower *f, char *line)
{
	struct selector s = { .kind = SELECT_PID };
	char *path = strstr(line, " dst_path="), *end = path ? strchr(path + 1, ' ') : NULL;
	const unsigned long long missed = procfs_missed();

	if (!end)
		return;
	*end = '\0';
	for (const char *p = end + 1; (p = strstr(p, "pid=")); ) {
		p += sizeof("pid=") - 1;
		s.pid = (pid_t)text_digits(&p);
		if (s.pid <= 0 || !has_entered(f, s.pid, path + sizeof(" dst_path=") - 1))
			continue;
		late_add(f->count, 1);
		add_all(&s, 1, f->instance, f->calls, 1);
		return;
	}
	if (procfs_missed() != missed) /* it has no name, because there was no time left */
		late_add(f->count, 1);
}

/*
 * Follow the thread of a line, COMM-PID [CPU] ... EVENT: pid=N ..., if its maker is followed. Soon
 * after a task has exited, the kernel takes it off the list; count the thread of such a maker,
 * because it may have been followed.
 */
static void add_thread(const struct follower *f, const char *line, const char *event)
{
	static const char head[] = ": task_newtask: pid=";
	struct pids followed = { 0 }, parents = { 0 }, one = { 0 };
	const char *p = event, *digits = event + sizeof(head) - 1;
	pid_t thread = (pid_t)text_digits(&digits), maker;

	while (p > line && *p != '[')
		p--;
	while (p > line && *p != '-')
		p--;
	p++;
	maker = (pid_t)text_digits(&p);
	if (!pidfilter_list(f->instance, &followed) && !recording_parents(f->rq, &parents) &&
	    !pids_has(&parents, maker)) {
		if (pids_has(&followed, maker)) {
			late_add(f->count, 1);
			pids_add(&one, thread);
			pidfilter_add(f->instance, &one, PIDFILTER_MIRRORED);
		} else if (!task_alive(maker)) {
			late_add(f->count, 1);
		}
	}
	pids_clear(&followed);
	pids_clear(&parents);
	pids_clear(&one);
}

/* Follow the tasks of these lines. */
static void add_lines(const struct follower *f, char *text)
{
	char *save, *event;

	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		if ((event = strstr(p, ": task_newtask: pid=")))
			add_thread(f, p, event);
		else if (strstr(p, "LOST")) /* a task called LOST only causes a needless look */
			add_all(f->rq->selectors, f->rq->nselectors, f->instance, f->calls, 1);
		else
			add_entry(f, p);
}

/* Follow tasks until SIGTERM comes, and then those of the last lines. */
static _Noreturn void follow_late(const struct follower *f)
{
	static char text[64 * 1024];
	int stop = wait_signals((int[]){ SIGTERM, 0 });
	struct pollfd p[] = { { .fd = f->pipe, .events = POLLIN },
			      { .fd = stop, .events = POLLIN } };
	ssize_t got;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		fd_to_null(fd);
	/* Close the manager's socket, too: the janitor's end hangs up only when no copy is open. */
	for (int fd = STDERR_FILENO + 1; fd < 8192; fd++)
		if (fd != f->pipe && fd != f->instance && fd != f->count && fd != f->calls &&
		    fd != stop)
			close(fd);
	container_limit();
	urgent_begin(); /* a task is not recorded until this process has added it */
	for (;;) {
		poll(p, 2, -1);
		while ((got = read(f->pipe, text, sizeof(text) - 1)) > 0) {
			text[got] = '\0';
			add_lines(f, text);
		}
		if (stop < 0 || p[1].revents || !got ||
		    (got < 0 && errno != EAGAIN && errno != EINTR))
			_exit(DONE);
	}
}

pid_t recording_follow_late(const struct request *rq, int watched, int instance, int count,
			    int calls)
{
	struct follower f = { .rq = rq, .cgroups = calloc(rq->nselectors + 1, sizeof(*f.cgroups)),
			      .instance = instance, .count = count, .calls = calls };
	pid_t pid;

	if (!f.cgroups)
		return err_msg("out of memory");
	for (size_t i = 0; i < rq->nselectors; i++) {
		const struct selector *s = &rq->selectors[i];
		struct cgroup *c = &f.cgroups[f.n];

		f.n += s->kind == SELECT_CGROUP &&
		       !(s->pid ? cgroup_of(s->pid, c) : cgroup_find(s->text, c));
	}
	f.pipe = openat(watched, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pid = f.pipe < 0 ? -1 : child_fork();
	if (!pid)
		follow_late(&f);
	if (pid < 0)
		err_file("unable to follow tasks that the kernel does not follow");
	fd_close(f.pipe);
	free(f.cgroups);
	return pid;
}

/* ---- remove the instances of stale sessions ---------------------------------------- */

struct sweep {
	const char *session;          /* NULL: all */
	int last;                     /* report what cannot be removed */
};

/* Remove the instance if it is stale. Return 1 if the caller has to try again. */
static int remove_stale(void *arg, int dir, const char *name, pid_t owner)
{
	const struct instance_kind *kind = manager_subsystem.instances;
	const struct sweep *s = arg;
	const char *after = name + strlen(kind->prefix);
	size_t n = s->session ? strlen(s->session) : 0;
	int its = n && !strncmp(after, s->session, n);
	int beside = its && after[n] == '+'; /* TRIGGER_SUFFIX and others */

	/* an instance of the stream: the stream dies after the janitor, not at once */
	if (owner != OWNER_NONE)
		return beside;
	if (kind->release(dir, name) == 0 && (!stale_remove(dir, name, 0) || errno == ENOENT)) {
		/* a process that is left of the session may have made something in between */
		kind->release(dir, name);
		return 0;
	}
	if (s->session && !beside && !(its && !after[n]))
		return 0;
	if (s->last && !s->session)
		err_file("unable to remove stale instance %s", name);
	return 1;
}

/* How long a recorder whose janitor was killed may take to complete its file. */
enum { RECORDER_MS = 60000 };

/* owned_each blocks others that make an instance, so pause between two calls. */
int recording_sweep(const char *session)
{
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	long long end = time_now_ms() + (session && *session ? RECORDER_MS : INSTANCE_REMOVE_MS);
	struct sweep s = { .session = session };
	int dir = recording_instances(), r;

	if (dir < 0)
		return -1;
	while ((r = owned_each(dir, manager_subsystem.instances->prefix, remove_stale,
			       &s)) > 0 && !s.last) {
		s.last = time_now_ms() >= end;
		nanosleep(&pause, NULL);
	}
	close(dir);
	return r ? -1 : 0;
}
