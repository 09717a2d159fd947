// SPDX-License-Identifier: Apache-2.0
//
// An array that grows at its end, for records of plain data. It keeps its memory from one use to the next. One owner at
// a time. Elements move when the array grows, so keep indices, not addresses.
#pragma once

#include "base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace marline {

template <class T>
struct Array {
  static_assert(std::is_trivially_copyable_v<T>);

  T* items = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;

  T& operator[](uint32_t i) { return items[i]; }
  const T& operator[](uint32_t i) const { return items[i]; }
  T* begin() { return items; }
  T* end() { return items + count; }
  T& last() { return items[count - 1]; }

  // Appends the item; returns its index.
  uint32_t push(const T& item) {
    if (count == capacity) widen();
    items[count] = item;
    return count++;
  }

  void clear() { count = 0; }

  void free() {
    std::free(items);
    *this = {};
  }

 private:
  void widen() {
    constexpr uint32_t kFirst = 64;
    uint32_t wider = capacity == 0 ? kFirst : capacity * 2;
    if (wider < capacity) fatal("a record of more than %u entries", capacity);
    auto* moved = static_cast<T*>(std::realloc(static_cast<void*>(items), size_t{wider} * sizeof(T)));
    if (moved == nullptr) fatal("no memory for a record of %u entries", wider);
    items = moved;
    capacity = wider;
  }
};

}  // namespace marline
