/* SPDX-License-Identifier: ISC */
/* code.h - parts of the code of an instruction (RFC 9669), for emit.c and asm.c */
#ifndef BPF_CODE_H
#define BPF_CODE_H

/* Classes of instructions, and the bits that select a variant. */
enum { BPF_LD = 0x00, BPF_LDX = 0x01, BPF_ST = 0x02, BPF_STX = 0x03, BPF_ALU32 = 0x04,
       BPF_JMP = 0x05, BPF_JMP32 = 0x06, BPF_ALU64 = 0x07, BPF_CLASS = 0x07 };
enum { MEMORY = 0x60, ATOMIC = 0xc0, BY_REGISTER = 0x08, WIDE = 0x18, TO_BIG = 0xd0 | 0x08,
       CALL = 0x80, EXIT = 0x90, MAY_GOTO = 0xe0, MAP_DESCRIPTOR = 1,
       MAP_VALUE = 2, FUNCTION = 1, KERNEL_FUNCTION = 2, CMPXCHG = 0xf1 };

/* The scope of the name of a function of the kernel, which is no label */
enum { KERNEL_NAME = 0xffff };

#endif
