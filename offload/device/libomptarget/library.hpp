// SPDX-License-Identifier: Apache-2.0
//
// How LLVM's libomptarget is found: our own library has its names, so it is opened by its path.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// Opened with RTLD_DEEPBIND, so that what it asks of the OpenMP runtime goes to the one it needs, i.e. to libmarline by
// the compat folder, and what it calls of itself stays there. False, and `why` is set, if there is none. Once.
[[nodiscard]] bool open_llvm_library(const char** why);

// Behind that, by any thread: a routine of the library's own, by name, null if it has none; and a device's number as it
// counts.
[[nodiscard]] void* llvm_routine(const char* name);
[[nodiscard]] inline int llvm_number(const Device* device) { return device->index; }

// The LLVM version of the library, by the name of its file; 0: that has none.
[[nodiscard]] int llvm_version();

// How many devices it has, noted once; behind that, the number that it takes the host for.
void note_llvm_count(int count);
[[nodiscard]] int llvm_host_number();

}  // namespace marline::offload::device
