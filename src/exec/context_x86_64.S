// SPDX-License-Identifier: Apache-2.0
//
// The context switch, x86-64 (System V psABI, section 3.2.1): callee-saved registers and the stack pointer. MXCSR and the
// x87 control word are callee-saved too, but loading them costs tens of cycles: exec/fp_control.hpp does it when they
// differ. The two stacks have the same layout at the switch, so one set of unwind information serves before and after.
#if defined(__x86_64__)
	.text

// void marline_switch(void** save_sp, void* load_sp)
	.globl marline_switch
	.hidden marline_switch
	.type marline_switch, @function
	.p2align 4
marline_switch:
	.cfi_startproc
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	pushq %r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	pushq %r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	pushq %r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r15
	popq %r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r14
	popq %r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	popq %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	popq %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	popq %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size marline_switch, . - marline_switch

// Where a new fiber's first switch returns to: calls %r12(%rbx), which never returns. An undefined return address ends
// the stack for unwinders.
	.globl marline_fiber_start
	.hidden marline_fiber_start
	.type marline_fiber_start, @function
	.p2align 4
marline_fiber_start:
	.cfi_startproc
	.cfi_undefined %rip
	movq %rbx, %rdi
	xorl %ebp, %ebp
	callq *%r12
	ud2
	.cfi_endproc
	.size marline_fiber_start, . - marline_fiber_start

	.section .note.GNU-stack, "", @progbits
#endif
