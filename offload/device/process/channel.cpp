// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the rings that the program and a device's process share, and lets a reader sleep. The reader first
// stores in `wakes_at` what it waits for, then looks at the ring again, and then sleeps on `wakes_at`. A writer first
// moves `tail` and then loads `wakes_at`. Both are seq_cst: with a weaker order, each could miss the other's store.
#include "device/process/channel.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstring>

namespace marline::offload::device {

bool Ring::has_room(uint64_t bytes) const {
  return written_ + bytes - head.load(std::memory_order_acquire) <= kBytes;  // pairs with read
}

void Ring::write(const void* from, uint64_t bytes) {
  if (bytes == 0) return;  // a kernel without arguments has a null pointer here, which memcpy does not allow
  uint64_t at = written_ % kBytes;
  uint64_t first = bytes < kBytes - at ? bytes : kBytes - at;
  std::memcpy(data + at, from, first);
  std::memcpy(data, static_cast<const char*>(from) + first, bytes - first);
  written_ += bytes;
}

void Ring::publish() {
  tail.store(written_);
  if (wakes_at.load() != kAnything) return;
  press();
}

void Ring::press() {
  if (wakes_at.exchange(0) != 0) syscall(SYS_futex, &wakes_at, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Ring::is_empty() const {
  return tail.load(std::memory_order_acquire) == head.load(std::memory_order_relaxed);  // pairs with publish
}

void Ring::read(void* to, uint64_t bytes) {
  uint64_t from = head.load(std::memory_order_relaxed), at = from % kBytes;
  uint64_t first = bytes < kBytes - at ? bytes : kBytes - at;
  std::memcpy(to, data + at, first);
  std::memcpy(static_cast<char*>(to) + first, data, bytes - first);
  head.store(from + bytes, std::memory_order_release);  // pairs with has_room
}

void Ring::sleep(int milliseconds) {
  uint32_t what = wakes_at.load();
  if (what == 0 || (what == kAnything && tail.load() != head.load(std::memory_order_relaxed))) return;
  timespec limit = {milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  syscall(SYS_futex, &wakes_at, FUTEX_WAIT, what, milliseconds < 0 ? nullptr : &limit, nullptr, 0);
}

}  // namespace marline::offload::device
