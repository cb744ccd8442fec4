/* SPDX-License-Identifier: ISC */
/* clocktell.c - what is known of a host's clock, in words */
#include "join.h"

/* "5.000000 s ahead" of the first host's clock */
static void put_ahead(struct words *w, int64_t ahead, int digits)
{
	words_seconds(w, ahead < 0 ? -ahead : ahead, digits);
	words_put(w, ahead < 0 ? " s behind" : " s ahead");
}

void clock_tell(struct words *w, const struct clocks *all, unsigned host,
		const char *const *names, int digits)
{
	const struct clock *c = &all->v[host];
	int64_t ahead = -c->add;

	switch (c->known) {
	case CLOCK_FIRST:
		words_put(w, "its clock is that of all times");
		break;
	case CLOCK_ALONE:
		words_put(w, "its clock as it is, for want of messages to compare it");
		break;
	case CLOCK_BOTH:
		put_ahead(w, ahead, digits);
		words_put(w, ", plus or minus ");
		words_seconds(w, c->within, digits);
		if (c->by) {
			words_put(w, ", if that of ");
			words_put(w, names[c->by]);
			words_put(w, " is right");
		}
		break;
	default:
		/* a host that is ahead by this or more is behind by this or less */
		words_put(w, (c->known == CLOCK_MOST) == (ahead >= 0) ? "at least " : "at most ");
		put_ahead(w, ahead, digits);
		words_put(w, ", by messages of one direction");
	}
}
