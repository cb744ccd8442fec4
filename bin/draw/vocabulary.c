/* SPDX-License-Identifier: ISC */
/*
 * vocabulary.c - fields of events in the words of OpenTelemetry's semantic conventions
 *
 * A name that the conventions define means what they say. Every other name begins with "tfs.", so
 * that no later version of the conventions gives it another meaning (t/engines/otel-names.bats).
 */

#include "calls/calls.h"
#include "export.h"

/*
 * How a value is written: as it is, as an address, as a port unless it is 0, by its name, or as a
 * code unless that is no error.
 */
enum form { PLAIN, ADDRESS, PORT, TRANSPORT, NETWORK, CODE };

/* The fields that have names of their own, in all events, or only in those of sockets or of DNS. */
enum { OF_ALL, OF_SOCKETS, OF_DNS };
static const struct { const char *field, *name; int of; enum form form; } words[] = {
#include "vocabulary.h"
};

/* Protocols of <netinet/in.h>, families of <sys/socket.h>, and their names in the registry */
static const struct { const char *number, *name; enum form form; } names[] = {
	{ "6", "\"tcp\"", TRANSPORT }, { "17", "\"udp\"", TRANSPORT },
	{ "2", "\"ipv4\"", NETWORK }, { "10", "\"ipv6\"", NETWORK },
};

int export_is_failure(const struct export_record *r, int flags)
{
	struct text_part error = json_unquoted(r->error), event = json_unquoted(r->event);

	if (!error.n || *r->error.text != '"')
		return 0;
	if (!text_part_begins(event, "sys_exit_"))
		return 1;
	event = (struct text_part){ event.text + 9, event.n - 9 };
	/* usual answers of this call, or of any call (try again), are no failures */
	if (role_of(event)->is & role_of_word(error) || text_part_is(error, "EAGAIN") ||
	    (text_part_begins(error, "ERESTART") && error.n > 8))
		return flags & EXPORT_ERRORS;
	return 1;
}

/* Write an array of 4 or 16 numbers as an address. Return 0 if it is no such array. */
static int put_address(struct out *o, struct text_part array)
{
	const char *s = array.text, *end = s + array.n;
	unsigned char bytes[16];
	struct text_part v;
	size_t n = 0;
	uint64_t byte;

	for (; json_element(&s, end, &v); n++)
		if (n == sizeof(bytes) || text_part_number(v, 10, &byte) < 0 || byte > 255)
			return 0;
		else
			bytes[n] = (unsigned char)byte;
	out_char(o, '"');
	if (n == 4)
		out_format(o, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
	else if (n == 16)
		out_ip6(o, bytes, 0);
	out_char(o, '"');
	return n == 4 || n == 16;
}

/* Does the event belong to IPv6? The kernel's events have addresses of both versions. */
static int is_ip6(const struct export_record *r)
{
	const char *s = r->fields.text, *end = s + r->fields.n;
	struct text_part name, value;

	while (json_member(&s, end, &name, &value))
		if (text_part_is(name, "family"))
			return text_part_is(value, "10");
	return 0;
}

/* Put the value into the text of the word. Return 1; 0 if it has no such form; -1: leave it out. */
static int put_form(struct export_word *w, const struct export_record *r, struct text_part field,
		    enum form form)
{
	struct out o = out_to(w->text, sizeof(w->text));

	if (form == PLAIN || (form == ADDRESS && w->value.n && *w->value.text == '"'))
		return 1;
	if (form == CODE)
		return text_part_is(w->value, "\"NOERROR\"") ? -1 : 1;
	if (form == PORT) /* 0: the socket has none yet */
		return text_part_is(w->value, "0") ? -1 : 1;
	if (form == ADDRESS) {
		if (!put_address(&o, w->value))
			return 0;
		w->value = (struct text_part){ w->text, (size_t)(o.at - w->text) };
		return is_ip6(r) == (field.text[field.n - 1] == '6') ? 1 : -1;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].form == form && text_part_is(w->value, names[i].number)) {
			w->value = (struct text_part){ names[i].name, strlen(names[i].name) };
			return 1;
		}
	return 0;
}

int export_word(struct export_word *w, const struct export_record *r, struct text_part field,
		struct text_part value, int flags)
{
	struct text_part system = json_unquoted(r->system);
	int of = text_part_is(system, "sock") || text_part_is(system, "tcp") ? OF_SOCKETS :
		 text_part_is(system, "dns") ? OF_DNS : OF_ALL, form = 0;

	w->value = value;
	if (r->context.span && value.n && *value.text == '"' &&
	    (text_part_is(field, "trace_id") || text_part_is(field, "span_id") ||
	     text_part_is(field, "trace_flags")))
		return 0;
	if (text_part_is(field, "error") && value.n && *value.text == '"') {
		w->prefix = export_is_failure(r, flags) ? "error.type" : "tfs.error";
		w->name.n = 0;
		return 1;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!text_part_is(field, words[i].field) || (words[i].of && words[i].of != of))
			continue;
		form = put_form(w, r, field, words[i].form);
		w->prefix = words[i].name;
		w->name.n = 0;
		if (form)
			return form > 0;
	}
	w->prefix = EXPORT_ARGUMENT;
	w->name = field;
	return 1;
}
