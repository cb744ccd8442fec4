/* SPDX-License-Identifier: ISC */
/*
 * tfs-flight - dump the last of an instance's trace when something happens
 *
 * Requires: tracefs; no other reader of the instance's buffer; inotify, leases.
 *	-b MS        a dump goes back so many milliseconds; default: all there is
 *	-t EVENT     SYSTEM:EVENT, of a task that the instance traces, makes a dump;
 *	             may be repeated; SIGUSR1 always does
 *	-f FILTER    only where this holds
 *	-e           the end makes a dump, too
 *	-F PID,...   the end makes a dump, too, if this process has failed: its parent has
 *	             not waited for it yet, and its status is not 0; may be repeated
 *	-E           what was recorded since the last dump is written to standard output
 *	             at the end, as text; if nobody reads that, or with -r or -p, as -e,
 *	             but for no dump without events
 *	-r           dumps are trace.dat files; otherwise text
 *	-p           a file for each processor that has events
 *	-c COUNT     keep the COUNT newest; default 10
 *	-s KB        of a text keep the newest KB kilobytes
 *	-L           no control files
 *	-n           record how tasks get their names, too, and do not print that
 *	-j, -H       text: lines of JSON; the comment lines of `trace` first
 *	-l           one line a packet on standard output, a FIFO
 *	-d FD        write a newline to FD and close it once all is ready
 *	-R ROOT      take ROOT for the tracefs root, unchecked
 *	-i INSTANCE  the trace of this instance; default $TFS_INSTANCE
 * The buffer overwrites what is old and nobody reads it until then. A dump stops
 * the recording, takes what the buffer holds into DIR/dump.1, dump.2 and so on
 * (dump.1.cpu0 ...), which are there when they are complete, prints their paths,
 * a line each, and goes on. DIR, default ".", has three more files: `state` says
 * start or stop, and does what is written to it; reading `dropped` tells how many
 * events were lost; writing `reset` clears the buffer, and dropped.
 * Exit: 0 stopped by HUP INT TERM, 100 misused, 111 refused.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "tracedat/tracedat.h"
#include "view/view.h"
#include "flight/flight.h"

static const struct tool tool = {
	.name = "tfs-flight",
	.usage = "tfs-flight [-rpeELnjHl] [-b MS] [-t EVENT]... [-f FILTER] [-F PID,...]... "
		 "[-c COUNT] [-s KB] [-d FD] [-R ROOT] [-i INSTANCE] [DIR]",
	.purpose = "dump the last of an instance's trace when something happens",
	.letters = "rpeELnjHlb:t:f:F:c:s:d:R:i:",
};

struct flight {
	int dir, top;           /* the instance, and tracefs itself */
	struct live_kernel kernel;
	struct live live;
	struct show show;
	struct dat_head head;
	struct flight_dumps dumps;
	struct flight_trigger trigger;
	struct flight_control controls;

	int raw, locked;
	unsigned long back;     /* ms; 0: all */
	int signals;
	int on, dump, stopping;
	/* what the end does: -e, -E, and -F with these processes */
	int end_dumps, end_writes;
	struct pids watched;
};

static int record(struct flight *f, int on)
{
	return ctl_write(f->dir, "tracing_on", on ? "1" : "0", 0);
}

/* By the clock of the trace, in ns. */
static uint64_t trace_now(const struct flight *f)
{
	char *text = file_read(f->dir, "per_cpu/cpu0/stats", NULL);
	const char *p = text ? strstr(text, "now ts:") : NULL;
	uint64_t now = 0;

	if (p) {
		p += strcspn(p, "0123456789");
		now = text_digits(&p) * 1000000000;
		if (*p++ == '.')
			now += text_digits(&p) * 1000;
		else /* of a clock that counts something else */
			now = 0;
	}
	free(text);
	return now;
}

/* The time at which a dump of this moment begins; moment 0: now. 0: with all there is. */
static uint64_t begin_of(const struct flight *f, uint64_t moment)
{
	uint64_t back = (uint64_t)f->back * 1000000;

	if (!moment)
		moment = trace_now(f);
	return back && moment > back ? moment - back : 0;
}

/* Nothing is recorded meanwhile: what the buffer holds ends at one moment. */
static void dump(struct flight *f, uint64_t moment)
{
	f->dump = 0;
	record(f, 0);
	moment = begin_of(f, moment);
	if (f->raw)
		flight_dump_raw(&f->dumps, &f->live, &f->head, moment);
	else
		flight_dump_text(&f->dumps, &f->live, &f->kernel, &f->show, moment);
	flight_trigger_take(&f->trigger);
	if (f->on)
		record(f, 1);
}

