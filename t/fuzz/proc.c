/* SPDX-License-Identifier: ISC */
/*
 * proc.c - /proc/PID/task/PID/stat, status and cgroup, and the selectors that read them
 *
 * Input: the three files, separated by NULs, then the text of a selector.
 */
#include <ctype.h>
#include <stdio.h>

#include "fuzz.h"

/* Return 1 for a token of at most n digits, or of more with a sign. */
static int is_number(const char *s, size_t n)
{
	size_t digits;

	if (*s == '-' && n > 9)
		s++;
	digits = strspn(s, "0123456789");
	return digits && digits <= n && !s[digits];
}

/* Read the fields of a stat as in proc(5), one space between them. Return 1 if it is valid. */
static int oracle(const char *stat, struct task *t)
{
	char text[1024], *tail = text, *token;
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	int field = 3;

	if (!open || !close || close < open || strlen(stat) > 1000)
		return 0;
	snprintf(t->comm, sizeof(t->comm), "%.*s", (int)(close - open - 1), open + 1);
	strcpy(text, close + 1);
	text[strcspn(text, "\n")] = '\0';
	if (*strsep(&tail, " "))
		return 0;
	for (; (token = strsep(&tail, " ")); field++) {
		if (field == 3 && *token && !token[1] && isalpha((unsigned char)*token))
			t->state = *token;
		else if (field == 3 || !is_number(token, field == 4 || field == 20 ? 9 : 20))
			return 0;
		else if (field == 4)
			t->ppid = atoi(token);
		else if (field == 20)
			t->threads = atoi(token);
	}
	return field > 20;
}

static void check_stat(const char *stat)
{
	struct task expected = { 0 }, t, again;

	memset(&t, 0xa5, sizeof(t));
	memset(&again, 0x5a, sizeof(again));
	if (task_read(ALIVE, &t) < 0) {
		must(!oracle(stat, &expected));
		return;
	}
	/* earlier contents must not show, however short the file is */
	must(!task_read(ALIVE, &again) && t.ppid == again.ppid);
	must(t.state == again.state && t.threads == again.threads);
	must(!strcmp(t.comm, again.comm));
	must(t.pid == ALIVE && memchr(t.comm, '\0', sizeof(t.comm)));
	if (!oracle(stat, &expected))
		return;
	must(!strcmp(t.comm, expected.comm) && t.state == expected.state);
	must(t.ppid == expected.ppid && t.threads == expected.threads);
	must(task_alive(ALIVE) == !(strchr("Xx", t.state) ||
				    (t.state == 'Z' && t.threads < 2)));
}

static void check_selected(const struct selector *s)
{
	struct pids found = { 0 };
	int result;

	listen_to_stderr();
	result = select_pids(s, 1, SELECT_THREADS | SELECT_DESCENDANTS, &found);
	must_be_said(result);
	for (size_t i = 0; i < found.n; i++)
		must(found.v[i] > 0 && (!i || found.v[i] > found.v[i - 1]));
	pids_clear(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = { "task/42/stat", "status", "cgroup" };
	static int prepared;
	char *texts[3], *text, path[64];

	if (!prepared) {
		prepare_procfs();
		put_file("proc/42/task/43/stat", "", 0);
		prepared = 1;
	}
	for (size_t i = 0; i < 3; i++) {
		texts[i] = next_part(&data, &size);
		snprintf(path, sizeof(path), "proc/%d/%s", ALIVE, files[i]);
		put_file(path, texts[i], strlen(texts[i]));
	}
	text = next_part(&data, &size);
	check_stat(texts[0]);
	check_selected(&(struct selector){ .kind = SELECT_PID, .pid = ALIVE });
	check_selected(&(struct selector){ .kind = SELECT_CGROUP, .pid = ALIVE });
	check_selected(&(struct selector){ .kind = SELECT_CGROUP, .text = text });
	check_selected(&(struct selector){ .kind = SELECT_UID, .number = 1000 });
	check_selected(&(struct selector){ .kind = SELECT_COMM, .text = text });
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	free(text);
	return 0;
}
