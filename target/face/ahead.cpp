// SPDX-License-Identifier: Apache-2.0
//
// Deferred target regions that are given to a device before those that they stand behind have ended (start_ahead in
// device/base/capture.hpp; docs/design/cluster.md, "Ahead of time").
//
// A task is handed over as soon as all that stands before it, directly or not, and is not claimed has ended. From then
// on it waits for tasks on the device alone, which need nothing but the device. That is when its maps are looked at. To
// make data present is a thread's business, which may wait: such a task is left to the runtime, and those behind it
// wait on the host until it has ended.
//
// Any thread. One lock is over all records; no device, data environment or runtime is called with it. One thread at a
// time hands over, in the order of g_to_hand. Tasks end in a progress hook, as no call of the runtime's may end one.
#include "face/ahead.hpp"

#include "base/chained.hpp"
#include "base/forks.hpp"
#include "face/gomp.hpp"
#include "image/images.hpp"
#include "mapping/devices.hpp"
#include "mapping/mapping.hpp"
#include "mapping/region.hpp"

extern "C" int omp_get_default_device();

namespace marline::target {

namespace {

Lock g_lock;
const HeldAcrossForks g_held(g_lock, ForkOrder::kAhead);
Chained<Ahead> g_claimed;  // by number
SoughtKernel* g_sought = nullptr;
Queue g_to_hand, g_to_end;
// Kernels that have been handed over and have not run. At the bound further ones wait here, where a task takes least
// memory and slows down none: a device has tasks enough by then. Twice as many for each member as one is sent at a
// time.
constexpr int kMostForMember = 128;
int g_handed = 0;
bool g_is_handing = false;
int g_counted = 0;  // of g_to_end, that the hook has been told of
marline_hook_t* g_hook = nullptr;
Ending* g_spare = nullptr;  // of the hook, where one thread is at a time

// The caller tells the hook, behind the lock.
void push_end(Ahead* one, int& pushed) {
  g_to_end.push(one);
  ++g_counted;
  ++pushed;
}

void tell_hook(int pushed) {
  if (pushed != 0) marline_progress_add(g_hook, pushed);
}

// Handing over ------------------------------------------------

void hand_over();

void count_down(Ahead* one) {
  if (--one->missing != 0 || one->state != Ahead::State::kWaiting) return;
  one->state = Ahead::State::kQueued;
  g_to_hand.push(one);
}

// Under the lock. Those behind the first run of a kernel are handed over behind its end. What a device needs to know of
// a kernel to send others behind it, it knows by then, such as whether it stores pointers.
bool lets_others_go(const Ahead* one) {
  if (one->state != Ahead::State::kHanded) return false;  // one that is left has no `task` any more
  const Entry* kernel = one->task->kernel;
  return one->has_ended || kernel == nullptr || kernel->has_run.load(std::memory_order_relaxed);
}

void release_dependents(Ahead* one) {
  for (Ahead* dependent : one->dependents) count_down(dependent);
  one->dependents.clear();
}

bool device_ended(Operation* operation) {
  auto* one = static_cast<Ahead*>(operation);
  int pushed = 0;
  {
    Guard guard(g_lock);
    --g_handed;
    one->has_ended = true;
    if (one->task->kernel != nullptr)
      const_cast<Entry*>(one->task->kernel)->has_run.store(true, std::memory_order_relaxed);
    if (one->state == Ahead::State::kHanded) release_dependents(one);
    if (one->state == Ahead::State::kHanded && one->is_ready) push_end(one, pushed);
  }
  tell_hook(pushed);
  hand_over();
  return true;
}

uint64_t where(const Entry* kernel, const Device* device) { return kernel->code.get(device->number); }

void show(Ahead* one, const char* what) {
  one->shown.device = one->device;
  one->shown.kernel = one->task->kernel;
  one->shown.place = one->task->place;
  one->shown.what.store(what, std::memory_order_relaxed);
  add_aside(&one->shown);
}

// False, also of the next one: the device cannot take it now.
bool launch_region(Ahead* one, List<uint64_t>& behind) {
  const CapturedTask& task = *one->task;
  if (where(task.kernel, one->device) == 0) return false;
  if (behind.count() != 0 && !one->device->takes_ahead.load(std::memory_order_relaxed)) return false;
  if (!one->device->mapping->begin_present(task.items)) return false;
  Region region = region_of(task);
  Arguments arguments;
  Array<Transfer, 4> copies;
  arguments.later = &copies;
  make_region_arguments(one->device, region, arguments);
  for (uint64_t copy : arguments.copies) one->copies.push(copy);
  for (const Transfer& transfer : copies) {
    AheadCopy copy = {transfer.device, transfer.host, transfer.bytes, true};
    behind.push(one->device->kind->ahead->start_copies(one->device, {&copy, 1, nullptr, 0}, nullptr));
  }
  Launch launch = launch_of(one->device, region, arguments);
  launch.behind = behind.begin();
  launch.behind_count = static_cast<uint32_t>(behind.count());
  show(one, "kernel");
  (void)one->device->kind->launch(one->device, launch, one);
  return true;
}

// Large copies are a thread's business: others wait while they are made.
constexpr size_t kMostBytesCopied = 1 << 20;

bool launch_update(Ahead* one, const List<uint64_t>& behind) {
  Plan plan;
  if (!one->device->mapping->begin_update(one->task->items, plan)) return false;
  Array<AheadCopy> copies;
  size_t bytes = 0;
  for (bool is_to_device : {true, false}) {
    for (const Transfer& transfer : is_to_device ? plan.copies : plan.copies_back) {
      copies.push({transfer.device, transfer.host, transfer.bytes, is_to_device});
      bytes += transfer.bytes;
    }
  }
  if (bytes > kMostBytesCopied) return false;
  show(one, "update");
  AheadCopies all = {copies.begin(), copies.count(), behind.begin(), static_cast<uint32_t>(behind.count())};
  (void)one->device->kind->ahead->start_copies(one->device, all, one);
  return true;
}

bool launch(Ahead* one, List<uint64_t>& behind) {
  marline_claimed_t* handle = one->task->handle;
  if (marline_claimed_is_cancelled(handle) != 0) return false;
  one->ended = device_ended;
  bool is_region = one->task->kind == ConstructKind::kTarget;
  if (!(is_region ? launch_region(one, behind) : launch_update(one, behind))) return false;
  // `cancels` looks only at tasks that are marked as handed over, which this one is next.
  if (marline_claimed_is_cancelled(handle) != 0) one->device->kind->ahead->cancel(one->device, one->number);
  return true;
}

// Under the lock. Those that are left to the runtime are no longer there when the task becomes ready, and others have
// been handed over: else it would not be here.
void list_behind(const Ahead* one, List<uint64_t>& behind) {
  for (uint64_t number : one->predecessors) {
    Ahead* before = g_claimed.find(number);
    if (before != nullptr && before->state == Ahead::State::kHanded && !before->has_ended) behind.push(before->number);
  }
}

// Under the lock, by the thread that hands over.
void note_handed(Ahead* one, bool is_launched, int& pushed) {
  one->state = is_launched ? Ahead::State::kHanded : Ahead::State::kLeft;
  if (lets_others_go(one)) release_dependents(one);
  if (one->is_ready && (one->has_ended || !is_launched)) push_end(one, pushed);
}

bool has_room(const Device* device) { return g_handed < kMostForMember * device->member_count; }

void hand_over() {
  int pushed = 0;
  g_lock.take();
  while (!g_is_handing && g_to_hand.first != nullptr && has_room(g_to_hand.first->device)) {
    g_is_handing = true;
    ++g_handed;
    Ahead* one = g_to_hand.pop();
    List<uint64_t> behind;
    list_behind(one, behind);
    g_lock.release();
    bool is_launched = launch(one, behind);
    g_lock.take();
    g_is_handing = false;
    if (!is_launched) --g_handed;
    note_handed(one, is_launched, pushed);
  }
  g_lock.release();
  tell_hook(pushed);
}

// The runtime's calls -----------------------------------------

// Null: the host, or a device that takes nothing ahead, or has something to do first that may suspend.
Device* device_that_takes(int64_t number) {
  bool exists;
  Device* device = device_for_routine(number == -1 ? omp_get_default_device() : static_cast<int>(number), exists);
  if (device == nullptr || !device->takes_ahead.load(std::memory_order_relaxed) || device->lost) return nullptr;
  return is_prepared(device) ? device : nullptr;
}

// Tools hear of constructs from the task that runs them.
bool wants(int64_t number) { return !is_told(MARLINE_ON_ANYTHING) && device_that_takes(number) != nullptr; }

// The device has answered.
bool kernel_found(Operation* operation) {
  auto* sought = static_cast<SoughtKernel*>(operation);
  {
    Guard guard(g_lock);
    for (Ahead* one : sought->waiting) {
      one->seeks_kernel = false;
      count_down(one);
    }
    sought->waiting.clear();
    sought->is_missing = where(sought->kernel, sought->device) == 0;
    SoughtKernel** link = &g_sought;
    while (*link != sought) link = &(*link)->next;
    if (!sought->is_missing) *link = sought->next;
  }
  if (!sought->is_missing) destroy(sought);
  hand_over();
  return true;
}

// Under the lock, of a task whose kernel has not been found yet. False: the device does not have it. `fresh`: the
// device is to be asked, without the lock.
bool wait_for_kernel(Ahead* one, SoughtKernel*& fresh) {
  SoughtKernel* sought = g_sought;
  while (sought != nullptr && (sought->kernel != one->task->kernel || sought->device != one->device))
    sought = sought->next;
  if (sought == nullptr) {
    fresh = sought = make<SoughtKernel>();
    sought->ended = kernel_found;
    sought->kernel = one->task->kernel;
    sought->device = one->device;
    sought->next = g_sought;
    g_sought = sought;
  }
  if (sought->is_missing) return false;
  sought->waiting.push(one);
  one->seeks_kernel = true;
  ++one->missing;
  return true;
}

void* take(CapturedTask* task) {
  bool is_region = task->kind == ConstructKind::kTarget;
  if (!is_region && task->kind != ConstructKind::kUpdate) return nullptr;
  Device* device = device_that_takes(task->device);
  if (device == nullptr || (task->maps != nullptr && !knows_loaded_variables(device))) return nullptr;
  auto* one = make<Ahead>();
  one->task = task;
  one->device = device;
  one->task->items.of_region = is_region;
  SoughtKernel* fresh = nullptr;
  {
    Guard guard(g_lock);
    if (is_region && where(task->kernel, device) == 0 && !wait_for_kernel(one, fresh)) {
      destroy(one);
      return nullptr;
    }
    g_claimed.add(task->number, one);
  }
  if (fresh != nullptr) device->kind->ahead->start_find(device, const_cast<Entry*>(task->kernel), fresh);
  return one;
}

void ordered(void* taken, const uint64_t* numbers, size_t count, size_t others) {
  auto* one = static_cast<Ahead*>(taken);
  {
    Guard guard(g_lock);
    for (size_t i = 0; i < count; ++i) {
      Ahead* before = g_claimed.find(numbers[i]);
      if (before == nullptr) continue;  // it has ended
      one->predecessors.push(numbers[i]);
      if (lets_others_go(before)) continue;
      before->dependents.push(one);
      ++one->missing;
    }
    if (others != 0) ++one->missing;
    count_down(one);
  }
  hand_over();
}

void others_ended(void* taken) {
  {
    Guard guard(g_lock);
    count_down(static_cast<Ahead*>(taken));
  }
  hand_over();
}

// If it still waits, then for tasks that have been left to the runtime: they have ended.
void ready(void* taken) {
  auto* one = static_cast<Ahead*>(taken);
  int pushed = 0;
  {
    Guard guard(g_lock);
    one->is_ready = true;
    if (one->state == Ahead::State::kWaiting) {
      one->missing = one->seeks_kernel ? 2 : 1;
      count_down(one);
    } else if (one->state == Ahead::State::kLeft || one->has_ended) {
      if (one->state != Ahead::State::kQueued) push_end(one, pushed);
    }
  }
  tell_hook(pushed);
  hand_over();
}

// Looks at all tasks under way. Those that have not been handed over are looked at then.
void cancels() {
  List<uint64_t> numbers;
  Device* device = nullptr;
  {
    Guard guard(g_lock);
    g_claimed.for_each([&](const Ahead& one) {
      if (one.state != Ahead::State::kHanded || one.has_ended) return;
      if (marline_claimed_is_cancelled(one.task->handle) == 0) return;
      numbers.push(one.number);
      device = one.device;  // a program has one cluster
    });
  }
  for (uint64_t number : numbers) device->kind->ahead->cancel(device, number);
}

// A task that was left to the runtime.
void left_ended(uint64_t number) {
  Guard guard(g_lock);
  Ahead* one = g_claimed.find(number);
  g_claimed.remove(one);
  destroy(one);
}

// Ends --------------------------------------------------------

// Its record stays until it has ended, so that those behind it are not handed over, if there can be any.
void leave(Ahead* one) {
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
  Ahead* of = nullptr;
};

bool copy_ended(Operation* operation) {
  auto* copy = static_cast<CopyHome*>(operation);
  int pushed = 0;
  {
    Guard guard(g_lock);
    if (--copy->of->ending->copies_left == 0) push_end(copy->of, pushed);
  }
  destroy(copy);
  tell_hook(pushed);
  return true;
}

void start_copies(Ahead* one) {
  Ending& ending = *one->ending;
  uint32_t count = ending.plan.copies.count();
  ending.copies_left = count;
  for (uint32_t i = 0; i < count; ++i) {
    Transfer transfer = ending.plan.copies[i];
    AheadCopy made = {transfer.device, transfer.host, transfer.bytes, false};
    auto* copy = make<CopyHome>();
    copy->ended = copy_ended;
    copy->of = one;  // from the last of these calls on it may be gone
    (void)one->device->kind->ahead->start_copies(one->device, {&made, 1, nullptr, 0}, copy);
  }
}

void end(Ahead* one) {
  marline_claimed_t* handle = one->task->handle;
  remove_aside(&one->shown);
  {
    Guard guard(g_lock);
    g_claimed.remove(one);
  }
  free_captured(one->task);
  destroy(one);
  marline_claimed_end(handle);
}

enum class Step { kDone, kAgain, kGoesOn };

// Of a region whose kernel has ended: its mapping ends.
Step end_task(Ahead* one) {
  if (one->task->kind == ConstructKind::kUpdate) {
    end(one);
    return Step::kDone;
  }
  Mapping& mapping = *one->device->mapping;
  for (uint64_t copy : one->copies) one->device->kind->release(one->device, copy);
  one->copies.clear();
  if (one->ending == nullptr) {
    if (g_spare == nullptr) g_spare = make<Ending>();
    if (!mapping.begin_end(one->task->items, g_spare->plan)) return Step::kAgain;  // another construct is at some of it
    bool is_over = g_spare->plan.pieces == nullptr && g_spare->plan.copies.count() == 0;
    if (!is_over) {
      one->ending = g_spare;
      g_spare = nullptr;
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

Ahead* pop_end() {
  Guard guard(g_lock);
  return g_to_end.pop();
}

int poll(void*) {
  int ended = 0;
  Queue again;
  while (Ahead* one = pop_end()) {
    Step step = Step::kDone;
    one->state == Ahead::State::kLeft ? leave(one) : void(step = end_task(one));
    if (step == Step::kAgain) {
      again.push(one);
    } else {
      ++ended;
    }
  }
  {
    Guard guard(g_lock);
    while (Ahead* one = again.pop()) g_to_end.push(one);
    g_counted -= ended;
  }
  if (ended != 0) marline_progress_add(g_hook, -ended);
  return ended;
}

constexpr CaptureSink kSink = {wants, take, ordered, others_ended, ready, nullptr, cancels, nullptr, left_ended};

void start() {
  g_hook = marline_progress_register("deferred target regions", poll, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
  capture_to(&kSink);
}

void forget_all() {
  if (g_hook == nullptr) return;
  g_claimed = Chained<Ahead>();
  g_to_hand = g_to_end = {};
  g_is_handing = false;
  g_handed = 0;
  marline_progress_add(g_hook, -g_counted);
  g_counted = 0;
}

constexpr AheadRoom kRoom = {start, forget_all};

[[gnu::constructor]] void offer() { set_ahead(&kRoom); }

}  // namespace

}  // namespace marline::target
