/* SPDX-License-Identifier: ISC */
/* request.c - parse and check the options that the caller gave; make nothing */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "persist/persist.h"
#include "session/session.h"

const char request_common_options[] =
	"# option: -p, --pid PID...  trace these tasks, their threads and descendants\n"
	"# option: --parent PID...  trace the descendants of these tasks, "
	"not the tasks themselves\n"
	"# option: --cgroup TEXT...  tasks of a cgroup, those that enter it later too: "
	"its path, name, or a pid in it\n"
	"# option: --container ID...  tasks of a container: the first digits of its id\n"
	"# option: --pidns PID...  tasks in the pid namespace of this one\n"
	"# option: --uid UID...  tasks of this user, by number or name\n"
	"# option: --comm TEXT...  tasks of this name\n"
	"# option: --all  every task except those of the session\n"
	"# option: -i, --instance NAME  the session's name; the instance is tfs.NAME\n"
	"# option: -t, --time MS  end after this many milliseconds, or a time such as 5s\n"
	"# option: --output lines|fifo|file|dat  one line per read (default), whole blocks, "
	"or a file that stays: text or trace.dat\n"
	"# option: --json  print each event as a JSON object in a line of its own\n"
	"# option: --header  begin with the lines by which Perfetto and Chrome recognize a trace\n"
	"# option: --date  begin with the date, for times of day; with --json one in each event\n"
	"# option: --size KB  maximum size of a file, such as 64M, default 65536\n"
	"# option: --buffer KB  size of each processor's ring buffer, such as 8M\n"
	"# option: --clock NAME  trace clock, one of trace_clock\n";

/* ---- values ------------------------------------------------------------------------ */

static int is_choice(const char *choices, const char *s)
{
	size_t n = strlen(s), m;

	for (; n && *choices; choices += m + (choices[m] == '|')) {
		m = strcspn(choices, "|");
		if (m == n && !strncmp(choices, s, n))
			return 1;
	}
	return 0;
}

