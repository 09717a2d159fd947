// SPDX-License-Identifier: Apache-2.0
//
// A reference-counted record of the cluster's core: the record is destroyed with its last reference. One thread at a
// time.
#pragma once

#include "base/list.hpp"

namespace marline::offload::cluster {

template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(const Shared& other) : box_(other.box_) {
    if (box_ != nullptr) ++box_->names;
  }
  Shared(Shared&& other) noexcept { swap(other); }
  Shared& operator=(Shared other) noexcept {
    swap(other);
    return *this;
  }
  ~Shared() {
    if (box_ == nullptr || --box_->names != 0) return;
    box_->~Box();
    std::free(box_);
  }

  static Shared make() {
    void* memory = std::malloc(sizeof(Box));
    if (memory == nullptr) fatal("no memory for a record of %zu bytes about the cluster's tasks", sizeof(Box));
    Shared made;
    made.box_ = new (memory) Box;
    return made;
  }

  explicit operator bool() const { return box_ != nullptr; }
  T* operator->() const { return &box_->item; }
  T& operator*() const { return box_->item; }
  bool operator==(const Shared& other) const { return box_ == other.box_; }
  void swap(Shared& other) { std::swap(box_, other.box_); }

 private:
  struct Box {
    T item;
    size_t names = 1;
  };
  Box* box_ = nullptr;
};

}  // namespace marline::offload::cluster
