// SPDX-License-Identifier: Apache-2.0
//
// The memory that copies of buffers take on the nodes, counted by node 0, and who still needs which copy. Node 0
// decides alone which copy goes, so no node drops what another one is about to ask for. A pure state machine.
#pragma once

#include "cluster/base/message.hpp"
#include "cluster/base/numbered.hpp"

namespace marline::offload::cluster {

class Copies {
 public:
  // Node 0 has no budget: what does not fit anywhere else goes there.
  void set_budgets(size_t nodes, uint64_t bytes);

  void add_buffer(uint64_t buffer, uint64_t bytes);
  // No task uses the buffer any more but those that do now. True: none does. Node 0 may hear of the ends of tasks in
  // another order than that in which they have ended.
  [[nodiscard]] bool retire(uint64_t buffer);
  // Of a retired buffer that nobody uses: calls drop(node) for each copy.
  template <class Drop>
  void remove_buffer(uint64_t buffer, const Drop& drop);

  // The bytes that the node lacks for copies of these buffers to lie there, or 0.
  [[nodiscard]] uint64_t missing_room(const List<uint64_t>& buffers, NodeNumber node);
  // A task uses the copy, which comes into being if need be, until it ends.
  void begin_use(uint64_t buffer, NodeNumber node);
  // True: the buffer has been retired, and this was its last use.
  [[nodiscard]] bool end_use(uint64_t buffer, NodeNumber node);
  // A copy at the node that no task under way uses, and that is none of `needed`; the least recently used. 0: none.
  [[nodiscard]] uint64_t find_unused(NodeNumber node, const List<uint64_t>& needed);
  void drop(uint64_t buffer, NodeNumber node);

  [[nodiscard]] bool has_copy(uint64_t buffer, NodeNumber node);
  [[nodiscard]] bool has(uint64_t buffer) { return buffers_.find(buffer) != nullptr; }
  [[nodiscard]] uint64_t bytes_of(uint64_t buffer) { return find(buffer)->bytes; }

 private:
  struct Copy {
    NodeNumber node;
    uint64_t users, last_use;
  };
  struct Buffer {
    uint64_t number = 0, bytes = 0;
    uint64_t users = 0;
    bool is_retired = false;
    List<Copy> copies;  // at most one per node
  };
  struct Room {
    uint64_t budget, used;
  };

  Buffer* find(uint64_t number);
  static Copy* find(Buffer& buffer, NodeNumber node);

  Numbered<Buffer> buffers_;  // as many as variables are mapped
  List<Room> rooms_;          // by node
  uint64_t uses_ = 0;
};

template <class Drop>
void Copies::remove_buffer(uint64_t buffer, const Drop& drop) {
  Buffer* found = find(buffer);
  for (const Copy& copy : found->copies) {
    assert(copy.users == 0);
    rooms_[copy.node].used -= found->bytes;
    drop(copy.node);
  }
  buffers_.erase(found);
}

}  // namespace marline::offload::cluster
