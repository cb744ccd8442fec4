/* SPDX-License-Identifier: ISC */
/*
 * errorlog.c - the kernel's reason, read from an error_log in a plain directory
 *
 * Input: the record, NUL, the log.
 */

#include "fuzz.h"

/* Print text as the tool does: without bytes that would move a terminal's cursor. */
static void clean(char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n') || *s == 0x7f)
			*s = '?';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int dir = -1;
	static const char key[] = "  Command: ";
	char *record = next_part(&data, &size), *log = next_part(&data, &size), *text;
	const char *caret;
	size_t n;

	put_file("ctl/error_log", log, strlen(log));
	if (dir < 0) {
		char path[PATH_MAX];

		str_format(path, sizeof(path), "%s/ctl", place());
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		put_file("ctl/plain", "old", 3);
	}
	/* a missing file gives one of the two errors */
	listen_to_stderr();
	must_be_said(ctl_write(dir, "refuses", record, 0));

	listen_to_stderr();
	must(ctl_explain(dir, "refuses", record, 0) < 0);
	caret = heard(&n);
	n -= strcspn(caret, "\n") + 1;
	caret += strcspn(caret, "\n") + 1;
	if (n) {
		const char *text_of = caret + strlen(key);
		char *command = strndup(text_of, strcspn(text_of, "\n")), *asked = strdup(record);

		clean(log);
		clean(asked);

		must(!strncmp(caret, key, strlen(key)) && strlen(caret) == n);
		must(strlen(log) >= n && !strcmp(log + strlen(log) - n, caret));
		must(strstr(asked, command));
		free(command);
		free(asked);
	}

	listen_to_stderr();
	must_be_said(ctl_write(dir, "plain", record, CTL_TRUNCATE));
	text = file_read(dir, "plain", &n);
	must(text && !strncmp(text, record, strlen(record)));
	must(!strcmp(text + strlen(record), *record ? "\n" : ""));
	free(text);
	free(record);
	free(log);
	return 0;
}
