// SPDX-License-Identifier: Apache-2.0
//
// Describes two deferred constructs without an order between them, of which one uses data that the other maps or
// unmaps. A device with a checking mode gets it by EarlySubmission::unordered.
#pragma once

#include "base/reported_construct.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::image {
struct Entry;
}

namespace marline::offload::device {

using image::Entry;

enum class UnorderedUse : uint8_t {
  kOfMapped,  // the first construct uses what the other one maps
  kOfGone,    // the first construct uses what the other one unmaps
  kEnds,      // the first construct unmaps what the other one uses
};

struct UnorderedPair {
  // What is known of one construct. `kernel` is null unless the construct is a target region; `place` is as in Launch.
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
