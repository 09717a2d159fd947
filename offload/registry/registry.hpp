// SPDX-License-Identifier: Apache-2.0
//
// The program's devices: which there are (MARLINE_DEVICES), and what is done before one is used for the first time.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::registry {

using namespace device;

// The number of devices; those that need it are started by the first call that uses them. Any thread.
[[nodiscard]] int device_count();

// Where a construct goes.
struct Destination {
  Device* device;   // whose data environment it has: for a member of a cluster, the cluster; null: the host itself
  int number = -1;  // as the program counts it: a member has one of its own
  int node = 0;     // of a cluster, that is to run a region, from 1 on; 0: any
};

// What the program's number means; the host also if target regions are disabled. -1: the default device. Ends the
// program for a number that is none, and where the host must not be taken (OMP_TARGET_OFFLOAD=mandatory).
[[nodiscard]] Destination destination_of(int64_t number);
[[nodiscard]] inline Device* device_for_construct(int64_t number) { return destination_of(number).device; }

// How many nodes the cluster has; 0: there is none.
[[nodiscard]] int cluster_nodes();

// The default device, as marline_device_provider_t has it.
[[nodiscard]] int default_device(const char* wish);

// The same as device_for_construct, for a routine: null for the host; `exists` tells it from a number that is none.
[[nodiscard]] Device* device_for_routine(int number, bool& exists);

// Of the device with that number, also of a member of a cluster; null: there is none, or it is the host. Constant.
[[nodiscard]] const DeviceFacts* device_facts(int number);
[[nodiscard]] const char* device_kind(int number);

// Whether `prepare` has nothing to do.
[[nodiscard]] bool is_prepared(const Device* device);

// Ready to be used: started, with the images of all modules loaded and their variables mapped. May suspend.
void prepare(Device* device);

// Devices that live in other processes are started before main, while this process is as it was made. A process that is
// a worker of another one serves it, and does not return. If this function is not called, the others do not, in main.
void start_early();

// This thread has registered the module: it has the loader's lock, unless it is the program's.
void note_registration(const Module* module);

// The module's library is being closed. Devices do not know its variables any more at the return; the images are
// unloaded by the next `prepare` of each device, since this thread has the loader's lock.
void forget_module(Module* module);

// The program ends: nothing runs any more.
void stop_all();

[[nodiscard]] bool is_mandatory();

}  // namespace marline::offload::registry
