// SPDX-License-Identifier: Apache-2.0
//
// Makes edges from the locators of depend clauses, and releases successors when a task ends. Tasks are entered by the
// thread that runs the parent. Rules, for a task T with an access to an entry (graph/table.hpp):
//   kOut        waits for the members, or for the writer if there are no members; becomes the writer
//   kIn, sets   joins members of its own kind, ordered after the writer; members of another kind are first gathered in
//               one node without a body, the new writer: m writers and n readers cost m + n edges rather than m * n
// A task that names one address twice with different accesses is ordered as kOut.
#include "graph/dependences.hpp"

#include "base/check.hpp"
#include "base/memory/prefetch.hpp"
#include "config/options.hpp"
#include "graph/claims.hpp"
#include "graph/descriptor.hpp"
#include "graph/lineage.hpp"
#include "graph/linking.hpp"
#include "graph/recorded_graph.hpp"
#include "graph/successors.hpp"
#include "graph/table.hpp"
#include "sched/pool_tasks.hpp"
#include "graph/transparent_scope.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

#include <cstring>

namespace marline {

namespace {

void finish_node(Worker* worker, Task* node, TaskFifo& ready);

// Replaces the members by one writer: the only member, or a new gather node.
void gather_members(Worker* worker, TableEntry* entry, GraphRecord* record) {
  if (entry->member_count == 1) {
    entry_set_writer(worker, entry, entry->members()[0]);
    entry_clear_members(worker, entry);
    return;
  }
  Task* node = new_node(worker, entry->member_count, nullptr);
  node->references.store(2, relaxed);  // its completion, and the entry
  node->flags |= task_flag::kInTable;
  if (record != nullptr && record->reentering) record = nullptr;  // an ordinary node
  if (record != nullptr) [[unlikely]]
    record_gather(record, node, entry->address);
  Linking linking(worker, node);
  linking.record = record;
  entry_clear_members(worker, entry, [&linking](Task* member) { link(linking, member); });
  if (linking.lineage != nullptr) [[unlikely]]
    lineage_publish(node, linking.lineage);
  entry_set_writer(worker, entry, node);
  worker->discovery.nodes.add(1);
  if (end_linking(linking)) {  // all members have completed: the node completes too; it has no successor yet
    TaskFifo ready;
    finish_node(worker, node, ready);
  }
}

// Begins another set, ordered after the members.
[[gnu::noinline]] void end_set(Worker* worker, TableEntry* entry, GraphRecord* record) {
  // A tool that asks for pairs of dependent tasks, and an observer of target tasks, must see edges between tasks,
  // without a node between them.
  if (options().edges.inoutset && !tool::on(tool::event::kTaskDependence | tool::event::kTargetTasks)) {
    gather_members(worker, entry, record);
  } else {
    entry_push_back_set(worker, entry);
  }
}

void link_members_or_writer(Linking& linking, TableEntry* entry) {
  if (entry->member_count == 0) {
    if (entry->writer != nullptr) link(linking, entry->writer);
    return;
  }
  Task** members = entry->members();
  for (uint32_t i = 0; i < entry->member_count; ++i) link(linking, members[i]);
  // If this task is the only member of its set, the loop makes no edge: the writer was linked when the task joined the
  // set.
}

// Orders the task that is being entered after the tasks that the members are ordered after.
void link_before_members(Linking& linking, TableEntry* entry) {
  if (entry->writer != nullptr) {
    if (!link(linking, entry->writer)) entry_set_writer(linking.worker, entry, nullptr);
  } else if (entry->is_spilled() && entry->spilled.before != nullptr) {
    link_members_or_writer(linking, entry->spilled.before);
  }
}

void become_writer(Linking& linking, TableEntry* entry) {
  if (entry->member_count == 0 && entry->writer != nullptr) link(linking, entry->writer);
  entry_clear_members(linking.worker, entry, [&linking](Task* member) { link(linking, member); });
  entry_set_writer(linking.worker, entry, linking.task);
}

// For a task that already holds the set's exclusion: stores the exclusion in the entry, so that later members share it.
void share_recorded_exclusion(const GraphRecord* record, void* address, Exclusion*& exclusion) {
  if (exclusion != nullptr) return;
  exclusion = recorded_exclusion(record, address);
  if (exclusion != nullptr) exclusion->references.fetch_add(1, relaxed);
}

void exclude_others(Linking& linking, TableEntry* entry) {
  entry_spill(linking.worker, entry);
  Exclusion*& exclusion = entry->spilled.exclusion;
  if (linking.record != nullptr && linking.record->reentering) [[unlikely]] {
    return share_recorded_exclusion(linking.record, entry->address, exclusion);
  }
  if (exclusion == nullptr) exclusion = exclusion_create(linking.worker);
  exclusion_add(linking.worker, linking.task, exclusion);
}

[[gnu::noinline]] void access_any_entry(Linking& linking, TableEntry* entry, Access access) {
  if (entry->last() == linking.task) [[unlikely]] {
    Access earlier = entry->member_count != 0 ? entry->kind : Access::kOut;
    if (earlier == access || earlier == Access::kOut) return;
    access = Access::kOut;
  }
  if (access == Access::kOut) return become_writer(linking, entry);
  if (entry->kind != access) {
    if (entry->member_count != 0) end_set(linking.worker, entry, linking.record);
    entry->kind = access;
  }
  link_before_members(linking, entry);
  entry_add_member(linking.worker, entry, linking.task);
  if (access == Access::kMutexinoutset) exclude_others(linking, entry);
}

// The common case of kOut: the entry has no members, and the task is ordered after the writer.
[[gnu::always_inline]] inline void replace_writer(Linking& linking, TableEntry* entry) {
  Task* writer = entry->writer;
  if (writer == linking.task) return;
  table_reference(linking.task);
  entry->writer = linking.task;
  if (writer == nullptr) return;
  link(linking, writer);
  table_unreference(linking.worker, writer);
}

// The common case of kIn: adds a reader, for which the entry has room.
[[gnu::always_inline]] inline void add_reader(Linking& linking, TableEntry* entry) {
  Task* writer = entry->writer;
  if (writer != nullptr && !link(linking, writer)) {
    entry->writer = nullptr;
    table_unreference(linking.worker, writer);
  }
  table_reference(linking.task);
  entry->few[entry->member_count++] = linking.task;
}

// Handles the common accesses here, and all others in access_any_entry, which would also be right for these.
[[gnu::always_inline]] inline void access_entry(Linking& linking, TableEntry* entry, Access access) {
  uint32_t members = entry->member_count;
  if (access == Access::kOut && (members | (entry->capacity ^ TableEntry::kFew)) == 0) {
    return replace_writer(linking, entry);
  }
  if (access == Access::kIn && entry->kind == Access::kIn && members < TableEntry::kFew && !entry->is_spilled() &&
      (members != 0 ? entry->few[members - 1] : entry->writer) != linking.task) {
    return add_reader(linking, entry);
  }
  access_any_entry(linking, entry, access);
}

// For a task that takes no exclusions for its mutexinoutset dependences: it is ordered after the earlier members of the
// set, and before later ones.
void access_in_order(Linking& linking, TableEntry* entry, Access access) {
  access_any_entry(linking, entry, access == Access::kMutexinoutset ? Access::kOut : access);
}

// Makes edges from the tasks that a task with this access would wait for, but does not add the task to the entry.
void look_at_entry(Linking& linking, TableEntry* entry, Access access) {
  // mutexinoutset: an undeferred task runs without the exclusion, so it waits for the whole set.
  if (access == Access::kOut || access == Access::kMutexinoutset ||
      (entry->kind != access && entry->member_count != 0)) {
    link_members_or_writer(linking, entry);
  } else {
    link_before_members(linking, entry);
  }
}

// omp_all_memory: orders the task after every task that the table knows, and before every later one.
void access_all_memory(Linking& linking, DependenceTable* table, bool enters) {
  for (uint32_t i = 0; i < table->capacity; ++i) {
    if (table->entries[i].address != nullptr) link_members_or_writer(linking, &table->entries[i]);
  }
  if (table->all_memory != nullptr) link(linking, table->all_memory);
  if (table->outer != nullptr) [[unlikely]]
    access_all_memory(linking, table->outer, false);
  if (enters) table_restart_after(linking.worker, table, linking.task);
}

// Prefetches the task that this access will probably link, while the other entries are looked up: its cache line is
// with the worker that runs it.
void prefetch_predecessor(const TableEntry* entry) {
  if (entry->writer != nullptr) prefetch_for_write(&entry->writer->successors);
}

// Accesses up to kPass entries in one pass over the list; returns how many. Stops before omp_all_memory, which may
// restart the table.
template <auto access_one>
size_t access_some(Linking& linking, DependenceTable* table, const Dependence* list, size_t count) {
  constexpr size_t kPass = 16;
  TableEntry* entries[kPass];
  const Dependence* end = list + (count < kPass ? count : kPass);
  TableEntry** entry = entries;
  table_reserve(linking.worker, table, static_cast<size_t>(end - list));
  for (const Dependence* at = list; at != end && at->address != nullptr; ++at, ++entry) {
    *entry = table_find(linking.worker, table, at->address);
    prefetch_predecessor(*entry);
  }
  auto found = static_cast<size_t>(entry - entries);
  linking.worker->discovery.lookups.add(found);
  for (TableEntry** done = entries; done != entry; ++done, ++list) access_one(linking, *done, list->access);
  return found;
}

template <auto access_one>
[[gnu::noinline]] void access_several(Linking& linking, DependenceTable* table, const Dependence* list, size_t count,
                                      bool enters) {
  for (size_t done = 0; done < count;) {
    done += access_some<access_one>(linking, table, list + done, count - done);
    if (done == count || list[done].address != nullptr) continue;
    // A null address with another access has no meaning.
    if (list[done++].access == Access::kOut) access_all_memory(linking, table, enters);
  }
}

template <auto access_one>
[[gnu::always_inline]] inline void access_all(Linking& linking, DependenceTable* table, const Dependence* list,
                                              size_t count, bool enters) {
  if (count != 1 || list->address == nullptr) return access_several<access_one>(linking, table, list, count, enters);
  table_reserve(linking.worker, table, 1);
  linking.worker->discovery.lookups.add(1);
  access_one(linking, table_find(linking.worker, table, list->address), list->access);
}

// Orders the task that is being entered after the tasks of this or another table that it depends on.
void look_at(Linking& linking, DependenceTable* table, const Dependence& dependence) {
  if (dependence.address == nullptr) {
    if (dependence.access == Access::kOut) access_all_memory(linking, table, false);
  } else if (TableEntry* entry = table_lookup(linking.worker, table, dependence.address)) {
    look_at_entry(linking, entry, dependence.access);
  } else if (table->all_memory != nullptr) {
    link(linking, table->all_memory);
  }
}

// Adds a dependence to those with which the task is being entered.
void enter(Linking& linking, DependenceTable* table, const Dependence& dependence) {
  access_several<access_any_entry>(linking, table, &dependence, 1, true);
}

DependenceTable* table_of(Worker* worker, Task* parent) {
  if (parent->table == nullptr) parent->table = table_create(worker);
  return parent->table;
}

// Without the prefetch each count_down would wait for its successor's cache line; also, the thread that makes a task
// ready usually runs it. Limited to a few: with more, the first lines would be evicted before they are counted down.
[[gnu::always_inline]] inline void prefetch_successors(const Edge* edge) {
  constexpr int kFew = 8;
  for (int i = 0; i < kFew && edge != nullptr; ++i, edge = edge->next) {
    prefetch_task(edge->successor);
    prefetch_for_write(&edge->successor->edges);
  }
}

// Closes the task's successor list and counts each successor down. A task that becomes ready is appended to `ready`, a
// node to `nodes`.
void notify_all(Task* task, TaskFifo& ready, TaskFifo& nodes) {
  for (Edge* edge = transition_to_closed(task); edge != nullptr;) {
    Task* successor = edge->successor;
    edge = edge->next;  // the edge is in its successor's memory, and the successor may run and be freed once it is
                        // counted down
    if (!count_down(successor)) continue;
    if (successor->has(task_flag::kEmpty | task_flag::kClaimed)) {
      nodes.push_back(successor);
    } else if (successor->exclusions == nullptr || exclusions_take(successor)) {
      ready.push_back(successor);
    }
  }
}

[[gnu::noinline]] void finish_nodes(Worker* worker, TaskFifo& ready, TaskFifo& nodes) {
  while (Task* node = nodes.pop_front()) {
    if (node->has(task_flag::kClaimed)) [[unlikely]] {
      if (!is_pool_task(node)) {
        pass_claimed(worker, node, nodes);
      } else if (node->exclusions == nullptr || exclusions_take(node)) {
        offer_to_pool(node);
      }
      continue;
    }
    if (node->has(task_flag::kGated)) [[unlikely]] {
      if (!pass_gate(worker, node, look_at)) continue;
      if (!node->has(task_flag::kEmpty)) {
        if (node->exclusions == nullptr || exclusions_take(node)) ready.push_back(node);
        continue;
      }
    }
    auto* event = static_cast<Event*>(node->block);
    notify_all(node, ready, nodes);
    if (options().priority.propagates) [[unlikely]]
      lineage_close(worker, node);
    if (event != nullptr) fulfil(worker, event);
    release_task(worker, node);
  }
}

void finish_node(Worker* worker, Task* node, TaskFifo& ready) {
  TaskFifo nodes;
  nodes.push_back(node);
  finish_nodes(worker, ready, nodes);
}

// A task never waits for the producers that it descends from. While this object lives, link() finds that these
// producers have an edge to the task already. Afterwards they have none again, so that no task is taken for their
// successor. Under the table's lock.
class PassOverProducers {
 public:
  PassOverProducers(Linking& linking, const DependenceTable* table, Task* parent)
      : parent_(parent), sharer_(table->sharer) {
    linking.filters.duplicate = true;
    for (Task* task = parent_; task != sharer_; task = task->parent) task->last_successor = linking.task;
  }
  PassOverProducers(const PassOverProducers&) = delete;
  PassOverProducers& operator=(const PassOverProducers&) = delete;
  ~PassOverProducers() {
    for (Task* task = parent_; task != sharer_; task = task->parent) task->last_successor = task;
  }

