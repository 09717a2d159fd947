// SPDX-License-Identifier: Apache-2.0
//
// Containers of the cluster's core, which links no C++ runtime: a list that grows at its end, and a window of numbered
// records of which the oldest are dropped. numbered.hpp has a third container. One owner at a time. Elements move when
// a container grows, so keep their numbers, not their addresses.
#pragma once

#include "base/report.hpp"

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace marline::offload::cluster {

template <class T>
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
    std::free(items_);
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
    push(std::move(item));
    for (size_t i = count_ - 1; i > at; --i) std::swap(items_[i], items_[i - 1]);
  }

  void erase(size_t at) {
    for (size_t i = at; i + 1 < count_; ++i) items_[i] = std::move(items_[i + 1]);
    pop();
  }

  void pop() { items_[--count_].~T(); }
  void clear() {
    while (count_ != 0) pop();
  }

  void swap(List& other) {
    std::swap(items_, other.items_);
    std::swap(count_, other.count_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void widen() {
    size_t wider = capacity_ == 0 ? 4 : capacity_ * 2;
    auto* moved = static_cast<T*>(std::malloc(wider * sizeof(T)));
    if (moved == nullptr) fatal("no memory for a list of %zu entries about the cluster's tasks", wider);
    for (size_t i = 0; i < count_; ++i) {
      new (&moved[i]) T(std::move(items_[i]));
      items_[i].~T();
    }
    std::free(items_);
    items_ = moved;
    capacity_ = wider;
  }

  T* items_ = nullptr;
  size_t count_ = 0, capacity_ = 0;
};

// Records numbered from 0 on. The records below `first` are gone. The memory is bounded by the distance between the
// oldest record that is still needed and the newest one: a task that stays for long keeps the records of all tasks
// created since.
template <class T>
class Window {
 public:
  Window() = default;
  Window(Window&&) = default;
  Window& operator=(Window&&) = default;

  uint64_t first() const { return first_; }
  uint64_t end() const { return end_; }
  bool has(uint64_t number) const { return number >= first_ && number < end_; }
  T& operator[](uint64_t number) {
    assert(has(number));
    return ring_[number & (ring_.count() - 1)];
  }

  // Returns the record; makes new ones for all numbers up to it.
  T& reach(uint64_t number) {
    while (end_ <= number) {
      if (end_ - first_ == ring_.count()) widen();
      ring_[end_++ & (ring_.count() - 1)] = T();
    }
    return (*this)[number];
  }

  void drop_first() {
    (*this)[first_] = T();
    ++first_;
  }

 private:
  void widen() {
    List<T> wider;
    size_t count = ring_.count() == 0 ? 16 : ring_.count() * 2;
    for (size_t i = 0; i < count; ++i) wider.push(T());
    for (uint64_t i = first_; i < end_; ++i) wider[i & (count - 1)] = std::move((*this)[i]);
    ring_.swap(wider);
  }

  List<T> ring_;
  uint64_t first_ = 0, end_ = 0;
};

}  // namespace marline::offload::cluster
