/* SPDX-License-Identifier: ISC */
/*
 * subject.c - events that are about another task than the one that runs
 *
 * The kernel's pid filter tests the task that runs when the event happens. For the events of this
 * table that is often or always another task: the one that wakes, migrates or kills, or one that
 * an interrupt has stopped. For sched_switch and wake-ups, trace_events.c tests both tasks.
 */

#include "base/base.h"
#include "select/select.h"

static const struct subject subjects[] = {
#include "subjects.h"
};

/* Return the row of an event; system NULL: of any system. */
static const struct subject *find(const char *system, size_t n, const char *event)
{
	for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		const struct subject *s = &subjects[i];

		if (!strcmp(s->event, event) &&
		    (!system || (strlen(s->system) == n && !strncmp(s->system, system, n))))
			return s;
	}
	return NULL;
}

const struct subject *subject_of(const char *system, const char *event)
{
	return find(system, strlen(system), event);
}

const struct subject *subject_named(const char *word)
{
	const char *colon = strchr(word, ':');

	return find(colon ? word : NULL, colon ? (size_t)(colon - word) : 0,
		    colon ? colon + 1 : word);
}
