// SPDX-License-Identifier: Apache-2.0
//
// The program's devices: which devices there are (MARLINE_DEVICES), and what is done before a device is used for the
// first time.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::registry {

using namespace device;

// The number of devices. A device that has to be started is started by the first call that uses it. Any thread.
[[nodiscard]] int device_count();

// The device for a construct.
struct Destination {
  // The device that has the construct's data environment: for a member of a cluster, the cluster; null: the host.
  Device* device;
  int number = -1;  // the program's number of the device; a member of a cluster has a number of its own
  int node = 0;     // the node of the cluster that is to run a region, from 1 on; 0: any node
};

// The device that the program's number means; -1 is the default device. It is the host also if target regions are
// disabled. Ends the program for a number without a device, and if the host must not be used
// (OMP_TARGET_OFFLOAD=mandatory).
[[nodiscard]] Destination destination_of(int64_t number);
[[nodiscard]] inline Device* device_for_construct(int64_t number) { return destination_of(number).device; }

// The number of the cluster's nodes; 0: there is no cluster.
[[nodiscard]] int cluster_nodes();

// The default device, as in marline_device_provider_t.
[[nodiscard]] int default_device(const char* wish);

// The same as device_for_construct, for a routine. Null: the host, or `exists` is false: there is no device with that
// number.
[[nodiscard]] Device* device_for_routine(int number, bool& exists);

// The facts about the device with that number, which may be a member of a cluster. Null: there is no such device, or it
// is the host. Constant.
[[nodiscard]] const DeviceFacts* device_facts(int number);
// The name of the kind of a device for which device_facts is not null.
[[nodiscard]] const char* device_kind(int number);

// Whether `prepare` has nothing to do.
[[nodiscard]] bool is_prepared(const Device* device);

// Makes the device ready to be used: starts it, loads the images of all modules, and maps their variables. May suspend.
void prepare(Device* device);

// Starts the devices that live in other processes, before main, while this process is as it was made. A process that is
// a worker serves the program here, and does not return. If this function is not called, a worker does not return from
// the other functions, in main.
void start_early();

// Notes that this thread has registered the module. So it holds the loader's lock, unless the module is the program's.
void note_registration(const Module* module);

// Called while the module's library is being closed. When it returns, no device knows the library's variables. The
// images are unloaded by the next `prepare` of each device, since this thread holds the loader's lock.
void forget_module(Module* module);

// Stops all devices at the program's end, when nothing runs any more.
void stop_all();

[[nodiscard]] bool is_mandatory();

}  // namespace marline::offload::registry
