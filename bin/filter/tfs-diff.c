/* SPDX-License-Identifier: ISC */
/*
 * tfs-diff - print what has changed between two recordings, or two sets of them
 *
 * Requires: only recordings, as text, JSON or trace.dat; for -r, what the hooks require.
 * BEFORE and AFTER are recordings, or directories of them, 160 in all. With -r they are commands;
 * tfs-diff runs each N times, in turn, and records them. It counts what each recording has:
 * programs, connections, files, failures, errors, waits, times, calls, events, and lines of decoded
 * calls. With four recordings a side it prints what differs more than the recordings of a side do;
 * with fewer, what a rule of tfs-diff(1) names. The most surprising change is the first line.
 * Exit: 0 the same, 1 changed, 100 usage error, 111 refused.
 */
#include <sys/stat.h>

#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "diff.h"

enum { FEW = 4 /* recordings, below which a rule decides */, MS = 1000000 /* ns */ };

static int folded, json;
static const char *accept_file, *kinds_given, *output;
static unsigned long runs;
static struct opt_list hooks = {
	.v = OPT_LIST("trace_syscalls --decode --names", "trace_why --events"),
};

static const struct tool tool = {
	TOOL_TFS_DIFF,
	.places = (const struct opt_place[]){
		{ 'a', .text = &accept_file }, { 'f', .flag = &folded }, { 'j', .flag = &json },
		{ 'k', .text = &kinds_given }, { 'o', .text = &output }, { 'r', .number = &runs },
		{ 't', .list = &hooks }, { 0 },
	},
};

struct recording {
	char *path;
	int after;
	unsigned has;           /* kinds, a bit each */
	int pipe;               /* from the child that reads it */
	pid_t child;
};

static char made[PATH_MAX];     /* the directory of recordings that are removed at the end */
static pid_t main_pid;
static struct recording recordings[DIFF_FILES_MOST];
static size_t nrecordings;
static unsigned wanted = (1u << DIFF_KINDS) - 1;
static struct table items = { .size = sizeof(struct diff_item) };

#define BIT(kind) (1u << DIFF_##kind)

/* ---- the recordings ---- */

static void add_recording(char *path, int after)
{
	if (nrecordings == DIFF_FILES_MOST)
		err_exit(REFUSED, "more than %d recordings", DIFF_FILES_MOST);
	recordings[nrecordings++] = (struct recording){ .path = path, .after = after };
}

/* Add a recording, or those of a directory. */
static void find_recordings(const char *path, int after)
{
	const size_t before = nrecordings;
	static struct strbuf file;
	struct stat st;
	char **names;

	if (stat(path, &st) < 0)
		err_refuse("unable to read %s", path);
	if (!S_ISDIR(st.st_mode)) {
		add_recording(xstrdup(path), after);
		return;
	}
	names = file_names(path);
	if (!names)
		err_refuse("unable to read the directory %s", path);
	for (size_t i = 0; names[i]; i++) {
		strbuf_format(strbuf_empty(&file), "%s/%s", path, names[i]);
		if (!stat(file.text, &st) && S_ISREG(st.st_mode))
			add_recording(xstrdup(file.text), after);
	}
	free(names);
	if (nrecordings == before)
		err_exit(REFUSED, "no recording in %s", path);
}

/* In the child: account the waits of the recording. */
static _Noreturn void run_why(const struct recording *r)
{
	char dir[PATH_MAX], why[2 * PATH_MAX];

	if (program_directory(dir) < 0)
		_exit(REFUSED);
	str_format(why, sizeof(why), "%s/tfs-why", dir);
	execl(why, "tfs-why", "-f", "-n", "1000000", "--", r->path, (char *)NULL);
	_exit(REFUSED);
}

/* Let a child read the recording, which may be hostile: the child may do nothing else. */
static void start(struct recording *r, int waits)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0 || (r->child = child_fork()) < 0)
		err_refuse("unable to start a process");
	if (!r->child) {
		if (dup2(fds[1], STDOUT_FILENO) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
			_exit(REFUSED);
		if (waits)
			run_why(r);
		exit(diff_read(&tool, r->path, wanted));
	}
	close(fds[1]);
	r->pipe = fds[0];
}

static void put(const char *key, size_t n, size_t recording, uint64_t value)
{
	struct diff_item *i = table_at(&items, key, n);

	if (!i->v)
		i->v = xcalloc(nrecordings, sizeof(*i->v));
	i->v[recording] += value;
}

