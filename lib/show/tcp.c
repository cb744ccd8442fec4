/* SPDX-License-Identifier: ISC */
/*
 * tcp.c - print TCP connections: a line when one is made, accepted, or at its end
 *
 * sock:inet_sock_set_state tells each change of state of a socket. The records tfs:tcp of
 * tfs-strings (bin/record/tcp_programs.c) come directly before it, on the same CPU; recordings of
 * earlier versions have them as text. A letter, the socket, and two numbers:
 *
 *	S SOCKET SENT RECEIVED  the bytes of a connection that ends, and the inode of its socket
 *	Q SOCKET SENT RECEIVED  the same, of one that no program has accepted so far
 *	E SOCKET ERRNO          why no connection came about
 *	W SOCKET                no connection came about, within connect: its return says why
 *	D SOCKET HIGH LOW       the address to which the running task could not connect
 *	L SOCKET HIGH LOW       its own address
 *	F SOCKET PORTS NS       after these two: the ports, the error, and how long connect took
 *	A SOCKET                the running task has accepted the connection
 *
 * A connection belongs to the task that connected or accepted. If neither is known, it belongs to
 * the task that closed it: that task runs when the kernel leaves the state of an open connection.
 * If a packet has ended the connection, that is the task in which the kernel destroys the socket
 * (tcp:tcp_destroy_sock), so the line has to wait for that. In a live trace, a selected task that
 * has the socket open is known before: procfs shows its inode.
 */
#include <dirent.h>

#include <netinet/in.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "proc/proc.h"
#include "event/event.h"
#include "calls/calls.h"
#include "show/show.h"

/* In place of an error: the return of the call says it. */
enum { CALL_TELLS = -1 };

/* FAILED: connects that fail at once, among the events as they are */
enum { SHOW_LATENCY = 1, SHOW_LIFE = 2, SHOW_ACCEPT = 4, SHOW_CONNECT = 8, SHOW_FAILED = 16 };

enum { LINE_MOST = 1024 }; /* room for a line */

/* include/net/tcp_states.h */
enum { ESTABLISHED = 1, SYN_SENT, SYN_RECV, FIN_WAIT1, CLOSE = 7, LAST_ACK = 9, LISTEN };

/* One end of a connection. The event has IPv4 addresses as mapped ones, too. */
struct end {
	unsigned char ip[16];
	unsigned port;
};

/*
 * A socket, found by its address. Its entry lives until the socket is closed. If a later record has
 * to say whose the connection was or why it failed, it lives until the kernel frees the socket.
 */
struct connection {
	struct table_entry entry;
	enum { SIDE_UNKNOWN, CONNECTS, ACCEPTS, QUEUED } side;
	int established;
	int known, failed;      /* are its bytes known? the error that its last line has; 0: none */
	uint64_t sent, received, ended; /* ended: 0, or when it ended, and no task is known */
	uint64_t begun, ready;  /* when its first packet came or went; when it was established */
	struct end local, remote;
	unsigned char task[16]; /* the common fields of a record of its task */
	uint8_t ntask;          /* 0: the task is not known */
	int shown;              /* the task is selected */
	struct otel_context context; /* of the task, when it connected, accepted or closed */
};

/* The last record of a program on a CPU */
struct said {
	struct table_entry entry;
	uint64_t socket;
	char what;
	uint64_t value[2];
	uint32_t inode;
	struct end remote, local; /* D, L */
};

/* An open socket, found by the number of its inode */
struct owner {
	struct table_entry entry;
	pid_t pid;
};

/* The fields of an event */
enum { SOCKET, OLD, NEW, SPORT, DPORT, PROTOCOL, SADDR, DADDR, FIELDS };
enum { OTHER = KIND_OTHER, STATE, DESTROYED, PRINTED, OWN };

static struct {
	unsigned kinds;
	struct pids ports;      /* of connects that fail at once; none: all */
	struct event_notes events;
	struct table connections, said;
	struct table owners;    /* as of the time when joined was s->subjects.joins */
	unsigned long joined;
	int have_owners;
	struct record last;     /* its time and CPU: when the trace has ended */
	size_t hand;            /* tcp_end: the next connection, plus 1 */
} tcp;

