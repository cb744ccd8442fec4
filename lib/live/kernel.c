/* SPDX-License-Identifier: ISC */
/* kernel.c - formats, options, symbols and names of this machine's kernel */
#include <sys/utsname.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"

/* Options of trace_options that make the kernel print events in another way than the decoder. */
static const char odd[] =
	"raw\0hex\0bin\0verbose\0fields\0latency-format\0nocontext-info\0noprint-parent\0"
	"printk-msg-only\0sym-offset\0sym-addr\0sym-userobj\0func-args\0blk_cgname\0"
	"blk_classic\0";

/* Does the current clock, in brackets, count something else than nanoseconds? */
static int clock_is_raw(const char *clocks)
{
	const char *open = strchr(clocks, '[');
	char name[32];

	if (!open)
		return 0;
	str_format(name, sizeof(name), "%.*s", (int)strcspn(open + 1, "]"), open + 1);
	return line_clock_counts(name);
}

/* Names of dead tasks are dropped every so many calls of live_kernel_refresh. */
#define PRUNE 20

/* Does the text have the word between spaces or newlines? */
static int has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || strchr(" \n", p[-1])) && (!p[n] || strchr(" \n", p[n])))
			return 1;
	return 0;
}

/* Add the event from its format file. Return it, or NULL if there is none. */
static struct event *add_format(struct live_kernel *k, const char *system, const char *name)
{
	struct event *e = NULL;
	char path[600], *text;
	size_t len;

	if (str_format(path, sizeof(path), "events/%s/%s/format", system, name) >= sizeof(path))
		return NULL;
	errno = 0;
	text = file_read(k->dir, path, &len);
	if (text)
		e = event_add(&k->events, system, text, len);
	k->failed |= !e && errno == ENOMEM;
	free(text);
	return e;
}

/* Add the enabled events, if set_event changed since it was last read. */
static void add_enabled(struct live_kernel *k)
{
	char *list = file_read(k->dir, "set_event", NULL), *at = list;
	const char *system, *event;

	if (!list || (k->enabled && !strcmp(list, k->enabled))) {
		k->failed |= !list && errno == ENOMEM;
		free(list);
		return;
	}
	free(k->enabled);
	k->enabled = strdup(list);
	k->scanned = 0;
	while (events_next(&at, &system, &event))
		add_format(k, system, event);
	free(list);
}

/* Add all events of a system, or with NULL of all systems. */
static void add_system(struct live_kernel *k, const char *system)
{
	char path[300];
	const char *name;
	DIR *d;

	str_format(path, sizeof(path), "events%s%s", system ? "/" : "", system ? system : "");
	d = file_list(k->dir, path);
	while ((name = file_next(d)))
		if (system)
			add_format(k, system, name);
		else /* a file in events/ cannot be opened as a directory, and is skipped */
			add_system(k, name);
}

/* Add the unknown event of a record (event_set.missing). */
static void learn_format(void *kernel, const struct record *r)
{
	struct live_kernel *k = kernel;

	add_enabled(k);
	if (event_of(&k->events, r))
		return;
	/* the event is disabled again: read all formats, but once, because there are thousands */
	if (!k->scanned)
		add_system(k, NULL);
	k->scanned = 1;
}

/* ---- names of tasks ---- */

/* A task of the decoder's table of names, and how its name is known. */
struct named {
	struct comm comm;
	uint32_t asked;         /* live_kernel's round at the last search for the name */
	uint32_t tgid_asked;    /* round when procfs gave the tgid */
	uint32_t event;         /* line_format's losses plus 1 when an event named it; 0: none */
};

/* Return the task; make it if it is not known. NULL: no memory. */
static struct named *task_at(struct live_kernel *k, pid_t pid)
{
	return (struct named *)comms_entry(&k->events.comms, pid);
}

/* May the known tgid be that of an older task, because procfs did not give it in this round? */
static int wants_tgid(void *kernel, struct comm *c)
{
	const struct live_kernel *k = kernel;

	return ((struct named *)c)->tgid_asked != k->round;
}

/*
 * Look up the thread group of a task, first in procfs. The kernel saves a tgid when the task
 * leaves the CPU. Before that, saved_tgids has no tgid, or that of an older task with this pid.
 */
static void learn_tgid(struct live_kernel *k, pid_t pid)
{
	struct named *t;
	size_t len;
	char *text;
	pid_t tgid;
	uid_t uid;

	if (k->procfs && !task_ids(pid, &tgid, &uid)) {
		t = task_at(k, pid);
		if (t) {
			t->comm.tgid = tgid;
			t->tgid_asked = k->round;
		}
		return;
	}
	if (k->tgids == k->round)
		return;
	k->tgids = k->round;
	text = file_read(k->root, "saved_tgids", &len);
	if (text)
		comms_parse_tgids(&k->events.comms, text, len, wants_tgid, k);
	free(text);
}

/* Add the names of saved_cmdlines. */
static void read_saved(struct live_kernel *k)
{
	size_t len;
	char *text = file_read(k->root, "saved_cmdlines", &len);

	if (text)
		comms_parse(&k->events.comms, text, len);
	free(text);
}

