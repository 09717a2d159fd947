// SPDX-License-Identifier: Apache-2.0
//
// Registers images without code, in place of the images of a program that has code for every GPU: libomptarget counts
// only devices for which there is an image, and reads only an image's ELF header until it loads the image. Used only
// for lists of devices, in processes that run no target region.
#pragma once

namespace marline::offload::image {

// Registers one image for each of these compute capabilities of NVIDIA's GPUs (times ten). Once.
void register_stub_images(const int* capabilities, int count);

}  // namespace marline::offload::image
