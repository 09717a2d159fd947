// SPDX-License-Identifier: Apache-2.0
//
// All lock-free code uses Atomic<T> and the short order names below, and no other atomics. So a test can use another
// implementation with the same source: built with -DMARLINE_MODEL, the source takes Atomic and cpu_relax from a file
// "model_atomic.hpp" that the test provides (yield points at every access, tiny capacities). Stateless.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/build.hpp"

#ifdef MARLINE_MODEL
#include "model_atomic.hpp"
#else
namespace marline {

template <class T>
using Atomic = std::atomic<T>;

// For objects of the program, which are not declared atomic.
template <class T>
using AtomicRef = std::atomic_ref<T>;

// Tells the core that this is a spin loop.
inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `isb` rather than `yield`: `yield` does nothing on cores without SMT, and the loop would load the line all the
  // time.
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace marline
#endif

namespace marline {

inline constexpr std::size_t kCacheLine = 64;

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

// A signal handler on the same thread that sees a write after the fence also sees the writes before it. Costs nothing:
// only the compiler keeps the order.
inline void fence_signal() { std::atomic_signal_fence(std::memory_order_seq_cst); }

#if MARLINE_TSAN
// ThreadSanitizer does not model fences. A read-modify-write on one common word orders all callers at least as
// strongly, and ThreadSanitizer models it.
inline Atomic<uint32_t> tsan_fence_word{0};
inline void fence_seq_cst() { tsan_fence_word.fetch_add(1, seq_cst); }
#else
inline void fence_seq_cst() { std::atomic_thread_fence(seq_cst); }
#endif

}  // namespace marline
