/* SPDX-License-Identifier: ISC */
/*
 * tfs-human - print a trace for people: names for numbers, times of day, colours
 *
 * Requires: only a trace on standard input, as text.
 * tfs-human prints each event as TIME COMM PID EVENT, below a header, and leaves out the
 * CPU and the flags. Errors, signals, exit statuses and system calls get their names.
 * tfs-human never removes or reorders a line. It passes every other line through, with a
 * question mark for each control character. tfs-human ignores SIGINT, so that the program
 * that makes the trace can finish first.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <sys/ioctl.h>

#include "base/base.h"
#include "reader/reader.h"
#include "lines/lines.h"
#include "tracefs/tracefs.h"
#include "latency.h"

static const struct tool tool = {
	.name = "tfs-human",
	.help =
		"tfs-human [-R ROOT] [-i INSTANCE] [-c COLUMNS]\n"
		"print a trace for people: names for numbers, times of day, colours\n"
		OPTION_ROOT
		"-c, --columns COLUMNS  print these fields in columns: "
		"NAME[:WIDTH]=FIELD[-PREFIX]...\n"
		"-i, --instance INSTANCE  print times of day, by this instance's trace clock\n",
	.takes_instance = 1,
};

/* The output: what to print, and how far it is. */
static struct {
	struct strbuf line;
	int colours, titled, by_day;
	int tty;                /* standard output is a terminal */
	struct column columns[8]; /* the fields of -c, which replace the column EVENT */
	size_t ncolumns;
	const char *comm, *pid; /* fields of -c for the columns COMM and PID; NULL: the task */
	size_t wrap_at;         /* where the last column of this line begins */
	int64_t offset;         /* by_day: the time of day minus that of the trace, in ns */
	char day[11];           /* "2026-11-23", as the last date line says */
} to;

/* ---- one line: its columns, and the parts of its text that are replaced -------------- */

/* A part of the line, and the text that is printed instead of it. */
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

static const char RED[] = "\033[31m", DIM[] = "\033[2m", PLAIN[] = "\033[m";

static void put(const char *s, size_t n)
{
	strbuf_add(&to.line, s, n);
}

static void put_coloured(const char *colour, const char *s, size_t n)
{
	if (to.colours)
		strbuf_puts(&to.line, colour);
	put(s, n);
	if (to.colours)
		strbuf_puts(&to.line, PLAIN);
}

static void spaces(size_t n)
{
	while (n--)
		put(" ", 1);
}

/* Return the number of characters of UTF-8. */
static size_t width(const char *s, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((unsigned char)s[i] & 0xc0) != 0x80;
	return w;
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
	e->v[i] = (struct edit){ .at = s, .n = n };
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

/* Put the text from s to end, with the edits. */
static void put_edited(const char *s, const char *end, const struct edits *e)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct edit *x = &e->v[i];

		if (x->at < s || x->at + x->n > end)
			continue;
		put(s, (size_t)(x->at - s));
		if (x->bad)
			put_coloured(RED, x->text, strlen(x->text));
		else
			put(x->text, strlen(x->text));
		s = x->at + x->n;
	}
	put(s, (size_t)(end - s));
}

/* ---- numbers ------------------------------------------------------------------------- */

/*
 * Read a number of 64 bits, decimal or hexadecimal with 0x, that takes up the whole part.
 * Return 0, or -1.
 */
static int number(struct text_part p, int64_t *v)
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

/*
 * Write the result of a call as strace(1) does: "= 3", "= -1 ENOENT (No such file or
 * directory)". address: the call returns an address; -1: it is not known. e may be NULL.
 */
