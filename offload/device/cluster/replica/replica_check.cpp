// SPDX-License-Identifier: Apache-2.0
//
// The functions of Replica for MARLINE_CLUSTER_WRITES=check: they find the bytes that a task has changed, and the bytes
// that another task without an order to it has changed, too.
#include "device/cluster/replica/replica.hpp"

#include <new>

namespace marline::offload::device {

using namespace cluster;

void Replica::count_changes(const ClusterRange& range, FoundBytes& to) {
  if (gpu_ != nullptr) return count_changes_on_gpu(range, to);
  Visit visit(*this);
  for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    Part part = part_of_block(block, range);
    for (uint64_t at = block * kBlock + part.begin; at < block * kBlock + part.end; ++at) {
      if (data_[at] != twin_[at]) to.add(at);
    }
  }
}

// No block is stale in a checking node.
void Replica::list_changes(const ClusterRange& range, List<ChangedBytes>& to) {
  if (gpu_ != nullptr) return;
  size_t before = to.count();
  Visit visit(*this);
  for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    Part part = part_of_block(block, range);
    uint64_t first = block * kBlock, stamps[kBlock];
    if (std::memcmp(data_ + first + part.begin, twin_ + first + part.begin, part.end - part.begin) == 0) continue;
    expand(block, stamps);
    for (uint32_t i = part.begin; i < part.end; ++i) {
      uint64_t at = first + i;
      if (data_[at] == twin_[at]) continue;
      bool goes_on = to.count() > before && to.back().range.end() == at && to.back().stamp == stamps[i];
      if (!goes_on) to.push({{range.buffer, at, 0}, stamps[i]});
      ++to.back().range.bytes;
    }
  }
}

// Let T be the task with the stamp `own`, and let a byte have a higher stamp here than T saw on its node. The stamp may
// be T's own: another node fetched the bytes after T's comparison, and they have come here from there. Otherwise it is
// the stamp of another task U. U is not ordered after T, as U has run before T ended. U is not ordered before T, or T
// would have seen its stamp. So there is no order between T and U. The same is true if a task U has changed the byte
// here and the change has no stamp yet.
void Replica::count_newer(const ChangedBytes& seen, uint64_t own, FoundBytes& to) {
  Visit visit(*this);
  const ClusterRange& range = seen.range;
  for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    Part part = part_of_block(block, range);
    uint64_t stamps[kBlock];
    expand(block, stamps);
    for (uint32_t i = part.begin; i < part.end; ++i) {
      bool is_newer = stamps[i] > seen.stamp && stamps[i] != own;
      if (is_newer || is_changed_here(block * kBlock + i)) to.add(block * kBlock + i);
    }
  }
}

void Replica::watch_merges() {
  if (overwritten_ != nullptr || twin_ == nullptr || gpu_ != nullptr) return;
  void* memory = std::malloc(sizeof(Overwritten));
  if (memory == nullptr) fatal("no memory for the checks of a cluster's node");
  overwritten_ = new (memory) Overwritten;
}

FoundBytes Replica::take_overwritten(const ClusterRange& range) {
  FoundBytes found;
  if (overwritten_ == nullptr) return found;
  Guard guard(overwritten_->lock);
  for (size_t i = overwritten_->bytes.count(); i-- > 0;) {
    uint64_t at = overwritten_->bytes[i];
    if (at < range.offset || at >= range.end()) continue;
    found.add(at);
    overwritten_->bytes.erase(i);
  }
  return found;
}

// Records the bytes that a merge is going to overwrite although a running task has changed them here. Called for each
// block that a message brings, before the block is merged.
void Replica::note_overwritten(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                               uint32_t count) {
  uint64_t stamps[kBlock];
  expand(block, stamps);
  for (uint32_t i = part.begin; i < part.end; ++i) {
    uint32_t entry = count == 0 ? 0 : index[i - part.begin];
    uint64_t stamp = count == 0 ? uniform : entry < count ? table[entry] : 0;
    if (stamp <= stamps[i] || !is_changed_here(block * kBlock + i)) continue;
    Guard guard(overwritten_->lock);
    overwritten_->bytes.push(block * kBlock + i);
  }
}

}  // namespace marline::offload::device
