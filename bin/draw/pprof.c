/* SPDX-License-Identifier: ISC */
/* pprof.c - write a profile of pprof */

#include "packet.h"
#include "profile.h"

/* A string. If it names a function, the function and its location have the number of the string. */
struct string {
	struct table_entry entry;       /* the key: 'k' for the kernel, or 'p', and the text */
	uint64_t id;
	int is_function;
};

enum { LABELS_MOST = 16 };

static struct profile {
	struct table strings;           /* struct string */
	uint64_t *functions;            /* of the next sample; there is room for so many */
	size_t n, room;
	uint64_t labels[LABELS_MOST][2];
	unsigned nlabels;
	int weighs;
	struct strbuf key;
} profile = { .strings = { .size = sizeof(struct string) } };

/* Return a string of the profile, which is written when it is needed first. */
static struct string *string_of(char kind, struct text_part text)
{
	struct string *s;

	strbuf_add(strbuf_empty(&profile.key), &kind, 1);
	strbuf_add(&profile.key, text.text, text.n);
	s = table_at(&profile.strings, profile.key.text, profile.key.n);
	if (!s->id) {
		s->id = profile.strings.n; /* 0 is the empty string */
		if (packets_full())
			packets_write();
		proto_string(6, text.text, text.n);
	}
	return s;
}

static uint64_t id_of(const char *text)
{
	return string_of('p', (struct text_part){ text, strlen(text) })->id;
}

static void begin(const struct profile_head *h)
{
	uint64_t type;

	proto_string(6, "", 0);
	type = id_of("samples");
	proto_put("1{1u2u}", type, id_of("count"));
	profile.weighs = *h->name != '\0';
	if (!profile.weighs)
		return;
	type = id_of(h->name);
	proto_put("1{1u2u}", type, id_of(h->unit));
}

static void add_label(const char *key, struct text_part value)
{
	if (profile.nlabels == LABELS_MOST)
		return;
	profile.labels[profile.nlabels][0] = id_of(key);
	profile.labels[profile.nlabels++][1] = string_of('p', value)->id;
}

static void add_function(struct text_part name, int kernel)
{
	uint64_t file = kernel ? id_of("[kernel]") : 0;
	struct string *s = string_of(kernel ? 'k' : 'p', name);

	if (!s->is_function)
		proto_put("5{1u2u4u}4{1u4{1u}}", s->id, s->id, file, s->id, s->id);
	s->is_function = 1;
	profile.functions = xgrow(profile.functions, profile.n, &profile.room,
				  sizeof(*profile.functions));
	profile.functions[profile.n++] = s->id;
}

static void add_sample(uint64_t stacks, uint64_t weight)
{
	proto_begin(2);
	while (profile.n) /* the innermost function is first */
		proto_varint(1, profile.functions[--profile.n]);
	proto_varint(2, stacks);
	if (profile.weighs)
		proto_varint(2, weight);
	for (unsigned i = 0; i < profile.nlabels; i++)
		proto_put("3{1u2u}", profile.labels[i][0], profile.labels[i][1]);
	proto_end();
	profile.nlabels = 0;
}

static void add_comment(const char *text)
{
	uint64_t id = id_of(text);

	proto_varint(13, id);
}

const struct profile_form profile_pprof = {
	begin, add_label, add_function, add_sample, add_comment, packets_write,
};
