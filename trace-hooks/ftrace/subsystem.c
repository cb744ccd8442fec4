/* SPDX-License-Identifier: ISC */
/*
 * subsystem.c - ftrace: a session records in an instance of tracefs, tfs.SESSION
 *
 * Further instances have the same name with a suffix: those of the stream for triggers
 * (TRIGGER_SUFFIX) and for its budget (BUDGET_SUFFIX), the list of selected tasks if the hook
 * selects the events (TASKS_SUFFIX), and the record of tasks that the kernel does not follow
 * (ENTRIES_SUFFIX).
 */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "select/select.h"
#include "tracefs/tracefs.h"
#include "live/live.h"
#include "session/session.h"

/* Room for the formats of all system calls, and a sub-buffer of some CPUs. */
#define LEAST_DAT_KB 1024

static int instances = -1, instance = -1; /* of the janitor's session */
static int tasks = -1; /* the instance with the list of tasks, if the hook selects events */
static pid_t entries;  /* the process of recording_follow_late */
static int watched = -1; /* the instance that it reads; open, it holds the lock (owned.c) */
static int late = -1;  /* the number of its tasks (late_open) */
static int ends = -1;  /* a socket of taskstats_listen, for the stream */
static struct strbuf rings; /* descriptors of mappings_listen, for the stream */
static int for_names;  /* the naming events are recorded but not printed */
static char *about;    /* the tasks whose events the stream selects, for rq->about */
static int is_dat, is_marked;
static const char *note; /* what the hook cannot see, for a trace.dat; NULL: nothing */

/* Return the name of the instance with this suffix. */
static const char *beside_name(const struct request *rq, const char *suffix)
{
	static char name[sizeof(INSTANCE_PREFIX) + sizeof(rq->session) + 16];

	str_format(name, sizeof(name), "%s%s", recording_name(rq), suffix);
	return name;
}

static int open_root(char *path)
{
	return tracefs_open(NULL, "", path);
}

/* ---- before anything exists -------------------------------------------------------- */

static int check(const struct request *rq, int root)
{
	if (rq->output == OUTPUT_DAT && rq->size_kb < LEAST_DAT_KB)
		return err_msg("--size: %lu KB is too little for a trace.dat, %d would do",
			       rq->size_kb, LEAST_DAT_KB);
	return recording_check(rq, root) < 0 ? -1 : recording_check_tasks(rq);
}

/* ---- --parent ---------------------------------------------------------------------- */

/*
 * For --parent: the pid filter has to contain the parents, or the kernel would not follow their
 * children. So add a filter that drops the parents' events to each event that the hook enabled.
 * Return 0, or -1, reported.
 */
static int leave_parents_out(const struct request *rq)
{
	char filter[4096] = "", whole[4096 + 8], file[PATH_MAX], *enabled, *old, *p, *save;
	struct pids all = { 0 };
	size_t n = 0;
	int r = 0;

	if (!rq->parents.n)
		return 0;
	old = file_read(instance, "current_tracer", NULL);
	r = old && strcmp(old, "nop\n");
	free(old);
	if (r)
		return err_msg("--parent: not possible with a function tracer; select the tasks "
			       "with --pid");
	r = recording_parents(rq, &all);
	for (size_t i = 0; i < all.n && n < sizeof(filter); i++)
		n += str_format(filter + n, sizeof(filter) - n, "%scommon_pid != %d",
				i ? " && " : "", (int)all.v[i]);
	pids_clear(&all);
	/* the kernel takes less than a page (trace_events.c, event_filter_write) */
	if (n >= sizeof(filter) - 512)
		return err_msg("--parent: one event filter cannot exclude so many parents and "
			       "threads; give fewer parents");
	if (r)
		return r;
	enabled = file_read(instance, "set_event", NULL);
	if (!enabled)
		return err_file("unable to read set_event");
	for (p = strtok_r(enabled, " \n", &save); p && !r; p = strtok_r(NULL, " \n", &save)) {
		if (!strchr(p, ':'))
			continue;
		ctl_event_file(file, p, "filter");
		old = file_read(instance, file, NULL);
		if (old)
			old[strcspn(old, "\n")] = '\0';
		if (old && strcmp(old, "none"))
			r = str_format(whole, sizeof(whole), "(%s) && %s", old, filter) <
			    sizeof(whole) ? ctl_write(instance, file, whole, 0)
			    : err_msg("--parent: the filter in %s is too long to add the "
				      "parents; give a shorter filter", file);
		else
			r = ctl_write(instance, file, filter, 0);
		free(old);
	}
	free(enabled);
	return r;
}

