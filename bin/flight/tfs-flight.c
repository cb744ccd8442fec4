/* SPDX-License-Identifier: ISC */
/*
 * tfs-flight - flight recorder: dump the newest events when something happens
 *
 * Requires: tracefs; no other reader of the instance's buffer; inotify, leases.
 * SIGUSR1 always makes a dump. A process of -F has failed if its status is not 0 and its
 * parent has not waited for it yet. A slow call of -S makes a dump when it returns. If nobody
 * reads the text of -E, or with -r or -p, tfs-flight makes a dump as -e does, but only if there
 * are events.
 * The buffer overwrites its oldest events, and nobody reads it until a dump. A dump moves
 * the events of the buffer into DIR/dump.1, dump.2 and so on (dump.1.cpu0 ...) and prints
 * the paths of these files, one in a line. The instance records meanwhile, and the next
 * dump begins where this one ends. A file appears when it is complete. DIR, default ".",
 * has three control files. `state` contains start or stop; writing one of them starts or
 * stops the recording. Reading `dropped` gives the number of lost events. Writing `reset`
 * clears the buffer and that number.
 * Exit: 0 stopped by HUP INT TERM, 100 usage error, 111 refused.
 */
#include <poll.h>
#include <sys/signalfd.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "reader/reader.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "show/show.h"
#include "flight.h"

struct flight {
	int dir, top;           /* the instance, and tracefs itself */
	struct live_kernel kernel;
	struct flight_take take;
	struct show show;
	struct dat_head head;
	struct flight_dumps dumps;
	struct flight_trigger trigger;
	struct flight_slow slow;
	struct flight_control controls;
	struct persist persist;
	int persists;           /* -P */
	long long save_at;      /* when to save names next, in ms */
	struct flight_budget budget;

	int raw, locked;
	unsigned long back;     /* -b, in ms; 0: the whole buffer */
	unsigned long ready;    /* -d; 0: none */
	int signals;
	int on;                 /* the instance records */
	int dump, stopping;     /* requested by signals */
	int dumped;             /* a dump was made, or could not be written */
	int end_dumps, end_writes; /* -e, -E */
	struct pids watched;    /* -F */
};

static struct flight f;

static const struct tool tool = {
	TOOL_TFS_FLIGHT,
	.takes_instance = 1,
	.places = (const struct opt_place[]){
		{ 'r', .flag = &f.raw }, { 'p', .flag = &f.dumps.per_cpu },
		{ 'e', .flag = &f.end_dumps }, { 'E', .flag = &f.end_writes },
		{ 'P', .flag = &f.persists }, { 'L', .flag = &f.locked },
		{ 'n', .flag = &f.show.hide_names }, { 'l', .flag = &f.dumps.packets },
		{ 'b', .number = &f.back }, { 'c', .number = &f.dumps.keep },
		{ 't', .list = &f.trigger.events }, { 'd', .number = &f.ready },
		{ 'D', .flag = &f.show.dated }, { 'f', .text = &f.trigger.filter },
		{ 'S', .number = &f.slow.us }, { 'C', .list = &f.slow.calls }, { 0 },
	},
};

static int record(int on)
{
	return ctl_write(f.dir, "tracing_on", on ? "1" : "0", 0);
}

/* Read the date for the next dump, if -D is given. Return 0, or -1, reported. */
static int read_date(void)
{
	f.head.dated = f.show.dated;
	if (!f.show.dated)
		return 0;
	if (trace_clock_offset(f.dir, &f.show.offset) < 0)
		return -1;
	f.head.offset = f.show.offset;
	return 0;
}

/*
 * Return the time of the first event that belongs to a dump at this time (0: now), in ns.
 * Return 0 if the whole buffer belongs to it.
 */
static uint64_t begin_of(uint64_t time)
{
	uint64_t back = (uint64_t)f.back * 1000000;

	if (!time)
		time = trace_clock_now(f.dir);
	return back && time > back ? time - back : 0;
}

