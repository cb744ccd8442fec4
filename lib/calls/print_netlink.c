/* SPDX-License-Identifier: ISC */
/*
 * print_netlink.c - print netlink messages by data/netlink.in
 *
 * linux/netlink.h: messages and attributes begin with their length, and are aligned to 4 bytes.
 */
#include <sys/socket.h>

#include "host/host.h"
#include "calls/print.h"

enum { MESSAGE = 16, ATTRIBUTE = 4 }; /* bytes of their headers */

/* Types of messages below this are those of all protocols. Protocols of linux/netlink.h */
enum { MIN_TYPE = 16, NETFILTER = 12, KOBJECT_UEVENT = 15 };

static void print_list(struct print *p, const struct call_layout *table, const char *at,
		       size_t known, size_t n);

static void text(struct print *p, const char *s)
{
	out_string(&p->o, s);
}

static const struct call_protocol *protocol_of(const struct print *p)
{
	const struct call_protocol *of = call_protocols;

	while (of->types && of->protocol != p->v->netlink - 1)
		of++;
	return of;
}

/* Return the set of the flags of a message, by what the name of its type says. */
static unsigned flags_of(const struct print *p, unsigned type)
{
	const struct call_protocol *of = protocol_of(p);
	char name[64] = "";
	struct out o = out_to(name, sizeof(name) - 1);

	if (type < MIN_TYPE)
		return type == K_NLMSG_ERROR ? SET_NLM_F_ACK : SET_NLM_F;
	if (of->types)
		put_constant(&o, p->c, of->types, type);
	*o.at = '\0';
	return strstr(name, "NEW") ? SET_NLM_F_NEW :
	       strstr(name, "GET") || strstr(name, "DELACTION") ? SET_NLM_F_GET :
	       strstr(name, "DEL") ? SET_NLM_F_DEL : of->types ? of->flags : SET_NLM_F;
}

/* Print the value of an attribute; member: its type, NULL: unknown. */
static void print_attribute_value(struct print *p, const struct call_member *m, const char *at,
				  size_t known, size_t n)
{
	int is_struct = m && m->kind == CALL_STRUCT;
	const struct call_layout *l = is_struct ? call_layout(p->c, m->set) : NULL;
	size_t least = !m || m->kind == CALL_STRING ? 0 : l ? (l->names ? 0 : l->size) : m->width;
	int in6 = m && m->kind == MEMBER_INET6;
	struct call_member inet = { .kind = MEMBER_INET, .width = 4 };

	if (l && l->names == SET_FAMILY && p->family == AF_BRIDGE)
		l = call_layout(p->c, LAYOUT_IFLA_BRIDGE);
	if (in6)
		least = p->family == AF_INET ? 4 : 16;
	if (l && l->names) {
		print_list(p, l, at, known, n);
	} else if (!m || m->kind == CALL_BUFFER || n < least ||
		   (in6 && p->family != AF_INET && p->family != AF_INET6)) {
		put_quoted(p, at, known, known < n);
	} else if (m->kind == CALL_STRING) { /* a NUL should be its end */
		n = known && known == n && !at[n - 1] ? n - 1 : known;
		put_quoted(p, at, n, n == known);
	} else if (m->kind == MEMBER_MAC && known == n) {
		put_mac(p, at, n);
	} else if (known < least || m->kind == MEMBER_MAC) {
		text(p, "...");
	} else if (l) {
		put_layout(p, m->set, at, l->bare ? known : least);
	} else if (in6 && p->family == AF_INET6) {
		text(p, "inet_pton(AF_INET6, \"");
		call_ip6(&p->o, (const unsigned char *)at);
		text(p, "\")");
	} else {
		put_element(p, in6 ? &inet : m, at, least, 0);
	}
}

static void print_attribute(struct print *p, const struct call_layout *table, const char *at,
			    size_t known, size_t n)
{
	unsigned type = (unsigned)call_load(p->c, at + 2, 2), number = type & 0x3fff;
	const struct call_member *m = call_members(table), *end = m + table->n;

	while (m < end && m->bits != number)
		m++;
	text(p, n > ATTRIBUTE ? "[{nla_len=" : "{nla_len=");
	out_decimal(&p->o, call_load(p->c, at, 2));
	text(p, ", nla_type=");
	if (type != number) {
		put_set(p, SET_NLA_F, type - number, 2);
		text(p, "|");
	}
	put_set(p, table->names, number, 2);
	text(p, "}");
	if (n <= ATTRIBUTE)
		return;
	text(p, ", ");
	print_attribute_value(p, m < end ? m : NULL, at + ATTRIBUTE, known - ATTRIBUTE,
			      n - ATTRIBUTE);
	text(p, "]");
}

static void print_message(struct print *p, const char *at, size_t known, size_t n);

/* Print what an NLMSG_ERROR tells: an error, and the message that it belongs to. */
static void print_error(struct print *p, int capped, const char *at, size_t known, size_t n)
{
	int32_t error = (int32_t)call_load(p->c, at, 4);
	size_t length = (size_t)call_load(p->c, at + 4, 4), most = n - 4;
	size_t of = capped || length < MESSAGE ? MESSAGE : length < most ? length : most;

	text(p, most > of ? "[{error=" : "{error=");
	text(p, error < 0 ? "-" : "");
	put_set(p, SET_ERRNO, error < 0 ? 0u - (uint32_t)error : (uint32_t)error, 4);
	text(p, ", msg=");
	print_message(p, at + 4, known - 4 < of ? known - 4 : of, of);
	text(p, "}");
	if (most <= of)
		return;
	text(p, ", ");
	if (known > 4 + of)
		print_list(p, call_layout(p->c, LAYOUT_NLMSGERR), at + 4 + of, known - 4 - of,
			   most - of);
	else
		text(p, "...");
	text(p, "]");
}

