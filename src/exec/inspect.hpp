// SPDX-License-Identifier: Apache-2.0
//
// What `marline ps` reads from a process: docs/design/inspection.md.
#pragma once

#include <cstddef>

namespace marline {

using DescribeWrite = void (*)(void* sink, const char* text, size_t length);
using Describe = void (*)(void* arg, DescribeWrite write, void* sink);

// marline_describe_register. False: the table is full.
bool describe_register(const char* name, Describe describe, void* arg);

}  // namespace marline
