/* SPDX-License-Identifier: ISC */
/*
 * printfmt.c - a format's print fmt compiled: the string and its conversions, and
 * the events whose text the kernel makes otherwise
 */
#include <stdlib.h>

#include "compile.h"

/* ---- the format string --------------------------------------------------------- */

const char *conversion_parse(struct conversion *v, const char *s, const char *end,
			     int long_size)
{
	static const char letters[] = "-0# +";
	static const uint8_t bits[] = { F_LEFT, F_ZERO, F_ALT, F_SPACE, F_PLUS };
	const char *found;
	int n = 0;

	*v = (struct conversion){ .width = -1, .precision = -1, .size = 4 };
	for (; s < end && *s && (found = strchr(letters, *s)); s++)
		v->flags |= bits[found - letters];
	if (s < end && *s == '*') {
		v->flags |= F_STAR;
		s++;
	} else if (s < end && is_digit(*s)) {
		for (; s < end && is_digit(*s); s++)
			n = n > 999 ? n : n * 10 + *s - '0';
		v->width = (int16_t)n;
	}
	if (s < end && *s == '.') {
		v->flags |= F_HAS_PRECISION;
		s++;
		n = 0;
		if (s < end && *s == '*') {
			v->flags |= F_STAR_PRECISION;
			s++;
		} else {
			for (; s < end && is_digit(*s); s++)
				n = n > 999 ? n : n * 10 + *s - '0';
		}
		v->precision = (int16_t)n;
	}
	for (int l = 0, h = 0; s < end; s++) {
		if (*s == 'l')
			v->size = (uint8_t)(l++ ? 8 : long_size);
		else if (*s == 'L' || *s == 'q' || *s == 'j')
			v->size = 8;
		else if (*s == 'z' || *s == 'Z' || *s == 't')
			v->size = (uint8_t)long_size;
		else if (*s == 'h')
			v->size = h++ ? 1 : 2;
		else
			break;
	}
	if (s >= end)
		return end;
	v->letter = *s == 'i' ? 'd' : *s;
	s++;
	if (v->letter != 'p')
		return s;
	v->size = (uint8_t)long_size;
	for (; s < end && (is_letter(*s) || is_digit(*s)) && *s != '_'; s++)
		if (v->more < sizeof(v->suffix))
			v->suffix[v->more++] = *s;
	return s;
}

static uint64_t keep_conversion(struct compiler *c, const struct conversion *v)
{
	struct conversion *kept = one_more(c, &c->p->conversions, c->p->nconversions,
				       sizeof(*kept), 4096);

	if (!kept)
		return 0;
	*kept = *v;
	return c->p->nconversions++;
}

static int stars(const struct conversion *v)
{
	return !!(v->flags & F_STAR) + !!(v->flags & F_STAR_PRECISION);
}

/* The kernel's text has where a function returns to first, its print fmt last. */
static struct ex other_of_return(struct compiler *c, struct ex x)
{
	const char *name = strcmp(x.field->name, "__probe_func") ? "__probe_func"
								 : "__probe_ret_ip";

	for (size_t i = 0; i < c->e->nfields; i++)
		if (!strcmp(c->e->fields[i].name, name))
			return field_ex(c, &c->e->fields[i]);
	return x;
}

static void number_conversion(struct compiler *c, const struct conversion *v, struct ex x)
{
	int plain = !v->flags && v->width < 0;
	struct step *s;

	if (x.kind == X_FIELD && x.field && v->letter == 'x' &&
	    !strncmp(x.field->name, "__probe_", 8)) {
		/* the kernel has the symbol there */
		if (strcmp(x.field->name, "__probe_ip"))
			x = other_of_return(c, x);
		push(c, &x);
		writing(c, OP_OWN)->k = strcmp(x.field->name, "__probe_func")
						? OWN_PROBE : OWN_PROBE_BARE;
		return;
	}
	if (plain && x.kind == X_FIELD && strchr("dux", v->letter) &&
	    (v->size == x.read_size || v->size == 8 ||
	     (v->size > x.read_size && !x.read_signed))) {
		s = writing(c, OP_NUMBER);
		s->n = x.n + x.read_size;
		s->size = x.read_size;
		s->what = (uint8_t)v->letter;
		s->is_signed = v->size == x.read_size ? v->letter == 'd' : x.read_signed;
		return;
	}
	push_number(c, &x);
	s = writing(c, OP_PRINT);
	s->k = keep_conversion(c, v);
	c->stack -= stars(v);
}

