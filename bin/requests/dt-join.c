/* SPDX-License-Identifier: ISC */
/*
 * dt-join - merge the traces of several hosts by time, and compute clock offsets
 *
 * Requires: the traces, as text or lines of JSON, each in the order of its time, with the
 * mark lines of dt-probe. dt-join reads each file twice.
 * NAME=FILE is a host and its trace; there may be 64 of them. With -c, dt-join looks for no
 * messages, and the traces may be pipes.
 * Each line begins with its host, "NAME | "; in JSON, "host":"NAME" is its last member.
 * Times are converted to the first host's clock. The difference of the clocks follows from
 * the messages, which are sent before they are received. Comment lines say it first. With
 * -c and without -s SIGINT is ignored, so that the producers of the traces can finish.
 * Exit: 0 done, 1 no event, 100 usage error, 111 refused.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "lines/lines.h"
#include "requests.h"

static const struct tool tool = { TOOL_DT_JOIN };

enum { MOST_HOSTS = 64 };

struct join {
	struct dt_host *v;
	const char **names;             /* the names of the hosts */
	unsigned n;
	size_t wide;                    /* width of the column of names */
	struct dt_clocks clocks;
	struct table actors;
	struct dt_messages messages;
	size_t room;                    /* points that messages.points has room for */
	unsigned long long early;       /* messages that are received before they are sent */
	int64_t earliest;               /* ns: the most that a message is early by */
	int64_t later;                  /* ns added to all times, so that none is negative */
	struct sequence *sequence;
	char *notes[3 * MOST_HOSTS + 3];
	size_t nnotes;
	struct strbuf words, name;
	unsigned long long events;
	int as_it_is;                   /* the clocks are not adjusted */
	int once;                       /* the traces are read once only */
	int json;                       /* all traces are JSON */
};

/* ---- the first reading: mark lines ------------------------------------------------------ */

/* Return the thread or process of the mark line, with the comm that the line has. */
static struct dt_actor *actor_of(struct join *j, unsigned host, const struct seen *l,
				 const struct dt_mark *m)
{
	uint32_t tid = (uint32_t)m->tid, key[2] = { host, tid };
	uint64_t pid;
	struct dt_actor *t = table_at(&j->actors, (const char *)key, sizeof(key));
	struct text_part comm = strbuf_unescaped(&j->name, l->comm, l->json);
	size_t n = comm.n < sizeof(t->comm) ? comm.n : sizeof(t->comm) - 1;

	t->host = host;
	t->tid = tid;
	t->group |= text_part_number(l->pid, 10, &pid) < 0 || pid != tid;
	memset(t->comm, 0, sizeof(t->comm));
	if (n)
		memcpy(t->comm, comm.text, n);
	return t;
}

/* Append the host's current mark line to the points. Exit REFUSED if there are too many. */
static void add(struct join *j, unsigned host, const struct dt_mark *m)
{
	const struct dt_host *h = &j->v[host];
	struct dt_messages *all = &j->messages;

	if (all->n == PEER_NOT)
		err_exit(REFUSED, "unable to join %s: too many mark lines; cut the trace", h->file);
	all->points = xgrow(all->points, all->n, &j->room, sizeof(*all->points));
	all->points[all->n] = (struct dt_point){
		.key = m->key, .time = h->time, .actor = actor_of(j, host, &h->l, m),
		.peer = PEER_NOT, .what = m->what, .order = (uint32_t)all->n,
	};
	all->n++;
}

/* Read the host's trace for mark lines and its first time, and rewind the file. */
static void collect(struct join *j, unsigned host)
{
	struct dt_host *h = &j->v[host];
	struct dt_mark m;
	int there;

	while ((there = dt_host_next(h)) > 0) {
		int64_t time = h->timed ? h->time : h->date;

		if (time >= 0 && (h->begin < 0 || time < h->begin))
			h->begin = time;
		if (h->timed && h->event && dt_mark(&m, &h->l) && m.tid <= UINT32_MAX)
			add(j, host, &m);
	}
	if (there < 0)
		exit(REFUSED);
	free(h->in.text);
	h->in = (struct line_reader){ .fd = h->in.fd, .name = h->file };
	h->comments = (struct comments){ 0 }; /* the lines are read once more */
	if (lseek(h->in.fd, 0, SEEK_SET) < 0)
		err_refuse("unable to read %s again", h->file);
}

/* ---- clocks ----------------------------------------------------------------------------- */

/* Compute j->clocks and j->later. Convert the times of all points, and count early messages. */
static void find_clocks(struct join *j)
{
	struct dt_clocks *c = &j->clocks;
	struct dt_point *v = j->messages.points;
	int64_t before = 0;

	for (unsigned i = 0; i < j->n; i++) {
		int64_t unit = 1;

		for (int d = j->v[i].digits; d < 9; d++)
			unit *= 10;
		if (j->v[i].begin >= 0 && unit > c->unit)
			c->unit = unit;
	}
	if (!j->as_it_is)
		dt_clocks_align(c);
	/* a printed time cannot be negative */
	for (unsigned i = 0; i < j->n; i++)
		if (j->v[i].begin >= 0 && j->v[i].begin + c->v[i].add < before)
			before = j->v[i].begin + c->v[i].add;
	j->later = (-before + DT_SECOND - 1) / DT_SECOND * DT_SECOND;
	for (size_t i = 0; i < j->messages.n; i++)
		v[i].time += c->v[v[i].actor->host].add + j->later;
	for (size_t i = 0; i < j->messages.n; i++) {
		const struct dt_point *p = &v[i];
		int64_t early = p->what == 'M' && p->peer < j->messages.n ?
				p->time - v[p->peer].time : 0;

		if (early > c->unit) {
			j->early++;
			if (early > j->earliest)
				j->earliest = early;
		}
	}
}