static const struct text_unit ms_units[] = {
	{ "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "", 0 },
};

static const struct text_unit us_units[] = {
	{ "", 1 }, { "us", 1 }, { "ms", 1000 }, { "s", 1000000 }, { "", 0 },
};

static const struct text_unit kb_units[] = {
	{ "", 1 }, { "K", 1 }, { "k", 1 }, { "M", 1024 }, { "m", 1024 }, { "G", 1048576 },
	{ "g", 1048576 }, { "", 0 },
};

/* Return the number as an allocated text, or NULL, reported. */
static const char *number_text(unsigned long n)
{
	char *s = malloc(24);

	if (s)
		str_format(s, 24, "%lu", n);
	else
		err_msg("out of memory");
	return s;
}

/* Return the number of the user or the port with this name, or NULL, reported. */
static const char *named_number(const struct hook_option *o, const char *name)
{
	struct suggest near = { .word = name };
	int user = o->type == TYPE_UID, r;
	unsigned long n;

	r = user ? names_user(name, &n, &near) : names_port(name, &n, &near);
	if (!r)
		return number_text(n);
	if (r < 0 && user)
		err_errno("--%s: unable to look up user '%.80s' in /etc/passwd, give the number",
			  o->name, name);
	else if (r < 0)
		err_errno("--%s: unable to look up port '%.80s' in /etc/services, give the number",
			  o->name, name);
	else if (near.n)
		err_msg("--%s: no %s '%.80s' in %s; did you mean %s?", o->name,
			user ? "user" : "port", name, user ? "/etc/passwd" : "/etc/services",
			suggest_list(&near));
	else if (user)
		err_msg("--%s: no user '%.80s' in /etc/passwd; give the number, as id -u prints "
			"it", o->name, name);
	else
		err_msg("--%s: no port '%.80s' in /etc/services; give the number", o->name, name);
	return NULL;
}

/* Return the name if it is a disk of this machine, or NULL, reported. */
static const char *check_disk(const struct hook_option *o, const char *name)
{
	struct suggest near = { .word = name };
	char disks[PATH_MAX], file[PATH_MAX], **names;

	str_format(disks, sizeof(disks), "%s/class/block", path_sysfs());
	str_format(file, sizeof(file), "%s/%s/partition", disks, name);
	if (file_exists(AT_FDCWD, file)) {
		err_msg("--%s: %s is a partition; give its disk", o->name, name);
		return NULL;
	}
	*strrchr(file, '/') = '\0';
	if (file_exists(AT_FDCWD, file))
		return name;
	names = file_names(disks);
	for (char **disk = names; disk && *disk; disk++) {
		str_format(file, sizeof(file), "%s/%s/partition", disks, *disk);
		if (!file_exists(AT_FDCWD, file))
			suggest_offer(&near, *disk);
	}
	if (near.n)
		err_msg("--%s: no disk '%s' in %s; did you mean %s?", o->name, name, disks,
			suggest_list(&near));
	else
		err_msg("--%s: no disk '%s' in %s; give one of the names there", o->name, name,
			disks);
	free(names);
	return NULL;
}

/*
 * Return the number of smallest units in a time or size, as an allocated text, or NULL,
 * reported. The number must be at least low and, unless low is 0, at most INT_MAX.
 */
static const char *check_quantity(const struct hook_option *o, const char *s,
				  const struct text_unit *units, unsigned long low,
				  const char *what, const char *unit, const char *examples)
{
	unsigned long high = low ? INT_MAX : ULONG_MAX, n;

	if (!text_quantity(s, units, low, high, &n))
		return s[strspn(s, "0123456789")] ? number_text(n) : s;
	if (*s && (!s[strspn(s, "0123456789")] || !text_quantity(s, units, 0, ULONG_MAX, &n)))
		err_msg("--%s: '%.80s' is not from %lu to %lu %s; give %s such as %s", o->name, s,
			low, high, unit, what, examples);
	else
		err_msg("--%s: '%.80s' is not %s such as 500 (%s), %s", o->name, s, what, unit,
			examples);
	return NULL;
}

/*
 * Check a value. Return the value as the hook gets it: a number without a unit, or the number
 * of a name. Return NULL, reported, if the option cannot have the value.
 */
static const char *check_value(const struct hook_option *o, const char *s)
{
	const char *what = "";
	unsigned long n;

	switch (o->type) {
	case TYPE_FLAG:
		err_msg("--%s takes no value; leave '%.80s' out", o->name, s);
		return NULL;
	case TYPE_NAME:
		if (text_is_name(s))
			return s;
		what = "a name: letters, digits, _ . - and 64 of them at most";
		break;
	case TYPE_PID:
		if (text_pid(s))
			return s; /* drop_dead checks that it is alive */
		if (!strcmp(o->name, "pid") && *s >= 'a' && *s <= 'z') {
			err_msg("--pid: '%.80s' is not a pid; --comm selects tasks by name", s);
			return NULL;
		}
		what = "a pid";
		break;
	case TYPE_NUMBER:
		if (!text_number(s, o->least, o->most, &n))
			return s;
		if (o->most != ULONG_MAX) {
			err_msg("--%s: '%.80s' is not a number from %lu to %lu", o->name, s,
				o->least, o->most);
			return NULL;
		}
		what = "a number";
		break;
	case TYPE_MS:
		return check_quantity(o, s, ms_units, 1, "a time", "milliseconds",
				      "500ms, 5s, 2m or 1h");
	case TYPE_US:
		return check_quantity(o, s, us_units, 0, "a time", "microseconds",
				      "500us, 10ms or 1s");
	case TYPE_KB:
		return check_quantity(o, s, kb_units, 1, "a size", "kilobytes", "64M or 1G");
	case TYPE_UID:
		if (!text_number(s, 0, UINT_MAX, &n))
			return s;
		if (text_is_name(s) && (*s < '0' || *s > '9'))
			return named_number(o, s);
		what = "the name or the number of a user";
		break;
	case TYPE_PORT:
		if (!text_number(s, 0, 65535, &n))
			return s;
		if (text_is_name(s) && s[strspn(s, "0123456789")])
			return named_number(o, s);
		what = "the name or the number of a port";
		break;
	case TYPE_SYSCALL:
		n = (unsigned long)(*s == '!');
		n += s[n] == '%';
		n += strspn(s + n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789_.-*?[]!");
		if (n && n <= 64 && !s[n] && *s != '.' && *s != '-')
			return s;
		what = "a system call, a glob such as open*, or a class such as file";
		break;
	case TYPE_ERROR:
		if (error_of_name(s, strlen(s)))
			return s;
		what = "the name of an error, such as ENOENT";
		break;
	case TYPE_ID:
		n = strspn(s, "0123456789abcdef");
		if (n >= 4 && n <= CONTAINER_ID && !s[n])
			return s;
		what = "a container's id: at least 4 of its first digits, 0-9 a-f";
		break;
	case TYPE_DISK:
		if (text_is_name(s))
			return check_disk(o, s);
		what = "the name of a disk, such as sda";
		break;
	case TYPE_TEXT:
		/* the hook gets many values with blanks between them (option_variable) */
		if (o->many && o->for_hook && s[strcspn(s, " ")]) {
			err_msg("--%s: '%.80s' has a blank, which would make it two values; give "
				"each value as a word", o->name, s);
			return NULL;
		}
		/* the hook may print the value as a word for its stream (stream_parse) */
		if (o->for_hook && !strcmp(s, STREAM_FILTER)) {
			err_msg("--%s: '%s' alone is not a value; leave it out", o->name, s);
			return NULL;
		}
		if (*s && !text_has_control(s))
			return s;
		what = "printable text";
		break;
	case TYPE_CHOICE:
		if (is_choice(o->choices, s))
			return s;
		what = o->choices;
		break;
	}
	err_msg("--%s: '%.80s' is not %s%s", o->name, s,
		o->type == TYPE_CHOICE ? "one of " : "", what);
	return NULL;
}

/* ---- words to options -------------------------------------------------------------- */

static struct hook_option *find_option(struct hook *r, char *word, char **value)
{
	char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);

	*value = equals ? equals + 1 : NULL;
	for (size_t i = 0; i < r->noptions; i++) {
		struct hook_option *o = &r->options[i];

		if (o->taken)
			continue;
		if (n == 2 && !equals && o->letter && word[1] == o->letter)
			return o;
		if (n == strlen(o->name) + 2 && word[1] == '-' &&
		    !strncmp(word + 2, o->name, n - 2))
			return o;
	}
	return NULL;
}

static int add_one(struct hook_option *o, const char *given)
{
	const char **more, *s;
	size_t n = strlen(o->prefix);

	if (n && !strncmp(given, o->prefix, n))
		given += n;
	if (o->n && !o->many)
		return err_msg("--%s takes one value, and '%.80s' is one too many; leave it out",
			       o->name, given);
	/* room doubles at the powers of two */
	if (!(o->n & (o->n - 1))) {
		more = realloc(o->v, (o->n ? 2 * o->n : 1) * sizeof(*o->v));
		if (!more)
			return err_msg("out of memory");
		o->v = more;
	}
	s = check_value(o, given);
	if (!s)
		return -1;
	o->v[o->n++] = s;
	return 0;
}

/* Return whether commas separate values in this word. A TEXT may contain commas. */
static int has_commas(const struct hook_option *o, const char *s)
{
	if (!o->many)
		return 0;
	if (o->type == TYPE_TEXT && !o->commas)
		return !strcmp(o->name, "cgroup") && !s[strspn(s, "0123456789,")];
	return 1;
}

/* Add the values of one word. Overwrite its commas. */
static int add_value(struct hook_option *o, char *s)
{
	char *comma;

	while (has_commas(o, s) && (comma = strchr(s, ','))) {
		*comma = '\0';
		if (add_one(o, s) < 0)
			return -1;
		s = comma + 1;
	}
	return add_one(o, s);
}

/* Report an option that the hook does not have, with the nearest one. Return -1. */
static int no_option(const struct hook *r, const char *word)
{
	char name[32];
	struct suggest near = { .word = name };

	if (!strncmp(word, "--", 2)) {
		str_format(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (size_t i = 0; i < r->noptions && strlen(name) > 1; i++)
			suggest_offer(&near, r->options[i].name);
	}
	if (near.n)
		return err_msg("%s has no option '%.80s'; did you mean --%s? %s lists them",
			       r->name, word, near.name[0], hook_help(r->name));
	return err_msg("%s has no option '%.80s'; %s lists them", r->name, word,
		       hook_help(r->name));
}

/* Has the option the values that it needs, if it had n of them when it was given? */
static int check_given(const struct hook *r, const struct hook_option *o, size_t n)
{
	if (!o || o->n > n || o->type == TYPE_FLAG || o->may_be_empty)
		return 0;
	return err_msg("--%s needs a value; %s describes it", o->name, hook_help(r->name));
}

static int parse_words(struct hook *r, char **words)
{
	struct hook_option *o = NULL, *next;
	size_t n = 0; /* the values of o in front of this word */
	char *value;

	for (; *words; words++) {
		if (**words == '-') {
			next = find_option(r, *words, &value);
			if (!next)
				return no_option(r, *words);
			if (check_given(r, o, n) < 0)
				return -1;
			o = next;
			o->given = 1;
			n = o->n;
			if (value && add_value(o, value) < 0)
				return -1;
		} else if (!o) {
			return err_msg("'%.80s' stands before any option; put its option in "
				       "front", *words);
		} else if (add_value(o, *words) < 0) {
			return -1;
		}
	}
	return check_given(r, o, n);
}

/* ---- the request ------------------------------------------------------------------- */

static const struct { char name[10]; enum selector_kind kind; } selector_options[] = {
	{ "pid", SELECT_PID }, { "parent", SELECT_PID },
	{ "cgroup", SELECT_CGROUP }, { "pidns", SELECT_PIDNS },
	{ "uid", SELECT_UID }, { "comm", SELECT_COMM },
	{ "container", SELECT_CGROUP }, /* last: see request_find_containers */
};

static int is_selector(const struct hook_option *o)
{
	for (size_t i = 0; i < sizeof(selector_options) / sizeof(*selector_options); i++)
		if (!strcmp(selector_options[i].name, o->name))
			return 1;
	return 0;
}

/*
 * Move the pids of dead tasks from the option's values to rq->dead, because a caller that
 * keeps pids may name a task that has ended, and wants the others traced. Set *first to the
 * first dead pid unless it is set.
 */
static void drop_dead(struct request *rq, struct hook_option *o, const char **first)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		pid_t pid = text_pid(o->v[i]);

		if (!pid || task_alive(pid)) {
			o->v[n++] = o->v[i];
			continue;
		}
		pids_add(&rq->dead, pid);
		if (!*first)
			*first = o->v[i];
	}
	o->n = n;
}

