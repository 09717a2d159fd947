// SPDX-License-Identifier: Apache-2.0
//
// What a process keeps of the wire `mpi`. Two communicators of its own: one for the frames, received in the order in
// which they come from anybody; one for bulks that are too large for the frame's message, received where the user wants
// them.
//
// Threads: whoever holds `polling` owns the slots and the inboxes; an outbox has a lock of its own.
#pragma once

#include "base/lock.hpp"
#include "wire/base/wire.hpp"
#include "wire/mpi/calls.hpp"

#include <atomic>

namespace marline::offload::wire {

// A bulk of at most so many bytes travels in the frame's own message.
inline constexpr uint64_t kMostInlined = 8192;
inline constexpr size_t kMostBytes = sizeof(Frame) + 8 * kMostWords + kMostInlined;

// Frames to one peer that it has not taken yet, at most. So the messages that nobody has received yet, which MPI keeps
// in memory of the receiver, are bounded: by kWindow * kMostBytes = 2.6 MB of a peer, and the bulks that MPI sends
// eagerly. At the bound, further frames are queued in the sender's memory.
inline constexpr uint32_t kWindow = 64;
// Of them, those with a bulk of its own whose messages have been given to MPI.
inline constexpr uint32_t kMostBulks = 8;
// Queued frames from which on there is no more room (WireKind::has_room).
inline constexpr uint32_t kFewQueued = 64;

// A bulk is cut into messages of so many bytes. Within a node MPI receives a message by one call of the system, one to
// two milliseconds for this size, in which the process sees no other frame; larger ones are no faster. MPI counts in
// int, and a bulk that nobody wants is received into memory of one message's size.
inline constexpr uint64_t kPiece = uint64_t{8} << 20;
inline constexpr uint32_t kPiecesInFlight = 2;

// A message carries one frame, or several that were queued behind one another, without bulks of their own: frames that
// may wait (kMayWait) with the next one, and those that waited for credits. Each begins at a multiple of 8 bytes. Such
// a message is small enough to be sent eagerly.
inline constexpr uint32_t kMostTogether = 8;
inline constexpr uint64_t kMostBytesTogether = 3840;

// Messages for frames that have been posted.
inline constexpr uint32_t kSlots = 16;

enum Tag { kFrameTag = 1, kCreditsTag = 2, kByeTag = 3, kBulkTag = 4 };

// Messages of one bulk, sent or received in order. Those that have been started and not finished are a ring.
struct Pieces {
  char* at;
  uint64_t bytes;
  uint64_t started;  // bytes
  uint32_t first;    // piece in flight, of all
  uint32_t next;     // piece to be started, of all
  int peer;
  bool sending;
  bool dropped;  // received, each to the same place
  MPI_Request requests[kPiecesInFlight];
};

// A frame on its way out, or several; the message's bytes follow it.
struct Message {
  Message* next;
  MPI_Request request;
  Outgoing* outgoing;  // null: without a bulk of its own
  Pieces bulk;
  uint32_t bytes;  // of the message
  uint32_t frames;
  int tag;
  bool is_spare_size;  // goes back to Outbox::spare

  Frame* frame() { return reinterpret_cast<Frame*>(this + 1); }
};
static_assert(sizeof(Message) % alignof(Frame) == 0);

struct MessageList {
  Message* first = nullptr;
  Message* last = nullptr;
};

struct alignas(64) Outbox {
  Lock lock;           // around what follows, and the MPI calls that send: their order is that of the frames
  MessageList queued;  // waits for credits, or for the next frame; one frame each
  MessageList flying;  // given to MPI, in this order
  Message* spare = nullptr;
  uint32_t spares = 0;
  uint64_t sequence = 0;
  uint32_t credits = kWindow;  // frames that may be started
  uint32_t bulks = 0;          // among `flying`
  bool left = false;           // this process has said goodbye

  // Written under the lock. Read without, as a hint.
  std::atomic<uint32_t> queued_count{0};
  std::atomic<uint32_t> busy{0};    // queued or flying
  std::atomic<bool> closed{false};  // the peer has left, or the wire is closed: what is sent is dropped
  std::atomic<uint32_t> told{0};    // of `taken`, by the credits of frames to the peer

  std::atomic<uint32_t> taken{0};  // frames from the peer that were delivered; written by the poller
};

// A frame that has come and waits, for its bulk or for that of a frame before it. The frame's bytes follow it.
struct Arrived {
  Arrived* next;
  int tag;

  Frame* frame() { return reinterpret_cast<Frame*>(this + 1); }
};

struct Inbox {
  uint64_t sequence = 0;     // of the last frame that has come
  Arrived* first = nullptr;  // its bulk is on its way if `receiving`
  Arrived* last = nullptr;
  bool receiving = false;
  bool said_goodbye = false;
  Pieces bulk{};
};

struct Slot {
  char* data;  // kMostBytes
  MPI_Request request;
  MPI_Status status;
  bool arrived;  // the receive is over
  bool handled;  // and the message may be overwritten
};

struct Wire {
  WireUser user{};
  int number = 0;
  int count = 0;
  uint64_t job = 0;          // word of every frame
  bool initialised = false;  // MPI, by us
  bool serialized = false;   // one MPI call at a time
  bool closed = false;       // no MPI call any more; written under `polling`
  bool all_left = false;     // nothing was under way when it was closed
  Lock mpi_lock;
  MPI_Comm frames{};
  MPI_Comm bulks{};
  int keyval = 0;
  Peer* peers = nullptr;
  Outbox* outboxes = nullptr;
  Inbox* inboxes = nullptr;
  uint32_t receiving = 0;  // inboxes with a bulk on its way

  Slot slots[kSlots]{};
  uint32_t head = 0;  // the slot that has been posted first

  alignas(64) std::atomic<bool> polling{false};
  alignas(64) std::atomic<int> bell{0};  // doorbell.hpp
};

// Of a frame in its message.
[[nodiscard]] inline uint64_t bytes_of(const Frame& frame) {
  return sizeof(Frame) + 8 * uint64_t{frame.words} + (frame.bulk <= kMostInlined ? frame.bulk : 0);
}
[[nodiscard]] inline uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

// Around every MPI call once the wire has been joined: a section of its own if MPI takes one call at a time.
class MpiSection {
 public:
  explicit MpiSection(Wire* wire) : lock_(wire->serialized ? &wire->mpi_lock : nullptr) {
    if (lock_ != nullptr) lock_->take();
  }
  ~MpiSection() {
    if (lock_ != nullptr) lock_->release();
  }
  MpiSection(const MpiSection&) = delete;
  MpiSection& operator=(const MpiSection&) = delete;

 private:
  Lock* lock_;
};

}  // namespace marline::offload::wire
