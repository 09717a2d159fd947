// SPDX-License-Identifier: Apache-2.0
//
// The error for entry points of libomptarget that a program may call and that do not exist here (not_provided.txt). Any
// thread.
#pragma once

namespace marline::offload::abi {

[[noreturn]] void not_provided(const char* name, const char* purpose);

}  // namespace marline::offload::abi
