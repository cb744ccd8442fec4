/* SPDX-License-Identifier: ISC */
/*
 * tfs-dns - print the DNS queries in the calls of a trace, with their answers
 *
 * Requires: only a trace on standard input, as text or lines of JSON, with decoded calls that have
 * the bytes of buffers and the addresses of sockets (trace_syscalls --names --data N), or a
 * trace.dat of these calls.
 * A query is found in the memory of the call that sends it, and its answer in that of the call that
 * receives it: both have the same socket, server, number and question. For each query there is an
 * event dns_query, of the task that sent the query, at the time when its answer was received, or
 * when it was certain that there is none: the query was sent again, the socket was closed or gave
 * an error, a minute has passed, or the trace has ended.
 * The last lines count what was not understood. tfs-dns ignores SIGINT, so that the program that
 * makes the trace can finish first.
 * Exit: 0 done, 1 the trace has no such query, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "tool/tool.h"
#include "help.h"
#include "seen/seen.h"
#include "dns.h"

enum { QUERIES_MOST = 65536, STREAMS_MOST = 1024 };
#define PATIENCE 60000000000u /* ns */

static int failed, json;
static unsigned long least;
static const char *ports;

static const struct tool tool = {
	TOOL_TFS_DNS,
	.places = (const struct opt_place[]){
		{ 'f', .flag = &failed }, { 's', .number = &least }, { 'p', .text = &ports },
		{ 'j', .flag = &json }, { 0 },
	},
};

/* An answer, or why there is none; time is when that was known */
struct answer {
	uint64_t time;
	const char *error;      /* NULL: it is an answer */
	unsigned code, answers;
	int truncated, cut;
	char *addresses;
};

/* A query without an answer so far, or an answer whose query comes when the call returns */
struct query {
	struct query *next;             /* of its socket */
	struct query *older, *newer;    /* of all */
	struct socket *socket;
	char *head, *host;              /* of its line */
	char *name;
	unsigned id, type, class;
	int stream, answered;
	int gap;                        /* events were lost since, perhaps its answer */
	uint64_t process;               /* as process_of gives it */
	uint64_t begin, day;            /* day: begin as a time of day; 0: not known */
	uint64_t closed;                /* when another process or thread closed it; 0: none did */
	struct dns_peer peer;
	struct answer answer;
};

/* The key is the host, the protocol and the port, or the descriptor of a socket without a port. */
struct socket {
	struct table_entry entry;
	struct query *first;
};

/* The message that a side of a connection has begun; the key is the direction and the addresses. */
struct stream {
	struct table_entry entry;
	struct strbuf known;            /* its first bytes, with its length in front */
	size_t unknown;                 /* so many bytes after them are not known */
	uint64_t begin;                 /* when its first call began */
	int lost;                       /* where the next one begins is not known */
};

static const char unanswered[] = "unanswered", unfinished[] = "unfinished";
static struct input in;
static struct table sockets = { .size = sizeof(struct socket) };
static struct table streams = { .size = sizeof(struct stream) };
static struct { struct query *first, *last; size_t n; } queries;
static struct dns_call call;
static struct dns_message message;
static struct pids servers;
static struct strbuf key, text;
static unsigned long long printed, unpaired, cut, odd, resolved;
static uint64_t began, last; /* when the last call began and returned */
static int digits;      /* of its time, as seen_time gives them */

/* ---- print ---------------------------------------------------------------------------- */

static void put_string(const char *name, const char *value)
{
	static const struct seen form = { .prefix = "" };
	static struct strbuf field;

	strbuf_empty(&field);
	strbuf_empty(&text);
	if (json) {
		json_print_string(name, text_part_of(value));
		return;
	}
	strbuf_escaped(&text, value, strlen(value), ESCAPE_TEXT);
	seen_add_field(&field, &form, name, (struct text_part){ text.text, text.n });
	stdout_print("%s", field.text);
}

static void put_number(const char *name, uint64_t value)
{
	stdout_print(json ? ",\"%s\":%llu" : " %s=%llu", name, (unsigned long long)value);
}

static void put_flag(const char *name, int is)
{
	if (is)
		stdout_print(json ? ",\"%s\":true" : " %s=1", name);
}

