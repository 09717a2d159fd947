// SPDX-License-Identifier: Apache-2.0
//
// Sends blobs between the nodes of a cluster. A blob of up to 32 KiB is sent in its frame, a larger one as bulk data
// after the frame.
#pragma once

#include "device/cluster/protocol/frames.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

// Sends the blob. It must have kBlobFront free bytes before its data, and must not be used afterwards. `flags`: of the
// frame. Any thread.
void send_blob(const NodeJob& job, NodeNumber to, BlobWriter& blob, uint32_t flags = 0);

// As ExtensionFrames::place, for frames with bulk data: allocates memory for the bulk data. Several frames may be
// placed before the first of them is delivered.
void* place_blob(int peer, const Frame& frame);

// If the message carries bytes of a buffer, records a transfer of `bytes` bytes that began at `sent` (times.hpp). Under
// the node's lock.
void note_transfer(const Message& message, uint64_t sent, size_t bytes);

// The blob of a frame that is being delivered.
class ReceivedBlob {
 public:
  ReceivedBlob(int peer, const Frame& frame, const uint64_t* words);
  ~ReceivedBlob() { std::free(placed_); }
  ReceivedBlob(const ReceivedBlob&) = delete;
  ReceivedBlob& operator=(const ReceivedBlob&) = delete;

  BlobReader reader;

 private:
  char* placed_;
};

}  // namespace marline::offload::device
