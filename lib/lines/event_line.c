/* SPDX-License-Identifier: ISC */
/* event_line.c - read an event line, in the kernel's text or in JSON */

#include "lines/lines.h"
#include "lines/scan.h"

static const struct text_part none;

/* ---- the kernel's text ------------------------------------------------------------- */

/*
 * Read a decoded call: NAME(...) = RESULT <SECONDS>, NAME(...) = ?, NAME(... <unfinished ...>,
 * NAME(...) = RESULT (denied), with (emulated) and (32-bit) as well, or
 * <... NAME resumed>) = RESULT. RESULT is a value, or -1 and the name of an error.
 */
static int decoded_of_text(struct seen *l, const char *s, const char *end)
{
	static const char unfinished[] = " <unfinished ...>";
	int resumed = begins(s, end, "<... ");
	const char *name = resumed ? s + 5 : s, *p = after(name, end, in_name), *last;
	enum pairing_fate fate = resumed ? PAIRING_RESUMED : PAIRING_RETURNED;
	char *lat = l->lat;

	if (p == name || !begins(p, end, resumed ? " resumed>) = " : "("))
		return 0;
	l->event = (struct text_part){ name, (size_t)(p - name) };
	l->body = (struct text_part){ s, (size_t)(end - s) };
	last = last_of(p, end, " <");
	if (!resumed && last && !strncmp(last, unfinished, (size_t)(end - last)) &&
	    end - last == sizeof(unfinished) - 1) {
		fate = PAIRING_UNFINISHED;
		end = p;
	} else if (!resumed && last && end[-1] == '>') {
		for (const char *d = last + 2; d < end - 1; d++) {
			if (!is_digit(*d) && *d != '.')
				return 0;
			/* from seconds with six digits to microseconds */
			if (is_digit(*d) && lat < l->lat + sizeof(l->lat) - 1 &&
			    (*d != '0' || lat > l->lat || d == end - 2))
				*lat++ = *d;
		}
		end = last;
	} else if (end[-1] == ')' && (last = last_of(p, end, " (")) &&
		   (begins(last, end, " (denied)") || begins(last, end, " (emulated)") ||
		    begins(last, end, " (32-bit)"))) {
		fate = last[2] == 'd' ? PAIRING_DENIED :
		       last[2] == 'e' ? PAIRING_EMULATED : PAIRING_RESUMED;
		end = last;
	} else if (!resumed) {
		if (end - p <= 5 || !begins(end - 5, end, ") = ?"))
			return 0;
		fate = PAIRING_NO_RETURN;
	}
	*lat = '\0';
	l->decoded = fate;
	l->prefix = "sys_exit_";
	last = last_of(p, end, ") = ");
	if (last) {
		last += 4;
		/* the file of a descriptor is in <> */
		for (p = last; p < end && *p != ' ' && *p != '<'; p++)
			;
		l->ret = (struct text_part){ last, (size_t)(p - last) };
		name = p + 1;
		p = after(name, end, in_name);
		if (name <= end && name[-1] == ' ' && begins(name, end, "E"))
			l->error = (struct text_part){ name, (size_t)(p - name) };
	}
	return 1;
}

/*
 * Is the text the title of a stack: <stack trace>, or trace-cmd's "kernel_stack: <stack trace >"?
 * With -R trace-cmd prints the addresses of the frames there.
 */
static int stack_of_text(struct text_part name, const char *s, const char *end)
{
	int user = text_part_is(name, "user_stack");

	if (!name.n)
		return begins(s, end, "<stack trace>") ? SEEN_STACK :
		       begins(s, end, "<user stack trace>") ? SEEN_USER_STACK : 0;
	if ((!user && !text_part_is(name, "kernel_stack")) || s == end || *s != ':')
		return 0;
	return user ? SEEN_USER_STACK : SEEN_STACK;
}

/*
 * Read the text of the function tracer: FUNCTION <-CALLER, with the arguments of the function,
 * with offsets and addresses, or FUNCTION alone.
 */
static int function_of_text(struct seen *l, const char *name, const char *s,
			    const char *end)
{
	int called = s < end && (*s == '+' || *s == '(' || begins(s, end, " <") ||
				 begins(s, end, " [")) && last_of(s, end, " <-");

	if (s == name || !(called || event_text_only_appended(s, end)))
		return 0;
	l->body = (struct text_part){ name, (size_t)(end - name) };
	l->event = (struct text_part){ "function", strlen("function") };
	return 1;
}

