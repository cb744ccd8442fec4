/* SPDX-License-Identifier: ISC */
/*
 * head.c - a hook's header, then --args for it, then its requirements
 *
 * Input: the header, NUL, the words of --args.
 */
#include "fuzz.h"

static int root = -1;

/* Check a requirement of one plain path with stat. */
static int missing(const struct hook *r)
{
	int n = 0;

	for (size_t i = 0; i < r->nrequires; i++)
		n += !strpbrk(r->requires[i], " \t|!({") && *r->requires[i] &&
		     strlen(r->requires[i]) < PATH_MAX && !file_exists(root, r->requires[i]);
	return n;
}

static void try_request(struct hook *r, const char *args)
{
	char why[PATH_MAX + 256] = "", **words;
	const char *wrong;
	struct request rq;
	int result;

	words = words_split(args, &wrong);
	if (!words)
		return;
	listen_to_stderr();
	result = request_parse(&rq, r, words);
	must_be_said(result);
	if (!result) {
		check_request(&rq);
		result = hook_check_requirements(r, root, "/tracing", why, sizeof(why));
		must(!result == !*why);
		must(result < 0 || !missing(r));
	}
	free_request(&rq);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *head = next_part(&data, &size), *args = next_part(&data, &size);
	char *commons = strdup(request_common_options);
	static struct hook r;
	int result;

	if (root < 0) {
		prepare_procfs();
		root = prepare_tracing();
	}
	listen_to_stderr();
	r = (struct hook){ .name = "hook" };
	must(!hook_parse_header(&r, commons, "common options"));
	r.ncommon = r.noptions;
	result = hook_parse_header(&r, head, "hooks.d/hook");
	must_be_said(result);
	if (!result) {
		check_hook(&r);
		if (!r.description)
			r.description = "";
		hook_describe(&r);
		stdout_flush();
		try_request(&r, args);
	}
	free(commons);
	free(head);
	free(args);
	return 0;
}