/* Take a line of the child: "!KINDS LOST", "N KEY", or a message; or a line of tfs-why. */
static void take_line(struct recording *r, char *line, int waits)
{
	static struct strbuf key;
	const size_t n = (size_t)(r - recordings);
	const char *at = line;
	uint64_t ns;

	if (waits) {
		if (diff_wait(&key, line, folded, &ns))
			put(key.text, key.n, n, ns);
	} else if (*line == '!') {
		at++;
		r->has = (unsigned)text_digits(&at);
		if (*at && at[1] == '1')
			err_note("events are lost in %s, so it may lack something", r->path);
	} else if (*line >= '0' && *line <= '9') {
		ns = text_digits(&at);
		if (*at == ' ' && at[1] >= 'A' && at[1] <= 'A' + DIFF_STACKS && strchr(at, '\t'))
			put(at + 1, strlen(at + 1), n, ns);
	} else {
		strbuf_format(strbuf_empty(&key), "%s\n", line);
		fd_write_all(STDERR_FILENO, key.text, key.n);
	}
}

/* Take all lines of the child. Exit REFUSED if it could not read its recording. */
static void finish(struct recording *r, int waits)
{
	struct line_reader in = { .fd = r->pipe, .name = r->path };
	char *line;
	int status;

	while (line_read(&in, &line) >= 0)
		take_line(r, line, waits);
	free(in.text);
	close(r->pipe);
	status = child_wait(r->child);
	if (waits && !status)
		r->has |= BIT(WAITS);
	else if (!waits && status)
		exit(in.failed || status != MISUSED ? REFUSED : MISUSED);
}

/* Read all recordings, or the waits of those that tell them, several at once. */
static void read_all(int waits)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t started = 0, at_once = cpus < 2 ? 2 : cpus > 16 ? 16 : (size_t)cpus;

	for (size_t i = 0; i < nrecordings; i++) {
		for (; started < nrecordings && started < i + at_once; started++)
			if (!waits || recordings[started].has & BIT(STACKS))
				start(&recordings[started], waits);
		if (!waits || recordings[i].has & BIT(STACKS))
			finish(&recordings[i], waits);
	}
}

/* Let a recording without an event count as nothing of each kind that the others have. */
static void complete_kinds(void)
{
	unsigned all = 0;

	for (size_t i = 0; i < nrecordings; i++)
		all |= recordings[i].has;
	for (size_t i = 0; i < nrecordings; i++)
		recordings[i].has |= recordings[i].has ? 0 : all;
}

/* Return how many recordings of a side have the kind. */
static size_t count_with(int kind, int after)
{
	size_t n = 0;

	for (size_t i = 0; i < nrecordings; i++)
		n += recordings[i].after == after && recordings[i].has & 1u << kind;
	return n;
}

/*
 * Without -k, leave out the kinds that only a test can tell, if too few recordings have such a kind
 * for a test. Recordings that are not read yet, or have no event, may have it.
 */
static void leave_out(void)
{
	static const unsigned of_test[] = { BIT(WAITS) | BIT(STACKS), BIT(TIMES), BIT(EVENTS),
					    BIT(LINES) };

	for (size_t k = 0; !kinds_given && !folded && k < sizeof(of_test) / sizeof(*of_test); k++) {
		size_t n[2] = { 0, 0 };

		for (size_t i = 0; i < nrecordings; i++)
			n[recordings[i].after] += !recordings[i].has ||
						  recordings[i].has & of_test[k];
		if (n[0] < FEW || n[1] < FEW)
			wanted &= ~of_test[k];
	}
}

/* ---- what has changed ---- */

/* The numbers of both sides of an item. */
struct sides {
	uint64_t v[2][DIFF_MOST], least[2], most[2];
	size_t n[2];
	int kind;
};

