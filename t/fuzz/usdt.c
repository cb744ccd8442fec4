/* SPDX-License-Identifier: ISC */
/*
 * usdt.c - the USDT probes of a program or library, damaged or not
 *
 * Input: the file. The places and counters of all probes are inside the file, their names
 * are printable, and the translated arguments have only the characters of the kernel's
 * syntax.
 */

#include "control/usdt.h"
#include "fuzz.h"

static size_t length;

static int one(void *arg, const struct elf_usdt *u)
{
	struct strbuf fetch = { 0 }, other = { 0 };

	(void)arg;
	must(u->offset < length);
	must(u->counter < length);
	for (const char *s = u->provider; *s; s++)
		must(*s >= ' ' && *s <= '~');
	for (const char *s = u->name; *s; s++)
		must(*s >= ' ' && *s <= '~');
	usdt_args(u, &fetch, &other);
	must(!fetch.n || !fetch.text[strspn(fetch.text, "abcdefghijklmnopqrstuvwxyz"
					    "ABCDEF0123456789 =%\\+-():")]);
	must(!other.n || strlen(other.text) == other.n);
	free(fetch.text);
	free(other.text);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file file;
	char path[PATH_MAX];

	length = size;
	put_file("elf", data, size);
	str_format(path, sizeof(path), "%s/elf", place());
	listen_to_stderr();
	must(!elf_file_open(&file, path, path, 0));
	must_be_said(elf_each_usdt(&file, one, NULL));
	close(file.fd);
	return 0;
}
