// SPDX-License-Identifier: Apache-2.0
//
// A growing array for plain data. Its first elements lie in the object itself, so a short array needs no allocation.
// One owner at a time. Elements move when the array grows: keep indices, not addresses.
#pragma once

#include "base/report.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace marline::offload {

template <class T, uint32_t kInside = 8>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (items_ != inside()) std::free(items_);
  }

  T& operator[](uint32_t i) { return items_[i]; }
  T* begin() { return items_; }
  T* end() { return items_ + count_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + count_; }
  uint32_t count() const { return count_; }

  void push(const T& item) {
    if (count_ == capacity_) widen();
    items_[count_++] = item;
  }

  void insert(uint32_t at, const T& item) {
    push(item);
    std::memmove(static_cast<void*>(items_ + at + 1), items_ + at, (count_ - 1 - at) * sizeof(T));
    items_[at] = item;
  }

  void shrink(uint32_t count) { count_ = count; }

 private:
  T* inside() { return reinterpret_cast<T*>(room_); }

  void widen() {
    uint32_t wider = capacity_ * 2;
    void* old = items_ == inside() ? nullptr : items_;
    auto* moved = wider < capacity_ ? nullptr : static_cast<T*>(std::realloc(old, size_t{wider} * sizeof(T)));
    if (moved == nullptr) fatal("no memory for a list of %u entries about device data", wider);
    if (old == nullptr) std::memcpy(static_cast<void*>(moved), room_, count_ * sizeof(T));
    items_ = moved;
    capacity_ = wider;
  }

  alignas(T) char room_[kInside * sizeof(T)];
  T* items_ = inside();
  uint32_t count_ = 0;
  uint32_t capacity_ = kInside;
};

}  // namespace marline::offload
