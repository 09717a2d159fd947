// SPDX-License-Identifier: Apache-2.0
//
// Devices of other processes of the job, on other nodes as a rule: the two sides of such a device, the program's
// (node.cpp) and the worker's (serve.cpp), and the frames between them. Workers run no `main`. A worker is one
// device or several, which it numbers from 0 on (worker_devices.hpp). A device's memory lies at the same addresses in
// the program, which has no access there, and in the worker.
#pragma once

#include "device/contract/device.hpp"
#include "device/remote/job/frames.hpp"

namespace marline::offload::device {

using namespace wire;

// How many workers the environment says that there are, without a wire; 0: none, or this process belongs to no job. Any
// thread.
[[nodiscard]] int worker_count();

// How many devices the workers are, in the order of their numbers; before this process has joined the job, one each,
// unless the environment says something else: then joins it. Only if there are workers. Any thread.
[[nodiscard]] int node_device_count();

[[nodiscard]] bool node_device_is_gpu(int device);
void describe_node_device(int device, DeviceFacts& facts);

// Which of them is the one with that index among the GPUs, or among the others.
[[nodiscard]] int node_device_at(int index, bool is_gpu);

// Joins the job, at the first call; `user` as WireKind::join has it. Ends the process if that cannot be.
const NodeJob& join_job(const WireUser& user);

// Serves the program until it ends. The calling thread is the process's first one, before main; or one that asks for
// devices in main, where what is loaded before has no code for them.
[[noreturn]] void serve_node();

// Whether this process is a worker. Any thread.
[[nodiscard]] bool is_worker();

// In the program: joins the job, and ends it. The workers wait for both, whether or not a device is used.
void start_nodes();
void end_nodes();

// In a fork of the program: the workers are the program's. All devices of this kind are lost (registry/registry.cpp).
void forget_nodes();

}  // namespace marline::offload::device
