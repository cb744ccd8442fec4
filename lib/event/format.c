/* SPDX-License-Identifier: ISC */
/* format.c - parse events/SYSTEM/NAME/format, and keep the events */

#include "base/base.h"
#include "event/event.h"
#include "event/compile.h"
#include "event/vm.h"

unsigned kernel_version(const char *release)
{
	unsigned long long major = text_digits(&release);

	if (!major || *release++ != '.')
		return 0;
	return KERNEL(major & 0x7fff, text_digits(&release) & 0xffff);
}

static int is_name(char c)
{
	return is_letter(c) || is_digit(c);
}

/* Is the word in the type? */
static int has_word(const char *type, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = type; (p = strstr(p, word)); p += n)
		if ((p == type || !is_name(p[-1])) && !is_name(p[n]))
			return 1;
	return 0;
}

/* Return the bytes of an element of that type: the format has the size of the array only. */
static unsigned size_of(const char *type, unsigned long_size)
{
	struct c_type t;

	if (strchr(type, '*') || has_word(type, "cpumask_t"))
		return long_size;
	if (has_word(type, "char") || has_word(type, "short"))
		return has_word(type, "char") ? 1 : 2;
	for (const char *s = type, *end; *s; s = *end ? end + 1 : end) {
		for (end = s; is_name(*end); end++)
			;
		if (type_named(s, (size_t)(end - s), long_size, &t))
			return t.size;
	}
	if (has_word(type, "long"))
		return strstr(type, "long long") ? 8 : long_size;
	return 4;
}

uint32_t format_number(const char *line, const char *key)
{
	const char *p = strstr(line, key);
	uint32_t v = 0;

	if (!p)
		return 0;
	for (p += strlen(key); *p >= '0' && *p <= '9'; p++)
		v = v > 0xffffff ? v : v * 10 + (uint32_t)(*p - '0');
	return v;
}

/* Split a declaration into type and name. Return 1, or 0 if there is no name. */
static int split_declaration(char *s, struct field *f)
{
	char *open = strchr(s, '['), *end = s + strlen(s), *name;

	/* "__data_loc char[] name" has its brackets in the type */
	if (open && (open == s || !is_name(end[-1])))
		end = open;
	for (; end > s && !is_name(end[-1]); end--)
		;
	for (name = end; name > s && is_name(name[-1]); name--)
		;
	if (name == end || name == s)
		return 0;
	f->elem = 0;
	if (*end == '[') {
		uint32_t n = format_number(end + 1, "");

		if (n && f->size % n == 0 && f->size / n <= 8)
			f->elem = (uint8_t)(f->size / n);
		f->kind = FIELD_ARRAY;
	}
	*end = '\0';
	f->name = name;
	for (name--; name > s && name[-1] == ' '; name--)
		;
	*name = '\0'; /* the space between them */
	f->type = s;
	return 1;
}

/* Set kind, place and elem of a field by its type. */
static void classify(struct field *f, unsigned long_size)
{
	const char *type = f->type;
	int characters;

	if (!strncmp(type, "__data_loc ", 11)) {
		f->place = PLACE_DATA_LOC;
		type += 11;
	} else if (!strncmp(type, "__rel_loc ", 10)) {
		f->place = PLACE_REL_LOC;
		type += 10;
	}
	if (f->place) {
		f->kind = FIELD_ARRAY;
	} else if (f->kind == FIELD_ARRAY && !f->size) {
		f->place = PLACE_REST;
	}
	characters = has_word(type, "char") && !has_word(type, "unsigned") &&
		     !strchr(type, '*');
	if (f->kind != FIELD_ARRAY) {
		if (strchr(type, '*'))
			f->kind = FIELD_POINTER;
		f->elem = (uint8_t)(f->size <= 8 ? f->size : 0);
		/* a structure: print its bytes */
		if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8) {
			f->kind = FIELD_ARRAY;
			f->elem = 1;
		}
		return;
	}
	if (!f->elem || f->place)
		f->elem = (uint8_t)size_of(type, long_size);
	if (characters && f->elem == 1)
		f->kind = FIELD_STRING;
	else if (has_word(type, "cpumask_t"))
		f->kind = FIELD_BITMASK;
	if (f->elem != 2 && f->elem != 4 && f->elem != 8)
		f->elem = 1;
	/* the format has the sign of the location, not of the elements */
	if (f->place && f->kind == FIELD_ARRAY)
		f->is_signed = has_word(type, "int") || has_word(type, "s32") ||
			       has_word(type, "s64");
}

