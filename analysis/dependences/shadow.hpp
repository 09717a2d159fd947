// SPDX-License-Identifier: Apache-2.0
//
// What has been accessed at each address by segments that a later access may conflict with: an access goes when a later
// one is ordered after it and conflicts with all that it conflicts with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "graph.hpp"

namespace marline::dependences {

enum Flags : uint8_t { kWrites = 1, kIsAtomic = 2, kFrees = 4 };

struct Access {
  Node node;
  uint32_t task;
  uint32_t mutexes;  // number of a set
  uint8_t flags;
  uint64_t code;
};

// Sets of mutexes by number; 0 is the empty set.
class MutexSets {
 public:
  uint32_t number(const std::vector<uint64_t>& mutexes);
  bool have_common(uint32_t a, uint32_t b) const;
  bool is_within(uint32_t a, uint32_t b) const;

 private:
  std::vector<std::vector<uint64_t>> sets_ = {{}};
  std::map<std::vector<uint64_t>, uint32_t> numbers_ = {{{}, 0}};
};

class Shadow {
 public:
  using Conflict = std::function<void(uint64_t low, uint64_t high, const Access& earlier, const Access& later)>;
  Shadow(Graph& graph, const MutexSets& mutexes, Conflict on_conflict)
      : graph_(graph), mutexes_(mutexes), on_conflict_(std::move(on_conflict)) {}

  void add(uint64_t low, uint64_t high, const Access& access);
  void forget(uint64_t low, uint64_t high);

 private:
  struct Piece {
    uint64_t high;
    std::vector<Access> accesses;
  };

  void split(uint64_t at);
  void add_to(uint64_t low, Piece& piece, const Access& access);

  Graph& graph_;
  const MutexSets& mutexes_;
  Conflict on_conflict_;
  std::map<uint64_t, Piece> pieces_;
};

}  // namespace marline::dependences
