// SPDX-License-Identifier: Apache-2.0
//
// Notes what `requires` directives ask for. Any thread.
#pragma once

#include <cstdint>

namespace marline::offload::image {

// Ends the program if `flags` require something that no device has.
void note_requirements(int64_t flags);

// Whether there was a `requires unified_shared_memory`.
[[nodiscard]] bool is_memory_shared();

}  // namespace marline::offload::image