/* ---- the session ------------------------------------------------------------------- */

/*
 * Follow the selected tasks, and watch for those that the kernel does not follow. Return 0, or -1,
 * reported.
 */
static int follow_all(const struct request *rq, int where)
{
	if (recording_is_late(rq)) {
		late = late_open();
		watched = recording_watch_late(rq, instances, beside_name(rq, ENTRIES_SUFFIX));
		if (watched < 0)
			return -1;
	}
	return recording_follow(rq, where);
}

/* Let the process count the last tasks, and end it. */
static void end_entries(void)
{
	if (entries <= 0)
		return;
	kill(entries, SIGTERM);
	child_wait(entries);
	entries = 0;
}

static int open_session(const struct request *rq)
{
	instances = recording_instances();
	if (instances < 0)
		return -1;
	instance = recording_make(rq, instances, rq->clock);
	if (instance < 0)
		return -1;
	if ((rq->all_tasks || rq->joins) && recording_exclude_session(instance) < 0)
		return -1;
	if (rq->all_tasks)
		return 0;
	if (!request_hook_selects(rq))
		return follow_all(rq, instance);
	/* record nothing there: the kernel only keeps the list, with forks and exits */
	tasks = owned_make(instances, beside_name(rq, TASKS_SUFFIX), 0750);
	if (tasks < 0)
		return err_file("unable to make instance %s", beside_name(rq, TASKS_SUFFIX));
	if (ctl_write(tasks, "tracing_on", "0", 0) < 0 ||
	    ctl_write(tasks, "buffer_size_kb", "4", 0) < 0 || follow_all(rq, tasks) < 0)
		return -1;
	return rq->threads ? recording_exclude_others(instance, tasks) : 0;
}

static int hook_env(const struct request *rq, const char **variables)
{
	static char text[128 + sizeof(rq->session)], group[PROBE_NAME], of_probes[PROBE_NAME + 16];
	static char of_tasks[128 + sizeof(rq->session)], subject[64];
	size_t n = 2;

	str_format(text, sizeof(text), "TFS_INSTANCE=%s", recording_name(rq));
	probe_group(group, rq->session);
	str_format(of_probes, sizeof(of_probes), "TFS_GROUP=%s", group);
	variables[0] = text;
	variables[1] = of_probes;
	if (request_hook_selects(rq)) {
		str_format(of_tasks, sizeof(of_tasks), "TFS_TASKS=%s",
			   beside_name(rq, TASKS_SUFFIX));
		variables[n++] = of_tasks;
	}
	if (rq->subject) {
		str_format(subject, sizeof(subject), "TFS_SUBJECT=%s", rq->subject->field);
		variables[n++] = subject;
	}
	variables[n] = NULL;
	return instance;
}

/*
 * Record the events that name tasks, so that the trace has the names from its first event on, even
 * of tasks that are dead when a reader comes; not the renames, if the lines are of calls, whose
 * records have the names. Do nothing if the hook enabled one of these events to show it.
 */
static void record_names(const struct stream_words *s, int calls)
{
	unsigned wanted, enabled;
	int hides = 0, decodes = 0;

	for (const char *const *word = s->word; *word; word++) {
		hides |= !strcmp(*word, "-n");
		decodes |= !strcmp(*word, "-D");
	}
	wanted = calls && decodes ? NAMING_NEW : NAMING;
	enabled = names_events_enable(instance, wanted);
	for_names = enabled == wanted && !hides;
	if (!for_names && !hides)
		names_events_disable(instance, enabled);
}

/* Events by which tasks join, first by a cgroup, and how the rules (request_wait) of each begin */
static const struct { char event[32], rule[11]; } join_events[] = {
	{ "cgroup:cgroup_attach_task", "cgroup=" }, { "cgroup:cgroup_attach_task", "container=" },
	{ "cgroup:cgroup_notify_populated", "cgroup=" },
	{ "cgroup:cgroup_notify_populated", "container=" },
	{ "sched:sched_process_exec", "comm=" },
	{ "syscalls:sys_enter_setuid", "uid=" }, { "syscalls:sys_exit_setuid", "uid=" },
	{ "syscalls:sys_enter_setreuid", "uid=" }, { "syscalls:sys_exit_setreuid", "uid=" },
	{ "syscalls:sys_enter_setresuid", "uid=" }, { "syscalls:sys_exit_setresuid", "uid=" },
};

/* The events that only the selection of tasks needs, with commas between; "": none. */
static char hidden[512];