/*
 * Set l->context to the fields of tfs-catpipe -O at the end of the text: trace_id, span_id and
 * trace_flags, or otel. Return the end of the text before these fields. No string of a decoded call
 * can look like them, because a decoded call does not end with a string.
 */
static const char *context_of_text(struct seen *l, const char *s, const char *end)
{
	static const char *const kinds[] = { " trace_id=", " otel=none", " otel=unknown" };
	static const size_t lengths[] = {
		sizeof(" trace_id= span_id= trace_flags=") - 1 + 32 + 16 + 2,
		sizeof(" otel=none") - 1, sizeof(" otel=unknown") - 1,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *at = (size_t)(end - s) > lengths[i] ? end - lengths[i] : end;

		if (begins(at, end, kinds[i]) && event_text_only_appended(at, end)) {
			l->context = (struct text_part){ at, lengths[i] };
			return at;
		}
	}
	return end;
}

/*
 * Read the name of a sample of perf that is no tracepoint: cycles:u, cpu-clock:pppH,
 * cpu/event=0x3c/. Return the text after its colon, or NULL.
 */
static const char *sample_of_perf(struct seen *l, const char *s, const char *end)
{
	static const char modifiers[] = "ukhIGHpPSDeWb";
	const char *p = after(s, end, not_blank), *colon, *last = p - 1;

	if (p - s < 2 || *last != ':')
		return NULL;
	colon = memchr(s, ':', (size_t)(last - s));
	for (p = colon ? colon + 1 : last; p < last && strchr(modifiers, *p); p++)
		;
	/* a tracepoint has fields */
	if (p < last || colon == s || (colon && spaces(last + 1, end) < end))
		return NULL;
	end = colon ? colon : last;
	if (memchr(s, '/', (size_t)(end - s))) /* cpu/.../u */
		while (end[-1] != '/')
			end--;
	l->event = (struct text_part){ s, (size_t)(end - s) };
	return last + 1;
}

/*
 * Return the end of the text before " ADDRESS FUNCTION+0xOFFSET (FILE)", which perf script appends
 * to an event with -F +ip,+sym,+dso and with -G. The address has 16 columns.
 */
static const char *before_place(const char *s, const char *end)
{
	enum { COLUMNS = 16, DIGITS = 6 };
	const char *p = end, *last, *address;

	while (p > s) {
		for (last = p; p > s && !is_blank(p[-1]); p--)
			;
		for (address = p; p < last && (is_digit(*p) || (*p >= 'a' && *p <= 'f')); p++)
			;
		if (p == last && p - address < DIGITS)
			p = address; /* no address */
		for (last = p, p = address; p > s && is_blank(p[-1]); p--)
			;
		if (last > address && (last == end || is_blank(*last)) &&
		    (p == s || last - p > COLUMNS))
			return p;
	}
	return end;
}

/*
 * Return the text after the offset at s, +0xOFFSET/0xSIZE, perhaps with [MODULE] and <ADDRESS>. It
 * follows the function of a marker with the kernel's options sym-offset and sym-addr. Return s if
 * the colon of a marker does not follow.
 */
static const char *behind_offset(const char *s, const char *end)
{
	const char *p = s;

	if (begins(p, end, "+0x"))
		while (p < end && !is_blank(*p) && *p != ':')
			p++;
	for (int i = 0; p > s && i < 2; i++)
		if (begins(p, end, i ? " <" : " ["))
			while (p < end && *p != ':' && *p++ != (i ? '>' : ']'))
				;
	return p < end && *p == ':' ? p : s;
}

/*
 * Read sys_NAME(...), sys_NAME -> VALUE, EVENT: FIELDS, SYSTEM:EVENT: FIELDS as in perf script,
 * a decoded call, FUNCTION <-CALLER, or the text of another tracer.
 */
