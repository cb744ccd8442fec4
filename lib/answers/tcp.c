/* SPDX-License-Identifier: ISC */
/*
 * tcp.c - TCP connections: when one is made, accepted, and at its end
 *
 * sock:inet_sock_set_state tells each change of state of a socket. The records tfs:tcp of
 * tfs-strings (bin/record/tcp_programs.c) come directly before it, on the same CPU; recordings of
 * earlier versions have them as text. A letter, the socket, and two numbers:
 *
 *	S SOCKET SENT RECEIVED  the bytes of a connection that ends, and the inode of its socket
 *	Q SOCKET SENT RECEIVED  the same, if no program has accepted it so far
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
#include "proc/proc.h"
#include "event/event.h"
#include "answers/answers.h"

/* In place of an error: the return of connect will tell the error. */
enum { CALL_TELLS = -1 };

/* include/net/tcp_states.h */
enum { ESTABLISHED = 1, SYN_SENT, SYN_RECV, FIN_WAIT1, CLOSE = 7, LAST_ACK = 9, LISTEN };

/* The last record of a program on a CPU */
struct said {
	struct table_entry entry;
	uint64_t socket;
	char what;
	uint64_t value[2];
	uint32_t inode;
	struct tcp_end remote, local; /* D, L */
};

/* An open socket, found by the number of its inode */
struct owner {
	struct table_entry entry;
	pid_t pid;
};

/* The fields of an event */
enum { SOCKET, OLD, NEW, SPORT, DPORT, PROTOCOL, SADDR, DADDR, FIELDS };
enum { OTHER = KIND_OTHER, STATE, DESTROYED, PRINTED, OWN };

/* ---- what records say ---- */

static const struct event_seen *event_at(struct tcp *a, const struct record *r)
{
	static const struct event_kind kinds[] = {
		{ "*:inet_sock_set_state", STATE,
		  "skaddr oldstate newstate sport dport protocol saddr_v6 daddr_v6" },
		{ "*:tcp_destroy_sock", DESTROYED, "skaddr" },
		{ "*:bpf_trace_printk", PRINTED, "bpf_string" },
		{ RECORD_SYSTEM ":tcp", OWN, "" },
		{ "", 0, "" },
	};

	return event_seen(&a->notes, a->events, r, kinds, 1);
}

static unsigned number(const struct tcp *a, const struct event_seen *of, unsigned i,
		       const struct record *r)
{
	return (unsigned)field_integer(a->events, of->field[i], r);
}

static void set_end(struct tcp_end *end, const struct tcp *a, const struct event_seen *of,
		    unsigned address, unsigned port, const struct record *r)
{
	struct field_data v = event_value(of, address, a->events, r);

	end->port = number(a, of, port, r);
	if (v.kind == FIELD_ARRAY && v.n == sizeof(end->ip))
		memcpy(end->ip, v.data, sizeof(end->ip));
}

static void set_task(struct tcp *a, struct tcp_connection *c, const struct record *r, int shown)
{
	if (a->otel)
		c->context = otel_of(a->otel, a->events, r);
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

/* Add the open sockets of the process, if it is selected, unless an earlier process has them. */
static int add_sockets(void *tcp, pid_t process)
{
	struct tcp *a = tcp;
	pid_t pid = selected(a->subjects, process);
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
		owner = table_at(&a->owners, (char *)&inode, sizeof(inode));
		owner->pid = owner->pid ? owner->pid : pid;
	}
	if (d)
		closedir(d);
	return 0;
}

/* If a selected process has the socket with this inode open, the connection belongs to it. */
static void set_owner(struct tcp *a, struct tcp_connection *c, uint32_t inode)
{
	const struct event_set *evs = a->events;
	const struct owner *owner;

	/* all these sockets are older than the trace, so it is enough to look once */
	if (a->live && (!a->have_owners || a->joined != a->subjects->joins) &&
	    !procfs_begin()) {
		table_clear(&a->owners);
		task_each_process(add_sockets, a);
		procfs_end();
		a->have_owners = 1;
		a->joined = a->subjects->joins;
	}
	owner = table_find(&a->owners, (char *)&inode, sizeof(inode));
	if (!owner || evs->pid_at + sizeof(owner->pid) > sizeof(c->task))
		return;
	memset(c->task, 0, sizeof(c->task));
	memcpy(c->task + evs->pid_at, &owner->pid, sizeof(owner->pid));
	c->ntask = sizeof(c->task);
	c->shown = 1;
}

/* ---- what is told ---- */

/* Tell how long a connect took until then, and why it has failed; NULL: unknown. */
static void tell_connect(const struct tcp *a, const struct tcp_connection *c, const char *error,
			 const struct record *r, uint64_t until)
{
	a->tell(a->arg, &(struct tcp_told){ TCP_CONNECTED, c, r, c->begun, until, error });
}

