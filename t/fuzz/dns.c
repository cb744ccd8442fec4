/* SPDX-License-Identifier: ISC */
/*
 * dns.c - messages of DNS, and the queries in the calls of a trace
 *
 * Input: m and a message; or else a byte that selects options, and the lines of a trace.
 */
#include "again.h"

#define main tool_main
#include "../../bin/filter/tfs-dns.c"
#undef main

/* The text that is made of a message is printable and bounded. */
static void check_message(const uint8_t *data, size_t size)
{
	struct dns_message m = { 0 };
	uint8_t *v = copy_of(data, size);
	size_t addresses = 0;
	char room[DNS_WORD];

	if (dns_read(&m, v, size)) {
		must(size >= DNS_LEAST + 5);
		must(m.name.n && m.name.n == strlen(m.name.text) && m.name.n <= 4 * 255);
		for (const char *s = m.name.text; *s; s++)
			must(*s > ' ' && *s < 0x7f);
		must(!m.addresses.text[strspn(m.addresses.text, "0123456789abcdef.:,")]);
		for (const char *s = m.addresses.text; *s; s++)
			addresses += *s == ',';
		must(addresses <= m.answers && addresses * 16 <= size);
		must(strlen(dns_type(m.type, room)) < DNS_WORD);
		must(strlen(dns_code(m.code, room)) < DNS_WORD);
	}
	free(m.name.text);
	free(m.addresses.text);
	free(v);
}

static void check(const char *out, size_t n, int status, const char *line)
{
	must_be_clean(out, n);
	(void)status;
	(void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[] = { "", "-f", "-j", "-js5", "-p53,1", NULL };
	static const struct again again = { tool_main, lines, check };

	if (size && *data == 'm')
		check_message(data + 1, size - 1);
	else
		run_again(&again, data, size);
	return 0;
}
