/* SPDX-License-Identifier: ISC */
/*
 * whycheck - compare what tfs-why says of the chains of the program why with what happened
 *
 *	whycheck [-t US] [-w] TRUTH JSON
 *
 * TRUTH is the output of why, JSON that of tfs-why --json. A chain is right if the parts of
 * its head add up to the whole time to the nanosecond, at most 1 us for each
 * part is unknown, and from the head on each wait is there, in its state and on its kind, ended by
 * its waker, and as long as it was. The times may differ by -t US (default 500), because a
 * task needs some time before and after the call that waits, and by nothing else.
 *	-w  do not compare kinds and what ran instead
 * It prints a line for each chain that is wrong, and the JSON of its head; last "N of M chains
 * are right". The head has a blocked part for each of its voluntary switches, unless it was
 * woken before it left its CPU: then it only waits for a CPU. It has at most two more, because
 * it may wait while it ends.
 * Exit: 0 all are right, 1 some are wrong, 111 refused.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "base/base.h"
#include "prog.h"

enum { MOST = 64 };

struct wait {
	unsigned chain, level;
	int tid, waker;
	char state[16], on[16], way[32];
	int64_t least, most;
};

struct task {
	unsigned chain, level;
	int tid;
	char comm[16];
	uint64_t ran, delayed;
	long voluntary, involuntary;
};

static int64_t tolerance = 500000;
static int any_kind;
static int hidden; /* waits after a page fault that do not name it */
static int deferred; /* chains that end at the kernel's thread for soft interrupts */
static char wrong[512]; /* what is wrong with this chain; empty if it is right */

static void say(const char *fmt, ...)
{
	va_list ap;

	if (*wrong)
		return;
	va_start(ap, fmt);
	vsnprintf(wrong, sizeof(wrong), fmt, ap);
	va_end(ap);
}

/* Return the member of the object, or a part without text. */
static struct text_part member(struct text_part object, const char *want)
{
	const char *s = object.text;
	struct text_part name, value;

	while (s && json_member(&s, object.text + object.n, &name, &value) > 0)
		if (text_part_is(json_unquoted(name), want))
			return value;
	return (struct text_part){ NULL, 0 };
}

static int64_t number(struct text_part object, const char *name)
{
	struct text_part value = member(object, name);
	uint64_t n = 0;

	if (!value.text || text_part_number(value, 10, &n))
		return -1;
	return (int64_t)n;
}

static int is(struct text_part object, const char *name, const char *value)
{
	struct text_part has = member(object, name);

	return has.text && text_part_is(json_unquoted(has), value);
}

/* Add up a number of the parts of this state, or of all if it is NULL. */
static int64_t sum(struct text_part parts, const char *state, const char *name)
{
	const char *s = parts.text;
	struct text_part part;
	int64_t all = 0;

	while (s && json_element(&s, parts.text + parts.n, &part) > 0)
		if (!state || is(part, "state", state))
			all += number(part, name);
	return all;
}

/*
 * Is it a part of the wait? Its waker, or the task that ran instead, is the right one. An interrupt
 * is 0, except that tasks of the kernel may end the requests of a disk. The kernel may defer what a
 * sender of TCP has begun, to ksoftirqd. If an interrupt came between a page fault and its wait, it
 * is not known for what the task waits; that may happen once.
 */
static int belongs(struct text_part part, const struct wait *w)
{
	int blocked = !strcmp(w->state, "blocked");
	struct text_part other = member(part, blocked ? "waker" : "instead");
	int64_t pid = other.text ? number(other, "pid") : 0;

	if (!is(part, "state", w->state))
		return 0;
	if (any_kind && !blocked)
		return 1;
	if (blocked && !any_kind && !is(part, "on", w->on) &&
	    (strcmp(w->on, "page fault") || member(part, "on").text || hidden++))
		return 0;
	return pid == w->waker || !strcmp(w->on, "disk") || (any_kind && !w->waker) ||
	       (!pid && !strcmp(w->way, "tcp"));
}

/* Find the longest part of the wait, and set *ns to the sum of all its parts. */
static struct text_part find(struct text_part parts, const struct wait *w, int64_t *ns)
{
	const char *s = parts.text;
	struct text_part part, found = { NULL, 0 };

	*ns = 0;
	while (s && json_element(&s, parts.text + parts.n, &part) > 0) {
		if (!belongs(part, w))
			continue;
		if (!found.text || number(part, "ns") > number(found, "ns"))
			found = part;
		*ns += number(part, "ns");
	}
	return found;
}