/* Print the beginning of the line: its task, and this time. */
static void put_head(const struct query *q, uint64_t time)
{
	char stamp[48];
	struct out o = out_to(stamp, sizeof(stamp) - 1);

	if (digits < 0)
		out_decimal(&o, time);
	else if (digits > 6)
		out_decimals(&o, time, 9);
	else
		out_decimals(&o, (time + 500) / 1000, 6);
	*o.at = '\0';
	if (!json) {
		stdout_print("%s%s %s: dns_query:", q->host, q->head, stamp);
		return;
	}
	stdout_print("{\"ts\":%s", stamp);
	if (q->day)
		stdout_print(",\"timeUnixNano\":\"%llu\"",
			     (unsigned long long)(q->day + (time - q->begin)));
	stdout_print(",%s,\"system\":\"dns\",\"event\":\"dns_query\",\"fields\":{", q->head);
}

static void put_latency(uint64_t lat)
{
	char number[48];
	struct out o = out_to(number, sizeof(number) - 1);

	if (digits > 6)
		out_decimals(&o, lat, 3);
	else
		out_decimal(&o, digits < 0 ? lat : (lat + 500) / 1000);
	*o.at = '\0';
	stdout_print(json ? ",\"lat\":%s" : " lat=%s", number);
}

static void put_addresses(const char *s)
{
	if (!json && *s)
		put_string("addresses", s);
	if (!json)
		return;
	stdout_print(",\"addresses\":[");
	for (size_t n; *s; s += n + (s[n] == ',')) {
		n = strcspn(s, ",");
		stdout_print("\"%.*s\"%s", (int)n, s, s[n] ? "," : "");
	}
	stdout_print("]");
}

/* Print the query, unless an option leaves it out. */
static void print(const struct query *q, const struct answer *a)
{
	uint64_t lat = a->time > q->begin ? a->time - q->begin : 0;
	char room[DNS_WORD];

	if ((failed && !a->error && !a->code) || lat / (digits < 0 ? 1 : 1000) < least)
		return;
	printed++;
	put_head(q, a->time > q->begin ? a->time : q->begin);
	stdout_print(json ? "\"id\":%u" : " id=%u", q->id);
	put_string("name", q->name);
	put_string("type", dns_type(q->type, room));
	put_string("server", q->peer.ip);
	put_number("port", q->peer.port);
	put_string("protocol", q->stream ? "tcp" : "udp");
	put_string("code", a->error ? a->error : dns_code(a->code, room));
	if (a->error == unfinished)
		stdout_print(json ? ",\"lat\":null" : " lat=-");
	else
		put_latency(lat);
	if (!a->error) {
		put_number("answers", a->answers);
		put_addresses(a->addresses);
	}
	put_flag("truncated", a->truncated);
	put_flag("cut", a->cut);
	if (json)
		stdout_print("}%s}", q->host);
	stdout_print("\n");
}

/* ---- queries -------------------------------------------------------------------------- */

/* Return the socket of the call, with its port or with its descriptor; make: if there is none. */
static struct socket *socket_of(int by_port, int make)
{
	struct text_part port = call.local;
	const struct text_part host = in.l.host;

	strbuf_add(strbuf_empty(&key), host.text, host.n);
	if (by_port)
		while (port.n && port.text[port.n - 1] != ':')
			port.n--;
	strbuf_format(&key, "%c%s", call.stream ? 't' : 'u', by_port ? ":" : "fd");
	if (by_port)
		strbuf_add(&key, port.text + port.n, call.local.n - port.n);
	else
		strbuf_format(&key, "%u", call.fd);
	return make ? table_at(&sockets, key.text, key.n) :
		      table_find(&sockets, key.text, key.n);
}

static void forget(struct query *q)
{
	struct query **at = &q->socket->first;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	if (!q->socket->first)
		table_remove(&sockets, q->socket);
	*(q->older ? &q->older->newer : &queries.first) = q->newer;
	*(q->newer ? &q->newer->older : &queries.last) = q->older;
	queries.n--;
	free(q->head);
	free(q->host);
	free(q->name);
	free(q->answer.addresses);
	free(q);
}

/* The query has no answer, or the answer has no query. */
static void give_up(struct query *q, const char *why, uint64_t time)
{
	if (q->closed)
		why = unanswered;
	if (q->gap && (why == unanswered || why == unfinished))
		why = "unknown";
	if (q->answered)
		unpaired++;
	else
		print(q, &(struct answer){ .time = q->closed ? q->closed : time, .error = why });
	forget(q);
}

