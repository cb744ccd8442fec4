/* SPDX-License-Identifier: ISC */
/* recorded.c - what a trace.dat says about its recording */
#include "base/base.h"
#include "event/event.h"
#include "front.h"
#include "tracedat/tracedat.h"

void recorded_losses(const char *path, struct output *o)
{
	struct dat d;

	if (dat_file(&d, path) < 0 || dat_read_head(&d) < 0)
		return;
	o->lost = o->overwritten = 0;
	for (size_t i = 0; i < d.nbuffers; i++) {
		o->overwritten += d.buffers[i].lost;
		o->lost += d.buffers[i].lost + d.buffers[i].unwritten;
	}
	dat_close(&d);
}
