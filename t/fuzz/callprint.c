/* SPDX-License-Identifier: ISC */
/*
 * callprint.c - arguments and results of system calls with any values and user memory
 *
 * Input: an ABI, flags, the number of the call in two bytes, the result and six arguments in 8
 * bytes each, as far as they are there; then the user memory of all arguments. The text fits
 * its buffer, has no control characters, and does not depend on memory after the input.
 */
#include "fuzz.h"

static const char *const abis[] = { "x86_64", "i386", "aarch64", "arm", "s390x", "ppc64le",
				    "riscv64" };

static void check(const char *text, size_t n, size_t room)
{
	must(n <= room);
	for (size_t i = 0; i < n; i++)
		must(text[i] >= ' ' && text[i] <= '~');
	must(text[room] == '@');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct calls *tables[7];
	unsigned char head[4 + 7 * 8] = { 0 };
	size_t taken = size < sizeof(head) ? size : sizeof(head), room;
	struct call_values v = { 0 };
	const struct call *call;
	char text[1025], *user;
	struct calls *c;

	memcpy(head, data, taken);
	data += taken;
	size -= taken;
	if (!tables[head[0] % 7])
		tables[head[0] % 7] = calls_open(abis[head[0] % 7]);
	c = tables[head[0] % 7];
	must(c);
	call = calls_find(c, (unsigned)(head[2] | head[3] << 8) % (calls_most(c) + 2));
	if (!call)
		return 0;
	memcpy(&v.result, head + 4, 8);
	memcpy(v.args, head + 12, sizeof(v.args));
	v.returned = head[1] & 1;
	v.netlink = head[3] >> 4;
	user = malloc(size + 1);
	must(user);
	memcpy(user, data, size);
	for (unsigned i = 0; i < CALL_ARGS; i++)
		v.user[i] = (struct call_bytes){ .bytes = head[1] & 2 ? NULL : user, .n = size,
						 .cut = head[1] >> 2 & 1,
						 .fault = head[1] >> 3 & 1 };
	room = head[1] & 16 ? head[1] >> 5 : 1024;
	call = calls_match(call, v.args);
	must(call->nargs <= CALL_ARGS);
	for (unsigned i = 0; i < call->nargs; i++) {
		text[room] = '@';
		check(text, call_print(c, call, i, &v, text, room), room);
	}
	text[room] = '@';
	check(text, call_print_result(c, call, v.result, text, room), room);
	free(user);
	return 0;
}
