// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens LLVM's libomptarget. It is opened by its path, because our own library has the same names.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// Opens the library, once. RTLD_DEEPBIND is set, so its calls of the OpenMP runtime go to the runtime library that it
// needs, i.e. to libmarline by the compat folder, and its calls of its own functions stay inside it. False: there is no
// library, and `why` is set.
[[nodiscard]] bool open_llvm_library(const char** why);

// Called by any thread after the library is open: a routine of the library itself, by name, null if there is none; and
// the library's number of a device.
[[nodiscard]] void* llvm_routine(const char* name);
[[nodiscard]] inline int llvm_number(const Device* device) { return device->index; }

// The LLVM version of the library according to its file name; 0: the file name has no version.
[[nodiscard]] int llvm_version();

// Notes once how many devices the library has. The library uses that number for the host.
void note_llvm_count(int count);
[[nodiscard]] int llvm_host_number();

}  // namespace marline::offload::device