static int by_number(const void *a, const void *b)
{
	return ASCENDING(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void read_sides(struct sides *s, struct diff_item *item)
{
	*s = (struct sides){ .kind = *item->entry.key - 'A' };
	for (size_t i = 0; i < nrecordings; i++)
		if (recordings[i].has & 1u << s->kind && s->n[recordings[i].after] < DIFF_MOST)
			s->v[recordings[i].after][s->n[recordings[i].after]++] = item->v[i];
	for (int k = 0; k < 2; k++) {
		array_sort(s->v[k], s->n[k], sizeof(**s->v), by_number);
		s->least[k] = s->n[k] ? s->v[k][0] : 0;
		s->most[k] = s->n[k] ? s->v[k][s->n[k] - 1] : 0;
	}
	item->before = s->v[0][s->n[0] / 2];
	item->after = s->v[1][s->n[1] / 2];
}

static int is_time(int kind)
{
	return kind == DIFF_WAITS || kind == DIFF_TIMES;
}

/* Is a difference large enough to be told, whatever its cause? */
static int is_large(const struct sides *s, const struct diff_item *i)
{
	const uint64_t low = i->before < i->after ? i->before : i->after;
	const uint64_t high = i->before + i->after - low, more = high - low;
	const int few = s->n[0] < FEW || s->n[1] < FEW;

	switch (s->kind) {
	case DIFF_WAITS:
	case DIFF_TIMES:
		return few ? more >= 100 * MS && more >= low : more >= MS && more >= low / 10;
	case DIFF_CALLS:
	case DIFF_EVENTS:
		return few ? more >= 10 && more >= low : more >= (low + 9) / 10;
	default:
		return more > 0;
	}
}

/* Judge an item by a rule, or leave it to its rank if it has noise. */
static void judge(struct diff_item *i)
{
	struct sides s;
	int apart, plain;

	read_sides(&s, i);
	i->p = 1;
	if (!s.n[0] || !s.n[1] || s.kind == DIFF_STACKS || !(wanted & 1u << s.kind))
		return;
	apart = s.most[0] < s.least[1] || s.most[1] < s.least[0];
	plain = !s.most[0] || !s.most[1] ||
		(s.most[0] == s.least[0] && s.most[1] == s.least[1]);
	if (s.n[0] < FEW || s.n[1] < FEW || (plain && apart && !is_time(s.kind))) {
		i->changed = apart && is_large(&s, i);
		if (i->changed)
			i->p = diff_rank(s.v[0], s.n[0], s.v[1], s.n[1]);
		return;
	}
	if ((s.most[0] == s.least[0] && s.most[0] == s.most[1] && s.least[1] == s.most[1]) ||
	    (is_time(s.kind) && s.most[0] < MS && s.most[1] < MS))
		return; /* it could never be a change */
	i->judged = 1;
	i->p = diff_rank(s.v[0], s.n[0], s.v[1], s.n[1]);
	i->changed = (uint8_t)is_large(&s, i);
}

static int by_p(const void *a, const void *b)
{
	const struct diff_item *x = *(struct diff_item *const *)a;
	const struct diff_item *y = *(struct diff_item *const *)b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/*
 * Correct the judged items for their number by Holm's method: the probability that any of them is
 * wrong is at most 1 %.
 */
static void correct(struct diff_item **v, size_t n)
{
	size_t i = 0;

	array_sort(v, n, sizeof(*v), by_p);
	while (i < n && v[i]->p * (double)(n - i) <= 0.01)
		i++;
	for (; i < n; i++)
		v[i]->changed = 0;
}

/* Return the changed items, and their number. */
static struct diff_item **find_changes(size_t *n)
{
	struct diff_item **v = xcalloc(items.n + 1, sizeof(*v)), *item;
	size_t judged = 0;

	for (size_t i = 0; (item = table_next(&items, &i));) {
		judge(item);
		if (item->judged)
			v[judged++] = item;
	}
	correct(v, judged);
	*n = 0;
	for (size_t i = 0; (item = table_next(&items, &i));)
		if (item->changed)
			v[(*n)++] = item;
	return v;
}

/* ---- the command line ---- */

/* Print the stacks of waits, with the time of each side in microseconds. */
static void print_stacks(void)
{
	struct diff_item *item;
	struct sides s;

	for (size_t i = 0; (item = table_next(&items, &i));)
		if (*item->entry.key == 'A' + DIFF_STACKS) {
			read_sides(&s, item);
			item->entry.key[strcspn(item->entry.key, "\t")] = ';';
			stdout_print("%s %llu %llu\n", item->entry.key + 1,
				     (unsigned long long)item->before / 1000,
				     (unsigned long long)item->after / 1000);
		}
}

/* Say which kinds only one side has, and what was compared. */
static void print_kinds(size_t changes)
{
	const char *comma = "";

	for (int k = 0; k < DIFF_KINDS; k++) {
		const size_t before = count_with(k, 0), after = count_with(k, 1);

		if (wanted & 1u << k && !before != !after)
			stdout_print("# not compared: %s, which only %s has\n", diff_kinds[k],
				     before ? "BEFORE" : "AFTER");
	}
	stdout_print("# %s: ", changes ? "compared" : "the same");
	for (int k = 0; k < DIFF_KINDS; k++)
		if (wanted & 1u << k && count_with(k, 0) && count_with(k, 1)) {
			stdout_print("%s%s", comma, diff_kinds[k]);
			comma = ", ";
		}
	stdout_print("%s\n", *comma ? "" : "nothing");
}

/* Read the value of -k. */
static void parse_kinds(void)
{
	wanted = 0;
	for (const char *s = kinds_given; *s; s += strcspn(s, ",") + !!s[strcspn(s, ",")]) {
		const struct text_part word = { s, strcspn(s, ",") };
		size_t k = 0;

		while (*diff_kinds[k] && !text_part_is(word, diff_kinds[k]))
			k++;
		if (!*diff_kinds[k])
			usage_error(&tool, "--kinds: '%.*s' is not a kind; there are programs, "
				    "connections, files, failures, errors, waits, times, calls, "
				    "events and lines", (int)(word.n < 40 ? word.n : 40), s);
		wanted |= 1u << k;
	}
}

/* Remove the recordings in made, and their directories. */
static void remove_made(void)
{
	if (getpid() != main_pid)
		return; /* a child */
	diff_remove(made);
}

/* Return the words of each of these texts, and NULL. */
static char ***split(const char *const *texts)
{
	char ***words = NULL;
	const char *why;
	size_t n = 0, room = 0;

	for (;; n++) {
		words = xgrow(words, n, &room, sizeof(*words));
		words[n] = texts[n] ? words_split(texts[n], &why) : NULL;
		if (!texts[n])
			return words;
		if (!words[n] || !*words[n])
			usage_error(&tool, "'%.80s': %s", texts[n],
				    words[n] ? "no command" : why);
	}
}

/* Record the commands, and set operands to the recordings. Exit if there is only one command. */
static void record(char **operands)
{
	static char side[2][PATH_MAX + 8];
	char ***hook = split(hooks.v), ***commands = split((const char *const *)operands);
	const char *dir = output;
	size_t nhooks = 0;
	int status;

	while (hook[nhooks])
		nhooks++;
	if (runs * nhooks * (operands[1] ? 2 : 1) > DIFF_FILES_MOST)
		usage_error(&tool, "%lu runs by %zu hooks are more than %d recordings", runs,
			    nhooks, DIFF_FILES_MOST);

	if (!operands[1] && !output)
		usage_error(&tool, "one command needs -o DIR, to compare it later");
	if (!dir) {
		str_format(made, sizeof(made), "%s/tfs-diff.XXXXXX",
			   path_from_env("TMPDIR", "/tmp"));
		dir = mkdtemp(made);
		if (!dir)
			err_refuse("unable to make the directory %s", made);
		main_pid = getpid();
		atexit(remove_made);
	}
	status = diff_record(dir, runs, hook, commands);
	if (status || !operands[1])
		exit(status);
	for (int k = 0; k < 2; k++) {
		str_format(side[k], sizeof(side[k]), "%s/%s", dir, k ? "after" : "before");
		operands[k] = side[k];
	}
}

int main(int argc, char **argv)
{
	struct diff_form form = { 0 };
	struct diff_item **changes;
	char **operands;
	size_t n, printed;

	while (opt_next(&tool, argc, argv) != -1)
		;
	if (folded && json)
		usage_error(&tool, "-f and -j cannot be given together");
	if (!runs && (output || hooks.n))
		usage_error(&tool, "-o and -t need -r");
	if (kinds_given)
		parse_kinds();
	operands = argv + opt_index;
	if (!operands[0] || (!operands[1] && !runs))
		usage_error(&tool, "give two recordings, or directories of them");
	if (operands[1])
		opt_end(&tool, operands[2]);
	if (accept_file) {
		form.accepted = file_read(AT_FDCWD, accept_file, NULL);
		if (!form.accepted)
			err_refuse("unable to read %s", accept_file);
	}
	form.json = json;
	wanted |= folded ? BIT(STACKS) : 0;
	if (runs)
		record(operands);
	find_recordings(operands[0], 0);
	find_recordings(operands[1], 1);
	leave_out();
	read_all(0);
	leave_out();
	if (wanted & BIT(WAITS))
		read_all(1);
	complete_kinds();
	if (folded) {
		print_stacks();
		stdout_flush();
		return DONE;
	}
	changes = find_changes(&n);
	printed = diff_print(changes, n, &form);
	if (!json)
		print_kinds(printed);
	stdout_flush();
	return printed ? NO : DONE;
}
