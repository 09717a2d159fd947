// SPDX-License-Identifier: Apache-2.0
//
// One peer of the wire `local`: what is sent to it and what comes from it. Any thread sends, under `lock`; the thread
// that has the wire's poll lock receives. Two kinds of transport: a pair of rings in shared memory, whose socket says
// only that the peer lives, or that socket itself.
#pragma once

#include "base/lock.hpp"
#include "wire/base/frame_decoder.hpp"
#include "wire/base/outbox.hpp"
#include "wire/local/shared_ring.hpp"

#include <sys/uio.h>

#include <atomic>

namespace marline::offload::wire {

inline constexpr uint32_t kFewQueued = 64;      // frames: with more, a link has no room
inline constexpr uint64_t kFewUnread = 4096;    // frames that the peer has not said it has taken: with more, likewise
inline constexpr uint32_t kTellAtLeast = 1024;  // frames taken: with more, the peer is told even if there is no answer

// A burst on a socket: frames that come so close behind one another. Each call of the system takes several
// microseconds, so from some number on the frames of a burst wait in the outbox, until there are many, or a poll finds
// that they have waited for long enough. A frame with kMayWait does so from the first on; the next one without takes it
// along. One with kAwaited never does: a chain of questions and answers is no burst.
struct Burst {
  static constexpr int64_t kGap = 20'000;      // nanoseconds; also how long a frame waits
  static constexpr uint32_t kAtOnce = 8;       // frames of a burst that do not wait
  static constexpr uint32_t kMostHeld = 32;    // frames that wait; well below kFewQueued
  static constexpr uint64_t kMostBulk = 4096;  // of a frame that waits: it is copied; one with more goes at once

  uint64_t last_sent = 0;
  uint32_t frames = 0;

  // Whether a frame that is sent at that time, by monotonic_nanoseconds, may wait.
  [[nodiscard]] bool take(uint64_t sent);
};

// Whether the system ends a connection with this error because nothing comes from the peer's machine (tcp(7)).
[[nodiscard]] bool is_silence(int error);

struct Transport {
  bool shared = false;
  std::atomic<int> socket{-1};  // closed by the polling thread, under the link's lock
  // If shared:
  SharedRing out, in;
  void* memory = nullptr;  // of both rings
  size_t memory_bytes = 0;
  Bell* bell = nullptr;  // the peer's
  int bell_file = -1;
  // If not: what is queued waits for room, from a try that found too little until nothing is queued. Written under the
  // link's lock; read without as a hint.
  std::atomic<bool> is_full{false};
  // And what has been read of the socket and not decoded:
  char* stage = nullptr;
  uint32_t stage_from = 0;
  uint32_t stage_to = 0;
  std::atomic<bool> has_stage{false};  // there are some, for threads that do not poll
  const char* silence = nullptr;       // what is to be said of a peer whose machine is silent
};
inline constexpr uint32_t kStage = 64 << 10;

// A poll's visit to a link.
struct Visit {
  const WireUser* user;
  int frames_left;     // to be delivered by this poll
  int64_t bytes_left;  // to be read from this link
};

struct Link {
  enum class Sent : uint8_t { kAll, kQueued, kQueuedFirst, kNoMemory };
  enum class Flushed : uint8_t { kNothing, kSome, kBulk };

  int peer = -1;
  Transport transport;

  Lock lock;
  Outbox outbox;                           // under `lock`
  uint64_t sequence = 0;                   // of the last frame; under `lock`
  bool said_leave = false;                 // under `lock`: nothing follows
  Burst burst;                             // under `lock`
  std::atomic<uint64_t> sent{0};           // the same as `sequence`, for has_room
  std::atomic<uint32_t> queued{0};         // frames in `outbox`
  std::atomic<uint64_t> taken_by_peer{0};  // frames, by its credits. Written by the polling thread
  std::atomic<uint32_t> untold{0};         // frames delivered here that the peer has not been told of
  std::atomic<bool> is_silent{false};      // a send was told that the peer's machine is silent: the system says it once
  std::atomic<bool> ended{false};          // no more bytes will come. Written by the polling thread
  std::atomic<bool> gone{false};           // the last that came has been delivered, too. Written by the polling thread

  FrameDecoder decoder;       // of the polling thread, as the next two
  bool has_left = false;      // the peer has said so
  const char* why = nullptr;  // `ended`: the reason, if it is not the peer's end
  bool watches_room = false;  // the socket is watched for room; of the waiting thread

  // The frame lacks its sequence and its credits. kAll: everything is on its way or, as the peer is gone, dropped. If
  // the bulk has been copied, `outgoing` is null behind it.
  [[nodiscard]] Sent send(Frame frame, const uint64_t* words, const void* bulk, Outgoing*& outgoing);
  // A frame of the wire's.
  [[nodiscard]] Sent send_control(Frame frame);

  // Sends some of what is queued, unless all of that waits and may do so still at this time. kBulk: of a frame with a
  // bulk all has gone, `finished` is to be told; there may be more.
  [[nodiscard]] Flushed flush(uint64_t time, Outgoing*& finished);

  // By the polling thread: the peer's machine is silent, so nothing comes any more.
  void end_in_silence() { end(transport.silence); }

  // Delivers what is there, as far as the visit allows.
  void receive(Visit& visit);
  // Bytes are here that can be decoded without a system call.
  [[nodiscard]] bool has_input() const;
  // Something queued can go on, as far as is known here: a socket that was full tells by itself.
  [[nodiscard]] bool has_output() const;

  [[nodiscard]] bool has_room() const {
    if (gone.load(std::memory_order_relaxed)) return true;
    auto unread =
        static_cast<int64_t>(sent.load(std::memory_order_relaxed) - taken_by_peer.load(std::memory_order_relaxed));
    return queued.load(std::memory_order_relaxed) < kFewQueued && unread < static_cast<int64_t>(kFewUnread);
  }

 private:
  struct Pushed {
    uint64_t bytes;
    bool all;  // of what was tried
  };

  Sent send_or_queue(const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing, bool may_wait);
  [[nodiscard]] bool pushes_held(bool may_wait) const;
  [[nodiscard]] bool waits_still(uint64_t time) const;
  uint64_t push(const Message& message);
  Pushed push_queued();
  Outgoing* note_pushed(uint64_t bytes);
  uint64_t push_to_ring(const Message& message);
  uint64_t push_to_socket(const iovec* parts, int count);
  void receive_from_ring(Visit& visit);
  void receive_from_socket(Visit& visit);
  bool fill_stage(Visit& visit);
  bool fill_bulk(Visit& visit);
  void note_read(ssize_t bytes);
  size_t decode(const char* bytes, size_t count, Visit& visit);
  void finish_frame(Visit& visit);
  void end(const char* reason);
};

}  // namespace marline::offload::wire
