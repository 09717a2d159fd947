// SPDX-License-Identifier: Apache-2.0
//
// A growing array. With kInside, its first elements lie in the object itself, so a short list needs no allocation. One
// owner at a time. Elements move when the list grows, so keep their indices, not their addresses. Bounded by memory:
// without it the program ends.
#pragma once

#include "base/report.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace marline::offload {

// The elements that lie in the list itself.
template <class T, size_t kInside>
struct ListRoom {
  alignas(T) char bytes[kInside * sizeof(T)];
  [[nodiscard]] T* at() { return reinterpret_cast<T*>(bytes); }
};
template <class T>
struct ListRoom<T, 0> {
  [[nodiscard]] constexpr T* at() { return nullptr; }
};

template <class T, size_t kInside = 0>
class List {
 public:
  List() = default;
  List(List&& other) noexcept { swap(other); }
  List& operator=(List&& other) noexcept {
    swap(other);
    return *this;
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    clear();
    if (items_ != room_.at()) std::free(items_);
  }

  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  T* begin() { return items_; }
  T* end() { return items_ + count_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + count_; }
  T& back() { return items_[count_ - 1]; }
  size_t count() const { return count_; }
  bool is_empty() const { return count_ == 0; }

  T& push(T item) {
    if (count_ == capacity_) widen();
    return *new (&items_[count_++]) T(std::move(item));
  }

  void insert(size_t at, T item) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      push(item);
      std::memmove(static_cast<void*>(items_ + at + 1), items_ + at, (count_ - 1 - at) * sizeof(T));
      items_[at] = item;
    } else {
      push(std::move(item));
      for (size_t i = count_ - 1; i > at; --i) std::swap(items_[i], items_[i - 1]);
    }
  }

  void erase(size_t at) {
    for (size_t i = at; i + 1 < count_; ++i) items_[i] = std::move(items_[i + 1]);
    pop();
  }

  void pop() { items_[--count_].~T(); }
  void shrink(size_t count) {
    while (count_ > count) pop();
  }
  void clear() { shrink(0); }

  void swap(List& other) {
    static_assert(kInside == 0, "elements in the list itself cannot change the list");
    std::swap(items_, other.items_);
    std::swap(count_, other.count_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void widen() {
    size_t wider = capacity_ == 0 ? 4 : capacity_ * 2;
    auto* moved = static_cast<T*>(std::malloc(wider * sizeof(T)));
    if (moved == nullptr) fatal("no memory for a list of %zu entries about devices", wider);
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (count_ != 0) std::memcpy(static_cast<void*>(moved), items_, count_ * sizeof(T));
    } else {
      for (size_t i = 0; i < count_; ++i) {
        new (&moved[i]) T(std::move(items_[i]));
        items_[i].~T();
      }
    }
    if (items_ != room_.at()) std::free(items_);
    items_ = moved;
    capacity_ = wider;
  }

  [[no_unique_address]] ListRoom<T, kInside> room_;
  T* items_ = room_.at();
  size_t count_ = 0, capacity_ = kInside;
};

}  // namespace marline::offload
