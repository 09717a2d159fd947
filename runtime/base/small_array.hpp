// SPDX-License-Identifier: Apache-2.0
//
// An array that grows at its end, for plain data on a stack. It contains its first elements, so that short arrays cost
// no allocation. One owner.
#pragma once

#include "base/check.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace marline {

template <class T, size_t kInside = 32>
class SmallArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);

 public:
  // `what`: the name of the elements, in the plural, for the message if there is no memory for them.
  explicit SmallArray(const char* what) : what_(what) {}
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;
  ~SmallArray() {
    if (items_ != inside_) std::free(items_);
  }

  void push(const T& item) {
    if (count_ == capacity_) [[unlikely]] {
      widen();
    }
    items_[count_++] = item;
  }

  [[nodiscard]] const T* items() const { return items_; }  // valid until the next push
  [[nodiscard]] size_t count() const { return count_; }

 private:
  [[gnu::noinline]] void widen() {
    size_t wider = capacity_ * 2;
    auto* moved = static_cast<T*>(std::malloc(wider * sizeof(T)));
    if (moved == nullptr) fatal("no memory for %zu %s", wider, what_);
    std::memcpy(moved, items_, count_ * sizeof(T));
    if (items_ != inside_) std::free(items_);
    items_ = moved;
    capacity_ = wider;
  }

  const char* what_;
  T inside_[kInside];
  T* items_ = inside_;
  size_t count_ = 0, capacity_ = kInside;
};

}  // namespace marline