/* The conversion's arguments, of which the comma in front is the token. */
SMALL static void conversion(struct compiler *c, const struct conversion *v)
{
	struct ex x;
	struct step *s;
	uint64_t k;

	for (int i = stars(v); i; i--) {
		need(c, ',');
		x = ternary(c, 0);
		push_number(c, &x);
	}
	need(c, ',');
	if (v->letter == 's') {
		int plain = !v->flags && v->width < 0;

		if (!plain) {
			flush_text(c);
			step(c, OP_PAD)->k = keep_conversion(c, v);
			c->stack -= stars(v);
		}
		emit_string(c, ternary(c, 1));
		if (!plain) {
			flush_text(c);
			step(c, OP_PADDED);
		}
		return;
	}
	x = ternary(c, 0);
	if (v->letter == 'p') {
		int number = is_number(&x), bare = !v->more;

		if (x.kind == X_FIELD && bare && !v->flags && v->width < 0) {
			s = writing(c, OP_NUMBER);
			s->n = x.n + x.read_size;
			s->size = x.read_size;
			s->what = 'p';
			return;
		}
		push(c, &x);
		k = keep_conversion(c, v);
		s = writing(c, OP_POINTER);
		s->k = k;
		s->what = (uint8_t)number;
		s->n = number && !bare && !(v->flags & F_STAR);
		c->stack -= stars(v);
		return;
	}
	number_conversion(c, v, x);
}

/*
 * Is it __get_str(argvN)? trace_exec reads such words where exec has just put them, so a
 * word without a byte is empty. The kernel gives an empty string of a program's memory no
 * byte, as one that could not be read (mm/maccess.c, strncpy_from_user_nofault).
 */
static int is_word(const char *s)
{
	size_t digits;

	if (strncmp(s, "__get_str(argv", 14))
		return 0;
	digits = strspn(s + 14, "0123456789");
	return digits && s[14 + digits] == ')';
}

/*
 * A string of a probe, "%s" in quotes: the kernel prints neither these nor the string
 * when the memory could not be read, and then the string has no byte, not even a NUL.
 * Returns what is behind it; NULL: it is something else.
 */
static const char *quoted_string(struct compiler *c, const char *s)
{
	const char *p = c->s + strspn(c->s, " ");
	int word = is_word(p);
	struct ex x;

	if (literal_char(&s, c->end) != '%' || literal_char(&s, c->end) != 's' ||
	    literal_char(&s, c->end) != '"' || c->token != ',' || strncmp(p, "__get_str(", 10))
		return NULL;
	p += strcspn(p, ")");
	p += *p == ')';
	p += strspn(p, " \n");
	if (*p && *p != ',')
		return NULL;
	need(c, ',');
	x = ternary(c, 0);
	push(c, &x);
	writing(c, OP_OWN)->k = word ? OWN_WORD : OWN_QUOTED;
	return s;
}

/* "FORMAT", ARGUMENT... */
static void print_format(struct compiler *c, const char *text)
{
	char spec[24];
	const char *s;
	int ch;

	c->s = text;
	c->end = text + strlen(text);
	next_token(c);
	if (c->token != T_STRING) {
		c->bad = 1;
		return;
	}
	s = c->from + 1;
	next_token(c);
	while (!c->bad && (ch = literal_char(&s, c->end)) >= 0) {
		struct conversion v;
		const char *was = s, *behind;
		size_t n = 0;

		if (ch == '"' && (behind = quoted_string(c, was))) {
			s = behind;
			continue;
		}
		if (ch != '%') {
			add_char(c, (char)ch);
			continue;
		}
		/* look at what is behind it, escapes resolved; then take as many */
		while (n < sizeof(spec) && (ch = literal_char(&s, c->end)) >= 0)
			spec[n++] = (char)ch;
		behind = conversion_parse(&v, spec, spec + n, c->evs->long_size);
		s = was;
		for (; behind > spec; behind--)
			literal_char(&s, c->end);
		if (v.letter == '%')
			add_char(c, '%');
		else if (v.letter && strchr("duxXocsp", v.letter))
			conversion(c, &v);
		else
			c->bad = 1;
	}
}

/* ---- whole events ---------------------------------------------------------------- */

/*
 * The text of ftrace's own entries is made by functions of the kernel's, not by
 * their print fmt: here as what it should have been. A '!' in front: the text
 * brings its own newline.
 */
