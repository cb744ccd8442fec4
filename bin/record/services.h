/* SPDX-License-Identifier: ISC */
/* services.h - lines that say which process, service and container a task is of */
#ifndef SERVICES_H
#define SERVICES_H

#include "event/event.h"

/*
 * A trace that is read later needs the services of processes that have ended by then. So the stream
 * of --json and --header looks at a process at its first event, and again after an exec, and prints
 *
 *	{"task":8,"process":7,"container":{"id":"4f2a..."},"resource":{"service.name":"shop"}}
 *	{"task":9,"thread_of":8}
 *	{"task":10,"of":8}
 *
 * before the events of the task: the second one is of another thread of the process, and the third
 * one of a process that task 8 has made. A process that has ended before the look has no line.
 */
enum { SERVICES_ROOM = 4096 };

/* Begin for a new reader, who knows no task. */
void services_begin(void);

/* Print what a record tells of its task, in 2 * SERVICES_ROOM bytes. Return the length. */
size_t services_record(struct event_set *, const struct record *, char *buf);

/* Print the line of a task that is traced. Return its length. */
size_t services_task(int32_t pid, char *buf);

#endif
