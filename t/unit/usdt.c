/* SPDX-License-Identifier: ISC */
/* usdt.c - the arguments of USDT probes on several machines */
#include <elf.h>

#include "base/base.h"
#include "elf/elf.h"
#include "control/usdt.h"
#include "unit.h"

static struct strbuf fetch, other;

static void translate(unsigned machine, const char *args)
{
	struct elf_usdt u = { .args = args, .machine = machine };

	fetch.n = other.n = 0;
	strbuf_puts(&fetch, "");
	strbuf_puts(&other, "");
	usdt_args(&u, &fetch, &other);
}

#define READS(machine, args, wanted) do { \
	translate(machine, args); \
	EQUAL_TEXT(fetch.text, wanted); \
	EQUAL_TEXT(other.text, ""); \
} while (0)
#define LEAVES(machine, operand) do { \
	translate(machine, "4@" operand); \
	EQUAL_TEXT(fetch.text, ""); \
	EQUAL_TEXT(other.text, " arg1=4@" operand); \
} while (0)

static void test_x86(void)
{
	READS(EM_X86_64, "", "");
	READS(EM_X86_64, "-4@%eax 8@%rdi  2@%r10w -1@%sil 1@%al 4@%r8d 8@%r15 8@%rsp 2@%bp",
	      " arg1=%ax:s32 arg2=%di:u64 arg3=%r10:u16 arg4=%si:s8 arg5=%ax:u8 arg6=%r8:u32"
	      " arg7=%r15:u64 arg8=%sp:u64 arg9=%bp:u16");
	READS(EM_X86_64, "-4@$-7 8@$5 4@$0x1f", " arg1=\\-7:s32 arg2=\\5:u64 arg3=\\0x1f:u32");
	READS(EM_X86_64, "-4@-20(%rbp) 8@(%rax) 8@16(%r12)",
	      " arg1=-20(%bp):s32 arg2=+0(%ax):u64 arg3=+16(%r12):u64");
	READS(EM_386, "-4@8(%esp) 4@%ebx", " arg1=+8(%sp):s32 arg2=%bx:u32");
}

static void test_arm64(void)
{
	READS(EM_AARCH64, "-4@w3 8@x28 8@sp 4@5 -4@-1",
	      " arg1=%x3:s32 arg2=%x28:u64 arg3=%sp:u64 arg4=\\5:u32 arg5=\\-1:s32");
	READS(EM_AARCH64, "8@[sp, 16] -4@[x29,-8] 8@[x0] 4@w1",
	      " arg1=+16(%sp):u64 arg2=-8(%x29):s32 arg3=+0(%x0):u64 arg4=%x1:u32");
}

static void test_left_out(void)
{
	LEAVES(EM_X86_64, "%ah");
	LEAVES(EM_X86_64, "%rip");
	LEAVES(EM_X86_64, "%xmm0");
	LEAVES(EM_X86_64, "%r8x");
	LEAVES(EM_X86_64, "8(%rip)");
	LEAVES(EM_X86_64, "name(%rip)");
	LEAVES(EM_X86_64, "8(%rax,%rbx,4)");
	LEAVES(EM_X86_64, "8%rax");
	LEAVES(EM_X86_64, "5");
	LEAVES(EM_X86_64, "$");
	LEAVES(EM_X86_64, "(");
	LEAVES(EM_X86_64, "(%ax");
	LEAVES(EM_X86_64, "");
	LEAVES(EM_AARCH64, "d0");
	LEAVES(EM_AARCH64, "[x0, x1]");
	LEAVES(EM_AARCH64, "[x0");
	LEAVES(EM_AARCH64, "x");
	LEAVES(EM_AARCH64, "[");
	LEAVES(EM_S390, "%r2");
	translate(EM_X86_64, "3@%rax 8f@%xmm0 -@%eax 4 4@%ecx");
	EQUAL_TEXT(fetch.text, " arg5=%cx:u32");
	EQUAL_TEXT(other.text, " arg1=3@%rax arg2=8f@%xmm0 arg3=-@%eax arg4=4");
}

int main(void)
{
	TEST(x86);
	TEST(arm64);
	TEST(left_out);
	free(fetch.text);
	free(other.text);
	return unit_end();
}
