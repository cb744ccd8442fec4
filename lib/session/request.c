/* SPDX-License-Identifier: ISC */
/* request.c - parse and check the options that the caller gave; make nothing */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"
#include "select/select.h"
#include "tracefs/tracefs.h"
#include "tracedat/tracedat.h"
#include "session/session.h"

const char request_common_options[] = HELP_COMMON;

#define DIGITS "0123456789"

enum {
	COMM_LEN = 15,          /* the bytes of a task's name: TASK_COMM_LEN without the NUL */
	PLACES = 256,           /* cgroups, containers and pid namespaces of a session */
	VALUES = 4096,          /* of a hook's option; a shell may take time as the square of it */
};

/* ---- words to options -------------------------------------------------------------- */

static int is_given(const struct hook *r, const char *name)
{
	const struct opt *o = hook_own_option(r, name);

	return o && o->given;
}

static struct opt *find_option(struct hook *r, const char *word, const char **value)
{
	for (size_t i = 0; i < r->noptions; i++)
		if (!r->options[i].taken && opt_is(&r->options[i], word, value))
			return &r->options[i];
	return NULL;
}

/*
 * Check a value, also for what managers do with it. Return it as the hook gets it, or NULL,
 * reported. drop_dead checks that a task is alive.
 */
static const char *check_value(const struct opt *o, const char *s)
{
	const char *value;
	char why[OPT_WHY];

	if (!strcmp(o->name, "pid") && *s >= 'a' && *s <= 'z')
		return err_msg("--pid: '%.80s' is not a pid; --comm selects tasks by name", s),
		       NULL;
	if (!strcmp(o->name, "comm") && !o->for_hook && strlen(s) > COMM_LEN)
		return err_msg("--comm: '%.80s' is longer than %d bytes, the maximum of a name; "
			       "give '%.*s'", s, COMM_LEN, COMM_LEN, s), NULL;
	value = value_check(o, s, why);
	if (!value)
		return err_msg("%s", why), NULL;
	/* the hook gets many values with spaces between them (option_variable) */
	if (o->many && o->for_hook && strchr(s, ' '))
		return err_msg("--%s: '%.80s' has a space, which would make it two values; give "
			       "each value as a word", o->name, s), NULL;
	return value;
}

static int add_one(struct opt *o, const char *given)
{
	const char **more, *s;
	size_t n = strlen(o->prefix);

	if (!strncmp(given, o->prefix, n))
		given += n;
	if (o->n && !o->many)
		return err_msg("--%s takes one value, and '%.80s' is one too many; leave it out",
			       o->name, given);
	more = array_more(o->v, o->n, sizeof(*o->v));
	if (!more)
		return err_msg("out of memory");
	o->v = more;
	s = check_value(o, given);
	if (!s)
		return -1;
	o->v[o->n++] = s;
	return 0;
}

/*
 * Return the comma after the first value, or NULL. A disk's number MAJOR,MINOR has one itself, and
 * a TEXT may contain commas.
 */
static char *comma_after(const struct opt *o, char *s)
{
	size_t n = strspn(s, DIGITS);

	if (o->type == TYPE_DISK && n && s[n] == ',' && strspn(s + n + 1, DIGITS))
		s += n + 1;
	return o->many && (o->type != TYPE_TEXT || o->commas ||
			   (!strcmp(o->name, "cgroup") && !s[strspn(s, DIGITS ",")])) ?
	       strchr(s, ',') : NULL;
}

/* Add the values of one word. Overwrite its commas. */
static int add_value(struct opt *o, char *s)
{
	char *comma;

	while ((comma = comma_after(o, s))) {
		*comma = '\0';
		if (add_one(o, s) < 0)
			return -1;
		s = comma + 1;
	}
	return add_one(o, s);
}

