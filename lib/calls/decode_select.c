/* SPDX-License-Identifier: ISC */
/* decode_select.c - the options of decoded calls, and which calls they select */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "calls/decode.h"

enum { MAX_ERROR = 4095 }; /* include/linux/err.h */

/*
 * Do the options select a call by its result and its time? A resumed call has no known time.
 * A trapped call failed, but has no result.
 */
static int picks_result(const struct decode *d, int64_t result, int trapped, int resumed,
			uint64_t time)
{
	uint64_t error = trapped ? 0 : (uint64_t)error_of_result(result);

	if ((error || trapped ? d->succeeded : d->failed) ||
	    (d->slower && (resumed || time < d->slower)))
		return 0;
	return !d->by_error || (error && d->errors[error / 64] >> error % 64 & 1);
}

/* Do the options select a call by its arguments? */
static int picks_arguments(struct decode *d, const struct decoded *c)
{
	const struct call *call = c->call;
	int fd = !d->by_fd, path = !d->wanted.n || d->files;

	if (fd && path)
		return 1;
	if (!call)
		return 0;
	for (unsigned i = 0; i < call->nargs; i++)
		if (call->args[i].kind == CALL_FD || call->args[i].kind == CALL_DIRFD)
			fd |= (int32_t)c->values.args[i] == d->fd;
	fd |= call->result.kind == CALL_FD && c->values.returned && c->values.result == d->fd;
	return fd && (path || decode_wanted(d, c));
}

int decode_picks_endless(struct decode *d, const struct decoded *c)
{
	return !d->failed && !d->succeeded && !d->by_error && !d->slower && picks_arguments(d, c);
}

int decode_picks(struct decode *d, const struct decoded *c)
{
	int known = c->fate == PAIRING_RETURNED || (decoded_no_entry(c) && c->nargs);

	return picks_result(d, c->values.result, c->trapped, c->fate != PAIRING_RETURNED,
			    c->time) &&
	       (known ? picks_arguments(d, c) : !d->by_fd && !d->wanted.n);
}

int decode_picks_name(const struct decode *d, const struct decode_event *of,
		      const struct decoded *c)
{
	const struct pick *p = d->pick;
	char event[64];

	if (!p->nglobs || (of->seen.kind != CALLED && of->seen.kind != BEGUN))
		return 1;
	for (int leaves = 0; leaves < 2; leaves++) {
		str_format(event, sizeof(event), leaves ? "sys_exit_%.40s" : "sys_enter_%.40s",
			   decoded_name(c));
		if (pick_names(p, "syscalls", event) ||
		    pick_names(p, "raw_syscalls", leaves ? "sys_exit" : "sys_enter"))
			return 1;
	}
	return pick_names(p, RECORD_SYSTEM, "call");
}

/* Set the errors of a list of names. Return 0, or -1. */
static int parse_errors(struct decode *d, const char *names)
{
	for (;; names++) {
		size_t n = strcspn(names, ",");
		uint64_t e = (uint64_t)error_of_name(names, n);

		if (!e || e > MAX_ERROR)
			return -1;
		d->errors[e / 64] |= (uint64_t)1 << e % 64;
		d->by_error = 1;
		names += n;
		if (!*names)
			return 0;
	}
}

int decode_take(struct decode *d, const struct tool *tool)
{
	unsigned long fd = 0, us = 0; /* which may have 32 bits */
	const struct opt_place places[] = {
		{ .name = "decode", .flag = &d->on }, { .name = "failed", .flag = &d->failed },
		{ .name = "succeeded", .flag = &d->succeeded },
		{ .name = "execs", .flag = &d->execs }, { .name = "fd", .number = &fd },
		{ .name = "slower", .number = &us }, { .name = "names", .flag = &d->names },
		{ .name = "paths", .flag = &d->paths }, { .name = "reads", .flag = &d->reads },
		{ .name = "host-paths", .flag = &d->known.host_paths },
		{ .name = "strace", .flag = &d->strace }, { .name = "id", .text = &d->id },
		{ .name = "abi", .text = &d->abi }, { .name = "note", .text = &d->note }, { 0 },
	};
	const char *name = opt_last.name;
	struct call_role_set set;

	if (!strcmp(name, "files")) {
		if (roles_parse(opt_value, &set) < 0 || set.is || set.fds)
			opt_refuse(tool, "what calls do, such as opened,written");
		d->files = set.does;
	} else if (!strcmp(name, "path")) {
		wanted_add(&d->wanted, opt_value);
	} else if (!strcmp(name, "errno")) {
		if (parse_errors(d, opt_value) < 0)
			opt_refuse(tool, "a list of names of errors, such as ENOENT");
	} else if (!opt_put(places)) {
		return 0;
	}
	if (strcmp(name, "decode") && strcmp(name, "note")) /* which -T has, too */
		d->option = opt_last.line;
	d->paths |= d->known.host_paths || d->files;
	d->known.prints = d->names || d->paths;
	if (!strcmp(name, "fd")) {
		d->fd = (int32_t)fd;
		d->by_fd = 1;
	}
	if (!strcmp(name, "slower")) {
		d->slower = us; /* an unsigned long may have 32 bits */
		d->slower = d->slower < UINT64_MAX / 1000 ? d->slower * 1000 : UINT64_MAX;
	}
	return 1;
}