/*
 * Has the process ended with another status than 0, by a signal for example? Only as
 * long as it is a zombie: proc(5), of which exit_code is the last field.
 */
static int has_failed(pid_t pid)
{
	char path[PATH_MAX], *text, *state, *code;
	int failed = 0;

	str_format(path, sizeof(path), "%s/%d/stat", path_procfs(), (int)pid);
	text = file_read(AT_FDCWD, path, NULL);
	state = text ? strrchr(text, ')') : NULL;
	if (state && !strncmp(state, ") Z", 3)) {
		state[strcspn(state, "\n")] = '\0';
		code = strrchr(state, ' ');
		failed = strcmp(code, " 0") != 0;
	}
	free(text);
	return failed;
}

static int is_on(const struct flight *f)
{
	char *text = file_read(f->dir, "tracing_on", NULL);
	int on = text && *text == '1';

	free(text);
	return on;
}

/* The last dump; whoever stops us may have stopped the recording before. */
static void end(struct flight *f)
{
	int wanted = f->end_dumps;

	for (size_t i = 0; i < f->watched.n; i++)
		wanted |= has_failed(f->watched.v[i]);
	f->on = is_on(f);
	if (wanted) {
		dump(f, 0);
	} else if (f->end_writes) {
		f->dumps.skip_empty = 1;
		record(f, 0);
		if (f->raw || f->dumps.per_cpu ||
		    !flight_dump_out(&f->dumps, &f->live, &f->kernel, &f->show, begin_of(f, 0)))
			dump(f, 0);
		else if (f->on)
			record(f, 1);
	}
}

/* ---- waiting ------------------------------------------------------------- */

/* What state says otherwise than with its two words is put right. */
static void obey(struct flight *f)
{
	int asked = flight_control_asked(&f->controls), on;

	if (asked & ASKED_STATE) {
		on = flight_control_state(&f->controls);
		if (on >= 0) {
			f->on = on;
			record(f, on);
		}
		flight_control_tell(&f->controls, f->on);
	}
	if (asked & ASKED_RESET) {
		ctl_write(f->dir, "trace", "", CTL_TRUNCATE);
		f->dumps.cut = 0;
		f->kernel.line.told += f->kernel.line.told != 0;
	}
}

static unsigned long long dropped(const struct flight *f)
{
	return instance_buffer_count(f->dir, "overrun: ") + instance_buffer_count(f->dir, "commit overrun: ") +
	       instance_buffer_count(f->dir, "dropped events: ") + f->dumps.cut;
}

