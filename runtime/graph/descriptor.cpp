// SPDX-License-Identifier: Apache-2.0
//
// Frees descriptors and edges when their last holder has dropped them.
#include "graph/descriptor.hpp"

#include "graph/exclusion.hpp"
#include "graph/successors.hpp"
#include "task/own_icvs.hpp"

namespace marline {

void drop_edges(Worker* worker, Task* task) {
  for (EdgeChunk* chunk = task->edge_chunks; chunk != nullptr;) {
    EdgeChunk* next = chunk->next;
    SlabPool::release(chunk, worker != nullptr ? worker->pool : nullptr);
    chunk = next;
  }
  task->edge_chunks = nullptr;
}

namespace {

void free_descriptor(Worker* worker, Task* task) {
  SlabPool* pool = worker != nullptr ? worker->pool : nullptr;
  if (task->has(task_flag::kGraph)) drop_edges(worker, task);
  free_own_icvs(task, pool, nullptr);
  SlabPool::release(task, pool);
}

}  // namespace

void release_task_from_table(Worker* worker, Task* task) {
  // acquire, acq_rel: the last holder sees what the other did with the descriptor before it frees it. Before that, this
  // thread must not read the flags. If the count is 1, no other holder is left, and no atomic subtraction is needed.
  if (task->references.load(acquire) == 1 || task->references.fetch_sub(1, acq_rel) == 1) free_descriptor(worker, task);
}

namespace {

// Frees what this run has added to the descriptor; the descriptor stays.
[[gnu::noinline]] void release_persistent_task(Worker* worker, Task* task) {
  if (task->has(task_flag::kOwnIcvs)) free_own_icvs(task, worker != nullptr ? worker->pool : nullptr, nullptr);
}

}  // namespace

void free_persistent_task(Worker* worker, Task* task) {
  exclusions_drop(worker, task);
  release_task_from_table(worker, task);
}

void release_task(Worker* worker, Task* task) {
  if (!task->has(task_flag::kInTable | task_flag::kPersistent)) {
    free_descriptor(worker, task);
  } else if (!task->has(task_flag::kPersistent)) [[likely]] {
    release_task_from_table(worker, task);
  } else {
    release_persistent_task(worker, task);
  }
}

}  // namespace marline
