// SPDX-License-Identifier: Apache-2.0
//
// Devices that other processes of the job, the workers, provide, usually on other nodes. Such a device has two sides,
// the program's (remote_device.cpp) and the worker's (worker/serve.cpp); frames.hpp has the frames between them.
// Workers run no `main`. A worker is one device or several, which it numbers from 0 on (worker_devices.hpp). A device's
// memory lies at the same addresses in the program, which has no access there, and in the worker.
#pragma once

#include "device/contract/device.hpp"
#include "device/remote/job/frames.hpp"

namespace marline::offload::device {

using namespace wire;

// How many workers there are, by the environment alone if this process has not joined the job. 0: none, or this process
// belongs to no job. Any thread.
[[nodiscard]] int worker_count();

// How many devices all workers are together; they are numbered in the order of the workers. Before this process has
// joined the job, each worker counts as one device. If the environment says that a worker may be several, the call
// joins the job. Called only if there are workers. Any thread.
[[nodiscard]] int node_device_count();

[[nodiscard]] bool node_device_is_gpu(int device);
void describe_node_device(int device, DeviceFacts& facts);

// The number of the device that has the given index among the GPUs, or among the other devices.
[[nodiscard]] int node_device_at(int index, bool is_gpu);

// Joins the job at the first call; `user` is as for WireKind::join. Ends the process if that fails.
const NodeJob& join_job(const WireUser& user);

// Serves the program until it ends. The calling thread is the process's first thread, before main. If nothing that is
// loaded before main has code for devices, it is a thread that asks for devices in main.
[[noreturn]] void serve_node();

// Whether this process is a worker. Any thread.
[[nodiscard]] bool is_worker();

// Called in the program: start_nodes joins the job, and end_nodes ends it. The workers wait for both, whether or not a
// device is used.
void start_nodes();
void end_nodes();

// Called in a forked child of the program: the workers belong to the program, so all devices of this kind are lost for
// the child (registry/registry.cpp).
void forget_nodes();

}  // namespace marline::offload::device