static int event_of_text(struct seen *l, const char *s, const char *end)
{
	const char *name, *p;

	end = context_of_text(l, s, end);
	if (begins(s, end, "(+")) { /* trace-cmd report --ts-diff: the time since the last event */
		for (p = s + 2; p < end && (is_digit(*p) || *p == '.'); p++)
			;
		if (p < end && *p == ')')
			s = spaces(p + 1, end);
	}
	if (event_text_tracer(l, s, end))
		return 1;
	if (l->perf)
		end = before_place(s, end);
	if (l->perf && (p = sample_of_perf(l, s, end))) {
		p = spaces(p, end);
		l->body = (struct text_part){ p, (size_t)(end - p) };
		return 1;
	}
	name = s;
	s = after(s, end, in_name);
	if (s > name && s < end && *s == ':') {
		p = after(s + 1, end, in_name);
		if (p > s + 1 && p < end && *p == ':') {
			name = s + 1;
			s = p;
		}
	}
	l->event = (struct text_part){ name, (size_t)(s - name) };
	l->stack = stack_of_text(l->event, s, end);
	if (l->stack) {
		p = s < end ? spaces(s + 1, end) : end;
		l->body = (struct text_part){ p, (size_t)(end - p) };
		return 0;
	}
	if (s == name ? begins(s, end, "<... ") : begins(s, end, "(") && !begins(name, s, "sys_"))
		return decoded_of_text(l, name, end) || function_of_text(l, name, s, end);
	if (s == name)
		return 0;
	s = behind_offset(s, end);
	l->body = (struct text_part){ s, (size_t)(end - s) };
	if (s < end && *s == ':') {
		s = spaces(s + 1, end);
		l->body = (struct text_part){ s, (size_t)(end - s) };
		return 1;
	}
	if (!begins(name, s, "sys_") || (size_t)(s - name) == strlen("sys_") ||
	    !(begins(s, end, "(") || begins(s, end, " -> ")))
		return function_of_text(l, name, s, end);
	l->prefix = *s == '(' ? "sys_enter_" : "sys_exit_";
	l->event.text += strlen("sys_");
	l->event.n -= strlen("sys_");
	if (*s == '(')
		l->body = (struct text_part){ s + 1, (size_t)(end - s) - 1 - (end[-1] == ')') };
	return 1;
}

/*
 * Return the end of the name at s, before +0xOFFSET, before the file in parentheses, or before end.
 * A name of C++ may have " (" in it: std::function<int (int)>::operator()(int) const.
 */
static const char *frame_name_end(const char *s, const char *end, int any)
{
	static const char files[][12] = { " (/", " ([", " (inlined)" };
	const char *last = last_of(s, end, " (");

	for (const char *p = s; p < end; p++) {
		const char *hex;

		if (begins(p, end, "+0x")) {
			hex = after(p + 3, end, is_hex_digit);
			if (hex == end || begins(hex, end, " ("))
				return p;
		}
		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
			if (begins(p, end, files[i]))
				return p;
	}
	return any && last ? last : end;
}

/*
 * Read "ADDRESS FUNCTION+0xOFFSET (FILE)" of perf script, where the offset and the file may be
 * missing if the address ends in its column. Set the name to none for the place in the source that
 * follows a frame: two spaces, and FILE:LINE or FILE[ADDRESS]. Return 1, or 0 for another line.
 */
static int frame_of_perf(struct line_frame *f, const char *line, const char *end)
{
	enum { COLUMN = 17 };
	const char *address = spaces(line, end), *s = after(address, end, is_hex_digit);
	int aligned = *line == '\t' && s - line == COLUMN;

	f->user = s - address < 16 || *address == '0';
	if (s > address && (s == end || (is_blank(*s) && (aligned || end[-1] == ')')))) {
		f->name = (struct text_part){ address, (size_t)(s - address) };
		s = spaces(s, end);
		if (s < end && !begins(s, end, "[unknown]"))
			f->name = (struct text_part){
				s, (size_t)(frame_name_end(s, end, !aligned) - s)
			};
		return 1;
	}
	f->name = none;
	s = before(address, end, is_digit);
	return begins(line, end, "  ") && address - line == 2 && end > address &&
	       ((s < end && s > address && s[-1] == ':') ||
		(end[-1] == ']' && last_of(address, end, "[")));
}

