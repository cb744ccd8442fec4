/* SPDX-License-Identifier: ISC */
/*
 * sockets.c - follow requests without a request probe, by events of sockets
 *
 * A flow is one direction of a connection. Its key is the addresses and ports of its two
 * ends. A flow counts the bytes that the socket at one end has sent and the bytes that the
 * socket at the other end has read. Its marked bytes are ranges of these numbers.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/base.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "requests.h"

/* Limits for hostile traces. Further ranges of a flow are merged with its last one. */
#define MOST_SOCKETS 65536
#define MOST_THREADS 65536
#define MOST_RANGES 16

enum socket_role { UNKNOWN, ACTIVE, PASSIVE };          /* it has connected; was accepted */

struct flow {
	struct table_entry entry;
	uint64_t sent, read;
	unsigned users, n;      /* sockets that use it; ranges in marked */
	int has_writer;         /* the sending socket is known, so sent is complete */
	int found;              /* the trace does not have its beginning */
	struct {
		uint64_t from, to;
	} marked[MOST_RANGES];
};

struct socket {
	struct table_entry entry;
	struct flow *out, *in;  /* NULL: the connection is unknown */
	uint64_t sent;          /* bytes sent while the connection is unknown */
	enum socket_role role;
	int open, ever;         /* its last send was marked; any of its sends was */
	char asker[24];         /* socket of the request that was last passed on here */
	int asked;              /* a marked request came here, and nothing was sent since */
	unsigned windows;       /* that end with a send on this socket */
};

struct thread {
	struct table_entry entry;
	struct socket *answer;  /* a send on this socket ends its window */
};

/* ---- fields ------------------------------------------------------------------------- */

enum sock_event sock_event(const struct seen *l)
{
	static const char *const names[SOCK_EVENTS] = {
		"", "tcp_sendmsg_locked", "sock_send_length", "sock_recv_length",
		"tcp_rcv_space_adjust", "inet_sock_set_state", "tcp_destroy_sock",
	};

	/* a quick test of length and first letter excludes most other events */
	if (l->event.n < 16 || l->event.n > 20 || !strchr("ist", *l->event.text) || *l->prefix)
		return SOCK_NONE;
	for (int i = 1; i < SOCK_EVENTS; i++)
		if (strlen(names[i]) == l->event.n &&
		    !memcmp(names[i], l->event.text, l->event.n))
			return (enum sock_event)i;
	return SOCK_NONE;
}

/*
 * Set *p to the socket's address in this field, as "0x1f". JSON has just that. With the trace
 * option fields, text has "0x1f (31)", of which seen_text returns 31. Return 0, or -1, reported.
 */
static int address(struct text_part *p, const struct seen *l, const char *key)
{
	*p = seen_text(l, key);
	if (p->n && !l->json && p->text[-1] == '(') {
		const char *end = p->text - 2, *s = end;

		while (s > l->body.text && s[-1] != '=')
			s--;
		*p = (struct text_part){ s, (size_t)(end - s) };
	}
	if (p->n >= 3 && p->n < sizeof(((struct socket_send *)0)->socket) &&
	    !memcmp(p->text, "0x", 2))
		return 0;
	return err_msg("%.*s without %s: -a needs events with all their fields, as "
		       "options/fields or tfs-catpipe -j make them", (int)l->event.n,
		       l->event.text, key);
}

/*
 * Make in s->key the key of the flow out of the socket, or if other is set, of the flow into it.
 * For IPv4, too, the event has IPv6 addresses, as ::ffff:N. Text may have <INVALID-SIZE> in
 * their place. Then the key of an IPv6 flow is only its ports, except if a known flow has the
 * same IPv4 addresses.
 */
static void make_key(struct sockets *s, const struct seen *l, int other)
{
	static const char *const keys[3][2][5] = {
		{ { "sport", "dport", "saddr_v6", "daddr_v6", NULL },
		  { "dport", "sport", "daddr_v6", "saddr_v6", NULL } },
		{ { "sport", "dport", "saddr", "daddr", NULL },
		  { "dport", "sport", "daddr", "saddr", NULL } },
		{ { "sport", "dport", NULL }, { "dport", "sport", NULL } },
	};
	struct text_part six = seen_text(l, "saddr_v6");
	int known = six.n && *six.text != '<';

	seen_values(&s->key, l, keys[!known][other]);
	if (!known && seen_number(l, "family") == AF_INET6 &&
	    !table_find(&s->flows, s->key.text, s->key.n))
		seen_values(&s->key, l, keys[2][other]);
}

/* ---- flows -------------------------------------------------------------------------- */

/* Add a range of marked bytes to the flow. */
static void mark(struct flow *f, uint64_t from, uint64_t to)
{
	unsigned last = f->n - 1;

	if (f->n && (f->n == MOST_RANGES || f->marked[last].to == from)) {
		f->marked[last].to = to;
		return;
	}
	f->marked[f->n].from = from;
	f->marked[f->n++].to = to;
}

/*
 * A socket has read up to the offset to. Remove the marked ranges up to there. Return
 * whether it has read any marked byte.
 */
