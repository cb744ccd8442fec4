/* SPDX-License-Identifier: ISC */
/*
 * people.c - an event as a line for people: columns, names for numbers, times of day, colours
 *
 * In this file, each part uses those above it:
 *	the output, and edits: parts of a text that are replaced
 *	numbers and their names
 *	events
 *	columns
 *	lines at a terminal
 */
#include <sys/ioctl.h>

#include "base/base.h"
#include "host/host.h"
#include "calls/calls.h"
#include "people/people.h"

/* ---- the output, and edits: parts of a text that are replaced ---- */

static const char RED[] = "\033[31m", DIM[] = "\033[2m", PLAIN[] = "\033[m";

/* A part of a text, and what is printed instead of it. */
struct edit {
	const char *at;
	size_t n;
	int bad;                /* a failure */
	char text[128];
};

/* The edits of a line, in the order of the line. */
struct edits {
	struct edit v[8];
	size_t n;
};

static void put_coloured(const struct people *p, struct out *o, const char *colour,
			 const char *s, size_t n)
{
	if (p->colours && *colour)
		out_string(o, colour);
	out_text(o, s, n);
	if (p->colours && *colour)
		out_string(o, PLAIN);
}

static void put_part(struct out *o, struct text_part p)
{
	if (p.n)
		out_text(o, p.text, p.n);
}

/* Return the number of characters of UTF-8. */
static size_t width_of(struct text_part p)
{
	size_t w = 0;

	for (size_t i = 0; i < p.n; i++)
		w += ((unsigned char)p.text[i] & 0xc0) != 0x80;
	return w;
}

/* Write spaces up to a width, of which n characters are in use. */
static void pad(struct out *o, size_t n, size_t width)
{
	out_fill(o, ' ', (int)width - (int)n);
}

/*
 * Return the edit that replaces n bytes at s, or NULL if another edit replaces some of
 * them, or if there is no room. The caller sets its text.
 */
static struct edit *edit(struct edits *e, const char *s, size_t n)
{
	size_t i = e->n;

	for (; i && e->v[i - 1].at >= s; i--)
		;
	if (e->n == sizeof(e->v) / sizeof(*e->v) || (i < e->n && e->v[i].at < s + n) ||
	    (i && e->v[i - 1].at + e->v[i - 1].n > s))
		return NULL;
	memmove(e->v + i + 1, e->v + i, (e->n - i) * sizeof(*e->v));
	e->n++;
	e->v[i].at = s;
	e->v[i].n = n;
	e->v[i].bad = 0;
	return &e->v[i];
}

static void replace(struct edits *e, struct text_part p, const char *text, int bad)
{
	struct edit *new = text ? edit(e, p.text, p.n) : NULL;

	if (!new)
		return;
	str_format(new->text, sizeof(new->text), "%s", text);
	new->bad = bad;
}

/* Write the text from s to end, with the edits. */
static void put_edited(const struct people *p, struct out *o, const char *s, const char *end,
		       const struct edits *e)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct edit *x = &e->v[i];

		if (x->at < s || x->at + x->n > end)
			continue;
		out_text(o, s, (size_t)(x->at - s));
		if (x->bad)
			put_coloured(p, o, RED, x->text, strlen(x->text));
		else
			out_string(o, x->text);
		s = x->at + x->n;
	}
	out_text(o, s, (size_t)(end - s));
}

/* ---- numbers and their names ---- */

int people_number(struct text_part p, int64_t *v)
{
	int negative = p.n > 1 && *p.text == '-';
	unsigned base = 10;
	uint64_t u;

	if (!p.n) /* its text may be NULL */
		return -1;
	p.text += negative;
	p.n -= (size_t)negative;
	if (p.n > 2 && p.text[0] == '0' && p.text[1] == 'x' && !negative) {
		base = 16;
		p.text += 2;
		p.n -= 2;
	}
	if (text_part_number(p, base, &u) < 0 || (base == 10 && u > INT64_MAX))
		return -1;
	/* a long of a kernel of 32 bits */
	if (base == 16 && sizeof(long) == 4 && p.n == 8 && u >> 31)
		u |= 0xffffffff00000000u;
	*v = negative ? -(int64_t)u : (int64_t)u;
	return 0;
}

void people_error(const struct people *p, struct out *o, int64_t error, const char *name)
{
	char text[128];

	put_coloured(p, o, RED, text, str_format(text, sizeof(text), "-1 %s (%s)", name,
						 strerror((int)error)));
}

