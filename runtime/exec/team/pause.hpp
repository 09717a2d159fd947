// SPDX-License-Identifier: Apache-2.0
//
// omp_pause_resource on the host (OpenMP 5.1, section 3.6): ends the threads that the runtime keeps for later regions.
// Run by the calling thread.
#pragma once

namespace marline {

// kind: an omp_pause_resource_t, or 0 to resume, which needs nothing. 0: done; 1: refused, for example inside a region.
int pause_resources(int kind);

}  // namespace marline