/* Return the process of the call's task; text has only the thread. */
static uint64_t process_of(void)
{
	static const char key_of[] = "\"tgid\":";
	const char *at = in.l.json ? memmem(in.line, in.n, key_of, sizeof(key_of) - 1) : NULL;

	at = at ? at + sizeof(key_of) - 1 : in.l.pid.text;
	return at ? text_digits(&at) : 0;
}

/* Does the query, or the answer, have this message and the socket of the call? */
static int belongs(const struct query *q, const struct dns_peer *peer)
{
	return q->id == message.id && q->type == message.type && q->class == message.class &&
	       !strcasecmp(q->name, message.name.text) &&
	       (!peer->port || !q->peer.port ||
		(peer->port == q->peer.port && !strcmp(peer->ip, q->peer.ip)));
}

/* Return what belongs to the message: queries, or answers. */
static struct query *find(const struct socket *s, const struct dns_peer *peer, int answered)
{
	struct query *q = s ? s->first : NULL;

	while (q && (q->answered != answered || !belongs(q, peer)))
		q = q->next;
	return q;
}

/* Set head and host of a line to those of the call's line. */
static void keep_head(struct query *q)
{
	const struct seen *l = &in.l;
	struct text_part number, name, value;
	const char *s = in.line, *end = s + in.n;

	strbuf_add(strbuf_empty(&text), "", 0);
	if (json && l->json) {
		const char *from = memmem(s, in.n, "\"cpu\":", 6);
		const char *to = memmem(s, in.n, ",\"system\":", 10);

		if (from && to > from)
			strbuf_add(&text, from, (size_t)(to - from));
		while (json_member(&s, end, &name, &value))
			if (text_part_is(name, "timeUnixNano")) {
				number = json_unquoted(value);
				text_part_number(number, 10, &q->day);
			}
	} else if (json) {
		struct decimal cpu = { 0 }, pid = { 0 };

		decimal_parse(&cpu, l->cpu);
		decimal_parse(&pid, l->pid);
		strbuf_format(&text, "\"cpu\":%llu,\"pid\":%llu,\"comm\":\"",
			      (unsigned long long)cpu.whole, (unsigned long long)pid.whole);
		name = strbuf_unescaped(&key, l->comm, 0);
		strbuf_escaped(&text, name.text, name.n, ESCAPE_JSON);
		strbuf_puts(&text, "\"");
	} else {
		strbuf_format(&text, "%16.*s-%-7.*s [%.*s] %.*s", (int)l->comm.n, l->comm.text,
			      (int)l->pid.n, l->pid.text, (int)l->cpu.n, l->cpu.text,
			      (int)l->flags.n, l->flags.text);
	}
	q->head = xstrdup(text.text);
	strbuf_add(strbuf_empty(&text), "", 0);
	if (l->host.n && json && !l->json) {
		strbuf_puts(&text, ",\"host\":\"");
		strbuf_escaped(&text, l->host.text, l->host.n, ESCAPE_JSON);
		strbuf_puts(&text, "\"");
	} else if (l->host.n) {
		strbuf_format(&text, json ? ",\"host\":\"%.*s\"" : "%.*s | ", (int)l->host.n,
			      l->host.text);
	}
	q->host = xstrdup(text.text);
}

/* Keep what the message says, for the other half that is still to come. */
static struct query *keep(const struct dns_peer *peer, uint64_t begin)
{
	struct query *q = xcalloc(1, sizeof(*q));

	q->begin = begin;
	keep_head(q);
	q->day -= q->day ? began - begin : 0; /* it may have begun before this call */
	q->name = xstrdup(message.name.text);
	q->id = message.id;
	q->type = message.type;
	q->class = message.class;
	q->stream = call.stream;
	q->process = process_of();
	q->peer = *peer;
	q->socket = socket_of(call.local.n > 0, 1);
	q->next = q->socket->first;
	q->socket->first = q;
	q->older = queries.last;
	*(queries.last ? &queries.last->newer : &queries.first) = q;
	queries.last = q;
	queries.n++;
	return q;
}