/* Keep a note for the picture, about the host of this name, or if name is NULL, about all hosts. */
static void add_note(struct join *j, const char *name, const char *text)
{
	char **note = &j->notes[j->nnotes++];

	/* text may be a comment line of a trace */
	text += 2 * (*text == '#' && text[1] == ' ');
	*note = xcalloc(strlen(text) + 2 * MOST_HOSTS, 1);
	str_format(*note, strlen(text) + 2 * MOST_HOSTS, "%s%s%s", name ? name : "",
		   name ? ": " : "", text);
}

/* Print j->words before the trace, as a comment line or as JSON, and empty it. */
static void print_head(struct join *j, const char *name)
{
	const char *text = j->words.text;

	if (j->sequence)
		add_note(j, name, text);
	if (!j->json)
		stdout_print("# %s%s%s\n", name ? name : "", name ? ": " : "", text);
	else if (name)
		stdout_print("{\"host\":\"%s\",\"clock\":\"%s\"}\n", name, text);
	else
		stdout_print("{\"clocks\":\"%s\"}\n", text);
	j->words.n = 0;
}

/* Print how the clocks differ, a line for each host, and what is wrong with them. */
static void print_clocks(struct join *j)
{
	struct strbuf *w = &j->words;

	w->n = 0;
	for (unsigned i = 0; i < j->n; i++) {
		const struct met *m = &j->messages.hosts[i];

		if (j->as_it_is)
			strbuf_puts(w, "its clock is not adjusted");
		else
			dt_clock_describe(w, &j->clocks, i, j->names, j->v[i].digits);
		if (j->once) {
			print_head(j, j->v[i].name);
			continue;
		}
		strbuf_format(w, "; %llu message%s", m->between, m->between == 1 ? "" : "s");
		if (m->sent)
			strbuf_format(w, ", %llu sent and not received", m->sent);
		if (m->received)
			strbuf_format(w, ", %llu received and not sent", m->received);
		print_head(j, j->v[i].name);
	}
	if (j->clocks.off) {
		strbuf_format(w, "clocks and messages contradict each other: %llu message%s "
			      "received before sent, by ", j->early,
			      j->early == 1 ? " is" : "s are");
		strbuf_seconds(w, j->earliest, 6);
		strbuf_puts(w, " s at most");
		print_head(j, NULL);
	}
	if (j->messages.many) {
		strbuf_format(w, "%llu key%s left out, because several messages have the same key",
			      j->messages.many, j->messages.many == 1 ? " is" : "s are");
		print_head(j, NULL);
	}
	if (j->later) {
		strbuf_format(w, "all times are %llu s later: a trace began before the first "
			      "host's clock did", (unsigned long long)j->later / DT_SECOND);
		print_head(j, NULL);
	}
}

/* ---- the second reading: all lines ------------------------------------------------------ */

/* Read the host's next line and convert its time. A line without a time keeps the last one. */
static void advance(struct join *j, unsigned i)
{
	struct dt_host *h = &j->v[i];
	int64_t before = h->time;
	int there = dt_host_next(h);

	if (there < 0)
		exit(REFUSED);
	if (!there)
		return;
	h->time = h->timed ? h->time + j->clocks.v[i].add + j->later : before;
	/* the file has changed since the first reading */
	if (h->timed && h->time < 0)
		h->time = 0;
	if (h->date >= 0)
		h->date += j->clocks.v[i].add + j->later;
	h->rank = dt_host_rank(h);
}

/*
 * Return the host whose line is the next to print. Among equal lines, that of the host `last`
 * comes first.
 */
static unsigned first(const struct join *j, unsigned last)
{
	const struct dt_host *best = &j->v[last];

	for (const struct dt_host *h = j->v; h < j->v + j->n; h++)
		if (h->there && (!best->there || h->time < best->time ||
				 (h->time == best->time && h->rank < best->rank)))
			best = h;
	return (unsigned)(best - j->v);
}

/* Print the clocks and then all lines in the order of their times. */
static void merge(struct join *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		j->v[i].time = INT64_MIN;
		advance(j, i);
	}
	j->json = 1;
	for (unsigned i = 0; i < j->n; i++)
		j->json &= !j->v[i].there || *j->v[i].line == '{';
	print_clocks(j);
	for (unsigned i = first(j, 0); j->v[i].there; i = first(j, i)) {
		struct dt_host *h = &j->v[i];

		dt_host_print(h, j->wide);
		j->events += (unsigned)h->event;
		if (h->event && j->sequence)
			sequence_event(j->sequence, i, &h->l, h->time);
		else if (!h->event)
			comments_keep(&h->comments, h->line);
		advance(j, i);
	}
	stdout_flush();
	for (struct dt_host *h = j->v; h < j->v + j->n; h++) {
		char text[COMMENTS_MISSED];

		if (comments_missed(&h->comments, text, sizeof(text)))
			err_note("%s: not understood, and joined as they are: %s", h->file, text);
		comments_end(&h->comments);
	}
}