/*
 * Do that for each option that takes pids. One task of a hook's own option must be alive,
 * because an empty list would have another meaning. The selectors together must have a
 * value left. Return 0, or -1, reported.
 */
static int drop_all_dead(struct request *rq)
{
	struct hook *r = rq->hook;
	const char *first = NULL, *name = NULL;
	size_t left = 0;

	for (size_t i = 0; i < r->noptions; i++) {
		struct hook_option *o = &r->options[i];
		const char *one_dead = NULL;
		int cgroup = i < r->ncommon && !strcmp(o->name, "cgroup");

		if (o->taken || !o->n)
			continue;
		if (o->type == TYPE_PID || cgroup)
			drop_dead(rq, o, &one_dead);
		if (i >= r->ncommon) {
			if (one_dead && !o->n)
				return err_msg("--%s: no task %s is alive", o->name, one_dead);
			continue;
		}
		left += is_selector(o) ? o->n : 0;
		if (one_dead && !first) {
			first = one_dead;
			name = o->name;
		}
	}
	if (pids_sort(&rq->dead) < 0)
		return -1;
	if (!first || left)
		return 0;
	if (rq->dead.n == 1)
		return err_msg("--%s: no task %s is alive", name, first);
	return err_msg("--%s: no task %s is alive, and none of the other %zu", name, first,
		       rq->dead.n - 1);
}