/* The call has sent the query, or has failed to do so. */
static void take_query(const struct dns_peer *peer, uint64_t begin)
{
	struct query *q, *before, *answer;

	before = find(socket_of(call.local.n > 0, 0), peer, 0);
	if (before)
		give_up(before, "retried", begin);
	answer = find(socket_of(call.local.n > 0, 0), peer, 1);
	q = keep(peer, begin);
	if (call.result < 0) {
		struct text_part error = seen_text(&in.l, "error");

		strbuf_add(strbuf_empty(&key), error.text, error.n);
		give_up(q, key.text, last);
	} else if (answer && answer->answer.time >= begin) {
		print(q, &answer->answer);
		forget(answer);
		forget(q);
	}
}

/* The call has received the answer, of which n bytes are not known. */
static void take_answer(const struct dns_peer *peer, size_t unknown)
{
	struct query *q = find(socket_of(call.local.n > 0, 0), peer, 0);
	struct answer a = {
		last, NULL, message.code, message.answers, message.truncated,
		message.cut || unknown, message.addresses.text,
	};

	if (!q && call.local.n) /* it had no port before it was sent */
		q = find(socket_of(0, 0), peer, 0);
	if (q) {
		cut += a.cut != 0;
		print(q, &a);
		forget(q);
	} else if (peer->port) {
		q = keep(peer, last);
		q->answered = 1;
		q->answer = a;
		q->answer.addresses = xstrdup(a.addresses);
	}
}

/* ---- calls ---------------------------------------------------------------------------- */

/* A message of which n bytes are known has been sent, from begin on, or received. */
static void take_message(const struct dns_peer *peer, const char *s, size_t n, size_t whole,
			 uint64_t begin)
{
	const int sends = call.does == DNS_SENDS;

	if (queries.n >= QUERIES_MOST) /* before any of them is looked up */
		give_up(queries.first, unfinished, last);
	if (!dns_read(&message, (const unsigned char *)s, n))
		odd += peer->port != 0 && call.result >= 0;
	else if (sends && !message.response)
		take_query(peer, begin);
	else if (!sends && message.response)
		take_answer(peer, whole - n);
}

static struct stream *stream_of(int make)
{
	const struct text_part host = in.l.host;

	strbuf_add(strbuf_empty(&key), host.text, host.n);
	strbuf_puts(&key, call.does == DNS_SENDS ? ">" : "<");
	strbuf_add(&key, call.socket.text, call.socket.n);
	return make ? table_at(&streams, key.text, key.n) :
		      table_find(&streams, key.text, key.n);
}

static void drop_stream(struct stream *s)
{
	free(s->known.text);
	table_remove(&streams, s);
}

/* Take bytes of a connection: messages, each with two bytes of its length in front. */
static void take_stream(const struct dns_peer *peer, const struct dns_piece *p)
{
	struct stream *st = stream_of(0);
	size_t n = p->n, gap = p->whole - p->n;
	const char *s = call.bytes.text + p->at;

	for (size_t i = 0; !st && streams.n >= STREAMS_MOST; i = 0)
		drop_stream(table_next(&streams, &i));
	st = st ? st : stream_of(1);
	while ((n || gap) && !st->lost) {
		const unsigned char *v = (const unsigned char *)st->known.text;
		size_t have = st->known.n, want, part;

		st->begin = have ? st->begin : began;
		want = have < 2 ? 1 : 2 + ((size_t)v[0] << 8 | v[1]) - have - st->unknown;
		part = n ? n : gap;
		part = part < want ? part : want;
		if (!n && have < 2) {
			st->lost = 1;
			cut++;
			break;
		}
		if (n && !st->unknown)
			strbuf_add(&st->known, s, part);
		else
			st->unknown += part;
		s += n ? part : 0;
		*(n ? &n : &gap) -= part;
		if (have < 2 || part < want)
			continue;
		have = st->known.n - 2;
		take_message(peer, st->known.text + 2, have, have + st->unknown, st->begin);
		st->known.n = st->unknown = 0;
	}
}

/*
 * The queries of this socket get no answer: those of the process `by`, or if it is 0, all. If the
 * process closes the socket, those of others end at this time, unless an answer comes.
 */
static void end_socket(const char *why, uint64_t by, int closes)
{
	const struct socket *s = socket_of(call.local.n > 0, 0);
	struct query *next;

	for (struct query *q = s ? s->first : NULL; q; q = next) {
		next = q->next;
		if (q->answered || (call.peer.port && strcmp(q->peer.ip, call.peer.ip)))
			continue;
		if (by && q->process != by) /* it may be a child, which has the socket, too */
			q->closed = closes ? last : q->closed;
		else
			give_up(q, why, last);
	}
}