static void format_result(struct edit *e, int64_t v, int address)
{
	const char *name = name_of_error(error_of_result(v));
	size_t size = sizeof(e->text);

	if (!e)
		return;
	e->bad = error_of_result(v) != 0;
	if (name && v <= -512) /* only the kernel uses these */
		str_format(e->text, size, "= ? %s%s", name,
			   strncmp(name, "ERESTART", 8) ? "" : " (interrupted by a signal)");
	else if (name)
		str_format(e->text, size, "= -1 %s (%s)", name, strerror((int)-v));
	else if (address > 0 || (v < 0 && !error_of_result(v)) || (address < 0 && v > UINT32_MAX))
		str_format(e->text, size, v ? "= 0x%llx" : "= %llx", (unsigned long long)v);
	else if (v < 0)
		str_format(e->text, size, "= -%llu", (unsigned long long)-v);
	else
		str_format(e->text, size, "= %llu", (unsigned long long)v);
}

/* Does the system call return an address? */
static int gives_address(struct text_part call)
{
	static const char *const calls[] = {
		"mmap", "mmap2", "mmap_pgoff", "old_mmap", "brk", "mremap", "shmat",
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (text_part_is(call, calls[i]))
			return 1;
	return 0;
}

/* ---- signals ------------------------------------------------------------------------- */

/* include/uapi/asm-generic/siginfo.h; sig 0: of any signal */
static const char *name_of_code(int64_t sig, int64_t code)
{
	static const struct { short sig, code; char name[14]; } codes[] = {
		{ 0, 0, "SI_USER" }, { 0, 0x80, "SI_KERNEL" }, { 0, -1, "SI_QUEUE" },
		{ 0, -2, "SI_TIMER" }, { 0, -3, "SI_MESGQ" }, { 0, -4, "SI_ASYNCIO" },
		{ 0, -5, "SI_SIGIO" }, { 0, -6, "SI_TKILL" },
		{ SIGCHLD, 1, "CLD_EXITED" }, { SIGCHLD, 2, "CLD_KILLED" },
		{ SIGCHLD, 3, "CLD_DUMPED" }, { SIGCHLD, 4, "CLD_TRAPPED" },
		{ SIGCHLD, 5, "CLD_STOPPED" }, { SIGCHLD, 6, "CLD_CONTINUED" },
		{ SIGSEGV, 1, "SEGV_MAPERR" }, { SIGSEGV, 2, "SEGV_ACCERR" },
		{ SIGBUS, 1, "BUS_ADRALN" }, { SIGBUS, 2, "BUS_ADRERR" },
		{ SIGBUS, 3, "BUS_OBJERR" }, { SIGFPE, 1, "FPE_INTDIV" },
		{ SIGILL, 1, "ILL_ILLOPC" }, { SIGILL, 2, "ILL_ILLOPN" },
		{ SIGTRAP, 1, "TRAP_BRKPT" }, { SIGTRAP, 2, "TRAP_TRACE" },
		{ SIGSYS, 1, "SYS_SECCOMP" },
	};

	if (code > INT32_MAX && code <= UINT32_MAX)
		code -= (int64_t)1 << 32; /* an int, printed in hexadecimal */
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].code == code && (!codes[i].sig || codes[i].sig == sig))
			return codes[i].name;
	return NULL;
}

/* ---- event lines --------------------------------------------------------------------- */

/* Give a signal, its error and its code their names. Return 1, or 0 if sig is no number. */
static int edit_siginfo(struct edits *e, struct text_part sig, struct text_part error,
			struct text_part code)
{
	int64_t s, v;

	if (number(sig, &s) < 0)
		return 0;
	replace(e, sig, name_of_signal(s), 0);
	if (!number(code, &v))
		replace(e, code, name_of_code(s, v), 0);
	if (!number(error, &v) && error_of_result(-v))
		replace(e, error, name_of_error(v), 1);
	return 1;
}

/* Put what is derived from several events (lib/view/facts.c) in words. */
static void edit_facts(struct edits *e, const struct trace_line *l)
{
	static const char *const keys[] = { ".sent", ".exit_code", ".process_exit_code" };
	char words[EXIT_WORDS];
	int64_t v;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct text_part p = trace_line_key(l, keys[i]);

		if (!number(p, &v))
			replace(e, p, i ? exit_words((unsigned)v, words)
				: name_of_signal(v), i && v);
	}
}