/* Write the result of a call to text. address: it is an address; -1: not known. Is it an error? */
static int format_result(char *text, size_t size, int64_t v, int address)
{
	const char *name = name_of_error(error_of_result(v));

	if (name && v <= -512) /* only the kernel uses these */
		str_format(text, size, "= ? %s%s", name,
			   strncmp(name, "ERESTART", 8) ? "" : " (interrupted by a signal)");
	else if (name)
		str_format(text, size, "= -1 %s (%s)", name, strerror((int)-v));
	else if (address > 0 || (v < 0 && !error_of_result(v)) || (address < 0 && v > UINT32_MAX))
		str_format(text, size, v ? "= 0x%llx" : "= %llx", (unsigned long long)v);
	else if (v < 0)
		str_format(text, size, "= -%llu", (unsigned long long)-v);
	else
		str_format(text, size, "= %llu", (unsigned long long)v);
	return error_of_result(v) != 0;
}

void people_result(const struct people *p, struct out *o, int64_t v)
{
	char text[128];
	int bad = format_result(text, sizeof(text), v, -1);

	put_coloured(p, o, bad ? RED : "", text, strlen(text));
}

int people_exit(const struct people *p, struct out *o, int64_t code)
{
	char words[EXIT_WORDS];
	const char *text;

	if (code < 0 || code > 0xffff ||
	    (code & 0xff && (code >> 8 || !(code & 0x7f) || (code & 0x7f) == 0x7f)))
		return 0;
	text = exit_words((unsigned)code, words);
	put_coloured(p, o, code ? RED : "", text, strlen(text));
	return 1;
}

/* Return the name of the reason of a signal, or NULL. */
static const char *name_of_code(int64_t sig, int64_t code)
{
	static const struct { short sig, code; char name[14]; } codes[] = {
#include "reasons.h"
	};

	if (code > INT32_MAX && code <= UINT32_MAX)
		code -= (int64_t)1 << 32; /* an int, printed in hexadecimal */
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].code == code && (!codes[i].sig || codes[i].sig == sig))
			return codes[i].name;
	return NULL;
}

void people_siginfo(const struct people *p, struct out *o, int64_t sig, int64_t error,
		    int64_t code)
{
	const char *signal = name_of_signal(sig), *reason = name_of_code(sig, code);
	const char *name = error_of_result(-error) ? name_of_error(error) : NULL;

	out_string(o, "signal ");
	if (signal)
		out_string(o, signal);
	else
		out_signed(o, sig);
	out_string(o, " errno ");
	if (name)
		put_coloured(p, o, RED, name, strlen(name));
	else
		out_signed(o, error);
	out_string(o, " code ");
	if (reason)
		out_string(o, reason);
	else
		out_address(o, (uint32_t)code);
}

/* ---- events ---- */

static struct text_part key_of(const struct people_event *e, const char *key)
{
	return e->key(e->source, key);
}

/* Give AT_FDCWD, the directory of the *at calls that is no descriptor, its name. */
static void edit_directories(struct edits *x, const struct people_event *e)
{
	static const char keys[][7] = { "dfd", "olddfd", "newdfd" };
	/* not every kernel prints 0x; Linux 7 prints decimal numbers without a sign */
	static const char *const numbers[] = {
		"ffffff9c", "ffffffffffffff9c", "0xffffff9c", "0xffffffffffffff9c", "4294967196",
		"18446744073709551516", "-100",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct text_part p = key_of(e, keys[i]);

		for (size_t k = 0; p.n && k < sizeof(numbers) / sizeof(*numbers); k++)
			if (text_part_is(p, numbers[k]))
				replace(x, p, "AT_FDCWD", 0);
	}
}

/* Replace the result of a call and the characters before it. address: it is an address. */
static void edit_result(struct edits *x, struct text_part result, size_t before, int address)
{
	struct edit *new;
	int64_t v;

	if (people_number(result, &v) < 0)
		return;
	new = edit(x, result.text - before, result.n + before);
	if (new)
		new->bad = format_result(new->text, sizeof(new->text), v, address);
}

