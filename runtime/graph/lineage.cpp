// SPDX-License-Identifier: Apache-2.0
//
// Climbs from tasks to their predecessors and raises priorities. Run by creators (synchronous propagation) and by idle
// workers (asynchronous).
#include "graph/lineage.hpp"

#include "graph/descriptor.hpp"
#include "graph/successors.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

constexpr uintptr_t kBusy = 1, kClosed = 2;

// Limits of one climb: edges that are examined, and tasks that wait for their predecessors to be examined. Tasks beyond
// these limits keep their priority: only a hint is lost, and near predecessors come first.
constexpr int kEdges = 1024;
constexpr unsigned kFrontier = 128;

PredecessorChunk* as_list(uintptr_t word) { return reinterpret_cast<PredecessorChunk*>(word); }

void drop(Worker* worker, PredecessorChunk* list) {
  SlabPool* pool = worker != nullptr ? worker->pool : nullptr;
  while (list != nullptr) {
    for (int i = 0; i < list->used; ++i) release_task_from_table(worker, list->tasks[i]);
    PredecessorChunk* next = list->next;
    SlabPool::release(list, pool);
    list = next;
  }
}

// Null: the list is empty or closed, or another climber has it.
PredecessorChunk* transition_to_busy(Lineage* lineage) {
  // seq_cst: this load comes after this thread has raised the task's priority; the climber that has the list reads that
  // priority after it has put the list back. Either the climber sees the new priority, or this thread finds the list
  // here.
  uintptr_t word = lineage->list.load(seq_cst);
  while (word > kClosed) {
    // acquire pairs with lineage_publish.
    if (lineage->list.compare_exchange_weak(word, kBusy, acquire, seq_cst)) return as_list(word);
  }
  return nullptr;
}

void transition_from_busy(Worker* worker, Lineage* lineage, PredecessorChunk* list) {
  uintptr_t word = kBusy;
  // seq_cst: as in transition_to_busy. The exchange fails only if the task has completed meanwhile; then this climber
  // must drop the list.
  if (!lineage->list.compare_exchange_strong(word, reinterpret_cast<uintptr_t>(list), seq_cst, relaxed)) {
    drop(worker, list);
  }
}

bool raise(Task* task, int32_t priority) {
  int32_t now = task->priority.load(relaxed);
  while (now < priority) {
    // Pairs with transition_to_busy.
    if (task->priority.compare_exchange_weak(now, priority, seq_cst, relaxed)) return true;
  }
  return false;
}

// Climbs breadth first, so that the limits cut off distant predecessors. Holds a reference to each task of the
// frontier.
class Climb {
 public:
  explicit Climb(Worker* worker) : worker_(worker) {}

  void from(Task* task) {
    raise_predecessors(task);
    while (head_ != tail_) {
      Task* next = frontier_[head_++ % kFrontier];
      raise_predecessors(next);
      release_task_from_table(worker_, next);
    }
  }

 private:
  // Repeats if another thread raised the task's priority while this thread had the list: the other thread did not find
  // the list.
  void raise_predecessors(Task* task) {
    Lineage* lineage = lineage_of(task);
    for (int32_t done = 0, now = task->priority.load(relaxed); now > done && edges_left_ > 0;
         now = task->priority.load(seq_cst)) {
      PredecessorChunk* list = transition_to_busy(lineage);
      if (list == nullptr) return;
      raise_all(list, now);
      transition_from_busy(worker_, lineage, list);
      done = now;
    }
  }

  void raise_all(PredecessorChunk* list, int32_t priority) {
    bool decrement = options().priority.propagation == Propagation::kDecrement;
    for (; list != nullptr; list = list->next) {
      for (int i = 0; i < list->used && edges_left_ > 0; ++i, --edges_left_) {
        Task* task = list->tasks[i];
        const int32_t own = decrement && !lineage_of(task)->node ? priority - 1 : priority;
        if (!raise(task, own)) continue;
        if (lineage_of(task)->claimed) [[unlikely]]
          tool::report_raise(task->number, own);
        follow(task);
      }
    }
  }

  void follow(Task* task) {
    if (tail_ - head_ == kFrontier) return;
    task->references.fetch_add(1, relaxed);  // the list, which this thread has, holds a reference, too
    frontier_[tail_++ % kFrontier] = task;
  }

