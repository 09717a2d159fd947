// SPDX-License-Identifier: Apache-2.0
//
// See the header. Frames are placed and delivered by the thread that polls the wire, one at a time.
#include "device/cluster/protocol/wire.hpp"

#include "base/device_set.hpp"
#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/protocol/times.hpp"

#include <new>

namespace marline::offload::device {

namespace {

// In front of the bytes.
struct SentBlob : Outgoing {};
static_assert(sizeof(SentBlob) <= kBlobFront);

// What has been placed and not been delivered yet, in order; by peer.
struct Placed {
  List<char*> blobs;
  size_t first = 0;
};
Placed g_placed[kMostDevices];

char* take_placed(int peer) {
  Placed& placed = g_placed[peer];
  char* blob = placed.blobs[placed.first++];
  if (placed.first == placed.blobs.count()) {
    placed.blobs.clear();
    placed.first = 0;
  }
  return blob;
}

}  // namespace

void send_blob(const NodeJob& job, NodeNumber to, BlobWriter& blob) {
  size_t bytes = blob.bytes() - kBlobFront;
  char* memory = blob.take();
  count_up(cluster_seen().sent, static_cast<int64_t>(bytes));
  Frame frame = {};
  frame.kind = static_cast<uint16_t>(ClusterFrame::kMessage);
  frame.a = cluster_times().now_if_wanted();
  if (bytes <= kMostWords * sizeof(uint64_t)) {
    frame.words = static_cast<uint16_t>(bytes / sizeof(uint64_t));
    job.send(static_cast<int>(to), frame, reinterpret_cast<const uint64_t*>(memory + kBlobFront));
    return std::free(memory);
  }
  auto* sent = new (memory) SentBlob;
  sent->sent = [](Outgoing* outgoing) { std::free(outgoing); };
  frame.bulk = bytes;
  if (job.kind->send(job.wire, static_cast<int>(to), frame, nullptr, memory + kBlobFront, sent)) std::free(memory);
}

void note_transfer(const Message& message, uint64_t sent, size_t bytes) {
  bool brings_bytes = message.kind == MessageKind::kData || message.kind == MessageKind::kDelta;
  if (!brings_bytes || bytes == 0) return;  // the node has them
  cluster_times().note(TimedWhat::kTransfer, sent, bytes, message.from);
}

void* place_blob(int peer, const Frame& frame) {
  auto* memory = static_cast<char*>(std::malloc(frame.bulk));
  if (memory == nullptr) fatal("no memory for %lu bytes from node %d of the cluster", frame.bulk, peer);
  return g_placed[peer].blobs.push(memory);
}

ReceivedBlob::ReceivedBlob(int peer, const Frame& frame, const uint64_t* words)
    : reader(reinterpret_cast<const char*>(words), frame.words * sizeof(uint64_t)),
      placed_(frame.bulk != 0 ? take_placed(peer) : nullptr) {
  if (placed_ != nullptr) reader = BlobReader(placed_, frame.bulk);
}

}  // namespace marline::offload::device
