// SPDX-License-Identifier: Apache-2.0
//
// What the model of a run (replay.cpp) is made of: memory, a heap of events, and lists of tasks. No state of their own
// is shared. Memory that is missing is found by has_all() or by a push that returns false, never by a crash.
#ifndef MARLINE_ANALYSIS_REPLAY_PARTS_HPP
#define MARLINE_ANALYSIS_REPLAY_PARTS_HPP

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace marline::analysis {

// Zeros. A large block lies in huge pages where the kernel gives them: its elements are read in no order, and would
// otherwise miss the TLB each time.
inline void* zeros(size_t octets) {
  constexpr size_t kHuge = size_t{2} << 20;
  if (octets < 2 * kHuge) return calloc(octets, 1);
  const size_t rounded = (octets + kHuge - 1) / kHuge * kHuge;
  void* block = aligned_alloc(kHuge, rounded);
  if (block == nullptr) return nullptr;
  madvise(block, rounded, MADV_HUGEPAGE);  // a wish: without it all is the same, but slower
  return memset(block, 0, rounded);
}

// A fixed number of T, all zero at first.
template <typename T>
class Table {
 public:
  explicit Table(int64_t size) : items_(static_cast<T*>(zeros(static_cast<size_t>(size > 0 ? size : 1) * sizeof(T)))) {}
  ~Table() { free(items_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  bool has_all() const { return items_ != nullptr; }
  T& operator[](int64_t at) { return items_[at]; }
  const T& operator[](int64_t at) const { return items_[at]; }

 private:
  T* items_;
};

// The least T first, by T::is_before, which never takes two for equal.
template <typename T>
class Heap {
 public:
  Heap() = default;
  ~Heap() { free(items_); }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  bool empty() const { return count_ == 0; }
  const T& top() const { return items_[0]; }

  [[nodiscard]] bool push(const T& item) {
    if (count_ == room_ && !grow()) return false;
    int64_t at = count_++;
    for (; at > 0 && item.is_before(items_[(at - 1) / 2]); at = (at - 1) / 2) items_[at] = items_[(at - 1) / 2];
    items_[at] = item;
    return true;
  }

  T pop() {
    const T found = items_[0], last = items_[--count_];
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < count_; at = child) {
      if (child + 1 < count_ && items_[child + 1].is_before(items_[child])) ++child;
      if (!items_[child].is_before(last)) break;
      items_[at] = items_[child];
    }
    if (count_ > 0) items_[at] = last;
    return found;
  }

 private:
  bool grow() {
    const int64_t room = room_ > 0 ? 2 * room_ : 16;
    auto* items = static_cast<T*>(realloc(items_, static_cast<size_t>(room) * sizeof(T)));
    if (items == nullptr) return false;
    items_ = items, room_ = room;
    return true;
  }

  T* items_ = nullptr;
  int64_t count_ = 0, room_ = 0;
};

constexpr int64_t kNone = -1;

// An element that is in at most one list.
struct Link {
  int64_t before, after;
};

// A list of elements by number, whose links stand in a table of their own.
struct List {
  int64_t front = kNone, back = kNone, count = 0;

  void push_back(Table<Link>& links, int64_t item) {
    links[item] = {back, kNone};
    (back == kNone ? front : links[back].after) = item;
    back = item;
    ++count;
  }

  void push_front(Table<Link>& links, int64_t item) {
    links[item] = {kNone, front};
    (front == kNone ? back : links[front].before) = item;
    front = item;
    ++count;
  }

  void remove(Table<Link>& links, int64_t item) {
    const Link link = links[item];
    (link.before == kNone ? front : links[link.before].after) = link.after;
    (link.after == kNone ? back : links[link.after].before) = link.before;
    --count;
  }

  int64_t pop_back(Table<Link>& links) {
    const int64_t item = back;
    if (item != kNone) remove(links, item);
    return item;
  }

  int64_t pop_front(Table<Link>& links) {
    const int64_t item = front;
    if (item != kNone) remove(links, item);
    return item;
  }
};

}  // namespace marline::analysis

#endif
