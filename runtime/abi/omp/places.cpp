// SPDX-License-Identifier: Apache-2.0
//
// Places and binding (OpenMP 5.1, section 3.3). Any thread.
#include "abi/omp/current.hpp"
#include "abi/omp/place_query.hpp"
#include "base/check.hpp"
#include "../common/thread_id.h"
#include "exec/team/binding.hpp"
#include "exec/worker/runtime.hpp"
#include "sched/library_call.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace marline::omp {

namespace {

PlacePartition current_partition() { return partition_of(current_member()); }

int proc_bind() {
  const int level = current_member()->team->level;
  ProcBind policy = with_current_icvs([level](const Icvs& icvs) { return bind_var(icvs, level); });
  // OpenMP has no value for kInOrder; close is the most similar one
  return static_cast<int>(policy == ProcBind::kInOrder ? ProcBind::kClose : policy);
}

// A thread that the runtime has not seen is on no place, but the program's first thread is on the first one if threads
// are bound, and is bound there when it asks. It gets no worker here: a signal handler may ask that has interrupted
// malloc. A thread inside a library's call is on the caller's place.
int place_num() {
  if (Worker* worker = acting_worker()) return worker->member != nullptr ? place_of(worker) : -1;
  if (is_inside_library() || getpid() != thread_id()) return -1;
  settle_options();
  return place_of_first_thread();
}

int place_processors(int64_t place) { return place_cpus(nearest_int(place), 0, nullptr); }

template <class Integer>
void store_partition(Integer* places) {
  PlacePartition partition = current_partition();
  for (int i = 0; i < partition.count; ++i) places[i] = partition.first + i;
}

// The numbers go through an array of ints: the caller's integers are wider.
void store_processors_wide(int64_t place, int64_t* ids) {
  int count = place_processors(place);
  auto* narrow = static_cast<int*>(std::malloc(static_cast<size_t>(count) * sizeof(int) + 1));
  if (narrow == nullptr) fatal("out of memory for the %d processors of a place", count);
  place_cpus(nearest_int(place), count, narrow);
  for (int i = 0; i < count; ++i) ids[i] = narrow[i];
  std::free(narrow);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_get_proc_bind() { return proc_bind(); }
[[gnu::alias("omp_get_proc_bind")]] int omp_get_proc_bind_();

int omp_get_num_places() { return place_count(); }
[[gnu::alias("omp_get_num_places")]] int omp_get_num_places_();

int omp_get_place_num_procs(int place) { return place_processors(place); }
int omp_get_place_num_procs_(const int32_t* place) { return place_processors(*place); }
int omp_get_place_num_procs_8_(const int64_t* place) { return place_processors(*place); }
int kmp_get_place_num_procs_8(int64_t place) { return place_processors(place); }
[[gnu::alias("omp_get_place_num_procs_8_")]] int kmp_get_place_num_procs_8_(const int64_t* place);

void omp_get_place_proc_ids(int place, int* ids) { place_cpus(place, INT_MAX, ids); }
void omp_get_place_proc_ids_(const int32_t* place, int32_t* ids) { place_cpus(*place, INT_MAX, ids); }
void omp_get_place_proc_ids_8_(const int64_t* place, int64_t* ids) { store_processors_wide(*place, ids); }
void kmp_get_place_proc_ids_8(int64_t place, int64_t* ids) { store_processors_wide(place, ids); }
[[gnu::alias("omp_get_place_proc_ids_8_")]] void kmp_get_place_proc_ids_8_(const int64_t* place, int64_t* ids);

int omp_get_place_num() { return place_num(); }
[[gnu::alias("omp_get_place_num")]] int omp_get_place_num_();

int omp_get_partition_num_places() { return current_partition().count; }
[[gnu::alias("omp_get_partition_num_places")]] int omp_get_partition_num_places_();

void omp_get_partition_place_nums(int* places) { store_partition(places); }
void omp_get_partition_place_nums_(int32_t* places) { store_partition(places); }
void omp_get_partition_place_nums_8_(int64_t* places) { store_partition(places); }
[[gnu::alias("omp_get_partition_place_nums_8_")]] void kmp_get_partition_place_nums_8_(int64_t* places);
[[gnu::alias("omp_get_partition_place_nums_8_")]] void kmp_get_partition_place_nums_8(int64_t* places);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
