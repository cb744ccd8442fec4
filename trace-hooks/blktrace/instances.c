/* SPDX-License-Identifier: ISC */
/* instances.c - blktrace: a session has an instance and, outside of it, the tracing of devices */
#include "block/blktrace.h"
#include "session/session.h"

extern const struct instance_kind blktrace_instances;

static int release(int instances, const char *name)
{
	(void)instances;
	return blk_end_session(name);
}

const struct instance_kind blktrace_instances = { BLK_INSTANCE_PREFIX, release };
