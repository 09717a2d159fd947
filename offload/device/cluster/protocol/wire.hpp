// SPDX-License-Identifier: Apache-2.0
//
// Blobs between the nodes of a cluster: up to 32 KiB go with the frame, others behind it.
#pragma once

#include "device/cluster/protocol/frames.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

// Any thread. `blob` has kBlobFront bytes in front, and is empty afterwards.
void send_blob(const NodeJob& job, NodeNumber to, BlobWriter& blob);

// As GuestFrames has it, for frames with bulk. Several may be placed before the first of them is delivered.
void* place_blob(int peer, const Frame& frame);

// Of a message that was sent at that time: what it brings for buffers is a transfer (times.hpp). Under the
// node's lock.
void note_transfer(const Message& message, uint64_t sent, size_t bytes);

// What has come with a frame that is delivered.
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