/* Look up the name of a task before it is printed (line_format.learn_name). */
static void learn_name(void *kernel, int pid)
{
	struct live_kernel *k = kernel;
	struct comms *comms = &k->events.comms;
	struct named *n = pid > 0 ? task_at(k, pid) : NULL;
	struct task t;

	if (!n)
		return;
	if (k->line.tgid && n->tgid_asked != k->round)
		learn_tgid(k, pid);
	if (n->asked == k->round || n->event == k->line.losses + 1)
		return;
	n->asked = k->round;
	if (k->procfs && !task_read(pid, &t))
		names_add_task(comms, &t);
	else if (!*n->comm.name) /* a dead task keeps the name that is known */
		read_saved(k);
}

/* Note that an event has named a task (line_format.learned_name). */
static void learned_name(void *kernel, struct comm *task)
{
	struct live_kernel *k = kernel;
	struct named *n = (struct named *)task;

	n->event = k->follows ? k->line.losses + 1 : 0;
	n->asked = k->round;
}

void live_names_prepare(struct live_kernel *k)
{
	k->events.comms.size = sizeof(struct named);
	k->line = (struct line_format){ .events = &k->events, .learn_name = learn_name,
					.learned_name = learned_name, .arg = k };
}

/* ---- the interface ---- */

int live_kernel_open(struct live_kernel *k, int dir, int root)
{
	char *tracer = (errno = 0, file_read(dir, "current_tracer", NULL));
	char *options = file_read(dir, "trace_options", NULL);
	char *clock = file_read(dir, "trace_clock", NULL);
	int known = tracer && (!strcmp(tracer, "nop\n") || !strcmp(tracer, "function\n"));
	struct utsname un;
	char *text;
	size_t len;

	*k = (struct live_kernel){
		.dir = dir,
		.root = root,
		.round = 1,
		.procfs = procfs_shows_initial(),
		.events = {
			.long_size = sizeof(long),
			.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
			.load_symbols = symbols_load,
			.missing = learn_format,
			.arg = k,
		},
	};
	live_names_prepare(k);
	if (!uname(&un))
		k->events.version = kernel_version(un.release);
	for (const char *word = odd; options && *word; word += strlen(word) + 1)
		if (has_word(options, word))
			known = 0;
	if (options) {
		k->events.bitmask_list = has_word(options, "bitmask-list");
		k->line.no_irq_info = has_word(options, "noirq-info");
		k->line.tgid = has_word(options, "record-tgid");
	}
	if (clock)
		k->line.raw_clock = clock_is_raw(clock);
	k->failed = (!tracer || !options || !clock) && errno == ENOMEM;
	free(tracer);
	free(options);
	free(clock);
	add_system(k, "ftrace");
	add_enabled(k);
	if (getenv(SESSION_RINGS))
		k->failed |= rings_formats(&k->events) < 0;
	text = file_read(root, "printk_formats", &len);
	if (text)
		events_strings(&k->events, text, len);
	free(text);
	return !known;
}

/*
 * Keep a name in comms_prune? The ring buffer may still have events of a dead task: drop its
 * name PRUNE calls of live_kernel_refresh after it was last seen.
 */
static int is_wanted(void *kernel, struct comm *c)
{
	struct live_kernel *k = kernel;
	struct named *n = (struct named *)c;

	if (task_alive(c->pid)) {
		k->living++;
		return 1;
	}
	if (n->event) {
		n->event = 0;
		n->asked = k->round;
	}
	return k->round - n->asked < PRUNE;
}

void live_kernel_refresh(struct live_kernel *k)
{
	struct comms *comms = &k->events.comms;

	k->round++;
	line_changed(&k->line);
	if (k->round % PRUNE || comms->n < 2 * k->living + 4096)
		return;
	k->living = k->procfs ? 0 : comms->n;
	if (k->procfs)
		comms_prune(comms, is_wanted, k);
}

void live_names_begin(struct live_kernel *k, unsigned which)
{
	struct comms *comms = &k->events.comms;

	if (which)
		k->own = names_events_enable(k->dir, which);
	add_format(k, "ftrace", "kernel_stack");
	add_format(k, "ftrace", "user_stack");
	if (names_events_enabled(k->dir) != NAMING || !add_format(k, "task", "task_newtask") ||
	    !add_format(k, "task", "task_rename"))
		return;
	k->follows = 1;
	names_from_instance(comms, k->dir);
	for (size_t i = 0; i < comms->room; i++)
		if (comms->v[i])
			((struct named *)comms->v[i])->event = k->line.losses + 1;
}

void live_names_end(struct live_kernel *k)
{
	names_events_disable(k->dir, k->own);
}

struct symbols *symbols_load(void *unused)
{
	size_t len;
	char *text = file_read(AT_FDCWD, "/proc/kallsyms", &len);

	(void)unused;
	return text ? symbols_parse(text, len) : NULL;
}
