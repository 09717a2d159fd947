// SPDX-License-Identifier: Apache-2.0
//
// threadprivate variables of code that was built without thread-local storage (OpenMP 5.2, section 5.2): the compiler
// passes the address of the original variable and gets that of the thread's copy. The process's main thread has the
// original; every other thread gets a copy when it first asks, which it keeps from region to region until it ends.
//
// A thread's copies belong to its worker and are touched by it alone. The variables are the process's: added under one
// mutex, never removed, and what stands in them before the first copy is made does not change afterwards.
#pragma once

#include "base/hash.hpp"
#include "sched/team.hpp"

#include <cstddef>

namespace marline {

// How copies of a variable of class type are constructed and destroyed; a null function is not called. An array may
// have functions that take its number of elements instead.
struct ThreadprivateObject {
  void* (*construct)(void* copy) = nullptr;
  void* (*copy)(void* to, void* from) = nullptr;
  void (*destroy)(void* copy) = nullptr;
  void* (*construct_vector)(void* copy, size_t count) = nullptr;
  void* (*copy_vector)(void* to, void* from, size_t count) = nullptr;
  void (*destroy_vector)(void* copy, size_t count) = nullptr;
  size_t count = 0;

  bool constructs() const { return construct != nullptr || construct_vector != nullptr; }
  bool copies() const { return copy != nullptr || copy_vector != nullptr; }
  bool destroys() const { return destroy != nullptr || destroy_vector != nullptr; }
};

struct ThreadprivateVariable;

struct ThreadprivateCopy {
  const void* original;  // null: an empty place of the table
  void* address;
  ThreadprivateVariable* variable;
  size_t bytes;
};

// The copies of one thread by the address of the original: open addressing, at most half full.
struct ThreadprivateCopies {
  ThreadprivateCopy* places = nullptr;
  size_t capacity = 0;  // a power of two
  size_t count = 0;
  ThreadprivateCopy* order = nullptr;  // the same, oldest first; as long as `capacity`

  const ThreadprivateCopy* find(const void* original) const {
    for (size_t i = mix64(reinterpret_cast<uintptr_t>(original));; ++i) {
      const ThreadprivateCopy& place = places[i & (capacity - 1)];
      if (place.original == original) return &place;
      if (place.original == nullptr) return nullptr;
    }
  }
};

// Before the first copy is made; of two calls for one variable the first counts.
void threadprivate_register(void* original, const ThreadprivateObject& object);

// Ends the program: it uses `wanted` bytes of a variable, but the copies have `bytes`, because the program's units
// declare it with different lengths.
[[noreturn]] void threadprivate_too_small(size_t bytes, size_t wanted);

void* threadprivate_first_use(Worker* worker, void* original, size_t bytes);

// The calling thread's copy.
inline void* threadprivate_address(Worker* worker, void* original, size_t bytes) {
  if (const ThreadprivateCopies* copies = worker->threadprivate) {
    if (const ThreadprivateCopy* copy = copies->find(original)) {
      if (bytes > copy->bytes) [[unlikely]]
        threadprivate_too_small(copy->bytes, bytes);
      return copy->address;
    }
  }
  return threadprivate_first_use(worker, original, bytes);
}

// The calling thread ends: destroys its copies, newest first, and frees them.
void threadprivate_end_thread(Worker* worker);

// fork: no other thread is in the middle of adding a variable while it happens.
void threadprivate_before_fork();
void threadprivate_after_fork_in_parent();
void threadprivate_after_fork_in_child();

}  // namespace marline
