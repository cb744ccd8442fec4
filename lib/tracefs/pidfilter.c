/* SPDX-License-Identifier: ISC */
/* pidfilter.c - the tasks that an instance traces: set_event_pid and similar files */

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"

static int put(int dir, const char *file, const struct pids *s, int flags)
{
	char *text = pids_text(s, " ");
	int e;

	if (!text)
		return -1;
	e = -ctl_try(dir, file, text, flags);
	free(text);
	errno = e;
	/* ten thousand pids would not fit into the message */
	return e ? err_file("unable to write %zu pids to %s", s->n, file) : 0;
}

static int get(int dir, const char *file, struct pids *out)
{
	char *text = file_read(dir, file, NULL);
	int r;

	if (!text)
		return err_file("unable to read %s", file);
	r = pids_parse(out, text); /* the text "no pid" has no number */
	free(text);
	return r;
}

/* The files of a pid filter: of the one for events, and of the one for functions. */
struct family {
	const char *fork, *pids, *no_pids;
};
static const struct family events = {
	"options/event-fork", "set_event_pid", "set_event_notrace_pid",
};
static const struct family functions_family = {
	"options/function-fork", "set_ftrace_pid", "set_ftrace_notrace_pid",
};

static int add(int dir, const struct family *f, const struct pids *s)
{
	struct pids no = { 0 };
	size_t before;
	int r = 0;

	if (ctl_write(dir, f->fork, "1", 0) < 0 || get(dir, f->no_pids, &no) < 0)
		return -1;
	before = no.n;
	pids_minus(&no, s);
	if (no.n != before)
		r = put(dir, f->no_pids, &no, CTL_TRUNCATE);
	pids_clear(&no);
	return r < 0 ? r : put(dir, f->pids, s, 0);
}

int pidfilter_add(int dir, const struct pids *s, int functions)
{
	if (!s->n)
		return 0;
	if (add(dir, &events, s) < 0)
		return -1;
	/* if the list of functions has pids, pidfilter_mirror has begun, and may miss these */
	if (functions == PIDFILTER_MIRRORED) {
		char *text = file_read(dir, functions_family.pids, NULL);

		functions = text && *text >= '0' && *text <= '9';
		free(text);
	}
	return functions ? add(dir, &functions_family, s) : 0;
}

int pidfilter_remove(int dir, const struct pids *s, int functions)
{
	if (!s->n)
		return 0;
	if (put(dir, events.no_pids, s, 0) < 0)
		return -1;
	return functions ? put(dir, functions_family.no_pids, s, 0) : 0;
}

/*
 * A child that is born between the read of the events' list and the write of the
 * functions' list is missing in the latter. So read the events' list again, until it has
 * no new pid. The kernel follows the forks of all pids that were written before.
 */
int pidfilter_mirror(int dir)
{
	const struct family *f = &functions_family;
	struct pids known = { 0 }, now = { 0 };
	int r = get(dir, events.no_pids, &now);

	if (!r)
		r = ctl_write(dir, f->fork, "1", 0);
	if (!r && now.n)
		r = put(dir, f->no_pids, &now, 0);
	while (!r) {
		pids_clear(&now);
		r = get(dir, events.pids, &now);
		pids_minus(&now, &known);
		if (r || !now.n)
			break;
		r = put(dir, f->pids, &now, 0);
		if (!r)
			r = pids_plus(&known, &now);
	}
	pids_clear(&known);
	pids_clear(&now);
	return r;
}

int pidfilter_list(int dir, struct pids *out)
{
	struct pids no = { 0 };

	if (get(dir, events.pids, out) < 0 || get(dir, events.no_pids, &no) < 0)
		return -1;
	pids_minus(out, &no);
	pids_clear(&no);
	return 0;
}

int pidfilter_excluded(int dir, struct pids *out)
{
	return get(dir, events.no_pids, out);
}
