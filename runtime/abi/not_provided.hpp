// SPDX-License-Identifier: Apache-2.0
//
// Entry points that compilers may call and Marline does not provide yet (not_provided.txt). They exist so that a
// program that refers to one loads, and stops with a clear line only if it calls it: never a wrong result.
#pragma once

namespace marline {

[[noreturn]] void not_provided(const char* name, const char* purpose);

}  // namespace marline