/* Is there a rule that begins so? */
static int has_rule(const char *rules, const char *begin)
{
	for (; *rules; rules = strchr(rules, '\n') + 1)
		if (!strncmp(rules, begin, strlen(begin)))
			return 1;
	return 0;
}

/* Record the events by which tasks join, or enter a container. Return 0, or -1, reported. */
static int record_joins(const struct request *rq)
{
	const char *rules = rq->joins ? rq->joins : "";
	char file[PATH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(join_events) / sizeof(*join_events); i++) {
		const char *event = join_events[i].event;

		ctl_event_file(file, event, "enable");
		if (!(rq->containers && !i) && !has_rule(rules, join_events[i].rule))
			continue;
		if (!file_exists(instance, file) || file_begins(instance, file, '1'))
			continue;
		if (ctl_write(instance, file, "1", 0) < 0)
			return -1;
		n += str_format(hidden + n, sizeof(hidden) - n, "%s%s", n ? "," : "", event);
	}
	return 0;
}

/* The most bytes of one argument: MAX_ARG_STRLEN of the kernel is 32 pages. */
enum { ABOUT_MOST = 100 * 1024 };

/*
 * The instance records all tasks. List the selected ones for the stream, which follows their
 * children by the naming events. Record these before the list is read, so that no child is missed.
 * Return 0, or -1, reported.
 */
static int list_subjects(const struct request *rq)
{
	struct pids all = { 0 };
	int r;

	names_events_enable(instance, NAMING);
	if (!(names_events_enabled(instance) & 1))
		return err_msg("unable to follow the children of the selected tasks: this kernel "
			       "has no event task:task_newtask; give --all");
	if (record_joins(rq) < 0 ||
	    ctl_write(instance, "tracing_on", "1", 0) < 0)
		return -1;
	/* now find the tasks that joined before the event for that was recorded */
	if (rq->joins && recording_follow(rq, tasks) < 0)
		return -1;
	r = pidfilter_list(tasks, &all);
	if (!r && all.n > ABOUT_MOST / 8)
		r = err_msg("unable to follow more than %d tasks by their own pid; select fewer",
			    ABOUT_MOST / 8);
	about = r ? NULL : pids_text(&all, ",");
	pids_clear(&all);
	return about ? 0 : -1;
}

/* Listen for the ends of tasks before the session records, so that the stream has all of them. */
static void listen_for_ends(void)
{
	int per_cpu;

	if (!file_begins(instance, "events/sched/sched_process_exit/enable", '1') &&
	    !file_begins(instance, "events/signal/signal_deliver/enable", '1'))
		return;
	per_cpu = dir_open(instance, "per_cpu");
	ends = taskstats_listen(instance_cpu_count(per_cpu));
	fd_close(per_cpu);
}

/* Listen for the mappings of programs before they begin, if functions of programs are named. */
static void listen_for_mappings(const struct stream_words *s)
{
	int fds[MAPPINGS_CPUS];
	struct pids all = { 0 };
	const char *const *word = s->word;
	unsigned n = 0;

	while (*word && strcmp(*word, "-f") && strcmp(*word, "--function-names"))
		word++;
	if (*word && !pidfilter_list(tasks < 0 ? instance : tasks, &all))
		n = mappings_listen(&all, fds);
	for (unsigned i = 0; i < n; i++)
		strbuf_format(&rings, i ? " %d" : "%d", fds[i]);
	pids_clear(&all);
}

/*
 * Text begins with what the hook cannot see. Other forms have no place for it, so tell the caller,
 * and keep it for a trace.dat.
 */
static void take_note(const struct request *rq, const struct stream_words *s)
{
	static const char option[] = "--note=";
	int strace = 0;

	for (const char *const *word = s->word; *word; word++) {
		strace |= !strcmp(*word, "--strace");
		if (!strncmp(*word, option, sizeof(option) - 1))
			note = *word + sizeof(option) - 1;
	}
	if (rq->output != OUTPUT_DAT && !strace)
		note = NULL;
	if (note)
		err_note("%s", note);
}

static int prepare(const struct request *rq, const struct stream_words *s, int listed, int calls)
{
	if (watched >= 0)
		entries = recording_follow_late(rq, watched, tasks < 0 ? instance : tasks, late,
						listed);
	if (entries < 0)
		return -1;
	take_note(rq, s);
	if (leave_parents_out(rq) < 0)
		return -1;
	if (rq->output != OUTPUT_DAT) {
		record_names(s, calls);
		listen_for_ends();
	}
	listen_for_mappings(s);
	if (rq->output != OUTPUT_DAT && (rq->about || rq->joins || rq->threads))
		return list_subjects(rq);
	return rq->containers ? record_joins(rq) : 0;
}

