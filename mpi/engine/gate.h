/* SPDX-License-Identifier: Apache-2.0
 *
 * A gate at which one thread waits, and which another thread opens, once. It is for threads that cannot suspend. A
 * zero-initialised gate is closed. It is on the stack of the thread that waits, and may no longer exist as soon as it
 * is open.
 */
#ifndef MARLINE_MPI_GATE_H
#define MARLINE_MPI_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Gate {
  _Atomic uint32_t state;
} Gate;

/* Returns when the gate is open: spins for some microseconds, then sleeps. The caller sees what was written before
 * the gate was opened. */
void gate_wait(Gate* gate);

void gate_open(Gate* gate);

/* Whether the gate is open: then the caller sees what was written before. For a thread that waits in its own way. */
bool gate_is_open(const Gate* gate);

/* A futex of this process. futex_wait_for() waits for at most `nanoseconds`, fewer than a second. */
void futex_wait(_Atomic uint32_t* word, uint32_t expected);
void futex_wait_for(_Atomic uint32_t* word, uint32_t expected, uint32_t nanoseconds);
void futex_wake(_Atomic uint32_t* word);

/* Tells the processor that the thread spins. */
static inline void spin_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
