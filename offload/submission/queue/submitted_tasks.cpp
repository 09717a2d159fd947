// SPDX-License-Identifier: Apache-2.0
//
// Submits deferred target constructs to a device before their predecessors have ended (start_submission in
// device/contract/capture.hpp; docs/design/cluster-submission.md).
//
// A task is submitted as soon as all its predecessors, direct or not, that are not claimed have ended. From then on it
// waits only for tasks on the device, which need nothing but the device. Its maps are processed at that time
// (submit.cpp). A task that may have to wait then is left to the runtime, and its successors wait on the host until it
// has ended.
//
// Any thread. One lock guards all records. No function of a device or of a data environment is called with the lock,
// and no function of the runtime but queries (omp_get_level, marline_claimed_is_cancelled). One thread at a time
// submits: tasks in the order of g_to_submit, or regions of a graph (graph_iterations.cpp). Tasks end in a progress
// hook, as a task must not end in a call from the runtime.
#include "submission/queue/submitted_tasks.hpp"

#include "base/chained.hpp"
#include "base/forks.hpp"
#include "submission/queue/tool_events.hpp"
#include "submission/queue/waits.hpp"
#include "abi/gcc/provider.hpp"
#include "submission/reductions.hpp"
#include "image/images.hpp"
#include "registry/registry.hpp"
#include "data/data_environment.hpp"
#include "registry/region.hpp"

#include <atomic>
#include <sched.h>

extern "C" int omp_get_default_device();
extern "C" int omp_get_cancellation();

