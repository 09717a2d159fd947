// SPDX-License-Identifier: Apache-2.0
//
// How many equal communicators were made: a hash table that grows with its entries. An entry goes with its parent,
// whose identity is part of its key and never comes again. One thread at a time, under a lock of the owner's; MPI is
// not called.
#pragma once

#include <cstdint>

namespace marline::trace {

struct Made {
  Made* next;      // in its bucket
  Made* previous;  // null: the first
  Made* sibling;   // the next of the same parent
  uint64_t key;
  uint64_t count;
};

class MadeBefore {
 public:
  // How many were made with this key, this one counted. A new entry is put in front of `siblings`, unless that is null.
  // 0 if there is no memory.
  uint64_t count(uint64_t key, Made** siblings);

  // Takes these out, and those behind them by `sibling`.
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
