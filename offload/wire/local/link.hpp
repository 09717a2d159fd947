// SPDX-License-Identifier: Apache-2.0
//
// One peer of the wire `local`: the frames to it and the frames from it. Any thread sends, under `lock`; the thread
// that holds the wire's poll lock receives. There are two kinds of transport: a pair of rings in shared memory, with a
// socket that only shows that the peer is alive, or that socket itself.
#pragma once

#include "base/lock.hpp"
#include "wire/base/frame_decoder.hpp"
#include "wire/base/outbox.hpp"
#include "wire/local/shared_ring.hpp"

#include <sys/uio.h>

#include <atomic>

namespace marline::offload::wire {

inline constexpr uint32_t kFewQueued = 64;  // frames: a link with more in its queue has no room
// Frames that the peer has not reported as taken: a link with more has no room.
inline constexpr uint64_t kFewUnread = 4096;
// Frames taken: with so many, the peer gets credits even if there is no answer.
inline constexpr uint32_t kReportAtLeast = 1024;

// A burst on a socket: frames that follow one another within kGap. Each system call takes several microseconds, so
// after the first kAtOnce frames the frames of a burst wait in the outbox until there are many, or until a poll finds
// that they have waited for long enough. A frame with kMayWait waits even as the first one; the next frame without the
// flag sends it, too. A frame with kAwaited never waits: a chain of questions and answers is no burst.
struct Burst {
  static constexpr int64_t kGap = 20'000;    // nanoseconds; also how long a frame waits
  static constexpr uint32_t kAtOnce = 8;     // frames of a burst that do not wait
  static constexpr uint32_t kMostHeld = 32;  // frames that wait; well below kFewQueued
  // Bytes of the bulk of a frame that waits, which is copied; a frame with more is sent at once.
  static constexpr uint64_t kMostBulk = 4096;

  uint64_t last_sent = 0;
  uint32_t frames = 0;

  // Counts a frame that is sent at time `sent` (now). Returns whether it may wait.
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
  // If not shared: the socket had too little room for the queued frames, which wait for room. Stays set until nothing
  // is queued. Written under the link's lock; read without it as a hint.
  std::atomic<bool> is_full{false};
  // The bytes that have been read from the socket and not decoded:
  char* stage = nullptr;
  uint32_t stage_from = 0;
  uint32_t stage_to = 0;
  std::atomic<bool> has_stage{false};  // the stage has bytes; for threads that do not poll
  const char* silence = nullptr;       // the text that reports that the peer's machine is silent
};
inline constexpr uint32_t kStage = 64 << 10;

// The limits of a poll's visit to a link.
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
  uint64_t sequence = 0;                   // sequence of the last frame; under `lock`
  bool said_leave = false;                 // under `lock`: kLeave has been sent, nothing follows
  Burst burst;                             // under `lock`
  std::atomic<uint64_t> sent{0};           // the same as `sequence`, for has_room
  std::atomic<uint32_t> queued{0};         // frames in `outbox`
  std::atomic<uint64_t> taken_by_peer{0};  // frames, by the peer's credits. Written by the polling thread
  std::atomic<uint32_t> unreported{0};     // frames delivered here that no credits have reported to the peer
  // A send failed because the peer's machine is silent: the system reports that only once.
  std::atomic<bool> is_silent{false};
  std::atomic<bool> ended{false};  // no more bytes will come. Written by the polling thread
  std::atomic<bool> gone{false};   // ended, and all received frames are delivered. Written by the polling thread

  FrameDecoder decoder;       // used by the polling thread only, like the next two
  bool has_left = false;      // the peer has sent kLeave
  const char* why = nullptr;  // if `ended`: the reason; null if the peer process has ended
  bool watches_room = false;  // the socket is watched for room; used by the waiting thread only

  // Sends a frame, and fills in its sequence and its credits. kAll: the transport has taken everything, or the frame is
  // dropped because the peer is gone. Sets `outgoing` to null if the bulk has been copied.
  [[nodiscard]] Sent send(Frame frame, const uint64_t* words, const void* bulk, Outgoing*& outgoing);
  // Sends a control frame.
  [[nodiscard]] Sent send_control(Frame frame);

  // Sends some of the queued frames, unless all of them may still wait at `time`. kBulk: a frame with a bulk has been
  // sent completely, and the caller must call `sent` of `finished`; more frames may be queued.
  [[nodiscard]] Flushed flush(uint64_t time, Outgoing*& finished);

  // Called by the polling thread: the peer's machine is silent, so nothing more arrives.
  void end_in_silence() { end(transport.silence); }

  // Delivers the frames that have arrived, as far as the visit allows.
  void receive(Visit& visit);
  // Whether there are bytes that can be decoded without a system call, or the end of the link is to be handled.
  [[nodiscard]] bool has_input() const;
  // Whether a queued frame can be sent, as far as this process knows: the system reports when a full socket has room.
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
    bool all;  // everything that was tried has been sent
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
