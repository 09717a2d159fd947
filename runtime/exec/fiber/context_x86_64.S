// SPDX-License-Identifier: Apache-2.0
//
// The context switch, x86-64 (System V psABI, section 3.2.1): callee-saved registers and the stack pointer. MXCSR and
// the x87 control word are callee-saved too, but loading them costs tens of cycles: platform/fp_control.hpp does it
// when they differ. The two stacks have the same layout at the switch, so one set of unwind information serves before
// and after.
#if defined(__x86_64__)
	.text

// Saves the registers of a context above its stack pointer. The first frames of exec/fiber/context.hpp have the same
// layout.
	.macro save_registers
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
	.endm

// int marline_switch(void** save_sp, void* load_sp): 0
	.globl marline_switch
	.hidden marline_switch
	.type marline_switch, @function
	.p2align 4
marline_switch:
	.cfi_startproc
	save_registers
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
	xorl %eax, %eax
	ret
	.cfi_endproc
	.size marline_switch, . - marline_switch

// int marline_fiber_call(first, second, void** save_sp, void* top, void (*function)(), const bool* called)
// Saves the context as marline_switch does, and calls function(first, second) on the stack that ends at `top`. If
// *called is true when the function returns, returns 1: the callee-saved registers then have the values of the saved
// context. Else another fiber has switched to that context meanwhile, and it has got 0 as the result: then the end of
// the function goes to marline_uncounted_ended. For unwinders the other stack ends here.
	.globl marline_fiber_call
	.hidden marline_fiber_call
	.type marline_fiber_call, @function
	.p2align 4
marline_fiber_call:
	.cfi_startproc
	save_registers
	movq %rsp, (%rdx)
	movq %rsp, %rbx
	movq %r9, %r12
	.cfi_remember_state
	.cfi_undefined %rip
	movq %rcx, %rsp
	xorl %ebp, %ebp
	callq *%r8
	cmpb $0, (%r12)
	je 1f
	movq %rbx, %rsp
	.cfi_restore_state
	movq 24(%rsp), %r12
	.cfi_restore %r12
	movq 32(%rsp), %rbx
	.cfi_restore %rbx
	movq 40(%rsp), %rbp
	.cfi_restore %rbp
	.cfi_restore %r13
	.cfi_restore %r14
	.cfi_restore %r15
	addq $48, %rsp
	.cfi_adjust_cfa_offset -48
	movl $1, %eax
	ret
1:
	.cfi_undefined %rip
	callq marline_uncounted_ended
	ud2
	.cfi_endproc
	.size marline_fiber_call, . - marline_fiber_call

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
