/* SPDX-License-Identifier: ISC */
/* hook.c - check what must be true of an accepted hook and of a request */
#include <malloc.h>
#include <stdio.h>

#include "fuzz.h"

/* the library refers to the manager's subsystem; no harness of hooks and requests calls it */
struct subsystem manager_subsystem = { .name = "none" };

static int in_range(const char *s, unsigned long low, unsigned long high)
{
	unsigned long n;
	char *end;

	for (const char *p = s; *p; p++)
		if (!strchr("0123456789", *p))
			return 0;
	errno = 0;
	n = strtoul(s, &end, 10);
	return *s && !*end && !errno && n >= low && n <= high;
}

/* Is s a number of this unit, of the range after the factor? */
static int in_unit(const char *s, const char *unit, unsigned long factor, unsigned long low,
		   unsigned long high)
{
	size_t n = strlen(s), u = strlen(unit);
	char *number;
	int ok;

	if (n < u || strcmp(s + n - u, unit))
		return 0;
	must((number = strndup(s, n - u)) != NULL);
	ok = in_range(number, (low + factor - 1) / factor, high / factor);
	free(number);
	return ok;
}

static int plain_name(const char *s)
{
	int ok = *s && strchr(".-", *s) == NULL && strlen(s) <= 64;

	for (; *s; s++)
		ok &= (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		      (*s >= '0' && *s <= '9') || *s == '_' || *s == '.' || *s == '-';
	return ok;
}

int lives(const char *s)
{
	static const int alive[] = { ALIVE, ALSO_ALIVE, ZOMBIE_WITH_THREADS };
	int found = 0;

	for (size_t i = 0; i < sizeof(alive) / sizeof(*alive); i++)
		found |= atoi(s) == alive[i];
	return found;
}

static int one_of(const char *choices, const char *s)
{
	char *all, *with_bars;
	int found;

	must(asprintf(&all, "|%s|", choices) >= 0);
	must(asprintf(&with_bars, "|%s|", s) >= 0);
	found = *s && !strchr(s, '|') && strstr(all, with_bars);
	free(all);
	free(with_bars);
	return found;
}

int valid(const struct opt *o, const char *s)
{
	struct suggest near = { .word = s };
	unsigned long n;

	switch (o->type) {
	case TYPE_FLAG:
		return 0;
	case TYPE_NAME:
		return plain_name(s);
	case TYPE_PID:
		return in_range(s, 1, 1 << 22) && lives(s);
	case TYPE_NUMBER:
		return in_range(s, o->least, o->most);
	case TYPE_MS:
		return in_range(s, 1, INT_MAX) || in_unit(s, "ms", 1, 1, INT_MAX) ||
		       in_unit(s, "s", 1000, 1, INT_MAX) || in_unit(s, "m", 60000, 1, INT_MAX) ||
		       in_unit(s, "h", 3600000, 1, INT_MAX);
	case TYPE_US:
		return in_range(s, 0, ULONG_MAX) || in_unit(s, "us", 1, 0, ULONG_MAX) ||
		       in_unit(s, "ms", 1000, 0, ULONG_MAX) ||
		       in_unit(s, "s", 1000000, 0, ULONG_MAX);
	case TYPE_KB:
		return in_range(s, 1, INT_MAX) ||
		       in_unit(s, "K", 1, 1, INT_MAX) || in_unit(s, "k", 1, 1, INT_MAX) ||
		       in_unit(s, "M", 1024, 1, INT_MAX) || in_unit(s, "m", 1024, 1, INT_MAX) ||
		       in_unit(s, "G", 1 << 20, 1, INT_MAX) || in_unit(s, "g", 1 << 20, 1, INT_MAX);
	case TYPE_UID:
		return in_range(s, 0, UINT_MAX) || (plain_name(s) && !strchr("0123456789", *s) &&
						    !names_user(s, &n, &near));
	case TYPE_PORT:
		return in_range(s, 0, 65535) || (plain_name(s) && !names_port(s, &n, &near));
	case TYPE_DISK:
		return *s && *s != '.' && strlen(s) < NAME_MAX && !strchr(s, '/');
	case TYPE_ID:
		return strlen(s) >= 4 && strlen(s) <= 64 && !s[strspn(s, "0123456789abcdef")];
	case TYPE_CONTAINER:
		return *s && !strchr("-.", *s) && strlen(s) < NAME_MAX &&
		       !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_.-*?[]!")];
	case TYPE_SYSCALL:
		return *s && !strchr("-.", *s) && strlen(s) <= 64 &&
		       !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_.-*?[]!%")] &&
		       (!strchr(s, '%') || (strrchr(s, '%') == s + (*s == '!')));
	case TYPE_KEY:
	case TYPE_TEXT:
		/* a space would part the values of a hook */
		return *s && (o->type == TYPE_TEXT || strcmp(s, ".")) && !text_has_control(s) &&
		       !(o->for_hook && o->many && strchr(s, ' '));
	case TYPE_ERROR:
		return error_of_name(s, strlen(s)) != 0;
	case TYPE_CHOICE:
		return one_of(o->choices, s);
	}
	return 0;
}

/* An option's line, alone in a header of its own, must give the same option. */
static void check_option(const struct opt *o)
{
	static struct hook again;
	char *head;

	must(*o->name && *o->name != '-' && strlen(o->name) < sizeof(o->name));
	must(strspn(o->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(o->name));
	must(!o->many || o->type != TYPE_FLAG);
	must(o->many || !o->may_be_empty);
	must((o->type == TYPE_CHOICE) == (*o->choices != '\0'));
	must(asprintf(&head, "# option: %s", o->line) >= 0);
	again = (struct hook){ 0 };
	must(!hook_parse_header(&again, head, "again") && again.noptions == 1);
	must(again.options[0].letter == o->letter && again.options[0].type == o->type);
	must(!strcmp(again.options[0].name, o->name));
	must(!strcmp(again.options[0].prefix, o->prefix));
	must(!strcmp(again.options[0].choices, o->choices));
	must(again.options[0].many == o->many);
	must(again.options[0].may_be_empty == o->may_be_empty);
	free(head);
}

void check_hook(const struct hook *r)
{
	must(r->noptions <= HOOK_OPTIONS_MAX && r->ncommon <= r->noptions);
	must(r->nrequires <= sizeof(r->requires) / sizeof(*r->requires));
	for (size_t i = 0; i < r->noptions; i++) {
		const struct opt *a = &r->options[i];

		check_option(a);
		for (size_t j = 0; j < i; j++)
			must((r->options[j].taken || strcmp(a->name, r->options[j].name)) &&
			     (!a->letter || a->letter != r->options[j].letter));
	}
}

static void check_environment(const struct request *rq)
{
	static const char *const place[] = { "TFS_INSTANCE=x", "TFS_GROUP=y", NULL };
	char **env = request_environment(rq, "/tools", place);
	size_t n = 0, given = 0;

	for (size_t i = 0; i < rq->hook->noptions; i++) {
		const struct opt *o = &rq->hook->options[i];
		size_t k = rq->hook->ncommon;

		while (k < rq->hook->noptions && (!rq->hook->options[k].given || o->given ||
						  rq->hook->options[k].implied != o))
			k++;
		given += k < rq->hook->noptions;
		given += o->given && (i >= rq->hook->ncommon || !strcmp(o->name, "buffer") ||
				      !strcmp(o->name, "clock") || !strcmp(o->name, "json"));
	}
	must(!strncmp(env[0], "PATH=/tools:", 12) && !strcmp(env[2], "TFS_INSTANCE=x") &&
	     !strcmp(env[3], "TFS_GROUP=y"));
	for (char **e = env; *e; e++) {
		size_t name = strspn(*e, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

		must((*e)[name] == '=' && !strchr(*e, '\n'));
		n += !strncmp(*e, "HOOK_", 5);
	}
	must(n == given);
	for (char **e = env; *e; e++)
		if (e != env + 2 && e != env + 3)
			free(*e);
	free(env);
}

void check_request(const struct request *rq)
{
	const struct hook *r = rq->hook;
	static const char *const whom[] = { "pid", "parent", "cgroup", "pidns", "uid", "comm",
					    "container", "pod", "namespace" };
	size_t who = 0, later = 0; /* later: request_find_containers makes their selectors */

	for (size_t i = 0; i < r->noptions; i++) {
		const struct opt *o = &r->options[i];

		must(o->given || !o->n);
		must(o->n <= 1 || o->many);
		must(!o->given || o->n || o->type == TYPE_FLAG || o->may_be_empty || rq->dead.n);
		for (size_t j = 0; j < o->n; j++)
			must(valid(o, o->v[j]));
	}
	for (size_t i = 0; i < sizeof(whom) / sizeof(*whom); i++)
		*(i < 6 ? &who : &later) += hook_common_option(r, whom[i])->n;
	must(rq->nselectors == who);
	who += later;
	must((who > 0) != (rq->all_tasks != 0));
	must(rq->parents.n <= hook_common_option(r, "parent")->n);
	must(plain_name(rq->session) && !strchr(rq->session, '/'));
	must(rq->ms == -1 || (rq->ms > 0 && rq->ms <= INT_MAX));
	must(rq->size_kb > 0 && rq->size_kb <= INT_MAX && rq->buffer_kb <= INT_MAX);
	check_environment(rq);
}

void free_request(struct request *rq)
{
	const char *words = (const char *)rq->words, *end = words;

	if (words)
		end += malloc_usable_size(rq->words);
	for (size_t i = 0; i < rq->hook->noptions; i++) {
		const struct opt *o = &rq->hook->options[i];

		/* the number of a name or quantity is not a part of the words */
		for (size_t j = 0; words && j < o->n; j++)
			if (o->v[j] < words || o->v[j] >= end)
				free((char *)(size_t)o->v[j]);
		free(o->v);
	}
	free(rq->words);
	free(rq->selectors);
	pids_clear(&rq->parents);
	pids_clear(&rq->dead);
}
