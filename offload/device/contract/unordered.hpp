// SPDX-License-Identifier: Apache-2.0
//
// Two deferred constructs of which one uses data that the other maps, or takes it away, and neither comes behind the
// other: what a checking mode of a device hears of them.
#pragma once

#include "base/told.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::image {
struct Entry;
}

namespace marline::offload::device {

using image::Entry;

enum class UnorderedUse : uint8_t {
  kOfMapped,  // the first one uses what the other maps
  kOfGone,    // or takes away
  kEnds,      // takes away what the other uses
};

struct UnorderedPair {
  // What is known of a construct: `kernel` of a region, else null; `place` as in Launch.
  struct Construct {
    ConstructKind kind;
    const Entry* kernel;
    const char* place;
  };
  UnorderedUse use;
  Construct first, other;
  uintptr_t begin;  // of the data, on the host
  size_t bytes;
};

}  // namespace marline::offload::device