static int take_marked(struct flow *f, uint64_t to)
{
	unsigned gone = 0;
	int any = 0;

	for (unsigned i = 0; i < f->n && f->marked[i].from < to; i++) {
		any |= f->marked[i].to > f->read;
		gone += f->marked[i].to <= to;
	}
	f->n -= gone;
	memmove(f->marked, f->marked + gone, f->n * sizeof(*f->marked));
	return any;
}

/* Return the flow of the event's socket, and count the socket as its user. */
static struct flow *use_flow(struct sockets *s, const struct seen *l, int other)
{
	struct flow *f;

	make_key(s, l, other);
	f = table_at(&s->flows, s->key.text, s->key.n);
	f->users++;
	return f;
}

static void leave_flow(struct sockets *s, struct flow *f)
{
	if (f && !--f->users)
		table_remove(&s->flows, f);
}

/* ---- sockets ------------------------------------------------------------------------ */

static struct socket *find_socket(const struct sockets *s, struct text_part at)
{
	return table_find(&s->sockets, at.text, at.n);
}

/* Return the socket; make it if it is new. NULL: there are too many. */
static struct socket *socket_at(struct sockets *s, struct text_part at)
{
	if (s->sockets.n >= MOST_SOCKETS && !find_socket(s, at)) {
		s->full = 1;
		return NULL;
	}
	return table_at(&s->sockets, at.text, at.n);
}

static void close_window(struct sockets *s, struct thread *t)
{
	t->answer->windows--;
	table_remove(&s->threads, t);
}

static void forget_socket(struct sockets *s, struct socket *k)
{
	/* close the windows that would end with a send on this socket */
	for (size_t i = 0; k->windows && i < s->threads.room;) {
		struct thread *t = (struct thread *)s->threads.v[i];

		/* close_window may move another thread to this index */
		if (t && t->answer == k)
			close_window(s, t);
		else
			i++;
	}
	if (k->out)
		k->out->has_writer = 0;
	leave_flow(s, k->out);
	leave_flow(s, k->in);
	table_remove(&s->sockets, k);
}

/* Set the flows of a socket whose connection was unknown. from_start: it is new. */
static void connect_socket(struct sockets *s, struct socket *k, const struct seen *l,
			   int from_start)
{
	k->out = use_flow(s, l, 0);
	k->in = use_flow(s, l, 1);
	k->out->has_writer = 1;
	if (from_start) {
		/* keep the counts of the other end, which may have sent or read already */
		k->out->sent = k->out->n = 0;
		k->in->read = 0;
	} else {
		k->out->sent += k->sent;
		k->out->found = k->in->found = 1;
	}
}

static void take_state(struct sockets *s, const struct seen *l, struct text_part at)
{
	int64_t old = seen_number(l, "oldstate");
	struct socket *k = find_socket(s, at);

	if (seen_number(l, "newstate") != TCP_ESTABLISHED ||
	    seen_number(l, "protocol") != IPPROTO_TCP)
		return;
	if (k)
		forget_socket(s, k);
	k = socket_at(s, at);
	if (!k)
		return;
	k->role = old == TCP_SYN_SENT ? ACTIVE : old == TCP_SYN_RECV ? PASSIVE : UNKNOWN;
	connect_socket(s, k, l, 1);
}

static void count_sent(struct sockets *s, const struct socket_send *send)
{
	struct socket *k;

	if (send->n <= 0)
		return;
	k = socket_at(s, (struct text_part){ send->socket, strlen(send->socket) });
	if (!k)
		return;
	if (!k->out)
		k->sent += (uint64_t)send->n;
	else if (send->marked)
		mark(k->out, k->out->sent, k->out->sent + (uint64_t)send->n);
	if (k->out)
		k->out->sent += (uint64_t)send->n;
	k->asked = 0;
	if (send->marked && strcmp(send->asker, send->socket) != 0)
		memcpy(k->asker, send->asker, sizeof(k->asker));
	k->open = send->marked;
	k->ever |= send->marked;
}

/* ---- threads ------------------------------------------------------------------------ */

void sockets_begin(struct sockets *s, const struct pids *always)
{
	*s = (struct sockets){ .always = always };
	s->sockets.size = sizeof(struct socket);
	s->flows.size = sizeof(struct flow);
	s->threads.size = sizeof(struct thread);
}

static int is_always(const struct sockets *s, uint64_t task)
{
	return task <= INT_MAX && pids_has(s->always, (pid_t)task);
}

int sockets_follow(const struct sockets *s, uint64_t task)
{
	return task && (table_find(&s->threads, (const char *)&task, sizeof(task)) ||
			is_always(s, task));
}

int socket_send_end(struct socket_send *send, const struct seen *l)
{
	struct text_part at;

	if (address(&at, l, "sk") < 0)
		return -1;
	memcpy(send->socket, at.text, at.n);
	send->socket[at.n] = '\0';
	send->n = seen_number(l, "protocol") == IPPROTO_TCP ?
		  seen_number(l, "ret") : 0;
	send->over = 1;
	return 0;
}

