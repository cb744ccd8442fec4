/* SPDX-License-Identifier: ISC */
/*
 * dtsock.c - the state of sockets, compared with a model that has a flag for each byte
 *
 * Every three bytes of the input are an action of a thread on a socket. Pairs of sockets
 * are connected from the start; the trace is in text or JSON.
 */
#include <stdio.h>

#include "fuzz.h"

enum { PAIRS = 3, SOCKETS = 2 * PAIRS, THREADS = 5, MOST = 21000, RANGES = 16 };

static char is_marked[SOCKETS][MOST];
static struct model {
	size_t sent, read;      /* bytes that this socket has sent and read */
	int connected, open, ever;
} model[SOCKETS];
static int answers[THREADS];    /* the socket + 1 that ends the window; not for thread 1 */

static struct sockets sockets;
static int json;

static int take(const char *event, const char *fields, uint64_t tid, struct socket_send *send)
{
	struct seen l;
	char *line;
	int n = json ? asprintf(&line, "{\"ts\":1.0,\"pid\":%d,\"event\":\"%s\",\"fields\":{%s}}",
				(int)tid, event, fields) :
		       asprintf(&line, "               x-%-7d [000] ..... 1.0: %s: %s", (int)tid,
				event, fields);
	int follows;

	must(n > 0 && seen_line(&l, line, (size_t)n) && sock_event(&l));
	if (send && sock_event(&l) == SOCK_SENT)
		socket_send_end(send, &l);
	follows = sockets_event(&sockets, sock_event(&l), &l, tid, send);
	free(line);
	return follows;
}

static char *fields_of(unsigned socket, const char *sk, const char *more)
{
	unsigned port = socket / 2 * 2 + 1, end = socket % 2;
	char *fields;

	must(asprintf(&fields, json ? "\"%s\":\"0xf%u\",\"sport\":%u,\"dport\":%u,\"saddr\":[1],"
		      "\"daddr\":[1],\"saddr_v6\":[1],\"daddr_v6\":[1],\"protocol\":6,%s" :
		      "%s=0xf%u (-5) sport=0x0 (%u) dport=0x0 (%u) saddr=0x1 (1) daddr=0x1 (1) "
		      "protocol=0x6 (6) %s", sk, socket, port + end, port + 1 - end, more) > 0);
	return fields;
}

static char *two(const char *one, int a, const char *other, int b)
{
	char *text;

	must(asprintf(&text, json ? "\"%s\":%d,\"%s\":%d" : "%s=0x0 (%d) %s=0x0 (%d)", one, a,
		      other, b) > 0);
	return text;
}

static int take_two(const char *event, unsigned socket, const char *sk, const char *one, int a,
		    const char *other, int b, uint64_t tid, struct socket_send *send)
{
	char *more = two(one, a, other, b), *fields = fields_of(socket, sk, more);
	int follows = take(event, fields, tid, send);

	free(more);
	free(fields);
	return follows;
}

static int follows(unsigned t)
{
	return t == 1 || answers[t];
}

/* End the window of the thread that had to answer on this socket. */
static void forget(unsigned k)
{
	for (unsigned t = 0; t < THREADS; t++)
		if (answers[t] == (int)k + 1)
			answers[t] = 0;
	model[k].connected = 0;
}

static void connect_pair(unsigned pair)
{
	for (unsigned k = 2 * pair; k < 2 * pair + 2; k++) {
		if (model[k].connected)
			forget(k);
		take_two("tcp_destroy_sock", k, "skaddr", "x", 0, "y", 0, 0, NULL);
	}
	for (unsigned k = 2 * pair; k < 2 * pair + 2; k++) {
		take_two("inet_sock_set_state", k, "skaddr", "oldstate", k % 2 ? 3 : 2,
			 "newstate", 1, 0, NULL);
		model[k] = (struct model){ .connected = 1 };
		memset(is_marked[k], 0, MOST);
	}
}

static void do_send(unsigned t, unsigned k, size_t n, int early)
{
	struct model *m = &model[k];
	struct socket_send send = { 0 }, *s = early ? &send : NULL;

	if (s)
		must(!take("tcp_sendmsg_locked", "x=1", t, s) == !follows(t));
	must(!take_two("sock_send_length", k, "sk", "ret", (int)n, "flags", 0, t, s) ==
	     !follows(t));
	if (!n)
		return;
	memset(is_marked[k] + m->sent, follows(t), n);
	m->sent += n;
	m->open = follows(t);
	m->ever |= m->open;
	if (answers[t] == (int)k + 1)
		answers[t] = 0;
}

static void do_read(unsigned t, unsigned k, size_t n)
{
	struct model *m = &model[k];
	int any = 0;

	if (n > model[k ^ 1].sent - m->read)
		n = model[k ^ 1].sent - m->read;
	for (size_t i = 0; i < n; i++)
		any |= is_marked[k ^ 1][m->read + i];
	m->read += n;
	if (n && t != 1 && t) {
		if (!any && answers[t] && (k % 2 || !m->open))
			answers[t] = 0;
		else if (any && !answers[t] && (k % 2 || m->ever))
			answers[t] = (int)k + 1;
	}
	must(!take_two("sock_recv_length", k, "sk", "ret", (int)n, "flags", 0, t, NULL) ==
	     !(t && follows(t)));
}

/* Return the number of marked and unread ranges that it sends; the tool merges more ranges. */
static int ranges(unsigned k)
{
	int n = 0;

	for (size_t i = model[k ^ 1].read; i < model[k].sent; i++)
		n += is_marked[k][i] && (i == model[k ^ 1].read || !is_marked[k][i - 1]);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pid_t one[] = { 1 };
	struct pids always = { .v = one, .n = 1 };
	size_t closed, open = 0;

	if (!size)
		return 0;
	json = *data & 1;
	memset(answers, 0, sizeof(answers));
	memset(model, 0, sizeof(model));
	sockets_begin(&sockets, &always);
	for (unsigned pair = 0; pair < PAIRS; pair++)
		connect_pair(pair);
	for (data++, size--; size >= 3; data += 3, size -= 3) {
		unsigned t = data[0] % THREADS, k = data[1] % SOCKETS;
		size_t n = data[2] % 16;

		if (data[0] >= 250)
			connect_pair(k / 2);
		else if (data[0] < 125)
			do_read(t, k, n);
		else if (t && ranges(k) < RANGES - 1)
			do_send(t, k, n, data[2] >> 7);
		for (unsigned i = 0; i < THREADS; i++)
			must(!sockets_follow(&sockets, i) == !(i && follows(i)));
	}
	for (unsigned i = 0; i < THREADS; i++)
		open += answers[i] != 0;
	closed = sockets_forget(&sockets);
	must(closed == open);
	free(sockets.threads.v);
	free(sockets.sockets.v);
	free(sockets.flows.v);
	free(sockets.key.text);
	return 0;
}
