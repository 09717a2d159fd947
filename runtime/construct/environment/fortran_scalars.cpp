// SPDX-License-Identifier: Apache-2.0
//
// A hash set of addresses with open addressing, at most half full, under one lock: programs rarely allocate scalars.
// Its size follows the largest number of scalars that were allocated at the same time; it never shrinks.
#include "construct/environment/fortran_scalars.hpp"

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/spin_lock.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace marline {

namespace {

class AddressSet {
 public:
  void add(const void* address) {
    if (find(address) != nullptr) return;
    if (2 * (used_ + 1) > capacity_) widen();
    insert(address);
  }

  bool remove(const void* address) {
    const void** slot = find(address);
    if (slot == nullptr) return false;
    *slot = nullptr;
    --used_;
    // Inserts the addresses after the slot again, up to the next free slot: a search must not stop at the free slot
    // before it reaches them.
    for (size_t i = after(static_cast<size_t>(slot - slots_)); slots_[i] != nullptr; i = after(i)) {
      const void* moved = slots_[i];
      slots_[i] = nullptr;
      --used_;
      insert(moved);
    }
    return true;
  }

 private:
  size_t first(const void* address) const { return mix64(reinterpret_cast<uintptr_t>(address)) & (capacity_ - 1); }
  size_t after(size_t slot) const { return (slot + 1) & (capacity_ - 1); }

  const void** find(const void* address) {
    if (capacity_ == 0) return nullptr;
    for (size_t i = first(address); slots_[i] != nullptr; i = after(i)) {
      if (slots_[i] == address) return &slots_[i];
    }
    return nullptr;
  }

  void insert(const void* address) {
    size_t i = first(address);
    while (slots_[i] != nullptr) i = after(i);
    slots_[i] = address;
    ++used_;
  }

  void widen() {
    const void** old = slots_;
    size_t count = capacity_;
    capacity_ = count != 0 ? 2 * count : 64;
    slots_ = static_cast<const void**>(std::calloc(capacity_, sizeof *slots_));
    if (slots_ == nullptr) fatal("no memory for the addresses of %zu allocatable scalars", capacity_);
    used_ = 0;
    for (size_t i = 0; i < count; ++i) {
      if (old[i] != nullptr) insert(old[i]);
    }
    std::free(old);
  }

  const void** slots_ = nullptr;
  size_t capacity_ = 0, used_ = 0;  // a power of two
};

AddressSet g_scalars;
SpinLock g_lock;  // guards g_scalars

}  // namespace

void fortran_scalar_add(const void* memory) {
  Guard<SpinLock> guard(g_lock);
  g_scalars.add(memory);
}

bool fortran_scalar_take(const void* memory) {
  Guard<SpinLock> guard(g_lock);
  return g_scalars.remove(memory);
}

}  // namespace marline
