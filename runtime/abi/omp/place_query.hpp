// SPDX-License-Identifier: Apache-2.0
//
// Queries about processors and places that both omp_* and OMPT need. Any thread; the first question about places reads
// the machine's topology.
#pragma once

namespace marline {

// Processors that the process may use: as when the library was loaded, so that binding this thread does not change it.
// If a library has given the thread a share of them, the processors of the share.
int processors();

int place_count();

// Writes up to `size` processor numbers of the place to `ids` and returns how many it has; 0 if there is no such place.
int place_cpus(int place, int size, int* ids);

}  // namespace marline
