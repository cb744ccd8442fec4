/* SPDX-License-Identifier: ISC */
/*
 * tfs-metrics - add up the system calls of all tasks as metrics for Prometheus
 *
 * Requires: Linux 5.10 with CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS, root.
 * BPF programs count these calls, or without CALL all, their errors and their durations, until
 * SIGHUP, SIGINT, SIGTERM or SIGUSR1. Then tfs-metrics prints the metrics. Every counter begins at
 * 0 and grows until then. The programs end with the process, however it ends.
 * Exit: 0 done, 100 usage error, 111 refused.
 */
#include <poll.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "bpf/bpf.h"
#include "tracefs/tracefs.h"
#include "call_sums.h"

static int printing;
static unsigned long every;
static const char *output;

static const struct tool tool = {
	TOOL_TFS_METRICS,
	.places = (const struct opt_place[]){
		{ 'S', .flag = &printing }, { 'O', .flag = &metrics_open },
		{ 'i', .number = &every }, { 'o', .text = &output }, { 0 },
	},
};

static struct call_totals totals;
static uint64_t began;          /* the time of day in microseconds */

/* Return a counter that a program of another CPU may change. */
static uint64_t counter(const uint64_t *n)
{
	const volatile uint64_t *now = n;
	uint64_t value = *now, again;

	/* a machine of 32 bits reads it in two parts */
	for (; sizeof(long) < 8 && (again = *now) != value; value = again)
		;
	return value;
}

/* Add up what all CPUs have counted of a name. */
static struct call_sums sums_of(unsigned name)
{
	struct call_sums all = { 0 };

	for (unsigned cpu = 0; cpu < totals.cpus; cpu++) {
		const struct call_sums *s = &totals.sums[cpu * totals.room + name];

		all.ns += counter(&s->ns);
		all.untimed += counter(&s->untimed);
		for (unsigned k = 0; k <= METRICS_BUCKETS; k++)
			all.buckets[k] += counter(&s->buckets[k]);
	}
	return all;
}

static uint64_t timed(const struct call_sums *s)
{
	uint64_t n = 0;

	for (unsigned k = 0; k <= METRICS_BUCKETS; k++)
		n += s->buckets[k];
	return n;
}

/* Print since when a counter or histogram counts, as OpenMetrics has it. */
static void print_created(const char *family, const char *labels)
{
	if (metrics_open)
		stdout_print("%s_created{%s} %llu.%06u\n", family, labels,
			     (unsigned long long)began / 1000000, (unsigned)(began % 1000000));
}

static void print_counter(const char *family, const char *labels, uint64_t n)
{
	stdout_print("%s_total{%s} %llu\n", family, labels, (unsigned long long)n);
	print_created(family, labels);
}

/* Set the labels to the name of a call, and to an error unless it is 0. */
static const char *labels_of(const char *name, unsigned error)
{
	static const char *const keys[] = { "name", "error", NULL };
	static const char *const key[] = { "name", NULL };
	const char *known = error ? name_of_error(error) : NULL;
	static struct strbuf labels, values;

	strbuf_puts(strbuf_empty(&values), name);
	if (known)
		strbuf_format(&values, "\t%s", known);
	else if (error)
		strbuf_format(&values, "\t%u", error);
	metrics_labels(&labels, error ? keys : key, values.text);
	return labels.text;
}

/* An error of a call, and how often it was returned */
struct error_count {
	struct call_error key;
	uint64_t n;
};

static int by_call(const void *a, const void *b)
{
	const struct call_error *x = a, *y = b;

	return x->name != y->name ? ASCENDING(x->name, y->name) : ASCENDING(x->error, y->error);
}

/* Print how often each call has returned each error. */
static void print_errors(void)
{
	static struct error_count *errors;
	static size_t room;
	struct call_error key;
	size_t n = 0;

	for (const void *last = NULL; !bpf_next(totals.errors, last, &key); last = &key) {
		errors = xgrow(errors, n, &room, sizeof(*errors));
		errors[n].key = key;
		n += !bpf_lookup(totals.errors, &key, &errors[n].n);
	}
	if (n)
		qsort(errors, n, sizeof(*errors), by_call);
	metrics_family("tfs_call_errors_total", "counter", "Calls that failed.");
	for (size_t i = 0; i < n; i++)
		print_counter("tfs_call_errors",
			      labels_of(totals.names[errors[i].key.name], errors[i].key.error),
			      errors[i].n);
}

