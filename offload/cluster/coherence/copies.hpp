// SPDX-License-Identifier: Apache-2.0
//
// Counts, at node 0, the memory that copies of buffers take on the nodes, and which tasks still need which copy. A node
// that uses a buffer has one copy of it: memory for all its bytes. Only node 0 decides which copy is dropped, so no
// node drops a copy that another node is about to ask for. A pure state machine.
#pragma once

#include "cluster/base/message.hpp"
#include "base/id_table.hpp"

namespace marline::offload::cluster {

class Copies {
 public:
  // Node 0 has no budget: buffers that do not fit on any other node go there.
  void set_budgets(size_t nodes, uint64_t bytes);

  void add_buffer(uint64_t buffer, uint64_t bytes);
  // No task will begin to use the buffer any more. True: no task uses it now either. Node 0 may learn the ends of tasks
  // in another order than that in which they have ended.
  [[nodiscard]] bool retire(uint64_t buffer);
  // For a retired buffer that no task uses: calls drop(node) for each copy.
  template <class Drop>
  void remove_buffer(uint64_t buffer, const Drop& drop);

  // How many bytes the node lacks for copies of all these buffers; 0: they fit.
  [[nodiscard]] uint64_t missing_room(const List<uint64_t>& buffers, NodeNumber node);
  // A task uses the copy until it ends. The copy is created if there is none.
  void begin_use(uint64_t buffer, NodeNumber node);
  // True: the buffer has been retired, and this was its last use.
  [[nodiscard]] bool end_use(uint64_t buffer, NodeNumber node);
  // The least recently used copy at the node that no task in flight uses and that is not one of `needed`. 0: there is
  // none.
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

  IdTable<Buffer> buffers_;  // as many as mapped variables
  List<Room> rooms_;         // by node
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
