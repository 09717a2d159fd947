// SPDX-License-Identifier: Apache-2.0
//
// Sends and receives blobs. The thread that polls the wire places and delivers frames, one at a time.
#include "device/cluster/protocol/wire.hpp"

#include "base/device_set.hpp"
#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/protocol/times.hpp"

#include <new>

namespace marline::offload::device {

namespace {

// Lies before the bytes of a blob that is being sent.
struct SentBlob : Outgoing {};
static_assert(sizeof(SentBlob) <= kBlobFront);

// The blobs of one peer that have been placed and not been delivered yet, in the order of their frames.
struct Placed {
  List<char*> blobs;
  size_t first = 0;
};
Placed g_placed[kMostDevices];

// Returns the blob that belongs to the peer's next frame with bulk data.
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

void send_blob(const NodeJob& job, NodeNumber to, BlobWriter& blob, uint32_t flags) {
  size_t bytes = blob.bytes() - kBlobFront;
  char* memory = blob.take();
  count_up(cluster_statistics().sent, static_cast<int64_t>(bytes));
  Frame frame = frame_of(ClusterFrame::kMessage);
  frame.flags = flags;
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
  if (!brings_bytes || bytes == 0) return;  // 0 bytes: the node has them already
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