/* Store in *send whether its bytes are marked, and for which request. */
static void mark_send(const struct sockets *s, uint64_t task, struct socket_send *send)
{
	const struct thread *t = table_find(&s->threads, (const char *)&task, sizeof(task));

	send->marked = sockets_follow(s, task);
	str_format(send->asker, sizeof(send->asker), "%s", t ? t->answer->entry.key : "");
}

/* A thread begins to send. Return as sockets_event does. */
static int take_sends(struct sockets *s, uint64_t task, struct socket_send *send)
{
	int follows = sockets_follow(s, task);

	if (!send)
		return follows;
	mark_send(s, task, send);
	if (send->over) {
		count_sent(s, send);
		send->counted = 1;
	} else {
		send->under_way = 1;
		s->under_way++;
	}
	return follows;
}

/* A send has ended. Return as sockets_event does. */
static int take_sent(struct sockets *s, const struct seen *l, uint64_t task,
		     struct socket_send *send)
{
	int follows = sockets_follow(s, task);
	struct socket_send late = { 0 };
	struct thread *t;

	if (!send) {
		mark_send(s, task, &late);
		if (socket_send_end(&late, l) < 0)
			return -1;
		send = &late;
	}
	if (!send->counted)
		count_sent(s, send);
	if (send->under_way)
		s->under_way--;
	t = table_find(&s->threads, (const char *)&task, sizeof(task));
	if (!t || send->n <= 0 || strcmp(t->answer->entry.key, send->socket) != 0)
		return follows;
	close_window(s, t);
	return 1 + !is_always(s, task);
}

/*
 * Return the socket of the request that the marked bytes on k belong to: k itself if they
 * are a request, or if they answer a part of a request, the socket of that request. Return
 * NULL if the request is not known.
 */
static struct socket *request_socket(const struct sockets *s, struct socket *k)
{
	struct socket *asker;

	if (k->role == PASSIVE) {
		k->asked = 1;
		return k;
	}
	asker = table_find(&s->sockets, k->asker, strlen(k->asker));
	if (asker && asker->asked)
		return asker;
	k->asked = k->role == UNKNOWN;
	return NULL;
}

static void take_received(struct sockets *s, const struct seen *l, struct text_part at,
			  uint64_t task)
{
	struct socket *k = find_socket(s, at);
	struct thread *t = table_find(&s->threads, (const char *)&task, sizeof(task));
	struct socket *answer;
	int64_t n = seen_number(l, "ret");
	uint64_t to;
	int marked;

	if (!k || !k->in || n <= 0 || seen_number(l, "flags") & (MSG_PEEK | MSG_ERRQUEUE))
		return;
	to = k->in->read + (uint64_t)n;
	marked = take_marked(k->in, to);
	/* bytes that were sent before the trace began make read larger than sent: correct it */
	if (k->in->found && k->in->has_writer && !s->under_way && s->seen[SOCK_SENDS] &&
	    to > k->in->sent)
		to = k->in->sent;
	k->in->read = to;
	/*
	 * An event loop that reads unmarked bytes has turned to another request, unless these
	 * are the answer to its own marked request. Marked bytes on a socket that connected
	 * and has sent no marked bytes begin no window.
	 */
	if (!marked) {
		if (t && (k->role == PASSIVE || !k->open))
			close_window(s, t);
		return;
	}
	answer = request_socket(s, k);
	if (t && answer) {
		/* an event loop takes the next request, or goes on with an earlier one */
		t->answer->windows--;
		t->answer = answer;
		answer->windows++;
	}
	if (t || !task || is_always(s, task) || (k->role == ACTIVE && !k->ever))
		return;
	if (s->threads.n >= MOST_THREADS) {
		s->full = 1;
		return;
	}
	t = table_at(&s->threads, (const char *)&task, sizeof(task));
	t->answer = answer ? answer : k;
	t->answer->windows++;
}

int sockets_event(struct sockets *s, enum sock_event event, const struct seen *l,
		  uint64_t task, struct socket_send *send)
{
	struct text_part at;
	struct socket *k;
	int follows;

	s->seen[event] = 1;
	if (event >= SOCK_RECEIVED && address(&at, l, event == SOCK_RECEIVED ? "sk" : "skaddr") < 0)
		return -1;
	switch (event) {
	case SOCK_SENDS:
		return take_sends(s, task, send);
	case SOCK_SENT:
		return take_sent(s, l, task, send);
	case SOCK_RECEIVED:
		take_received(s, l, at, task);
		break;
	case SOCK_READS:
		k = socket_at(s, at);
		if (k && !k->out)
			connect_socket(s, k, l, 0);
		break;
	case SOCK_STATE:
		take_state(s, l, at);
		break;
	case SOCK_GONE:
		follows = sockets_follow(s, task);
		k = find_socket(s, at);
		if (k)
			forget_socket(s, k);
		return follows;
	default:
		break;
	}
	return sockets_follow(s, task);
}

size_t sockets_forget(struct sockets *s)
{
	size_t n = s->threads.n;

	table_clear(&s->threads);
	table_clear(&s->sockets);
	table_clear(&s->flows);
	s->under_way = 0;
	return n;
}
