// SPDX-License-Identifier: Apache-2.0
//
// Postponed comparisons of a replica (replica.hpp): a comparison is made only when its result is needed. If the next
// task postpones the comparison of the same chunk, one comparison serves both tasks. docs/design/cluster-replicas.md,
// "Postponed comparisons", has the proof.
#include "device/cluster/replica/replica.hpp"

namespace marline::offload::device {

using namespace cluster;

void Replica::postpone(const ClusterRange& range, uint64_t stamp, uint64_t version, const PointerSink& to,
                       List<ClusterRange>& left) {
  for (uint64_t begin = range.offset, end; begin < range.end(); begin = end) {
    end = std::min(range.end(), (begin / kChunk + 1) * kChunk);
    ClusterRange part = {range.buffer, begin, end - begin};
    bool is_left = !covers_chunk(part);
    if (!is_left) {
      Guard guard(locks_[begin / kChunk]);
      Postponed& own = postponed_[begin / kChunk];
      is_left = own.to == nullptr && own.at_once != 0;
      if (is_left) {
        --own.at_once;
      } else {
        if (own.to == nullptr) own.version = version;
        own.to = &to;
        own.stamp = stamp;
      }
    }
    if (!is_left) continue;
    if (!left.is_empty() && left.back().end() == begin) {
      left.back().bytes += part.bytes;
    } else {
      left.push(part);
    }
  }
}

// Makes the chunk's postponed comparison. Called by a Visit that has just taken the chunk's lock, and that will give
// all changed blocks of the chunk a version.
void Replica::compare_now(uint64_t chunk) {
  Postponed& own = postponed_[chunk];
  PointerSink sink = {own.to->begin, own.to->end, {}, own.to->report};
  own.to = nullptr;
  own.at_once = most_at_once;
  uint64_t begin = chunk * kChunk;
  compare_in({buffer_, begin, std::min(kChunk, bytes_ - begin)}, own.stamp, own.version, sink);
  report(sink);
}

// A Visit makes the postponed comparison of each chunk that it enters.
void Replica::compare_postponed() {
  Visit visit(*this);
  for (uint64_t begin = 0; begin < bytes_; begin += kChunk) visit.enter(begin / kBlock);
}

}  // namespace marline::offload::device
