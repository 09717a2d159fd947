// SPDX-License-Identifier: Apache-2.0
//
// Climbing from tasks to their predecessors. Creators (synchronous propagation) and idle workers (asynchronous).
#include "graph/lineage.hpp"

#include "graph/dependences.hpp"
#include "graph/successors.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

constexpr uintptr_t kBusy = 1, kClosed = 2;

// Of one climb: edges looked at, and tasks whose predecessors are still to be looked at. What goes beyond keeps the
// priority that it has: a hint is lost, near predecessors first served.
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

// Null: empty, closed, or in another climber's hands.
PredecessorChunk* transition_to_busy(Lineage* lineage) {
  // seq_cst: the look comes after the raise of this task's priority, which the holder looks at after it has put the
  // list back. Either it sees the new priority, or the list is back here.
  uintptr_t word = lineage->list.load(seq_cst);
  while (word > kClosed) {
    // acquire pairs with lineage_publish.
    if (lineage->list.compare_exchange_weak(word, kBusy, acquire, seq_cst)) return as_list(word);
  }
  return nullptr;
}

void transition_from_busy(Worker* worker, Lineage* lineage, PredecessorChunk* list) {
  uintptr_t word = kBusy;
  // seq_cst: see above. It fails only if the task has completed meanwhile, which left the list to us.
  if (!lineage->list.compare_exchange_strong(word, reinterpret_cast<uintptr_t>(list), seq_cst, relaxed)) {
    drop(worker, list);
  }
}

bool raise(Task* task, int32_t priority) {
  int32_t now = task->priority.load(relaxed);
  while (now < priority) {
    if (task->priority.compare_exchange_weak(now, priority, seq_cst, relaxed)) return true;  // seq_cst: see above
  }
  return false;
}

// Breadth first, so that what is lost is far away. Holds a reference to each task of the frontier.
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
  // Again if the priority was raised while the list was here: who raised it found the list gone.
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
          tool::tell_raise(task->number, own);
        follow(task);
      }
    }
  }

  void follow(Task* task) {
    if (tail_ - head_ == kFrontier) return;
    task->references.fetch_add(1, relaxed);  // the list, which is here, holds one
    frontier_[tail_++ % kFrontier] = task;
  }

  Worker* worker_;
  int edges_left_ = kEdges;
  unsigned head_ = 0, tail_ = 0;
  Task* frontier_[kFrontier];
};

// Asynchronous propagation: tasks to climb from, each referenced.
constexpr int kMostWaiting = 4096;
MpscStack<Lineage, &Lineage::next> g_sources;  // pushed by creators, taken by the climber
Atomic<int32_t> g_waiting{0};                  // how many there are; creators and the climber
Atomic<uint32_t> g_climbing{0};                // 1: some worker is the climber
Lineage* g_taken = nullptr;                    // the climber's: oldest first

bool become_climber() { return g_climbing.load(relaxed) == 0 && g_climbing.exchange(1, acquire) == 0; }
void resign() { g_climbing.store(0, release); }  // pairs with become_climber: `g_taken`

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

// No worker has been idle for long. Forgets what has completed, and the older half of what has not.
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
  predecessor->references.fetch_add(1, relaxed);  // a table holds it
  list->tasks[list->used++] = predecessor;
}

void lineage_publish(Task* task, PredecessorChunk* list) {
  // release pairs with transition_to_busy.
  if (list != nullptr) lineage_of(task)->list.store(reinterpret_cast<uintptr_t>(list), release);
}

void lineage_close(Worker* worker, Task* task) {
  // acquire: a list that a climber had and put back.
  uintptr_t word = lineage_of(task)->list.exchange(kClosed, acquire);
  if (word > kClosed) drop(worker, as_list(word));
}

void propagate_priority(Worker* worker, Task* task) {
  if (task->priority.load(relaxed) == 0) return;
  if (!options().priority.asynchronous) return Climb(worker).from(task);
  if (g_waiting.load(relaxed) >= kMostWaiting && !make_room(worker)) return;
  // A descriptor that is used again may come again before it was climbed from. acquire pairs with forget: `next` is
  // free.
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