static void add_selectors(struct request *rq, const struct hook_option *o,
			  enum selector_kind kind)
{
	for (size_t i = 0; i < o->n; i++) {
		struct selector *s = &rq->selectors[rq->nselectors++];

		*s = (struct selector){ .kind = kind, .text = o->v[i] };
		if (kind == SELECT_UID)
			text_number(o->v[i], 0, UINT_MAX, &s->number);
		else if (kind != SELECT_COMM && o->type != TYPE_ID)
			s->pid = text_pid(o->v[i]);
	}
}

static const char *one(const struct hook *r, const char *name)
{
	const struct hook_option *o = hook_common_option(r, name);

	return o->n ? o->v[0] : NULL;
}

static unsigned long kilobytes(const struct hook *r, const char *name, unsigned long n)
{
	const char *s = one(r, name);

	if (s)
		text_number(s, 1, INT_MAX, &n);
	return n;
}

/*
 * With selected tasks, check an event that an option names, not by a glob: is it about the task
 * that runs? If not, the hook has to select the events. Return 0, or -1, reported.
 */
static int check_subject(struct request *rq, const char *option, const char *word)
{
	const struct subject *s = subject_named(word);
	int selects = !strcmp(option, "event");

	if (!s || s->kind == SUBJECT_FILTERED)
		return 0;
	if (s->kind == SUBJECT_NONE)
		return err_msg("--%s: %s:%s happens in unrelated tasks and names none; give --all "
			       "instead of selected tasks", option, s->system, s->event);
	if (selects && rq->hook->selects_subjects)
		rq->about = s;
	else if (s->kind == SUBJECT_OTHER && selects && rq->hook->selects)
		rq->subject = s;
	else if (s->kind == SUBJECT_OTHER)
		return err_msg("--%s: %s:%s happens in other tasks than the one it is about; give "
			       "--all and the filter '%s == PID'", option, s->system, s->event,
			       s->field);
	return 0;
}

