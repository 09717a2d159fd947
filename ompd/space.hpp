// SPDX-License-Identifier: Apache-2.0
//
// An address space: a process on Marline, or its core file. The library reads it by the debugger's callbacks only, and
// keeps nothing of it but the table of places (common/ompd_layout.hpp). So what a handle leads to is as new as the
// process. A handle is an address in the process; it is good until what it stands for ends. The debugger calls the
// library from one thread at a time.
#pragma once

#include "../common/ompd_layout.hpp"
#include "types.hpp"

#include <cstddef>

namespace marline::ompd {

extern Callbacks callbacks;  // all null before ompd_initialize, and after ompd_finalize

struct Space {
  SpaceContext* context;
  OmpdLayout layout;
};

struct Thread {
  const Space* space;
  uint64_t worker;
};

struct Parallel {
  const Space* space;
  uint64_t team;
};

// `fiber`: the fiber that the task is on, 0: not known. `around`: the Member of the innermost region that the task's
// thread is in, 0: not known. Both only say which task was interrupted for this one (tasks.cpp).
struct Task {
  const Space* space;
  uint64_t task, fiber, around;
};

// Memory in the debugger. Null: the debugger has none.
void* allocate(size_t bytes);

// Returns a copy of `value` in the debugger's memory, as a handle.
template <class T>
Rc hand_out(const T& value, T** handle) {
  auto* memory = static_cast<T*>(allocate(sizeof(T)));
  if (memory == nullptr) return Rc::kNoMemory;
  *memory = value;
  *handle = memory;
  return Rc::kOk;
}

template <class T>
Rc release(T* handle) {
  if (handle == nullptr) return Rc::kStaleHandle;
  return callbacks.free_memory == nullptr ? Rc::kError : callbacks.free_memory(handle);
}

// Reads an address space. After an error every read gives 0, and rc() tells of the first error: a function reads what
// it needs and looks once. A null pointer in the process leads to kUnavailable: what it stands for is not there.
class Reader {
 public:
  explicit Reader(const Space& space) : space_(space) {}

  [[nodiscard]] Rc rc() const { return rc_; }
  [[nodiscard]] const OmpdLayout& layout() const { return space_.layout; }

  void fail(Rc rc) {
    if (rc_ == Rc::kOk) rc_ = rc;
  }
  void bytes(uint64_t at, size_t count, void* result);
  // The member `field` of the structure at `at`, with its sign or without.
  int64_t number(uint64_t at, OmpdField field);
  uint64_t word(uint64_t at, OmpdField field);
  uint64_t pointer(uint64_t at) { return word(at, {0, sizeof(uint64_t)}); }
  // A text of the process, of at most `size` - 1 characters.
  void text(uint64_t at, char* buffer, size_t size);

 private:
  const Space& space_;
  Rc rc_ = Rc::kOk;
};

}  // namespace marline::ompd
