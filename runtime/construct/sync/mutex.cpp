// SPDX-License-Identifier: Apache-2.0
//
// Locks, and their events for tools. If a task waits for a lock, the first event comes on the thread on which the task
// asks for the lock, the second on the thread on which it gets the lock. These may be two threads.
#include "construct/sync/mutex.hpp"

#include "exec/worker/announce.hpp"
#include "exec/worker/runtime.hpp"

namespace marline {

namespace {

ompt::State state_of(tool::Mutex kind) {
  switch (kind) {
    case tool::Mutex::kCritical: return ompt::State::kWaitCritical;
    case tool::Mutex::kAtomic: return ompt::State::kWaitAtomic;
    case tool::Mutex::kOrdered: return ompt::State::kWaitOrdered;
    default: return ompt::State::kWaitLock;
  }
}

uint64_t id(const void* address) { return reinterpret_cast<uint64_t>(address); }

void store_nest_lock(void* storage, NestLock* lock) { std::memcpy(storage, &lock, sizeof lock); }

// The task has acquired the lock, and now owns it `depth` times.
void announce_nest_acquired(tool::Mutex kind, const void* storage, uint32_t depth, const void* codeptr) {
  if (depth == 1) {
    tool::mutex_acquired(kind, id(storage), codeptr);
  } else {
    tool::nest_lock(tool::Endpoint::kBegin, id(storage), codeptr);
  }
}

}  // namespace

// A program may initialise locks before any other call has started the runtime.
void announce_lock_init(tool::Mutex kind, unsigned hint, const void* storage, const void* codeptr) {
  runtime_start();
  if (!tool::on(tool::event::kLock)) return;
  this_worker();  // the tool must be notified of the thread first
  tool::lock_init(kind, hint, id(storage), codeptr);
}

void mutex_acquire_reporting(LockWord& word, tool::Mutex kind, unsigned hint, const void* codeptr) {
  this_worker();  // this may be the program's first call of the runtime
  bool is_reported = tool::on(tool::event::kMutex);
  if (is_reported) tool::mutex_acquire(kind, hint, id(&word), codeptr);
  begin_wait(this_worker(), state_of(kind), &word);
  lock_acquire(word);
  end_wait(this_worker());
  if (is_reported) tool::mutex_acquired(kind, id(&word), codeptr);
}

[[gnu::noinline]] void mutex_release_reporting(LockWord& word, tool::Mutex kind, const void* codeptr) {
  lock_release(word);
  tool::mutex_released(kind, id(&word), codeptr);
}

bool mutex_try_reporting(LockWord& word, const void* codeptr) {
  this_worker();
  tool::mutex_acquire(tool::Mutex::kTestLock, 0, id(&word), codeptr);
  bool taken = lock_try(word);
  if (taken) tool::mutex_acquired(tool::Mutex::kTestLock, id(&word), codeptr);
  return taken;
}

void nest_mutex_init(void* storage, unsigned hint, const void* codeptr) {
  store_nest_lock(storage, nest_lock_create());
  if (tool::on(tool::event::kLock)) announce_lock_init(tool::Mutex::kNestLock, hint, storage, codeptr);
}

void nest_mutex_destroy(void* storage, const void* codeptr) {
  nest_lock_destroy(nest_lock_in(storage));
  store_nest_lock(storage, nullptr);
  if (tool::on(tool::event::kLock)) tool::lock_destroy(tool::Mutex::kNestLock, id(storage), codeptr);
}

[[gnu::noinline]] uint32_t nest_mutex_acquire_reporting(void* storage, const void* codeptr) {
  this_worker();  // as in mutex_acquire_reporting
  bool is_reported = tool::on(tool::event::kMutex);
  if (is_reported) tool::mutex_acquire(tool::Mutex::kNestLock, 0, id(storage), codeptr);
  begin_wait(this_worker(), ompt::State::kWaitLock, storage);
  uint32_t depth = nest_lock_acquire(nest_lock_in(storage));
  end_wait(this_worker());
  if (is_reported) announce_nest_acquired(tool::Mutex::kNestLock, storage, depth, codeptr);
  return depth;
}

uint32_t nest_mutex_try(void* storage, const void* codeptr) {
  bool is_reported = tool::on(tool::event::kMutex);
  if (is_reported) tool::mutex_acquire(tool::Mutex::kTestNestLock, 0, id(storage), codeptr);
  uint32_t depth = nest_lock_try(nest_lock_in(storage));
  if (is_reported && depth != 0) announce_nest_acquired(tool::Mutex::kTestNestLock, storage, depth, codeptr);
  return depth;
}

[[gnu::noinline]] void nest_mutex_release_reporting(void* storage, const void* codeptr) {
  uint32_t depth = nest_lock_release(nest_lock_in(storage));
  if (depth == 0) {
    tool::mutex_released(tool::Mutex::kNestLock, id(storage), codeptr);
  } else {
    tool::nest_lock(tool::Endpoint::kEnd, id(storage), codeptr);
  }
}

}  // namespace marline
