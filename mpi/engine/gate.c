/* SPDX-License-Identifier: Apache-2.0
 *
 * A gate that spins, and then sleeps on a futex.
 */
#include "engine/gate.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kClosed, kOpen, kSleeping };
enum { kSpins = 200 };

void futex_wait(_Atomic uint32_t* word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void futex_wait_for(_Atomic uint32_t* word, uint32_t expected, uint32_t nanoseconds) {
  const struct timespec limit = {.tv_nsec = nanoseconds};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &limit, NULL, 0);
}

void futex_wake(_Atomic uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

/* Acquire, here and below: pairs with the release in gate_open. */
bool gate_is_open(const Gate* gate) { return atomic_load_explicit(&gate->state, memory_order_acquire) == kOpen; }

void gate_wait(Gate* gate) {
  for (int i = 0; i < kSpins; ++i) {
    if (gate_is_open(gate)) return;
    spin_pause();
  }
  uint32_t state = kClosed;
  atomic_compare_exchange_strong_explicit(&gate->state, &state, kSleeping, memory_order_acquire, memory_order_acquire);
  while (!gate_is_open(gate)) futex_wait(&gate->state, kSleeping);
}

void gate_open(Gate* gate) {
  /* The gate may no longer exist after the exchange. The wake-up then goes to whatever is at that address: it wakes
   * no thread, or a thread too early, which every thread that sleeps on a futex expects. */
  if (atomic_exchange_explicit(&gate->state, kOpen, memory_order_release) == kSleeping) futex_wake(&gate->state);
}