/*
 * Let the array at the end of an entry of ftrace itself reach to the end of the record. Linux
 * before 5.6 declares it without brackets and with size 0, as in "char buf" of the event print
 * (kernel/trace/trace_entries.h, __dynamic_array).
 */
static void open_last_array(struct event *e, unsigned long_size)
{
	struct field *last = NULL;

	for (unsigned i = e->ncommon; i < e->nfields; i++)
		if (!last || e->fields[i].offset >= last->offset)
			last = &e->fields[i];
	if (!last || last->size || last->place || strchr(last->type, '*'))
		return;
	last->kind = FIELD_ARRAY;
	classify(last, long_size);
}

static void free_event(struct event *e)
{
	if (e)
		bytecode_free(e->program);
	free(e);
}

/* Add the event to by_id; free an older event of the same id. Return 0, or -1. */
static int keep(struct event_set *evs, struct event *e)
{
	if (e->id >= evs->size) {
		uint32_t size = e->id + 64u;
		struct event **grown = realloc(evs->by_id, size * sizeof(*grown));

		if (!grown)
			return -1;
		memset(grown + evs->size, 0, (size - evs->size) * sizeof(*grown));
		evs->by_id = grown;
		evs->size = size;
	}
	if (evs->by_id[e->id])
		memset(evs->memos, 0, sizeof(evs->memos)); /* they refer to its program */
	free_event(evs->by_id[e->id]);
	evs->by_id[e->id] = e;
	e->serial = evs->serial++;
	return 0;
}

/* Note the offsets of the common fields that lines need. */
static void note_common_fields(struct event_set *evs, const struct event *e)
{
	for (unsigned i = 0; i < e->ncommon; i++) {
		const struct field *f = &e->fields[i];
		uint16_t at = (uint16_t)f->offset;

		if (f->offset > 64)
			continue;
		if (!strcmp(f->name, "common_pid")) {
			evs->pid_at = at;
			evs->pid_size = (uint8_t)(f->size == 4 ? 4 : f->size == 8 ? 8 : 2);
		} else if (!strcmp(f->name, "common_flags")) {
			evs->flags_at = at;
		} else if (!strcmp(f->name, "common_preempt_count")) {
			evs->preempt_at = at;
		}
	}
	evs->usual_header = evs->flags_at == 2 && evs->preempt_at == 3 && evs->pid_at == 4 &&
			    evs->pid_size == 4;
}

/* Note the id of an event that means more than a line of text. */
static void note_id(struct event_set *evs, const struct event *e)
{
	const struct { const char *system, *name; uint16_t *id; } special[] = {
		{ "task", "task_newtask", &evs->newtask },
		{ "task", "task_rename", &evs->rename },
		{ "ftrace", "kernel_stack", &evs->stack },
		{ "ftrace", "user_stack", &evs->user_stack },
		{ RECORD_SYSTEM, "user_stack", &evs->own_stack },
		{ "ftrace", "funcgraph_entry", &evs->graph_entry },
		{ "ftrace", "fgraph_retaddr_entry", &evs->graph_retaddr },
		{ "ftrace", "funcgraph_exit", &evs->graph_exit },
	};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (!strcmp(e->system, special[i].system) && !strcmp(e->name, special[i].name))
			*special[i].id = e->id;
}

/* Add the field of a line "\tfield:TYPE NAME;\toffset:0;\tsize:2;\tsigned:0;". */
static void add_field(struct event *e, char *line, unsigned long_size)
{
	struct field *f = &e->fields[e->nfields];
	char *end = strchr(line, ';');

	if (!end)
		return;
	*f = (struct field){
		.offset = format_number(end, "\toffset:"),
		.size = format_number(end, "\tsize:"),
		.is_signed = format_number(end, "\tsigned:") != 0,
	};
	*end = '\0';
	if (f->offset > 0xffff || f->size > 0xffff || !split_declaration(line, f))
		return;
	classify(f, long_size);
	e->ncommon = (uint16_t)(e->ncommon + (!strncmp(f->name, "common_", 7) &&
					      e->ncommon == e->nfields));
	e->nfields++;
}

