/* SPDX-License-Identifier: ISC */
/* tcp.c - print what becomes of TCP connections, a line each (-T) */

#include "base/base.h"
#include "tool/tool.h"
#include "show/show.h"

enum { LINE_MOST = 1024 }; /* room for a line */

/* Write ,"NAME":VALUE or  NAME=VALUE; unknown: null, or -. */
static void put_number(const struct show *s, struct out *o, const char *name, int known,
		       uint64_t v)
{
	out_format(o, s->json ? ",\"%s\":" : " %s=", name);
	if (known)
		out_decimal(o, v);
	else
		out_string(o, s->json ? "null" : "-");
}

static void put_time(const struct show *s, struct out *o, uint64_t from, uint64_t to)
{
	int raw = s->line->raw_clock, known = from && to >= from;
	char words[TIME_WORDS];

	if (known && !raw && s->people) {
		time_words(words, to - from, 0);
		out_format(o, " lat=%s", words);
		return;
	}
	if (!known || raw || !s->json) {
		put_number(s, o, "lat", known, raw ? to - from : (to - from + 500) / 1000);
		return;
	}
	out_string(o, ",\"lat\":");
	out_decimals(o, to - from, 3);
}

static void put_address(struct out *o, const struct tcp_end *end, int brackets)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(end->ip, mapped, sizeof(mapped))) {
		out_string(o, brackets ? "[" : "");
		out_ip6(o, end->ip, 0);
		out_string(o, brackets ? "]" : "");
		return;
	}
	for (size_t i = sizeof(mapped); i < sizeof(end->ip); i++) {
		out_string(o, i > sizeof(mapped) ? "." : "");
		out_decimal(o, end->ip[i]);
	}
}

static void put_json_end(struct out *o, const char *side, const struct tcp_end *end)
{
	out_format(o, "\"%saddr\":\"", side);
	put_address(o, end, 0);
	out_format(o, "\",\"%sport\":%u,", side, end->port);
}

static void put_end(struct out *o, const struct tcp_end *end)
{
	put_address(o, end, 1);
	out_format(o, ":%u", end->port);
}

/* Write the beginning of a line of this event, by the task of the connection. */
static void put_start(struct show *s, const struct tcp_connection *c, const char *event,
		      const struct record *r, struct out *o)
{
	static const char *const sides[] = { "null", "\"connect\"", "\"accept\"",
					     "\"queue\"" };
	static const char *const arrows[] = { "<->", "->", "<-", "<-|" };
	static const unsigned char nobody[8] = { 0 }; /* common_pid 0 */
	struct record by = *r;

	by.data = c->ntask ? c->task : nobody;
	by.len = c->ntask ? c->ntask : sizeof(nobody);
	if (s->json) {
		o->at += json_begin(&s->lines, &by, o->at, out_room(o));
		out_format(o, ",\"system\":\"tcp\",\"event\":\"%s\",\"fields\":{", event);
		put_json_end(o, "s", &c->local);
		put_json_end(o, "d", &c->remote);
		out_format(o, "\"side\":%s", sides[c->side]);
		return;
	}
	if (s->people) {
		if (s->tcp->kinds != TCP_FAILED)
			s->people->ncolumns = 0; /* the columns of the hook are for other events */
		s->view->start(s, &by, o);
	} else {
		o->at += line_begin(s->line, &by, o->at);
	}
	out_format(o, "%s: ", event);
	put_end(o, &c->local);
	out_format(o, " %s ", arrows[c->side]);
	put_end(o, &c->remote);
}

static void put_stop(const struct show *s, const struct tcp_connection *c, struct out *o)
{
	if (s->otel.on) {
		out_string(o, s->json ? "," : "");
		otel_put(&c->context, o, s->json);
	}
	out_string(o, s->json ? "}}\n" : "\n");
}

/* Print what is told of a connection (struct tcp). */
static void put_told(void *show, const struct tcp_told *t)
{
	static const char *const events[] = { "tcp_begin", "tcp_connect", "tcp_accept",
					      "tcp_life" };
	const struct tcp_connection *c = t->of;
	struct show *s = show;
	struct out *o = s->out;

	put_start(s, c, events[t->what], t->at, o);
	if (t->what != TCP_BEGINS)
		put_time(s, o, t->from, t->to);
	if (t->what == TCP_CONNECTED && s->json)
		out_format(o, ",\"established\":%s", c->established ? "true" : "false");
	if (t->what == TCP_CONNECTED && !c->established)
		out_format(o, !s->json ? " error=%s" : t->error ? ",\"error\":\"%s\"" :
			   ",\"error\":%s", t->error ? t->error : s->json ? "null" : "-");
	if (t->what == TCP_LIVED) {
		put_number(s, o, "sent", c->known, c->sent);
		put_number(s, o, "received", c->known, c->received);
	}
	put_stop(s, c, o);
}

/* Print what a record gives: what it tells, or the text of another event (struct show). */
static size_t take_record(struct show *s, const struct record *r, int lost, int *shown, char *buf,
			  size_t size)
{
	struct out o = out_to(buf, size);
	struct tcp *a = s->tcp;

	a->events = s->line->events;
	a->raw_clock = s->line->raw_clock;
	a->live = s->facts.live;
	a->otel = s->otel.on ? &s->otel : NULL;
	s->out = &o;
	if (tcp_record(a, r, lost, *shown) && *shown)
		o.at += show_text(s, r, o.at, out_room(&o));
	*shown = o.at > buf;
	return (size_t)(o.at - buf);
}

/* ---- the interface ---- */

size_t show_tcp_end(struct show *s, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	s->out = &o;
	while (s->tcp && out_room(&o) >= LINE_MOST && tcp_end(s->tcp))
		;
	return (size_t)(o.at - buf);
}

/* Take port=N. Return 0, or -1: it is not that. */
static int take_port(struct tcp *a, const char *word, const char *end)
{
	const char *digits = word + strlen("port=");
	unsigned long long n;

	if (strncmp(word, "port=", strlen("port=")))
		return -1;
	n = text_digits(&digits);
	return digits != end || !n || n > UINT16_MAX ? -1 : pids_add(&a->ports, (pid_t)n);
}

int show_tcp_take(struct show *s, const struct tool *tool)
{
	static const char *const names[] = { "latency", "life", "accept", "connect", "failed" };
	const char *word = opt_value;
	struct tcp *a;

	if (strcmp(opt_last.name, "tcp"))
		return 0;
	a = s->tcp = s->tcp ? s->tcp : xcalloc(1, sizeof(*a));
	for (;; word++) {
		size_t n = strcspn(word, ","), i = 0;

		while (i < 5 && (strlen(names[i]) != n || strncmp(names[i], word, n)))
			i++;
		if (i < 5)
			a->kinds |= 1u << i;
		else if (take_port(a, word, word + n) < 0)
			opt_refuse(tool, "a list of latency, life, accept, connect, failed, "
				   "port=N");
		word += n;
		if (!*word)
			break;
	}
	pids_sort(&a->ports);
	a->subjects = &s->subjects;
	a->tell = put_told;
	a->arg = s;
	tcp_begin(a);
	s->decoder = take_record;
	s->asked = 1;
	return 1;
}
