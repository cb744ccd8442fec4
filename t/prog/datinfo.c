/* SPDX-License-Identifier: ISC */
/*
 * datinfo - print what lib/tracedat/read.c reads in a trace.dat of version 6 or 7
 *
 *	datinfo FILE
 * It prints, one line each: "version N", "layout PAGE DATA LONG little|big",
 * "format SYSTEM BYTES", "symbols BYTES", "printk BYTES", "names N",
 * "buffer NAME CLOCK PAGE", "cpu N PAGES EVENTS". Exit: 111 and one line on
 * stderr if FILE cannot be read or is not complete.
 */
#include <stdio.h>

#include "base/base.h"
#include "event/event.h"
#include "tracedat/tracedat.h"

static int print_format(void *arg, const char *system, const char *text, size_t n)
{
	(void)arg;
	printf("format %s:%.*s %zu\n", system, (int)strcspn(text + 6 * (n > 6), "\n"),
	       text + 6 * (n > 6), n);
	return 0;
}

int main(int argc, char **argv)
{
	struct comms comms = { 0 };
	struct dat d;

	program_name = "datinfo";
	if (argc != 2 || dat_file(&d, argv[1]) < 0 || dat_read_head(&d) < 0)
		return 111;
	printf("version %u\nlayout %u %u %u %s\ncpus %u\n", d.version, d.layout.size,
	       d.layout.data, d.layout.commit_size, d.layout.big ? "big" : "little", d.cpus);
	if (dat_formats(&d, print_format, NULL) < 0 || dat_comms(&d, &comms) < 0)
		return 111;
	printf("symbols %llu\nprintk %llu\nnames %zu\n", (unsigned long long)d.kallsyms.n,
	       (unsigned long long)d.printk.n, comms.n);
	for (size_t i = 0; i < d.nbuffers; i++) {
		const struct dat_buffer *b = &d.buffers[i];

		printf("buffer '%s' %s %zu\n", b->name, b->clock, b->subbuf_size);
		for (size_t j = 0; j < b->ncpus; j++) {
			struct subbuf_format l = d.layout;
			size_t subbufs = 0, events = 0;
			struct dat_subbufs p;
			const void *subbuf;

			l.size = (uint32_t)b->subbuf_size;
			dat_subbufs_begin(&p, &d, b, &b->cpus[j]);
			for (; (subbuf = dat_subbufs_next(&p)); subbufs++)
				events += subbuf_count(&l, subbuf, b->subbuf_size);
			dat_subbufs_end(&p);
			if (p.failed)
				return 111;
			printf("cpu %u %zu %zu\n", b->cpus[j].cpu, subbufs, events);
		}
	}
	comms_clear(&comms);
	dat_close(&d);
	return d.cut ? 111 : 0;
}
