// SPDX-License-Identifier: Apache-2.0
//
// A byte ring from one process to another, in memory that both map, and the bell by which other processes wake a
// process. The holder of the link's lock in the writing process uses the writer's side; the polling thread of the
// reading process uses the reader's side.
#pragma once

#include "wire/base/wire.hpp"

#include <atomic>

namespace marline::offload::wire {

// One per process, in shared memory. A thread of the process sets `asleep` before it sleeps. The process that resets
// `asleep` must wake that thread, by the event file. So a ringer makes no system call while the process is awake.
struct Bell {
  alignas(64) std::atomic<uint32_t> asleep;

  void ring(int event_file);
};

// The part of the memory that both processes map for control. The bytes of the ring follow at kRingData.
struct RingHead {
  alignas(64) std::atomic<uint64_t> tail;        // bytes written; stored by the writer
  alignas(64) std::atomic<uint64_t> head;        // bytes read; stored by the reader
  alignas(64) std::atomic<uint32_t> wants_room;  // set by a writer that is about to sleep; reset by the reader
};
inline constexpr uint64_t kRingData = 4096;
static_assert(sizeof(RingHead) <= kRingData);

class SharedRing {
 public:
  // `bytes`: a power of two.
  void open(void* memory, uint64_t bytes);

  // Writer. Writes as many bytes as there is room for, and returns how many. The reader sees them after `publish`.
  size_t write(const void* from, uint64_t bytes);
  void publish();
  // A writer that wants to sleep calls want_room, then has_much_room, then sleeps. The reader rings once there is much
  // room.
  void want_room() { head_->wants_room.store(1); }
  [[nodiscard]] bool has_much_room() const { return used() <= bytes_ / 2; }

  // Reader. Sets `bytes` to the first unread byte. Returns how many bytes can be read there; 0: none.
  [[nodiscard]] uint64_t peek(const char*& bytes) const;
  // Returns true if the writer waits for room and is to be rung.
  [[nodiscard]] bool consume(uint64_t bytes);
  // May be called by any thread of the reading process.
  [[nodiscard]] bool is_empty() const;
  // Whether the other process has written invalid positions.
  [[nodiscard]] bool is_broken() const;

 private:
  // The result is never too small, even if the other end moves meanwhile.
  [[nodiscard]] uint64_t used() const {
    uint64_t from = head_->head.load();
    return head_->tail.load() - from;
  }

  RingHead* head_ = nullptr;
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t written_ = 0;  // bytes written, also unpublished ones; used by the writer only
};

}  // namespace marline::offload::wire
