// SPDX-License-Identifier: Apache-2.0
//
// What a module has for other devices, for a library that drives them: LLVM's libomptarget. Any thread.
#pragma once

#include "image/images.hpp"

namespace marline::offload::image {

// The module's descriptor without its images for this processor, made once per module. It reads nothing of a library's
// memory later on. Null if the module has no such images or is gone.
[[nodiscard]] void* foreign_descriptor(Module* module);

}  // namespace marline::offload::image
