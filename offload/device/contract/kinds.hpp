// SPDX-License-Identifier: Apache-2.0
//
// The kinds of devices that there are. A new one is a DeviceKind in a file of its own, and a line here.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

extern const DeviceKind kHostKind;     // this processor, in this process (host.cpp)
extern const DeviceKind kProcessKind;  // this processor, in a process of its own (process.cpp)
extern const DeviceKind kNodeKind;     // processors of the job's other processes (node.cpp)
extern const DeviceKind kNodeGpuKind;  // and their GPUs (remote_gpu.cpp)
extern const DeviceKind kClusterKind;  // all of these processors as one device (cluster.cpp)
extern const DeviceKind kLlvmKind;     // those of LLVM's libomptarget (libomptarget.cpp)

}  // namespace marline::offload::device
