/* SPDX-License-Identifier: ISC */
/* diff_print.c - print differences: similar ones in one line, the most surprising first */

#include "lines/lines.h"
#include "diff.h"

enum direction { APPEARS, VANISHES, MORE, LESS };
enum { FOLD = 4 /* paths in a line of their directory */, LINES = 3 /* of a call */ };

/* A line of the output. */
struct told {
	char *text;
	enum diff_kind kind;
	const struct diff_item *item;   /* the first one of n */
	char *subject;
	size_t n;
};

static struct told *told;
static size_t ntold, room;

static enum diff_kind kind_of(const struct diff_item *i)
{
	return (enum diff_kind)(*i->entry.key - 'A');
}

static const char *object_of(const struct diff_item *i)
{
	return strchr(i->entry.key, '\t') + 1;
}

static enum direction direction_of(const struct diff_item *i)
{
	return !i->before ? APPEARS : !i->after ? VANISHES : i->before < i->after ? MORE : LESS;
}

/* ---- sentences ---- */

/* A sentence is its head, its verb and its object. */
struct sentence {
	struct strbuf head, verb, object;
};

/* Make the sentence of a kind, a group and a subject. */
static void make_sentence(struct sentence *s, const struct diff_item *i, const char *subject)
{
	const int n = (int)strcspn(i->entry.key + 1, "\t");
	const char *group = i->entry.key + 1;
	const int word = (int)strcspn(group, " \t"), failed = word < n;

	strbuf_empty(&s->head);
	strbuf_puts(strbuf_empty(&s->object), subject);
	switch (kind_of(i)) {
	case DIFF_FAILURES:
		strbuf_format(&s->head, "%.*s of %s ", word, group, subject);
		/* fall through */
	case DIFF_ERRORS:
		if (kind_of(i) == DIFF_ERRORS)
			strbuf_format(&s->head, "%.*s ", word, group);
		strbuf_puts(strbuf_empty(&s->verb), "fails with");
		strbuf_add(strbuf_empty(&s->object), group + word + 1, (size_t)(n - word - 1));
		return;
	case DIFF_CONNECTIONS:
		strbuf_puts(strbuf_empty(&s->verb), n ? "fails to connect to" : "connects to");
		if (n)
			strbuf_format(&s->object, " (%.*s)", n, group);
		return;
	case DIFF_WAITS:
		strbuf_format(&s->head, "%.*s ", n, group);
		strbuf_puts(strbuf_empty(&s->verb), strncmp(subject, "run", 3) ? "waits" : "runs");
		if (!strncmp(subject, "blocked;", 8))
			strbuf_format(strbuf_empty(&s->object), "for %s", subject + 8);
		else if (strncmp(subject, "run", 3))
			strbuf_format(strbuf_empty(&s->object), "as it is %s", subject);
		else
			strbuf_puts(strbuf_empty(&s->object), "");
		return;
	case DIFF_TIMES:
		strbuf_puts(strbuf_empty(&s->verb), "spends");
		strbuf_format(strbuf_empty(&s->object), "in %.*s", n, group);
		if (*subject)
			strbuf_format(&s->object, " for %s", subject);
		return;
	case DIFF_CALLS:
		if (failed)
			strbuf_format(&s->head, "%.*s ", word, group);
		strbuf_puts(strbuf_empty(&s->verb), failed ? "fails with" : "calls");
		group += failed ? word + 1 : 0;
		strbuf_add(strbuf_empty(&s->object), group, strcspn(group, "\t"));
		return;
	case DIFF_EVENTS:
		strbuf_puts(strbuf_empty(&s->verb), "has the event");
		strbuf_add(strbuf_empty(&s->object), group, (size_t)n);
		return;
	case DIFF_LINES:
		strbuf_puts(strbuf_empty(&s->verb), "calls");
		return;
	default: /* the group is the verb */
		strbuf_add(strbuf_empty(&s->verb), group, (size_t)n);
	}
}

static void put_time(struct strbuf *to, uint64_t ns)
{
	const struct decimal us = { 0, ns / 1000, (uint32_t)(ns % 1000) * 1000000 };
	char text[DECIMAL_TEXT];

	decimal_time(text, &us, 0);
	strbuf_puts(to, ns ? text : "0 ms");
}

/* Write the sentence of one item to the line. */
static void say(struct strbuf *line, const struct diff_item *i)
{
	static struct sentence s;
	const enum direction direction = direction_of(i);
	const int timed = kind_of(i) == DIFF_WAITS || kind_of(i) == DIFF_TIMES;
	const char *space;

	make_sentence(&s, i, object_of(i));
	space = s.object.n ? " " : "";
	strbuf_empty(line);
	if (direction == VANISHES && !timed) {
		strbuf_format(line, "%sno longer %s %s", s.head.n ? s.head.text : "", s.verb.text,
			      s.object.text);
		return;
	}
	strbuf_format(line, "%s%s ", s.head.n ? s.head.text : "", s.verb.text);
	if (timed)
		put_time(line, i->after);
	strbuf_format(line, "%s%s", timed ? space : "", s.object.text);
	if (!timed && (i->after > 1 || direction > VANISHES))
		strbuf_format(line, " %llu time%s", (unsigned long long)i->after,
			      i->after == 1 ? "" : "s");
	strbuf_puts(line, ": ");
	if (timed)
		put_time(line, i->before);
	else if (direction == APPEARS)
		strbuf_puts(line, "not");
	else
		strbuf_format(line, "%llu", (unsigned long long)i->before);
	strbuf_puts(line, " before");
}