static void close_socket(void)
{
	struct stream *st;

	end_socket(unanswered, process_of(), 1);
	for (unsigned i = 0; call.stream && i < 2; i++) {
		call.does = i ? DNS_SENDS : DNS_RECEIVES;
		st = stream_of(0);
		if (st)
			drop_stream(st);
	}
}

/* The call has failed to receive, with this error. */
static void take_failure(struct text_part why)
{
	static struct strbuf error;

	if (text_part_is(why, "EAGAIN") || text_part_is(why, "EINTR"))
		return;
	strbuf_add(strbuf_empty(&error), why.text, why.n);
	end_socket(error.text, process_of(), 0);
}

static void take_pieces(void)
{
	for (size_t i = 0; i < call.npieces; i++) {
		const struct dns_piece *p = &call.pieces[i];
		struct dns_peer peer = call.peer.port ? call.peer : p->peer;

		if ((peer.port && !pids_has(&servers, (pid_t)peer.port)) ||
		    (!peer.port && call.does == DNS_SENDS))
			continue;
		if (!call.stream)
			take_message(&peer, call.bytes.text + p->at, p->n, p->whole, began);
		else if (call.result >= 0) /* what has not been sent is sent again */
			take_stream(&peer, p);
	}
}

static void take_call(void)
{
	if (!dns_call(&call, &in.l) || seen_time(&in.l, &began, &digits) < 0)
		return;
	last = began + seen_latency(&in.l, digits);
	while (queries.first && queries.first->begin + PATIENCE < last)
		give_up(queries.first, unanswered, last);
	if (call.does == DNS_CONNECTS)
		resolved += call.resolves && call.result >= 0;
	else if (call.does == DNS_CLOSES)
		close_socket();
	else if (call.does == DNS_RECEIVES && call.result < 0)
		take_failure(seen_text(&in.l, "error"));
	else if (call.does == DNS_RECEIVES && call.stream && !call.result)
		end_socket(unanswered, 0, 1);
	else if (!call.peeks)
		take_pieces();
}

static void each(void)
{
	static int begun;
	int gap;

	text_mask_controls(in.line, in.line + in.n);
	json |= !begun && *in.line == '{'; /* a task's name may begin with it */
	begun = 1;
	if (input_event(&in)) {
		take_call();
		return;
	}
	gap = comments_is_gap(in.line);
	for (struct query *q = gap ? queries.first : NULL; q; q = q->newer)
		q->gap = 1;
	if (!comments_keep(&in.comments, in.line) && (gap || *in.line == (json ? '{' : '#')) &&
	    strncmp(in.line, "# files of ", 11) && strncmp(in.line, "{\"files\":", 9))
		stdout_print("%s\n", in.line);
}

/* ---- the interface -------------------------------------------------------------------- */

/* Print a comment line with a number, unless it is 0. */
static void put_comment(unsigned long long n, const char *what)
{
	if (n)
		stdout_print(json ? "{\"comment\":\"%llu %s\"}\n" : "# %llu %s\n", n, what);
}

int main(int argc, char **argv)
{
	opt_next(&tool, argc, argv);
	for (const char *s = ports ? ports : "53", *word = s;; word = s) {
		unsigned long long port = text_digits(&s);

		if (s == word || !port || port > UINT16_MAX || (*s && *s != ','))
			usage_error(&tool, "'%.80s' is not a list of ports", ports);
		pids_add(&servers, (pid_t)port);
		if (!*s++)
			break;
	}
	if (pids_sort(&servers) < 0)
		return REFUSED;
	in.paths = 1;
	input_takes_dat(&in);
	input_file(&in, &tool, argv + opt_index);
	input_each(&in, each);
	while (queries.first)
		give_up(queries.first, unfinished, last);
	put_comment(resolved, "connections to systemd-resolved or nscd, which answer without DNS");
	put_comment(unpaired, "answers without a query");
	put_comment(cut, "answers are known only in part");
	put_comment(odd, "messages to or from a server were not understood");
	return input_end(&in, printed ? NULL : "no such query in the trace");
}