/* Check all events of --event, and that of --dump-on, which a filter may follow. */
static int check_subjects(struct request *rq)
{
	const struct hook *r = rq->hook;
	char word[128];

	for (size_t i = r->ncommon; i < r->noptions && !rq->all_tasks; i++) {
		const struct hook_option *o = &r->options[i];
		int dump = !strcmp(o->name, "dump-on");

		for (size_t k = 0; k < o->n && (dump || !strcmp(o->name, "event")); k++) {
			const char *filter = dump ? strchr(o->v[k], ':') : NULL;

			/* SYSTEM:EVENT[:FILTER], or EVENT[:FILTER] */
			if (filter && !subject_named(o->v[k])) {
				size_t n = strcspn(filter + 1, ":");

				str_format(word, sizeof(word), "%.*s", (int)(filter - o->v[k]),
					   o->v[k]);
				if (!subject_named(word))
					str_format(word, sizeof(word), "%.*s",
						   (int)(filter + 1 - o->v[k] + (int)n), o->v[k]);
			} else {
				str_format(word, sizeof(word), "%s", o->v[k]);
			}
			if (check_subject(rq, o->name, word) < 0)
				return -1;
		}
	}
	return 0;
}

/* Fill in the selectors. One is required, or --all, or a hook that needs none. */
static int fill_selectors(struct request *rq)
{
	const struct hook *r = rq->hook;
	const struct hook_option *parent = hook_common_option(r, "parent");
	size_t n = 0;

	for (size_t i = 0; i < sizeof(selector_options) / sizeof(*selector_options); i++)
		n += hook_common_option(r, selector_options[i].name)->n;
	rq->all_tasks = hook_common_option(r, "all")->given;
	if (rq->all_tasks && r->selectors_optional)
		return err_msg("%s: --all is not possible: select the tasks whose requests to "
			       "follow, or none", r->name);
	if (!n && r->selectors_optional)
		rq->all_tasks = 1;
	else if (!n && !rq->all_tasks)
		return err_msg("%s: no task is selected; give --pid, or see %s", r->name,
			       hook_help(r->name));
	if (n && rq->all_tasks)
		return err_msg("%s: --all selects every task already; leave the other "
			       "selectors out", r->name);
	if (check_subjects(rq) < 0)
		return -1;
	if (rq->about && parent->n)
		return err_msg("--parent: %s:%s happens in other tasks; give --pid",
			       rq->about->system, rq->about->event);
	if (r->selects && parent->n)
		return err_msg("%s: --parent: its events belong to no task; give --pid", r->name);
	rq->selectors = calloc(n + 1, sizeof(*rq->selectors));
	if (!rq->selectors)
		return err_msg("out of memory");
	for (size_t i = 0; i < sizeof(selector_options) / sizeof(*selector_options); i++)
		add_selectors(rq, hook_common_option(r, selector_options[i].name),
			      selector_options[i].kind);
	for (size_t i = 0; i < parent->n; i++)
		pids_add(&rq->parents, text_pid(parent->v[i]));
	return pids_sort(&rq->parents);
}

