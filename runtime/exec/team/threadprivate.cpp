// SPDX-License-Identifier: Apache-2.0
//
// Makes, finds and destroys the threads' copies of threadprivate variables. Constructors and destructors of the program
// run here. They may use other threadprivate variables, so the mutex is recursive, and no pointer into a table is kept
// across such a call.
#include "exec/team/threadprivate.hpp"

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "../common/thread_id.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline {

struct ThreadprivateVariable {
  void* original;
  size_t bytes;  // 0: registered, not used yet
  ThreadprivateObject object;
  void* prototype;  // the original as it was at first; null where a constructor makes copies from nothing
  ThreadprivateVariable* next;
};

namespace {

constexpr size_t kBuckets = 256;  // chains grow with the program's variables; a thread looks up each of them once
constexpr size_t kFirstCapacity = 16;
constexpr size_t kLargestAlignment = 4096;

pthread_mutex_t g_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;  // the variables
ThreadprivateVariable* g_buckets[kBuckets];

class Lock {
 public:
  Lock() { pthread_mutex_lock(&g_mutex); }
  ~Lock() { pthread_mutex_unlock(&g_mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

template <class T>
T* zeroed(size_t count) {
  void* memory = std::calloc(count, sizeof(T));
  if (memory == nullptr) fatal("no memory (%zu bytes) for threadprivate variables", count * sizeof(T));
  return static_cast<T*>(memory);
}

// Aligned as the original is, as far as its address tells, and alone on its cache lines.
void* allocate_like(const void* original, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(original);
  size_t alignment = std::clamp<size_t>(address & (~address + 1), kCacheLine, kLargestAlignment);
  size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) fatal("no memory (%zu bytes) for a copy of a threadprivate variable", bytes);
  std::memset(memory, 0, rounded);
  return memory;
}

// Under the mutex.
ThreadprivateVariable* find_or_add(void* original) {
  ThreadprivateVariable*& bucket = g_buckets[mix64(reinterpret_cast<uintptr_t>(original)) % kBuckets];
  for (ThreadprivateVariable* one = bucket; one != nullptr; one = one->next) {
    if (one->original == original) return one;
  }
  auto* variable = zeroed<ThreadprivateVariable>(1);
  variable->original = original;
  variable->next = bucket;
  bucket = variable;
  return variable;
}

void copy_construct(const ThreadprivateObject& object, void* to, void* from) {
  if (object.copy != nullptr) {
    object.copy(to, from);
  } else {
    object.copy_vector(to, from, object.count);
  }
}

}  // namespace

void threadprivate_too_small(size_t bytes, size_t wanted) {
  fatal("a threadprivate variable of %zu bytes is used as one of %zu: declare it with one length everywhere", bytes,
        wanted);
}

namespace {

// The variable, with its prototype: its first user copies the prototype, before any thread can have changed the
// original.
ThreadprivateVariable* prepare(void* original, size_t bytes) {
  Lock lock;
  ThreadprivateVariable* variable = find_or_add(original);
  if (bytes > variable->bytes && variable->bytes != 0) threadprivate_too_small(variable->bytes, bytes);
  if (variable->bytes != 0) return variable;
  variable->bytes = bytes;
  if (variable->object.constructs()) return variable;
  variable->prototype = allocate_like(original, bytes);
  if (variable->object.copies()) {
    copy_construct(variable->object, variable->prototype, original);
  } else {
    std::memcpy(variable->prototype, original, bytes);
  }
  return variable;
}

void begin_copy(const ThreadprivateVariable* variable, void* copy) {
  const ThreadprivateObject& object = variable->object;
  if (object.construct != nullptr) {
    object.construct(copy);
  } else if (object.construct_vector != nullptr) {
    object.construct_vector(copy, object.count);
  } else if (object.copies()) {
    copy_construct(object, copy, variable->prototype);
  } else {
    std::memcpy(copy, variable->prototype, variable->bytes);
  }
}

void end_copy(const ThreadprivateVariable* variable, void* copy) {
  const ThreadprivateObject& object = variable->object;
  if (object.destroy != nullptr) {
    object.destroy(copy);
  } else if (object.destroy_vector != nullptr) {
    object.destroy_vector(copy, object.count);
  }
}

void place_copy(ThreadprivateCopies* copies, const ThreadprivateCopy& copy) {
  size_t i = mix64(reinterpret_cast<uintptr_t>(copy.original));
  while (copies->places[i & (copies->capacity - 1)].original != nullptr) ++i;
  copies->places[i & (copies->capacity - 1)] = copy;
}

void widen(ThreadprivateCopies* copies) {
  std::free(copies->places);
  copies->capacity = copies->capacity == 0 ? kFirstCapacity : copies->capacity * 2;
  copies->places = zeroed<ThreadprivateCopy>(copies->capacity);
  auto* order = zeroed<ThreadprivateCopy>(copies->capacity);
  for (size_t i = 0; i < copies->count; ++i) {
    order[i] = copies->order[i];
    place_copy(copies, order[i]);
  }
  std::free(copies->order);
  copies->order = order;
}

ThreadprivateCopies* copies_of(Worker* worker) {
  if (worker->threadprivate == nullptr) {
    auto* copies = zeroed<ThreadprivateCopies>(1);
    widen(copies);
    worker->threadprivate = copies;
  }
  return worker->threadprivate;
}

bool is_main_thread() { return thread_id() == getpid(); }

}  // namespace

void threadprivate_register(void* original, const ThreadprivateObject& object) {
  Lock lock;
  ThreadprivateVariable* variable = find_or_add(original);
  const ThreadprivateObject& has = variable->object;
  if (variable->bytes != 0 || has.constructs() || has.copies() || has.destroys()) return;
  variable->object = object;
}

[[gnu::noinline]] void* threadprivate_first_use(Worker* worker, void* original, size_t bytes) {
  ThreadprivateVariable* variable = prepare(original, bytes);
  ThreadprivateCopies* copies = copies_of(worker);
  bool main_thread = is_main_thread();
  ThreadprivateCopy copy{original, main_thread ? original : allocate_like(original, variable->bytes), variable,
                         variable->bytes};
  if (2 * (copies->count + 1) > copies->capacity) widen(copies);
  place_copy(copies, copy);
  copies->order[copies->count++] = copy;
  if (!main_thread) begin_copy(variable, copy.address);
  return copy.address;
}

void threadprivate_end_thread(Worker* worker) {
  ThreadprivateCopies* copies = worker->threadprivate;
  if (copies == nullptr) return;
  // A destructor may be the first to use another variable on this thread: that copy is then the newest one.
  for (size_t i = copies->count; i > 0;) {
    ThreadprivateCopy copy = copies->order[--i];
    if (copy.variable == nullptr) continue;
    copies->order[i].variable = nullptr;  // destroyed
    size_t before = copies->count;
    if (copy.address != copy.original) end_copy(copy.variable, copy.address);
    if (copies->count != before) i = copies->count;
  }
  for (size_t i = 0; i < copies->count; ++i) {
    const ThreadprivateCopy& copy = copies->order[i];
    if (copy.address != copy.original) std::free(copy.address);
  }
  std::free(copies->places);
  std::free(copies->order);
  std::free(copies);
  worker->threadprivate = nullptr;
}

void threadprivate_before_fork() { pthread_mutex_lock(&g_mutex); }
void threadprivate_after_fork_in_parent() { pthread_mutex_unlock(&g_mutex); }

// A recursive mutex knows its owner by the kernel's thread number, which fork has changed. So the unlock has no effect
// on the mutex; it only keeps ThreadSanitizer from taking the mutex to be held for ever.
void threadprivate_after_fork_in_child() {
  pthread_mutex_unlock(&g_mutex);
  const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  g_mutex = fresh;
}

}  // namespace marline
