// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are functions of the program itself, as in code of GCC: no image contains them, and a process that is
// forked from this one has them at the same addresses. Any thread.
#pragma once

#include "image/images.hpp"

namespace marline::offload::image {

// The entry of a function, which is never freed. It has no module; devices know where the function is
// (DeviceKind::locate).
[[nodiscard]] const Entry* entry_of_function(const void* function);

// Records the modules that are loaded now, at the first call: processes that are forked right after it have them.
void note_loaded_modules();
// Whether the module of this address was loaded at the first call of note_loaded_modules and has not been closed since.
[[nodiscard]] bool was_loaded(const void* address);

}  // namespace marline::offload::image
