// SPDX-License-Identifier: Apache-2.0
//
// Lists the kinds of devices. A new kind is a DeviceKind in a file of its own, and a line here.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

extern const DeviceKind kHostKind;     // the processor, in this process (host.cpp)
extern const DeviceKind kProcessKind;  // the processor, in another process of this machine (process.cpp)
extern const DeviceKind kNodeKind;     // the processors of the job's other processes (node.cpp)
extern const DeviceKind kNodeGpuKind;  // the GPUs of the job's other processes (remote_gpu.cpp)
extern const DeviceKind kClusterKind;  // all processors or GPUs of the job's processes as one device (cluster.cpp)
extern const DeviceKind kLlvmKind;     // the devices of LLVM's libomptarget (libomptarget.cpp)

}  // namespace marline::offload::device
