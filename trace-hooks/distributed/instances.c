/* SPDX-License-Identifier: ISC */
/* instances.c - distributed: a session has an instance and, outside of it, a request probe */
#include "requests/requests.h"
#include "session/session.h"

extern const struct instance_kind distributed_instances;

static int release(int instances, const char *name)
{
	(void)instances;
	return dt_end_session(name);
}

const struct instance_kind distributed_instances = { DT_INSTANCE_PREFIX, release };
