// SPDX-License-Identifier: Apache-2.0
//
// Gives the images of a module for other devices to the library that drives them: LLVM's libomptarget. Any thread.
#pragma once

#include "image/images.hpp"

namespace marline::offload::image {

// Makes a copy of the module's descriptor without the images for this processor. Called once per module. The copy
// refers to nothing in a library's memory. Null if the module has no images for other devices, or is gone.
[[nodiscard]] void* foreign_descriptor(Module* module);

}  // namespace marline::offload::image
