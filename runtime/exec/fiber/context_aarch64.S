// SPDX-License-Identifier: Apache-2.0
//
// The context switch, AArch64 (AAPCS64, sections 6.1.1 and 6.1.2): x19-x30, d8-d15 and the stack pointer. FPCR is
// handled in platform/fp_control.hpp. The two stacks have the same layout at the switch, so one set of unwind
// information is valid for both.
//
// SVE needs no more. A suspension is a call of an ordinary function, and such a function may change all of p0-p15, FFR
// and the upper parts of z0-z31. Only functions that take or return scalable vectors keep z8-z23 and p4-p15; their
// compilers save these registers before they call an ordinary function (sections 6.1.3 and 6.1.4;
// tests/programs/suspend/sve.c). SME is not provided for: a task must not suspend while ZA has values, because ZA and
// TPIDR2_EL0 stay with the thread. Streaming mode is off here, as at each call of an ordinary function.
#if defined(__aarch64__)
	.text

// Saves the registers of a context above its stack pointer. The first frames of exec/fiber/context.hpp have the same
// layout.
	.macro save_registers
	stp x29, x30, [sp, #-160]!
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -160
	.cfi_offset x30, -152
	stp x19, x20, [sp, #16]
	.cfi_offset x19, -144
	.cfi_offset x20, -136
	stp x21, x22, [sp, #32]
	.cfi_offset x21, -128
	.cfi_offset x22, -120
	stp x23, x24, [sp, #48]
	.cfi_offset x23, -112
	.cfi_offset x24, -104
	stp x25, x26, [sp, #64]
	.cfi_offset x25, -96
	.cfi_offset x26, -88
	stp x27, x28, [sp, #80]
	.cfi_offset x27, -80
	.cfi_offset x28, -72
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	.endm

// Tells unwinders that the registers are restored, right after the stack pointer has its old value again.
	.macro registers_are_restored
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x21
	.cfi_restore x22
	.cfi_restore x23
	.cfi_restore x24
	.cfi_restore x25
	.cfi_restore x26
	.cfi_restore x27
	.cfi_restore x28
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	.endm

// int marline_switch(void** save_sp, void* load_sp): 0
	.globl marline_switch
	.hidden marline_switch
	.type marline_switch, %function
	.p2align 4
marline_switch:
	.cfi_startproc
	save_registers
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	ldp d14, d15, [sp, #144]
	ldp d12, d13, [sp, #128]
	ldp d10, d11, [sp, #112]
	ldp d8, d9, [sp, #96]
	ldp x27, x28, [sp, #80]
	ldp x25, x26, [sp, #64]
	ldp x23, x24, [sp, #48]
	ldp x21, x22, [sp, #32]
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #160
	registers_are_restored
	mov w0, wzr
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
	.type marline_fiber_call, %function
	.p2align 4
marline_fiber_call:
	.cfi_startproc
	save_registers
	mov x19, sp
	str x19, [x2]
	mov x20, x5
	.cfi_remember_state
	.cfi_undefined x30
	mov sp, x3
	mov x29, xzr
	blr x4
	ldrb w9, [x20]
	cbz w9, 1f
	mov sp, x19
	.cfi_restore_state
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #160
	registers_are_restored
	mov w0, #1
	ret
1:
	.cfi_undefined x30
	bl marline_uncounted_ended
	brk #0
	.cfi_endproc
	.size marline_fiber_call, . - marline_fiber_call

// Where a new fiber's first switch returns to: calls x20(x19), which never returns. An undefined return address ends
// the stack for unwinders.
	.globl marline_fiber_start
	.hidden marline_fiber_start
	.type marline_fiber_start, %function
	.p2align 4
marline_fiber_start:
	.cfi_startproc
	.cfi_undefined x30
	mov x0, x19
	mov x29, xzr
	blr x20
	brk #0
	.cfi_endproc
	.size marline_fiber_start, . - marline_fiber_start

	.section .note.GNU-stack, "", %progbits
#endif
