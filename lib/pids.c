/* SPDX-License-Identifier: ISC */
/* pids.c - sorted sets of pids */
#include <stdlib.h>
#include <string.h>

#include "tfs.h"

void pids_add(struct pids *s, pid_t pid)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->v = realloc(s->v, s->room * sizeof(*s->v));
		if (!s->v)
			die(REFUSED, "out of memory for %zu pids", s->room);
	}
	s->v[s->n++] = pid;
}

int pids_has(const struct pids *s, pid_t pid)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->v[middle] == pid)
			return 1;
		if (s->v[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

int pids_same(const struct pids *a, const struct pids *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->v, b->v, a->n * sizeof(*a->v)));
}

/* Shell's sort: in place, and quick on what is sorted already, as pids are. */
static void sort(pid_t *v, size_t n)
{
	for (size_t gap = n / 2; gap; gap /= 2)
		for (size_t i = gap; i < n; i++) {
			pid_t pid = v[i];
			size_t j = i;

			for (; j >= gap && v[j - gap] > pid; j -= gap)
				v[j] = v[j - gap];
			v[j] = pid;
		}
}

void pids_sort(struct pids *s)
{
	size_t out = 0;

	if (!s->n)
		return;
	sort(s->v, s->n);
	for (size_t i = 1; i < s->n; i++)
		if (s->v[i] != s->v[out])
			s->v[++out] = s->v[i];
	s->n = out + 1;
}

void pids_minus(struct pids *s, const struct pids *gone)
{
	size_t out = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!pids_has(gone, s->v[i]))
			s->v[out++] = s->v[i];
	s->n = out;
}

void pids_clear(struct pids *s)
{
	free(s->v);
	*s = (struct pids){ 0 };
}

void pids_parse(struct pids *s, const char *text)
{
	for (; *text; text += *text != '\0') {
		pid_t pid = (pid_t)digits_at(&text);

		if (pid)
			pids_add(s, pid);
	}
	pids_sort(s);
}