/* Parse the lines of a format. Return 0, or -1 if name or ID are missing. */
static int parse_format(struct event *e, char *text, size_t nfields, unsigned long_size)
{
	uint32_t id = UINT32_MAX;
	char *next;

	for (char *line = text; line && *line; line = next) {
		/* the print fmt is last, and may have newlines */
		if (!strncmp(line, "print fmt: ", 11)) {
			e->print_fmt = line + 11;
			break;
		}
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!strncmp(line, "name: ", 6))
			e->name = line + 6;
		else if (!strncmp(line, "ID: ", 4))
			id = format_number(line, "ID: ");
		else if (!strncmp(line, "\tfield:", 7) && e->nfields < nfields)
			add_field(e, line + 7, long_size);
	}
	e->id = (uint16_t)id;
	return e->name && id <= 0xffff ? 0 : -1;
}

struct event *event_add(struct event_set *evs, const char *system, const char *text, size_t len)
{
	size_t nfields = 0, system_len = strlen(system) + 1;
	unsigned long_size = (unsigned)evs->long_size;
	struct event *e;
	char *copy;

	for (size_t i = 0; i + 7 <= len; i++) /* memmem(3) is large in a static program */
		nfields += text[i] == '\t' && !memcmp(text + i, "\tfield:", 7);
	if (nfields > 1024)
		return NULL;
	e = calloc(1, sizeof(*e) + nfields * sizeof(*e->fields) + len + 1 + system_len);
	if (!e)
		return NULL;
	e->fields = (struct field *)(e + 1);
	copy = (char *)(e->fields + nfields);
	memcpy(copy, text, len);
	e->system = memcpy(copy + len + 1, system, system_len);
	e->print_fmt = copy + len; /* "" if there is none */
	if (parse_format(e, copy, nfields, long_size) < 0 || keep(evs, e) < 0) {
		free(e);
		return NULL;
	}
	if (!strcmp(system, "ftrace"))
		open_last_array(e, long_size);
	note_common_fields(evs, e);
	note_id(evs, e);
	return e;
}

struct event *event_by_id(const struct event_set *evs, unsigned id)
{
	return id < evs->size ? evs->by_id[id] : NULL;
}

struct event *event_named(const struct event_set *evs, const char *system, const char *name)
{
	for (size_t i = 0; i < evs->size; i++)
		if (evs->by_id[i] && !strcmp(evs->by_id[i]->name, name) &&
		    !strcmp(evs->by_id[i]->system, system))
			return evs->by_id[i];
	return NULL;
}

struct event *event_wanted(struct event_set *evs, const struct record *r)
{
	struct event *e = event_of(evs, r);

	if (e || !evs->missing)
		return e;
	evs->missing(evs->arg, r);
	return event_of(evs, r);
}

const struct field *event_field(const struct event *e, const char *name)
{
	for (unsigned i = 0; i < e->nfields; i++)
		if (!strcmp(e->fields[i].name, name))
			return &e->fields[i];
	return NULL;
}

/* Return the end of an argument of a print fmt: the comma after it, or the end of the text. */
static const char *argument_end(const char *s)
{
	for (int depth = 0; *s && (depth || *s != ','); s++) {
		depth += *s == '(' || *s == '[' || *s == '{';
		depth -= *s == ')' || *s == ']' || *s == '}';
		while (*s == '"' && s[1] && *++s != '"')
			s += *s == '\\' && s[1];
	}
	return s;
}

/* Return the field that the expression of n bytes at s stands for alone, or NULL. */
static const struct field *field_alone(const struct event *e, const char *s, size_t n, int string)
{
	static const char *const forms[][2] = { { "REC->", "" }, { "__get_str(", ")" } };
	char name[64];

	for (int i = 0; i <= string; i++) {
		size_t head = strlen(forms[i][0]), tail = strlen(forms[i][1]);

		if (n <= head + tail || n - head - tail >= sizeof(name) ||
		    strncmp(s, forms[i][0], head) || strncmp(s + n - tail, forms[i][1], tail))
			continue;
		str_format(name, sizeof(name), "%.*s", (int)(n - head - tail), s + head);
		return event_field(e, name);
	}
	return NULL;
}

/* Is the field printed as it is by this conversion: %d, %lu, %s? */
static int is_plain(const struct field *f, const char *conversion, size_t n)
{
	static const char longs[] = "ll";
	const char letter = conversion[n - 1];

	if (letter == 's')
		return n == 1 && f->kind == FIELD_STRING;
	return f->kind == FIELD_NUMBER && n < 4 && !strncmp(conversion, longs, n - 1) &&
	       (letter == 'd' || letter == 'u') && (n > 1 ? f->size == 8 : f->size <= 4) &&
	       (f->is_signed || f->size < 4 ? letter == 'd' : letter == 'u');
}

