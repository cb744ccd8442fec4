/* SPDX-License-Identifier: ISC */
/*
 * calltable.c - damaged tables of system calls
 *
 * Input: the file; the harness corrects the number of its bytes. Tables that are refused give
 * one message. The calls of all other tables are found and printed with some user memory.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char user[64] = "\2\0\0\120text", magic[] = "tfs-calls 1 ";
	char path[PATH_MAX], text[256], *copy = malloc(size + 1);
	struct call_values v = { .result = 2, .returned = 1, .args = { 1, 2, 3, 4, 5, 6 } };
	struct calls *c;

	must(copy);
	memcpy(copy, data, size);
	if (size >= sizeof(magic) + 6 && !memcmp(copy, magic, sizeof(magic) - 1)) {
		char digits[8];

		str_format(digits, sizeof(digits), "%d", (int)(1000000 + size % 1000000));
		memcpy(copy + sizeof(magic) - 1, digits + 1, 6);
	}
	put_file("tab", copy, size);
	free(copy);
	str_format(path, sizeof(path), "%s/tab", place());
	for (unsigned i = 0; i < CALL_ARGS; i++)
		v.user[i] = (struct call_bytes){ .bytes = user, .n = sizeof(user) };
	listen_to_stderr();
	c = calls_read(path, "i386");
	must_be_said(c ? 0 : -1);
	if (!c)
		return 0;
	for (unsigned n = 0; n <= calls_most(c); n++) {
		const struct call *call = calls_find(c, n);

		if (!call)
			continue;
		call = calls_match(call, v.args);
		for (unsigned i = 0; i < call->nargs; i++)
			must(call_print(c, call, i, &v, text, sizeof(text)) <= sizeof(text));
		must(call_print_result(c, call, 5, text, sizeof(text)) <= sizeof(text));
		must(call_print_result(c, call, -2, text, sizeof(text)) <= sizeof(text));
	}
	calls_free(c);
	return 0;
}
