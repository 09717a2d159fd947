// SPDX-License-Identifier: Apache-2.0
//
// Lists, for `marline ps`, the constructs that a device works for while their tasks are held. Such a task has no stack
// and is in no list of the runtime. A record contains its own list links, and is in the list from the start of its
// construct to the end. Any thread may call these functions.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

struct PendingConstruct {
  PendingConstruct *next = nullptr, *previous = nullptr;
  const Device* device = nullptr;
  // What the construct waits for, in static storage. Changed by the thread that ends the construct.
  std::atomic<const char*> what{nullptr};
  const Entry* kernel = nullptr;  // may be null
  const char* place = nullptr;    // as in Launch
};

void add_pending(PendingConstruct* pending);
void remove_pending(PendingConstruct* pending);

// Registers the list with `marline ps`. Calls after the first do nothing.
void show_pending();

}  // namespace marline::offload::device
