// SPDX-License-Identifier: Apache-2.0
//
// Task reductions, as GCC calls them. The compiler combines the threads' copies itself, after the construct's end and
// before it unregisters them.
#include "construct/task/gcc_reduction.hpp"
#include "construct/task/task_reduction.hpp"

#include "abi/gomp/parallel.hpp"
#include "construct/task/task.hpp"
#include "exec/team/barrier.hpp"
#include "exec/worker/frames.hpp"

#include <algorithm>

namespace marline::gomp {

namespace {

using Function = void (*)(void*);

struct Region {
  Function function;
  void* data;
  GccReduction* reductions;
  unsigned threads;  // written by thread 0, read when the region has ended
};

// Each implicit task is in a taskgroup that leads to the region's reductions.
void run_reducing(Team* team, Member* member) {
  auto* region = reinterpret_cast<Region*>(team->arguments);
  if (member->index == 0) region->threads = static_cast<unsigned>(team->size);
  taskgroup_begin(this_worker(), nullptr, false);
  gcc_reduction_attach(this_worker(), region->reductions);
  call_of(&member->implicit_task, region->function, region->data);
  taskgroup_end(this_worker(), nullptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void GOMP_taskgroup_reduction_register(GccReduction* chain) {
  Worker* worker = this_worker();
  gcc_reduction_allocate(chain, worker->member->team->size);
  gcc_reduction_attach(worker, chain);
}

void GOMP_taskgroup_reduction_unregister(GccReduction* chain) { gcc_reduction_free(chain); }

void GOMP_task_reduction_remap(size_t count, size_t originals, void** addresses) {
  gcc_reduction_remap(this_worker(), count, originals, addresses);
}

// Called by each thread when the compiler's code has combined its copies. Thread 0 of the team owns the memory.
void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  Worker* worker = this_worker();
  GccReduction* chain = gcc_reduction_attached(worker);
  bool owner = worker->member->index == 0;
  taskgroup_end(worker, __builtin_return_address(0));
  if (!cancelled) team_barrier(this_worker(), tool::SyncRegion::kBarrierImplicitWorkshare, __builtin_return_address(0));
  if (owner) gcc_reduction_free(chain);
}

// Returns the number of threads: the compiler's code goes over the copies of all of them. The block's first word leads
// to the copies.
unsigned GOMP_parallel_reductions(Function function, void* data, unsigned num_threads, unsigned flags) {
  auto* chain = *static_cast<GccReduction**>(data);
  int most = num_threads != 0 ? static_cast<int>(num_threads) : std::max(this_worker()->task->icvs->num_threads, 1);
  gcc_reduction_allocate(chain, most);
  Region region{function, data, chain, 1};
  ParallelRequest request = parallel_request(function, data, num_threads, flags, __builtin_return_address(0));
  request.run_implicit = run_reducing;
  request.arguments = reinterpret_cast<void**>(&region);
  parallel(request);
  return region.threads;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
