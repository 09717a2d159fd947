// SPDX-License-Identifier: Apache-2.0
//
// Where a target region stands in the source, for messages. Any thread.
#pragma once

#include "items/items.hpp"

#include <cstddef>

namespace marline::offload::device {

using namespace items;

// Writes "the target region at FILE:LINE (FUNCTION)" from the ident's text, or what the region's name says of it. Both
// may be null.
void describe_place(const char* name, const char* place, char* to, size_t bytes);

// The same of any construct: `data`, which is what it is called, and " at FILE:LINE" or, without debug information,
// " at FILE+OFFSET" if there is no kernel.
void describe_source(const Source& source, const char* data, char* to, size_t bytes);

// Writes `what` and " at FILE+OFFSET", which addr2line takes, if the address lies in a loaded file.
void describe_code(const char* what, const void* code, char* to, size_t bytes);

// Writes "FILE:LINE" from the ident's text. False: it does not say.
bool describe_position(const char* place, char* to, size_t bytes);

}  // namespace marline::offload::device
