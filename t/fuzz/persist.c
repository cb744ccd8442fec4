/* SPDX-License-Identifier: ISC */
/*
 * persist.c - the saved head of the last boot, damaged or not, and /proc/iomem
 *
 * Input: the text of `names`, a NUL, the text of /proc/iomem, a NUL, and formats.dat. A head that
 * can be read must make a head again that can be read.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "tracedat/tracedat.h"

/* Check that a proposed place for the ring buffer is aligned and inside of a range of memory. */
static void check_words(const char *words, unsigned long mb)
{
	const char *at = strstr(words, "$0x"), *end = words + strlen(words);
	uint64_t address;

	must(at && strstr(words, " trace_instance=tfs.boot^traceoff@0x"));
	at += 3;
	address = text_hex(&at, end);
	must(address && !(address % (2 << 20)));
	must(address + ((uint64_t)mb << 20) > address);
}

/* Write the head with an empty table, and read it. */
static void check_head(struct dat_head *h)
{
	struct bytes b = { 0 };
	uint64_t *table = calloc(2 * h->cpus + 1, sizeof(*table));
	struct dat d;

	must(table);
	must(!dat_head(h, &b, SIZE_MAX));
	dat_table(h, &b, table, table + h->cpus);
	memory_file((const uint8_t *)b.v, b.n);
	must(!dat_file(&d, memory_path) && !dat_read_head(&d));
	must(d.cpus == h->cpus && d.layout.size == h->layout.size);
	dat_close(&d);
	free(table);
	free(b.v);
}

static void clear_head(struct dat_head *h)
{
	for (size_t i = 0; i < h->nformats; i++) {
		free(h->formats[i].system);
		free(h->formats[i].text);
	}
	free(h->formats);
	free(h->clock);
	comms_clear(&h->comms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char state[PATH_MAX], file[PATH_MAX];
	struct persist *p = calloc(1, sizeof(*p));
	char *names = next_part(&data, &size), *iomem = next_part(&data, &size), words[256];
	int r;

	str_format(state, sizeof(state), "%s.state", place());
	mkdir(state, 0700);
	setenv("TFS_STATE", state, 1);
	str_format(file, sizeof(file), "%s/names", state);
	put_file(file, names, strlen(names));
	str_format(file, sizeof(file), "%s/formats.dat", state);
	put_file(file, data, size);

	listen_to_stderr();
	r = reserved_words(iomem, "x86_64", 20, words, sizeof(words));
	must_be_said(r);
	if (!r)
		check_words(words, 20);

	must(p && !persist_open(p));
	listen_to_stderr();
	r = persist_load(p);
	must_be_said(r < 0 || (r == 1 && p->saved.cut) ? -1 : 0);
	if (r == 1)
		check_head(&p->head);
	clear_head(&p->head);
	if (r == 1)
		dat_close(&p->saved);
	close(p->dir);
	free(p);
	free(names);
	free(iomem);
	return 0;
}