/* Give the number in the text of raw_syscalls, "NR 257 (...)" or "NR 257 = -2", its name. */
static void edit_raw_call(struct edits *x, const struct people_event *e)
{
	struct text_part nr = key_of(e, "id");
	int64_t v;
	const char *name = people_number(nr, &v) < 0 ? NULL : e->call(e->source, v);

	if (!name)
		return;
	replace(x, (struct text_part){ nr.text - 3, nr.n + 3 }, name, 0);
	edit_result(x, key_of(e, "ret"), 2,
		    role_of_call(name)->is & IS_ADDRESS);
}

/*
 * Give the errors of an event their names: ret=-2 is -ENOENT, as is [-2] at the end of a request to
 * a block device.
 */
static void edit_errors(struct edits *x, const struct people_event *e)
{
	static const char keys[][9] = {
		".ret", ".error", ".err", ".errno", ".result", ".retval", ".rc",
	};
	const char *s = e->body.text;
	char text[32];
	int64_t v;

	if (!strstr(s, "=-") && !strstr(s, "=0xfffffffffffff") && !strstr(s, " [-"))
		return;
	/* Skip probes, which print an address first: functions of programs have other results. */
	if (e->body.n > 3 && !memcmp(s, "(0x", 3))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct text_part p = key_of(e, keys[i]);
		const char *name = people_number(p, &v) < 0 ? NULL :
				   name_of_error(error_of_result(v));

		if (!name)
			continue;
		str_format(text, sizeof(text), "-%s", name);
		replace(x, p, text, 1);
	}
}

/* A flush has no sector: the kernel prints -1 without its sign. lat= counts microseconds. */
static void edit_numbers(struct edits *x, const struct people_event *e)
{
	static const char none[] = "18446744073709551615";
	struct text_part p;
	char text[TIME_WORDS];
	uint64_t us;

	if (strstr(e->body.text, none) && text_part_is(p = key_of(e, ".sector"), none))
		replace(x, p, "-1", 0);
	if (!strstr(e->body.text, " lat="))
		return;
	p = key_of(e, ".lat");
	if (text_part_number(p, 10, &us) < 0 || us > UINT64_MAX / 1000)
		return;
	time_words(text, us * 1000, 0);
	replace(x, p, text, 0);
}

/* Give a signal, its error and its reason their names. */
static void edit_signal(struct edits *x, const struct people_event *e)
{
	struct text_part sig = key_of(e, ".sig"), code = key_of(e, ".code");
	struct text_part error = key_of(e, ".errno");
	int64_t s, v;

	if (people_number(sig, &s) < 0)
		return;
	replace(x, sig, name_of_signal(s), 0);
	if (!people_number(code, &v))
		replace(x, code, name_of_code(s, v), 0);
	if (!people_number(error, &v) && error_of_result(-v))
		replace(x, error, name_of_error(v), 1);
}

/* Put what is derived from several events (lib/answers/facts.c) in words. */
static void edit_facts(struct edits *x, const struct people_event *e)
{
	static const char *const keys[] = { ".sent", ".exit_code", ".process_exit_code" };
	char words[EXIT_WORDS];
	int64_t v;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct text_part p = key_of(e, keys[i]);

		if (!people_number(p, &v))
			replace(x, p, i ? exit_words((unsigned)v, words) : name_of_signal(v),
				i && v);
	}
}

static void edit_event(struct edits *x, const struct people_event *e)
{
	edit_numbers(x, e);
	edit_facts(x, e);
	switch (e->kind) {
	case PEOPLE_ENTER:
		edit_directories(x, e);
		break;
	case PEOPLE_RETURN:
		if (key_of(e, "ret").text >= e->body.text + 3)
			edit_result(x, key_of(e, "ret"), 3,
				    role_of(e->event)->is & IS_ADDRESS);
		break;
	case PEOPLE_RAW_CALL:
		edit_raw_call(x, e);
		break;
	case PEOPLE_SIGNAL:
		edit_signal(x, e);
		break;
	case PEOPLE_OTHER:
		edit_errors(x, e);
	}
}

/* ---- columns ---- */

int column_next(const char **s, struct column *c)
{
	const char *p = *s + strspn(*s, " ");
	size_t n;

	*c = (struct column){ .name = p };
	if (!*p)
		return 0;
	c->nname = c->width = strcspn(p, " :=");
	p += c->nname;
	if (*p == ':') {
		p++;
		c->width = (size_t)text_digits(&p);
	}
	n = *p == '=' ? strspn(++p, "abcdefghijklmnopqrstuvwxyz0123456789_.*") : 0;
	if (!n || n >= sizeof(c->field) || !c->nname || c->width < c->nname || c->width > 99)
		return -1;
	memcpy(c->field, p, n);
	p += n;
	c->prefix = p += *p == '-';
	c->nprefix = strcspn(p, " ");
	*s = p + c->nprefix;
	return c->nprefix && p[-1] != '-' ? -1 : 1;
}

