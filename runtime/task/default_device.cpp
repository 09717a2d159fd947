// SPDX-License-Identifier: Apache-2.0
//
// Calls the function that the library with the devices has registered.
#include "task/default_device.hpp"

#include "base/atomic.hpp"
#include "config/options.hpp"

namespace marline {

namespace {

Atomic<ChooseDefaultDevice> g_choose{nullptr};  // set once, by the library's constructor

}  // namespace

void set_default_device_chooser(ChooseDefaultDevice choose) { g_choose.store(choose, release); }  // pairs with the load

int default_device_of(const Icvs& icvs) {
  if (icvs.default_device != kChosenByDevices) return icvs.default_device;
  ChooseDefaultDevice choose = g_choose.load(acquire);  // pairs with the store
  return choose != nullptr ? choose(options().default_device_list) : 0;
}

}  // namespace marline