/* ---- what records say ---- */

static const struct event_seen *event_at(struct show *s, const struct record *r)
{
	static const struct event_kind kinds[] = {
		{ "*:inet_sock_set_state", STATE,
		  "skaddr oldstate newstate sport dport protocol saddr_v6 daddr_v6" },
		{ "*:tcp_destroy_sock", DESTROYED, "skaddr" },
		{ "*:bpf_trace_printk", PRINTED, "bpf_string" },
		{ RECORD_SYSTEM ":tcp", OWN, "" },
		{ "", 0, "" },
	};

	return event_seen(&tcp.events, s->line->events, r, kinds, 1);
}

static unsigned number(const struct show *s, const struct event_seen *of, unsigned i,
		       const struct record *r)
{
	return (unsigned)field_integer(s->line->events, of->field[i], r);
}

static void set_end(struct end *end, const struct show *s, const struct event_seen *of,
		    unsigned address, unsigned port, const struct record *r)
{
	struct field_data v = event_value(of, address, s->line->events, r);

	end->port = number(s, of, port, r);
	if (v.kind == FIELD_ARRAY && v.n == sizeof(end->ip))
		memcpy(end->ip, v.data, sizeof(end->ip));
}

static void set_task(struct show *s, struct connection *c, const struct record *r, int shown)
{
	if (s->otel.on)
		c->context = otel_of(&s->otel, s->line->events, r);
	c->ntask = (uint8_t)(r->len < sizeof(c->task) ? r->len : sizeof(c->task));
	memcpy(c->task, r->data, c->ntask);
	c->shown = shown;
}

/* ---- connections that are older than the trace ---- */

/* Return a selected thread of the process, the leader if possible; 0: there is none. */
static pid_t selected(const struct subjects *of, pid_t pid)
{
	struct pids threads = { 0 };
	struct task t;
	pid_t found = 0;

	if (!of->member || subjects_have(of, pid))
		return pid;
	if (!task_read(pid, &t))
		task_add_threads(&threads, &t);
	for (size_t i = 0; i < threads.n && !found; i++)
		found = subjects_have(of, threads.v[i]) ? threads.v[i] : 0;
	pids_clear(&threads);
	return found;
}

/* Add the sockets that the process has open, if it is selected; of several, the first has it. */
static int add_sockets(void *show, pid_t process)
{
	const struct show *s = show;
	pid_t pid = selected(&s->subjects, process);
	char path[PATH_MAX], link[32] = "";
	struct dirent *e;
	DIR *d;

	str_format(path, sizeof(path), "%s/%d/fd", path_procfs(), (int)pid);
	d = pid ? opendir(path) : NULL;
	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		const char *digits = link + strlen("socket:[");
		struct owner *owner;
		uint32_t inode;

		if (n < 0 || strncmp(link, "socket:[", strlen("socket:[")))
			continue;
		link[n] = '\0';
		inode = (uint32_t)text_digits(&digits);
		owner = table_at(&tcp.owners, (char *)&inode, sizeof(inode));
		owner->pid = owner->pid ? owner->pid : pid;
	}
	if (d)
		closedir(d);
	return 0;
}

/* If a selected process has the socket with this inode open, the connection belongs to it. */
static void set_owner(struct show *s, struct connection *c, uint32_t inode)
{
	const struct event_set *evs = s->line->events;
	const struct owner *owner;

	/* all these sockets are older than the trace, so it is enough to look once */
	if (s->facts.live && (!tcp.have_owners || tcp.joined != s->subjects.joins) &&
	    !procfs_begin()) {
		table_clear(&tcp.owners);
		task_each_process(add_sockets, s);
		procfs_end();
		tcp.have_owners = 1;
		tcp.joined = s->subjects.joins;
	}
	owner = table_find(&tcp.owners, (char *)&inode, sizeof(inode));
	if (!owner || evs->pid_at + sizeof(owner->pid) > sizeof(c->task))
		return;
	memset(c->task, 0, sizeof(c->task));
	memcpy(c->task + evs->pid_at, &owner->pid, sizeof(owner->pid));
	c->ntask = sizeof(c->task);
	c->shown = 1;
}