int people_columns(struct people *p, const char *s)
{
	struct column *c;
	int r;

	while ((r = column_next(&s, c = &p->columns[p->ncolumns])) > 0 &&
	       p->ncolumns < PEOPLE_COLUMNS)
		if (c->nname == 4 && !memcmp(c->name, "COMM", 4))
			p->comm = xstrdup(c->field);
		else if (c->nname == 3 && !memcmp(c->name, "PID", 3))
			p->pid = xstrdup(c->field);
		else
			p->ncolumns++;
	return r ? -1 : 0;
}

/* The columns before those of an event, and those that most terminals have. */
enum { HEAD = 41, USUAL = 80 };

/* The text of a time of day, "2026-11-23T16:53:16.156772Z". */
enum { DAY = 10, DAY_TIME = 15 };

/*
 * Set p->now to the time of day. Write the date before the first event and at midnight. Return 1,
 * or 0 if the time is out of range.
 */
static int set_time(struct people *p, struct out *o, uint64_t ns)
{
	int64_t us = ((int64_t)ns + p->offset) / 1000;

	if (ns > INT64_MAX / 2 || (int64_t)ns + p->offset < 0)
		return 0;
	if (!*p->now || us / 1000000 != p->second) {
		p->second = us / 1000000;
		time_date(p->now, us);
		if (memcmp(p->now, p->day, DAY))
			out_format(o, "# %.10s, UTC\n", p->now);
		memcpy(p->day, p->now, DAY);
	}
	digits_six(p->now + DAY + DAY_TIME - 5, (uint32_t)(us % 1000000));
	return 1;
}

const char *people_time(struct people *p, struct out *o, uint64_t ns)
{
	return p->by_day && set_time(p, o, ns) ? p->now + DAY + 1 : NULL;
}

void people_begin(struct people *p, struct out *o, uint64_t ns, int64_t offset)
{
	p->by_day = 1;
	p->offset = offset;
	*p->day = *p->now = '\0';
	set_time(p, o, ns);
}

/* Write the mark that people_wrap removes. */
static void put_mark(const struct people *p, struct out *o)
{
	if (p->marks)
		out_char(o, PEOPLE_MARK);
}

/* Return the column from which on a line may be broken: the last one that fits into USUAL. */
static const struct column *breakable(const struct people *p)
{
	const struct column *c = p->columns, *last = c + p->ncolumns - 1;

	for (size_t at = HEAD + c->width; c < last && (at += 1 + c[1].width) <= USUAL;)
		c++;
	return c;
}

static void put_title(struct people *p, struct out *o)
{
	const struct column *mark = breakable(p);

	out_format(o, "%s  COMM                PID%s", p->by_day ? PEOPLE_DAY_TITLE : PEOPLE_TITLE,
		   p->ncolumns ? " " : " EVENT");
	for (const struct column *c = p->columns, *end = c + p->ncolumns; c < end; c++) {
		if (c == mark)
			put_mark(p, o);
		out_format(o, "%-*.*s", c + 1 < end ? (int)c->width + 1 : 0, (int)c->nname,
			   c->name);
	}
	out_char(o, '\n');
	p->titled = 1;
}

/*
 * Does the event have the columns? System calls have none, but those of raw_syscalls have their
 * text.
 */
static int has_columns(const struct people *p, const struct people_event *e)
{
	const char *first = p->columns->field;

	if (!p->ncolumns || !e->key || e->kind == PEOPLE_ENTER || e->kind == PEOPLE_RETURN)
		return 0;
	return *first == '*' || (e->kind != PEOPLE_RAW_CALL && key_of(e, first).n);
}

/* Return the field for a column of the head, or the usual part of the line. */
static struct text_part of_head(const struct people *p, const struct people_event *e,
				const char *field, struct text_part usual)
{
	struct text_part part = field && has_columns(p, e) ? key_of(e, field) : usual;

	return part.n ? part : usual;
}

