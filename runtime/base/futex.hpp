// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on a 32-bit word, private to the process (futex(2)). All functions preserve errno. They are not inline: if
// they were inlined into a function that switches fibers, the compiler could keep the address of errno across the
// switch, and it would then be another thread's.
#pragma once

#include "base/atomic.hpp"

namespace marline {

// Sleeps while `word` holds `expected`. May return early without a reason: check the word again.
void futex_wait(Atomic<uint32_t>& word, uint32_t expected);

// The same, for at most `nanoseconds`. False: the time ran out.
bool futex_wait_for(Atomic<uint32_t>& word, uint32_t expected, uint64_t nanoseconds);

// Wakes up to `count` sleepers. The word may have been freed already (a waker may lose the race with the sleeper's
// end): the kernel uses only its address, and a thread that sleeps at this address now wakes early, which futex_wait
// allows.
void futex_wake(Atomic<uint32_t>& word, int count);

}  // namespace marline
