// SPDX-License-Identifier: Apache-2.0
//
// Constructs that are put aside while a device works for them, for `marline ps`: their tasks are held, have no stack,
// and are in no list of the runtime's. Each lies in a list by its own storage, from its start to its end. Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

struct Aside {
  Aside* next = nullptr;
  Aside** link = nullptr;  // that points to it
  const Device* device = nullptr;
  std::atomic<const char*> what{nullptr};  // that it waits for: static storage; changed by the thread that ends it
  const Entry* kernel = nullptr;           // or null
  const char* place = nullptr;             // as in Launch
};

void add_aside(Aside* aside);
void remove_aside(Aside* aside);

// Lets `marline ps` see them; once.
void show_asides();

}  // namespace marline::offload::device
