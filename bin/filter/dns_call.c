/* SPDX-License-Identifier: ISC */
/*
 * dns_call.c - read a decoded call of a socket back: its bytes, and the address of the other side
 *
 * Bytes are strings of C (ESCAPE_C): the second argument, or an iov_base. In JSON the text of each
 * argument is the same.
 */

#include "base/base.h"
#include "lines/lines.h"
#include "line_calls.h"
#include "dns.h"

static int begins(const char *s, const char *end, const char *word)
{
	return (size_t)(end - s) >= strlen(word) && !memcmp(s, word, strlen(word));
}

/* Does the text begin with the descriptor of a socket, as 3<UDP:? */
static int is_socket(const char *s, const char *end)
{
	text_digits(&s);
	return begins(s, end, "<UDP") || begins(s, end, "<TCP") || begins(s, end, "<UNIX");
}

/*
 * Set the line to the text of the call's arguments. Return it, empty if the first one is not the
 * descriptor of a socket.
 */
static struct text_part arguments(struct dns_call *c, const struct seen *l)
{
	struct text_part name, value, argument, none = { "", 0 };
	const char *s, *end, *a, *b;

	strbuf_add(strbuf_empty(&c->line), "", 0);
	if (!l->json) {
		struct text_part text = seen_body(l);
		const char *open = text.n ? memchr(text.text, '(', text.n) : NULL;

		if (!open || !l->decoded || !is_socket(open + 1, text.text + text.n))
			return none;
		strbuf_add(&c->line, open + 1, (size_t)(text.text + text.n - open) - 1);
		return (struct text_part){ c->line.text, c->line.n };
	}
	s = l->body.text;
	end = s + l->body.n;
	while (json_member(&s, end, &name, &value)) {
		if (!text_part_is(name, "args"))
			continue;
		for (a = value.text, b = a + value.n; json_element(&a, b, &argument);) {
			const char *p = argument.text, *q = p + argument.n;

			while (json_member(&p, q, &name, &value))
				if (text_part_is(name, "text"))
					break;
			if (!text_part_is(name, "text"))
				continue;
			value = json_unquoted(value);
			if (!c->line.n && !is_socket(value.text, value.text + value.n))
				return none;
			value = strbuf_unescaped(&c->text, value, 1);
			strbuf_puts(&c->line, c->line.n ? ", " : "");
			strbuf_add(&c->line, value.text, value.n);
		}
	}
	return (struct text_part){ c->line.text, c->line.n };
}

/* Read ADDRESS:PORT, [ADDRESS]:PORT. */
static void read_peer(struct dns_peer *to, const char *s, const char *end)
{
	const char *colon = memrchr(s, ':', (size_t)(end - s)), *digits;

	if (!colon || colon == s)
		return;
	digits = colon + 1;
	to->port = (unsigned)text_digits(&digits);
	if (*s == '[' && colon[-1] == ']') {
		s++;
		colon--;
	}
	str_format(to->ip, sizeof(to->ip), "%.*s", (int)(colon - s), s);
}

/* Read the descriptor, 3<UDP:LOCAL->PEER>. Return the text after it; NULL: it is another one. */
static const char *read_socket(struct dns_call *c, const char *s, const char *end)
{
	const char *at, *arrow;

	if (s == end)
		return NULL;
	c->fd = (unsigned)text_digits(&s);
	c->stream = s[1] == 'T';
	c->socket.text = ++s;
	for (at = s; at < end && (*at != '>' || at[-1] == '-'); at++)
		;
	c->socket.n = (size_t)(at - s);
	s = memchr(s, ':', c->socket.n);
	if (!s || at == end)
		return NULL;
	arrow = memmem(s, (size_t)(at - s), "->", 2);
	c->peer = (struct dns_peer){ .port = 0 };
	if (arrow)
		read_peer(&c->peer, arrow + 2, at);
	c->local = (struct text_part){ s + 1, (size_t)((arrow ? arrow : at) - s - 1) };
	/* an inode in brackets: it is not bound */
	if (c->local.n && c->local.text[c->local.n - 1] == ']')
		c->local.n = 0;
	return at + 1;
}

/* Append the string of C at s, behind its quote. Return its end, which is a quote, or end. */
static const char *add_string(struct strbuf *to, const char *s, const char *end)
{
	static const char letters[] = "nrtvfab", bytes[] = "\n\r\t\v\f\a\b";
	char *p = strbuf_room(to, (size_t)(end - s));

	for (; s < end && *s != '"'; s++) {
		const char *letter;
		unsigned v = 0;

		if (*s != '\\' || s + 1 == end) {
			*p++ = *s;
			continue;
		}
		letter = strchr(letters, *++s);
		if (*s < '0' || *s > '7') {
			*p++ = letter && *s ? bytes[letter - letters] : *s;
			continue;
		}
		for (int i = 0; i < 3 && s < end && *s >= '0' && *s <= '7'; i++)
			v = v << 3 | (unsigned)(*s++ - '0');
		s--;
		*p++ = (char)v;
	}
	to->n = (size_t)(p - to->text);
	*p = '\0';
	return s;
}

