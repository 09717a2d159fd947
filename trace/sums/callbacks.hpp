// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that the recorder registers in the place of those of ompt/callbacks.hpp if it aggregates.
#ifndef MARLINE_TRACE_SUMS_CALLBACKS_HPP
#define MARLINE_TRACE_SUMS_CALLBACKS_HPP

#include "../common/ompt.h"

namespace marline::trace {

// Runs in one thread, while the runtime starts. `lookup`: ompt_start_tool's.
void register_sums(ompt_function_lookup_t lookup);

}  // namespace marline::trace

#endif
