// SPDX-License-Identifier: Apache-2.0
//
// The ring, and how a thread sleeps for it. The thread sets `asleep` or `wants_room`, then looks again, then sleeps;
// the other process moves its end of the ring, then reads what the thread has set. All four accesses are seq_cst: with
// weaker orders each process could miss the other's store, and the thread would sleep although it need not.
#include "wire/local/shared_ring.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace marline::offload::wire {

void Bell::ring(int event_file) {
  if (asleep.load() == 0 || asleep.exchange(0) == 0) return;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(event_file, &one, sizeof one);
}

void SharedRing::open(void* memory, uint64_t bytes) {
  head_ = static_cast<RingHead*>(memory);
  data_ = static_cast<char*>(memory) + kRingData;
  bytes_ = bytes;
}

size_t SharedRing::write(const void* from, uint64_t bytes) {
  uint64_t taken = written_ - head_->head.load(std::memory_order_acquire);  // pairs with consume
  if (taken > bytes_) return 0;  // an invalid position: the reader's process has overwritten it
  uint64_t piece = std::min(bytes, bytes_ - taken), at = written_ & (bytes_ - 1);
  if (piece == 0) return 0;
  uint64_t first = std::min(piece, bytes_ - at);
  std::memcpy(data_ + at, from, first);
  std::memcpy(data_, static_cast<const char*>(from) + first, piece - first);
  written_ += piece;
  return piece;
}

void SharedRing::publish() { head_->tail.store(written_); }

uint64_t SharedRing::peek(const char*& bytes) const {
  uint64_t from = head_->head.load(std::memory_order_relaxed), at = from & (bytes_ - 1);
  bytes = data_ + at;
  return std::min(head_->tail.load(std::memory_order_acquire) - from, bytes_ - at);  // pairs with publish
}

bool SharedRing::consume(uint64_t bytes) {
  head_->head.store(head_->head.load(std::memory_order_relaxed) + bytes);
  // Waits for half a ring, so that a writer is not woken for every piece that is read.
  return head_->wants_room.load() != 0 && has_much_room() && head_->wants_room.exchange(0) != 0;
}

bool SharedRing::is_empty() const { return head_->tail.load() == head_->head.load(std::memory_order_relaxed); }

bool SharedRing::is_broken() const { return used() > bytes_; }

}  // namespace marline::offload::wire
