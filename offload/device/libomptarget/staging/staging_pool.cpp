// SPDX-License-Identifier: Apache-2.0
//
// Keeps free blocks by size class. A block has the size of its class; there are four classes per power of two.
#include "device/libomptarget/staging/staging_pool.hpp"

#include "base/options.hpp"
#include "base/report.hpp"
#include "device/contract/wait.hpp"
#include "device/libomptarget/staging/pinned.hpp"
#include "image/images.hpp"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

namespace marline::offload::device {

namespace {

constexpr int kLeastShift = 12;  // the smallest block has 2^12 bytes: a page

struct SizeClass {
  int index;
  size_t bytes;
};

SizeClass class_of(size_t bytes) {
  if (bytes <= size_t{1} << kLeastShift) return {0, size_t{1} << kLeastShift};
  int shift = std::bit_width(bytes - 1) - 1;  // 2^shift < bytes <= 2^(shift + 1)
  size_t step = size_t{1} << (shift - 2);
  size_t steps = (bytes + step - 1) / step;  // 5 to 8
  return {4 * (shift - kLeastShift) + static_cast<int>(steps) - 4, steps * step};
}

// Each is made when its device first needs it: 256 of them, with mutexes that are not zero, would be 660 KiB of the
// library's file.
std::atomic<StagingPool*> g_pools[kMostDevices];

}  // namespace

struct StagingPool::Waiter {
  marline_event_t event;
  size_t bytes;
  Waiter* next;
};

size_t StagingPool::size_of(size_t bytes) { return class_of(bytes).bytes; }

size_t StagingPool::limit() {
  static const size_t bytes = option_bytes(Option::kStaging);
  return bytes;
}

namespace {
const CheckedAtLoad g_checked(Option::kStaging, [] { (void)option_bytes(Option::kStaging); });
}  // namespace

void StagingPool::reserve(Device* device, size_t bytes) {
  Waiter self = {MARLINE_EVENT_INIT, bytes, nullptr};
  {
    Guard guard(lock_);
    if (waiters_.is_empty() && reserved_ + bytes <= limit()) {
      reserved_ += bytes;
      return;
    }
    waiters_.push(&self);
  }
  // The bytes are reserved for this waiter before it is woken (unreserve).
  wait_or_progress(&self.event, device, "target (staging memory)");
}

void StagingPool::unreserve(size_t bytes) {
  IntrusiveList<Waiter> served;
  {
    Guard guard(lock_);
    reserved_ -= bytes;
    while (!waiters_.is_empty() && reserved_ + waiters_.first()->bytes <= limit()) {
      Waiter* waiter = waiters_.pop();
      reserved_ += waiter->bytes;
      served.push(waiter);
    }
  }
  for (Waiter* waiter : served) marline_event_fulfill(&waiter->event);
}

char* StagingPool::take(Device* device, size_t bytes) {
  SizeClass wanted = class_of(bytes);
  {
    Guard guard(lock_);
    if (Idle* block = idle_[wanted.index].pop()) return reinterpret_cast<char*>(block);
    pinned_ += wanted.bytes;
  }
  trim(limit());
  auto* block = static_cast<char*>(allocate_pinned(device, wanted.bytes));
  if (block != nullptr) return block;
  Guard guard(lock_);
  pinned_ -= wanted.bytes;
  return nullptr;
}

void StagingPool::give(char* block, size_t bytes) {
  auto* idle = reinterpret_cast<Idle*>(block);
  int index = class_of(bytes).index;
  Guard guard(lock_);
  idle_[index].push_first(idle);
}

// Frees idle blocks, the largest first, while the pool has more than `bytes` pinned.
void StagingPool::trim(size_t bytes) {
  for (int index = kClasses - 1; index >= 0; --index) {
    for (;;) {
      Idle* block;
      {
        Guard guard(lock_);
        if (pinned_ <= bytes) return;
        block = idle_[index].pop();
        if (block == nullptr) break;
        size_t quarter = size_t{1} << (index / 4 + kLeastShift - 2);
        pinned_ -= (static_cast<size_t>(index % 4) + 4) * quarter;
      }
      (void)release_pinned(block);
    }
  }
}

StagingPool& staging_pool(const Device* device) {
  std::atomic<StagingPool*>& place = g_pools[device->number];
  StagingPool* pool = place.load(std::memory_order_acquire);  // pairs with the exchange
  if (pool != nullptr) return *pool;
  void* memory = std::malloc(sizeof(StagingPool));
  if (memory == nullptr) fatal("no memory for the staging of device %d", device->number);
  auto* made = new (memory) StagingPool;
  if (place.compare_exchange_strong(pool, made, std::memory_order_acq_rel, std::memory_order_acquire)) return *made;
  std::free(memory);  // another thread was first
  return *pool;
}

}  // namespace marline::offload::device