/* Is it a row for such a message? */
static int is_of(const struct print *p, const struct call_message *m, unsigned type, int request,
		 unsigned family)
{
	struct out nowhere = out_to(NULL, 0);

	return m->protocol == p->v->netlink - 1 && type >= m->first && type <= m->last &&
	       (m->first || !put_constant(&nowhere, p->c, protocol_of(p)->types, type)) &&
	       (!m->family || m->family == family) &&
	       (!m->request || m->request == (request ? 1 : 2));
}

static void print_payload(struct print *p, unsigned type, unsigned flags, const char *at,
			  size_t known, size_t n)
{
	enum { REQUEST = 1, CAPPED = 0x100 };
	const struct call_message *m = call_messages;
	size_t size, most;

	if (!known) {
		text(p, "...");
		return;
	}
	if (type == K_NLMSG_ERROR && n >= 4 + MESSAGE && known >= 4 + MESSAGE) {
		print_error(p, flags & CAPPED, at, known, n);
		return;
	}
	if (type == K_NLMSG_DONE && n == 4 && known == 4) {
		out_signed(&p->o, (int32_t)call_load(p->c, at, 4));
		return;
	}
	while (m->layout && !is_of(p, m, type, flags & REQUEST, (unsigned char)*at))
		m++;
	if (!m->layout || type < MIN_TYPE ||
	    (m->protocol == NETFILTER && n < call_layout(p->c, m->layout)->size)) {
		put_quoted(p, at, known, known < n);
		return;
	}
	p->family = (unsigned char)*at;
	if (n == 1 && m->request) { /* only a family */
		put_layout(p, LAYOUT_RTGENMSG, at, 1);
		return;
	}
	size = m->attributes || m->first ? call_layout(p->c, m->layout)->size : known;
	most = known < size ? known : size;
	put_layout(p, m->layout, at, most);
	size = (size + 3) & ~(size_t)3;
	if (n <= size)
		return;
	text(p, ", ");
	if (known > size && !m->attributes)
		put_quoted(p, at + size, known - size, known < n);
	else if (known > size)
		print_list(p, call_layout(p->c, m->attributes), at + size, known - size, n - size);
	else
		text(p, "...");
}

/* Print a message of n bytes, of which its header and perhaps more is known. */
static void print_message(struct print *p, const char *at, size_t known, size_t n)
{
	unsigned type = (unsigned)call_load(p->c, at + 4, 2);
	unsigned flags = (unsigned)call_load(p->c, at + 6, 2);

	text(p, n > MESSAGE ? "[{nlmsg_len=" : "{nlmsg_len=");
	out_decimal(&p->o, call_load(p->c, at, 4));
	text(p, ", nlmsg_type=");
	put_set(p, type < MIN_TYPE || !protocol_of(p)->types ? SET_NLMSG :
		protocol_of(p)->types, type, 2);
	text(p, ", nlmsg_flags=");
	put_set(p, flags_of(p, type), flags, 2);
	text(p, ", nlmsg_seq=");
	out_decimal(&p->o, call_load(p->c, at + 8, 4));
	text(p, ", nlmsg_pid=");
	out_signed(&p->o, (int32_t)call_load(p->c, at + 12, 4));
	text(p, "}");
	if (n <= MESSAGE)
		return;
	text(p, ", ");
	print_payload(p, type, flags, at + MESSAGE, known - MESSAGE, n - MESSAGE);
	text(p, "]");
}

/* Print n bytes of attributes of a table, or without one of messages. */
static void print_list(struct print *p, const struct call_layout *table, const char *at,
		       size_t known, size_t n)
{
	size_t head = table ? ATTRIBUTE : MESSAGE;
	int any = 0;

	for (;;) {
		size_t length, step, here;
		int more;

		if (n < head)
			put_quoted(p, at, known, known < n);
		else if (known < head)
			text(p, "...");
		if (n < head || known < head)
			break;
		length = (size_t)call_load(p->c, at, table ? 2 : 4);
		step = length > n ? n : (length + 3) & ~(size_t)3;
		more = length >= head && step < n;
		if (more && !any++)
			text(p, "[");
		length = length > n ? n : length < head ? head : length;
		here = known < length ? known : length;
		if (table)
			print_attribute(p, table, at, here, length);
		else
			print_message(p, at, here, length);
		if (!more || p->o.cut)
			break;
		text(p, ", ");
		if (known <= step) {
			text(p, "...");
			break;
		}
		at += step;
		known -= step;
		n -= step;
	}
	text(p, any ? "]" : "");
}

int call_put_netlink(struct print *p, const char *at, size_t known, size_t n)
{
	if (n < MESSAGE || known < MESSAGE || p->v->netlink - 1 == KOBJECT_UEVENT)
		return 0;
	print_list(p, NULL, at, known, n);
	return 1;
}