int request_no_option(const struct hook *r, const char *word, const char *const *more)
{
	struct opt others[12] = { { .line = NULL } };
	char name[32];
	struct suggest near = { .word = name };

	if (!strncmp(word, "--", 2)) {
		str_format(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (size_t i = 0; i < r->noptions && strlen(name) > 1; i++)
			suggest_offer(&near, r->options[i].name);
		for (struct opt *o = others; more && *more && strlen(name) > 1; more++)
			if (o < others + 12 && !opt_parse(o, *more))
				suggest_offer(&near, o++->name);
		if (more)
			suggest_offer(&near, "help");
	}
	return err_msg("%s has no option '%.80s';%s%s%s %s lists them", r->name, word,
		       near.n ? " did you mean --" : "", near.n ? near.name[0] : "",
		       near.n ? "?" : "", hook_help(r->name));
}

static int by_value(const void *a, const void *b)
{
	const char *const *const *v = a, *const *const *w = b;
	int r = strcmp(**v, **w);

	return r ? r : (*v > *w) - (*v < *w);
}

/*
 * Drop repeated values, because a client can repeat a value thousands of times, and some values
 * cost a search each. Return 0, or -1, reported.
 */
static int drop_repeated(struct opt *o)
{
	const char ***sorted = o->n > 1 ? malloc(o->n * sizeof(*sorted)) : NULL;
	const char *last = NULL;
	size_t n = 0;

	if (o->n < 2)
		return 0;
	if (!sorted)
		return err_msg("out of memory");
	for (size_t i = 0; i < o->n; i++)
		sorted[i] = &o->v[i];
	array_sort(sorted, o->n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < o->n; i++)
		if (last && !strcmp(last, *sorted[i]))
			*sorted[i] = NULL;
		else
			last = *sorted[i];
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i])
			o->v[n++] = o->v[i];
	o->n = n;
	free(sorted);
	return 0;
}

/* Check that the option got a value if it needs one. It had n values before it was given. */
static int check_given(const struct hook *r, const struct opt *o, size_t n)
{
	if (!o || o->n > n || o->type == TYPE_FLAG || o->may_be_empty)
		return 0;
	return err_msg("--%s needs a value; %s%s describes it", o->name, hook_help(r->name),
		       getenv(FOR_PEOPLE) && !hook_own_option(r, o->name) ? " all" : "");
}

