/* SPDX-License-Identifier: ISC */
/*
 * args.c - --args for a hook that has an option of every type
 *
 * Input: the words. A second, plainer parser of the options decides whether they
 * must be accepted.
 */
#include "fuzz.h"

static const char every_type[] =
	"#!/bin/sh\n"
	"# description: an option of every type\n"
	"# option: -s, --syscall [[sys_enter_]NAME...]  calls\n"
	"# option: --returns  the return of each call as well\n"
	"# option: -n, --number N...  numbers\n"
	"# option: --task PID  a task\n"
	"# option: --text [TEXT...]  text\n"
	"# option: --kind [k_]one|two|three...  some\n"
	"# option: --user UID  somebody\n"
	"# option: --a-long-name-of-31-characters-x MS  time\n";

static struct opt *look_up(struct hook *r, const char *word)
{
	for (size_t i = 0; i < r->noptions; i++) {
		struct opt *o = &r->options[i];
		char name[64] = "--";

		strcat(name, o->name);
		if ((o->letter && word[1] == o->letter) || !strcmp(word, name))
			return o;
	}
	return NULL;
}

/* for each option: how many of its values are pids of dead tasks, which are skipped */
static size_t dead[sizeof(((struct hook *)0)->options) / sizeof(struct opt)];

static int digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* Return 1 if r's option o accepts this value. */
static int take(struct hook *r, struct opt *o, const char *value)
{
	if (!strncmp(value, o->prefix, strlen(o->prefix)))
		value += strlen(o->prefix);
	if (o->type == TYPE_PID ? !text_pid(value) : !valid(o, value))
		return 0;
	if (!strcmp(o->name, "comm") && strlen(value) > 15) /* TASK_COMM_LEN */
		return 0;
	if (o->n++ && !o->many)
		return 0;
	if (o->type == TYPE_PID || !strcmp(o->name, "cgroup"))
		dead[o - r->options] += digits(value) && text_pid(value) && !lives(value);
	return 1;
}

/* Check the values of a word. Commas separate the values of an option that takes many;
 * in a cgroup they do so only if everything else is digits. */
static int take_all(struct hook *r, struct opt *o, char *word)
{
	int parted = o->many && (o->type != TYPE_TEXT || o->commas ||
		(!strcmp(o->name, "cgroup") && !word[strspn(word, "0123456789,")]));
	char *comma, *copy = strdup(word), *s = copy;
	int good = 1;

	while (good && parted && (comma = strchr(s, ','))) {
		*comma = '\0';
		good = take(r, o, s);
		s = comma + 1;
	}
	good = good && take(r, o, s);
	free(copy);
	return good;
}

/* Return 1 if an option needs a value, and has taken none since it had n of them. */
static int lacks_value(const struct opt *o, size_t n)
{
	return o && o->type != TYPE_FLAG && !o->may_be_empty && o->n == n;
}

/* Return 1 if the words are valid. r is a copy of the hook to count in. */
static int acceptable(struct hook *r, char **words)
{
	static const char *const whom[] = { "pid", "parent", "cgroup", "pidns", "uid", "comm",
		"container", "pod", "namespace" };
	struct opt *o = NULL;
	size_t who = 0, gone = 0, before = 0;

	memset(dead, 0, sizeof(dead));
	for (; *words; words++) {
		char word[64] = "", *equals = strchr(*words, '=');
		char *value = *words;

		if (**words == '-') {
			int is_long = words[0][1] == '-';
			size_t n = equals && is_long ? (size_t)(equals - *words) : strlen(*words);

			if ((is_long && n >= sizeof(word)) || lacks_value(o, before))
				return 0;
			memcpy(word, *words, is_long || n < 2 ? n : 2);
			o = look_up(r, word);
			before = o ? o->n : 0;
			if (!o)
				return 0;
			o->given = 1;
			value = is_long ? equals ? equals + 1 : NULL : n > 2 ? *words + 2 : NULL;
			if (!value)
				continue;
		}
		if (!o)
			return 0;
		if (!take_all(r, o, value))
			return 0;
	}
	if (lacks_value(o, before))
		return 0;
	for (size_t i = 0; i < r->noptions; i++) {
		o = &r->options[i];
		if (o->given && !o->n && o->type != TYPE_FLAG && !o->may_be_empty)
			return 0;
		/* a hook's own list of pids must not become empty */
		if (i >= r->ncommon && dead[i] && dead[i] == o->n)
			return 0;
		o->n -= dead[i];
	}
	for (size_t i = 0; i < sizeof(whom) / sizeof(*whom); i++) {
		o = look_up(r, strcat((char[16]){ "--" }, whom[i]));
		who += o->n;
		gone += dead[o - r->options];
	}
	if (gone && !who)
		return 0;
	return (who > 0) != (look_up(r, "--all")->given != 0);
}

/* the same hook twice: for the parser and for the oracle */
static void make(struct hook *r, char **commons, char **head)
{
	*r = (struct hook){ .name = "every_type" };
	*commons = strdup(request_common_options);
	*head = strdup(every_type);
	must(!hook_parse_header(r, *commons, "common options"));
	r->ncommon = r->noptions;
	must(!hook_parse_header(r, *head, "every_type"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hook first, r, second;
	static int prepared;
	char *args = next_part(&data, &size), **words;
	const char *why;
	struct request rq;
	int result, ok;

	if (!prepared) {
		char *texts[2];

		prepare_procfs();
		make(&first, &texts[0], &texts[1]);
		prepared = 1;
	}
	r = second = first;
	words = words_split(args, &why);
	ok = words && acceptable(&second, words);
	free(words);
	words = words_split(args, &why);
	if (!words) {
		free(args);
		return 0;
	}

	listen_to_stderr();
	result = request_parse(&rq, &r, words);
	must_be_said(result);
	must((result == 0) == ok);
	if (!result)
		check_request(&rq);
	free_request(&rq);
	free(args);
	return 0;
}