/* Print what is not in the sums. */
static void print_lacks(void)
{
	const struct call_lacks *l = totals.lacks;

	metrics_family("tfs_lost_calls_total", "counter",
		       "Calls that the kernel did not let the programs count.");
	print_counter("tfs_lost_calls", "", counter(&l->lost));
	metrics_family("tfs_full_map_total", "counter",
		       "Calls without a duration, and errors not counted, because a map was full.");
	print_counter("tfs_full_map", "map=\"tasks\"", counter(&l->tasks_full));
	print_counter("tfs_full_map", "map=\"errors\"", counter(&l->errors_full));
}

static void print_all(void)
{
	static struct call_sums sums[SUMS_NAMES];
	unsigned n = totals.n;
	char seconds[32];

	for (unsigned i = 0; i < n; i++)
		sums[i] = sums_of(i);
	metrics_family("tfs_calls_total", "counter", "Calls.");
	for (unsigned i = 0; i < n; i++)
		if (i < totals.given || timed(&sums[i]) + sums[i].untimed)
			print_counter("tfs_calls", labels_of(totals.names[i], 0),
				      timed(&sums[i]) + sums[i].untimed);
	print_errors();
	metrics_family("tfs_call_seconds", "histogram", "Durations of calls.");
	for (unsigned i = 0; i < n; i++) {
		const char *labels = labels_of(totals.names[i], 0);

		if (i >= totals.given && !timed(&sums[i]))
			continue;
		str_format(seconds, sizeof(seconds), "%llu.%09u",
			   (unsigned long long)sums[i].ns / 1000000000,
			   (unsigned)(sums[i].ns % 1000000000));
		metrics_histogram("tfs_call_seconds", labels, sums[i].buckets, seconds, 1);
		print_created("tfs_call_seconds", labels);
	}
	print_lacks();
	if (metrics_open)
		stdout_print("# EOF\n");
}

/* Replace the file by the metrics. The collector, which reads it, is another user. */
static int replace(const struct atomic_file *file)
{
	static struct strbuf text;
	const int fd = atomic_file_make(file);
	int r = fd < 0 ? err_errno("unable to write %s", file->path) : 0;

	stdout_collect(strbuf_empty(&text));
	print_all();
	stdout_collect(NULL);
	if (!r && (fd_write_all(fd, text.text, text.n) < 0 || fchmod(fd, 0644) < 0))
		r = err_errno("unable to write %s", file->path);
	r = r ? r : atomic_file_publish(file, fd);
	if (r)
		atomic_file_drop(file);
	fd_close(fd);
	return r;
}

static int put(const struct atomic_file *file)
{
	if (output)
		return replace(file);
	print_all();
	stdout_flush();
	return 0;
}

int main(int argc, char **argv)
{
	struct atomic_file file = { 0 };
	struct pollfd stop = { .events = POLLIN };
	long long next;
	int scratch;

	opt_next(&tool, argc, argv);
	for (char **name = argv + opt_index; *name; name++) {
		const char *call = syscall_of_name(*name);

		*name = call ? (char *)(size_t)call : *name;
	}
	if (printing) {
		bpf_print_only();
		if (sums_attach(&totals, argv + opt_index) < 0)
			return REFUSED;
		stdout_flush();
		return DONE;
	}
	if (output) {
		if (atomic_file_find(&file, &tool, output) < 0)
			return REFUSED;
		scratch = atomic_file_scratch(&file);
		if (scratch < 0)
			return err_errno("unable to write %s", output), REFUSED;
		atomic_file_try(&file, scratch);
		close(scratch);
	}
	stop.fd = wait_stop_signals();
	if (stop.fd < 0)
		return err_errno("unable to wait for signals"), REFUSED;
	began = (uint64_t)time_of_day_us();
	if (sums_attach(&totals, argv + opt_index) < 0)
		return REFUSED;
	for (next = time_now_ms(); every && !stop.revents;) {
		long long left;

		put(&file); /* if this fails, the next one may succeed: counters go on */
		next += (long long)every;
		do
			left = next - time_now_ms();
		while (poll(&stop, 1, left < 0 ? 0 : left < 60000 ? (int)left : 60000) <= 0 &&
		       left > 0);
	}
	while (!every && poll(&stop, 1, -1) <= 0)
		;
	return put(&file) < 0 ? REFUSED : DONE;
}
