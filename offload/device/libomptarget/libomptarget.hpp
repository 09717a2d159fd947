// SPDX-License-Identifier: Apache-2.0
//
// The devices of LLVM's own, unpatched libomptarget, which this library calls: GPUs. libomptarget keeps the data
// environment of these devices, so whole constructs are passed to it. Each construct is started without waiting for it.
// A progress hook asks for its end, and the task that waits is suspended or held. Any thread may call these functions.
#pragma once

#include "device/contract/delegate.hpp"
#include "device/libomptarget/library.hpp"

namespace marline::offload::device {

// How many devices libomptarget has; -1: it cannot be found. `why` gets the reason if there are none.
[[nodiscard]] int llvm_device_count(const char** why);

// As Delegate::run_kernel.
int llvm_kernel(Device* device, const Origin& origin, int32_t teams, int32_t threads, void* id,
                const KernelArguments& arguments, ReportScope& scope);

// The device's address of a variable of an image, which is loaded if necessary; 0: the device does not have it.
[[nodiscard]] uint64_t llvm_variable(Device* device, const void* host);

// As Delegate::run_data.
void llvm_data(Device* device, const Origin& origin, ConstructKind kind, bool nowait, const Items& items, void** names,
               ReportScope& scope);

extern const Delegate kLlvmDelegate;

// The module's library is being closed: libomptarget forgets the module's images and variables. At the end of the
// program it does not, since libomptarget may be gone already. Any thread may call this.
void llvm_forget(Module* module);

// Called in the child of a fork, which has no GPU. Operations in flight belong to the parent, and libomptarget is not
// called at the end.
void llvm_forget_operations();

// Called before llvm_forget: removes a variable of a module from the device.
void llvm_remove_global(Device* device, const void* host);

}  // namespace marline::offload::device