/* Write the sentence of n items below a directory to the line. */
static void say_many(struct strbuf *line, const struct diff_item *i, const char *dir, size_t n)
{
	static const char ends[][12] = { "", "", " more often", " less often" };
	const enum direction direction = direction_of(i);
	static struct strbuf files;
	static struct sentence s;

	strbuf_format(strbuf_empty(&files), "%llu %sfiles below %s", (unsigned long long)n,
		      direction == APPEARS ? "more " : "", dir);
	make_sentence(&s, i, files.text);
	strbuf_format(strbuf_empty(line), "%s%s%s %s%s", s.head.n ? s.head.text : "",
		      direction == VANISHES ? "no longer " : "", s.verb.text, s.object.text,
		      ends[direction]);
}

/* ---- folding ---- */

static void tell(const struct strbuf *line, const struct diff_item *i, const char *subject,
		 size_t n)
{
	told = xgrow(told, ntold, &room, sizeof(*told));
	told[ntold++] = (struct told){ xstrdup(line->text), kind_of(i), i, xstrdup(subject), n };
}

static void tell_each(struct diff_item **v, size_t n)
{
	static struct strbuf line;

	for (size_t i = 0; i < n; i++) {
		say(&line, v[i]);
		tell(&line, v[i], object_of(v[i]), 1);
	}
}

/* Return the length of the longest directory that all n paths, which are sorted, are below. */
static size_t common_directory(struct diff_item **v, size_t n)
{
	const char *a = object_of(v[0]), *b = object_of(v[n - 1]);
	size_t same = 0, slash = 0;

	for (; a[same] && a[same] == b[same]; same++)
		if (a[same] == '/')
			slash = same;
	return slash;
}

/* Return how many of the sorted items have the name of the first one after length bytes. */
static size_t same_name(struct diff_item **v, size_t n, size_t length)
{
	const char *first = object_of(v[0]);
	const size_t name = length + 1 + strcspn(first + length + 1, "/");
	size_t k = 1;

	while (k < n && !strncmp(object_of(v[k]), first, name) &&
	       (object_of(v[k])[name] == '/' || !object_of(v[k])[name]))
		k++;
	return k;
}

/* Tell n items whose subjects are sorted paths: those of one directory in one line. */
static void fold(struct diff_item **v, size_t n)
{
	const size_t length = n < FOLD ? 0 : common_directory(v, n);
	const char *first = object_of(v[0]);
	static struct strbuf line, dir;
	size_t names = 0, depth = 0;

	if (n < FOLD || *first != '/' || *object_of(v[n - 1]) != '/') {
		tell_each(v, n);
		return;
	}
	for (size_t i = 0; i < length; i++)
		depth += first[i] == '/';
	for (size_t i = 0; i < n; i += same_name(v + i, n - i, length))
		names++;
	if (names * 2 >= n && (depth > 1 || n >= 2 * FOLD)) {
		strbuf_add(strbuf_empty(&dir), first, length ? length : 1);
		say_many(&line, v[0], dir.text, n);
		tell(&line, v[0], dir.text, n);
		return;
	}
	for (size_t i = 0, k; i < n; i += k) {
		k = same_name(v + i, n - i, length);
		if (k == n) { /* the first one is the directory of the others */
			tell_each(v, 1);
			fold(v + 1, n - 1);
		} else {
			fold(v + i, k);
		}
	}
}

static int same_sentence(const struct diff_item *a, const struct diff_item *b)
{
	const size_t n = strcspn(a->entry.key, "\t") + 1;

	return !strncmp(a->entry.key, b->entry.key, n) && direction_of(a) == direction_of(b);
}

static int by_sentence(const void *a, const void *b)
{
	const struct diff_item *x = *(struct diff_item *const *)a;
	const struct diff_item *y = *(struct diff_item *const *)b;
	const size_t n = strcspn(x->entry.key, "\t") + 1, m = strcspn(y->entry.key, "\t") + 1;
	const int order = n == m ? memcmp(x->entry.key, y->entry.key, n) :
			  strcmp(x->entry.key, y->entry.key);

	return order ? order : direction_of(x) != direction_of(y) ?
	       ASCENDING(direction_of(x), direction_of(y)) : strcmp(x->entry.key, y->entry.key);
}

