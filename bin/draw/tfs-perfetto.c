/* SPDX-License-Identifier: ISC */
/*
 * tfs-perfetto - convert a trace.dat or event lines to a Perfetto trace
 *
 * Requires: only the trace. A trace.dat contains all that is needed, so any machine will do.
 * The output is a message Trace of Perfetto's schema, protos/perfetto/trace/trace.proto. Each
 * record of a FILE becomes one FtraceEvent. With several files, each file is a machine. The n-th
 * -a belongs to the n-th file after the first file. Without -a, the dates of the files tell how
 * far their clocks are apart.
 * Without a FILE, standard input has event lines, as text or JSON. Slices show decoded system
 * calls, latencies with lat=MICROSECONDS, the waits of tasks, the windows of followed requests,
 * the ends of their messages, and markers of Android. An arrow goes from the send of a message to
 * its receive. Any other event is an instant. tfs-perfetto then ignores SIGINT, so that the
 * program that makes the trace can finish first.
 * Exit: 0 done, 1 standard input has no event, 100 usage error, 111 the trace could not be read or
 * is damaged, and the readable part was converted; 141 the reader is gone.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracedat/tracedat.h"
#include "seen/seen.h"
#include "perfetto.h"

static const struct tool tool = { TOOL_TFS_PERFETTO };

/* Return seconds in ns. Exit with a usage error for another argument. */
static int64_t nanoseconds(const char *word)
{
	struct decimal v;
	int64_t ns;

	if (decimal_parse(&v, (struct text_part){ word, strlen(word) }) < 0 ||
	    v.whole > INT64_MAX / 2000000000)
		opt_refuse(&tool, "a number of seconds");
	ns = (int64_t)v.whole * 1000000000 + v.nano;
	return v.negative ? -ns : ns;
}

/* By how much the clock of this file is ahead of that of the first one, as their dates tell. */
static int64_t ahead_by_dates(const struct dat *first, const struct dat *d)
{
	if (first->dated && d->dated)
		return (int64_t)(((uint64_t)first->offset - (uint64_t)d->offset) * 1000);
	err_note("%s: its clock is not adjusted; give -a, or record with -d", d->path);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t *ahead = xcalloc((size_t)argc + 1, sizeof(*ahead));
	unsigned n, given = 0;
	int status = DONE;
	struct dat *dats;

	while (opt_next(&tool, argc, argv) != -1)
		ahead[++given] = nanoseconds(opt_value);
	n = (unsigned)(argc - opt_index);
	if (given && n <= given)
		usage_error(&tool, "too few files; -a is for each file but the first");
	if (isatty(STDOUT_FILENO))
		usage_error(&tool, "standard output is a terminal; append >FILE");
	if (!n) {
		input_file(NULL, &tool, argv + opt_index);
		return perfetto_lines();
	}
	dats = xcalloc(n, sizeof(*dats));
	for (unsigned i = 0; i < n; i++)
		if (dat_file(&dats[i], argv[opt_index + (int)i]) < 0)
			return REFUSED;
	/* the files may be hostile */
	confine();
	for (unsigned i = 0; i < n; i++) {
		if (dat_read_head(&dats[i]) < 0)
			return REFUSED;
		if (dats[i].cut)
			status = REFUSED;
		if (i > given)
			ahead[i] = ahead_by_dates(&dats[0], &dats[i]);
	}
	for (; packets.machine < n; packets.machine++)
		if (perfetto_file(&dats[packets.machine], ahead[packets.machine]) != DONE)
			status = REFUSED;
	packets_write();
	return status;
}