int request_find_containers(struct request *rq)
{
	const struct hook_option *o = hook_common_option(rq->hook, "container");
	struct selector *s = rq->selectors + rq->nselectors - o->n;

	for (size_t i = 0; i < o->n; i++, s++) {
		char *path = malloc(PATH_MAX);

		if (!path)
			return err_msg("out of memory");
		s->text = path;
		if (cgroup_find_container(o->v[i], path) < 0)
			return -1;
	}
	return 0;
}

int request_expand_syscalls(struct request *rq, int root)
{
	struct hook *r = rq->hook;

	for (size_t i = r->ncommon; i < r->noptions; i++) {
		struct hook_option *o = &r->options[i];

		if (o->type == TYPE_SYSCALL && o->n &&
		    syscalls_expand(root, o->name, &o->v, &o->n) < 0)
			return -1;
	}
	return 0;
}

int request_hook_selects(const struct request *rq)
{
	return (rq->hook->selects || rq->about) && !rq->all_tasks;
}

/* Set the session's name. The default, HOOK.PID.MILLISECONDS, shows owner and time. */
static void name_session(struct request *rq)
{
	const char *name = one(rq->hook, "instance");
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (name || rq->persist)
		str_format(rq->session, sizeof(rq->session), "%s", name ? name : PERSIST_SESSION);
	else
		str_format(rq->session, sizeof(rq->session), "%s.%d.%lld", rq->hook->name,
			   (int)getpid(), t.tv_sec * 1000LL + t.tv_nsec / 1000000);
}

