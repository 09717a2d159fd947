// SPDX-License-Identifier: Apache-2.0
//
// Records by consecutive numbers, of which the oldest are dropped. Elements move when it grows, so keep their numbers,
// not their addresses.
#pragma once

#include "base/list.hpp"

#include <cassert>
#include <cstdint>
#include <utility>

namespace marline::offload::cluster {

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
