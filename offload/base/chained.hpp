// SPDX-License-Identifier: Apache-2.0
//
// A hash table of records by key. Records with the same key modulo the number of lists form one list, and are chained
// by their own members. There are at least as many lists as records, so keys that are given out in turn are found and
// removed at once. T has the members `uint64_t key` and `T* chained`, which only the table changes. One owner at a
// time.
#pragma once

#include "base/report.hpp"

#include <cstdint>
#include <cstdlib>

namespace marline::offload {

template <class T>
class Chained {
 public:
  [[nodiscard]] bool is_empty() const { return count_ == 0; }

  // Returns null if no record has the key.
  [[nodiscard]] T* find(uint64_t key) const {
    if (lists_ == 0) return nullptr;
    T* record = firsts_[key & (lists_ - 1)];
    while (record != nullptr && record->key != key) record = record->chained;
    return record;
  }

  // No other record of the table may have the key.
  void add(uint64_t key, T* record) {
    if (count_++ == lists_) widen();
    record->key = key;
    push(record);
  }

  void remove(T* record) {
    T** link = &firsts_[record->key & (lists_ - 1)];
    while (*link != record) link = &(*link)->chained;
    *link = record->chained;
    --count_;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (uint64_t i = 0; i < lists_; ++i) {
      for (T* record = firsts_[i]; record != nullptr; record = record->chained) visit(*record);
    }
  }

 private:
  void push(T* record) {
    T*& first = firsts_[record->key & (lists_ - 1)];
    record->chained = first;
    first = record;
  }

  void widen() {
    T** old = firsts_;
    uint64_t count = lists_;
    lists_ = count == 0 ? 64 : 2 * count;
    firsts_ = static_cast<T**>(std::calloc(lists_, sizeof(T*)));
    if (firsts_ == nullptr) fatal("no memory for a table of %lu records", lists_);
    for (uint64_t i = 0; i < count; ++i) {
      for (T *record = old[i], *next; record != nullptr; record = next) {
        next = record->chained;
        push(record);
      }
    }
    std::free(old);
  }

  T** firsts_ = nullptr;
  uint64_t lists_ = 0, count_ = 0;
};

}  // namespace marline::offload
