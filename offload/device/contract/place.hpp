// SPDX-License-Identifier: Apache-2.0
//
// Describes, for messages, where a target region is in the source. Any thread may call these functions.
#pragma once

#include "items/items.hpp"

#include <cstddef>

namespace marline::offload::device {

using namespace items;

// The text of the compiler's ident, or null without an ident.
[[nodiscard]] const char* place_of(const void* ident);

// Writes "the target region at FILE:LINE" from the ident's text `place`, or else "the target region in line LINE of
// FUNCTION" from the region's name. Both may be null.
void describe_place(const char* name, const char* place, char* to, size_t bytes);

// Describes any construct. Without a kernel it writes `data`, the word for the construct, and " at FILE:LINE" or, if
// there is no debug information, " at FILE+OFFSET".
void describe_source(const Source& source, const char* data, char* to, size_t bytes);

// Writes `what` and, if the address lies in a loaded file, " at FILE+OFFSET", which addr2line understands.
void describe_code(const char* what, const void* code, char* to, size_t bytes);

// Writes "FILE:LINE" from the ident's text. False: the text does not contain them.
bool describe_position(const char* place, char* to, size_t bytes);

}  // namespace marline::offload::device
