// SPDX-License-Identifier: Apache-2.0
//
// Counts processors and lists the processors of places. The number of processors is written once, while the library is
// loaded, then read by any thread.
#include "abi/omp/place_query.hpp"

#include "platform/topology/hw_subset.hpp"
#include "platform/topology/places.hpp"
#include "platform/thread.hpp"
#include "sched/team.hpp"

namespace marline {

namespace {

int g_processors = 1;

[[gnu::constructor]] void count_processors() {
  keep_to_hw_subset();
  g_processors = usable_cpus();
}

}  // namespace

int processors() {
  const Worker* worker = this_worker_or_null();
  return worker != nullptr && worker->binding.share != nullptr ? worker->binding.share->cpus.count() : g_processors;
}

int place_count() { return process_places().count; }

int place_cpus(int place, int size, int* ids) {
  const Places& places = process_places();
  if (place < 0 || place >= places.count) return 0;
  const CpuMask& mask = places.masks[place];
  int count = 0;
  for (int cpu = mask.first(); cpu >= 0 && count < size; cpu = mask.next(cpu + 1)) ids[count++] = cpu;
  return mask.count();
}

}  // namespace marline
