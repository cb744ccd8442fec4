/* SPDX-License-Identifier: ISC */
/* recorded.c - what a trace.dat says about its recording */
#include "base/base.h"
#include "event/event.h"
#include "front.h"
#include "tracedat/tracedat.h"

void recorded_losses(const char *path)
{
	unsigned long long over = 0, cut = 0;
	struct dat d;

	if (dat_file(&d, path) < 0 || dat_read_head(&d) < 0)
		return;
	for (size_t i = 0; i < d.nbuffers; i++) {
		over += d.buffers[i].lost;
		cut += d.buffers[i].unwritten;
	}
	dat_close(&d);
	if (over || cut)
		err_note("lost %llu events: %llu overwritten in a full buffer, %llu not written; "
			 "a larger %s keeps more", over + cut, over, cut,
			 cut > over ? "--size" : "--buffer");
}