/* Print the directory of the *at calls that is not a descriptor. */
static void edit_directories(struct edits *e, const struct trace_line *l)
{
	static const char keys[][7] = { "dfd", "olddfd", "newdfd" };
	/* not every kernel prints 0x; Linux 7 prints decimal numbers without a sign */
	static const char *const numbers[] = {
		"ffffff9c", "ffffffffffffff9c", "0xffffff9c", "0xffffffffffffff9c", "4294967196",
		"18446744073709551516", "-100",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct text_part p = trace_line_key(l, keys[i]);

		for (size_t k = 0; p.n && k < sizeof(numbers) / sizeof(*numbers); k++)
			if (text_part_is(p, numbers[k]))
				replace(e, p, "AT_FDCWD", 0);
	}
}

/* Replace " -> 0xfffffffffffffffe" by " = -1 ENOENT (...)". */
static void edit_return(struct edits *e, const struct trace_line *l)
{
	struct text_part ret = trace_line_key(l, "ret");
	int64_t v;

	if (number(ret, &v) < 0 || ret.text < l->body.text + 3)
		return;
	/* the result and the "-> " before it */
	format_result(edit(e, ret.text - 3, ret.n + 3), v, gives_address(l->event));
}

/* Give the number in the text of raw_syscalls, "NR 257 (...)" or "NR 257 = -2", its name. */
static void edit_raw_call(struct edits *e, const struct trace_line *l)
{
	struct text_part nr = trace_line_number(l), result = trace_line_result(l);
	int64_t v;
	const char *name = number(nr, &v) < 0 ? NULL : name_of_syscall(v);

	if (!name)
		return;
	replace(e, (struct text_part){ nr.text - 3, nr.n + 3 }, name, 0);
	if (!number(result, &v))
		format_result(edit(e, result.text - 2, result.n + 2), v,
			      gives_address((struct text_part){ name, strlen(name) }));
}

/*
 * Give the errors of an event their names: ret=-2 is -ENOENT, as is [-2] at the end of a request to
 * a block device.
 */
static void edit_errors(struct edits *e, const struct trace_line *l)
{
	static const char keys[][9] = {
		".ret", ".error", ".err", ".errno", ".result", ".retval", ".rc",
	};
	const char *s = l->body.text;
	char text[32];
	int64_t v;

	if (!strstr(s, "=-") && !strstr(s, "=0xfffffffffffff") && !strstr(s, " [-"))
		return;
	/* The functions of programs have results of their own. A probe shows their address. */
	if (l->body.n > 3 && !memcmp(s, "(0x", 3))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct text_part p = trace_line_key(l, keys[i]);
		const char *name = number(p, &v) < 0 ? NULL : name_of_error(error_of_result(v));

		if (!name)
			continue;
		str_format(text, sizeof(text), "-%s", name);
		replace(e, p, text, 1);
	}
}

/* A flush has no sector: the kernel prints -1 without its sign. */
static void edit_sector(struct edits *e, const struct trace_line *l)
{
	static const char none[] = "18446744073709551615";
	struct text_part sector;

	if (!strstr(l->body.text, none))
		return;
	sector = trace_line_key(l, ".sector");
	if (text_part_is(sector, none))
		replace(e, sector, "-1", 0);
}

/* Say that lat= counts microseconds. */
static void edit_latency(struct edits *e, const struct trace_line *l)
{
	struct text_part lat;
	char text[32];

	if (!strstr(l->body.text, " lat="))
		return;
	lat = trace_line_key(l, ".lat");
	if (!lat.n || lat.n > 20 || strspn(lat.text, "0123456789") < lat.n)
		return;
	str_format(text, sizeof(text), "%.*sus", (int)lat.n, lat.text);
	replace(e, lat, text, 0);
}

/* ---- columns ------------------------------------------------------------------------- */

