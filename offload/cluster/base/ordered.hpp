// SPDX-License-Identifier: Apache-2.0
//
// A container of records sorted by a key: a skip list (Pugh 1990). Finding, adding and erasing usually take O(log n)
// steps, and a record does not move. T has a member `begin`, the key; a change of it must not change the order. One
// owner at a time. The heights come from a generator with a fixed seed, so every run is the same.
#pragma once

#include "base/list.hpp"

namespace marline::offload::cluster {

template <class T>
class Ordered {
 public:
  Ordered() = default;
  Ordered(Ordered&& other) noexcept { swap(other); }
  Ordered& operator=(Ordered&& other) noexcept {
    swap(other);
    return *this;
  }
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;
  ~Ordered() {
    while (first_[0] != nullptr) free_node(std::exchange(first_[0], first_[0]->next()[0]));
  }

  // Null: there is no such record.
  T* first() { return item_of(first_[0]); }
  T* next(T* item) { return item_of(node_of(item)->next()[0]); }
  // The last record that begins at `key` or before it.
  T* find(uint64_t key) {
    Node** links[kLevels];
    return item_of(walk(key + 1, links));
  }
  size_t count() const { return count_; }

  T& add(uint64_t key) {
    Node** links[kLevels];
    walk(key, links);
    unsigned height = draw_height();
    for (; levels_ < height; ++levels_) links[levels_] = first_;
    Node* node = make_node(height);
    for (unsigned level = 0; level < height; ++level) {
      node->next()[level] = links[level][level];
      links[level][level] = node;
    }
    ++count_;
    node->item.begin = key;
    return node->item;
  }

  void erase(T* item) {
    Node** links[kLevels];
    Node* node = node_of(item);
    walk(item->begin, links);
    for (unsigned level = 0; level < node->height; ++level) links[level][level] = node->next()[level];
    free_node(node);
    --count_;
  }

 private:
  // A level has a quarter of the records of the level below: enough for 4^16 records; more only take longer.
  static constexpr unsigned kLevels = 16;

  struct Node {
    T item{};
    unsigned height = 0;
    Node** next() { return reinterpret_cast<Node**>(this + 1); }
  };

  static T* item_of(Node* node) { return node != nullptr ? &node->item : nullptr; }
  static Node* node_of(T* item) { return reinterpret_cast<Node*>(item); }  // `item` is the first member

  // Returns the last node before the key. links[level] becomes an array of links; links[level][level] leads to the
  // level's first node that is not before the key.
  Node* walk(uint64_t key, Node*** links) {
    Node* before = nullptr;
    Node** link = first_;
    for (unsigned level = levels_; level-- > 0;) {
      while (link[level] != nullptr && link[level]->item.begin < key) {
        before = link[level];
        link = before->next();
      }
      links[level] = link;
    }
    return before;
  }

  unsigned draw_height() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    unsigned zeros = static_cast<unsigned>(__builtin_ctzll(random_));  // never 0
    unsigned height = 1 + zeros / 2;
    return height < kLevels ? height : kLevels;
  }

  static Node* make_node(unsigned height) {
    void* memory = std::malloc(sizeof(Node) + height * sizeof(Node*));
    if (memory == nullptr) fatal("no memory for a record of %zu bytes about the cluster's buffers", sizeof(Node));
    Node* node = new (memory) Node;
    node->height = height;
    return node;
  }
  static void free_node(Node* node) {
    node->~Node();
    std::free(node);
  }

  void swap(Ordered& other) {
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
    std::swap(levels_, other.levels_);
    std::swap(random_, other.random_);
  }

  Node* first_[kLevels] = {};
  size_t count_ = 0;
  unsigned levels_ = 0;  // levels that have had a record
  uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace marline::offload::cluster