  Worker* worker_;
  int edges_left_ = kEdges;
  unsigned head_ = 0, tail_ = 0;
  Task* frontier_[kFrontier];
};

// Asynchronous propagation: the tasks to climb from, each referenced.
constexpr int kMostWaiting = 4096;
MpscStack<Lineage, &Lineage::next> g_sources;  // pushed by creators, taken by the climber
Atomic<int32_t> g_waiting{0};                  // length of that list; creators and the climber
Atomic<uint32_t> g_climbing{0};                // 1: a worker is the climber
Lineage* g_taken = nullptr;                    // only the climber's: oldest first

bool become_climber() { return g_climbing.load(relaxed) == 0 && g_climbing.exchange(1, acquire) == 0; }
void resign() { g_climbing.store(0, release); }  // pairs with become_climber: the next climber sees `g_taken`

void forget(Worker* worker, Lineage* source) {
  g_waiting.fetch_sub(1, relaxed);
  source->waits.store(0, release);  // pairs with propagate_priority
  release_task_from_table(worker, source->task);
}

void append_sources() {
  Lineage** last = &g_taken;
  while (*last != nullptr) last = &(*last)->next;
  *last = reversed<Lineage, &Lineage::next>(g_sources.take_all());
}

// Called when no worker has been idle for long. Drops the tasks that have completed, and the older half of the others.
bool make_room(Worker* worker) {
  if (!become_climber()) return false;
  append_sources();
  Lineage** link = &g_taken;
  int seen = 0;
  while (Lineage* source = *link) {
    if (++seen > kMostWaiting / 2 && !has_completed(source->task)) {
      link = &source->next;
      continue;
    }
    *link = source->next;
    forget(worker, source);
  }
  resign();
  return true;
}

}  // namespace

void lineage_begin(Task* task, uint64_t construct, bool node) {
  Lineage* lineage = lineage_of(task);
  lineage->list.store(0, relaxed);
  lineage->task = task;
  lineage->waits.store(0, relaxed);
  lineage->construct = construct;
  lineage->profile = 0;
  lineage->node = node;
  lineage->claimed = false;
}

void lineage_add(Worker* worker, PredecessorChunk*& list, Task* predecessor) {
  if (list == nullptr || list->used == PredecessorChunk::kTasks) {
    auto* fresh = static_cast<PredecessorChunk*>(worker->pool->allocate(sizeof(PredecessorChunk)));
    fresh->next = list;
    fresh->used = 0;
    list = fresh;
  }
  predecessor->references.fetch_add(1, relaxed);  // a table holds a reference, too
  list->tasks[list->used++] = predecessor;
}

void lineage_publish(Task* task, PredecessorChunk* list) {
  // release pairs with transition_to_busy.
  if (list != nullptr) lineage_of(task)->list.store(reinterpret_cast<uintptr_t>(list), release);
}

void lineage_close(Worker* worker, Task* task) {
  // acquire: for a list that a climber had and put back.
  uintptr_t word = lineage_of(task)->list.exchange(kClosed, acquire);
  if (word > kClosed) drop(worker, as_list(word));
}

void propagate_priority(Worker* worker, Task* task) {
  if (task->priority.load(relaxed) == 0) return;
  if (!options().priority.asynchronous) return Climb(worker).from(task);
  if (g_waiting.load(relaxed) >= kMostWaiting && !make_room(worker)) return;
  // A descriptor that is used again may come here again before a worker has climbed from it. acquire pairs with forget:
  // `next` is free.
  if (lineage_of(task)->waits.exchange(1, acquire) != 0) return;
  task->references.fetch_add(1, relaxed);
  g_waiting.fetch_add(1, relaxed);
  g_sources.push(lineage_of(task));
}

bool propagate_when_idle(Worker* worker) {
  if (g_waiting.load(relaxed) == 0 || !become_climber()) return false;
  if (g_taken == nullptr) append_sources();
  Lineage* source = g_taken;
  if (source != nullptr) {
    g_taken = source->next;
    Climb(worker).from(source->task);
    forget(worker, source);
  }
  resign();
  return source != nullptr;
}

}  // namespace marline
