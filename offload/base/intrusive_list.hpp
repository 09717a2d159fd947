// SPDX-License-Identifier: Apache-2.0
//
// A list of records that are linked by their own member `next`, which only the list changes. A record is in at most one
// list, and belongs to the caller. Each function takes one step and no memory; only `remove` searches for the record,
// unless T also has a member `previous`. One owner at a time. Bounded by the records that there are.
#pragma once

#include <utility>

namespace marline::offload {

template <class T>
class IntrusiveList {
 public:
  // Reads the next link before the caller sees a record: the caller may remove and free the record that it visits.
  class Iterator {
   public:
    explicit Iterator(T* at) : at_(at), next_(at != nullptr ? at->next : nullptr) {}
    T* operator*() const { return at_; }
    Iterator& operator++() { return *this = Iterator(next_); }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    T *at_, *next_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(nullptr); }

  [[nodiscard]] bool is_empty() const { return first_ == nullptr; }
  [[nodiscard]] T* first() const { return first_; }
  [[nodiscard]] T* last() const { return last_; }

  void push(T* record) { insert_after(last_, record); }
  void push_first(T* record) { insert_after(nullptr, record); }

  // Removes the first record and returns it. Null: the list is empty.
  T* pop() {
    T* record = first_;
    if (record != nullptr) remove(record);
    return record;
  }

  void remove(T* record) {
    T* before = nullptr;
    if constexpr (kIsDouble) {
      before = record->previous;
    } else {
      for (T* at = first_; at != record; at = at->next) before = at;
    }
    link(before, record->next);
  }

  // Moves all records of the other list to the end of this one.
  void append(IntrusiveList other) {
    if (other.is_empty()) return;
    link(last_, other.first_);
    last_ = other.last_;
  }

  // Empties the list and returns its records.
  [[nodiscard]] IntrusiveList take_all() { return std::exchange(*this, {}); }

 private:
  static constexpr bool kIsDouble = requires(T* record) { record->previous; };

  void insert_after(T* before, T* record) {
    link(record, before != nullptr ? before->next : first_);
    link(before, record);
  }

  // Makes `record` the one after `before`. Null stands for the list's ends.
  void link(T* before, T* record) {
    (before != nullptr ? before->next : first_) = record;
    if constexpr (kIsDouble) {
      if (record != nullptr) record->previous = before;
    }
    if (record == nullptr) last_ = before;
  }

  T *first_ = nullptr, *last_ = nullptr;
};

}  // namespace marline::offload
