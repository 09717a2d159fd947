// SPDX-License-Identifier: Apache-2.0
//
// How a process takes part in a job with workers (node.hpp).
#include "device/node.hpp"

namespace marline::target {
int worker_count() { return 0; }
bool is_worker() { return false; }
const NodeJob& join_job(const WireUser&) { __builtin_trap(); }
}  // namespace marline::target
