// SPDX-License-Identifier: Apache-2.0
//
// Allocates the block of words for the devices after the first kHere.
#include "image/device_words.hpp"

#include "base/report.hpp"

#include <cstdlib>

namespace marline::offload::image {

DeviceWords::Rest* DeviceWords::make_rest() {
  Rest* rest = rest_.load(std::memory_order_acquire);  // pairs with the exchange below
  if (rest != nullptr) return rest;
  auto* made = static_cast<Rest*>(std::calloc(1, sizeof(Rest)));
  if (made == nullptr) fatal("no memory for the code of %d devices", kMostDevices);
  if (rest_.compare_exchange_strong(rest, made, std::memory_order_acq_rel, std::memory_order_acquire)) return made;
  std::free(made);  // another thread was first
  return rest;
}

void DeviceWords::clear() {
  for (auto& word : here_) word.store(0, std::memory_order_relaxed);
  Rest* rest = rest_.load(std::memory_order_acquire);  // pairs with make_rest
  if (rest == nullptr) return;
  for (auto& word : rest->words) word.store(0, std::memory_order_relaxed);
}

void DeviceWords::free() { std::free(rest_.exchange(nullptr, std::memory_order_relaxed)); }

}  // namespace marline::offload::image