/* ---- lines ---- */

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

	if (!known || raw || !s->json) {
		put_number(s, o, "lat", known, raw ? to - from : (to - from + 500) / 1000);
		if (known && !raw && s->people)
			out_string(o, "us");
		return;
	}
	out_string(o, ",\"lat\":");
	out_decimals(o, to - from, 3);
}

static void put_address(struct out *o, const struct end *end, int brackets)
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

static void put_json_end(struct out *o, const char *side, const struct end *end)
{
	out_format(o, "\"%saddr\":\"", side);
	put_address(o, end, 0);
	out_format(o, "\",\"%sport\":%u,", side, end->port);
}

static void put_end(struct out *o, const struct end *end)
{
	put_address(o, end, 1);
	out_format(o, ":%u", end->port);
}

/* Write the beginning of a line of this event, by the task of the connection. */
static void put_start(struct show *s, const struct connection *c, const char *event,
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
		if (tcp.kinds != SHOW_FAILED)
			s->people->ncolumns = 0; /* those of the hook are for other events */
		s->view->start(s, &by, o);
	} else {
		o->at += line_begin(s->line, &by, o->at);
	}
	out_format(o, "%s: ", event);
	put_end(o, &c->local);
	out_format(o, " %s ", arrows[c->side]);
	put_end(o, &c->remote);
}

static void put_stop(const struct show *s, const struct connection *c, struct out *o)
{
	if (s->otel.on) {
		out_string(o, s->json ? "," : "");
		otel_put(&c->context, o, s->json);
	}
	out_string(o, s->json ? "}}\n" : "\n");
}

/* Write how long a connect took until then, and the error, if it has failed; NULL: unknown. */
static void put_connect(struct show *s, const struct connection *c, const char *error,
			const struct record *r, uint64_t until, struct out *o)
{
	put_start(s, c, "tcp_connect", r, o);
	put_time(s, o, c->begun, until);
	if (s->json)
		out_format(o, ",\"established\":%s", c->established ? "true" : "false");
	if (!c->established)
		out_format(o, !s->json ? " error=%s" : error ? ",\"error\":\"%s\"" :
			   ",\"error\":%s", error ? error : s->json ? "null" : "-");
	put_stop(s, c, o);
}

static void put_life(struct show *s, const struct connection *c, const struct record *r,
		     uint64_t until, struct out *o)
{
	if (!(tcp.kinds & SHOW_LIFE) || !c->shown)
		return;
	put_start(s, c, "tcp_life", r, o);
	put_time(s, o, c->begun, until);
	put_number(s, o, "sent", c->known, c->sent);
	put_number(s, o, "received", c->known, c->received);
	put_stop(s, c, o);
}

/* ---- records ---- */

/* Read a number in this base, and move *s after it and a space. */
static uint64_t read_number(const char **s, const char *end, unsigned base)
{
	const char *space = memchr(*s, ' ', (size_t)(end - *s));
	struct text_part p = { *s, (size_t)((space ? space : end) - *s) };
	uint64_t n = 0;

	text_part_number(p, base, &n);
	*s = space ? space + 1 : end;
	return n;
}

/* Set the address from its halves. */
static void set_address(struct end *to, const uint64_t *halves)
{
	for (size_t i = 0; i < 2; i++) {
		uint64_t half = halves[i];

		for (size_t j = 8; j--; half >>= 8)
			to->ip[8 * i + j] = (unsigned char)half;
	}
}

/* The contents of a record of a program */
struct told {
	char what;
	uint64_t socket, value[2];
	uint32_t inode;
};

/* Read a record as text. Return 1, or 0 if it is not ours. */
static int read_text(const struct show *s, const struct event_seen *of, const struct record *r,
		     struct told *t)
{
	size_t n;
	const char *at = older_text(s->line->events, of->field[0], r, NULL, &n), *end;