int request_parse(struct request *rq, struct hook *r, const char *args)
{
	const char *why = NULL, *s;
	unsigned long ms;

	*rq = (struct request){ .hook = r, .ms = -1 };
	rq->words = words_split(args, &why);
	if (!rq->words)
		return err_msg("--args: %s", why);
	if (parse_words(r, rq->words) < 0 || drop_all_dead(rq) < 0 || fill_selectors(rq) < 0)
		return -1;
	for (size_t i = r->ncommon; i < r->noptions; i++)
		if (!strcmp(r->options[i].name, "persist"))
			rq->persist = r->options[i].given;
	name_session(rq);
	s = one(r, "time");
	if (s && !text_number(s, 1, INT_MAX, &ms))
		rq->ms = (long)ms;
	s = one(r, "output");
	rq->output = !s || !strcmp(s, "lines") ? OUTPUT_LINES :
		     !strcmp(s, "fifo") ? OUTPUT_FIFO :
		     !strcmp(s, "file") ? OUTPUT_FILE : OUTPUT_DAT;
	if (r->alone && rq->output == OUTPUT_DAT)
		return err_msg("%s writes its own files, so --output dat is not possible; "
			       "leave it out",
			       r->name);
	if (rq->about && rq->output == OUTPUT_DAT)
		return err_msg("--output dat: %s:%s is recorded in all tasks, and only text can "
			       "be selected; give --all, or another output", rq->about->system,
			       rq->about->event);
	rq->header = hook_common_option(r, "header")->given;
	if (rq->header && rq->output == OUTPUT_DAT)
		return err_msg("--header is for text, and --output dat makes none; leave one out");
	rq->date = hook_common_option(r, "date")->given;
	rq->json = hook_common_option(r, "json")->given;
	if (rq->json && (rq->output == OUTPUT_DAT || r->alone))
		return err_msg("%s: --json is not possible%s", r->name,
			       r->alone ? "; give --dump json" : " with --output dat");
	rq->buffer_kb = kilobytes(r, "buffer", 0);
	rq->size_kb = kilobytes(r, "size", 65536);
	rq->clock = one(r, "clock");
	return 0;
}

/* ---- for the hook ------------------------------------------------------------------ */

/* Return an allocated "NAME=VALUE", or NULL if memory is out. */
static char *variable(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *s = malloc(size);

	if (s)
		str_format(s, size, "%s=%s", name, value);
	return s;
}

/* Return HOOK_NAME=VALUES with blanks between the values, or 1 for a flag; NULL: no memory. */
static char *option_variable(const struct hook_option *o)
{
	size_t size = sizeof("HOOK_=1") + strlen(o->name), n;
	char *s;

	for (size_t i = 0; i < o->n; i++)
		size += strlen(o->v[i]) + 1;
	s = malloc(size);
	if (!s)
		return NULL;
	n = str_format(s, size, "HOOK_%s=%s", o->name, o->type == TYPE_FLAG ? "1" : "");
	for (char *p = s; *p != '='; p++)
		*p = (char)(*p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
	for (size_t i = 0; i < o->n; i++)
		n += str_format(s + n, size - n, "%s%s", i ? " " : "", o->v[i]);
	return s;
}

char **request_environment(const struct request *rq, const char *tools,
			   const char *const *variables)
{
	static const char *const kept[] = { "TRACER_PROCFS_PATH", "TRACER_SYSFS_PATH" };
	char **env = calloc(HOOK_OPTIONS_MAX + HOOK_VARIABLES_MAX + 5, sizeof(*env));
	char path[PATH_MAX + 64];
	size_t n = 0;

	if (!env)
		return NULL;
	str_format(path, sizeof(path), "%s:/usr/sbin:/usr/bin:/sbin:/bin", tools);
	env[n++] = variable("PATH", path);
	str_format(path, sizeof(path), "%d", KEEPS_FD);
	env[n++] = variable(SESSION_KEEPS, path);
	while (*variables)
		env[n++] = (char *)(size_t)*variables++;
	for (size_t i = 0; i < 2; i++)
		if (getenv(kept[i]))
			env[n++] = variable(kept[i], getenv(kept[i]));
	for (size_t i = 0; i < rq->hook->noptions; i++)
		if (rq->hook->options[i].given &&
		    (i >= rq->hook->ncommon || !strcmp(rq->hook->options[i].name, "buffer") ||
		     !strcmp(rq->hook->options[i].name, "json")))
			env[n++] = option_variable(&rq->hook->options[i]);
	for (size_t i = 0; i < n; i++)
		if (!env[i])
			return NULL;
	return env;
}
