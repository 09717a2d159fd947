// SPDX-License-Identifier: Apache-2.0
//
// Images without code, which stand for those of a program that has code for every GPU: libomptarget counts only devices
// for which there is an image, and looks no further than an image's head until it loads it. For lists of devices only,
// in processes that run no target region.
#pragma once

namespace marline::offload::image {

// Registers one image for each of these compute capabilities of NVIDIA's GPUs (times ten). Once.
void register_stub_images(const int* capabilities, int count);

}  // namespace marline::offload::image
