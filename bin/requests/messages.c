/* SPDX-License-Identifier: ISC */
/* messages.c - find the two ends of each message by its key */

#include "base/base.h"
#include "requests.h"

/* Return 0 for a mark line of a sender, 1 of a receiver, 2 of neither. */
static unsigned side(const struct dt_point *p)
{
	return p->what == 'M' ? 0 : p->what == 'E' ? 2 : 1;
}

static int by_key(const void *a, const void *b)
{
	const struct dt_point *x = a, *y = b;
	int r = ASCENDING(x->key, y->key);

	r = r ? r : ASCENDING(side(x), side(y));
	r = r ? r : ASCENDING(x->time, y->time);
	return r ? r : ASCENDING(x->order, y->order);
}

/* Do all points have the same actor? Then it tried again, or two request probes have seen it. */
static int is_one(const struct dt_point *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (p[i].actor != p->actor)
			return 0;
	return 1;
}

/*
 * Pair the nsend + nreceive points of one key. The message is from the last point that sends
 * to the first that receives.
 */
static void pair(struct dt_messages *m, struct dt_point *p, size_t nsend, size_t nreceive)
{
	struct dt_point *send = nsend ? p + nsend - 1 : NULL;
	struct dt_point *receive = nreceive ? p + nsend : NULL;
	int64_t *least;

	if (!is_one(p, nsend) || !is_one(p + nsend, nreceive)) {
		for (size_t i = 0; i < nsend + nreceive; i++)
			p[i].peer = PEER_MANY;
		m->many++;
		return;
	}
	if (send)
		send->peer = receive ? (uint32_t)(receive - m->points) : PEER_NONE;
	if (receive)
		receive->peer = send ? (uint32_t)(send - m->points) : PEER_NONE;
	if (!send || !receive) {
		m->hosts[p->actor->host].sent += send != NULL;
		m->hosts[p->actor->host].received += receive != NULL;
		return;
	}
	if (send->actor->host == receive->actor->host)
		return;
	m->hosts[send->actor->host].between++;
	m->hosts[receive->actor->host].between++;
	least = &m->least[send->actor->host * m->nhosts + receive->actor->host];
	if (receive->time - send->time < *least)
		*least = receive->time - send->time;
}

void dt_messages_find(struct dt_messages *m)
{
	struct dt_point *p = m->points, *end, *first;

	for (unsigned i = 0; i < m->nhosts * m->nhosts; i++)
		m->least[i] = NO_MESSAGE;
	if (!m->n)
		return;
	array_sort(p, m->n, sizeof(*p), by_key);
	end = p + m->n;
	while (p < end) {
		size_t n[3] = { 0 };

		for (first = p; p < end && p->key == first->key; p++)
			n[side(p)]++;
		if (n[0] + n[1])
			pair(m, first, n[0], n[1]);
	}
}
