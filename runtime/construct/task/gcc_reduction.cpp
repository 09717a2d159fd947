// SPDX-License-Identifier: Apache-2.0
//
// Task reductions for GCC's code: zeroed memory for each thread, and the mapping from an address to the thread's part
// of it. The construct that registers the words owns them; after that they are only read.
#include "construct/task/gcc_reduction.hpp"

#include "base/check.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/pool_tasks.hpp"
#include "tool/tool.hpp"

#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

enum Word : size_t { kCount = 0, kBytes = 1, kMemory = 2, kNext = 4, kEnd = 6, kFirstVariable = 7 };

GccReduction* next_block(const GccReduction* block) { return reinterpret_cast<GccReduction*>(block[kNext]); }
uintptr_t address_of(const GccReduction* block, size_t variable) { return block[kFirstVariable + 3 * variable]; }
uintptr_t offset_of(const GccReduction* block, size_t variable) { return block[kFirstVariable + 3 * variable + 1]; }

struct Place {
  const GccReduction* block;
  uintptr_t offset;  // in a thread's part
};

// Finds the block and offset of `address`, which is an original or any thread's copy. False: not in this chain.
bool find(const GccReduction* chain, uintptr_t address, Place* place) {
  for (const GccReduction* block = chain; block != nullptr; block = next_block(block)) {
    for (size_t i = 0; i < block[kCount]; ++i) {
      if (address_of(block, i) != address) continue;
      *place = {block, offset_of(block, i)};
      return true;
    }
    if (address >= block[kMemory] && address < block[kEnd]) {
      *place = {block, (address - block[kMemory]) % block[kBytes]};
      return true;
    }
  }
  return false;
}

Place find_enclosing(const Task* task, uintptr_t address) {
  Place place;
  for (Taskgroup* group = task->taskgroup; group != nullptr; group = group->outer) {
    if (find(gcc_reductions(group), address, &place)) return place;
  }
  fatal("a task names %p in in_reduction, but no enclosing taskgroup reduces it; add a task_reduction clause",
        reinterpret_cast<void*>(address));
}

bool is_copy(const GccReduction* chain, uintptr_t address) {
  const GccReduction* block = chain;
  while (block != nullptr && (address < block[kMemory] || address >= block[kEnd])) block = next_block(block);
  return block != nullptr;
}

void* original_of(const Place& place) {
  for (size_t i = 0; i < place.block[kCount]; ++i) {
    if (offset_of(place.block, i) == place.offset) return reinterpret_cast<void*>(address_of(place.block, i));
  }
  fatal("no reduction variable lies at offset %zu of a thread's copies", static_cast<size_t>(place.offset));
}

}  // namespace

void gcc_reduction_allocate(GccReduction* chain, int threads) {
  for (GccReduction* block = chain; block != nullptr; block = next_block(block)) {
    size_t align = block[kMemory] < sizeof(void*) ? sizeof(void*) : block[kMemory];
    size_t bytes = (block[kBytes] * static_cast<size_t>(threads) + align - 1) & ~(align - 1);
    void* memory = std::aligned_alloc(align, bytes);
    if (memory == nullptr) fatal("no memory (%zu bytes) for the threads' copies of task reduction variables", bytes);
    std::memset(memory, 0, bytes);
    block[kMemory] = reinterpret_cast<uintptr_t>(memory);
    block[kEnd] = block[kMemory] + block[kBytes] * static_cast<size_t>(threads);
    tool::reduction_copies(memory, bytes);
  }
}

void gcc_reduction_adopt(GccReduction* chain, const GccReduction* first) {
  for (; chain != nullptr && first != nullptr; chain = next_block(chain), first = next_block(first)) {
    chain[kMemory] = first[kMemory];
    chain[kEnd] = first[kEnd];
  }
}

void gcc_reduction_free(GccReduction* chain) {
  for (GccReduction* block = chain; block != nullptr; block = next_block(block)) {
    std::free(reinterpret_cast<void*>(block[kMemory]));
  }
}

void gcc_reduction_attach(Worker* worker, GccReduction* chain) {
  worker->task->taskgroup->reductions = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(chain) | kGccTag);
}

GccReduction* gcc_reduction_attached(Worker* worker) { return gcc_reductions(worker->task->taskgroup); }

void gcc_reduction_remap(Worker* worker, size_t count, size_t originals, void** addresses) {
  Task* task = worker->task;
  worker = pin_current_task(worker);
  if (is_guest(worker->member)) {
    fatal(
        "code of GCC's takes part in a task reduction on a thread outside its team, for which GCC provides no copy: "
        "leave out threadset(omp_pool) at the task around it, or set OMP_THREADS_RESERVE=structured");
  }
  auto thread = static_cast<uintptr_t>(worker->member->index);
  for (size_t i = 0; i < count; ++i) {
    Place place = find_enclosing(task, reinterpret_cast<uintptr_t>(addresses[i]));
    if (i < originals) addresses[count + i] = original_of(place);
    addresses[i] = reinterpret_cast<void*>(place.block[kMemory] + thread * place.block[kBytes] + place.offset);
  }
}

bool gcc_reduction_has_copy(const Worker* worker, const void* address) {
  for (Taskgroup* group = worker->task->taskgroup; group != nullptr; group = group->outer) {
    if (is_copy(gcc_reductions(group), reinterpret_cast<uintptr_t>(address))) return true;
  }
  return false;
}

}  // namespace marline