	if (!at || n < 3 || at[1] != ' ')
		return 0;
	end = at + n;
	t->what = *at;
	at += 2;
	t->socket = read_number(&at, end, 16);
	t->value[0] = read_number(&at, end, strchr("DLF", t->what) ? 16 : 10);
	t->value[1] = read_number(&at, end, strchr("DL", t->what) ? 16 : 10);
	return 1;
}

/* Read a record. Return 1, or 0 if it is too short. */
static int read_own(const struct show *s, const struct record *r, struct told *t)
{
	const int big = s->line->events->big;

	if (r->len < sizeof(struct tcp_record))
		return 0;
	t->what = (char)r->data[offsetof(struct tcp_record, what)];
	t->socket = raw_number(r->data + offsetof(struct tcp_record, socket), 8, 0, big);
	t->value[0] = raw_number(r->data + offsetof(struct tcp_record, a), 8, 0, big);
	t->value[1] = raw_number(r->data + offsetof(struct tcp_record, b), 8, 0, big);
	t->inode = (uint32_t)raw_number(r->data + offsetof(struct tcp_record, inode), 4, 0, big);
	return 1;
}

/*
 * A call of connect has failed. If a change of state did not say so, this line does. If the kernel
 * has begun the connect, only SHOW_LATENCY asks for its end.
 */
static void take_failed(struct show *s, struct connection *c, const struct said *said,
			const struct told *t, const struct record *r, int shown, struct out *o)
{
	uint64_t ports = t->value[0], ns = t->value[1];
	struct connection failed = { .side = CONNECTS, .local = said->local,
				     .remote = said->remote };
	int error = (int)(ports & 0xffff);

	if (c && c->failed == error) {
		c->failed = 0;
		return;
	}
	failed.remote.port = (unsigned)(ports >> 16 & 0xffff);
	failed.local.port = (unsigned)(ports >> 32 & 0xffff);
	if (c && c->failed == CALL_TELLS) { /* the kernel has cleared the addresses since */
		failed.local = c->local;
		failed.remote = c->remote;
		c->failed = 0;
		shown &= !!(tcp.kinds & SHOW_LATENCY);
	}
	if (!shown || !(tcp.kinds & (SHOW_LATENCY | SHOW_CONNECT | SHOW_FAILED)) ||
	    (tcp.ports.n && !pids_has(&tcp.ports, (pid_t)failed.local.port) &&
	     !pids_has(&tcp.ports, (pid_t)failed.remote.port)))
		return;
	failed.begun = s->line->raw_clock || ns > r->ts ? 0 : r->ts - ns;
	set_task(s, &failed, r, shown);
	put_connect(s, &failed, name_of_error(error), r, r->ts, o);
}

/* The task of the record has accepted the connection, which may have ended already. */
static void take_accept(struct show *s, struct connection *c, const struct record *r, int shown,
			struct out *o)
{
	c->side = ACCEPTS;
	set_task(s, c, r, shown);
	if (shown && tcp.kinds & SHOW_ACCEPT) {
		put_start(s, c, "tcp_accept", r, o);
		put_time(s, o, c->ready, r->ts);
		put_stop(s, c, o);
	}
	if (!c->ended)
		return;
	put_life(s, c, r, c->ended, o);
	table_remove(&tcp.connections, c);
}

/* Take a record of a program. Return 1, or 0 if it is of another one. */
static int take_told(struct show *s, const struct event_seen *of, const struct record *r,
		     int shown, struct out *o)
{
	struct connection *c;
	struct said *said;
	struct told t = { 0 };

	if (!(of->kind == OWN ? read_own(s, r, &t) : read_text(s, of, r, &t)) || !t.what ||
	    !strchr("SQEWDLFA", t.what))
		return 0;
	said = table_at(&tcp.said, (const char *)&r->cpu, sizeof(r->cpu));
	c = table_find(&tcp.connections, (const char *)&t.socket, sizeof(t.socket));
	if (t.what == 'D' || t.what == 'L') {
		set_address(t.what == 'D' ? &said->remote : &said->local, t.value);
	} else if (t.what == 'F') {
		take_failed(s, c, said, &t, r, shown, o);
	} else if (t.what == 'A' && c && c->side >= ACCEPTS && !c->ntask) {
		take_accept(s, c, r, shown, o);
	} else if (t.what != 'A') {
		said->socket = t.socket;
		said->what = t.what;
		said->inode = t.inode;
		memcpy(said->value, t.value, sizeof(t.value));
	}
	return 1;
}

