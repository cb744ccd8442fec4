/* SPDX-License-Identifier: ISC */
/* bpf.c - BPF programs as instructions */
#include <errno.h>

#include "bpf/bpf.h"
#include "unit.h"

static void test_jump(void)
{
	static struct bpf_code c;

	emit_jump(&c, 3);
	emit_exit(&c, 7);
	emit_label(&c, 3);
	emit_exit(&c, 8);
	emit_resolve(&c);
	EQUAL(c.n, 5);
	EQUAL(c.v[0].off, 2);
	EQUAL(c.v[1].imm, 7);
	EQUAL(c.v[3].imm, 8);
}

/* A program that is too long is refused, and writes nothing behind the struct. */
static void test_too_long(void)
{
	static struct { struct bpf_code code; unsigned behind; } s = { .behind = 42 };
	static const struct bpf_load_as k = { .kind = PROGRAM_KPROBE };
	char why[64] = "";

	for (int i = 0; i < CODE_MOST; i++)
		emit_jump(&s.code, 1);
	EQUAL(s.code.n, CODE_MOST);
	emit_jump(&s.code, 1);
	errno = 0;
	EQUAL(bpf_load(&s.code, "long", &k, why, sizeof(why)), -1);
	EQUAL(errno, E2BIG);
	EQUAL_TEXT(why, "it has more than 1024 instructions");
	EQUAL(s.behind, 42);
}

int main(void)
{
	TEST(jump);
	TEST(too_long);
	return unit_end();
}