static const struct {
	const char *name, *fmt;
} own_formats[] = {
	{ "function", "\"%s%s%s\", __own_ip(REC->ip), REC->parent_ip ? \" <-\" : \"\", "
		"REC->parent_ip ? __own_ip(REC->parent_ip) : \"\"" },
	{ "print", "!\"%s: %s\", __own_ip(REC->ip), __own_text(REC->buf)" },
	{ "bputs", "!\"%s: %s\", __own_ip(REC->ip), __own_text(REC->str)" },
	{ "bprint", "!\"%s: %s\", __own_ip(REC->ip), __own_bprint(REC->fmt, REC->buf)" },
	{ "raw_data", "\"# %x buf:%s\", REC->id, __own_bytes(REC->buf)" },
	{ "kernel_stack", "!\"<stack trace>\\n%s\", __own_stack(REC->caller)" },
	{ "user_stack", "!\"<user stack trace>\\n%s\", __own_user_stack(REC->caller)" },
	{ "hwlat", "\"#%-5u inner/outer(us): %4llu/%-5llu ts:%lld.%09ld count:%d\", "
		"REC->seqnum, REC->duration, REC->outer_duration, REC->tv_sec, REC->tv_nsec, "
		"REC->count" },
	{ "osnoise", "\"%llu %10llu %3llu.%05llu %7llu %6u %6u %6u %6u %6u\", "
		"REC->runtime, REC->noise, "
		"(REC->runtime - REC->noise) * 10000000 / REC->runtime / 100000, "
		"(REC->runtime - REC->noise) * 10000000 / REC->runtime % 100000, "
		"REC->max_sample, REC->hw_count, REC->nmi_count, REC->irq_count, "
		"REC->softirq_count, REC->thread_count" },
	{ "timerlat", "\"#%-5u context %6s timer_latency %9llu ns\", REC->seqnum, "
		"REC->context == 2 ? \"user-ret\" : REC->context ? \"thread\" : \"irq\", "
		"REC->timer_latency" },
	{ "func_repeats", "\"%s%s%s (repeats: %u, last_ts:%s)\", __own_ip(REC->ip), "
		"REC->parent_ip ? \" <-\" : \"\", "
		"REC->parent_ip ? __own_ip(REC->parent_ip) : \"\", REC->count, "
		"__own_time(((u64)REC->top_delta_ts << 32) | REC->bottom_delta_ts)" },
};

/* The number in front of a name in a table of flags: 0xNUMBER, "NAME" */
static uint64_t flag_in(const char *table, const char *name)
{
	const char *end = strstr(table, name), *s = end;

	while (s && s > table && *s != 'x')
		s--;
	s += s != NULL;
	return s ? hex_at(&s, end) : 0;
}

/*
 * openat, since 7.0: numbers are decimal, flags have names, the mode is there
 * where it counts. The table of the format lacks the first name of the kernel's.
 */
SMALL static void openat_call(struct compiler *c)
{
	enum { O_TMPFILE_ITSELF = 020000000 };
	const char *table = strchr(c->e->print_fmt, '{'), *end = strrchr(c->e->print_fmt, '}');
	uint64_t tmpfile, creat;
	char fmt[2048];

	if (!table || !end || end < table || end - table > 1500) {
		c->bad = 1;
		return;
	}
	tmpfile = O_TMPFILE_ITSELF | flag_in(table, "\"O_DIRECTORY\"");
	creat = flag_in(table, "\"O_CREAT\"");
	format(fmt, sizeof(fmt),
	       "\"sys_openat(dfd: %%lu, filename: %%lu \\\"%%s\\\", flags: %%s%%s%%s)\\n\", "
	       "(unsigned long)REC->dfd, (unsigned long)REC->filename, __get_str(__filename_val), "
	       "REC->flags & 3 || !REC->flags ? \"\" : \"O_RDONLY|\", "
	       "REC->flags ? __print_flags(REC->flags, \"|\", { %llu, \"O_TMPFILE\" }, %.*s) "
	       ": \"O_RDONLY\", REC->flags & %llu ? __own_mode(REC->mode) : \"\"",
	       (unsigned long long)tmpfile, (int)(end + 1 - table), table,
	       (unsigned long long)(tmpfile | creat));
	print_format(c, fmt);
}