/*
 * Write the time of day, "16:53:16.156772", to text (TIME_DATE bytes) for this time of the
 * trace. Print the date before the first event and at midnight. Return the time of day, or
 * NULL if it is out of range.
 */
static const char *day_time(uint64_t time, char *text)
{
	enum { DAY = 10 };
	int64_t day = (int64_t)time + to.offset;

	if (time > INT64_MAX / 2 || day < 0)
		return NULL;
	time_date(text, day / 1000);
	text[DAY] = '\0';
	if (strcmp(text, to.day)) {
		memcpy(to.day, text, sizeof(to.day));
		stdout_print("# %s, UTC\n", text);
	}
	text[TIME_DATE - 2] = '\0';
	return text + DAY + 1;
}

/* Print the header. */
static void print_title(void)
{
	strbuf_format(&to.line, "%s  COMM                PID%s",
		      to.by_day ? "TIME           " : "        SECONDS",
		      to.ncolumns ? "" : " EVENT");
	for (const struct column *c = to.columns, *end = c + to.ncolumns; c < end; c++)
		strbuf_format(&to.line, " %-*.*s", c + 1 < end ? (int)c->width : 0, (int)c->nname,
			      c->name);
	stdout_print("%s\n", to.line.text);
	to.line.n = 0;
	to.titled = 1;
}

/* Has the line a value for the first column of -c? */
static int has_columns(const struct trace_line *l)
{
	const struct column *c = to.columns;

	return to.ncolumns && !*l->prefix && (*c->field == '*' || trace_line_key(l, c->field).n);
}

/* Return the field that -c names for a column of the head, or the usual part of the line. */
static struct text_part of_head(const struct trace_line *l, const char *field,
				struct text_part usual)
{
	struct text_part p = field && has_columns(l) ? trace_line_key(l, field) : usual;

	return p.n ? p : usual;
}

/* Put the columns TIME, COMM and PID. */
static void put_head(const char *line, const struct trace_line *l)
{
	char date[TIME_DATE];
	struct text_part time = l->time, comm = of_head(l, to.comm, l->comm);
	struct text_part pid = of_head(l, to.pid, l->pid);
	uint64_t ns;
	int digits;
	size_t n;

	if (to.by_day && !trace_line_time(l, &ns, &digits) && digits >= 0) {
		time.text = day_time(ns, date);
		time.n = strlen("16:53:16.156772");
		if (!time.text)
			time = l->time;
	}
	if (!to.titled)
		print_title();
	put(line, l->host.n ? trace_line_host(line, strlen(line), &(struct text_part){ 0 }) : 0);
	spaces(time.n < 15 ? 15 - time.n : 0);
	put_coloured(DIM, time.text, time.n);
	spaces(2);
	n = to.line.n;
	trace_line_add_string(&to.line, l, comm);
	n = width(to.line.text + n, to.line.n - n);
	spaces(n < 15 ? 15 - n : 0);
	strbuf_format(&to.line, "%s%8.*s ", pid.n < 8 ? "" : " ", (int)pid.n, pid.text);
	to.wrap_at = to.line.n;
}

/* ---- the columns of -c ----------------------------------------------------------------- */

/*
 * Return how many columns of a terminal n bytes take at most, or, if they take more than
 * most, set *fits to the number of bytes that take no more. Our colours take none.
 */
static size_t visible(const char *text, size_t n, size_t most, size_t *fits)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t columns = 0;

	for (size_t i = 0, len, wide; i < n; i += len) {
		len = s[i] < 0x80 ? 1 : text_utf8(s + i, n - i);
		wide = s[i] == '\t' ? 8 : len > 2 ? 2 : 1;
		if (s[i] == '\033') {
			len = strcspn(text + i, "m") + 1;
			wide = 0;
		}
		len += !len;
		if (columns + wide > most) {
			*fits = i;
			return most + 1;
		}
		columns += wide;
	}
	return columns;
}

