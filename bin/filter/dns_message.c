/* SPDX-License-Identifier: ISC */
/* dns_message.c - read a DNS message, which comes from a stranger */

#include "base/base.h"
#include "dns.h"

enum { NAME_MOST = 254, LABEL_MOST = 63, LABELS_MOST = 127, POINTER = 0xc0 };
enum { TYPE_A = 1, TYPE_AAAA = 28, TYPE_OPT = 41, CLASS_IN = 1 };

/* A message, and the place that is read next */
struct reader {
	const unsigned char *v;
	size_t n, at;
};

/* Append a label as a zone file has it. */
static void add_label(struct strbuf *to, const unsigned char *s, size_t n)
{
	for (; n--; s++)
		if (*s <= ' ' || *s >= 0x7f)
			strbuf_format(to, "\\%03u", *s);
		else
			strbuf_format(to, *s == '.' || *s == '\\' ? "\\%c" : "%c", *s);
	strbuf_puts(to, ".");
}

/*
 * Move behind a name, and append it to a text unless that is NULL. Each pointer leads further to
 * the front than the one before, so a name ends. Return 0; -1: it makes no sense, or is cut.
 */
static int read_name(struct reader *r, struct strbuf *to)
{
	size_t at = r->at, least = at, length = 0, behind = 0, jumps = 0;

	while (at < r->n && r->v[at]) {
		size_t n = r->v[at++];

		if (n >= POINTER && at < r->n) {
			behind = behind ? behind : at + 1;
			at = (n - POINTER) << 8 | r->v[at];
			if (at >= least || ++jumps > LABELS_MOST)
				return -1;
			least = at;
			continue;
		}
		length += n + 1;
		if (n > LABEL_MOST || length > NAME_MOST || n > r->n - at)
			return -1;
		if (to)
			add_label(to, r->v + at, n);
		at += n;
	}
	if (at >= r->n)
		return -1;
	if (to && length)
		to->text[--to->n] = '\0'; /* the last dot */
	else if (to)
		strbuf_puts(to, ".");
	r->at = behind ? behind : at + 1;
	return 0;
}

static unsigned two(const unsigned char *v)
{
	return (unsigned)v[0] << 8 | v[1];
}

static void add_address(struct strbuf *to, const unsigned char *v, unsigned type)
{
	char text[48];
	struct out o = out_to(text, sizeof(text));

	if (type == TYPE_AAAA)
		out_ip6(&o, v, 0);
	else
		out_format(&o, "%u.%u.%u.%u", v[0], v[1], v[2], v[3]);
	strbuf_puts(to, to->n ? "," : "");
	strbuf_add(to, text, (size_t)(o.at - text));
}

/* Read a record; answer: one of the answers. Return 0; -1: it makes no sense, or is cut. */
static int read_record(struct dns_message *m, struct reader *r, int answer)
{
	const unsigned char *v;
	unsigned type;
	size_t n;

	if (read_name(r, NULL) < 0 || r->n - r->at < 10)
		return -1;
	v = r->v + r->at;
	type = two(v);
	n = two(v + 8);
	r->at += 10;
	if (type == TYPE_OPT && !answer)
		m->code |= (unsigned)v[4] << 4;
	if (n > r->n - r->at)
		return -1;
	if (answer && two(v + 2) == CLASS_IN &&
	    ((type == TYPE_A && n == 4) || (type == TYPE_AAAA && n == 16)))
		add_address(&m->addresses, r->v + r->at, type);
	r->at += n;
	return 0;
}

int dns_read(struct dns_message *m, const unsigned char *v, size_t n)
{
	struct reader r = { v, n, DNS_LEAST };
	size_t records;

	strbuf_add(strbuf_empty(&m->name), "", 0);
	strbuf_add(strbuf_empty(&m->addresses), "", 0);
	/* a query or its answer, by the bits of the operation */
	if (n < DNS_LEAST || v[2] & 0x78 || two(v + 4) != 1 || read_name(&r, &m->name) < 0 ||
	    n - r.at < 4)
		return 0;
	m->id = two(v);
	m->response = v[2] >> 7;
	m->truncated = v[2] >> 1 & 1;
	m->code = v[3] & 15;
	m->type = two(v + r.at);
	m->class = two(v + r.at + 2);
	m->answers = two(v + 6);
	m->cut = 0;
	r.at += 4;
	records = (size_t)m->answers + two(v + 8) + two(v + 10);
	for (size_t i = 0; i < records && !m->cut; i++)
		m->cut = read_record(m, &r, i < m->answers) < 0;
	return 1;
}

/* A number and its name */
struct word {
	unsigned number;
	const char *name;
};

static const char *name_of(const struct word *w, unsigned number, const char *other, char *room)
{
	for (; w->name; w++)
		if (w->number == number)
			return w->name;
	str_format(room, DNS_WORD, "%s%u", other, number);
	return room;
}

const char *dns_type(unsigned type, char *room)
{
	static const struct word words[] = {
		{ TYPE_A, "A" }, { 2, "NS" }, { 5, "CNAME" }, { 6, "SOA" }, { 12, "PTR" },
		{ 13, "HINFO" }, { 15, "MX" }, { 16, "TXT" }, { TYPE_AAAA, "AAAA" }, { 33, "SRV" },
		{ 35, "NAPTR" }, { 39, "DNAME" }, { 43, "DS" }, { 44, "SSHFP" }, { 46, "RRSIG" },
		{ 47, "NSEC" }, { 48, "DNSKEY" }, { 50, "NSEC3" }, { 52, "TLSA" }, { 64, "SVCB" },
		{ 65, "HTTPS" }, { 251, "IXFR" }, { 252, "AXFR" }, { 255, "ANY" }, { 257, "CAA" },
		{ 0, NULL },
	};

	return name_of(words, type, "TYPE", room);
}

const char *dns_code(unsigned code, char *room)
{
	static const struct word words[] = {
		{ 0, "NOERROR" }, { 1, "FORMERR" }, { 2, "SERVFAIL" }, { 3, "NXDOMAIN" },
		{ 4, "NOTIMP" }, { 5, "REFUSED" }, { 6, "YXDOMAIN" }, { 7, "YXRRSET" },
		{ 8, "NXRRSET" }, { 9, "NOTAUTH" }, { 10, "NOTZONE" }, { 16, "BADVERS" },
		{ 23, "BADCOOKIE" }, { 0, NULL },
	};

	return name_of(words, code, "RCODE", room);
}