static int exclude(const struct request *rq, const struct pids *us)
{
	return rq->all_tasks || rq->joins ? exclude_tasks(instance, us) : 0;
}

/* Mark the names of disks, whose events have only numbers. */
static void mark_disks(void)
{
	static const char head[] = "# disks:";
	char path[PATH_MAX], line[900]; /* a mark has less than 1 KiB */
	char *text, *rest, *row;
	size_t n = 0;

	str_format(path, sizeof(path), "%s/diskstats", path_procfs());
	rest = text = file_read(AT_FDCWD, path, NULL);
	while (rest && (row = text_next_line(&rest))) {
		const char *at = row + strspn(row, " ");
		unsigned major = (unsigned)text_digits(&at), minor;

		at += strspn(at, " ");
		minor = (unsigned)text_digits(&at);
		at += strspn(at, " ");
		if (n > sizeof(line) - 100) {
			ctl_try(instance, "trace_marker", line, 0);
			n = 0;
		}
		n = n ? n : str_format(line, sizeof(line), "%s", head);
		n += str_format(line + n, sizeof(line) - n, " %u:%u %.*s", major, minor,
				(int)strcspn(at, " "), at);
	}
	if (n)
		ctl_try(instance, "trace_marker", line, 0);
	free(text);
}

static int start(const struct request *rq)
{
	char line[512];
	size_t at = 0;

	fd_close(ends); /* the stream has it */
	if (ctl_write(instance, "tracing_on", "1", 0) < 0)
		return -1;
	/* a trace.dat has no comment lines, so a mark in the buffer names the dead tasks */
	while (rq->output == OUTPUT_DAT && recording_dead_comment(rq, &at, line, sizeof(line)))
		ctl_try(instance, "trace_marker", line, 0);
	is_dat = rq->output == OUTPUT_DAT;
	is_marked = rq->hook->marked;
	if (is_marked) {
		ctl_try(instance, "trace_marker", "# the recording begins", 0);
		mark_disks();
	}
	if (is_dat && note) {
		str_format(line, sizeof(line), "# %s", note);
		ctl_try(instance, "trace_marker", line, 0);
	}
	return 0;
}

static int stream(const struct request *rq, const char **argv)
{
	size_t n = recording_stream(rq, rq->output == OUTPUT_DAT ? "tfs-record" : "tfs-catpipe",
				    recording_name(rq), argv);

	if (ends >= 0)
		fd_pass(ends, TASKSTATS_FD);
	for (const char *s = rings.text; s && *s; s += *s == ' ')
		fcntl((int)text_digits(&s), F_SETFD, 0);
	if (rings.n)
		setenv(MAPPINGS_RINGS, rings.text, 1);
	if (late >= 0 && !rq->joins && rq->output != OUTPUT_DAT)
		fd_pass(late, LATE_FD);
	if (for_names)
		argv[n++] = "-n";
	n = recording_option(argv, n, "-S", about);
	n = recording_option(argv, n, "-W", rq->joins);
	n = recording_option(argv, n, "-X", hidden);
	if (rq->output == OUTPUT_DAT)
		argv[n++] = "trace";
	argv[n] = NULL;
	return 0;
}

static int stop(void)
{
	char text[160] = "# ";

	end_entries();
	if (is_dat && late_text(text + 2, sizeof(text) - 2, late_count(late)))
		ctl_try(instance, "trace_marker", text, 0);
	if (is_marked)
		ctl_try(instance, "trace_marker", "# the recording ends", 0);
	return recording_stop(instance);
}

/* Say how many late tasks lack events: a trace.dat and dumps have no last line for that. */
static const char *last_words(const struct request *rq)
{
	static char text[160];

	if (rq->output != OUTPUT_DAT && !rq->hook->alone)
		return NULL;
	return late_text(text, sizeof(text), late_count(late)) ? text : NULL;
}

static int close_session(const struct request *rq)
{
	static const char *const suffixes[] = { TRIGGER_SUFFIX, SLOW_SUFFIX, BUDGET_SUFFIX,
						TASKS_SUFFIX, ENTRIES_SUFFIX };
	int r;

	if (instance < 0)
		return 0;
	end_entries();
	/* a killed stream leaves the first of these instances */
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *beside = beside_name(rq, suffixes[i]);

		if (instance_remove(instances, beside, INSTANCE_REMOVE_MS) < 0 && errno != ENOENT)
			err_file("unable to remove instance %s", beside);
	}
	fd_close(tasks);
	r = probes_end_session(instances, rq->session);
	if (r < 0)
		err_file("unable to remove the probes of %s", recording_name(rq));
	return recording_remove(rq, instances, instance) < 0 ? -1 : r;
}