/* Put the value of a column. A value in quotes keeps them, so that its end is certain. */
static void put_value(const struct column *c, const struct trace_line *l, struct edits *e)
{
	int all = !strcmp(c->field, "*"), quoted;
	struct text_part p = all ? l->body : trace_line_key(l, c->field);
	const char *end, *s;

	if (!p.n) { /* its text may be NULL */
		put("-", 1);
		return;
	}
	end = p.text + p.n;
	if (all && *p.text == '(' && (s = strstr(p.text, ") ")))
		p.text = s + 2; /* without the place of a probe */
	/* a value outside of the body, as the name of the task, may begin where the line does */
	quoted = !all && p.text > l->body.text && p.text < l->body.text + l->body.n &&
		 p.text[-1] == '"' && *end == '"';
	if (c->nprefix && p.n > c->nprefix && !memcmp(p.text, c->prefix, c->nprefix))
		replace(e, (struct text_part){ p.text, c->nprefix }, "", 0);
	put_edited(p.text - quoted, end + quoted, e);
}

/* Put the columns. Return 1, or 0 if the line has no value for the first one. */
static int put_columns(const struct trace_line *l, struct edits *e)
{
	const struct column *c = to.columns, *end = c + to.ncolumns;

	if (!has_columns(l))
		return 0;
	for (; c < end; c++) {
		size_t n;

		to.wrap_at = to.line.n;
		put_value(c, l, e);
		n = visible(to.line.text + to.wrap_at, to.line.n - to.wrap_at, SIZE_MAX, &n);
		if (c + 1 < end)
			spaces(n < c->width ? c->width + 1 - n : 1);
	}
	return 1;
}

/*
 * Break the line at the width of the terminal. Each part but the last ends in a backslash,
 * and the parts below begin in the last column, where no other line begins.
 */
static void wrap(void)
{
	struct winsize w = { .ws_col = 0 };
	size_t indent = visible(to.line.text, to.wrap_at, SIZE_MAX, &indent), fits;
	const char *rest = to.line.text + to.wrap_at;
	size_t n = to.line.n - to.wrap_at, width;
	char *copy;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	if (w.ws_col < indent + 10) /* a tab has to fit */
		return;
	width = w.ws_col - indent;
	if (visible(rest, n, width, &fits) <= width)
		return;
	rest = copy = xstrdup(rest);
	to.line.n = to.wrap_at;
	while (visible(rest, n, width, &fits) > width) {
		visible(rest, n, width - 1, &fits);
		put(rest, fits);
		put("\\\n", 2);
		spaces(indent);
		rest += fits;
		n -= fits;
	}
	put(rest, n);
	free(copy);
}

/* Say in words what the error of a decoded call is. */
static void edit_decoded(struct edits *e, const struct trace_line *l)
{
	int64_t v = l->error.n ? error_of_name(l->error.text, l->error.n) : 0;
	struct edit *x = v && v < 512 ? edit(e, l->ret.text, (size_t)(l->error.text + l->error.n -
								      l->ret.text)) : NULL;

	if (!x)
		return;
	x->bad = 1;
	str_format(x->text, sizeof(x->text), "-1 %.*s (%s)", (int)l->error.n, l->error.text,
		   strerror((int)v));
}

/* Put an event line of the kernel's text. */
static void put_event(const char *line, size_t n, const struct trace_line *l)
{
	struct edits e = { .n = 0 };
	const char *body = l->body.text, *end = line + n;

	put_head(line, l);
	if (l->decoded) {
		edit_decoded(&e, l);
		put_edited(body, end, &e);
		return;
	}
	edit_latency(&e, l);
	if (!strcmp(l->prefix, "sys_enter_"))
		edit_directories(&e, l);
	else if (*l->prefix)
		edit_return(&e, l);
	else if (text_part_is(l->event, "sys_enter") || text_part_is(l->event, "sys_exit"))
		edit_raw_call(&e, l);
	else if (text_part_is(l->event, "signal_generate") ||
		 text_part_is(l->event, "signal_deliver"))
		edit_siginfo(&e, trace_line_key(l, ".sig"), trace_line_key(l, ".errno"),
			     trace_line_key(l, ".code"));
	else
		edit_errors(&e, l);
	edit_facts(&e, l);
	edit_sector(&e, l);
	if (put_columns(l, &e))
		return;
	if (*l->prefix) {
		put_edited(l->event.text, end, &e);
		return;
	}
	/* a line FUNCTION <-CALLER has no name of an event */
	if (l->event.text >= line && l->event.text < body) {
		put(l->event.text, l->event.n);
		spaces(body < end);
	}
	put_edited(body, end, &e);
}