/* Compare the parts of a level and, below its wakers, of the next levels. */
static void compare(struct text_part parts, const struct wait *w, const struct wait *end)
{
	unsigned level = w->level;
	struct text_part found, below = { NULL, 0 };
	int64_t ns;

	for (; w < end && w->level == level && !*wrong; w++) {
		found = find(parts, w, &ns);
		if (!found.text)
			say("level %u, %s: no part %s on %s by %d", level, w->way, w->state,
				w->on, w->waker);
		else if (ns < w->least - tolerance || ns > w->most + tolerance)
			say("level %u, %s: %s on %s for %" PRId64 " ns, not %" PRId64 " to %"
				PRId64, level, w->way, w->state, w->on, ns, w->least, w->most);
		below = found.text ? member(found, "parts") : found;
		if (w + 1 < end && found.text && !number(member(found, "waker"), "pid") &&
		    !strcmp(w->way, "tcp")) {
			deferred++;
			return;
		}
	}
	if (w == end || *wrong)
		return;
	if (!below.text)
		say("level %u: no parts of its waker", level);
	else
		compare(below, w, end);
}

/* Return the last line of the task, or a part without text. */
static struct text_part line_of(struct text_part all, int tid)
{
	struct text_part found = { NULL, 0 };

	for (size_t at = 0, n; at < all.n; at += n + 1) {
		const char *line = all.text + at, *newline = memchr(line, '\n', all.n - at);

		n = newline ? (size_t)(newline - line) : all.n - at;
		if (number((struct text_part){ line, n }, "pid") == tid)
			found = (struct text_part){ line, n };
	}
	return found;
}

static void compare_head(struct text_part head, const struct task *t, const struct wait *w,
	const struct wait *end)
{
	struct text_part parts;
	int64_t unknown, total, blocked, woken;

	if (!head.text) {
		say("no line of %s", t->comm);
		return;
	}
	parts = member(head, "parts");
	total = number(head, "total_ns");
	unknown = sum(parts, "unknown", "ns");
	if (sum(parts, NULL, "ns") != total)
		say("all parts have %" PRId64 " ns, not %" PRId64, sum(parts, NULL, "ns"), total);
	if (unknown > 1000 * sum(parts, NULL, "count"))
		say("%" PRId64 " ns unknown", unknown);
	if (w < end)
		compare(parts, w, end);
	blocked = sum(parts, "blocked", "count");
	woken = sum(parts, "runnable", "count") - 1; /* it was born as well */
	if (t->voluntary > (woken > blocked ? woken : blocked) || blocked - t->voluntary > 2)
		say("%" PRId64 " blocked parts, but %ld voluntary switches", blocked, t->voluntary);
}

static struct text_part contents(const char *path)
{
	struct text_part all = { NULL, 0 };
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0, n;

	do {
		text = realloc(text, size + 65536);
		if (!f || !text) {
			fprintf(stderr, "whycheck: unable to read %s: %s\n", path, strerror(errno));
			exit(111);
		}
		n = fread(text + size, 1, 65536, f);
		size += n;
	} while (n);
	fclose(f);
	all.text = text;
	all.n = size;
	return all;
}

/* Read the next chain: its head, its waits. Return their number, or -1 after the last chain. */
static int read_chain(FILE *f, struct task *head, struct wait *w)
{
	char line[256];
	long here = ftell(f);
	int n = 0, any = 0;
	struct task t;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "task %u %u %d %15s %" SCNu64 " %" SCNu64 " %ld %ld", &t.chain,
			&t.level, &t.tid, t.comm, &t.ran, &t.delayed, &t.voluntary,
			&t.involuntary) == 8) {
			if (any && !t.level) {
				fseek(f, here, SEEK_SET);
				return n;
			}
			if (!t.level)
				*head = t;
			any = 1;
		} else if (n < MOST && sscanf(line, "wait %u %u %d %15s %15s %d %" SCNd64 " %"
			SCNd64 " %31s", &w[n].chain, &w[n].level, &w[n].tid, w[n].state, w[n].on,
			&w[n].waker, &w[n].least, &w[n].most, w[n].way) == 9) {
			for (char *at; (at = strchr(w[n].on, '_'));)
				*at = ' ';
			n++;
		}
		here = ftell(f);
	}
	return any ? n : -1;
}

int main(int argc, char **argv)
{
	struct wait waits[MOST];
	struct task head;
	struct text_part all, line;
	int n, chains = 0, right = 0;
	FILE *f;

	for (int c; (c = getopt(argc, argv, "t:w")) != -1;)
		switch (c) {
		case 't': tolerance = atol(optarg) * INT64_C(1000); break;
		case 'w': any_kind = 1; break;
		default: return 100;
		}
	if (argc - optind != 2)
		return 100;
	all = contents(argv[optind + 1]);
	f = fopen(argv[optind], "re");
	if (!f)
		return 111;
	for (; (n = read_chain(f, &head, waits)) >= 0; chains++, right += !*wrong) {
		*wrong = '\0';
		line = line_of(all, head.tid);
		compare_head(line, &head, waits, waits + n);
		if (*wrong)
			printf("chain %u: %s\n%.*s\n", head.chain, wrong, (int)line.n, line.text);
	}
	fclose(f);
	printf("%d of %d chains are right", right, chains);
	if (deferred)
		printf(", %d of them up to a deferred interrupt", deferred);
	printf("\n");
	return right < chains || !chains;
}