int line_frame(struct line_frame *f, const char *line, size_t n)
{
	const char *end = line + n, *p;
	const char *s = spaces(line + line_prefix(line, n, &f->host), end);

	end = before(s, end, is_blank);
	f->user = 0;
	if (!begins(s, end, "=> "))
		return is_blank(*line) && frame_of_perf(f, line, end);
	s = spaces(s + 3, end);
	for (p = s; p < end; p++)
		if ((*p == ' ' && p > s && end - p > 2 && (p[1] == '<' || p[1] == '(')) ||
		    (*p == '+' && p > s && p[-1] != '[' && end - p > 3 && p[1] == '0' &&
		     p[2] == 'x'))
			break;
	f->name = (struct text_part){ s, (size_t)(p - s) };
	return 1;
}

/*
 * Is the line no event, and meant to be none: empty, a comment, a frame of a stack, or what
 * trace, trace-cmd report, perf script, tail and a dump of the kernel print beside the events?
 */
static int is_other(const char *s, const char *end)
{
	static const char heads[][16] = {
		"#", "cpus=", "version = ", "CPU ", "CPU:", "-----", "==> ", "PERF_RECORD_",
		"Dumping ftrace", "(ftrace buffer", "Average wakeup", "Maximum Latency",
		"Minimum Latency", "RT task timings",
	};

	if (s == end || (end - s == 2 && begins(s, end, "--"))) /* grep -C */
		return 1;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (begins(s, end, heads[i]))
			return 1;
	return 0;
}

/* Read the line from s on. */
static int parse_text(struct seen *l, const char *line, const char *s, const char *end)
{
	const char *first = spaces(s, end);
	struct line_frame frame;

	s = line_head(l, s, end);
	if (s) {
		s = spaces(s, end);
		l->miss = event_of_text(l, s, end) || l->stack ? MISS_NOTHING : MISS_EVENT;
		if (!l->perf || !begins(s, end, "PERF_RECORD_"))
			return !l->miss && !l->stack;
		l->miss = MISS_NOTHING; /* perf prints records that are no events */
		return 0;
	}
	if (is_other(first, end) || line_frame(&frame, line, (size_t)(end - line)))
		l->miss = MISS_NOTHING;
	/* function_graph: "CPU) DURATION | ...", or the task that runs from now on */
	else if (digits(&first, end).n && begins(first, end, ") "))
		l->miss = MISS_GRAPH;
	return 0;
}

/* If NAME= or NAME: begins at s, return its end, or NULL. */
static const char *behind_name(const char *s, const char *end)
{
	const char *name = s;

	s = after(s, end, in_name);
	if (s == name || s == end)
		return NULL;
	if (*s == '=')
		return s + 1;
	return end - s > 1 && *s == ':' && is_blank(s[1]) ? s + 2 : NULL;
}

/*
 * Return the opening quote of a value that is a string, directly or after an address.
 * Return NULL if the value is not a string.
 */
static const char *quote_of(const char *s, const char *end)
{
	if (begins(s, end, "0x"))
		s = after(s + 2, end, is_hex_digit);
	if (begins(s, end, " \""))
		s++;
	return s < end && *s == '"' ? s : NULL;
}

/* If an escape, or a string in quotes, begins at s, return its last character, or else s. */
static const char *last_of_string(const char *s, const char *end)
{
	const char *quote = *s == '"' ? closing_quote(s + 1, end) : NULL;

	return *s == '\\' && end - s > 1 && !is_blank(s[1]) ? s + 1 : quote ? quote : s;
}

/*
 * If "0x7b (123)" is at s, the kernel's option fields, return 1 and set *number to 123. Otherwise
 * return 0.
 */
static int is_twice(const char *s, const char *end, struct text_part *number)
{
	const char *from;

	if (!begins(s, end, "0x"))
		return 0;
	s = after(s + 2, end, is_hex_digit);
	if (end - s < 2 || !is_blank(*s) || s[1] != '(')
		return 0;
	from = s += 2;
	s += s < end && *s == '-';
	if (!digits(&s, end).n || s == end || *s != ')')
		return 0;
	*number = (struct text_part){ from, (size_t)(s - from) };
	return 1;
}

/* Return the value at s. It ends at its closing quote, or before the next name. */
static struct text_part value_at(const char *s, const char *end)
{
	const char *p = s, *quote = quote_of(s, end);
	struct text_part number;