/* The socket has closed. */
static void close_connection(struct show *s, struct connection *c, uint64_t socket, unsigned old,
			     const struct record *r, struct out *o)
{
	struct said *said = table_find(&tcp.said, (const char *)&r->cpu, sizeof(r->cpu));
	char what = 0;

	if (said && said->socket == socket) {
		what = said->what;
		said->what = 0;
		said->socket = 0;
	}
	if (old == SYN_SENT || (old == SYN_RECV && !c->established)) {
		c->failed = what == 'W' ? CALL_TELLS : what == 'E' ? (int)said->value[0] : 0;
		if (c->shown && c->side == CONNECTS && tcp.kinds & SHOW_LATENCY && what != 'W')
			put_connect(s, c, what != 'E' ? NULL : c->failed ?
				    name_of_error(c->failed) : "closed", r, r->ts, o);
		if (!c->failed)
			table_remove(&tcp.connections, c);
		return;
	}
	c->known = what == 'S' || what == 'Q';
	c->sent = c->known ? said->value[0] : 0;
	c->received = c->known ? said->value[1] : 0;
	if (what == 'Q')
		c->side = QUEUED;
	if (!c->ntask && what == 'S' && said->inode)
		set_owner(s, c, said->inode);
	if (!c->ntask) {
		c->ended = r->ts;
		return;
	}
	put_life(s, c, r, r->ts, o);
	table_remove(&tcp.connections, c);
}

/*
 * The kernel frees the socket, within the task that closes it unless an interrupt does. If a packet
 * ended its connection, this task was the last to have it.
 */
static void take_destroyed(struct show *s, const struct event_seen *of, const struct record *r,
			   int shown, struct out *o)
{
	uint64_t socket = (uint64_t)field_integer(s->line->events, of->field[SOCKET], r);
	struct connection *c = table_find(&tcp.connections, (const char *)&socket, sizeof(socket));

	if (!c)
		return;
	if (c->ended) {
		/* of no task, so only if all are shown */
		if (record_flags(s->line->events, r) & FLAG_INTERRUPT)
			c->shown = !s->subjects.member;
		else
			set_task(s, c, r, shown);
		put_life(s, c, r, c->ended, o);
	}
	table_remove(&tcp.connections, c);
}

static void take_state(struct show *s, const struct event_seen *of, const struct record *r,
		       int shown, struct out *o)
{
	unsigned old = number(s, of, OLD, r), new = number(s, of, NEW, r);
	uint64_t socket = (uint64_t)field_integer(s->line->events, of->field[SOCKET], r);
	struct connection *c;

	if (number(s, of, PROTOCOL, r) != IPPROTO_TCP || new == LISTEN ||
	    (old == LISTEN && new == CLOSE))
		return;
	c = table_at(&tcp.connections, (const char *)&socket, sizeof(socket));
	set_end(&c->local, s, of, SADDR, SPORT, r);
	set_end(&c->remote, s, of, DADDR, DPORT, r);
	if ((old == CLOSE && new == SYN_SENT) || (old == LISTEN && new == SYN_RECV)) {
		c->side = new == SYN_SENT ? CONNECTS : ACCEPTS;
		c->begun = r->ts;
		c->established = c->ntask = 0;
		c->failed = 0;
		c->ended = 0;
		c->context = (struct otel_context){ .state = CONTEXT_UNKNOWN };
		if (new == SYN_SENT)
			set_task(s, c, r, shown);
		if (new == SYN_SENT && shown && tcp.kinds & SHOW_CONNECT) {
			put_start(s, c, "tcp_begin", r, o);
			put_stop(s, c, o);
		}
	} else if (!c->ntask && (new == FIN_WAIT1 || new == LAST_ACK || new == CLOSE) &&
		   !(record_flags(s->line->events, r) & FLAG_INTERRUPT)) {
		set_task(s, c, r, shown);
	}
	if (new == ESTABLISHED) {
		c->established = 1;
		c->ready = r->ts;
		if (c->side == SIDE_UNKNOWN)
			c->side = old == SYN_RECV ? ACCEPTS : CONNECTS;
		if (c->side == CONNECTS && c->shown && tcp.kinds & SHOW_LATENCY)
			put_connect(s, c, NULL, r, r->ts, o);
	}
	if (new == CLOSE)
		close_connection(s, c, socket, old, r, o);
}