/* Tell the first lines of a call, and the number of the others. */
static void tell_lines(struct diff_item **v, size_t n)
{
	static struct strbuf line;
	const size_t shown = n > LINES ? LINES - 1 : n;

	tell_each(v, shown);
	if (shown == n)
		return;
	strbuf_format(strbuf_empty(&line), "%llu other lines of %.*s %s",
		      (unsigned long long)(n - shown), (int)strcspn(v[0]->entry.key + 1, "\t"),
		      v[0]->entry.key + 1, direction_of(v[0]) == APPEARS ? "are new" :
		      direction_of(v[0]) == VANISHES ? "are missing" : "differ in number");
	tell(&line, v[shown], object_of(v[shown]), n - shown);
}

/* ---- the output ---- */

/* Return a measure of how much there is of it now or before, for equal surprise and kind. */
static uint64_t weight(const struct told *t)
{
	const struct diff_item *i = t->item;

	return t->kind == DIFF_WAITS || t->kind == DIFF_TIMES ?
	       (i->before < i->after ? i->after - i->before : i->before - i->after) : t->n;
}

/* Order: names, which have no noise; times of addresses; waits and other times; other numbers. */
static int group_of(const struct told *t)
{
	return t->kind < DIFF_WAITS ? 0 : t->kind == DIFF_TIMES && *t->subject ? 1 :
	       t->kind <= DIFF_TIMES ? 2 : 3;
}

static int by_surprise(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	const double p = x->item->judged ? x->item->p : 0, q = y->item->judged ? y->item->p : 0;
	/* what only one side has is more surprising than another number */
	const int only = direction_of(x->item) < MORE, only_y = direction_of(y->item) < MORE;

	return group_of(x) != group_of(y) ?
	       ASCENDING(group_of(x), group_of(y)) :
	       p != q ? ASCENDING(p, q) : only != only_y ? only_y - only :
	       x->kind != y->kind && group_of(x) != 2 ? ASCENDING(x->kind, y->kind) :
	       weight(x) != weight(y) ? ASCENDING(weight(y), weight(x)) : strcmp(x->text, y->text);
}

/* Return the next word of a line that is no number, no unit, and no colon; n 0: the end. */
static struct text_part next_word(const char **at, const char *end)
{
	struct text_part word = { *at, 0 };

	do {
		for (*at += *at < end && **at == ' '; *at < end && **at == ' '; ++*at)
			;
		word = (struct text_part){ *at, 0 };
		for (; *at < end && **at != ' '; ++*at)
			word.n++;
		word.n -= word.n && word.text[word.n - 1] == ':';
	} while (word.n && (strspn(word.text, "0123456789.") >= word.n || text_part_is(word, "s") ||
			    text_part_is(word, "ns") || text_part_is(word, "us") ||
			    text_part_is(word, "ms") || text_part_is(word, "time") ||
			    text_part_is(word, "times")));
	return word;
}

/* Are two lines the same but for numbers and times? */
static int same_but_numbers(const char *a, size_t n, const char *b)
{
	const char *const a_end = a + n, *const b_end = b + strlen(b);
	struct text_part x, y;

	do {
		x = next_word(&a, a_end);
		y = next_word(&b, b_end);
	} while (x.n && x.n == y.n && !memcmp(x.text, y.text, x.n));
	return !x.n && !y.n;
}

static int is_accepted(const char *accepted, const char *line)
{
	for (size_t n; accepted && *accepted; accepted += n) {
		n = strcspn(accepted, "\n");
		if (same_but_numbers(accepted, n, line))
			return 1;
		n += accepted[n] == '\n';
	}
	return 0;
}

static void print_object(const struct told *t)
{
	char p[16];
	struct out o = out_to(p, sizeof(p) - 1);

	out_decimals(&o, (uint64_t)(t->item->p * 1e9), 9);
	*o.at = '\0';
	stdout_print("{\"kind\":\"%s\"", diff_kinds[t->kind]);
	json_print_string("change", text_part_of(t->text));
	json_print_string("what", (struct text_part){ t->item->entry.key + 1,
			  strcspn(t->item->entry.key + 1, "\t") });
	json_print_string("subject", text_part_of(t->subject));
	stdout_print(",\"keys\":%llu,\"before\":%llu,\"after\":%llu,\"p\":%s}\n",
		     (unsigned long long)t->n, (unsigned long long)t->item->before,
		     (unsigned long long)t->item->after, p);
}

size_t diff_print(struct diff_item **v, size_t n, const struct diff_form *form)
{
	size_t printed = 0;

	array_sort(v, n, sizeof(*v), by_sentence);
	for (size_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && same_sentence(v[i], v[i + k]);)
			k++;
		if (kind_of(v[i]) == DIFF_FILES || kind_of(v[i]) == DIFF_FAILURES)
			fold(v + i, k);
		else
			(kind_of(v[i]) == DIFF_LINES ? tell_lines : tell_each)(v + i, k);
	}
	array_sort(told, ntold, sizeof(*told), by_surprise);
	for (size_t i = 0; i < ntold; i++) {
		if (is_accepted(form->accepted, told[i].text))
			continue;
		printed++;
		if (form->json)
			print_object(&told[i]);
		else
			stdout_print("%s\n", told[i].text);
	}
	return printed;
}
