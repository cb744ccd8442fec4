/* SPDX-License-Identifier: ISC */
/*
 * twists - functions by hand for chains, whose frames are as only hand-written code has them
 *
 * Each calls the function that its argument points to. Each but the last two has what a debugger
 * needs to find the caller: where its frame begins (CFA), and where rbp was put.
 */
#ifdef __x86_64__

#define DEF_CFA_EXPRESSION 0x0f
#define EXPRESSION 0x10
#define VAL_EXPRESSION 0x16
#define RBP 6
#define OP_BREG_RSP 0x77
#define OP_DEREF 0x06
#define OP_CONST1U 0x08
#define OP_PLUS_UCONST 0x23
#define OP_XOR 0x27

	.text

	.macro begin name
	.p2align 4
	.globl twist_\name
	.type twist_\name, @function
twist_\name:
	.endm

	.macro end name
	.size twist_\name, . - twist_\name
	.endm

	/* the stack grows between pushes */
	begin pushes
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	push %rbx
	.cfi_adjust_cfa_offset 8
	xor %ebp, %ebp
	sub $16, %rsp
	.cfi_adjust_cfa_offset 16
	push %rdi
	.cfi_adjust_cfa_offset 8
	call *%rdi
	pop %rdi
	.cfi_adjust_cfa_offset -8
	add $16, %rsp
	.cfi_adjust_cfa_offset -16
	pop %rbx
	.cfi_adjust_cfa_offset -8
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	end pushes

	/* the frame is found by r12 */
	begin held
	.cfi_startproc
	push %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov %rsp, %r12
	.cfi_def_cfa_register %r12
	and $-64, %rsp
	mov $1, %ebp
	call *%rdi
	mov %r12, %rsp
	.cfi_def_cfa_register %rsp
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	pop %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	ret
	.cfi_endproc
	end held

	/* rbp lies far from the begin of the frame */
	begin saved_low
	.cfi_startproc
	sub $1032, %rsp
	.cfi_adjust_cfa_offset 1032
	mov %rbp, 16(%rsp)
	.cfi_rel_offset %rbp, 16
	lea 64(%rsp), %rbp
	call *%rdi
	mov 16(%rsp), %rbp
	.cfi_restore %rbp
	add $1032, %rsp
	.cfi_adjust_cfa_offset -1032
	ret
	.cfi_endproc
	end saved_low

	/* the stack pointer of the begin lies on the stack: CFA = *(rsp + 8) + 8 */
	begin expression
	.cfi_startproc
	mov %rsp, %rax
	.cfi_def_cfa_register %rax
	sub $200, %rsp
	and $-64, %rsp
	mov %rax, 8(%rsp)
	.cfi_escape DEF_CFA_EXPRESSION, 5, OP_BREG_RSP, 8, OP_DEREF, OP_PLUS_UCONST, 8
	call *%rdi
	mov 8(%rsp), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	end expression

	/* so does rbp, somewhere below the begin */
	begin spilled
	.cfi_startproc
	mov %rsp, %rax
	.cfi_def_cfa_register %rax
	push %rbx
	.cfi_offset %rbx, -16
	push %rbp
	.cfi_offset %rbp, -24
	sub $264, %rsp
	and $-32, %rsp
	mov %rax, 24(%rsp)
	.cfi_escape DEF_CFA_EXPRESSION, 5, OP_BREG_RSP, 24, OP_DEREF, OP_PLUS_UCONST, 8
	xor %ebp, %ebp
	call *%rdi
	mov 24(%rsp), %rcx
	.cfi_def_cfa %rcx, 8
	mov -16(%rcx), %rbp
	.cfi_restore %rbp
	mov -8(%rcx), %rbx
	.cfi_restore %rbx
	mov %rcx, %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	end spilled

	/* the return address is in rbx, and not on the stack */
	begin in_register
	.cfi_startproc
	mov (%rsp), %rax
	.cfi_register %rip, %rax
	mov %rbx, (%rsp)
	.cfi_rel_offset %rbx, 0
	mov %rax, %rbx
	.cfi_register %rip, %rbx
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call *%rdi
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	mov %rbx, %rcx
	.cfi_register %rip, %rcx
	mov (%rsp), %rbx
	.cfi_restore %rbx
	mov %rcx, (%rsp)
	.cfi_offset %rip, -8
	ret
	.cfi_endproc
	end in_register

	/* it calls behind the end of a shorter way out */
	begin remembered
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	lea -32(%rsp), %rbp
	sub $48, %rsp
	.cfi_def_cfa_offset 64
	test %rdi, %rdi
	jnz 1f
	.cfi_remember_state
	add $48, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
1:	call *%rdi
	add $48, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	end remembered

	/* rbp lies where a word of the stack points to */
	begin offset
	.cfi_startproc
	sub $120, %rsp
	.cfi_adjust_cfa_offset 120
	mov %rbp, 80(%rsp)
	lea 80(%rsp), %rax
	mov %rax, 8(%rsp)
	.cfi_escape EXPRESSION, RBP, 3, OP_BREG_RSP, 8, OP_DEREF
	mov %rsp, %rbp
	call *%rdi
	mov 80(%rsp), %rbp
	.cfi_restore %rbp
	add $120, %rsp
	.cfi_adjust_cfa_offset -120
	ret
	.cfi_endproc
	end offset

	/* rbp is computed: *(rsp + 8) ^ 0x55 */
	begin value
	.cfi_startproc
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	mov %rbp, %rax
	xor $0x55, %rax
	mov %rax, 8(%rsp)
	.cfi_escape VAL_EXPRESSION, RBP, 6, OP_BREG_RSP, 8, OP_DEREF, OP_CONST1U, 0x55, OP_XOR
	xor %ebp, %ebp
	call *%rdi
	mov 8(%rsp), %rbp
	xor $0x55, %rbp
	.cfi_restore %rbp
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	end value

	/* it says that nothing called it, as _start does */
	begin undefined
	.cfi_startproc
	.cfi_undefined %rip
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	call *%rdi
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	end undefined

	/* these two say nothing */
	begin bare
	sub $56, %rsp
	call *%rdi
	add $56, %rsp
	ret
	end bare

	begin bare_frame
	push %rbp
	mov %rsp, %rbp
	sub $32, %rsp
	call *%rdi
	leave
	ret
	end bare_frame
#endif

	.section .note.GNU-stack, "", %progbits
