// SPDX-License-Identifier: Apache-2.0
//
// The order that a program gives its tasks, from the records of common/accesses_format.h: not that of the run. A node
// is a segment of a task, or a point where segments meet. Edges lead from earlier to later nodes: a node's number is a
// topological order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace marline::dependences {

using Node = int32_t;
inline constexpr Node kNone = -1;

struct Dependence {
  uint64_t address;
  uint64_t type;  // ompt_dependence_type_t
};

// The tasks that a new task with a dependence on one address comes after (OpenMP 5.2, section 15.9.5). Tasks of a
// generation have the same type and no order among themselves.
struct Generations {
  uint64_t type = 0;
  std::vector<uint32_t> current, previous;
};

struct Task {
  uint32_t parent = 0;
  uint32_t region = 0;
  uint64_t flags = 0;
  uint64_t code = 0;
  uint64_t label = 0;
  Node created = kNone;  // the creator's segment before
  Node current = kNone;  // kNone: not begun
  Node complete = kNone;
  Node fulfilled = kNone;
  bool is_detached = false;
  bool is_implicit = false;
  bool is_operation = false;  // of MPI
  std::vector<Dependence> dependences;
  std::vector<uint32_t> predecessors;
  std::vector<uint32_t> children;                     // that no wait has joined yet
  std::unordered_map<uint64_t, Generations> objects;  // of its children's dependences
  std::vector<uint32_t> with_dependences;             // children since the last one on all memory, and that one
  uint32_t all_memory = 0;
  std::vector<uint32_t> groups;   // taskgroups: the one that the task was created in, then those that it has opened
  std::vector<uint64_t> mutexes;  // sorted; those held
  uint32_t barriers = 0;          // begun
};

struct Region {
  uint32_t opener = 0;
  Node begun = kNone;
  std::vector<uint32_t> team;
  std::vector<uint32_t> tasks;  // explicit ones that no barrier has joined yet
  std::vector<Node> barriers;
};

class Graph {
 public:
  void apply(uint64_t kind, const uint64_t* words, uint64_t count);

  Task& task(uint64_t number);
  // The segment that the task is in; begins it if need be.
  Node segment(uint32_t task);
  // Whether a path leads from one node to a later one, by a search backwards that passes over all nodes before `from`.
  // Bound: the edges between the two, once for each pair of nodes.
  bool has_path(Node from, Node to);
  std::size_t nodes() const { return first_.size(); }

 private:
  struct Edge {
    Node from;
    int32_t next;
  };

  Node add_node() {
    first_.push_back(-1);
    return static_cast<Node>(first_.size() - 1);
  }
  void add_edge(Node from, Node to);
  Node advance(Task& task);  // a new segment after the task's current one
  void create(const uint64_t* words);
  void start_operation(const uint64_t* words);
  void end_operation(uint32_t number, uint32_t waiting);
  void depend(const uint64_t* words, uint64_t count);
  void depend_on(uint32_t number, Task& parent, const Dependence& dependence);
  void end(uint32_t number);
  void complete(uint32_t number);
  void fulfil(uint32_t number, uint32_t by);
  void join(const std::vector<uint32_t>& tasks, Node at);
  void begin_wait(uint32_t number, uint64_t kind);
  void end_wait(uint32_t number, uint64_t kind);
  void pass_barrier(uint32_t number);
  void end_region(uint32_t number, uint32_t encountering);

  std::vector<Task> tasks_;
  Node outside_ = kNone;  // the last operation whose end a thread without tasks has seen, after all such before
  std::vector<Region> regions_;
  std::vector<std::vector<uint32_t>> groups_;  // the members of each taskgroup
  std::vector<int32_t> first_;                 // of a node's incoming edges
  std::vector<Edge> edges_;
  std::vector<uint32_t> visited_;
  uint32_t search_ = 0;
  std::unordered_map<uint64_t, bool> known_paths_;
};

}  // namespace marline::dependences
