// SPDX-License-Identifier: Apache-2.0
//
// Iterations of persistent graphs that consist of target regions (`iterates` in devices.h). The regions of an iteration
// are recorded. The regions of the next iteration are submitted one by one as they are created, in the same order, so
// the device may replay what it did for the previous iteration. The lock of submission.cpp guards the records.
//
// Invariant: for an iteration that the device knows of, `now` has the regions that were submitted as parts of it, in
// order and without a gap. If a region is submitted in another way, the iteration is over for the device, and the
// device forgets the graph before the next iteration, as its record of the graph lacks this region.
#include "base/make.hpp"
#include "submission/queue/submission.hpp"
#include "submission/observe/captured_task.hpp"
#include "submission/replay/known_regions.hpp"
#include "data/used_data.hpp"

#include <pthread.h>

#include <algorithm>

extern "C" int omp_get_default_device();

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;
using namespace image;
using namespace items;

namespace {

// A submitted region of an iteration, by its numbers in the runtime and on the device.
struct GivenTask {
  uint64_t number, on_device;
};

struct SubmittedGraph {
  uint64_t key = 0;
  Device* device = nullptr;
  pthread_t producer = {};
  bool has_barrier = false;  // an iteration begins only when the previous one has ended
  bool is_open = false;      // the next region may be submitted as a part of the iteration
  bool is_reported = false;  // the device knows of this iteration
  bool is_broken = false;    // a region has been submitted in another way
  List<GivenTask> now, before;
  // The members from here on are the producer's, which uses them without the lock. The producer also reads `device`
  // without the lock, as no other thread sets it. These members describe the last iteration that was submitted region
  // by region, and the data that its regions use. The next iteration may be the same in all respects (`repeats`), or in
  // all but firstprivate values (`replays_with_arguments`).
  bool lists_used = false, is_listed = false;  // the data is being listed; it has been listed
  // The program replays the graph with new arguments, so its code runs in each iteration. Then `known` is filled.
  bool has_new_arguments = false;
  int default_device = 0;
  uint32_t modules = 0;  // module_changes() in that iteration: while it is the same, no address has become other code's
  UsedData used;
  KnownRegions known;
  uint64_t renewed = 0;       // number of regions of the current iteration that have been replayed
  List<ChangedWord> changed;  // changed arguments of the region that is being compared
};

// The graph with the iteration that the calling thread replays with new arguments; null: none.
thread_local constinit SubmittedGraph* t_renewed = nullptr;

PointerTable<SubmittedGraph>& g_graphs = make_table<SubmittedGraph>();  // as many graphs as the program has at a time

// Finds a region by its number in the runtime. The list is in the order of these numbers.
const GivenTask* find_in(const List<GivenTask>& list, uint64_t number) {
  const GivenTask* found = std::ranges::lower_bound(list, number, {}, &GivenTask::number);
  return found != list.end() && found->number == number ? found : nullptr;
}

// Whether the region can be submitted as the next one of the iteration. All its predecessors are claimed tasks. A
// region that takes part in a reduction cannot: each taskgroup has copies of its own, so no iteration is like the
// previous one.
bool is_next(const SubmittedGraph& graph, const SubmittedTask& one) {
  const CapturedTask& task = *one.task;
  if (task.reduced_count != 0) return false;
  return task.kind == ConstructKind::kTarget && task.step == graph.now.count() && one.missing == 1 &&
         task.kernel->has_run.load(std::memory_order_relaxed) &&
         (graph.device == nullptr || graph.device == one.device);
}

// Lists the device's numbers of the region's predecessors. A predecessor that is not a region of this or the previous
// iteration is listed only if it has been submitted and has not ended. False: a predecessor has not been submitted, or
// its successors must not be submitted yet.
bool list_open_predecessors(const SubmittedGraph& graph, SubmittedTask* one, const uint64_t* numbers, size_t count,
                            List<uint64_t>& after) {
  one->has_other_predecessors = false;
  for (size_t i = 0; i < count; ++i) {
    const SubmittedTask* other = g_submission.claimed.find(numbers[i]);
    if (other != nullptr && !lets_others_go(other)) return false;
    const GivenTask* given = find_in(graph.now, numbers[i]);
    if (given == nullptr) given = find_in(graph.before, numbers[i]);
    if (given != nullptr) {
      after.push(given->on_device);
    } else if (other != nullptr && !other->has_ended) {
      after.push(other->number);
      one->has_other_predecessors = true;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (g_submission.claimed.find(numbers[i]) != nullptr) one->predecessors.push(numbers[i]);
  }
  return true;
}

// Ends the iteration for the device after a region that is not submitted as a part of the iteration.
void leave_iteration(uint64_t number) {
  {
    Guard guard(g_submission.lock);
    g_graphs.find(number)->is_broken = true;
  }
  iterated(number);
}

// What take_turn decides: whether the region is submitted as a part of the iteration, whether it is the iteration's
// first region, whether the device must forget the graph before it (`is_new`), and SubmittedGraph::has_barrier.
struct Turn {
  bool is_given = false, is_first = false, is_new = false, has_barrier = false;
};

// Decides how submit_in_turn submits the region. Called with g_submission.lock.
Turn take_turn(SubmittedGraph& graph, SubmittedTask* one, const uint64_t* numbers, size_t count,
               List<uint64_t>& after) {
  Turn turn;
  turn.is_given = is_next(graph, *one) && list_open_predecessors(graph, one, numbers, count, after);
  one->is_submitted_in_turn = turn.is_given;
  turn.is_first = turn.is_given && !graph.is_reported;
  turn.is_new = turn.is_first && graph.is_broken;
  turn.has_barrier = graph.has_barrier;
  if (!turn.is_first) return turn;
  graph.device = one->device;
  graph.is_reported = true;
  graph.is_broken = false;
  return turn;
}

}  // namespace

void iterates(uint64_t number, int has_barrier) {
  Guard guard(g_submission.lock);
  SubmittedGraph* graph = g_graphs.find(number);
  if (graph == nullptr) {
    graph = make<SubmittedGraph>("a deferred target region");
    graph->key = number;
    g_graphs.add(number, graph);
  }
  graph->has_barrier = has_barrier != 0;
  graph->is_open = true;
  graph->is_reported = false;
  graph->producer = pthread_self();
  graph->before.swap(graph->now);
  graph->now.clear();
  if (graph->is_broken) graph->before.clear();
}

void iterated(uint64_t number) {
  if (t_renewed != nullptr && t_renewed->key == number) t_renewed = nullptr;
  Device* reported = nullptr;
  {
    Guard guard(g_submission.lock);
    SubmittedGraph* graph = g_graphs.find(number);
    if (graph == nullptr) return;  // null in a fork's child
    if (graph->is_reported) reported = graph->device;
    graph->is_open = graph->is_reported = false;
  }
  if (reported != nullptr) reported->kind->early->end_iteration(reported, number);
}

void graph_ends(uint64_t number) {
  Device* device = nullptr;
  {
    Guard guard(g_submission.lock);
    SubmittedGraph* graph = g_graphs.find(number);
    if (graph == nullptr) return;
    device = graph->device;
    g_graphs.remove(number);
    destroy(graph);
  }
  if (device != nullptr) device->kind->early->end_graph(device, number);
}

// The device may hold back an iteration's regions until the iteration's end. So the producer ends its open iteration
// for the device before it waits.
void waits(marline_wait_kind_t) {
  List<uint64_t> numbers;
  {
    Guard guard(g_submission.lock);
    g_graphs.for_each([&](const SubmittedGraph& graph) {
      if (graph.is_open && pthread_equal(graph.producer, pthread_self())) numbers.push(graph.key);
    });
  }
  for (uint64_t number : numbers) iterated(number);
}

bool submit_in_turn(SubmittedTask* one, const uint64_t* numbers, size_t count) {
  const uint64_t number = one->task->graph, reported_as = one->task->number;
  List<uint64_t> after;
  Turn turn;
  {
    Guard guard(g_submission.lock);
    SubmittedGraph* graph = g_graphs.find(number);
    if (graph == nullptr) return false;
    // The producer has waited. If it waited before the first region, the device has not been told of the iteration.
    if (!graph->is_open) {
      graph->is_broken = graph->is_broken || graph->now.is_empty();
      return false;
    }
    turn = take_turn(*graph, one, numbers, count, after);
  }
  const EarlySubmission& kind = *one->device->kind->early;
  if (turn.is_new) kind.end_graph(one->device, number);
  if (turn.is_first) (void)kind.begin_iteration(one->device, number, turn.has_barrier);
  if (!turn.is_given || !submit_now(one, after) || !one->is_of_iteration) {
    leave_iteration(number);
    return turn.is_given;
  }
  SubmittedGraph* graph;
  {
    Guard guard(g_submission.lock);
    graph = g_graphs.find(number);
    graph->now.push({reported_as, one->number});
  }
  if (graph->lists_used) {
    bool is_known = !graph->has_new_arguments || graph->known.add(*one->task);
    graph->lists_used = is_known && graph->used.add(*one->device->mapping, one->task->items);
  }
  return true;
}

namespace {

// Makes the task that represents all regions of the graph's iteration.
SubmittedTask* make_iteration(SubmittedGraph& graph, marline_claimed_t* all, uint64_t number) {
  ItemList list;
  graph.used.list_items(list);
  Items items = list.items();
  items.of_region = items.own_bases = true;
  marline_target_task_t reported = {};
  reported.form = MARLINE_TARGET_ENTRY;
  reported.handle = all;
  reported.number = number;
  reported.graph = graph.key;
  auto* one = make<SubmittedTask>("a deferred target region");
  one->task = make_captured(reported, items, {});
  one->task->kind = ConstructKind::kTarget;
  one->device = graph.device;
  one->is_submitted_in_turn = one->is_iteration = true;
  one->changes = graph.has_new_arguments;
  return one;
}

// Submits an iteration as a whole. False: it has not been submitted. `is_given`: the device replays the iteration; else
// the iteration must be submitted region by region. A submitted iteration holds its data until the progress hook ends
// it, so an iteration that the device would refuse is not submitted.
bool give_whole(SubmittedGraph& graph, marline_claimed_t* all, uint64_t number, bool& is_given) {
  {
    Guard guard(g_submission.lock);
    graph.is_reported = true;
  }
  if (!graph.device->kind->early->begin_iteration(graph.device, graph.key, true)) return false;
  SubmittedTask* one = make_iteration(graph, all, number);
  {
    Guard guard(g_submission.lock);
    add_claimed(one, number);
  }
  List<uint64_t> after;
  if (submit_now(one, after)) {
    is_given = one->is_of_iteration;
    bool is_over = is_given && !graph.has_new_arguments;
    ready(one);  // from here on `one` may have been freed
    if (is_over) iterated(graph.key);
    return true;
  }
  {
    Guard guard(g_submission.lock);
    g_submission.claimed.remove(one->key);
  }
  free_captured(one->task);
  destroy(one);
  return false;
}

// Whether the device may be asked to replay an iteration as a whole.
bool may_be_whole(SubmittedGraph& graph) {
  if (graph.lists_used) graph.used.join();
  graph.is_listed = graph.is_listed || graph.lists_used;
  graph.lists_used = false;
  if (!graph.is_listed || graph.device == nullptr || graph.device->lost) return false;
  return graph.device->takes_early.load(std::memory_order_relaxed) &&
         graph.default_device == omp_get_default_device() && graph.modules == module_changes();
}

// Replays the iteration as a whole. False: the caller must replay it task by task. `replays_with_arguments`: with new
// arguments, so the iteration's code runs, and each region gets its arguments by `replay_next`.
bool repeat(uint64_t number, marline_claimed_t* all, uint64_t task, bool replays_with_arguments) {
  SubmittedGraph* graph;
  bool is_whole = false, is_given = false;
  {
    Guard guard(g_submission.lock);
    graph = g_graphs.find(number);  // null in a fork's child
    is_whole = graph != nullptr && !graph->is_broken && graph->has_new_arguments == replays_with_arguments;
  }
  bool is_submitted = is_whole && may_be_whole(*graph) && give_whole(*graph, all, task, is_given);
  if (!is_submitted) marline_claimed_end(all);
  if (is_given || graph == nullptr) return is_given;
  graph->used.clear();
  graph->known.clear();
  graph->is_listed = false;
  graph->lists_used = true;
  graph->has_new_arguments = replays_with_arguments;
  graph->default_device = omp_get_default_device();
  graph->modules = module_changes();
  return false;
}

}  // namespace

int repeats(uint64_t number, marline_claimed_t* all, uint64_t task) { return repeat(number, all, task, false) ? 1 : 0; }

int replays_with_arguments(uint64_t number, marline_claimed_t* all, uint64_t task) {
  if (!repeat(number, all, task, true)) return 0;
  Guard guard(g_submission.lock);
  t_renewed = g_graphs.find(number);
  t_renewed->renewed = 0;
  return 1;
}

namespace {

// Replays the iteration's next region: passes the arguments that have changed to the device. Regions are not collected
// to be passed together, as the producer must know at once whether it has to create the task itself.
bool submit_next(const marline_target_task_t& task) {
  SubmittedGraph* graph = t_renewed;
  if (graph == nullptr || task.graph != graph->key || task.step != graph->renewed) return false;
  if (graph->default_device != omp_get_default_device()) return false;
  graph->changed.clear();
  if (!graph->known.is_same(task.step, task, graph->changed)) return false;
  bool leading_null = graph->known.has_leading_null(task.step);
  const EarlySubmission& kind = *graph->device->kind->early;
  if (!kind.repeat_kernel(graph->device, graph->key, leading_null, graph->changed.begin(), graph->changed.count()))
    return false;
  ++graph->renewed;
  return true;
}

}  // namespace

int replay_next(const marline_target_task_t* task) { return submit_next(*task) ? 1 : 0; }

void forget_graphs() {
  t_renewed = nullptr;
  g_graphs = {};
}

}  // namespace marline::offload::submission