/* Write the columns of the head. */
static void put_head(struct people *p, struct out *o, const struct people_event *e)
{
	struct text_part time = e->time, comm = of_head(p, e, p->comm, e->comm);
	struct text_part pid = of_head(p, e, p->pid, e->pid);
	const char *day = e->timed ? people_time(p, o, e->ns) : NULL;

	if (day)
		time = (struct text_part){ day, DAY_TIME };
	if (!p->titled)
		put_title(p, o);
	put_part(o, e->host);
	pad(o, time.n, 15);
	put_coloured(p, o, DIM, time.text, time.n);
	out_text(o, "  ", 2);
	put_part(o, comm);
	pad(o, width_of(comm), 15);
	pad(o, pid.n, pid.n < 8 ? 8 : pid.n + 1);
	put_part(o, pid);
	out_char(o, ' ');
}

void people_head(struct people *p, struct out *o, const struct people_event *e)
{
	put_head(p, o, e);
	put_mark(p, o);
}

/* Return the length of the next character or colour, and add what it takes to the columns. */
static size_t next_of(const char *s, size_t n, size_t *columns)
{
	unsigned char c = (unsigned char)*s;
	size_t len = c < 0x80 ? 1 : text_utf8((const unsigned char *)s, n);

	if (c == '\033')
		len = strcspn(s, "m") + 1;
	else if (c >= ' ' || c == '\t')
		*columns += c == '\t' ? 8 : len > 2 ? 2 : 1;
	return len + !len;
}

/* Return how many columns of a terminal n bytes take at most. Marks and our colours take none. */
static size_t visible(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n;)
		i += next_of(text + i, n - i, &columns);
	return columns;
}

/* Write the value of a column. A value in quotes keeps them, so that its end is certain. */
static void put_value(const struct people *p, struct out *o, const struct column *c,
		      const struct people_event *e, struct edits *x)
{
	int all = !strcmp(c->field, "*"), quoted;
	struct text_part v = all ? e->body : key_of(e, c->field);
	const char *end, *s;

	if (!v.n) { /* its text may be NULL */
		out_char(o, '-');
		return;
	}
	end = v.text + v.n;
	if (all && *v.text == '(' && (s = strstr(v.text, ") ")))
		v.text = s + 2; /* without the place of a probe */
	/* a value outside of the body, such as the task's name, may have nothing before it */
	quoted = !all && v.text > e->body.text && v.text < e->body.text + e->body.n &&
		 v.text[-1] == '"' && *end == '"';
	if (c->nprefix && v.n > c->nprefix && !memcmp(v.text, c->prefix, c->nprefix))
		replace(x, (struct text_part){ v.text, c->nprefix }, "", 0);
	put_edited(p, o, v.text - quoted, end + quoted, x);
}

/* Write the columns of an event. */
static void put_columns(const struct people *p, struct out *o, const struct people_event *e,
			struct edits *x)
{
	const struct column *c = p->columns, *end = c + p->ncolumns, *mark = breakable(p);

	for (; c < end; c++) {
		char *start = o->at;
		size_t n;

		if (c == mark)
			put_mark(p, o);
		put_value(p, o, c, e, x);
		n = visible(start, (size_t)(o->at - start));
		if (c + 1 < end)
			pad(o, n, n < c->width ? c->width + 1 : n + 1);
	}
}

void people_event(struct people *p, struct out *o, const struct people_event *e)
{
	const char *body = e->body.text, *end = body + e->body.n;
	struct edits x;

	x.n = 0;
	put_head(p, o, e);
	if (e->key)
		edit_event(&x, e);
	if (has_columns(p, e)) {
		put_columns(p, o, e, &x);
		return;
	}
	put_mark(p, o);
	if (e->kind == PEOPLE_ENTER || e->kind == PEOPLE_RETURN) {
		put_edited(p, o, e->event.text, end, &x);
		return;
	}
	if (e->event.n) {
		put_part(o, e->event);
		pad(o, 0, e->body.n != 0);
	}
	put_edited(p, o, body, end, &x);
}

/* ---- lines at a terminal ---- */

void people_screen(struct people *p, int terminal)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR"); /* no-color.org */
	const char *when = getenv(PEOPLE_COLOUR);

	p->marks = terminal || getenv(PEOPLE_SCREEN);
	p->colours = p->marks && term && strcmp(term, "dumb") && !(no && *no);
	if (when && strcmp(when, "auto"))
		p->colours = !strcmp(when, "always");
}