static void tell_life(const struct tcp *a, const struct tcp_connection *c, const struct record *r,
		      uint64_t until)
{
	if (a->kinds & TCP_LIFE && c->shown)
		a->tell(a->arg, &(struct tcp_told){ TCP_LIVED, c, r, c->begun, until, NULL });
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
static void set_address(struct tcp_end *to, const uint64_t *halves)
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
static int read_text(const struct tcp *a, const struct event_seen *of, const struct record *r,
		     struct told *t)
{
	size_t n;
	const char *at = older_text(a->events, of->field[0], r, NULL, &n), *end;

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
static int read_own(const struct tcp *a, const struct record *r, struct told *t)
{
	const int big = a->events->big;

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
 * A call of connect has failed: tell it, unless a change of state did. If the kernel has begun the
 * connect, only TCP_LATENCY asks for its end.
 */
static void take_failed(struct tcp *a, struct tcp_connection *c, const struct said *said,
			const struct told *t, const struct record *r, int shown)
{
	uint64_t ports = t->value[0], ns = t->value[1];
	struct tcp_connection failed = { .side = TCP_CONNECTS, .local = said->local,
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
		shown &= !!(a->kinds & TCP_LATENCY);
	}
	if (!shown || !(a->kinds & (TCP_LATENCY | TCP_CONNECT | TCP_FAILED)) ||
	    (a->ports.n && !pids_has(&a->ports, (pid_t)failed.local.port) &&
	     !pids_has(&a->ports, (pid_t)failed.remote.port)))
		return;
	failed.begun = a->raw_clock || ns > r->ts ? 0 : r->ts - ns;
	set_task(a, &failed, r, shown);
	tell_connect(a, &failed, name_of_error(error), r, r->ts);
}

/* The task of the record has accepted the connection, which may have ended already. */
static void take_accept(struct tcp *a, struct tcp_connection *c, const struct record *r, int shown)
{
	c->side = TCP_ACCEPTS;
	set_task(a, c, r, shown);
	if (shown && a->kinds & TCP_ACCEPT)
		a->tell(a->arg, &(struct tcp_told){ TCP_ACCEPTED, c, r, c->ready, r->ts, NULL });
	if (!c->ended)
		return;
	tell_life(a, c, r, c->ended);
	table_remove(&a->connections, c);
}

/* Take a record of a program. Return 1, or 0 if it is of another one. */
static int take_told(struct tcp *a, const struct event_seen *of, const struct record *r,
		     int shown)
{
	struct tcp_connection *c;
	struct said *said;
	struct told t = { 0 };

	if (!(of->kind == OWN ? read_own(a, r, &t) : read_text(a, of, r, &t)) || !t.what ||
	    !strchr("SQEWDLFA", t.what))
		return 0;
	said = table_at(&a->said, (const char *)&r->cpu, sizeof(r->cpu));
	c = table_find(&a->connections, (const char *)&t.socket, sizeof(t.socket));
	if (t.what == 'D' || t.what == 'L') {
		set_address(t.what == 'D' ? &said->remote : &said->local, t.value);
	} else if (t.what == 'F') {
		take_failed(a, c, said, &t, r, shown);
	} else if (t.what == 'A' && c && c->side >= TCP_ACCEPTS && !c->ntask) {
		take_accept(a, c, r, shown);
	} else if (t.what != 'A') {
		said->socket = t.socket;
		said->what = t.what;
		said->inode = t.inode;
		memcpy(said->value, t.value, sizeof(t.value));
	}
	return 1;
}

/* The socket has closed. */
static void close_connection(struct tcp *a, struct tcp_connection *c, uint64_t socket, unsigned old,
			     const struct record *r)
{
	struct said *said = table_find(&a->said, (const char *)&r->cpu, sizeof(r->cpu));
	char what = 0;

	if (said && said->socket == socket) {
		what = said->what;
		said->what = 0;
		said->socket = 0;
	}
	if (old == SYN_SENT || (old == SYN_RECV && !c->established)) {
		c->failed = what == 'W' ? CALL_TELLS : what == 'E' ? (int)said->value[0] : 0;
		if (c->shown && c->side == TCP_CONNECTS && a->kinds & TCP_LATENCY && what != 'W')
			tell_connect(a, c, what != 'E' ? NULL : c->failed ?
				    name_of_error(c->failed) : "closed", r, r->ts);
		if (!c->failed)
			table_remove(&a->connections, c);
		return;
	}
	c->known = what == 'S' || what == 'Q';
	c->sent = c->known ? said->value[0] : 0;
	c->received = c->known ? said->value[1] : 0;
	if (what == 'Q')
		c->side = TCP_QUEUED;
	if (!c->ntask && what == 'S' && said->inode)
		set_owner(a, c, said->inode);
	if (!c->ntask) {
		c->ended = r->ts;
		return;
	}
	tell_life(a, c, r, r->ts);
	table_remove(&a->connections, c);
}

/*
 * The kernel frees the socket, within the task that closes it unless an interrupt does. If a packet
 * ended its connection, this task was the last to have it.
 */
static void take_destroyed(struct tcp *a, const struct event_seen *of, const struct record *r,
			   int shown)
{
	uint64_t socket = (uint64_t)field_integer(a->events, of->field[SOCKET], r);
	struct tcp_connection *c = table_find(&a->connections, (const char *)&socket,
					      sizeof(socket));

	if (!c)
		return;
	if (c->ended) {
		/* no task frees it, so show the connection only if all are shown */
		if (record_flags(a->events, r) & FLAG_INTERRUPT)
			c->shown = !a->subjects->member;
		else
			set_task(a, c, r, shown);
		tell_life(a, c, r, c->ended);
	}
	table_remove(&a->connections, c);
}

static void take_state(struct tcp *a, const struct event_seen *of, const struct record *r,
		       int shown)
{
	unsigned old = number(a, of, OLD, r), new = number(a, of, NEW, r);
	uint64_t socket = (uint64_t)field_integer(a->events, of->field[SOCKET], r);
	struct tcp_connection *c;

	if (number(a, of, PROTOCOL, r) != IPPROTO_TCP || new == LISTEN ||
	    (old == LISTEN && new == CLOSE))
		return;
	c = table_at(&a->connections, (const char *)&socket, sizeof(socket));
	set_end(&c->local, a, of, SADDR, SPORT, r);
	set_end(&c->remote, a, of, DADDR, DPORT, r);
	if ((old == CLOSE && new == SYN_SENT) || (old == LISTEN && new == SYN_RECV)) {
		c->side = new == SYN_SENT ? TCP_CONNECTS : TCP_ACCEPTS;
		c->begun = r->ts;
		c->established = c->ntask = 0;
		c->failed = 0;
		c->ended = 0;
		c->context = (struct otel_context){ .state = CONTEXT_UNKNOWN };
		if (new == SYN_SENT)
			set_task(a, c, r, shown);
		if (new == SYN_SENT && shown && a->kinds & TCP_CONNECT)
			a->tell(a->arg, &(struct tcp_told){ TCP_BEGINS, c, r, 0, 0, NULL });
	} else if (!c->ntask && (new == FIN_WAIT1 || new == LAST_ACK || new == CLOSE) &&
		   !(record_flags(a->events, r) & FLAG_INTERRUPT)) {
		set_task(a, c, r, shown);
	}
	if (new == ESTABLISHED) {
		c->established = 1;
		c->ready = r->ts;
		if (c->side == TCP_SIDE_UNKNOWN)
			c->side = old == SYN_RECV ? TCP_ACCEPTS : TCP_CONNECTS;
		if (c->side == TCP_CONNECTS && c->shown && a->kinds & TCP_LATENCY)
			tell_connect(a, c, NULL, r, r->ts);
	}
	if (new == CLOSE)
		close_connection(a, c, socket, old, r);
}

/* ---- the interface ---- */

void tcp_begin(struct tcp *a)
{
	a->connections.size = sizeof(struct tcp_connection);
	a->said.size = sizeof(struct said);
	a->owners.size = sizeof(struct owner);
}

int tcp_record(struct tcp *a, const struct record *r, int lost, int shown)
{
	const struct event_seen *of = event_at(a, r);

	if (lost) { /* these sockets may have ended, and others may have their addresses */
		table_clear(&a->connections);
		table_clear(&a->said);
		a->have_owners = 0;
	}
	a->last = (struct record){ .ts = r->ts, .cpu = r->cpu };
	if (of->kind == STATE && a->kinds != TCP_FAILED)
		take_state(a, of, r, shown);
	else if (of->kind == DESTROYED)
		take_destroyed(a, of, r, shown);
	else
		return of->kind < PRINTED || !take_told(a, of, r, shown);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct tcp_connection *x = *(struct tcp_connection *const *)a;
	const struct tcp_connection *y = *(struct tcp_connection *const *)b;

	return x->begun != y->begun ? x->begun > y->begun ? 1 : -1 : table_by_key(a, b);
}

int tcp_end(struct tcp *a)
{
	struct record r = a->last;
	struct tcp_connection *c;

	if (!a->hand)
		table_sort(&a->connections, by_time);
	if (a->hand == a->connections.n) {
		table_clear(&a->connections);
		table_clear(&a->said);
		a->hand = 0;
		return 0;
	}
	c = (void *)a->connections.v[a->hand++];
	if (c->ended) { /* its socket is still open, or the trace did not see the end */
		c->shown = !a->subjects->member;
		tell_life(a, c, &r, c->ended);
	} else if (c->side == TCP_CONNECTS && !c->established && !c->failed && c->shown &&
		   a->kinds & TCP_LATENCY) {
		r.ts = c->begun;
		tell_connect(a, c, "unfinished", &r, 0);
	}
	return 1;
}
