// SPDX-License-Identifier: Apache-2.0
//
// Locks and critical sections as the program uses them: the locks of construct/sync/lock.hpp, with events for tools
// (OpenMP 5.2, section 19.5.2.13 and following). Any thread. Without a tool, a call costs the lock's own cost, one load
// and one branch. `codeptr` is for tools; the default is the return address of the entry point that calls the function.
// For tools, the name of a lock (ompt_wait_id_t) is the address that the program uses for it.
#pragma once

#include "construct/sync/lock.hpp"
#include "tool/tool.hpp"

#include <cstring>

namespace marline {

void mutex_acquire_reporting(LockWord& word, tool::Mutex kind, unsigned hint, const void* codeptr);
inline void mutex_acquire(LockWord& word, tool::Mutex kind, unsigned hint = 0,
                          const void* codeptr = __builtin_return_address(0)) {
  if (tool::present()) [[unlikely]] {
    mutex_acquire_reporting(word, kind, hint, codeptr);
  } else {
    lock_acquire(word);
  }
}

bool mutex_try_reporting(LockWord& word, const void* codeptr);
[[nodiscard]] inline bool mutex_try(LockWord& word, const void* codeptr = __builtin_return_address(0)) {
  return tool::on(tool::event::kMutex) ? mutex_try_reporting(word, codeptr) : lock_try(word);
}

void mutex_release_reporting(LockWord& word, tool::Mutex kind, const void* codeptr);
inline void mutex_release(LockWord& word, tool::Mutex kind, const void* codeptr = __builtin_return_address(0)) {
  if (tool::on(tool::event::kMutex)) [[unlikely]] {
    mutex_release_reporting(word, kind, codeptr);
  } else {
    lock_release(word);
  }
}

void announce_lock_init(tool::Mutex kind, unsigned hint, const void* storage, const void* codeptr);
inline void mutex_init(LockWord& word, unsigned hint = 0, const void* codeptr = __builtin_return_address(0)) {
  word.store(0, relaxed);
  if (tool::on(tool::event::kLock)) [[unlikely]] {
    announce_lock_init(tool::Mutex::kLock, hint, &word, codeptr);
  }
}

inline void mutex_destroy(const LockWord& word, const void* codeptr = __builtin_return_address(0)) {
  if (tool::on(tool::event::kLock)) [[unlikely]] {
    tool::lock_destroy(tool::Mutex::kLock, reinterpret_cast<uint64_t>(&word), codeptr);
  }
}

// Nestable locks. `storage` is the program's variable; its first eight bytes hold a pointer to the lock, and may be
// aligned to 4 only (GCC before 4.4). acquire and try return the depth, try returns 0 if another task owns the lock.
void nest_mutex_init(void* storage, unsigned hint = 0, const void* codeptr = __builtin_return_address(0));
void nest_mutex_destroy(void* storage, const void* codeptr = __builtin_return_address(0));
[[nodiscard]] uint32_t nest_mutex_try(void* storage, const void* codeptr = __builtin_return_address(0));

inline NestLock* nest_lock_in(const void* storage) {
  NestLock* lock;
  std::memcpy(&lock, storage, sizeof lock);
  return lock;
}

uint32_t nest_mutex_acquire_reporting(void* storage, const void* codeptr);
inline uint32_t nest_mutex_acquire(void* storage, const void* codeptr = __builtin_return_address(0)) {
  if (tool::present()) [[unlikely]] {
    return nest_mutex_acquire_reporting(storage, codeptr);
  }
  return nest_lock_acquire(nest_lock_in(storage));
}

void nest_mutex_release_reporting(void* storage, const void* codeptr);
inline void nest_mutex_release(void* storage, const void* codeptr = __builtin_return_address(0)) {
  if (tool::on(tool::event::kMutex)) [[unlikely]] {
    nest_mutex_release_reporting(storage, codeptr);
  } else {
    nest_lock_release(nest_lock_in(storage));
  }
}

}  // namespace marline