/* Return the length of the next word, of at most n bytes. A space in quotes ends no word. */
static size_t word_length(const char *s, size_t n)
{
	size_t i = 0;

	for (int quoted = 0; i < n && (quoted || s[i] != ' '); i++) {
		quoted ^= s[i] == '"';
		i += s[i] == '\\' && i + 1 < n;
	}
	return i;
}

/* Return where the last column begins: at a mark, or after the last two blanks between words. */
static const char *last_column(const char *line, size_t n)
{
	const char *mark = memchr(line, PEOPLE_MARK, n), *last = NULL;

	for (size_t i = 0, word; !mark && i < n; i += word + !word) {
		word = word_length(line + i, n - i);
		if (i > 1 && word && line[i - 1] == ' ' && line[i - 2] == ' ')
			last = line + i;
	}
	return mark ? mark : last;
}

/*
 * Add a line, broken between words so that it fits into the width. The lines below begin where the
 * last column does, or further left if that column has less than half of the width. A word that is
 * too wide stays whole, and the terminal breaks it.
 */
static void wrap_line(struct strbuf *to, const char *line, size_t n, size_t columns)
{
	const char *last = last_column(line, n), *rest = last ? last : line, *end = line + n;
	size_t begin = visible(line, (size_t)(rest - line)), at = begin, blanks = 0;
	size_t indent = !last ? 4 : begin > columns / 2 ? columns / 4 : begin;

	strbuf_add(to, line, (size_t)(rest - line));
	rest += rest < end && *rest == PEOPLE_MARK;
	while (rest < end && columns > begin) {
		size_t word = word_length(rest, (size_t)(end - rest));
		size_t width = visible(rest, word);

		if (at + blanks + width > columns && blanks) {
			if (strspn(rest, " -") >= (size_t)(end - rest))
				return; /* only columns without a value are left */
			strbuf_format(to, "\n%*s", (int)indent, "");
			at = indent;
		} else {
			strbuf_format(to, "%*s", (int)blanks, "");
			at += blanks;
		}
		strbuf_add(to, rest, word);
		at += width;
		at = at > columns ? at % columns : at;
		rest += word;
		for (blanks = 0; rest < end && *rest == ' '; rest++)
			blanks++;
	}
	strbuf_format(to, "%*s", (int)blanks, "");
	strbuf_add(to, rest, (size_t)(end - rest));
}

size_t people_fit(const char *text, size_t n, size_t columns)
{
	size_t i = 0, at = 0, len;

	for (; i < n; i += len) {
		len = next_of(text + i, n - i, &at);
		if (columns && at > columns)
			break;
	}
	return i;
}

/* Add a row of a table: without its wide parts if the terminal is narrow, and cut at its width. */
static void add_row(struct strbuf *to, const char *line, size_t n, size_t columns)
{
	size_t begin = to->n;
	int out = 0;

	for (size_t i = 0; i < n; i++)
		if (line[i] == PEOPLE_WIDE)
			out = !out && columns && columns < PEOPLE_WIDE_COLUMNS;
		else if (!out && line[i] != PEOPLE_ROW)
			strbuf_add(to, line + i, 1);
	if (people_fit(to->text + begin, to->n - begin, columns) == to->n - begin)
		return;
	to->n = begin + people_fit(to->text + begin, to->n - begin, columns > 3 ? columns - 3 : 1);
	strbuf_puts(to, "...");
}

void people_wrap(struct strbuf *to, const char *text, size_t n, size_t columns)
{
	for (size_t len, line; n; text += len, n -= len) {
		len = text_line_length(text, n);
		line = len - (text[len - 1] == '\n');
		if (*text == PEOPLE_ROW)
			add_row(to, text, line, columns);
		else if (memchr(text, PEOPLE_MARK, line) ||
			 (columns && *text != '{' && visible(text, line) > columns))
			wrap_line(to, text, line, columns);
		else
			strbuf_add(to, text, line);
		strbuf_add(to, text + line, len - line);
	}
}

int people_width(void)
{
	struct winsize w = { .ws_col = 0 };

	if (!isatty(STDOUT_FILENO))
		return -1;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	return w.ws_col;
}

void people_print(const char *text, size_t n, int width)
{
	static struct strbuf shown;

	if (width >= 0) {
		people_wrap(strbuf_empty(&shown), text, n, (size_t)width);
		text = shown.text;
		n = shown.n;
	}
	stdout_print("%.*s", (int)n, text);
}
