/* SPDX-License-Identifier: ISC */
/* urgent.c - run before the programs that a trace is about */
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"

static int policy(void)
{
	return (int)syscall(SYS_sched_getscheduler, 0);
}

int urgent_begin(void)
{
	static const struct sched_param first = { .sched_priority = 1 };

	if (policy() != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) > 0)
		return 0;
	/* sched_setscheduler(2) of musl does nothing */
	return !syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first);
}

void urgent_end(void)
{
	static const struct sched_param none;

	syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
}