/* Make a dump for the event at this time, or for now if time is 0; last: none follows. */
static void dump(uint64_t time, int last)
{
	uint64_t begin, least = f.trigger.newest;

	if (least < f.slow.newest)
		least = f.slow.newest;
	f.dump = 0;
	f.dumped = 1;
	flight_budget_tell(&f.budget);
	flight_budget_hurry(&f.budget, 0);
	read_date();
	begin = begin_of(time);
	if (f.raw)
		flight_dump_raw(&f.dumps, &f.take, &f.head, begin, least, last);
	else
		flight_dump_text(&f.dumps, &f.take, &f.kernel, &f.show, begin, least, last);
	flight_budget_hurry(&f.budget, !last);
}

/* Has the process failed? Return -1 if nobody knows: its parent has waited for it. */
static int has_failed(pid_t pid)
{
	struct task t;

	return task_read(pid, &t) < 0 ? -1 : t.state == 'Z' && t.exit_code;
}

/* Write the line to the reader of the paths, if there is room. */
static void tell(const char *line)
{
	while (*line && write(f.dumps.out, line, strlen(line)) < 0 && errno == EINTR)
		;
}

/* Make a dump if a slow call has returned since the last one; last: none follows. Return 1 or 0. */
static int dump_slow(int last)
{
	uint64_t time = flight_slow_take(&f.slow, f.take.end);

	if (!time)
		return 0;
	tell(f.slow.line);
	dump(time, last);
	return 1;
}

/* Do as -e, -E, -F and -S ask at the end. */
static void end(void)
{
	int wanted = f.end_dumps, slow = dump_slow(1), unknown = 0, failed;

	flight_slow_lost(&f.slow);
	tell(f.slow.line);
	if (slow)
		return;
	wanted |= flight_slow_lasts(&f.slow, trace_clock_now(f.dir));
	for (size_t i = 0; i < f.watched.n; i++) {
		failed = has_failed(f.watched.v[i]);
		wanted |= failed > 0;
		unknown |= failed < 0;
	}
	if (wanted) {
		dump(0, 1);
	} else if (unknown && !f.dumped) {
		tell("# no dump: not known how a traced task has ended, because its parent has "
		     "waited for it\n");
	} else if (f.watched.n && !f.dumped) {
		tell("# no dump: no traced task has failed\n");
	} else if (f.slow.us && !f.dumped) {
		tell("# no dump: no system call has taken that long\n");
	} else if (f.end_writes) {
		f.dumps.skip_empty = 1;
		flight_budget_tell(&f.budget);
		flight_budget_hurry(&f.budget, 0);
		read_date();
		if (f.raw || f.dumps.per_cpu ||
		    !flight_dump_out(&f.dumps, &f.take, &f.kernel, &f.show, begin_of(0)))
			dump(0, 1);
	}
}

/* ---- waiting ------------------------------------------------------------- */

/* Events that rename tasks were not recorded or are gone: look names up again. */
static void forget_names(void)
{
	f.kernel.line.losses++;
}

/* Do what was written to `state` and `reset`, and correct the text in `state`. */
static void handle_controls(void)
{
	int asked = flight_control_asked(&f.controls), on;

	if (asked & ASKED_STATE) {
		on = flight_control_state(&f.controls);
		if (on >= 0) {
			f.on = on;
			record(on);
			forget_names();
		}
		flight_control_tell(&f.controls, f.on);
	}
	if (asked & ASKED_RESET) {
		ctl_write(f.dir, "trace", "", CTL_TRUNCATE);
		f.dumps.cut = 0;
		flight_take_forget(&f.take);
		forget_names();
	}
}

static unsigned long long dropped(void)
{
	return instance_lost(f.dir) + f.dumps.cut;
}