/* Is this the end of a value in a format: the end of the text, or the next NAME=? */
static int ends_value(const char *s)
{
	s += *s == ',';
	if (*s == '"')
		return 1;
	if (*s++ != ' ')
		return 0;
	s += strncmp(s, "==> ", 4) ? 0 : 4;
	while ((*s >= 'a' && *s <= 'z') || *s == '_' || (*s >= '0' && *s <= '9'))
		s++;
	return *s == '=';
}

/* Return the only conversion of a format that follows KEY=, or NULL. */
static const char *conversion_of(const char *format, const char *end, const char *key)
{
	const char *found = NULL;
	size_t n = strlen(key);

	for (const char *s = format + 1; n && (s = memmem(s, (size_t)(end - s), key, n)); s += n) {
		if (s[n] != '=' || !strchr(" \"", s[-1]))
			continue;
		if (found || s[n + 1] != '%')
			return NULL;
		found = s + n + 2;
	}
	return found;
}

const struct field *event_plain_field(const struct event *e, const char *key)
{
	const char *s = e->print_fmt, *end = s, *found, *argument;
	const struct field *f;
	size_t which = 1, n;

	if (!s || *s != '"')
		return NULL;
	for (end++; *end && *end != '"'; end++)
		end += *end == '\\' && end[1];
	found = end[0] && end[1] == ',' ? conversion_of(s, end, key) : NULL;
	if (!found)
		return NULL;
	for (; s < found - 1; s++)
		if (*s == '%' && s[1] == '%')
			s++;
		else if (*s == '%')
			which++;
	if (memchr(e->print_fmt, '*', (size_t)(end - e->print_fmt)))
		return NULL; /* a width is an argument, too */
	for (argument = end + 2, s = argument_end(argument); --which && *s;)
		argument = s + 1, s = argument_end(argument);
	while (*argument == ' ')
		argument++;
	while (s > argument && s[-1] == ' ')
		s--;
	n = strspn(found, "l") + 1;
	f = which ? NULL : field_alone(e, argument, (size_t)(s - argument), found[n - 1] == 's');
	return f && is_plain(f, found, n) && ends_value(found + n) ? f : NULL;
}

int event_prepare(struct event_set *evs, struct event *e)
{
	if (!e->program) {
		e->program = bytecode_make(evs, e);
		evs->failed |= !e->program;
		if ((e->opaque || e->unclear) && evs->unclear)
			evs->unclear(evs->arg, e);
	}
	return e->program && !e->opaque ? 0 : -1;
}

void events_free(struct event_set *evs)
{
	for (uint32_t i = 0; i < evs->size; i++)
		free_event(evs->by_id[i]);
	free(evs->by_id);
	free(evs->strings);
	free(evs->strings_text);
	comms_clear(&evs->comms);
	if (evs->symbols)
		symbols_free(evs->symbols);
	memset(evs, 0, sizeof(*evs));
}

/* Each line is 0xADDRESS : "TEXT", with quotes and escapes as in C. */
int events_strings(struct event_set *evs, const char *text, size_t len)
{
	const char *end = text + len, *next;
	size_t lines = 1, n = 0;
	char *out;

	for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	free(evs->strings);
	free(evs->strings_text);
	evs->nstrings = 0;
	evs->strings = malloc(lines * sizeof(*evs->strings));
	out = evs->strings_text = malloc(len + 1);
	if (!evs->strings || !out)
		return -1;
	for (const char *p = text; p < end; p = next) {
		const char *open, *close;
		uint64_t address;

		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next + 1 : end;
		p += next - p > 2 && p[1] == 'x' ? 2 : 0;
		address = text_hex(&p, next);
		open = memchr(p, '"', (size_t)(next - p));
		close = open ? memrchr(open + 1, '"', (size_t)(next - open - 1)) : NULL;
		if (!close)
			continue;
		evs->strings[n++] = (struct event_string){ address, out };
		for (p = open + 1; p < close; p++) {
			char c = *p;

			if (c == '\\' && p + 1 < close)
				switch (c = *++p) {
				case 'n': c = '\n'; break;
				case 't': c = '\t'; break;
				case 'r': c = '\r'; break;
				}
			*out++ = c;
		}
		*out++ = '\0';
	}
	evs->nstrings = n;
	return 0;
}

const char *event_string_at(const struct event_set *evs, uint64_t address)
{
	/* there are a few hundred at most, and few events have any */
	for (size_t i = 0; i < evs->nstrings; i++)
		if (evs->strings[i].address == address)
			return evs->strings[i].text;
	return NULL;
}
