/* SPDX-License-Identifier: ISC */
/* instances.c - ftrace: a session has an instance and, outside of it, dynamic events */

#include "tracefs/tracefs.h"
#include "session/session.h"

extern const struct instance_kind ftrace_instances;

static int release(int instances, const char *name)
{
	return probes_end_session(instances, name + strlen(INSTANCE_PREFIX));
}

const struct instance_kind ftrace_instances = { INSTANCE_PREFIX, release };