/* ---- main --------------------------------------------------------------------------------- */

/* Add the host of an operand NAME=FILE, which is split at the equals sign. */
static void open_host(struct join *j, char *word)
{
	struct dt_host *h = &j->v[j->n];
	char *file = strchr(word, '=');

	if (!file)
		usage_error(&tool, "not NAME=FILE: '%.80s'", word);
	*file++ = '\0';
	if (!text_is_name(word))
		usage_error(&tool, "not a host's name: '%.80s'", word);
	for (unsigned i = 0; i < j->n; i++)
		if (!strcmp(j->v[i].name, word))
			usage_error(&tool, "two hosts are called '%s'", word);
	*h = (struct dt_host){ .name = word, .file = file, .begin = -1 };
	h->in.name = file;
	j->names[j->n] = word;
	if (strlen(word) > j->wide)
		j->wide = strlen(word);
	j->n++;
}

/*
 * Open and empty the file of the picture. Return a descriptor. Exit REFUSED if that fails
 * or if the file is one of the traces.
 */
static int open_picture(const struct join *j, const char *path)
{
	int made, fd = output_file(path, &made);
	struct stat st, other;

	if (fd < 0)
		exit(REFUSED);
	if (fstat(fd, &st) < 0)
		err_refuse("unable to open %s", path);
	for (unsigned i = 0; i < j->n; i++)
		if (fstat(j->v[i].in.fd, &other) == 0 && st.st_dev == other.st_dev &&
		    st.st_ino == other.st_ino)
			err_exit(REFUSED, "unable to draw into %s: it is a trace; give another "
					  "file", path);
	if (S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)
		err_refuse("unable to empty %s", path);
	return fd;
}

/* Draw the picture. Its notes are the lines about clocks, then the traces' lines about losses. */
static void draw(struct join *j, int fd, const char *path)
{
	stdout_to(fd, path);
	for (unsigned i = 0; i < j->n; i++)
		for (unsigned k = 0; k < j->v[i].comments.n; k++)
			add_note(j, j->v[i].name, j->v[i].comments.line[k]);
	sequence_draw(j->sequence, j->notes, j->nnotes);
	stdout_flush();
}

int main(int argc, char **argv)
{
	static struct join j; /* large; an initializer would put it into the program's file */
	const char *picture = NULL;
	int c, fd = -1;

	j.actors.size = sizeof(struct dt_actor);
	while ((c = opt_next(&tool, argc, argv)) != -1)
		if (c == 'c')
			j.as_it_is = 1;
		else
			picture = opt_value;
	if (!argv[opt_index])
		usage_error(&tool, "no trace");
	if (argc - opt_index > MOST_HOSTS)
		usage_error(&tool, "more than %d traces", MOST_HOSTS);
	j.v = xcalloc((size_t)(argc - opt_index), sizeof(*j.v));
	j.names = xcalloc((size_t)(argc - opt_index), sizeof(*j.names));
	for (char **word = argv + opt_index; *word; word++)
		open_host(&j, *word);
	j.once = j.as_it_is && !picture;
	j.messages.nhosts = j.clocks.n = j.n;
	j.messages.hosts = xcalloc(j.n, sizeof(*j.messages.hosts));
	j.messages.least = j.clocks.least = xcalloc((size_t)j.n * j.n, sizeof(int64_t));
	j.clocks.v = xcalloc(j.n, sizeof(*j.clocks.v));
	for (unsigned i = 0; i < j.n; i++) {
		struct dt_host *h = &j.v[i];
		struct stat st;

		h->in.fd = file_open(h->file, FILE_REGULAR | FILE_FIFO | FILE_NULL, O_RDONLY, &st);
		if (h->in.fd == FILE_OTHER)
			err_exit(REFUSED, "%s is neither a regular file nor a FIFO", h->file);
		if (h->in.fd < 0) {
			err_errno("unable to open %s", h->file);
			return REFUSED;
		}
		if (!j.once && lseek(h->in.fd, 0, SEEK_CUR) < 0)
			err_exit(REFUSED, "unable to read %s twice: it is not a regular file",
					  h->file);
	}
	if (picture)
		fd = open_picture(&j, picture);

	confine();
	if (j.once) {
		signal(SIGINT, SIG_IGN);
	} else {
		for (unsigned i = 0; i < j.n; i++)
			collect(&j, i);
		dt_messages_find(&j.messages);
		find_clocks(&j);
	}
	if (picture)
		j.sequence = sequence_make(j.names, &j.messages);
	merge(&j);
	if (picture)
		draw(&j, fd, picture);
	return j.events ? DONE : err_no("no event in the traces");
}
