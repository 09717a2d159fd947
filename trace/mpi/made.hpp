// SPDX-License-Identifier: Apache-2.0
//
// Counts how many equal communicators were made: a hash table that grows with its entries. An entry is removed with its
// parent; the parent's identity is part of its key and never comes again. One thread at a time, under a lock of the
// owner; MPI is not called.
#pragma once

#include <cstdint>

namespace marline::trace {

struct Made {
  Made* next;      // the next in its bucket
  Made* previous;  // null: the entry is the first
  Made* sibling;   // the next entry of the same parent
  uint64_t key;
  uint64_t count;
};

class MadeBefore {
 public:
  // How many communicators were made with this key, including this one. A new entry is put at the front of `siblings`,
  // unless that is null. Returns 0 if there is no memory.
  uint64_t count(uint64_t key, Made** siblings);

  // Removes this entry, and the entries that follow it by `sibling`.
  void forget(Made* siblings);

 private:
  Made** bucket_of(uint64_t key) const { return &buckets_[key & (size_ - 1)]; }  // keys are hashes
  void link(Made* entry);
  bool grow();

  Made** buckets_ = nullptr;
  uint64_t size_ = 0;  // a power of two, or 0 before the first entry
  uint64_t used_ = 0;
};

}  // namespace marline::trace