/* ---- the lines of trace_process ------------------------------------------------------ */

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " ");
}

static struct text_part word_at(const char **s)
{
	struct text_part p = { *s, strcspn(*s, " ") };

	*s = skip_blanks(p.text + p.n);
	return p;
}

/*
 * Read a line of trace_process: "%16s %5d %3d %9lu.%06ld TEXT" (lib/view/process.c). Set
 * body to TEXT. Return 1, or 0 if the line is another one.
 */
static int process_parse(struct trace_line *l, const char *line, size_t n)
{
	enum { COMM = 16 };
	const char *s = line + trace_line_host(line, n, &l->host), *comm = skip_blanks(s);
	struct text_part *heads[] = { &l->pid, &l->cpu, &l->time };

	if (strlen(s) <= COMM || s[COMM] != ' ' || comm >= s + COMM)
		return 0;
	l->comm = (struct text_part){ comm, (size_t)(s + COMM - comm) };
	s = skip_blanks(s + COMM);
	for (size_t i = 0; i < 3; i++) {
		*heads[i] = word_at(&s);
		if (strspn(heads[i]->text, i < 2 ? "0123456789" : "0123456789.") != heads[i]->n)
			return 0;
	}
	l->body = (struct text_part){ s, strlen(s) };
	return l->time.n && l->body.n;
}

/* Edit "exit CODE", where CODE is encoded as in wait(2). */
static int edit_exit(struct edits *e, struct text_part all, struct text_part code)
{
	struct edit *x;
	int64_t v;

	if (number(code, &v) < 0 || v < 0 || v > 0xffff || code.text + code.n != all.text + all.n ||
	    (v & 0xff && (v >> 8 || !(v & 0x7f) || (v & 0x7f) == 0x7f)))
		return 0;
	x = edit(e, all.text, all.n);
	if (!x)
		return 0;
	x->bad = v != 0;
	exit_words((unsigned)v, x->text);
	return 1;
}

/* Edit "signal N errno E code 0xC". */
static int edit_delivery(struct edits *e, const char *s)
{
	struct text_part sig = word_at(&s), name = word_at(&s), error = word_at(&s), code;
	int64_t v;

	if (!text_part_is(name, "errno") || number(error, &v) < 0)
		return 0;
	name = word_at(&s);
	code = word_at(&s);
	if (!text_part_is(name, "code"))
		code.n = 0;
	return edit_siginfo(e, sig, error, code);
}

/* Edit "syscall NR [...]" or "syscall rc RESULT error E". */
static int edit_call(struct edits *e, const char *s)
{
	struct text_part nr = word_at(&s), result = word_at(&s);
	int64_t v;

	if (!text_part_is(nr, "rc")) {
		if (number(nr, &v) < 0 || *result.text != '[')
			return 0;
		replace(e, nr, name_of_syscall(v), 0);
		return 1;
	}
	if (number(result, &v) < 0 || !text_part_is(word_at(&s), "error"))
		return 0;
	word_at(&s);
	format_result(edit(e, nr.text, (size_t)(s - nr.text)), v, -1);
	return 1;
}