namespace marline::offload::submission {

using namespace abi;
using namespace registry;

namespace {

Lock g_lock;
const HeldAcrossForks g_held(g_lock, ForkOrder::kSubmission);
Chained<SubmittedTask> g_claimed;  // by number
Queue g_to_submit, g_to_end;
// Constructs that have been submitted and have not ended, but for regions that graph_iterations.cpp has submitted.
// Above Device::most_submitted, tasks queue here: a record here is the smallest, and the device already has enough
// work.
int g_submitted = 0;
bool g_is_submitting = false;
TaskWaits g_waits;
int g_counted = 0;  // number of tasks to end that the progress hook counts as pending
// Number of constructs with copies that the progress hook makes; it counts these as pending, too.
std::atomic<int> g_in_parts{0};
// The program's one cluster; set when the first task is claimed.
std::atomic<Device*> g_device{nullptr};
// The number of searches for predecessors so far, and the task of the last one.
uint64_t g_search = 0, g_searched = 0;
marline_hook_t* g_hook = nullptr;
Ending* g_spare = nullptr;  // used by the progress hook only, which one thread runs at a time

// The caller must call notify_hook(pushed) after it releases the lock.
void push_end(SubmittedTask* one, int& pushed) {
  g_to_end.push(one);
  ++g_counted;
  ++pushed;
}

void notify_hook(int pushed) {
  if (pushed != 0) marline_progress_add(g_hook, pushed);
}

// Submission --------------------------------------------------

}  // namespace

void count_down(SubmittedTask* one) {
  if (--one->missing != 0 || one->state != SubmittedTask::State::kWaiting) return;
  one->state = SubmittedTask::State::kQueued;
  g_to_submit.push(one);
}

Lock& submission_lock() { return g_lock; }
SubmittedTask* find_claimed(uint64_t task) { return g_claimed.find(task); }

void add_claimed(SubmittedTask* one, uint64_t number) {
  one->created = g_waits.add(g_claimed.is_empty());
  g_claimed.add(number, one);
  if (g_device.load() == nullptr) g_device = one->device;
}

void remove_claimed(SubmittedTask* one) { g_claimed.remove(one); }

// Called with the lock. Successors of a kernel's first run are submitted only after that run ends. Only then does the
// device know what it needs to take successors, such as whether the kernel stores pointers. Successors of copies to the
// device with bytes that are not known yet are submitted only after the copies' end.
bool lets_others_go(const SubmittedTask* one) {
  if (one->state != SubmittedTask::State::kSubmitted)
    return false;  // a task that is left to the runtime has no `task` any more
  const Entry* kernel = one->task->kernel;
  if (one->looks_later) return one->has_ended;
  return one->has_ended || kernel == nullptr || kernel->has_run.load(std::memory_order_relaxed);
}

namespace {

void release_dependents(SubmittedTask* one) {
  for (SubmittedTask* dependent : one->dependents) count_down(dependent);
  one->dependents.shrink(0);
}

bool device_ended(Operation* operation) {
  auto* one = static_cast<SubmittedTask*>(operation);
  int pushed = 0;
  bool in_parts, may_have_run = marline_claimed_is_cancelled(one->task->handle) == 0;
  {
    Guard guard(g_lock);
    if (!one->is_submitted_in_turn) --g_submitted;
    one->has_ended = true;
    in_parts = one->in_parts;
    if (one->task->kernel != nullptr && may_have_run)
      const_cast<Entry*>(one->task->kernel)->has_run.store(true, std::memory_order_relaxed);
    if (one->state == SubmittedTask::State::kSubmitted) release_dependents(one);
    if (one->state == SubmittedTask::State::kSubmitted && one->is_ready) push_end(one, pushed);
  }
  notify_hook(pushed);
  if (in_parts) count_in_parts(-1);
  submit_ready();
  return true;
}

// Called with the lock. Lists the operations of predecessors that have not ended. Every predecessor is ended or
// submitted when we get here: one that was left to the runtime has no record any more when the task becomes ready.
void list_open_predecessors(const SubmittedTask* one, List<uint64_t>& after) {
  for (uint64_t number : one->predecessors) {
    SubmittedTask* before = g_claimed.find(number);
    if (before != nullptr && before->state == SubmittedTask::State::kSubmitted && !before->has_ended)
      after.push(before->number);
  }
}

// Called with the lock. If the program awaited one region of a kernel, assume that it awaits all of them: then the
// device need not be notified of each after its launch.
bool is_awaited(const SubmittedTask* one) {
  const Entry* kernel = one->task->kernel;
  if (kernel == nullptr || one->is_awaited || g_waits.is_awaited(one->created)) return true;
  return !kernel->has_run.load(std::memory_order_relaxed) || kernel->is_awaited.load(std::memory_order_relaxed);
}

// Whether other constructs may wait until the task has ended, as it changes map entries.
bool keeps_in_flight(const SubmittedTask* one) { return one->ending != nullptr; }

// Called with the lock, by the submitting thread. A task that is left to the runtime can run when its predecessors have
// ended, so their ends are awaited.
void note_submitted(SubmittedTask* one, bool is_launched, List<uint64_t>& tell, int& pushed) {
  one->state = is_launched ? SubmittedTask::State::kSubmitted : SubmittedTask::State::kLeftToRuntime;
  if (is_launched && one->is_awaited) note_to_report(one, tell);
  if (!is_launched || keeps_in_flight(one)) note_awaited(one->predecessors.begin(), one->predecessors.count(), tell);
  if (is_launched && one->device->holds_back && !one->has_ended) g_waits.note_given(one->created);
  if (lets_others_go(one)) release_dependents(one);
  if (one->is_ready && (one->has_ended || !is_launched)) push_end(one, pushed);
}

// Called with the lock. Marks the task's predecessors, direct or not. A task that is left to the runtime and has not
// ended is not a predecessor of a task that is being submitted.
void mark_those_before(const SubmittedTask* one) {
  ++g_search;
  g_searched = one->key;
  List<const SubmittedTask*> open;
  open.push(one);
  while (!open.is_empty()) {
    const SubmittedTask* next = open.back();
    open.pop();
    for (uint64_t number : next->predecessors) {
      SubmittedTask* before = g_claimed.find(number);
      if (before == nullptr || before->met_in == g_search) continue;
      before->met_in = g_search;
      open.push(before);
    }
  }
}

}  // namespace

// The search for predecessors is made once for each task.
bool is_ordered_after(const SubmittedTask* one, uint64_t task) {
  Guard guard(g_lock);
  const SubmittedTask* other = g_claimed.find(task);
  if (other == nullptr) return true;
  if (g_search == 0 || g_searched != one->key) mark_those_before(one);
  return other->met_in == g_search;
}

bool find_operation(uint64_t task, uint64_t& operation) {
  Guard guard(g_lock);
  const SubmittedTask* one = g_claimed.find(task);
  if (one != nullptr) operation = one->number;
  return one != nullptr;
}

void count_in_parts(int constructs) {
  g_in_parts.fetch_add(constructs, std::memory_order_relaxed);
  marline_progress_add(g_hook, constructs);
}

namespace {

// Reports a task that is ready and has been submitted as detached to a tool. Called with the lock, which it releases in
// between.
void tell_detached(const SubmittedTask* one) {
  if (!is_reported(MARLINE_ON_SCHEDULE)) [[likely]] {
    return;
  }
  g_lock.release();
  marline_claimed_detach(one->task->handle);
  g_lock.take();
}

// Submits the first task of the queue. Called with the lock, which it releases meanwhile.
void submit_first(int& pushed) {
  ++g_submitted;
  SubmittedTask* one = g_to_submit.pop();
  List<uint64_t> after, tell;
  list_open_predecessors(one, after);
  one->is_reported = is_awaited(one);
  g_lock.release();
  one->ended = device_ended;
  bool is_launched = launch(one, after);
  g_lock.take();
  if (is_launched && one->is_ready) tell_detached(one);  // it cannot end before it is marked as submitted
  if (!is_launched) --g_submitted;
  note_submitted(one, is_launched, tell, pushed);
  if (tell.is_empty()) return;
  g_lock.release();
  report_awaited(g_device.load(), tell);
  g_lock.take();
}

// Notifies the device that the program waits. Called with the lock, which it releases meanwhile. The device has got all
// tasks that could be submitted, so it knows as much as it can when it plans.
void tell_wait() {
  bool singly = g_waits.take();
  g_lock.release();
  Device* device = g_device.load();
  device->kind->early->waits(device, singly);
  g_lock.take();
}

}  // namespace

void submit_ready() {
  int pushed = 0;
  g_lock.take();
  while (!g_is_submitting) {
    bool has_next = g_to_submit.first != nullptr && g_submitted < g_to_submit.first->device->most_submitted;
    if (!has_next && !g_waits.tells()) break;
    g_is_submitting = true;
    has_next ? submit_first(pushed) : tell_wait();
    g_is_submitting = false;
  }
  g_lock.release();
  notify_hook(pushed);
}

// Waits for another submitting thread, which takes some microseconds. All ends of an iteration are awaited, as the
// program may wait for them to begin the next one.
bool submit_now(SubmittedTask* one, List<uint64_t>& after) {
  List<uint64_t> tell;
  int pushed = 0;
  g_lock.take();
  while (g_is_submitting) {
    g_lock.release();
    sched_yield();
    g_lock.take();
  }
  g_is_submitting = true;
  one->is_reported = true;
  g_lock.release();
  one->ended = device_ended;
  bool is_launched = launch(one, after);
  g_lock.take();
  g_is_submitting = false;
  one->missing = 0;
  note_submitted(one, is_launched, tell, pushed);
  g_lock.release();
  report_awaited(g_device.load(), tell);
  notify_hook(pushed);
  submit_ready();  // submits what other threads have queued meanwhile
  return is_launched;
}

namespace {

// The runtime's calls -----------------------------------------

// The device, if tasks can be submitted to it early. Null: it is the host, it does not take such tasks, it is lost, or
// it has something to do first that may suspend.
Device* device_that_takes(int64_t number) {
  bool exists;
  Device* device = device_for_routine(number == -1 ? omp_get_default_device() : static_cast<int>(number), exists);
  if (device == nullptr || !device->takes_early.load(std::memory_order_relaxed) || device->lost) return nullptr;
  return is_prepared(device) ? device : nullptr;
}

bool wants(int64_t number) { return device_that_takes(number) != nullptr && !tool_forbids(); }

void* take(CapturedTask* task) {
  bool is_region = task->kind == ConstructKind::kTarget;
  // A data construct that is cancelled must have changed nothing, and one that has been submitted cannot be undone.
  bool stays = task->kind == ConstructKind::kEnterData || task->kind == ConstructKind::kExitData;
  if ((!is_region && !stays && task->kind != ConstructKind::kUpdate) || (stays && omp_get_cancellation() != 0))
    return nullptr;
  // Tasks of iterations are not reported to tools, so they are not taken while a tool listens.
  bool is_plain = task->reduced_count == 0;  // a task of a reduction is not a part of an iteration for the device
  if (task->graph != 0 && is_plain && is_reported(MARLINE_ON_ANYTHING | MARLINE_ON_SCHEDULE)) return nullptr;
  Device* device = device_that_takes(task->device);
  if (device == nullptr || (task->maps != nullptr && !knows_loaded_variables(device))) return nullptr;
  auto* one = make<SubmittedTask>();
  one->task = task;
  one->device = device;
  one->task->items.of_region = is_region;
  one->task->items.source = {is_region ? task->kernel->name : nullptr, task->place, task->code};
  SoughtKernel* fresh = nullptr;
  {
    Guard guard(g_lock);
    if (is_region && where(task->kernel, device) == 0 && !wait_for_kernel(one, fresh)) {
      destroy(one);
      return nullptr;
    }
    add_claimed(one, task->number);
  }
  if (fresh != nullptr) device->kind->early->start_find(device, const_cast<Entry*>(task->kernel), fresh);
  return one;
}

void ordered(void* taken, const uint64_t* numbers, size_t count, size_t others) {
  auto* one = static_cast<SubmittedTask*>(taken);
  List<uint64_t> tell;
  if (one->task->graph != 0 && others == 0 && submit_in_turn(one, numbers, count)) return;
  {
    Guard guard(g_lock);
    for (size_t i = 0; i < count; ++i) {
      SubmittedTask* before = g_claimed.find(numbers[i]);
      if (before == nullptr) continue;  // it has ended
      one->predecessors.push(numbers[i]);
      if (lets_others_go(before)) continue;
      before->dependents.push(one);
      ++one->missing;
    }
    if (others != 0) ++one->missing;
    if (one->is_awaited) note_awaited(one->predecessors.begin(), one->predecessors.count(), tell);
    count_down(one);
  }
  report_awaited(g_device.load(), tell);
  submit_ready();
}

void others_ended(void* taken) {
  {
    Guard guard(g_lock);
    count_down(static_cast<SubmittedTask*>(taken));
  }
  submit_ready();
}

}  // namespace

// If the task still waits, it waits for tasks that were left to the runtime, and these have ended.
void ready(void* taken) {
  auto* one = static_cast<SubmittedTask*>(taken);
  int pushed = 0;
  g_lock.take();
  if (one->state == SubmittedTask::State::kSubmitted) tell_detached(one);  // it cannot end before it is ready
  one->is_ready = true;
  if (one->state == SubmittedTask::State::kWaiting) {
    one->missing = one->seeks_kernel ? 2 : 1;
    count_down(one);
  } else if (one->state == SubmittedTask::State::kLeftToRuntime || one->has_ended) {
    if (one->state != SubmittedTask::State::kQueued) push_end(one, pushed);
  }
  g_lock.release();
  notify_hook(pushed);
  submit_ready();
}

namespace {

void program_waits(marline_wait_kind_t kind) {
  waits(kind);
  if (g_waits.has_told(kind)) return;
  {
    Guard guard(g_lock);
    g_waits.begin(kind, g_device.load()->holds_back);
  }
  submit_ready();
}

void awaited(uint64_t number) {
  List<uint64_t> tell;
  {
    Guard guard(g_lock);
    note_awaited(&number, 1, tell);
  }
  report_awaited(g_device.load(), tell);
}

// Only for a task that no thread is submitting yet.
void raised(uint64_t number, int32_t priority) {
  Guard guard(g_lock);
  SubmittedTask* one = g_claimed.find(number);
  if (one != nullptr && one->state == SubmittedTask::State::kWaiting) one->task->priority = priority;
}

// Looks at all submitted tasks. A task that has not been submitted yet is looked at when it is.
void cancels() {
  List<uint64_t> numbers;
  {
    Guard guard(g_lock);
    g_claimed.for_each([&](const SubmittedTask& one) {
      if (one.state != SubmittedTask::State::kSubmitted || one.has_ended) return;
      if (!may_be_cancelled(one) || marline_claimed_is_cancelled(one.task->handle) == 0) return;
      numbers.push(one.number);
    });
  }
  Device* device = g_device.load();
  for (uint64_t number : numbers) device->kind->early->cancel(device, number);
}

// Called when a task that was left to the runtime has ended.
void left_ended(uint64_t number) {
  Guard guard(g_lock);
  SubmittedTask* one = g_claimed.find(number);
  g_claimed.remove(one);
  destroy(one);
}

// Ends --------------------------------------------------------

// Leaves the task to the runtime. Its record stays until it has ended if it can have successors, so that these are not
// submitted before.
void leave(SubmittedTask* one) {
  CapturedTask* task = one->task;
  marline_claimed_t* handle = task->handle;
  bool is_named = task->dependence_count != 0;
  free_captured(task);
  one->task = nullptr;
  if (!is_named) {
    Guard guard(g_lock);
    g_claimed.remove(one);
    destroy(one);
  }
  marline_claimed_run(handle);
}

struct CopyHome : Operation {
  SubmittedTask* of = nullptr;
};

bool copy_ended(Operation* operation) {
  auto* copy = static_cast<CopyHome*>(operation);
  int pushed = 0;
  {
    Guard guard(g_lock);
    if (--copy->of->ending->copies_left == 0) push_end(copy->of, pushed);
  }
  destroy(copy);
  notify_hook(pushed);
  count_in_parts(-1);
  return true;
}

void start_copies(SubmittedTask* one) {
  Device* device = one->device;
  Ending& ending = *one->ending;
  uint32_t count = ending.plan.copies.count();
  ending.copies_left = count;
  for (uint32_t i = 0; i < count; ++i) {
    Transfer transfer = ending.plan.copies[i];
    DeviceCopy made = {transfer.device, transfer.host, transfer.bytes, false};
    report_copies(one->task->items.reported, one->device, &made, 1, one->reported_copies);
    auto* copy = make<CopyHome>();
    copy->ended = copy_ended;
    copy->of = one;  // `one` may be gone after the last of these calls
    count_in_parts(1);
    (void)device->kind->early->start_copies(device, {&made, 1, nullptr, 0, true}, copy);
  }
  if (device->holds_for_waits) device->kind->early->waits(device, false);
}

void end(SubmittedTask* one) {
  marline_claimed_t* handle = one->task->handle;
  report_copies_done(one->reported_copies);
  end_report(one->task->items.reported);
  if (one->shown != nullptr) {
    remove_pending(one->shown);
    destroy(one->shown);
  }
  {
    Guard guard(g_lock);
    g_claimed.remove(one);
  }
  free_captured(one->task);
  destroy(one);
  marline_claimed_end(handle);
}

enum class Step { kDone, kAgain, kGoesOn };

void end_data(SubmittedTask* one) {
  Mapping& mapping = *one->device->mapping;
  report_copies_done(one->reported_copies);
  if (one->task->kind == ConstructKind::kEnterData) mapping.finish_enter(one->ending->plan);
  if (one->task->kind == ConstructKind::kExitData) mapping.finish_end(one->task->items, one->ending->plan);
  if (one->ending != nullptr) destroy(one->ending);
  end(one);
}

// Ends a construct after its operation has ended. A region's maps end with it.
Step end_task(SubmittedTask* one) {
  if (one->task->kind != ConstructKind::kTarget) {
    end_data(one);
    return Step::kDone;
  }
  Mapping& mapping = *one->device->mapping;
  report_copies_done(one->reported_copies);
  report_kernel_done(one->task->items.reported, *one);
  report_release(one->task->items.reported, one->device, one->copies);
  for (uint64_t copy : one->copies) one->device->kind->release(one->device, copy);
  one->copies.clear();
  if (one->ending == nullptr || !one->ending->has_begun) {
    if (g_spare == nullptr) g_spare = make<Ending>();
    Ending* ending = one->ending != nullptr ? one->ending : g_spare;
    // Some of the data is in flight for another construct.
    if (!mapping.begin_end(one->task->items, ending->plan, one->key)) return Step::kAgain;
    bool is_over = ending == g_spare && ending->plan.entries == nullptr && ending->plan.copies.count() == 0;
    if (!is_over) {
      ending->has_begun = true;
      if (ending == g_spare) g_spare = nullptr;
      one->ending = ending;
      if (one->ending->plan.copies.count() != 0) {
        start_copies(one);
        return Step::kGoesOn;
      }
    }
  }
  if (one->ending != nullptr) {
    mapping.finish_end(one->task->items, one->ending->plan);
    destroy(one->ending);
  }
  end(one);
  return Step::kDone;
}

SubmittedTask* pop_end() {
  Guard guard(g_lock);
  return g_to_end.pop();
}

int poll(void*) {
  bool is_copying = g_in_parts.load(std::memory_order_relaxed) != 0;  // relaxed, as it is only a hint
  Device* device = g_device.load();
  int copied = is_copying && device->kind->early->copy_part(device) ? 1 : 0, ended = 0;
  Queue later;
  while (SubmittedTask* one = pop_end()) {
    Step step = Step::kDone;
    one->state == SubmittedTask::State::kLeftToRuntime ? leave(one) : void(step = end_task(one));
    if (step == Step::kAgain) {
      later.push(one);
    } else {
      ++ended;
    }
  }
  {
    Guard guard(g_lock);
    while (SubmittedTask* one = later.pop()) g_to_end.push(one);
    g_counted -= ended;
  }
  if (ended != 0) marline_progress_add(g_hook, -ended);
  return ended + copied;
}

constexpr CaptureSink kSink = {
    wants,      take,     ordered,  others_ended, ready,   program_waits, cancels, raised,
    left_ended, iterates, iterated, graph_ends,   awaited, repeats,       reduced, replays_with_arguments,
    replay_next};

void start() {
  g_hook = marline_progress_register("deferred target regions", poll, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
  capture_to(&kSink);
}

void forget_all() {
  if (g_hook == nullptr) return;
  g_claimed = Chained<SubmittedTask>();
  forget_graphs();
  forget_reductions();
  g_to_submit = g_to_end = {};
  g_is_submitting = false;
  g_submitted = 0;
  g_waits.forget();
  marline_progress_add(g_hook, -g_counted - g_in_parts.exchange(0));
  g_counted = 0;
}

constexpr SubmissionLayer kRoom = {start, forget_all};

[[gnu::constructor]] void offer() { set_submission_layer(&kRoom); }

}  // namespace

}  // namespace marline::offload::submission
