// SPDX-License-Identifier: Apache-2.0
//
// Keeps the copies of each buffer, and the memory that they use per node.
#include "cluster/coherence/copies.hpp"

namespace marline::offload::cluster {

void Copies::set_budgets(size_t nodes, uint64_t bytes) {
  rooms_.push({~uint64_t{0}, 0});
  for (size_t i = 0; i < nodes; ++i) rooms_.push({bytes, 0});
}

void Copies::add_buffer(uint64_t buffer, uint64_t bytes) { buffers_.add(buffer).bytes = bytes; }

Copies::Buffer* Copies::find(uint64_t number) {
  Buffer* found = buffers_.find(number);
  assert(found != nullptr);
  return found;
}

Copies::Copy* Copies::find(Buffer& buffer, NodeNumber node) {
  for (Copy& copy : buffer.copies) {
    if (copy.node == node) return &copy;
  }
  return nullptr;
}

uint64_t Copies::missing_room(const List<uint64_t>& buffers, NodeNumber node) {
  uint64_t needed = 0;
  for (uint64_t number : buffers) {
    Buffer* buffer = find(number);
    if (find(*buffer, node) == nullptr) needed += buffer->bytes;
  }
  const Room& room = rooms_[node];
  uint64_t free = room.used < room.budget ? room.budget - room.used : 0;
  return needed > free ? needed - free : 0;
}

void Copies::begin_use(uint64_t buffer, NodeNumber node) {
  Buffer* found = find(buffer);
  Copy* copy = find(*found, node);
  if (copy == nullptr) {
    copy = &found->copies.push({node, 0, 0});
    rooms_[node].used += found->bytes;
  }
  ++found->users;
  ++copy->users;
  copy->last_use = ++uses_;
}

bool Copies::retire(uint64_t buffer) {
  Buffer* found = find(buffer);
  found->is_retired = true;
  return found->users == 0;
}

bool Copies::end_use(uint64_t buffer, NodeNumber node) {
  Buffer* found = find(buffer);
  Copy* copy = find(*found, node);
  assert(copy != nullptr && copy->users != 0);
  --copy->users;
  --found->users;
  return found->is_retired && found->users == 0;
}

bool Copies::has_copy(uint64_t buffer, NodeNumber node) {
  Buffer* found = buffers_.find(buffer);
  return found != nullptr && find(*found, node) != nullptr;
}

uint64_t Copies::find_unused(NodeNumber node, const List<uint64_t>& needed) {
  uint64_t found = 0, oldest = 0;
  buffers_.for_each([&](Buffer& buffer) {
    Copy* copy = find(buffer, node);
    if (copy == nullptr || copy->users != 0 || (found != 0 && copy->last_use > oldest)) return;
    bool is_needed = false;
    for (uint64_t number : needed) is_needed = is_needed || number == buffer.number;
    if (is_needed) return;
    found = buffer.number;
    oldest = copy->last_use;
  });
  return found;
}

void Copies::drop(uint64_t buffer, NodeNumber node) {
  Buffer* found = find(buffer);
  Copy* copy = find(*found, node);
  assert(copy != nullptr && copy->users == 0);
  found->copies.erase(static_cast<size_t>(copy - found->copies.begin()));
  rooms_[node].used -= found->bytes;
}

}  // namespace marline::offload::cluster