static int members(const struct request *rq, struct pids *out)
{
	return recording_followed(request_hook_selects(rq) ? beside_name(rq, TASKS_SUFFIX)
							 : recording_name(rq), out);
}

/*
 * Return the probe groups of all instances of sessions in one allocated string, each between
 * spaces, or NULL.
 */
static char *groups_of_sessions(int dir)
{
	DIR *d = file_list(dir, ".");
	char *all = d ? strdup(" ") : NULL;
	const char *name;
	size_t n = 1;

	while ((name = file_next(d)))
		if (all && !strncmp(name, INSTANCE_PREFIX, strlen(INSTANCE_PREFIX)) &&
		    (all = realloc(all, n + PROBE_NAME + 2))) {
			probe_group(all + n, name + strlen(INSTANCE_PREFIX));
			n += strlen(strcat(all + n, " "));
		}
	return all;
}

/*
 * Remove the dynamic events of sessions whose instance was removed by hand. Hold the lock on the
 * directory of instances, because a session that begins meanwhile may use such a group.
 */
static void remove_orphans(int dir)
{
	int held = owned_guard(dir), root = dir_open(dir, "..");
	char *text = file_read(root, "dynamic_events", NULL), *groups = NULL, word[PROBE_NAME + 2];
	const char *at = text;
	struct probe p;

	if (held >= 0 && text && strstr(text, ":" PROBE_PREFIX))
		groups = groups_of_sessions(dir);
	while (groups && probe_next(&at, &p)) {
		str_format(word, sizeof(word), " %s ", p.group);
		if (!strncmp(p.group, PROBE_PREFIX, strlen(PROBE_PREFIX)) && !strstr(groups, word))
			probes_end(root, p.group);
	}
	free(groups);
	free(text);
	close(root);
	close(held);
}

static int sweep(const char *session)
{
	int r = recording_sweep(session);
	int dir = recording_instances();

	if (dir < 0)
		return -1;
	remove_orphans(dir);
	close(dir);
	return r;
}

/* ---- --clear ----------------------------------------------------------------------- */

/*
 * Write value to a top-level control file unless the file contains usual already. Depending on file
 * and kernel, an empty list of pids reads as "no pid" or as nothing. Return 0, or -1, reported.
 */
static int restore(int root, const char *file, const char *usual, const char *value, int flags)
{
	char *now = file_read(root, file, NULL);
	int r = 0;

	if (now && *now && !strstr(now, usual))
		r = ctl_write(root, file, value, flags);
	free(now);
	return r;
}

static int reset(void)
{
	static const struct { char file[23], usual[9], value[6]; int flags; } defaults[] = {
		{ "current_tracer", "nop\n", "nop", 0 },
		{ "events/enable", "0\n", "0", 0 },
		{ "set_event_pid", "no pid", "", CTL_TRUNCATE },
		{ "set_event_notrace_pid", "no pid", "", CTL_TRUNCATE },
		{ "set_ftrace_pid", "no pid", "", CTL_TRUNCATE },
		{ "set_ftrace_notrace_pid", "no pid", "", CTL_TRUNCATE },
		{ "options/event-fork", "0\n", "0", 0 },
		{ "options/function-fork", "0\n", "0", 0 },
		{ "trace_clock", "[local]", "local", 0 },
		{ "tracing_on", "1\n", "1", 0 },
	};
	int root = tracefs_open(NULL, "", NULL), r = 0;

	if (root < 0)
		return -1;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		r |= restore(root, defaults[i].file, defaults[i].usual, defaults[i].value,
			     defaults[i].flags);
	/* do not read "trace" to see whether it is empty: that formats the whole buffer */
	if (instance_buffer_count(root, "entries: ") || instance_buffer_count(root, "overrun: "))
		r |= ctl_write(root, "trace", "", CTL_TRUNCATE);
	close(root);
	return r;
}

extern const struct instance_kind ftrace_instances;

struct subsystem manager_subsystem = {
	.name = "ftrace", .waits = 1, .instances = &ftrace_instances, .root = open_root,
	.check = check,
	.open = open_session, .hook_env = hook_env, .prepare = prepare, .exclude = exclude,
	.start = start, .stream = stream, .stop = stop, .last_words = last_words,
	.close = close_session, .members = members, .sweep = sweep, .reset = reset,
};