 private:
  Task* parent_;
  const Task* sharer_;
};

template <auto access_one>
[[gnu::noinline]] void access_shared(Linking& linking, DependenceTable* table, Task* parent, const Dependence* list,
                                     size_t count, bool enters) {
  PassOverProducers pass_over(linking, table, parent);
  access_all<access_one>(linking, table, list, count, enters);
  if (table->scope != nullptr) link_across_scopes(linking, table, list, count, {look_at, enters ? enter : nullptr});
}

SpinLock& lock_of(DependenceTable* table) { return table->scope != nullptr ? table->scope->root->lock : table->lock; }

template <auto access_one>
[[gnu::always_inline]] inline bool enter_table(Worker* worker, DependenceTable* table, Task* task,
                                               const Dependence* list, size_t count, bool shared, Claiming* claiming) {
  if (table->record != nullptr) [[unlikely]]
    record_as_current(table->record, task);
  init_graph_fields(task);
  task->flags |= task_flag::kGraph | task_flag::kInTable;
  if (is_recorded(task)) [[unlikely]] {
    // The graph holds a reference, and a climber may still hold one (graph/lineage.hpp).
    task->references.fetch_add(1, relaxed);
  } else {
    task->references.store(2, relaxed);  // one for the execution, one for the table
  }
  table_reference(task);  // held by the creator, so that no entry that drops the task frees it while edges are made
  Linking linking(worker, task);
  linking.record = table->record;
  linking.filters.transitive &= count > 1;  // the tasks that one address leads to are not ordered among themselves
  linking.claiming = claiming;
  if (shared) {
    access_shared<access_one>(linking, table, task->parent, list, count, true);
  } else {
    access_all<access_one>(linking, table, list, count, true);
  }
  worker->discovery.tasks.add(1);
  worker->discovery.dependences.add(count);
  if (options().priority.propagates) [[unlikely]] {
    lineage_publish(task, linking.lineage);
    propagate_priority(worker, task);
  }
  table_unreference(worker, task);
  if (claiming != nullptr) {
    end_claimed_linking(linking);
    return false;
  }
  if (!end_linking(linking)) return false;
  if (shared && task->has(task_flag::kGated)) open_gate(worker, task);
  return task->exclusions == nullptr || exclusions_take(task);
}

[[gnu::noinline]] bool enter_shared(Worker* worker, DependenceTable* table, Task* task, const Dependence* list,
                                    size_t count) {
  Guard<SpinLock> guard(lock_of(table));
  return enter_table<access_entry>(worker, table, task, list, count, true, nullptr);
}

}  // namespace

bool enter_graph(Worker* worker, Task* task, const Dependence* list, size_t count) {
  DependenceTable* table = table_of(worker, task->parent);
  if (table->sharer != nullptr) [[unlikely]] {
    return enter_shared(worker, table, task, list, count);
  }
  return enter_table<access_entry>(worker, table, task, list, count, false, nullptr);
}

[[gnu::cold]] void enter_graph_claimed(Worker* worker, Task* task, const Dependence* list, size_t count,
                                       Claiming& claiming) {
  DependenceTable* table = table_of(worker, task->parent);
  const bool shared = table->sharer != nullptr;
  if (shared) table->lock.lock();
  (void)enter_table<access_in_order>(worker, table, task, list, count, shared, &claiming);
  if (shared) table->lock.unlock();
}

[[gnu::cold]] bool enter_graph_rarely(Worker* worker, Task* task, const Dependence* list, size_t count) {
  return enter_table<access_entry>(worker, worker->task->table, task, list, count, false, nullptr);
}

[[gnu::cold]] void reenter_graph(Worker* worker, GraphRecord* record, Task* task, const Dependence* list,
                                 size_t count) {
  DependenceTable* table = worker->task->table;
  task->references.fetch_add(1, relaxed);  // held by the table
  table_reference(task);                   // held by the creator, as in enter_table
  Linking linking(worker, task, Linking::Life::kMayRun);
  linking.record = record;
  record->reentering = true;
  access_all<access_entry>(linking, table, list, count, true);
  record->reentering = false;
  table_unreference(worker, task);
}

bool enter_wait(Worker* worker, Task* parent, const Dependence* list, size_t count, Event* event, uint64_t tool_data) {
  DependenceTable* table = parent->table;
  if (table == nullptr) return false;
  Task* node = new_node(worker, count, event);
  node->tool_data = tool_data;
  if (table->record != nullptr) [[unlikely]]
    record_as_current(table->record, node);
  Linking linking(worker, node);
  linking.record = table->record;
  if (table->sharer != nullptr) {
    Guard<SpinLock> guard(lock_of(table));
    access_shared<look_at_entry>(linking, table, parent, list, count, false);
  } else {
    access_all<look_at_entry>(linking, table, list, count, false);
  }
  if (linking.lineage != nullptr) [[unlikely]]
    lineage_publish(node, linking.lineage);
  if (!end_linking(linking)) return true;
  if (node->has(task_flag::kGated)) open_gate(worker, node);
  if (linking.lineage != nullptr) [[unlikely]]
    lineage_close(worker, node);
  release_task(worker, node);
  return false;
}

KeptDependences* keep_dependences(Worker* worker, const Dependence* list, size_t count) {
  if (count == 0) return nullptr;
  auto* kept =
      static_cast<KeptDependences*>(worker->pool->allocate(sizeof(KeptDependences) + count * sizeof(Dependence)));
  kept->count = count;
  std::memcpy(kept->list(), list, count * sizeof(Dependence));
  return kept;
}

namespace {

// Enters a node without a body into the table in place of the task; the node is ordered after the task.
void enter_completion_into(Worker* worker, DependenceTable* table, Task* task, KeptDependences* kept) {
  init_graph_fields(task);
  task->flags |= task_flag::kGraph | task_flag::kInTable;  // a climb may hold the task (graph/lineage.hpp)
  Task* node = new_node(worker, kept->count + 1, nullptr);
  node->parent = task->parent;
  node->flags |= task_flag::kInTable;
  node->references.store(2, relaxed);  // as in enter_table
  table_reference(node);
  Linking linking(worker, node);
  link(linking, task);
  access_all<access_in_order>(linking, table, kept->list(), kept->count, true);
  if (linking.lineage != nullptr) [[unlikely]]
    lineage_publish(node, linking.lineage);
  worker->discovery.nodes.add(1);
  table_unreference(worker, node);
  const bool ended = end_linking(linking);
  MARLINE_ASSERT(!ended);  // the task completes after this
  (void)ended;
}

}  // namespace

[[gnu::cold]] void enter_completion(Worker* worker, Task* task, KeptDependences* kept) {
  DependenceTable* table = table_of(worker, task->parent);
  MARLINE_ASSERT((table->sharer == nullptr || table->scope != nullptr) && table->record == nullptr);
  Guard<SpinLock> guard(lock_of(table));
  enter_completion_into(worker, table, task, kept);
}

namespace {

// `ready` lists the newest task first. Returns the oldest, to be run next, and queues the others so that older tasks
// are on top. `next` is newer than all of them, or null.
Task* queue_all_but_oldest(Worker* worker, Task* next, TaskFifo& ready) {
  while (Task* older = ready.pop_front()) {
    if (next != nullptr) enqueue(worker, next);
    next = older;
  }
  return next;
}

[[gnu::noinline]] Task* release_unusual(Worker* worker, Task* task) {
  TaskFifo ready, nodes;
  if (task->exclusions != nullptr) exclusions_leave(worker, task, ready);
  if (options().priority.propagates) lineage_close(worker, task);
  if (task->has(task_flag::kReplayed)) notify_recorded(worker, task, ready);
  notify_all(task, ready, nodes);
  finish_nodes(worker, ready, nodes);
  Task* next = queue_all_but_oldest(worker, nullptr, ready);
  if (next == nullptr || worker == nullptr || worker->member == nullptr || !is_guest(worker->member)) return next;
  enqueue(worker, next);  // a free agent runs no tasks of the team (sched/pool_tasks.hpp)
  return nullptr;
}

[[gnu::noinline]] Task* finish_nodes_after(Worker* worker, Task* next, TaskFifo& nodes) {
  TaskFifo ready;
  finish_nodes(worker, ready, nodes);
  return queue_all_but_oldest(worker, next, ready);
}

}  // namespace

Task* release_successors(Worker* worker, Task* task) {
  if (task->exclusions != nullptr || options().priority.propagates ||
      task->has(task_flag::kReplayed | task_flag::kClaimed)) [[unlikely]] {
    if (task->has(task_flag::kClaimed) && !is_pool_task(task)) report_left_ended(task);
    return release_unusual(worker, task);
  }
  Task* next = nullptr;
  TaskFifo nodes;
  Edge* first = transition_to_closed(task);
  prefetch_successors(first);
  for (Edge* edge = first; edge != nullptr;) {
    Task* successor = edge->successor;
    edge = edge->next;  // as in notify_all
    if (!count_down(successor)) continue;
    if (successor->has(task_flag::kEmpty | task_flag::kClaimed)) [[unlikely]] {
      nodes.push_back(successor);
    } else if (successor->exclusions == nullptr || exclusions_take(successor)) {
      if (next != nullptr) enqueue(worker, next);
      next = successor;
    }
  }
  return nodes.empty() ? next : finish_nodes_after(worker, next, nodes);
}

Task* release_successors_rarely(Worker* worker, Task* task) { return release_unusual(worker, task); }

void drop_table(Worker* worker, Task* parent) {
  DependenceTable* table = parent->table;
  if (table->scope != nullptr) [[unlikely]] {
    close_scope(worker, table);
  } else if (table->sharer == nullptr || table->sharer == parent) {
    table_destroy(worker, table);
  }
  parent->table = nullptr;
}

void share_table(Worker* worker, Task* task) {
  if (has_scope(task)) {
    fatal(
        "marline_depend_share: the task is transparent or has created a transparent task, whose dependences are not "
        "shared; call it in another task");
  }
  if (task->has(task_flag::kSharesTable)) return;
  if (task->has(task_flag::kInGraph)) {
    fatal("marline_depend_share: the task is in an iteration of a persistent graph, whose dependences are not shared");
  }
  table_of(worker, task)->sharer = task;
  task->flags |= task_flag::kSharesTable;
}

void inherit_table(Task* task) {
  if (has_scope(task->parent)) {
    task->flags &= ~task_flag::kObserved;  // pass_gate needs a worker, which the end of a claimed task does not have
    return;
  }
  task->table = task->parent->table;
  task->flags |= task_flag::kSharesTable;
}

bool has_scope(const Task* task) { return task->has(task_flag::kSharesTable) && task->table->scope != nullptr; }

bool shares_own_table(const Task* task) { return task->table->sharer == task; }

}  // namespace marline
