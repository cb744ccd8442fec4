/* SPDX-License-Identifier: ISC */
/* recording.c - sessions that record in an instance of tracefs, whatever their subsystem */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager.h"

static int check_clock(const char *clock, int root)
{
	char *clocks = ctl_read(root, "trace_clock", NULL), *p, *save;
	int found = 0;

	if (!clocks)
		return complain_file("unable to read trace_clock");
	/* "[local] global counter": the brackets are around the current one */
	for (p = strtok_r(clocks, " []\n", &save); p; p = strtok_r(NULL, " []\n", &save))
		found |= !strcmp(p, clock);
	free(clocks);
	return found ? 0 : complain("--clock: this kernel has no clock %s; trace_clock "
				    "lists them", clock);
}

/*
 * A buffer that memory has no room for would be paid for by somebody else's
 * process: the kernel looks for one to kill.
 */
static int check_buffer(unsigned long kb, int root)
{
	/* not those that we may run on, which is what sysconf tells with musl */
	int per_cpu = openat(root, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned cpus = per_cpu < 0 ? 0 : cpu_count(per_cpu);
	unsigned long long most;
	char path[PATH_MAX], *text;
	const char *p;

	if (per_cpu >= 0)
		close(per_cpu);
	format(path, sizeof(path), "%s/meminfo", procfs());
	text = ctl_read(AT_FDCWD, path, NULL);
	p = text ? strstr(text, "MemAvailable:") : NULL;
	if (p)
		p += strcspn(p, "0123456789");
	most = p ? digits_at(&p) / 2 / (cpus ? cpus : 1) : ULLONG_MAX;
	free(text);
	if (kb <= most)
		return 0;
	return complain("--buffer: %lu KB for each of %u processors is more than half "
			"of the memory that is free; %llu would fit", kb, cpus, most);
}

int check_recording(const struct request *rq, int root)
{
	if (!ctl_exists(root, "instances"))
		return complain("this kernel has no instances; it needs CONFIG_TRACING");
	if (rq->clock && check_clock(rq->clock, root) < 0)
		return -1;
	return rq->buffer_kb ? check_buffer(rq->buffer_kb, root) : 0;
}

int make_recording(const struct request *rq, int instances, const char *name, const char *clock)
{
	int instance = owned_make(instances, name, 0750);
	char kb[32];

	if (instance < 0 && errno == EEXIST)
		return complain("instance %s exists already; give --instance another name", name);
	if (instance < 0)
		return complain_file("unable to make instance %s", name);
	format(kb, sizeof(kb), "%lu", rq->buffer_kb);
	if (ctl_write(instance, "tracing_on", "0", 0) < 0 ||
	    (rq->buffer_kb && ctl_write(instance, "buffer_size_kb", kb, 0) < 0) ||
	    (clock && ctl_write(instance, "trace_clock", clock, 0) < 0)) {
		instance_remove(instances, name, 0);
		close(instance);
		return -1;
	}
	return instance;
}

int leave_us_out(int instance)
{
	struct pids us = { 0 };
	struct task t;
	int r;

	if (task_read(task_self(), &t) < 0)
		return complain_errno("unable to find ourselves in %s", procfs());
	pids_add(&us, t.pid);
	pids_add(&us, t.ppid);
	r = pids_sort(&us);
	if (!r)
		r = ctl_write(instance, "options/event-fork", "1", 0);
	if (!r)
		r = pidfilter_remove(instance, &us, 0);
	pids_clear(&us);
	return r;
}