/* sys_NAME(argument: value, ...) */
SMALL static void system_call(struct compiler *c, const char *name)
{
	const struct event *e = c->e;
	int n = 0;

	add_text(c, "sys_");
	add_text(c, name);
	add_char(c, '(');
	for (unsigned i = e->ncommon; i < e->nfields; i++) {
		const struct field *f = &e->fields[i], *user = NULL;
		size_t len = strlen(f->name);
		struct step *s;

		/* what the kernel read from user space has its pointer's place */
		if (!strcmp(f->name, "__syscall_nr") || f->place)
			continue;
		for (unsigned j = e->ncommon; j < e->nfields; j++)
			if (e->fields[j].place == PLACE_DATA_LOC &&
			    !strncmp(e->fields[j].name, "__", 2) &&
			    !strncmp(e->fields[j].name + 2, f->name, len) &&
			    !strcmp(e->fields[j].name + 2 + len, "_val"))
				user = &e->fields[j];
		if (n++)
			add_text(c, ", ");
		add_text(c, f->name);
		add_text(c, ": ");
		s = writing(c, OP_ARGUMENT);
		s->size = (uint8_t)c->evs->long_size;
		s->n = f->offset + s->size;
		/* without 0x, once */
		s->what = c->evs->version && c->evs->version < KERNEL(6, 13);
		if (!user)
			continue;
		if (strstr(e->print_fmt, "__get_str")) {
			add_text(c, " \"");
			emit_string(c, (struct ex){ .kind = X_LOC, .n = user->offset,
						    .place = PLACE_DATA_LOC });
			add_char(c, '"');
		} else if (i + 1 < e->nfields) { /* its length is the next argument */
			struct ex length = field_ex(c, &e->fields[i + 1]);
			struct ex x = { .kind = X_LOC, .n = user->offset,
					.place = PLACE_DATA_LOC };

			add_char(c, ' ');
			push(c, &length);
			push(c, &x);
			writing(c, OP_OWN)->k = OWN_BUFFER;
			c->stack--;
		}
	}
	add_text(c, ")\n");
}

SMALL static void whole(struct compiler *c)
{
	const struct event *e = c->e;
	const char *fmt = e->print_fmt;
	const struct field *ret;

	if (!strcmp(e->system, "syscalls") && !strcmp(e->name, "sys_enter_openat") &&
	    strstr(fmt, "\"O_RDONLY\"")) {
		openat_call(c);
	} else if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_enter_", 10)) {
		system_call(c, e->name + 10);
	} else if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_exit_", 9) &&
		   (ret = event_field(e, "ret"))) {
		add_text(c, "sys_");
		add_text(c, e->name + 9);
		add_text(c, " -> 0x");
		number_conversion(c, &(struct conversion){ .letter = 'x', .width = -1,
				  .size = (uint8_t)ret->size }, field_ex(c, ret));
		add_char(c, '\n');
	} else if (!strcmp(e->system, "ftrace")) {
		for (size_t i = 0; i < sizeof(own_formats) / sizeof(*own_formats); i++)
			if (!strcmp(e->name, own_formats[i].name))
				fmt = own_formats[i].fmt;
		print_format(c, fmt + (*fmt == '!'));
		if (*fmt != '!')
			add_char(c, '\n');
	} else {
		add_text(c, e->name);
		add_text(c, ": ");
		print_format(c, fmt);
		add_char(c, '\n');
	}
}

static void forget(struct compiler *c)
{
	struct program *p = c->p;

	free(p->steps);
	free(p->names);
	free(p->tables);
	free(p->conversions);
	free(p->text);
	*p = (struct program){ 0 };
	c->bad = c->depth = c->stack = 0;
	c->text_at = 0;
	c->nlocals = 0;
}

struct program *program_make(const struct events *evs, struct event *e)
{
	struct compiler c = { .evs = evs, .e = e, .p = calloc(1, sizeof(*c.p)) };

	if (!c.p)
		return NULL;
	whole(&c);
	e->opaque = c.bad || c.stack;
	if (e->opaque) {
		forget(&c);
		add_text(&c, e->name);
		add_char(&c, ':');
		writing(&c, OP_FIELDS);
		add_char(&c, '\n');
	}
	writing(&c, OP_END);
	/* text is copied in pieces of that size */
	for (int i = 0; i < TEXT_SLACK; i++)
		add_char(&c, ' ');
	if (c.bad) {
		program_free(c.p);
		return NULL;
	}
	return c.p;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	free(p->steps);
	free(p->names);
	free(p->tables);
	free(p->conversions);
	free(p->text);
	free(p);
}