/* The piece that scan reads now: its address, and its bytes, from `at` of the call's bytes on */
struct scan {
	struct dns_peer peer;
	size_t at;
	int cut;                /* its bytes after these are not known */
};

static void finish(struct dns_call *c, struct scan *now, size_t whole)
{
	struct dns_piece *p;
	size_t n = c->bytes.n - now->at;

	c->pieces = xgrow(c->pieces, c->npieces, &c->room, sizeof(*c->pieces));
	p = &c->pieces[c->npieces++];
	*p = (struct dns_piece){ now->at, n < whole ? n : whole, whole, now->peer };
	*now = (struct scan){ .at = c->bytes.n };
}

/* Take a string whose quote is at s. Return its last quote. */
static const char *take_string(struct dns_call *c, struct scan *now, const char *s,
			       const char *begin, const char *end, int plain)
{
	static struct strbuf other;
	const struct { const char *word; size_t n; } last[] = {
		{ "iov_base=", 9 }, { "inet_addr(", 10 }, { "AF_INET6, ", 10 }, { "sun_path=", 9 },
	};
	size_t i = 0, before = (size_t)(s - begin);
	struct strbuf *to = &other;

	while (i < 4 && (before < last[i].n || memcmp(s - last[i].n, last[i].word, last[i].n)))
		i++;
	if ((i == 0 || (i == 4 && plain)) && !now->cut)
		to = &c->bytes;
	else
		strbuf_empty(to);
	s = add_string(to, s + 1, end);
	if (to == &c->bytes)
		now->cut = end - s > 3 && !memcmp(s + 1, "...", 3);
	else if (i == 1 || i == 2)
		str_format(now->peer.ip, sizeof(now->peer.ip), "%s", other.text);
	else if (i == 3)
		c->resolves |= !strcmp(other.text, "/run/systemd/resolve/io.systemd.Resolve") ||
			       !strcmp(other.text, "/var/run/nscd/socket");
	return s;
}

/* Read the arguments after the descriptor. */
static void scan(struct dns_call *c, const char *s, const char *end, int many)
{
	const char *begin = s, *digits;
	struct scan now = { .at = 0 };
	int depth = 0;

	strbuf_add(strbuf_empty(&c->bytes), "", 0);
	for (; s < end; s++) {
		switch (*s) {
		case '"':
			s = take_string(c, &now, s, begin, end, !depth && !c->bytes.n);
			break;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			depth--;
			break;
		case 'h':
			digits = s + strlen("htons(");
			if (begins(s, end, "htons("))
				now.peer.port = (unsigned)text_digits(&digits);
			break;
		case 'm':
			digits = s + strlen("msg_len=");
			if (many && begins(s, end, "msg_len=") && (c->result < 0 ||
			    c->npieces < (size_t)c->result))
				finish(c, &now, (size_t)text_digits(&digits));
			break;
		case 'M':
			c->peeks |= begins(s, end, "MSG_PEEK");
			break;
		}
	}
	if (!many)
		finish(c, &now, c->result < 0 ? c->bytes.n : (size_t)c->result);
}

int dns_call(struct dns_call *c, const struct seen *l)
{
	static const struct { char name[18], does, many; } calls[] = {
		{ "read", DNS_RECEIVES, 0 }, { "readv", DNS_RECEIVES, 0 },
		{ "recv", DNS_RECEIVES, 0 }, { "recvfrom", DNS_RECEIVES, 0 },
		{ "recvmsg", DNS_RECEIVES, 0 }, { "recvmmsg", DNS_RECEIVES, 1 },
		{ "recvmmsg_time64", DNS_RECEIVES, 1 },
		{ "write", DNS_SENDS, 0 }, { "writev", DNS_SENDS, 0 }, { "send", DNS_SENDS, 0 },
		{ "sendto", DNS_SENDS, 0 }, { "sendmsg", DNS_SENDS, 0 },
		{ "sendmmsg", DNS_SENDS, 1 }, { "close", DNS_CLOSES, 0 },
		{ "connect", DNS_CONNECTS, 0 },
	};
	struct text_part name = seen_text(l, "call"), text;
	const size_t n = sizeof(calls) / sizeof(*calls);
	const char *s;
	size_t i = 0;

	while (i < n && !text_part_is(name, calls[i].name))
		i++;
	if (i == n || line_calls_result(l, &c->result) < 0)
		return 0;
	text = arguments(c, l);
	s = read_socket(c, text.text, text.text + text.n);
	c->does = (unsigned char)calls[i].does;
	/* a UNIX socket can have any path, also one that looks like an address */
	if (!s || (c->does != DNS_CONNECTS && *c->socket.text == 'U' && c->socket.text[1] == 'N'))
		return 0;
	c->npieces = 0;
	c->peeks = c->resolves = 0;
	scan(c, s, text.text + text.n, calls[i].many);
	return 1;
}