	if (is_twice(s, end, &number))
		return number;
	if (quote) {
		quote++;
		p = closing_quote(quote, end);
		return (struct text_part){ quote, (size_t)((p ? p : end) - quote) };
	}
	for (; p < end; p = last_of_string(p, end) + 1)
		if (is_blank(*p) && (behind_name(p + 1, end) ||
				     (begins(p + 1, end, "==> ") && behind_name(p + 5, end))))
			break;
	while (p > s && (p[-1] == ',' || is_blank(p[-1])))
		p--;
	return (struct text_part){ s, (size_t)(p - s) };
}

/* Return a field of FUNCTION <-CALLER. */
static struct text_part field_of_function(const char *s, const char *end, const char *key)
{
	const char *arrow = last_of(s, end, " <-"), *p = s;

	if (arrow && !strcmp(key, "caller")) {
		p = after(arrow + 3, end, not_blank);
		return (struct text_part){ arrow + 3, (size_t)(p - arrow - 3) };
	}
	while (p < end && !is_blank(*p) && *p != '(')
		p++;
	return !strcmp(key, "func") ? (struct text_part){ s, (size_t)(p - s) } : none;
}

/* Return the first field named key at *s or after it, and move *s after it. */
static struct text_part next_named(const char **s, const char *end, const char *key)
{
	size_t n = strlen(key);

	while (*s < end) {
		const char *name = *s, *value = behind_name(name, end);

		while (*s < end && !is_blank(**s))
			*s = last_of_string(*s, end) + 1;
		*s = spaces(*s, end);
		if (value && (size_t)(end - name) > n && !memcmp(name, key, n) &&
		    (name[n] == '=' || name[n] == ':'))
			return value_at(value, end);
	}
	return none;
}

/*
 * Return the field named key, or none if there are two with different values: in text that is not
 * ours, one of them may be a part of a string.
 */
static struct text_part only_named(const char *s, const char *end, const char *key)
{
	struct text_part p = next_named(&s, end, key), other;

	while (p.text && s < end && (other = next_named(&s, end, key)).text)
		if (p.n != other.n || memcmp(p.text, other.text, p.n))
			return none;
	return p;
}

static struct text_part field_of_text(const struct seen *l, const char *key)
{
	const char *s = l->body.text, *end = s + l->body.n;
	struct text_part p;

	if (begins(s, end, " -> ")) {
		if (!strcmp(key, "ret"))
			return value_at(s + 4, end);
		s += 4;
	}
	if (text_part_is(l->event, "function") && (p = field_of_function(s, end, key)).text)
		return p;
	if (!*l->prefix && event_text_field(l, key, &p))
		return p;
	p = only_named(s, end, key);
	/* remove the ')' if fields that were appended follow the last argument of a call */
	if (p.n && *l->prefix && p.text[p.n - 1] == ')' && p.text[-1] != '"' &&
	    !memchr(p.text, '(', p.n))
		p.n--;
	return p;
}

/* ---- JSON -------------------------------------------------------------------------- */

/* Return a member's value in the object at s. A string is returned without its quotes. */
static struct text_part member(const char *s, const char *end, const char *key)
{
	struct text_part name, value;

	while (json_member(&s, end, &name, &value))
		if (text_part_is(name, key))
			return json_unquoted(value);
	return none;
}

/* Return the text of a decoded call's argument of this name. */
static struct text_part argument(const struct seen *l, const char *key)
{
	struct text_part args = member(l->body.text, l->body.text + l->body.n, "args"), arg;
	const char *s = args.text, *end = s ? s + args.n : s;

	while (s && json_element(&s, end, &arg))
		if (text_part_is(member(arg.text, arg.text + arg.n, "name"), key))
			return member(arg.text, arg.text + arg.n, "text");
	return none;
}

/* Is it an object of ours that is no event, and meant to be none, as {"lost":3,...}? */
static int is_json_comment(const char *s, const char *end)
{
	static const char names[][15] = {
		"lost", "unpaired", "not_understood", "closed", "clocks", "clock", "comment",
		"moved_ms", "files", "key", "budget", "traced", "task", "unread", "unplaced",
		"io_uring", "io_submit", "unnamed",
	};
	struct text_part name, value;

	while (json_member(&s, end, &name, &value))
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (text_part_is(name, names[i]))
				return 1;
	return 0;
}

