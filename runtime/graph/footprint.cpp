// SPDX-License-Identifier: Apache-2.0
//
// Keeps the addresses of a task's dependences, and prefetches the data at them.
#include "graph/footprint.hpp"

#include "base/memory/prefetch.hpp"
#include "config/options.hpp"
#include "graph/successors.hpp"
#include "sched/queue.hpp"

namespace marline {

namespace {

constexpr size_t kKept = 8;    // locators of one task
constexpr int kLookedAt = 16;  // successors that are examined for the next task

// A locator is kept in an Edge that belongs to no list: its address is in the field of the link.
void prefetch(const Task* task) {
  const EdgeChunk* chunk = task->edge_chunks;
  while (chunk != nullptr && chunk->next != nullptr) chunk = chunk->next;
  if (chunk == nullptr) return;
  for (int i = 0; i < chunk->locators; ++i) {
    const auto* address = reinterpret_cast<const char*>(chunk->edges[i].next);
    for (int line = 0; line < options().prefetch_lines; ++line) prefetch_for_read(address + line * kCacheLine);
  }
}

// complete_task runs the oldest task that becomes ready; the list has the newest first. The successors are alive,
// because they wait for this task; and only their creator writes to their chunks, before `predecessors` falls to 1.
const Task* successor_to_run(Task* task) {
  const Task* found = nullptr;
  Edge* edge = task->successors.load(acquire);  // pairs with transition_to_waiting_on
  for (int i = 0; edge != nullptr && edge != closed_list() && i < kLookedAt; edge = edge->next, ++i) {
    // acquire pairs with the creator's end of linking.
    if (edge->successor->predecessors.load(acquire) == 1) found = edge->successor;
  }
  return found;
}

}  // namespace

[[gnu::noinline]] void footprint_keep(Worker* worker, Task* task, const Dependence* list, size_t count) {
  auto* chunk = static_cast<EdgeChunk*>(worker->pool->allocate(sizeof(EdgeChunk)));
  chunk->next = nullptr;
  chunk->locators = 0;
  for (size_t i = 0; i < count && i < kKept; ++i) {
    if (list[i].address == nullptr) continue;
    chunk->edges[chunk->locators++] = {static_cast<Edge*>(list[i].address), nullptr};
  }
  task->edge_chunks = chunk;
}

[[gnu::noinline, gnu::cold]] void footprint_prefetch_after(Worker* worker, Task* task) {
  if (task->has(task_flag::kGraph)) {
    if (const Task* next = successor_to_run(task)) {
      if (!next->has(task_flag::kEmpty)) prefetch(next);
      return;
    }
  }
  Member* member = worker->member;
  if (member == nullptr || options().schedule.policy != SchedulePolicy::kLifo) return;
  // Taken out and put back: otherwise a thief could take the task, and it could be freed while we read it.
  Task* next = member->deque.pop();
  if (next == nullptr) return;
  if (next->has(task_flag::kGraph)) prefetch(next);
  give_back(member, next);
}

}  // namespace marline