static void handle_signals(void)
{
	struct signalfd_siginfo si;

	while (read(f.signals, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo == SIGUSR1)
			f.dump = 1;
		else if (si.ssi_signo == SIGIO)
			flight_control_answer(&f.controls, dropped());
		else
			f.stopping = 1;
}

/* How often to save new names, which a reader needs after a crash, in ms. */
#define SAVE_MS 10000

/* With -P, save new names if it is time. Return how long to wait at most, in ms; -1: no limit. */
static int patience(void)
{
	long long now = time_now_ms();
	int ms;

	if (f.persists && now >= f.save_at) {
		persist_update(&f.persist);
		f.save_at = now + SAVE_MS;
	}
	ms = flight_budget_wait(&f.budget);
	if (f.persists && (ms < 0 || ms > f.save_at - now))
		ms = (int)(f.save_at - now);
	return f.controls.tries ? 1 : flight_slow_wait(&f.slow, ms);
}

/* Make dumps until a signal stops the program. */
static void wait_and_dump(void)
{
	struct pollfd p[] = { { .fd = f.signals, .events = POLLIN },
			      { .fd = f.controls.notify, .events = POLLIN },
			      { .fd = f.trigger.pipe, .events = POLLIN } };

	while (!f.stopping) {
		uint64_t time = 0;

		if (poll(p, 3, patience()) < 0)
			continue;
		flight_budget_look(&f.budget);
		if (p[1].revents)
			handle_controls();
		flight_control_lease(&f.controls);
		if (p[0].revents)
			handle_signals();
		if (p[2].revents)
			time = flight_trigger_take(&f.trigger, f.take.end);
		if (f.dump || time)
			dump(time, 0);
		dump_slow(0);
	}
}

/* ---- the beginning ------------------------------------------------------- */

static int open_all(const char *root, const char *instance)
{
	int top = f.top = tracefs_open(root, "", NULL), odd;

	f.dir = top < 0 ? -1 : tracefs_open(root, instance, NULL);
	if (f.dir < 0 || read_date() < 0 || flight_take_open(&f.take, f.dir) < 0)
		return -1;
	if (flight_dumps_begin(&f.dumps, f.take.live.ncpus) < 0)
		return -1;
	if (f.raw) {
		f.head.dir = f.dir;
		f.head.root = top;
		if (dat_begin(&f.head) < 0)
			return -1;
		/* names in a trace.dat are looked up, so it does not need these events */
		if (f.show.hide_names)
			names_events_disable(f.dir, NAMING);
	} else {
		odd = live_kernel_open(&f.kernel, f.dir, top);
		if (f.kernel.failed)
			return err_msg("out of memory");
		if (odd && !f.show.json)
			return err_msg("unable to select or format events: current_tracer is not "
				       "nop, or trace_options change lines; reset them");
		live_names_begin(&f.kernel, f.show.hide_names ? NAMING : 0);
	}
	if (f.persists && (persist_open(&f.persist) < 0 ||
			    persist_save_head(&f.persist, f.dir, top) < 0))
		return -1;
	if ((f.back || f.slow.us) && !trace_clock_now(f.dir))
		return err_msg("%s is not possible: this trace_clock does not count time; "
			       "choose another", f.back ? "-b" : "-S");
	f.on = file_begins(f.dir, "tracing_on", '1');
	if (flight_trigger_open(&f.trigger, top, f.dir,
				instance ? instance : getenv("TFS_INSTANCE")) < 0 ||
	    flight_slow_open(&f.slow, top, f.dir, instance) < 0)
		return -1;
	if (!f.locked &&
	    flight_control_make(&f.controls, f.dumps.dir, f.dumps.path, f.on) < 0)
		return -1;
	f.budget.cost.dir = f.dir;
	f.budget.cost.live = &f.take.live;
	f.budget.trigger = &f.trigger;
	f.budget.controls = &f.controls;
	f.budget.dumps = &f.dumps;
	return flight_budget_begin(&f.budget, top, instance);
}

/*
 * Give up all rights but those for the dumps, control files and instances, which
 * tfs-flight opens until the end. -F needs CAP_SYS_PTRACE for the exit codes of other
 * users' processes. `dropped` needs CAP_LEASE on a file system that maps the owner of new
 * files to another user. The budget needs CAP_SYS_NICE to hurry.
 */
static void give_up_rights(void)
{
	const int files[] = { f.dir, f.top, f.dumps.dir, f.persists ? f.persist.dir : -1,
			      f.dumps.out == STDOUT_FILENO ? -1 : f.dumps.out,
			      f.trigger.beside.made ? f.trigger.beside.instances : -1,
			      f.slow.beside.made ? f.slow.beside.instances : -1 };

	confine_paths(CAPS_SYSLOG | CAPS_SYS_PTRACE | (f.locked ? 0 : CAPS_LEASE) |
		      (f.budget.ppm ? CAPS_SYS_NICE : 0), files,
		      sizeof(files) / sizeof(*files));
}

static void report_ready(void)
{
	if (!f.ready)
		return;
	if (write((int)f.ready, "\n", 1) < 0)
		err_note("unable to write to the file descriptor of -d: %s", strerror(errno));
	close((int)f.ready);
}

static void take_option(void)
{
	if (!strcmp(opt_last.name, "dump-fail")) {
		if (pids_option(&tool, opt_value, 0, &f.watched) < 0)
			exit(REFUSED);
	} else if (!strcmp(opt_last.name, "size")) {
		f.dumps.most = KB_BYTES(opt_number());
	} else if (!strcmp(opt_last.name, "budget")) {
		if (flight_budget_parse(&f.budget, opt_value) < 0)
			opt_refuse(&tool, "a percentage from 0.01 to 50");
	} else if (show_option(&f.show, &tool) < 0) {
		exit(REFUSED);
	}
}

/* Remove what open_all has made, even if it failed halfway. */
static void close_all(void)
{
	flight_budget_end(&f.budget);
	flight_control_remove(&f.controls);
	flight_trigger_close(&f.trigger);
	flight_slow_close(&f.slow);
	if (!f.raw)
		live_names_end(&f.kernel);
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGIO, 0 };
	int r;

	f.dumps.keep = 10;
	f.controls.notify = -1;
	f.trigger.events.v = f.slow.calls.v = OPT_LIST(NULL);
	while (opt_next(&tool, argc, argv) != -1)
		take_option();
	for (const char **t = f.trigger.events.v; *t; t++)
		if (!strchr(*t, ':') || strchr(*t, '/'))
			usage_error(&tool, "not SYSTEM:EVENT: '%.80s'", *t);
	if (argv[opt_index])
		opt_end(&tool, argv[opt_index + 1]);
	if (f.raw && f.show.asked)
		usage_error(&tool, "-j and -H are for text, and -r makes none; leave one out");
	if (f.trigger.filter && !f.trigger.events.n)
		usage_error(&tool, "-f needs -t");
	if (f.slow.calls.n && !f.slow.us)
		usage_error(&tool, "-C needs -S");
	instance_require(&tool, opt_root, opt_instance);

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* handle a limit on file sizes like a full disk */
	f.signals = wait_signals(signals);
	/* open the FIFO for reading as well, so that it keeps the text until a reader comes */
	f.dumps.out = reader_reopen(&tool, O_RDWR, f.dumps.packets);
	if (f.dumps.out < 0 ||
	    flight_dumps_open(&f.dumps, argv[opt_index] ? argv[opt_index] : ".") < 0)
		return REFUSED;
	r = open_all(opt_root, opt_instance);
	if (!r) {
		give_up_rights();
		report_ready();
		wait_and_dump();
		f.dumps.failed = 0;
		end();
		if (f.persists)
			persist_forget(&f.persist);
	}
	close_all();
	return r < 0 || f.dumps.failed ? REFUSED : DONE;
}
