// SPDX-License-Identifier: Apache-2.0
//
// Pages that belong to one block of memory, for blocks that malloc cannot provide: pinned, or on certain nodes. New
// pages are zero. Any thread.
#pragma once

#include <cstddef>

namespace marline {

// Pages for so many bytes; the address is a multiple of `alignment`, a power of two. Null if there are none.
[[nodiscard]] char* own_pages_map(size_t bytes, size_t alignment);

// Pages with addresses that fit into an int, if the system has such pages; otherwise other pages.
[[nodiscard]] char* own_pages_map_low(size_t bytes);

void own_pages_unmap(char* pages, size_t bytes);

// Keeps the pages in memory until they are unmapped. False: the system refuses; the first refusal is reported.
[[nodiscard]] bool own_pages_pin(char* pages, size_t bytes);

}  // namespace marline