/* Put a line of trace_process. Return 1, or 0 if it is another line. */
static int put_process(const char *line, size_t n)
{
	struct trace_line l = { .prefix = "" };
	struct edits e = { .n = 0 };
	struct text_part event;
	const char *s;
	int ok;

	if (strlen(line) != n || !process_parse(&l, line, n))
		return 0;
	s = l.body.text;
	event = word_at(&s);
	if (text_part_is(event, "syscall"))
		ok = edit_call(&e, s);
	else if (text_part_is(event, "signal"))
		ok = edit_delivery(&e, s);
	else if (text_part_is(event, "exit"))
		ok = edit_exit(&e, l.body, word_at(&s));
	else
		ok = text_part_is(event, "fork") || text_part_is(l.body, "exec");
	if (!ok)
		return 0;
	put_head(line, &l);
	put_edited(l.body.text, l.body.text + l.body.n, &e);
	return 1;
}

/* Put a line that is not an event. Say "incomplete" where programs read "unpaired N events". */
static void put_other(const char *line, size_t n)
{
	static const char unpaired[] = "# unpaired ";
	const char *colon = strncmp(line, unpaired, sizeof(unpaired) - 1) ? NULL :
			    strchr(line, ':');

	if (colon) {
		strbuf_puts(&to.line, "# incomplete, and not shown");
		n -= (size_t)(colon - line);
		line = colon;
	}
	put(line, n);
}

/* ---- main ---------------------------------------------------------------------------- */

/* Is standard output a terminal that shows colours, and does the user want them? */
static int wants_colours(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR"); /* no-color.org */

	return to.tty && term && strcmp(term, "dumb") && !(no && *no);
}

/* Find the difference between the trace clock and the time of day. Return 0, or -1. */
static int find_offset(void)
{
	int dir = tracefs_open(opt_root, opt_instance, NULL);

	if (dir < 0 || trace_clock_offset(dir, &to.offset) < 0)
		return -1;
	close(dir);
	to.offset *= 1000;
	to.by_day = 1;
	return 0;
}

static int is_named(const struct column *c, const char *name)
{
	return text_part_is((struct text_part){ c->name, c->nname }, name);
}

static void read_columns(const char *s)
{
	const size_t most = sizeof(to.columns) / sizeof(*to.columns);
	const char *all = s;
	int r;

	while ((r = column_next(&s, &to.columns[to.ncolumns])) > 0 && to.ncolumns < most - 1)
		if (is_named(&to.columns[to.ncolumns], "COMM"))
			to.comm = xstrdup(to.columns[to.ncolumns].field);
		else if (is_named(&to.columns[to.ncolumns], "PID"))
			to.pid = xstrdup(to.columns[to.ncolumns].field);
		else
			to.ncolumns++;
	if (r)
		usage_error(&tool, "not at most %zu columns: '%.80s'", most - 1, all);
}

/* Take the first date of the trace, and print it as a date line. Return 1, or 0. */
static int take_date(const char *line)
{
	struct text_part seconds;
	char date[TIME_DATE];
	int64_t time;

	if (to.by_day || !comments_date(line, &seconds, &time, &to.offset))
		return 0;
	to.by_day = 1;
	day_time((uint64_t)time, date);
	return 1;
}

static void each_line(char *line, size_t n)
{
	struct trace_line l;

	text_mask(line, line + n, '\t');
	if (take_date(line))
		return;
	to.line.n = to.wrap_at = 0;
	if (trace_line(&l, line, n) && !l.json)
		put_event(line, n, &l);
	else if (*line == '#' || *line == '{' || !put_process(line, n))
		put_other(line, n);
	if (to.wrap_at && to.ncolumns && to.tty)
		wrap();
	stdout_print("%s\n", n ? to.line.text : "");
}

int main(int argc, char **argv)
{
	static struct input in;

	while (opt_next(&tool, argc, argv) != -1)
		read_columns(opt_value);
	opt_end(&tool, argv[opt_index]);
	if (opt_instance && find_offset() < 0)
		return REFUSED;
	to.tty = isatty(STDOUT_FILENO);
	to.colours = wants_colours();
	input_begin();
	while (input_read(&in))
		each_line(in.line, in.n);
	return in.in.failed ? REFUSED : input_end(&in, DONE);
}
