/* SPDX-License-Identifier: ISC */
/* bpf.c - BPF programs as instructions */
#include <errno.h>
#include <unistd.h>

#include "bpf/bpf.h"
#include "unit.h"

static void test_jump(void)
{
	static struct bpf_code c;
	char why[64];

	emit_jump(&c, "end");
	emit_exit(&c, 7);
	emit_label(&c, "end");
	emit_exit(&c, 8);
	EQUAL(emit_resolve(&c, why, sizeof(why)), 0);
	EQUAL(c.n, 5);
	EQUAL(c.v[0].off, 2);
	EQUAL(c.v[1].imm, 7);
	EQUAL(c.v[3].imm, 8);
}

/* A jump in a scope reaches a label of the scope, or else one outside, but no other scope's. */
static void test_scope(void)
{
	static struct bpf_code c;
	char why[64];

	for (int i = 0; i < 2; i++) {
		emit_scope(&c);
		emit_jump(&c, "here"); /* 0 and 2 */
		emit_label(&c, "here");
		emit_jump(&c, "outside"); /* 1 and 3 */
		emit_label(&c, "inside");
		emit_scope_end(&c);
	}
	emit_label(&c, "here");
	emit_label(&c, "outside");
	emit_exit(&c, 0);
	EQUAL(emit_resolve(&c, why, sizeof(why)), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(c.v[2 * i].off, 0);
		EQUAL(c.v[2 * i + 1].off, 2 - 2 * i);
	}
	emit_jump(&c, "inside");
	EQUAL(emit_resolve(&c, why, sizeof(why)), -1);
	EQUAL_TEXT(why, "it has no label inside");
}

/* A program that is too long is refused, and writes nothing after the struct. */
static void test_too_long(void)
{
	static struct { struct bpf_code code; unsigned after; } s = { .after = 42 };
	static const struct bpf_load_as k = { .kind = PROGRAM_KPROBE };
	char why[64] = "";

	for (int i = 0; i < CODE_MOST; i++)
		emit_jump(&s.code, "nowhere");
	EQUAL(s.code.n, CODE_MOST);
	emit_jump(&s.code, "nowhere");
	errno = 0;
	EQUAL(bpf_load(&s.code, "long", &k, why, sizeof(why)), -1);
	EQUAL(errno, E2BIG);
	EQUAL_TEXT(why, "it has more than 4096 instructions");
	EQUAL(s.after, 42);
}

/* A kernel that has the functions takes a program that lets no other task run, and calls one. */
static void test_alone(void)
{
	static struct bpf_code c;
	static const struct bpf_load_as k = { .kind = PROGRAM_RAW_TRACEPOINT };
	struct bpf_alone alone;
	struct btf btf;
	char why[256] = "";
	int fd;

	if (btf_read(&btf, "/sys/kernel/btf/vmlinux") < 0)
		return;
	btf_alone(&btf, &alone);
	btf_free(&btf);
	bpf_begin(&c, NULL, &alone);
	emit_call(&c, FN_KTIME_GET_NS);
	emit_jump_if_imm(&c, R0, JEQ, 0, "exit");
	emit_alone(&c);
	emit_call_function(&c, "function");
	emit_out(&c, 0);
	EQUAL(c.n, alone.disable ? 13 : 5);
	emit_function(&c, "function");
	emit_exit(&c, 0);
	fd = bpf_load(&c, "alone", &k, why, sizeof(why));
	if (fd >= 0)
		close(fd);
	else if (errno != EPERM)
		EQUAL_TEXT(why, "");
}

int main(void)
{
	TEST(jump);
	TEST(scope);
	TEST(too_long);
	TEST(alone);
	return unit_end();
}
