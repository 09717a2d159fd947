// SPDX-License-Identifier: Apache-2.0
//
// Plans fetches and homes, and keeps the segments of each buffer.
#include "cluster/coherence/directory.hpp"

#include <algorithm>

namespace marline::offload::cluster {

void Directory::add(uint64_t buffer, uint64_t bytes) { buffers_.add(buffer).segments.add(0).end = bytes; }

void Directory::remove(uint64_t buffer) {
  Buffer* found = find(buffer);
  assert(found != nullptr);
  buffers_.erase(found);
}

// Returns the segment that begins at `at`; null if `at` is the end of the buffer.
Directory::Segment* Directory::split(Buffer& buffer, uint64_t at) {
  Segment* left = buffer.segments.find(at);
  if (left->begin == at) return left;
  if (left->end == at) return nullptr;
  Segment& right = buffer.segments.add(at);
  right.end = left->end;
  left->end = at;
  right.home = left->home;
  right.home_number = left->home_number;
  right.has_home = left->has_home;
  for (const Writer& writer : left->writers) right.writers.push(writer);
  for (const Writer& reader : left->readers) right.readers.push(reader);
  for (const TaskPlace& holder : left->holders) right.holders.push(holder);
  right.unordered_after = left->unordered_after;
  for (const TaskPlace& companion : left->companions) right.companions.push(companion);
  return &right;
}

bool Directory::is_among(TaskNumber task, const List<TaskNumber>& tasks) {
  for (TaskNumber other : tasks) {
    if (other == task) return true;
  }
  return false;
}

bool Directory::are_alike(const Segment& a, const Segment& b) {
  auto is_same = [](const TaskPlace& one, const TaskPlace& other) {
    return one.node == other.node && one.index == other.index;
  };
  auto are_same = [](const List<Writer>& ones, const List<Writer>& others) {
    if (ones.count() != others.count()) return false;
    for (size_t i = 0; i < ones.count(); ++i) {
      if (ones[i].number != others[i].number) return false;
    }
    return true;
  };
  auto are_same_places = [&](const List<TaskPlace>& ones, const List<TaskPlace>& others) {
    if (ones.count() != others.count()) return false;
    for (size_t i = 0; i < ones.count(); ++i) {
      if (!is_same(ones[i], others[i])) return false;
    }
    return true;
  };
  if (a.has_home != b.has_home || (a.has_home && !is_same(a.home, b.home))) return false;
  if (!are_same_places(a.holders, b.holders) || !are_same_places(a.companions, b.companions)) return false;
  if (a.unordered_after != b.unordered_after) return false;
  return are_same(a.writers, b.writers) && are_same(a.readers, b.readers);
}

// The nodes that read one version form a tree: the i-th reader asks the reader at half its position in the list. So
// each reader serves two others, and the last one is log2 transfers away from the home. False: the home serves this
// reader. (A chain would be faster for large ranges with many readers, as each part is passed on while the next one
// comes. But then the second reader would depend on the first: in a simulation, an FFT whose transfers take as long as
// its tasks was 7 % slower.)
bool Directory::find_holder(const List<TaskPlace>& holders, NodeNumber node, TaskPlace& source) {
  for (const TaskPlace& holder : holders) {
    if (holder.node != node) continue;
    source = holder;
    return true;
  }
  size_t count = holders.count();
  if (count < 2) return false;
  source = holders[(count - 2) / 2];
  return true;
}

void Directory::add_holder(List<TaskPlace>& holders, const TaskPlace& place) {
  for (const TaskPlace& holder : holders) {
    if (holder.node == place.node) return;
  }
  holders.push(place);
}

void Directory::remove_holder(List<TaskPlace>& holders, NodeNumber node) {
  for (size_t i = holders.count(); i-- > 0;) {
    if (holders[i].node == node) holders.erase(i);
  }
}

bool Directory::is_companion(const Segment& segment, const PlannedTask& task) {
  return segment.unordered_after != PlannedTask::kNotKnown && task.unordered_from <= segment.unordered_after;
}

void Directory::forget_companions(Segment& segment) {
  segment.unordered_after = PlannedTask::kNotKnown;
  segment.companions.clear();
}

// An early fetch reaches its source long before the bytes are there, so the bytes leave as soon as they exist: the
// answer is the only message from a task to a successor. The source must not answer before all writes that are ordered
// before the task are there. docs/design/cluster-coherence.md proves this for the four cases.
void Directory::plan_fetch(const Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access) {
  if (!segment.has_home) return;
  bool is_at_home = segment.home.node == task.place.node;
  if (is_at_home && is_ordered) return;
  access.is_fetched = true;
  access.source = segment.home;
  if (is_at_home) return;
  if (find_holder(segment.holders, task.place.node, access.source)) {
    access.is_early = true;
  } else if (segment.writers.is_empty()) {
    access.is_early = true;
  } else if (is_companion(segment, task)) {
    access.is_early = true;
    (void)find_holder(segment.companions, task.place.node, access.source);
  } else if (is_ordered && segment.writers.count() == 1 && segment.writers[0].place.node == segment.home.node) {
    access.is_early = access.is_after_end = true;
    access.source = segment.writers[0].place;
  }
}

void Directory::plan_home(Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access) {
  bool is_at_home = segment.has_home && segment.home.node == task.place.node;
  if (access.may_write) {
    access.is_sole = is_ordered;
    // The home is taken even if it is at this node already: later tasks must not fetch before this task's inputs are
    // there.
    if (!segment.has_home || is_ordered) {
      segment.home = task.place;
      segment.home_number = task.number;
      segment.has_home = true;
      segment.companions.clear();
      // If `unordered_from` is not known for the home's task, it is not known for its successors either.
      segment.unordered_after = task.unordered_from != PlannedTask::kNotKnown ? task.number : PlannedTask::kNotKnown;
    } else if (!is_at_home && is_companion(segment, task)) {
      add_holder(segment.companions, task.place);
    }
    segment.holders.clear();
    segment.readers.clear();
    // A task that is ordered after this one is also ordered after its predecessors. Other tasks do not take the home.
    for (size_t w = segment.writers.count(); w-- > 0;) {
      if (is_ordered || is_among(segment.writers[w].number, *task.predecessors)) segment.writers.erase(w);
    }
    segment.writers.push({task.number, task.place});
    access.home = segment.home.node;
    return;
  }
  if (is_ordered && !segment.writers.is_empty()) segment.readers.push({task.number, task.place});
  if (segment.has_home && !is_at_home) {
    if (is_ordered) {
      add_holder(segment.holders, task.place);
    } else if (is_companion(segment, task)) {
      add_holder(segment.companions, task.place);
    }
  }
  access.home = segment.has_home ? segment.home.node : task.place.node;
}

uint64_t Directory::bytes_at(const ClusterRange& range, NodeNumber node) {
  Buffer* buffer = find(range.buffer);
  uint64_t bytes = 0;
  if (buffer == nullptr) return 0;
  for (Segment* at = buffer->segments.find(range.offset); at != nullptr; at = buffer->segments.next(at)) {
    const Segment& segment = *at;
    if (segment.begin >= range.end()) break;
    uint64_t begin = segment.begin > range.offset ? segment.begin : range.offset;
    uint64_t end = segment.end < range.end() ? segment.end : range.end();
    bool has = !segment.has_home || segment.home.node == node;
    for (const TaskPlace& holder : segment.holders) has = has || holder.node == node;
    for (const TaskPlace& companion : segment.companions) has = has || companion.node == node;
    if (has) bytes += end - begin;
  }
  return bytes;
}

void Directory::add_holders(const ClusterRange& range, List<NodeNumber>& holders) {
  Buffer* buffer = find(range.buffer);
  if (buffer == nullptr) return;
  for (Segment* at = buffer->segments.find(range.offset); at != nullptr; at = buffer->segments.next(at)) {
    const Segment& segment = *at;
    if (segment.begin >= range.end()) break;
    if (!segment.has_home) continue;
    holders.push(segment.home.node);
    for (size_t h = 0; h < segment.holders.count() && h < 2; ++h) holders.push(segment.holders[h].node);
  }
}

bool Directory::is_home(uint64_t buffer, NodeNumber node) {
  Buffer* found = find(buffer);
  if (found == nullptr) return false;
  for (Segment* segment = found->segments.first(); segment != nullptr; segment = found->segments.next(segment)) {
    if (segment->has_home && segment->home.node == node) return true;
  }
  return false;
}

uint64_t Directory::bytes_elsewhere(const ClusterRange& range, NodeNumber node) {
  Buffer* buffer = find(range.buffer);
  uint64_t bytes = range.bytes;
  if (buffer == nullptr) return bytes;
  for (Segment* at = buffer->segments.find(range.offset); at != nullptr; at = buffer->segments.next(at)) {
    const Segment& segment = *at;
    if (segment.begin >= range.end()) break;
    if (!segment.has_home || segment.home.node != node) continue;
    bytes -= std::min(segment.end, range.end()) - std::max(segment.begin, range.offset);
  }
  return bytes;
}

void Directory::forget_holder(uint64_t buffer, NodeNumber node) {
  Buffer* found = find(buffer);
  if (found == nullptr) return;
  for (Segment* segment = found->segments.first(); segment != nullptr; segment = found->segments.next(segment)) {
    remove_holder(segment->holders, node);
    remove_holder(segment->companions, node);
  }
}

void Directory::end_keep(uint64_t buffer) {
  Buffer* found = find(buffer);
  if (found != nullptr) --found->plans;
}

}  // namespace marline::offload::cluster