/* Set l->context to the fields of tfs-catpipe -O at the end of the object of fields. */
static void context_of_json(struct seen *l)
{
	static const char *const kinds[] = { ",\"trace_id\":\"", ",\"otel\":\"none\"",
					     ",\"otel\":\"unknown\"" };
	static const size_t lengths[] = {
		sizeof(",\"trace_id\":\"\",\"span_id\":\"\",\"trace_flags\":\"\"") - 1 +
			32 + 16 + 2,
		sizeof(",\"otel\":\"none\"") - 1, sizeof(",\"otel\":\"unknown\"") - 1,
	};
	const char *end = l->body.text + l->body.n - 1, *at;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (l->body.n > lengths[i] + 1 && begins(at = end - lengths[i], end, kinds[i]))
			l->context = (struct text_part){ at, lengths[i] };
}

static int parse_json(struct seen *l, const char *s, const char *end)
{
	static const char facts[] = ",\"facts\":";
	struct text_part host;

	l->json = 1;
	l->object = (struct text_part){ s, (size_t)(end - s) };
	host = member(s, end, "host");
	l->host = host.n ? host : l->host;
	l->event = member(s, end, "event");
	l->comm = member(s, end, "comm");
	l->pid = member(s, end, "pid");
	l->cpu = member(s, end, "cpu");
	l->time = member(s, end, "ts");
	l->body = member(s, end, "fields");
	if (l->body.text && begins(l->body.text + l->body.n, end, facts)) {
		l->facts.text = l->body.text + l->body.n + strlen(facts);
		l->facts.n = (size_t)(end - l->facts.text);
	}
	if (l->body.n)
		context_of_json(l);
	l->miss = l->event.n && l->time.n ? MISS_NOTHING : is_json_comment(s, end) ? MISS_NOTHING
										   : MISS_JSON;
	return l->event.n && l->time.n;
}

/* ---- both forms -------------------------------------------------------------------- */

int seen_line(struct seen *l, const char *line, size_t n)
{
	struct seen text;
	const char *s, *end = line + n;

	*l = (struct seen){ .prefix = "" };
	s = line + line_prefix(line, n, &l->host);
	while (end > s && (end[-1] == '\r' || end[-1] == '\n'))
		end--; /* text of other systems */
	if (s == end || *s != '{')
		return parse_text(l, line, s, end);
	if (parse_json(l, s, end))
		return 1;
	text = (struct seen){ .prefix = "", .host = l->host };
	if (l->miss != MISS_JSON || !parse_text(&text, line, s, end))
		return 0;
	*l = text; /* a task's name can begin with a brace */
	return 1;
}

/* Return the name of the system call that the event begins or ends. */
static struct text_part call_of(const struct seen *l)
{
	const char *s = l->event.text, *end = s + l->event.n;
	size_t n = begins(s, end, "sys_enter_") ? strlen("sys_enter_") :
		   begins(s, end, "sys_exit_") ? strlen("sys_exit_") : 0;

	if (!n && !*l->prefix)
		return none;
	return (struct text_part){ s + n, (size_t)(end - s) - n };
}

int seen_side(const struct seen *l)
{
	const char *s = l->event.text, *end = s + l->event.n;

	if (*l->prefix)
		return !strcmp(l->prefix, "sys_enter_") ? 1 : -1;
	if (text_part_is(l->event, "sys_enter") || begins(s, end, "sys_enter_"))
		return 1;
	return text_part_is(l->event, "sys_exit") || begins(s, end, "sys_exit_") ? -1 : 0;
}

int seen_is_call(const struct seen *l)
{
	return l->decoded || (l->json && seen_text(l, "call").n &&
			      seen_text(l, "args").n);
}

int seen_time(const struct seen *l, uint64_t *time, int *digits)
{
	const char *s = l->time.text, *end;
	uint64_t t = 0;
	int us;

	*digits = -1;
	if (!l->time.n)
		return -1;
	if (l->from) {
		*digits = memchr(s, '.', l->time.n) ? 6 : -1;
		*time = l->ts;
		return 0;
	}
	end = s + l->time.n;
	us = l->time.n > 2 && !memcmp(end - 2, "us", 2); /* latency-format */
	if (us) {
		*digits = 6;
		end -= 2;
	}
	for (; s < end; s++) {
		if (*s == '.' && *digits < 0) {
			*digits = 0;
			continue;
		}
		if (!is_digit(*s) || *digits == 9 ||
		    t > (UINT64_MAX - (uint64_t)(*s - '0')) / 10)
			return -1;
		t = 10 * t + (uint64_t)(*s - '0');
		*digits += *digits >= 0 && !us;
	}
	for (int i = *digits; i >= 0 && i < 9; i++) {
		if (t > UINT64_MAX / 10)
			return -1;
		t *= 10;
	}
	*time = t;
	return 0;
}