static size_t tcp_text(struct show *s, const struct record *r, int lost, int *shown, char *buf,
		       size_t size)
{
	const struct event_seen *of = event_at(s, r);
	struct out o = out_to(buf, size);

	if (lost) { /* perhaps the end of one of these sockets, whose address another one has */
		table_clear(&tcp.connections);
		table_clear(&tcp.said);
		tcp.have_owners = 0;
	}
	tcp.last = (struct record){ .ts = r->ts, .cpu = r->cpu };
	if (of->kind == STATE && tcp.kinds != SHOW_FAILED)
		take_state(s, of, r, *shown, &o);
	else if (of->kind == DESTROYED)
		take_destroyed(s, of, r, *shown, &o);
	else if ((of->kind < PRINTED || !take_told(s, of, r, *shown, &o)) && *shown)
		o.at += show_text(s, r, o.at, out_room(&o));
	*shown = o.at > buf;
	return (size_t)(o.at - buf);
}

/* ---- the interface ---- */

static int by_time(const void *a, const void *b)
{
	const struct connection *x = *(struct connection *const *)a;
	const struct connection *y = *(struct connection *const *)b;

	return x->begun != y->begun ? x->begun > y->begun ? 1 : -1 : table_by_key(a, b);
}

size_t tcp_end(struct show *s, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	if (!tcp.hand++)
		table_sort(&tcp.connections, by_time);
	for (; tcp.hand <= tcp.connections.n && out_room(&o) >= LINE_MOST; tcp.hand++) {
		struct connection *c = (void *)tcp.connections.v[tcp.hand - 1];
		struct record r = tcp.last;

		if (c->ended) { /* its socket is still open, or the trace did not see the end */
			c->shown = !s->subjects.member;
			put_life(s, c, &r, c->ended, &o);
		} else if (c->side == CONNECTS && !c->established && !c->failed && c->shown &&
			   tcp.kinds & SHOW_LATENCY) {
			r.ts = c->begun;
			put_connect(s, c, "unfinished", &r, 0, &o);
		}
	}
	tcp.hand--;
	if (o.at == buf) {
		table_clear(&tcp.connections);
		table_clear(&tcp.said);
		tcp.hand = 0;
	}
	return (size_t)(o.at - buf);
}

/* Take port=N. Return 0, or -1: it is not that. */
static int take_port(const char *word, const char *end)
{
	const char *digits = word + strlen("port=");
	unsigned long long n;

	if (strncmp(word, "port=", strlen("port=")))
		return -1;
	n = text_digits(&digits);
	return digits != end || !n || n > UINT16_MAX ? -1 : pids_add(&tcp.ports, (pid_t)n);
}

int tcp_take(struct show *s, const struct tool *tool)
{
	static const char *const names[] = { "latency", "life", "accept", "connect", "failed" };
	const char *word = opt_value;

	if (strcmp(opt_last.name, "tcp"))
		return 0;
	for (;; word++) {
		size_t n = strcspn(word, ","), i = 0;

		while (i < 5 && (strlen(names[i]) != n || strncmp(names[i], word, n)))
			i++;
		if (i < 5)
			tcp.kinds |= 1u << i;
		else if (take_port(word, word + n) < 0)
			opt_refuse(tool, "a list of latency, life, accept, connect, failed, "
				   "port=N");
		word += n;
		if (!*word)
			break;
	}
	pids_sort(&tcp.ports);
	tcp.connections.size = sizeof(struct connection);
	tcp.said.size = sizeof(struct said);
	tcp.owners.size = sizeof(struct owner);
	s->decoder = tcp_text;
	s->asked = 1;
	return 1;
}
