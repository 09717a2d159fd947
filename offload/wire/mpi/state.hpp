// SPDX-License-Identifier: Apache-2.0
//
// The state of the wire `mpi` in a process. It has two communicators: one for the frames, which are received from any
// process in the order in which they come; one for bulks that are too large for the frame's message, which are received
// where the user wants them.
//
// Threads: the thread that holds `polling` owns the slots and the inboxes; each outbox has its own lock.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/lock.hpp"
#include "wire/base/wire.hpp"
#include "wire/mpi/calls.hpp"

#include <atomic>

namespace marline::offload::wire {

// A bulk of at most so many bytes travels in the message of its frame.
inline constexpr uint64_t kMostInlined = 8192;
inline constexpr size_t kMostBytes = sizeof(Frame) + 8 * kMostWords + kMostInlined;

// The most frames to one peer that it has not taken yet. This bounds the messages that are not received yet, which MPI
// keeps in memory of the receiver: kWindow * kMostBytes = 2.6 MB per peer, and the bulks that MPI sends eagerly. At the
// bound, further frames are queued in the sender's memory.
inline constexpr uint32_t kWindow = 64;
// The most of these frames with a bulk of its own that has been given to MPI.
inline constexpr uint32_t kMostBulks = 8;
// With so many queued frames, there is no more room (WireKind::has_room).
inline constexpr uint32_t kFewQueued = 64;

// A bulk is cut into messages of so many bytes. Within a node MPI receives a message of this size by one system call of
// one to two milliseconds, in which the process sees no other frame; larger messages are no faster. MPI counts in int,
// and a bulk without a destination is received into memory of one message's size.
inline constexpr uint64_t kPiece = uint64_t{8} << 20;
inline constexpr uint32_t kPiecesInFlight = 2;

// A message carries one frame, or several frames that were queued one after another, without bulks of their own: frames
// that may wait (kMayWait) together with the next one, and frames that waited for credits. Each frame begins at a
// multiple of 8 bytes. Such a message is small enough to be sent eagerly.
inline constexpr uint32_t kMostTogether = 8;
inline constexpr uint64_t kMostBytesTogether = 3840;

// Posted receives for messages of frames.
inline constexpr uint32_t kSlots = 16;

enum Tag { kFrameTag = 1, kCreditsTag = 2, kByeTag = 3, kBulkTag = 4 };

// The messages of one bulk, sent or received in order. The pieces in flight are a ring.
struct Pieces {
  char* at;
  uint64_t bytes;
  uint64_t started;  // bytes
  uint32_t first;    // number of the oldest piece in flight
  uint32_t next;     // number of the next piece to start
  int peer;
  bool sending;
  bool dropped;  // the bulk is received and dropped: all pieces go to the same place
  MPI_Request requests[kPiecesInFlight];
};

// One frame to be sent, or several; the bytes of the message follow this struct.
struct Message {
  Message* next;
  MPI_Request request;
  Outgoing* outgoing;  // null: there is no bulk of its own
  Pieces bulk;
  uint32_t bytes;  // of the message
  uint32_t frames;
  int tag;
  bool is_spare_size;  // returns to Outbox::spare after use

  Frame* frame() { return reinterpret_cast<Frame*>(this + 1); }
};
static_assert(sizeof(Message) % alignof(Frame) == 0);

struct alignas(64) Outbox {
  // Protects the members up to `left`, and is held for the MPI calls that send: the order of the calls is the order of
  // the frames.
  Lock lock;
  IntrusiveList<Message> queued;  // messages of one frame each, which wait for credits or for the next frame
  IntrusiveList<Message> flying;  // messages given to MPI, in this order
  IntrusiveList<Message> spare;   // small ones for reuse: as many as can be in flight at once
  uint32_t spares = 0;
  uint64_t sequence = 0;
  uint32_t credits = kWindow;  // frames that may be started
  uint32_t bulks = 0;          // number of bulks in `flying`
  bool left = false;           // this process has said goodbye

  // Written under the lock. Read without it, as a hint.
  std::atomic<uint32_t> queued_count{0};
  std::atomic<uint32_t> in_flight{0};  // queued or flying
  std::atomic<bool> closed{false};     // the peer has left, or the wire is closed: frames are dropped
  std::atomic<uint32_t> reported{0};   // how many of `taken` the credits of frames have reported to the peer

  std::atomic<uint32_t> taken{0};  // frames from the peer that were delivered; written by the poller
};

// A received frame that waits for its bulk, or for the bulk of a frame before it. The bytes of the frame follow this
// struct.
struct Arrived {
  Arrived* next;
  int tag;

  Frame* frame() { return reinterpret_cast<Frame*>(this + 1); }
};

struct Inbox {
  uint64_t sequence = 0;        // of the last frame that has come
  IntrusiveList<Arrived> held;  // if `receiving`, the bulk of the first one is in flight
  bool receiving = false;
  bool said_goodbye = false;
  Pieces bulk{};
};

struct Slot {
  char* data;  // a block of kMostBytes
  MPI_Request request;
  MPI_Status status;
  bool arrived;  // the receive is complete
  bool handled;  // the message has been handled and may be overwritten
};

struct Wire {
  WireUser user{};
  int number = 0;
  int count = 0;
  uint64_t job = 0;          // the word that every frame carries
  bool initialised = false;  // this wire has initialised MPI
  bool serialized = false;   // MPI takes one call at a time
  bool closed = false;       // the wire makes no MPI call any more; written under `polling`
  bool all_left = false;     // nothing was in flight when the wire was closed
  Lock mpi_lock;
  MPI_Comm frames{};
  MPI_Comm bulks{};
  int keyval = 0;
  Peer* peers = nullptr;
  Outbox* outboxes = nullptr;
  Inbox* inboxes = nullptr;
  uint32_t receiving = 0;  // number of inboxes with a bulk in flight

  Slot slots[kSlots]{};
  uint32_t head = 0;  // the slot that was posted first

  alignas(64) std::atomic<bool> polling{false};
  alignas(64) std::atomic<int> bell{0};  // doorbell.hpp
};

// The bytes of a frame in its message, without padding.
[[nodiscard]] inline uint64_t bytes_of(const Frame& frame) {
  return sizeof(Frame) + 8 * uint64_t{frame.words} + (frame.bulk <= kMostInlined ? frame.bulk : 0);
}
[[nodiscard]] inline uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

// Guards every MPI call once the wire has been joined: takes mpi_lock if MPI takes one call at a time.
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
