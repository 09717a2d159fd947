// SPDX-License-Identifier: Apache-2.0
//
// Calls that inform a sanitizer in the process. A program that was built with -fsanitize=thread or -fsanitize=address
// contains the sanitizer's run time. Its functions are looked up by name, so that a plain libmarline also works with
// such programs. Without a sanitizer, each call here is a test of g_sanitized, which is written once, before the first
// worker.
//
// ThreadSanitizer: a fiber has its own clock and shadow stack. A switch of fibers orders nothing by itself. A tool
// (LLVM's Archer) tells ThreadSanitizer at OMPT's events what OpenMP orders, and the functions here tell it what
// Marline's own calls order. Two orders are in no event. First, tied tasks of one thread run one after the other and
// may share its threadprivate data. So the worker is a synchronisation object: tied tasks acquire it when they start or
// are resumed, and release it when they end or are suspended (exec/worker/run_task.cpp, exec/fiber/fiber.cpp). Untied
// tasks have only the order that OpenMP promises. Second, an iteration of a persistent graph begins when the last one,
// or the last but one, has ended: its group is a synchronisation object, too (construct/task/persistent_steps.cpp).
#pragma once

#include "base/build.hpp"

#include <cstddef>

namespace marline {

struct Sanitizers {
  void* (*tsan_current_fiber)() = nullptr;
  void* (*tsan_create_fiber)(unsigned flags) = nullptr;
  void (*tsan_destroy_fiber)(void* fiber) = nullptr;
  void (*tsan_switch_to_fiber)(void* fiber, unsigned flags) = nullptr;
  void (*tsan_acquire)(void* address) = nullptr;
  void (*tsan_release)(void* address) = nullptr;
  void (*asan_start_switch)(void** keep, const void* bottom, size_t size) = nullptr;
  void (*asan_finish_switch)(void* kept, const void** left_bottom, size_t* left_size) = nullptr;
  void (*asan_poison)(const volatile void* from, size_t bytes) = nullptr;
  void (*asan_unpoison)(const volatile void* from, size_t bytes) = nullptr;
};

extern Sanitizers g_sanitizers;
extern bool g_sanitized;  // a sanitizer is in the process

// Called when the library is loaded, and again by functions that may run before that.
void sanitizers_look_up();

inline bool tsan_present() { return g_sanitized && g_sanitizers.tsan_switch_to_fiber != nullptr; }
inline bool asan_present() { return g_sanitized && g_sanitizers.asan_start_switch != nullptr; }

// Fibers of ThreadSanitizer. Null without ThreadSanitizer.
inline void* tsan_current_fiber() { return tsan_present() ? g_sanitizers.tsan_current_fiber() : nullptr; }
inline void* tsan_create_fiber() { return tsan_present() ? g_sanitizers.tsan_create_fiber(0) : nullptr; }
inline void tsan_destroy_fiber(void* fiber) {
  if (fiber != nullptr) g_sanitizers.tsan_destroy_fiber(fiber);
}

// Called right before the stacks are switched. In line, because the shadow stack is the new fiber's from here on. If
// Marline itself is instrumented, its per-worker data needs the order of the thread.
[[gnu::always_inline]] inline void tsan_switch_to_fiber(void* fiber) {
  constexpr unsigned kNoSync = 1;
  if (tsan_present()) g_sanitizers.tsan_switch_to_fiber(fiber, MARLINE_TSAN ? 0 : kNoSync);
}

// What happens before the release is ordered before what follows an acquire of the same address.
inline void tsan_release(const void* address) {
  if (tsan_present()) [[unlikely]]
    g_sanitizers.tsan_release(const_cast<void*>(address));
}
inline void tsan_acquire(const void* address) {
  if (tsan_present()) [[unlikely]]
    g_sanitizers.tsan_acquire(const_cast<void*>(address));
}

// AddressSanitizer. asan_start_switch is called before the switch: `keep` receives the old fake stack; `bottom` and
// `size` are the new stack's. asan_finish_switch is called after the switch, on the new stack, with the fake stack that
// was kept for it.
[[gnu::always_inline]] inline void asan_start_switch(void** keep, const void* bottom, size_t size) {
  if (asan_present()) g_sanitizers.asan_start_switch(keep, bottom, size);
}
[[gnu::always_inline]] inline void asan_finish_switch(void* kept) {
  if (asan_present()) g_sanitizers.asan_finish_switch(kept, nullptr, nullptr);
}

// asan_poison: no thread may access the memory; asan_unpoison: threads may access it again.
inline void asan_poison(const void* from, size_t bytes) {
  if (asan_present()) [[unlikely]]
    g_sanitizers.asan_poison(from, bytes);
}
inline void asan_unpoison(const void* from, size_t bytes) {
  if (asan_present()) [[unlikely]]
    g_sanitizers.asan_unpoison(from, bytes);
}

}  // namespace marline