static void hear(struct flight *f)
{
	struct signalfd_siginfo si;

	while (read(f->signals, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo == SIGUSR1)
			f->dump = 1;
		else if (si.ssi_signo == SIGIO)
			flight_control_answer(&f->controls, dropped(f));
		else
			f->stopping = 1;
}

static void fly(struct flight *f)
{
	struct pollfd p[] = { { .fd = f->signals, .events = POLLIN },
			      { .fd = f->controls.notify, .events = POLLIN },
			      { .fd = f->trigger.pipe, .events = POLLIN } };

	while (!f->stopping) {
		uint64_t moment = 0;

		if (poll(p, 3, f->controls.tries ? 1 : -1) < 0)
			continue;
		if (p[1].revents)
			obey(f);
		flight_control_lease(&f->controls);
		if (p[0].revents)
			hear(f);
		if (p[2].revents)
			moment = flight_trigger_take(&f->trigger);
		if (f->dump || moment)
			dump(f, moment);
	}
}

/* ---- the beginning ------------------------------------------------------- */

static int hold_signals(void)
{
	static const int those[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGIO };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++)
		sigaddset(&set, those[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_all(struct flight *f, const char *root, const char *instance)
{
	int top = f->top = tracefs_open(root, "", NULL), odd;

	f->dir = top < 0 ? -1 : tracefs_open(root, instance, NULL);
	if (f->dir < 0 || live_open(&f->live, f->dir) < 0)
		return -1;
	if (flight_dumps_begin(&f->dumps, f->live.ncpus) < 0)
		return -1;
	if (f->raw) {
		f->head.dir = f->dir;
		f->head.root = top;
		if (dat_begin(&f->head) < 0)
			return -1;
		/* whose names are wanted is looked up; a reader is not to see these events */
		if (f->show.hide_names)
			names_events_disable(f->dir, NAMING);
	} else {
		odd = live_kernel_open(&f->kernel, f->dir, top);
		if (f->kernel.failed)
			return err_msg("out of memory");
		if (odd && !f->show.json)
			return err_msg("unable to show events otherwise than the kernel does: "
				       "current_tracer is not nop, or an option in trace_options "
				       "changes lines");
		live_names_begin(&f->kernel, f->show.hide_names);
	}
	if (f->back && !trace_now(f))
		return err_msg("unable to tell the time by this trace_clock, for -b");
	f->on = is_on(f);
	if (flight_trigger_open(&f->trigger, top, f->dir,
				instance ? instance : getenv("TFS_INSTANCE")) < 0)
		return -1;
	return f->locked ? 0 : flight_control_make(&f->controls, f->dumps.dir, f->dumps.path, f->on);
}

/*
 * We open dumps, control files and instances until the end. With CAP_SYS_PTRACE we can
 * read how processes of other users ended (-F). CAP_LEASE is needed where the file system
 * says that another user owns the files that we make.
 */
static void give_up_rights(struct flight *f)
{
	const int files[] = { f->dir, f->top, f->dumps.dir,
			      f->dumps.out == STDOUT_FILENO ? -1 : f->dumps.out,
			      f->trigger.made ? f->trigger.instances : -1 };

	confine_paths(CAPS_SYSLOG | CAPS_SYS_PTRACE | (f->locked ? 0 : CAPS_LEASE), files,
		      sizeof(files) / sizeof(*files));
}

static void ready(unsigned long fd)
{
	if (write((int)fd, "\n", 1) < 0)
		err_note("nobody wants to know that it is ready");
	close((int)fd);
}

int main(int argc, char **argv)
{
	static struct flight f; /* large */
	const char *root = NULL, *instance = NULL;
	unsigned long kb, fd = 0;
	int c, r;

	f.dumps.keep = 10;
	f.controls.notify = -1;
	f.trigger.events = calloc((size_t)argc, sizeof(*f.trigger.events));
	if (!f.trigger.events)
		err_exit(REFUSED, "out of memory");
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'r':
			f.raw = 1;
			break;
		case 'p':
			f.dumps.per_cpu = 1;
			break;
		case 'e':
			f.end_dumps = 1;
			break;
		case 'E':
			f.end_writes = 1;
			break;
		case 'L':
			f.locked = 1;
			break;
		case 'n':
			f.show.hide_names = 1;
			break;
		case 'l':
			f.dumps.packets = 1;
			break;
		case 'b':
			if (text_number(opt_value, 1, INT_MAX, &f.back) < 0)
				usage_error(&tool, "not a number of milliseconds: '%.80s'",
					    opt_value);
			break;
		case 't':
			if (!strchr(opt_value, ':') || strchr(opt_value, '/'))
				usage_error(&tool, "not SYSTEM:EVENT: '%.80s'", opt_value);
			f.trigger.events[f.trigger.n++] = opt_value;
			break;
		case 'f':
			f.trigger.filter = opt_value;
			break;
		case 'F':
			pids_option(&tool, opt_value, 0, &f.watched);
			break;
		case 'c':
			if (text_number(opt_value, 1, 100000, &f.dumps.keep) < 0)
				usage_error(&tool, "not a number of dumps from 1 to 100000: '%.80s'",
					    opt_value);
			break;
		case 's':
			if (text_number(opt_value, 1, KB_MAX, &kb) < 0)
				usage_error(&tool, "not a number of kilobytes: '%.80s'", opt_value);
			f.dumps.most = KB_BYTES(kb);
			break;
		case 'd':
			if (text_number(opt_value, 3, INT_MAX, &fd) < 0)
				usage_error(&tool, "not a descriptor from 3 on: '%.80s'", opt_value);
			break;
		case 'R':
			root = opt_value;
			break;
		case 'i':
			instance = opt_value;
			break;
		default:
			show_option(&f.show, &tool, c);
		}
	if (argv[opt_index] && argv[opt_index + 1])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index + 1]);
	if (f.raw && f.show.asked)
		usage_error(&tool, "-j and -H are for text, and -r makes none");
	if (f.trigger.filter && !f.trigger.n)
		usage_error(&tool, "-f is for what -t names");
	instance_require(&tool, root, instance);

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on sizes is a full disk */
	f.signals = hold_signals();
	/* to read as well: what is written stays until a reader comes, who hears when we end */
	f.dumps.out = stdout_reopen(&tool, O_RDWR, f.dumps.packets);
	if (flight_dumps_open(&f.dumps, argv[opt_index] ? argv[opt_index] : ".") < 0)
		return REFUSED;
	r = open_all(&f, root, instance);
	if (!r) {
		give_up_rights(&f);
		if (fd)
			ready(fd);
		fly(&f);
		end(&f);
	}
	flight_control_remove(&f.controls);
	flight_trigger_close(&f.trigger);
	if (!f.raw)
		live_names_end(&f.kernel);
	return r < 0 ? REFUSED : DONE;
}
