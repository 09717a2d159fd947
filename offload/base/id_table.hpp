// SPDX-License-Identifier: Apache-2.0
//
// A hash table of records by id, with linear probing. Finding, adding and erasing a record take O(1) steps on average.
// T has a member `number`, the id; 0 marks a free place. One owner at a time. Records move when one is added or erased,
// so keep their ids, not their addresses. Bounded by memory: without it the program ends.
//
// Other tables are for other look-ups: cluster/base/window.hpp for consecutive ids of which the oldest go first,
// cluster/base/ordered.hpp for records in an order, base/ranges.hpp for ranges of addresses.
#pragma once

#include "base/list.hpp"
#include "base/make.hpp"

namespace marline::offload {

template <class T>
class IdTable {
 public:
  // Null: there is no such record.
  T* find(uint64_t number) {
    if (places_.is_empty()) return nullptr;
    for (size_t i = place_of(number);; i = (i + 1) & mask()) {
      if (places_[i].number == number) return &places_[i];
      if (places_[i].number == 0) return nullptr;
    }
  }

  // Adds a record with this number. Its other members have their initial values.
  T& add(uint64_t number) {
    assert(number != 0 && find(number) == nullptr);
    if (2 * ++count_ > places_.count()) widen();
    return take_place(number);
  }

  void erase(T* record) {
    --count_;
    auto hole = static_cast<size_t>(record - places_.begin());
    *record = T();
    // A search would not get across the hole. So a record after the hole moves into it, unless its own place also lies
    // after the hole.
    for (size_t i = (hole + 1) & mask(); places_[i].number != 0; i = (i + 1) & mask()) {
      size_t own = place_of(places_[i].number);
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

  // Knuth's multiplicative hash. Ids that are given out in turn, or are addresses, get places far apart.
  size_t place_of(uint64_t number) const { return (number * 0x9e3779b97f4a7c15) >> shift_; }

  T& take_place(uint64_t number) {
    size_t i = place_of(number);
    while (places_[i].number != 0) i = (i + 1) & mask();
    places_[i].number = number;
    return places_[i];
  }

  void widen() {
    List<T> old;
    old.swap(places_);
    size_t count = old.is_empty() ? 16 : 2 * old.count();
    for (size_t i = 0; i < count; ++i) places_.push(T());
    --shift_;
    for (T& record : old) {
      if (record.number != 0) take_place(record.number) = std::move(record);
    }
  }

  List<T> places_;  // the count is 2^(64 - shift_); at most half of the places are used
  size_t count_ = 0;
  unsigned shift_ = 64 - 3;
};

// A table of objects by id. The objects belong to the caller.
template <class T>
class PointerTable {
 public:
  // Null: there is no such object.
  T* find(uint64_t number) {
    Record* record = records_.find(number);
    return record != nullptr ? record->object : nullptr;
  }
  void add(uint64_t number, T* object) { records_.add(number).object = object; }
  void remove(uint64_t number) { records_.erase(records_.find(number)); }
  [[nodiscard]] bool is_empty() const { return records_.is_empty(); }

  template <class Visit>
  void for_each(const Visit& visit) {
    records_.for_each([&](const Record& record) { visit(*record.object); });
  }

 private:
  struct Record {
    uint64_t number = 0;
    T* object = nullptr;
  };
  IdTable<Record> records_;
};

// Makes a table that is never destroyed: for static tables, which threads may still use while the process ends.
template <class T>
[[nodiscard]] PointerTable<T>& make_table() {
  return *make<PointerTable<T>>("a table about devices");
}

}  // namespace marline::offload