static struct text_part field_of_event(const struct seen *l, const char *key)
{
	struct text_part field;

	if (!l->json)
		return field_of_text(l, key);
	field = member(l->body.text, l->body.text + l->body.n, key);
	if (!field.text && l->facts.text)
		field = member(l->facts.text, l->facts.text + l->facts.n, key);
	return field.text ? field : argument(l, key);
}

/* The text of a fork has the fields parent_pid and parent_comm as pid and comm. Accept both. */
static struct text_part field_of_parent(const struct seen *l, const char *key)
{
	static const char *const names[][2] = {
		{ "pid", "parent_pid" }, { "comm", "parent_comm" },
	};

	for (int i = 0; l->body.text && text_part_is(l->event, "sched_process_fork") && i < 2; i++)
		for (int json = 0; json < 2; json++)
			if (!strcmp(key, names[i][!json]))
				return field_of_event(l, names[i][json]);
	return none;
}

struct text_part seen_field(const struct seen *l, const char *key)
{
	struct text_part field = l->body.text ? field_of_event(l, key) : none;

	return field.text ? field : field_of_parent(l, key);
}

/* Return what a line of JSON has of the task's container (tfs-catpipe --container-names). */
static struct text_part container_of_json(const struct seen *l, const char *key)
{
	static const char *const names[][3] = {
		{ "namespace", "namespace" }, { "pod", "pod_name", "pod_uid" },
		{ "container", "container_name", "container_id" },
	};
	const char *s = l->object.text, *end = s + l->object.n;
	struct text_part name;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(key, names[i][0]))
			continue;
		name = member(s, end, names[i][1]);
		/* what has no name is known by its id */
		return name.text || !names[i][2] ? name : member(s, end, names[i][2]);
	}
	return none;
}

struct text_part seen_text(const struct seen *l, const char *key)
{
	static const struct { const char *name; size_t at; } heads[] = {
#define HEAD(name) { #name, offsetof(struct seen, name) }
		HEAD(comm), HEAD(pid), HEAD(cpu), HEAD(time), HEAD(event),
	};
	struct text_part field = l->json ? none : l->context;

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (*key == *heads[i].name && !strcmp(key, heads[i].name))
			return *(const struct text_part *)((const char *)l + heads[i].at);
	if (!strcmp(key, "call"))
		return call_of(l);
	if (!strcmp(key, "host") && l->host.text)
		return l->host;
	key += *key == '.';
	if (field.n && (field = only_named(field.text, field.text + field.n, key)).text)
		return field;
	if (l->decoded)
		return !strcmp(key, "ret") ? l->ret : !strcmp(key, "error") ? l->error :
		       !strcmp(key, "lat") && *l->lat ?
		       (struct text_part){ l->lat, strlen(l->lat) } : none;
	field = l->from ? l->from->field(l, key) : seen_field(l, key);
	return field.text || !l->object.text ? field : container_of_json(l, key);
}

struct text_part seen_body(const struct seen *l)
{
	return l->from ? l->from->body(l) : l->body;
}

struct text_part seen_call_number(const struct seen *l)
{
	struct text_part body = seen_body(l);
	const char *s = body.text, *end = s ? s + body.n : s, *number;

	if (l->json || !s || !begins(s, end, "NR ")) {
		struct text_part id = seen_text(l, "id"); /* also with options/fields */

		return id.n || l->json ? id : seen_text(l, "NR");
	}
	for (number = s += strlen("NR "); s < end && !is_blank(*s); s++)
		;
	return (struct text_part){ number, (size_t)(s - number) };
}

struct text_part seen_call_result(const struct seen *l)
{
	struct text_part p = seen_text(l, "ret");

	return p.text || l->json ? p : seen_text(l, "=");
}

uint64_t seen_latency(const struct seen *l, int digits)
{
	int64_t ns = decimal_latency(seen_text(l, "lat"), digits < 0);

	return ns < 0 ? 0 : (uint64_t)ns;
}
