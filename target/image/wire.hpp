// SPDX-License-Identifier: Apache-2.0
//
// Images as the compiler's code registers them: __tgt_bin_desc and __tgt_device_image (LLVM,
// offload/include/Shared/APITypes.h).
#pragma once

#include <cstdint>

namespace marline::target {

struct WireImage {
  const char* begin;
  const char* end;
  const char* entries_begin;
  const char* entries_end;
};
struct WireDescriptor {
  int32_t image_count;
  const WireImage* images;
  const char* entries_begin;
  const char* entries_end;
};

}  // namespace marline::target
