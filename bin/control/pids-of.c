/* SPDX-License-Identifier: ISC */
/*
 * pids-of - print the pids of a cgroup, container, user or name, one per line, ascending
 *
 * Requires: procfs ($TRACER_PROCFS_PATH, or /proc).
 * The operands are pids of further tasks. CGROUP is the cgroup's directory, its path as in
 * /proc/PID/cgroup, the last part of that path, or a PID, for the cgroup of that task.
 * A task is printed if at least one selector names it. pids-of reads procfs once.
 * Exit: 0 printed at least one, 1 no task matched, 100 usage error, 111 refused.
 */

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "proc/proc.h"

static const struct tool tool = { TOOL_PIDS_OF };

int main(int argc, char **argv)
{
	struct selector *selectors = xcalloc((size_t)argc, sizeof(*selectors));
	struct pids found = { 0 };
	size_t n = 0;
	int c, flags = 0;

	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case 'd':
			flags |= SELECT_DESCENDANTS;
			break;
		case 't':
			flags |= SELECT_THREADS;
			break;
		case 'c':
			if (!*opt_value)
				usage_error(&tool, "not a cgroup: ''");
			selectors[n++] = (struct selector){
				.kind = SELECT_CGROUP, .pid = text_pid(opt_value),
				.text = opt_value };
			break;
		case 'k':
			if (!*opt_value)
				usage_error(&tool, "not a container: ''");
			if (select_container(opt_value, &selectors[n++]) < 0)
				return REFUSED;
			break;
		case 'n':
			selectors[n++] = (struct selector){
				.kind = SELECT_PIDNS, .pid = text_pid(opt_value) };
			break;
		case 'u':
			selectors[n++] = (struct selector){
				.kind = SELECT_UID, .number = opt_number() };
			break;
		default:
			selectors[n++] = (struct selector){
				.kind = SELECT_COMM, .text = opt_value };
		}
	for (argv += opt_index; *argv; argv++)
		selectors[n++] = (struct selector){
			.kind = SELECT_PID, .pid = opt_pid(&tool, *argv) };
	if (!n)
		usage_error(&tool, "no pid and no selector; give at least one");
	c = select_pids(selectors, n, flags, &found);
	for (size_t i = 0; i < found.n; i++)
		stdout_print("%d\n", (int)found.v[i]);
	stdout_flush();
	c = c < 0 ? REFUSED : found.n ? DONE : err_no("no task is selected");
	pids_clear(&found);
	free(selectors);
	return c;
}