static int parse_words(struct hook *r, char **words)
{
	struct opt *o = NULL, *next;
	size_t n = 0; /* the values of o before this word */
	const char *value;

	for (; *words; words++) {
		if (**words == '-') {
			next = find_option(r, *words, &value);
			if (!next)
				return request_no_option(r, *words, NULL);
			if (check_given(r, o, n) < 0)
				return -1;
			o = next;
			o->given = 1;
			n = o->n;
			if (value && add_value(o, (char *)(size_t)value) < 0)
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

static const struct { const char *name; enum selector_kind kind; } selector_options[] = {
	{ "pid", SELECT_PID }, { "parent", SELECT_PID },
	{ "cgroup", SELECT_CGROUP }, { "pidns", SELECT_PIDNS },
	{ "uid", SELECT_UID }, { "comm", SELECT_COMM },
	/* request_find_containers adds their selectors */
	{ "container", SELECT_NAMED }, { "pod", SELECT_NAMED }, { "namespace", SELECT_NAMED },
};

enum { NSELECTORS = sizeof(selector_options) / sizeof(*selector_options) };

static int is_selector(const struct opt *o)
{
	for (size_t i = 0; i < NSELECTORS; i++)
		if (!strcmp(selector_options[i].name, o->name))
			return 1;
	return 0;
}

/*
 * Move the pids of dead tasks from the option's values to rq->dead, because a caller that
 * keeps pids may name a task that has ended, and wants the others traced. Set *first to the
 * first dead pid unless it is set.
 */
static void drop_dead(struct request *rq, struct opt *o, const char **first)
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
 * Drop the dead tasks of each option that takes pids. One task of a hook's own option must be
 * alive, because an empty list would have another meaning. The selectors together must have a
 * value left. Return 0, or -1, reported.
 */
static int drop_all_dead(struct request *rq)
{
	struct hook *r = rq->hook;
	const char *first = NULL, *name = NULL;
	char others[64];
	size_t left = 0;

	for (size_t i = 0; i < r->noptions; i++) {
		struct opt *o = &r->options[i];
		const char *one_dead = NULL;
		int cgroup = i < r->ncommon && !strcmp(o->name, "cgroup");

		if (o->taken || !o->n)
			continue;
		if (o->type == TYPE_PID || cgroup)
			drop_dead(rq, o, &one_dead);
		if (i >= r->ncommon) {
			if (one_dead && !o->n)
				return err_msg("--%s: no task %s is alive; ps -eL lists the tasks",
					       o->name, one_dead);
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
	str_format(others, sizeof(others), ", and none of the other %zu", rq->dead.n - 1);
	return err_msg("--%s: no task %s is alive%s; ps -eL lists the tasks", name, first,
		       rq->dead.n > 1 ? others : "");
}

static void add_selectors(struct request *rq, const struct opt *o, enum selector_kind kind)
{
	for (size_t i = 0; i < o->n && kind != SELECT_NAMED; i++) {
		struct selector *s = &rq->selectors[rq->nselectors++];

		*s = (struct selector){ .kind = kind, .text = o->v[i] };
		if (kind == SELECT_UID)
			text_number(o->v[i], 0, UINT_MAX, &s->number);
		else if (kind != SELECT_COMM)
			s->pid = text_pid(o->v[i]);
	}
}

static const char *one(const struct hook *r, const char *name)
{
	const struct opt *o = hook_common_option(r, name);

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
 * With selected tasks, check an event that an option names without a glob. If the event is not
 * about the running task, the hook has to select the events. Return 0, or -1, reported.
 */
static int check_subject(struct request *rq, const char *option, const struct subject *s)
{
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

/* Check all events of --event, and that of --dump-on, [SYSTEM:]EVENT[:FILTER]. */
static int check_subjects(struct request *rq)
{
	const struct hook *r = rq->hook;

	for (size_t i = r->ncommon; i < r->noptions && !rq->all_tasks; i++) {
		const struct opt *o = &r->options[i];
		int dump = !strcmp(o->name, "dump-on");

		for (size_t k = 0; k < o->n && (dump || !strcmp(o->name, "event")); k++) {
			const struct subject *s;
			char word[128], *colon;

			str_format(word, sizeof(word), "%s", o->v[k]);
			while (!(s = subject_named(word)) && dump && (colon = strrchr(word, ':')))
				*colon = '\0';
			if (check_subject(rq, o->name, s) < 0)
				return -1;
		}
	}
	return 0;
}

/*
 * Return allocated text that is the same for all tasks of the cgroup, or of the pid namespace, that
 * the selector names by a task; or NULL.
 */
static char *place_of(const struct selector *s)
{
	char text[32];

	if (s->pid && s->kind == SELECT_CGROUP)
		return cgroups_of(s->pid);
	if (!s->pid || s->kind != SELECT_PIDNS)
		return NULL;
	str_format(text, sizeof(text), "%llu", (unsigned long long)task_pidns(s->pid));
	return strdup(text);
}

/*
 * Drop the tasks whose cgroup or pid namespace another task has named before, and limit the number
 * of such places. A client can name thousands, and each costs looks at each process, or at each
 * cgroup. Return 0, or -1, reported.
 */
static int drop_same_places(struct request *rq)
{
	char **places = calloc(rq->nselectors + 1, sizeof(*places));
	size_t n = 0, kept = 0, total = 0;

	for (size_t i = 0; i < NSELECTORS; i++)
		if (selector_options[i].kind == SELECT_NAMED)
			total += hook_common_option(rq->hook, selector_options[i].name)->n;
	if (!places)
		return err_msg("out of memory");
	for (size_t i = 0; i < rq->nselectors; i++) {
		char *place = place_of(&rq->selectors[i]);
		size_t k = 0;

		while (place && k < n && strcmp(places[k], place))
			k++;
		if (place && k < n) {
			free(place);
			continue;
		}
		if (place)
			places[n++] = place;
		total += rq->selectors[i].kind == SELECT_CGROUP || place;
		rq->selectors[kept++] = rq->selectors[i];
	}
	rq->nselectors = kept;
	while (n)
		free(places[--n]);
	free(places);
	if (total <= PLACES)
		return 0;
	return err_msg("%zu cgroups, containers and pid namespaces are too many; a session "
		       "selects up to %d of them: give a cgroup that is above them", total,
		       PLACES);
}

/* Fill in the selectors. One is required, or --all, or a hook that needs none. */
static int fill_selectors(struct request *rq)
{
	const struct hook *r = rq->hook;
	const struct opt *parent = hook_common_option(r, "parent");
	size_t n = 0;

	for (size_t i = 0; i < NSELECTORS; i++)
		n += hook_common_option(r, selector_options[i].name)->n;
	rq->all_tasks = hook_common_option(r, "all")->given;
	if (rq->all_tasks && r->selectors_optional)
		return err_msg("%s: --all is not possible: select the tasks whose requests to "
			       "follow, or none", r->name);
	if (!n && r->selectors_optional)
		rq->all_tasks = 1;
	else if (!n && !rq->all_tasks)
		return err_msg("%s: no task is selected; give %s--pid%s, or see %s", r->name,
			       getenv(FOR_PEOPLE) ? "-- PROG, " : "",
			       getenv(FOR_PEOPLE) ? " PID or --all" : "", hook_help(r->name));
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
	for (size_t i = 0; i < NSELECTORS; i++)
		add_selectors(rq, hook_common_option(r, selector_options[i].name),
			      selector_options[i].kind);
	if (drop_same_places(rq) < 0)
		return -1;
	for (size_t i = 0; i < parent->n; i++)
		pids_add(&rq->parents, text_pid(parent->v[i]));
	return pids_sort(&rq->parents);
}

/* Select the containers that all of --namespace, --pod and --container name. */
static int find_pods(struct request *rq, const struct opt *namespaces, const struct opt *pods,
		     const struct opt *containers)
{
	struct strbuf globs = { 0 };

	for (size_t i = 0; !i || i < namespaces->n; i++)
		for (size_t k = 0; !k || k < pods->n; k++)
			for (size_t l = 0; globs.n < PATH_MAX && (!l || l < containers->n); l++)
				select_glob(&globs, namespaces->n ? namespaces->v[i] : "",
					    pods->n ? pods->v[k] : "",
					    containers->n ? containers->v[l] : "");
	if (globs.n >= PATH_MAX)
		return err_msg("the names of pods and containers are too long together; give a "
			       "glob such as web-*");
	rq->selectors[rq->nselectors++] = (struct selector){ .kind = SELECT_NAMED,
							     .text = globs.text };
	return 0;
}

int request_find_containers(struct request *rq)
{
	const struct opt *containers = hook_common_option(rq->hook, "container");
	const struct opt *pods = hook_common_option(rq->hook, "pod");
	const struct opt *namespaces = hook_common_option(rq->hook, "namespace");

	if (pods->n || namespaces->n)
		return find_pods(rq, namespaces, pods, containers);
	for (size_t i = 0; i < containers->n; i++)
		if (select_container(containers->v[i], &rq->selectors[rq->nselectors++]) < 0)
			return -1;
	return 0;
}

int request_is_empty(const struct selector *s)
{
	char path[PATH_MAX];
	struct pids found = { 0 };
	int r = s->pid ? 1 : s->kind == SELECT_NAMED ? 0 : cgroup_expect(s->text, path);
	size_t n;

	if (r)
		return 0;
	r = select_pids(s, 1, SELECT_GONE_OK, &found);
	n = found.n;
	pids_clear(&found);
	return !r && !n;
}

/* Append how tasks of the selector join later, if they do. Return 0, or -1, reported. */
static int add_rule(struct strbuf *rules, const struct selector *s)
{
	struct cgroup c;
	int r = 0;

	switch (s->kind) {
	case SELECT_COMM:
		strbuf_format(rules, "comm=%s\n", s->text);
		break;
	case SELECT_UID:
		strbuf_format(rules, "uid=%lu\n", s->number);
		break;
	case SELECT_NAMED:
		strbuf_format(rules, "container=%s\n", s->text);
		break;
	case SELECT_CGROUP:
		r = s->pid ? cgroup_of(s->pid, &c) : cgroup_find(s->text, &c);
		if (r < 0)
			return -1;
		if (!r || !cgroup_expect(s->text, c.path))
			strbuf_format(rules, "cgroup=%s\n", c.path);
		break;
	default:
		break;
	}
	return 0;
}

int request_names_cgroup(const struct request *rq)
{
	for (size_t i = 0; i < rq->nselectors; i++)
		if (rq->selectors[i].kind == SELECT_CGROUP ||
		    rq->selectors[i].kind == SELECT_NAMED)
			return 1;
	return 0;
}

/* Does the hook record events that threads of io_uring may have, by their names? */
static int records_threads(const struct hook *r)
{
	const struct opt *o = hook_own_option(r, "event");
	int named = is_given(r, "function");

	for (size_t k = 0; o && k < o->n; k++)
		named |= strncmp(o->v[k], "sys", 3) && strncmp(o->v[k], "raw_sys", 7);
	return named || (!o && r->selects_subjects);
}

/* Can the stream, or the instance, select these threads? */
static int has_threads(const struct hook *r)
{
	return r->selects_subjects && records_threads(r) && !is_given(r, "otel") &&
	       !is_given(r, "function");
}

int request_lacks_threads(const struct request *rq)
{
	return !rq->all_tasks && !request_hook_selects(rq) && records_threads(rq->hook);
}

/* Tell a person that the session waits for the first task of a cgroup or container. */
static void tell_empty(const struct request *rq, const struct selector *s)
{
	if (rq->dry || !getenv(FOR_PEOPLE))
		return;
	if (s->kind == SELECT_NAMED)
		err_note("no container that --container, --pod or --namespace names has a task "
			 "now; the session waits for one");
	else
		err_note("no task is in the cgroup '%.200s' now; the session waits for one",
			 s->text);
}

/* The buffer of each CPU while all tasks are recorded, unless --buffer says another size. */
enum { WAITING_KB = 8192 };

int request_wait(struct request *rq)
{
	struct strbuf rules = { 0 };
	int r = 0;

	/* a hook that selects, the stream of a flight recorder, and a file of all tasks cannot */
	if (rq->hook->selects || rq->hook->alone || rq->all_tasks || rq->parents.n ||
	    !manager_subsystem.waits)
		return 0;
	/*
	 * A file needs no selection by the stream to have the threads of the selected tasks, but
	 * other tasks that exist are excluded for ever.
	 */
	if (rq->output == OUTPUT_DAT) {
		rq->threads = !request_names_cgroup(rq) && has_threads(rq->hook);
		return 0;
	}
	for (size_t i = 0; i < rq->nselectors && !r; i++) {
		const struct selector *s = &rq->selectors[i];
		const int empty = (s->kind == SELECT_CGROUP || s->kind == SELECT_NAMED) &&
				  request_is_empty(s);

		if (empty)
			tell_empty(rq, s);
		rq->waits |= empty || s->kind == SELECT_COMM || s->kind == SELECT_UID;
		r = add_rule(&rules, s);
	}
	rq->joins = rules.text;
	rq->threads = !rq->joins && !rq->about && has_threads(rq->hook);
	if (rq->joins && !rq->buffer_kb)
		rq->buffer_kb = WAITING_KB;
	return r;
}

int request_expand_syscalls(struct request *rq, int root)
{
	struct hook *r = rq->hook;

	for (size_t i = r->ncommon; i < r->noptions; i++) {
		struct opt *o = &r->options[i];

		if (o->type == TYPE_SYSCALL && o->n &&
		    syscalls_expand(root, o->name, &o->v, &o->n) < 0)
			return -1;
	}
	return 0;
}

void request_dumps(const struct request *rq, unsigned long *files, unsigned long *kb)
{
	long cpus = is_given(rq->hook, "per-cpu") ? sysconf(_SC_NPROCESSORS_CONF) : 1;
	const struct opt *dumps = hook_own_option(rq->hook, "dumps");

	*files = 10; /* the default of tfs-flight */
	if (dumps && dumps->n)
		text_number(dumps->v[0], 1, INT_MAX, files);
	*kb = *files * rq->size_kb;
	*files *= cpus > 1 ? (unsigned long)cpus : 1;
}

int request_hook_selects(const struct request *rq)
{
	return (rq->hook->selects || rq->about || rq->joins || rq->threads) && !rq->all_tasks;
}

/* Set the session's name. The default, HOOK.PID.MILLISECONDS, shows owner and time. */
static void name_session(struct request *rq)
{
	const char *name = one(rq->hook, "instance");

	if (name || rq->persist)
		str_format(rq->session, sizeof(rq->session), "%s", name ? name : PERSIST_SESSION);
	else
		str_format(rq->session, sizeof(rq->session), "%s.%d.%lld", rq->hook->name,
			   (int)getpid(), (long long)time_of_day_us() / 1000);
}

int request_parse(struct request *rq, struct hook *r, char **words)
{
	unsigned long ms;
	const char *s;

	*rq = (struct request){ .hook = r, .ms = -1, .words = words };
	if (parse_words(r, words) < 0)
		return -1;
	for (size_t i = 0; i < r->noptions; i++) {
		const struct opt *o = &r->options[i];

		if (drop_repeated(&r->options[i]) < 0)
			return -1;
		if (i >= r->ncommon && o->n > VALUES)
			return err_msg("--%s: %zu values are too many; give up to %d", o->name,
				       o->n, VALUES);
	}
	if (drop_all_dead(rq) < 0 || fill_selectors(rq) < 0)
		return -1;
	rq->persist = is_given(r, "persist");
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
	rq->containers = hook_common_option(r, "container-names")->given;
	if (rq->containers && (rq->output == OUTPUT_DAT || r->alone))
		return err_msg("%s: --container-names is not possible%s", r->name,
			       r->alone ? "; only the stream of a session can look for them" :
			       " with --output dat");
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

/* Return HOOK_NAME=VALUES with spaces between the values, or 1 for a flag; NULL: no memory. */
static char *option_variable(const struct opt *o)
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

/* Does the hook get this option: its own, or a common one of which its tools have to know? */
static int for_hook(const struct hook *r, const struct opt *o)
{
	if (!o->for_hook)
		return o->given && (!strcmp(o->name, "buffer") || !strcmp(o->name, "clock") ||
				    !strcmp(o->name, "json"));
	for (size_t i = r->ncommon; i < r->noptions && !o->given; i++)
		if (r->options[i].given && r->options[i].implied == o)
			return 1;
	return o->given;
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
		if (for_hook(rq->hook, &rq->hook->options[i]))
			env[n++] = option_variable(&rq->hook->options[i]);
	for (size_t i = 0; i < n; i++)
		if (!env[i])
			return NULL;
	return env;
}
