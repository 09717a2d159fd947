// SPDX-License-Identifier: Apache-2.0
//
// From locators to edges. The thread that runs the parent. Rules, for a task T with an access to an entry (graph/table.hpp):
//   kOut        waits for the members, or for the writer if there are none; becomes the writer
//   kIn, sets   joins members of its own kind behind the writer; members of another kind are first gathered in one node
//               without a body, the new writer: m writers and n readers cost m + n edges rather than m * n
// A task that names one address twice in different ways is ordered as kOut.
#include "graph/dependences.hpp"

#include "config/options.hpp"
#include "graph/footprint.hpp"
#include "graph/lineage.hpp"
#include "graph/successors.hpp"
#include "graph/table.hpp"
#include "sched/queue.hpp"
#include "task/own_icvs.hpp"
#include "tool/tool.hpp"

#include <new>

namespace marline {

namespace {

// While the creator makes edges, `predecessors` is biased by this: completions may already count it down, but nobody
// sees zero before the creator has replaced the bias by the number of edges.
constexpr int32_t kGuard = 1 << 30;

// Edges towards one task, being made.
struct Linking {
  Worker* worker;
  Task* task;
  int32_t edges = 0;
  PredecessorChunk* predecessors = nullptr;  // kept for priorities that propagate
};

Edge* new_edge(Worker* worker, Task* task) {
  if (task->inline_edges_used < task->inline_edges) return &task->edges[task->inline_edges_used++];
  EdgeChunk* chunk = task->edge_chunks;
  if (chunk == nullptr || chunk->used == EdgeChunk::kEdges) {
    auto* fresh = static_cast<EdgeChunk*>(worker->pool->allocate(sizeof(EdgeChunk)));
    fresh->next = chunk;
    fresh->used = 0;
    fresh->locators = 0;
    task->edge_chunks = chunk = fresh;
  }
  return &chunk->edges[chunk->used++];
}

void link(Linking& linking, Task* predecessor) {
  Task* task = linking.task;
  if (predecessor == nullptr || predecessor == task || predecessor->last_successor == task) return;
  predecessor->last_successor = task;
  if (has_completed(predecessor)) return;
  Edge* edge = new_edge(linking.worker, task);
  edge->successor = task;
  if (!transition_to_waiting_on(predecessor, edge)) return;
  ++linking.edges;
  if (options().priority.propagates) [[unlikely]] lineage_add(linking.worker, linking.predecessors, predecessor);
  if (tool::on(tool::event::kTaskDependence)) tool::task_dependence(&predecessor->tool_data, &task->tool_data);
}

void begin_linking(Task* task) { task->predecessors.store(kGuard, relaxed); }

// True: no unfinished predecessor is left.
bool end_linking(Linking& linking) {
  if (linking.edges == 0) return true;
  // acq_rel: releases the task to the completion that brings it to zero; acquires theirs if it is zero here.
  return linking.task->predecessors.fetch_add(linking.edges - kGuard, acq_rel) + linking.edges == kGuard;
}

void init_graph_fields(Task* task) {
  task->successors.store(nullptr, relaxed);
  task->last_successor = nullptr;
  task->edge_chunks = nullptr;
  task->exclusions = nullptr;
  task->table_references = 0;
  task->inline_edges_used = 0;
}

// A node without a body. Its first word of business is `block`: the Event to fulfil when it is reached, or null.
Task* new_node(Worker* worker, size_t edges, Event* event) {
  size_t room = edges < 256 ? edges : 256;
  void* memory = worker->pool->allocate(sizeof(Task) + room * sizeof(Edge) + lineage_bytes());
  Task* node = static_cast<Task*>(memory);
  node->flags = task_flag::kEmpty | task_flag::kGraph;
  node->block = event;
  node->parent = nullptr;
  node->tool_data = 0;
  node->references.store(1, relaxed);
  init_graph_fields(node);
  node->edges = reinterpret_cast<Edge*>(node + 1);
  node->inline_edges = static_cast<uint16_t>(room);
  node->priority.store(0, relaxed);
  if (lineage_bytes() != 0) [[unlikely]] lineage_begin(node, 0, true);
  return node;
}

void finish_node(Worker* worker, Task* node, TaskFifo& ready);

// The members become one writer.
void gather_members(Worker* worker, TableEntry* entry) {
  if (entry->member_count == 1) {
    entry_set_writer(worker, entry, entry->members[0]);
    entry_clear_members(worker, entry);
    return;
  }
  Task* node = new_node(worker, entry->member_count, nullptr);
  node->references.store(2, relaxed);  // its completion, and the entry
  node->flags |= task_flag::kInTable;
  begin_linking(node);
  Linking linking{worker, node};
  for (uint32_t i = 0; i < entry->member_count; ++i) link(linking, entry->members[i]);
  if (linking.predecessors != nullptr) [[unlikely]] lineage_publish(node, linking.predecessors);
  entry_set_writer(worker, entry, node);
  entry_clear_members(worker, entry);
  if (end_linking(linking)) {  // all members have completed: so has the node, which has no successor yet
    TaskFifo ready;
    finish_node(worker, node, ready);
  }
}

void link_members_or_writer(Linking& linking, TableEntry* entry) {
  if (entry->member_count == 0) link(linking, entry->writer);
  for (uint32_t i = 0; i < entry->member_count; ++i) link(linking, entry->members[i]);
  // A set of which this task is the only member: the writer before it was linked when it joined.
}

void access_entry(Linking& linking, TableEntry* entry, Access access) {
  Worker* worker = linking.worker;
  Task* task = linking.task;
  if (entry->last == task) {
    if (entry->last_access == access || entry->last_access == Access::kOut) return;
    access = Access::kOut;
  }
  entry->last = task;
  entry->last_access = access;
  if (access == Access::kOut) {
    link_members_or_writer(linking, entry);
    entry_clear_members(worker, entry);
    entry_set_writer(worker, entry, task);
    return;
  }
  if (entry->kind != access && entry->member_count != 0) gather_members(worker, entry);
  entry->kind = access;
  link(linking, entry->writer);
  entry_add_member(worker, entry, task);
  if (access != Access::kMutexinoutset) return;
  if (entry->exclusion == nullptr) entry->exclusion = exclusion_create(worker);
  exclusion_add(worker, task, entry->exclusion);
}

// omp_all_memory: behind every task that the table knows, before every later one.
void access_all_memory(Linking& linking, DependenceTable* table, bool enters) {
  for (uint32_t i = 0; i < table->capacity; ++i) {
    if (table->entries[i].address != nullptr) link_members_or_writer(linking, &table->entries[i]);
  }
  link(linking, table->all_memory);
  if (enters) table_restart_after(linking.worker, table, linking.task);
}

// What a task with this access would wait for, without entering it.
void look_at_entry(Linking& linking, TableEntry* entry, Access access) {
  // mutexinoutset: an undeferred task runs without the exclusion, so it waits for the whole set.
  if (access == Access::kOut || access == Access::kMutexinoutset || (entry->kind != access && entry->member_count != 0)) {
    link_members_or_writer(linking, entry);
  } else {
    link(linking, entry->writer);
  }
}

DependenceTable* table_of(Worker* worker, Task* parent) {
  if (parent->table == nullptr) parent->table = table_create(worker);
  return parent->table;
}

void drop_edge_chunks(Worker* worker, Task* task) {
  for (EdgeChunk* chunk = task->edge_chunks; chunk != nullptr;) {
    EdgeChunk* next = chunk->next;
    SlabPool::release(chunk, worker != nullptr ? worker->pool : nullptr);
    chunk = next;
  }
}

void free_descriptor(Worker* worker, Task* task) {
  SlabPool* pool = worker != nullptr ? worker->pool : nullptr;
  if (task->has(task_flag::kGraph)) drop_edge_chunks(worker, task);
  free_own_icvs(task, pool, nullptr);
  SlabPool::release(task, pool);
}

// One predecessor fewer. A task that becomes ready joins `ready`, a node joins `nodes`.
void notify(Task* successor, TaskFifo& ready, TaskFifo& nodes) {
  // acq_rel: the predecessor's effects are released; whoever makes it ready has acquired those of all.
  if (successor->predecessors.fetch_sub(1, acq_rel) != 1) return;
  if (successor->has(task_flag::kEmpty)) {
    nodes.push_back(successor);
  } else if (exclusions_take(successor)) {
    ready.push_back(successor);
  }
}

void notify_all(Task* task, TaskFifo& ready, TaskFifo& nodes) {
  for (Edge* edge = transition_to_closed(task); edge != nullptr;) {
    Edge* next = edge->next;  // the edge is its successor's, which may run and go once it is notified
    notify(edge->successor, ready, nodes);
    edge = next;
  }
}

void finish_nodes(Worker* worker, TaskFifo& ready, TaskFifo& nodes) {
  while (Task* node = nodes.pop_front()) {
    auto* event = static_cast<Event*>(node->block);
    notify_all(node, ready, nodes);
    if (options().priority.propagates) [[unlikely]] lineage_close(worker, node);
    if (event != nullptr) fulfil(worker, event);
    release_task(worker, node);
  }
}

void finish_node(Worker* worker, Task* node, TaskFifo& ready) {
  TaskFifo nodes;
  nodes.push_back(node);
  finish_nodes(worker, ready, nodes);
}

}  // namespace

bool enter_graph(Worker* worker, Task* task, const Dependence* list, size_t count) {
  DependenceTable* table = table_of(worker, task->parent);
  init_graph_fields(task);
  task->flags |= task_flag::kGraph | task_flag::kInTable;
  task->references.store(2, relaxed);  // the execution, and the table
  table_reference(task);               // the creator's own, so that no entry's end frees it while edges are made
  if (options().prefetch_lines != 0) [[unlikely]] {
    footprint_keep(worker, task, list, count);
  }
  begin_linking(task);
  Linking linking{worker, task};
  for (size_t i = 0; i < count; ++i) {
    if (list[i].address == nullptr && list[i].access == Access::kOut) {
      access_all_memory(linking, table, true);
    } else {
      access_entry(linking, table_find(worker, table, list[i].address), list[i].access);
    }
  }
  if (options().priority.propagates) [[unlikely]] {
    lineage_publish(task, linking.predecessors);
    propagate_priority(worker, task);
  }
  table_unreference(worker, task);
  return end_linking(linking) && exclusions_take(task);
}

bool enter_wait(Worker* worker, Task* parent, const Dependence* list, size_t count, Event* event, uint64_t tool_data) {
  if (parent->table == nullptr) return false;
  Task* node = new_node(worker, count, event);
  node->tool_data = tool_data;
  begin_linking(node);
  Linking linking{worker, node};
  for (size_t i = 0; i < count; ++i) {
    if (list[i].address == nullptr && list[i].access == Access::kOut) {
      access_all_memory(linking, parent->table, false);
    } else {
      look_at_entry(linking, table_find(worker, parent->table, list[i].address), list[i].access);
    }
  }
  if (linking.predecessors != nullptr) [[unlikely]] lineage_publish(node, linking.predecessors);
  if (!end_linking(linking)) return true;
  if (linking.predecessors != nullptr) [[unlikely]] lineage_close(worker, node);
  release_task(worker, node);
  return false;
}

Task* release_successors(Worker* worker, Task* task) {
  TaskFifo ready, nodes;
  if (task->exclusions != nullptr) exclusions_leave(worker, task, ready);
  if (options().priority.propagates) [[unlikely]] lineage_close(worker, task);
  notify_all(task, ready, nodes);
  finish_nodes(worker, ready, nodes);
  // Newest first in the list: the oldest is run next, and the others are queued so that the older are on top.
  Task* next = ready.pop_front();
  while (Task* older = ready.pop_front()) {
    enqueue(worker, next);
    next = older;
  }
  return next;
}

void drop_table(Worker* worker, Task* parent) {
  table_destroy(worker, parent->table);
  parent->table = nullptr;
}

void release_task_from_table(Worker* worker, Task* task) {
  // acq_rel: the last holder sees what the other did with the descriptor before it frees it. Until then the flags are
  // not this thread's to read.
  if (task->references.fetch_sub(1, acq_rel) == 1) free_descriptor(worker, task);
}

void release_task(Worker* worker, Task* task) {
  if (task->has(task_flag::kInTable)) {
    release_task_from_table(worker, task);
  } else {
    free_descriptor(worker, task);
  }
}

}  // namespace marline
