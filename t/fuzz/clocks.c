/* SPDX-License-Identifier: ISC */
/* clocks.c - clock offsets, from any messages between some hosts */
#include "fuzz.h"

enum { MOST = 6 };

/* Bellman-Ford: return 1 if a cycle is negative when each bound is widened by so much. */
static int is_contradictory(const struct dt_clocks *c, int64_t wider)
{
	int64_t far[MOST] = { 0 };
	int shorter = 1;

	for (unsigned round = 0; shorter && round <= c->n; round++) {
		shorter = 0;
		for (unsigned i = 0; i < c->n; i++)
			for (unsigned j = 0; j < c->n; j++) {
				int64_t least = c->least[i * c->n + j];

				if (i == j || least == NO_MESSAGE ||
				    far[i] + least + wider >= far[j])
					continue;
				far[j] = far[i] + least + wider;
				shorter = 1;
			}
	}
	return shorter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dt_clock v[MOST];
	int64_t least[MOST * MOST], wider;
	struct dt_clocks c = { .n = size ? 1 + data[0] % MOST : 1, .unit = 1, .least = least,
			    .v = v };

	for (unsigned i = 0; i < c.n * c.n; i++) {
		int16_t part[2] = { 0 };

		least[i] = NO_MESSAGE;
		if (size < 1 + 4 * (size_t)(i + 1))
			continue;
		memcpy(part, data + 1 + 4 * i, 4);
		/* small, large and zero numbers */
		if (part[1])
			least[i] = part[0] * (part[1] & 1 ? 1 : TIME_MOST / 300000);
	}
	c.unit = size > 1 && data[1] & 1 ? 1000 : 1;
	dt_clocks_align(&c);
	must(c.off >= 0 && (!c.off || c.off > c.unit));
	must(c.off ? is_contradictory(&c, c.off - 1) : !is_contradictory(&c, c.unit));
	wider = c.off ? c.off : c.unit;
	must(!is_contradictory(&c, wider));
	must(c.v[0].known == CLOCK_FIRST && !c.v[0].add);
	for (unsigned i = 0; i < c.n; i++) {
		must(i ? c.v[i].known != CLOCK_FIRST : 1);
		must(c.v[i].within >= 0);
		must(c.v[i].known == CLOCK_ALONE ? !c.v[i].add : 1);
		must(c.v[i].by < c.n);
		for (unsigned j = 0; j < c.n; j++)
			if (i != j && least[i * c.n + j] != NO_MESSAGE)
				must(c.v[i].add - c.v[j].add <= least[i * c.n + j] + wider);
	}
	return 0;
}
