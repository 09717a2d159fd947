// SPDX-License-Identifier: Apache-2.0
//
// A ring of bytes from one process to another, in memory that both map, and the doorbell that the senders to a process
// ring. The writer's side belongs to whoever has the link's lock in the writing process, the reader's to the thread
// that polls in the reading one.
#pragma once

#include "wire/base/wire.hpp"

#include <atomic>

namespace marline::offload::wire {

// One per process, in shared memory. `asleep` is set by its thread that is about to sleep; whoever takes it back has to
// wake that thread, by the event file. So a ringer makes no system call while the process is awake.
struct Bell {
  alignas(64) std::atomic<uint32_t> asleep;

  void ring(int event_file);
};

// What both map. The bytes follow at kRingData.
struct RingHead {
  alignas(64) std::atomic<uint64_t> tail;        // written, by the writer
  alignas(64) std::atomic<uint64_t> head;        // read, by the reader
  alignas(64) std::atomic<uint32_t> wants_room;  // by a writer that is about to sleep; taken back by the reader
};
inline constexpr uint64_t kRingData = 4096;
static_assert(sizeof(RingHead) <= kRingData);

class SharedRing {
 public:
  // `bytes`: a power of two.
  void open(void* memory, uint64_t bytes);

  // Writer. As many bytes as there is room for; the reader sees them behind `publish`.
  size_t write(const void* from, uint64_t bytes);
  void publish();
  // A writer that sleeps for room says so, looks whether there is much, and is rung once there is.
  void want_room() { head_->wants_room.store(1); }
  [[nodiscard]] bool has_much_room() const { return used() <= bytes_ / 2; }

  // Reader. How many bytes lie at `bytes`; 0: none.
  [[nodiscard]] uint64_t peek(const char*& bytes) const;
  // True: the writer wants to be rung.
  [[nodiscard]] bool consume(uint64_t bytes);
  // Any thread of the reading process.
  [[nodiscard]] bool is_empty() const;
  // Whether the other process has left nonsense in it.
  [[nodiscard]] bool is_broken() const;

 private:
  // Never too little, if the other end moves meanwhile.
  [[nodiscard]] uint64_t used() const {
    uint64_t from = head_->head.load();
    return head_->tail.load() - from;
  }

  RingHead* head_ = nullptr;
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t written_ = 0;  // of the writer
};

}  // namespace marline::offload::wire
