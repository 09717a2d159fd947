// SPDX-License-Identifier: Apache-2.0
//
// Describes this machine's processor, for the kinds of devices that run on it. Any thread.
#pragma once

#include "base/facts.hpp"

namespace marline::offload::device {

// Fills in all but the uid.
void describe_processor(DeviceFacts& facts);

}  // namespace marline::offload::device
