// SPDX-License-Identifier: Apache-2.0
//
// A word for each device, 0 at first. The words of the first kHere devices are members. The words of the other devices
// are in a block, which is allocated when the first of them is written: so little memory is taken while few devices are
// used. Any thread. All threads that write one word write the same value, or hold a lock.
#pragma once

#include "base/device_set.hpp"

#include <atomic>
#include <cstdint>

namespace marline::offload::image {

class DeviceWords {
 public:
  [[nodiscard]] uint64_t get(int device) const {
    if (device < kHere) return here_[device].load(std::memory_order_relaxed);
    const Rest* rest = rest_.load(std::memory_order_acquire);  // pairs with make_rest
    return rest != nullptr ? rest->words[device - kHere].load(std::memory_order_relaxed) : 0;
  }

  void set(int device, uint64_t value) {
    if (device < kHere) return here_[device].store(value, std::memory_order_relaxed);
    make_rest()->words[device - kHere].store(value, std::memory_order_relaxed);
  }

  void clear();

  // Frees the block, when no thread uses the words any more.
  void free();

 private:
  static constexpr int kHere = 8;
  struct Rest {
    std::atomic<uint64_t> words[kMostDevices - kHere];
  };

  Rest* make_rest();

  std::atomic<uint64_t> here_[kHere];
  std::atomic<Rest*> rest_;  // published (release) by the thread that makes it
};

}  // namespace marline::offload::image
