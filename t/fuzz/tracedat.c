/* SPDX-License-Identifier: ISC */
/*
 * tracedat.c - a trace.dat, damaged or not
 *
 * Input: the file. Everything that is read must lie inside the file, and must be the same
 * when it is read twice.
 */
#include <sys/mman.h>

#include "fuzz.h"

static int count_format(void *arg, const char *system, const char *text, size_t n)
{
	size_t *bytes = arg;

	must(strlen(system) < 256 && !text[n]);
	*bytes += n;
	return 0;
}

static void inside(const struct dat *d, struct dat_extent e)
{
	must(e.at <= d->size && e.n <= d->size - e.at);
}

static void check_subbufs(const struct dat *d, const struct dat_buffer *b,
			  const struct dat_cpu *cpu)
{
	struct subbuf_format l = d->layout;
	struct dat_subbufs p;
	const void *subbuf;
	uint64_t n = 0;

	l.size = (uint32_t)b->subbuf_size;
	inside(d, cpu->subbufs);
	must(!(cpu->subbufs.n % b->subbuf_size));
	dat_subbufs_begin(&p, d, b, cpu);
	while ((subbuf = dat_subbufs_next(&p))) {
		char *copy = copy_of(subbuf, b->subbuf_size);

		must(subbuf_count(&l, copy, b->subbuf_size) <= b->subbuf_size / 8);
		free(copy);
		n += b->subbuf_size;
	}
	must(!p.failed && n == cpu->subbufs.n);
	dat_subbufs_end(&p);
}

static void check(const struct dat *d)
{
	size_t bytes = 0, again = 0;
	struct comms comms = { 0 };
	int r;

	must(d->version == 6 || d->version == 7);
	must(d->layout.data + 4 <= d->layout.size);
	inside(d, d->ftrace);
	inside(d, d->events);
	inside(d, d->kallsyms);
	inside(d, d->printk);
	inside(d, d->cmdlines);
	r = dat_formats(d, count_format, &bytes);
	must(!r && !dat_formats(d, count_format, &again) && bytes == again);
	must(bytes <= d->ftrace.n + d->events.n);
	must(!dat_comms(d, &comms) && comms.n <= d->cmdlines.n / 3 + 1);
	comms_clear(&comms);
	for (size_t i = 0; i < d->nbuffers; i++) {
		const struct dat_buffer *b = &d->buffers[i];

		must(b->subbuf_size >= d->layout.data + 4);
		for (size_t j = 0; j < b->ncpus && j < 64; j++)
			check_subbufs(d, b, &b->cpus[j]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dat d;
	int r;

	memory_file(data, size);
	listen_to_stderr();
	r = dat_file(&d, memory_path) < 0 ? -1 : dat_read_head(&d);
	must_be_said(!r && d.cut ? -1 : r);
	if (!r) {
		check(&d);
		dat_close(&d);
	}
	return 0;
}
