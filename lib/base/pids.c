/* SPDX-License-Identifier: ISC */
/* pids.c - sorted sets of pids */

#include "base/base.h"

int pids_add(struct pids *s, pid_t pid)
{
	pid_t *more = s->failed ? NULL : array_more(s->v, s->n, sizeof(*more));

	if (s->failed)
		return -1;
	s->failed = !more;
	if (s->failed)
		return err_msg("out of memory for %zu pids", 2 * s->n);
	s->v = more;
	s->v[s->n++] = pid;
	return 0;
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

/* Sort in place (shellsort). It is fast if v is nearly sorted, as pids usually are. */
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

int pids_sort(struct pids *s)
{
	size_t out = 0;

	if (!s->n)
		return s->failed ? -1 : 0;
	sort(s->v, s->n);
	for (size_t i = 1; i < s->n; i++)
		if (s->v[i] != s->v[out])
			s->v[++out] = s->v[i];
	s->n = out + 1;
	return s->failed ? -1 : 0;
}

int pids_plus(struct pids *s, const struct pids *more)
{
	for (size_t i = 0; i < more->n; i++)
		pids_add(s, more->v[i]);
	return pids_sort(s);
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

char *pids_text(const struct pids *s, const char *between)
{
	size_t size = 12 * s->n + 1, n = 0;
	char *text = s->failed ? NULL : malloc(size);

	if (!text && !s->failed)
		err_msg("out of memory for %zu pids", s->n);
	for (size_t i = 0; text && i < s->n; i++)
		n += str_format(text + n, size - n, "%s%d", i ? between : "", (int)s->v[i]);
	if (text)
		text[n] = '\0';
	return text;
}

int pids_parse(struct pids *s, const char *text)
{
	for (; *text; text += *text != '\0') {
		pid_t pid = (pid_t)text_digits(&text);

		if (pid)
			pids_add(s, pid);
	}
	return pids_sort(s);
}
