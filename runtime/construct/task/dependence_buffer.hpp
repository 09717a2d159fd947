// SPDX-License-Identifier: Apache-2.0
//
// A growable list of dependences, into which a face decodes a depend clause. It is on the stack of the entry point that
// fills it; short lists need no other memory.
#pragma once

#include "graph/dependences.hpp"

#include <cstring>

namespace marline {

class DependenceBuffer {
 public:
  DependenceBuffer() = default;
  DependenceBuffer(const DependenceBuffer&) = delete;
  DependenceBuffer& operator=(const DependenceBuffer&) = delete;
  ~DependenceBuffer();

  void add(void* address, Access access) {
    if (count_ == capacity_) [[unlikely]] {
      grow();
    }
    list_[count_++] = {address, access};
  }

  void append(const Dependence* list, size_t count) {
    if (count == 0) return;
    std::memcpy(room(count), list, count * sizeof(Dependence));
    count_ += count;
  }

  // To add up to `count` entries at once: write them from room(count) on, then call add_until with their end.
  Dependence* room(size_t count) {
    while (count_ + count > capacity_) [[unlikely]] {
      grow();
    }
    return list_ + count_;
  }
  void add_until(const Dependence* end) { count_ = static_cast<size_t>(end - list_); }

  void clear() { count_ = 0; }

  [[nodiscard]] const Dependence* list() const { return list_; }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  static constexpr size_t kInline = 16;
  void grow();

  Dependence inline_[kInline];
  Dependence* list_ = inline_;
  size_t count_ = 0;
  size_t capacity_ = kInline;
};

}  // namespace marline
