// SPDX-License-Identifier: Apache-2.0
//
// A hash table of records by number, with linear probing, in which the hash is the number itself. Any record may be
// erased. Numbers are given out in turn, so records seldom collide. T has a member `number`; 0 marks a free place. One
// owner at a time. Records move when one is added or erased, so keep their numbers, not their addresses.
#pragma once

#include "base/list.hpp"

namespace marline::offload::cluster {

template <class T>
class Numbered {
 public:
  // Null: there is no such record.
  T* find(uint64_t number) {
    if (places_.is_empty()) return nullptr;
    for (size_t i = number & mask();; i = (i + 1) & mask()) {
      if (places_[i].number == number) return &places_[i];
      if (places_[i].number == 0) return nullptr;
    }
  }

  // Adds a record with this number. Its other members have their initial values.
  T& add(uint64_t number) {
    assert(number != 0 && find(number) == nullptr);
    if (2 * ++count_ > places_.count()) widen();
    return place(number);
  }

  void erase(T* record) {
    --count_;
    auto hole = static_cast<size_t>(record - places_.begin());
    *record = T();
    // A search ends at the first free place, so it would end at the hole. So a record after the hole moves into it,
    // unless the place at which its own search begins lies after the hole, too.
    for (size_t i = (hole + 1) & mask(); places_[i].number != 0; i = (i + 1) & mask()) {
      size_t own = places_[i].number & mask();
      if (((i - own) & mask()) < ((i - hole) & mask())) continue;
      places_[hole] = std::move(places_[i]);
      places_[i] = T();
      hole = i;
    }
  }

  [[nodiscard]] bool is_empty() const { return count_ == 0; }

  // The order is arbitrary, but the same in every run.
  template <class Visit>
  void for_each(const Visit& visit) {
    for (T& record : places_) {
      if (record.number != 0) visit(record);
    }
  }

 private:
  size_t mask() const { return places_.count() - 1; }

  T& place(uint64_t number) {
    size_t i = number & mask();
    while (places_[i].number != 0) i = (i + 1) & mask();
    places_[i].number = number;
    return places_[i];
  }

  void widen() {
    List<T> old;
    old.swap(places_);
    size_t count = old.is_empty() ? 16 : 2 * old.count();
    for (size_t i = 0; i < count; ++i) places_.push(T());
    for (T& record : old) {
      if (record.number != 0) place(record.number) = std::move(record);
    }
  }

  List<T> places_;  // the count is a power of two; at most half of the places are used
  size_t count_ = 0;
};

}  // namespace marline::offload::cluster
