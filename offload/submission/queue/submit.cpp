// SPDX-License-Identifier: Apache-2.0
//
// Submits a deferred target construct early (submitted_tasks.cpp) to its device: its maps are processed now, so that
// its effect on the data environment is settled. Its copies become operations of the device.
#include "base/chained.hpp"
#include "submission/queue/submitted_tasks.hpp"
#include "submission/queue/tool_events.hpp"
#include "submission/reductions.hpp"
#include "data/data_environment.hpp"
#include "registry/region.hpp"
#include "data/order/submission_order.hpp"

#include <atomic>

extern "C" int omp_get_cancellation();

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;
using namespace image;
using namespace items;
using namespace registry;

namespace {

// Larger copies are made in parts, as the thread that submits or polls has something else to do.
constexpr size_t kMostBytesAtOnce = 64 << 10;

// The context for the data environment's questions about the order of the construct and other tasks.
struct Place {
  const Ahead* one;
  List<uint64_t>* behind;
};

bool is_behind(const void* of, uint64_t task) { return comes_behind(static_cast<const Place*>(of)->one, task); }
void also_behind(const void* of, uint64_t operation) { static_cast<const Place*>(of)->behind->push(operation); }

Sent sent_at(const Place& place) { return {place.one->key, is_behind, &place, also_behind}; }

void show(Ahead* one, const char* what) {
  one->shown = make<Aside>();
  one->shown->device = one->device;
  one->shown->kernel = one->task->kernel;
  one->shown->place = one->task->place;
  one->shown->what.store(what, std::memory_order_relaxed);
  add_aside(one->shown);
}

// The operation of copies that are not the end of a task.
struct Brought : Operation {
  bool in_parts = false;
};

bool brought(Operation* operation) {
  auto* copies = static_cast<Brought*>(operation);
  bool in_parts = copies->in_parts;
  destroy(copies);
  if (in_parts) count_in_parts(-1);
  return true;
}

Brought* make_brought(bool in_parts) {
  auto* operation = make<Brought>();
  operation->ended = brought;
  operation->in_parts = in_parts;
  return operation;
}

// The kernel of a region that ends with copies back to the host. Shared by the submitting thread, which wants its
// number, and the device; whichever finishes last frees it. acq_rel: the one that frees it sees the other's use.
struct Run : Operation {
  const Entry* kernel = nullptr;
  std::atomic<int> owners{2};
};

void leave(Run* run) {
  if (run->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(run);
}

bool has_run(Operation* operation) {
  auto* run = static_cast<Run*>(operation);
  const_cast<Entry*>(run->kernel)->has_run.store(true, std::memory_order_relaxed);
  leave(run);
  return true;
}

size_t list_copies(Array<Transfer>& from, bool is_to_device, List<AheadCopy>& to) {
  size_t bytes = 0;
  for (const Transfer& transfer : from) {
    to.push({transfer.device, transfer.host, transfer.bytes, is_to_device});
    bytes += transfer.bytes;
  }
  return bytes;
}

// Lists what the plan copies to the device. Pointers that it attaches there come last, as the copies before them may
// write bytes of the host to the same place. The pointers' values stay in the plan, which exists as long as the
// construct.
size_t list_copies_to(Plan& plan, List<AheadCopy>& to) {
  size_t bytes = list_copies(plan.copies, true, to);
  for (Slot& slot : plan.slots) to.push({slot.device, &slot.value, sizeof slot.value, true});
  return bytes;
}

uint64_t start(Ahead* one, const List<AheadCopy>& copies, const List<uint64_t>& behind, bool in_parts,
               Operation* operation) {
  if (in_parts) count_in_parts(1);
  AheadCopies all = {copies.begin(), static_cast<uint32_t>(copies.count()), behind.begin(),
                     static_cast<uint32_t>(behind.count()), in_parts};
  return one->device->kind->ahead->start_copies(one->device, all, operation);
}

// Starts an operation also if nothing is to be copied: successors of the construct are ordered after it.
void start_copies(Ahead* one, Plan* to_device, Array<Transfer>* from_device, const List<uint64_t>& behind) {
  List<AheadCopy> copies;
  size_t bytes = to_device != nullptr ? list_copies_to(*to_device, copies) : 0;
  one->looks_later = !copies.is_empty() && !behind.is_empty();
  if (from_device != nullptr) bytes += list_copies(*from_device, false, copies);
  tell_copies(one->task->items.told, one->device, copies.begin(), static_cast<uint32_t>(copies.count()),
              one->told_copies);
  one->in_parts = bytes > kMostBytesAtOnce;
  (void)start(one, copies, behind, one->in_parts, one);
}

// Copies the data of transient maps to the device; the region is ordered after these copies. If claimed predecessors
// write a pointer into these bytes, that is found when the bytes are copied, too late for the region. Then the program
// ends with a message, as for a pointer that a kernel stores.
void bring(Ahead* one, Plan& plan, List<uint64_t>& behind) {
  List<AheadCopy> copies;
  size_t bytes = list_copies_to(plan, copies);
  plan.copies.shrink(0);
  if (copies.is_empty()) return;
  bool in_parts = bytes > kMostBytesAtOnce;
  uint64_t number = start(one, copies, behind, in_parts, make_brought(in_parts));
  one->device->mapping->note_filling(plan, number);
  behind.push(number);
}

// Copies data back to the host. The end of these copies is the end of the region, so they are also ordered after the
// ends of the tasks that share the data.
void take_home(Ahead* one, Plan& plan, uint64_t kernel) {
  List<uint64_t> behind;
  behind.push(kernel);
  for (uint64_t task : plan.sharers) {
    uint64_t operation;
    if (find_operation(task, operation)) behind.push(operation);
  }
  start_copies(one, nullptr, &plan.copies_back, behind);
}

// `graph`: the graph, if the kernel is in its iteration for the device, or 0; `others`: Launch::has_others_behind.
void start_kernel(Ahead* one, List<uint64_t>& behind, Operation* operation, uint64_t graph, bool others) {
  const CapturedTask& task = *one->task;
  Told* told = task.items.told;
  Region region = region_of(task);
  Arguments arguments;
  Array<Transfer, 4> copies;
  arguments.later = &copies;
  make_region_arguments(one->device, region, arguments);
  for (uint64_t copy : arguments.copies) one->copies.push(copy);
  for (const Transfer& transfer : copies) {
    AheadCopy copy = {transfer.device, transfer.host, transfer.bytes, true};
    tell_copies(told, one->device, &copy, 1, one->told_copies);
    List<AheadCopy> only;
    only.push(copy);
    bool in_parts = copy.bytes > kMostBytesAtOnce;
    behind.push(start(one, only, {}, in_parts, in_parts ? make_brought(true) : nullptr));
  }
  Launch launch = launch_of(one->device, region, arguments);
  launch.is_ahead = true;
  // Other constructs may wait for the data of transient maps, or for the room that they take.
  launch.is_awaited = one->is_told || one->ending != nullptr;
  launch.priority = task.priority;
  launch.behind = behind.begin();
  launch.behind_count = static_cast<uint32_t>(behind.count());
  launch.graph = graph;
  launch.has_others_behind = others;
  Array<ReducedArgument, 4> reduced;
  if (task.reduced_count != 0) list_reduced(task, reduced);
  launch.reduced = reduced.begin();
  launch.reduced_count = reduced.count();
  tell_kernel(told, one->device, region.teams);
  (void)one->device->kind->launch(one->device, launch, operation);
}

void check_place(Ahead* one, List<uint64_t>& behind) {
  Place at = {one, &behind};
  check_order(one, sent_at(at));
}

// Launches a region with transient maps. False if regions may be cancelled: a cancelled region must not copy back what
// it has not computed. False if a tool listens, as the times of the kernel are not kept.
bool launch_bringing(Ahead* one, List<uint64_t>& behind) {
  if (is_told(MARLINE_ON_ANYTHING)) return false;
  Mapping& mapping = *one->device->mapping;
  auto* ending = make<Ending>();
  Place at = {one, &behind};
  if (omp_get_cancellation() != 0 || !mapping.begin_bringing(one->task->items, ending->plan, sent_at(at))) {
    destroy(ending);
    return false;
  }
  one->ending = ending;
  show(one, "kernel");
  bring(one, ending->plan, behind);
  if (ending->plan.copies_back.count() == 0) {
    start_kernel(one, behind, one, 0, false);
    return true;
  }
  auto* run = make<Run>();
  run->ended = has_run;
  run->kernel = one->task->kernel;
  start_kernel(one, behind, run, 0, false);
  uint64_t kernel = run->number;
  leave(run);
  take_home(one, ending->plan, kernel);
  return true;
}

// False, also from the next functions: the device cannot take the construct now.
bool launch_region(Ahead* one, List<uint64_t>& behind) {
  const CapturedTask& task = *one->task;
  if (where(task.kernel, one->device) == 0) return false;
  if (behind.count() != 0 && !one->device->takes_ahead.load(std::memory_order_relaxed)) return false;
  Place at = {one, &behind};
  if (task.reduced_count != 0 && !bring_reductions(task, one->device, behind)) return false;
  size_t known = behind.count();
  if (!one->device->mapping->begin_present(task.items, sent_at(at))) return launch_bringing(one, behind);
  begin_told(*one->task, one->device);
  one->device->mapping->tell_maps(task.items, false);
  show(one, "kernel");
  one->is_of_iteration = one->is_in_turn;
  start_kernel(one, behind, one, one->is_in_turn ? task.graph : 0, one->has_others_behind || behind.count() != known);
  return true;
}

// Submits all regions of an iteration, which have no predecessors outside of it. If they must be submitted one by one,
// the construct ends without them, as its references have been counted. No operation is ordered after the construct by
// its number, which is that of its first region: tasks that the program creates later wait for its end.
bool launch_iteration(Ahead* one, List<uint64_t>& behind) {
  Place at = {one, &behind};
  if (!one->device->mapping->begin_present(one->task->items, sent_at(at))) return false;
  show(one, "iteration of a graph");
  const AheadKind& kind = *one->device->kind->ahead;
  one->is_of_iteration = behind.is_empty() && kind.repeat_iteration(one->device, one->task->graph, one->changes, one);
  if (!one->is_of_iteration) (void)one->ended(one);
  return true;
}

bool launch_update(Ahead* one, List<uint64_t>& behind) {
  Plan plan;
  Place at = {one, &behind};
  if (!one->device->mapping->begin_update(one->task->items, plan, sent_at(at))) return false;
  begin_told(*one->task, one->device);
  show(one, "update");
  start_copies(one, &plan, &plan.copies_back, behind);
  return true;
}

// Reports to a tool the memory that an enter data allocates.
void tell_filled(Plan& plan, Device* device, Told* told) {
  if (told == nullptr) return;
  for (const Piece* piece : plan.filled) {
    if (piece->allocation == 0) continue;
    tell_memory(Memory::kAllocate, device, reinterpret_cast<const void*>(piece->begin), piece->address,
                piece->end - piece->begin, told);
  }
}

// Launches an enter data or exit data.
bool launch_mapping(Ahead* one, List<uint64_t>& behind) {
  auto* ending = make<Ending>();
  Plan& plan = ending->plan;
  Mapping& mapping = *one->device->mapping;
  bool enters = one->task->kind == ConstructKind::kEnterData;
  Place at = {one, &behind};
  const Items& items = one->task->items;
  bool has_begun =
      enters ? mapping.begin_enter(items, plan, sent_at(at)) : mapping.begin_exit(items, plan, sent_at(at));
  if (!has_begun) {
    destroy(ending);
    return false;
  }
  one->ending = ending;
  begin_told(*one->task, one->device);
  tell_filled(plan, one->device, items.told);
  mapping.tell_maps(items, !enters);
  show(one, enters ? "data on its way to" : "data on its way from");
  start_copies(one, enters ? &plan : nullptr, enters ? nullptr : &plan.copies, behind);
  plan.busy.operation = one->number;
  return true;
}

}  // namespace

// A construct that changes map entries goes on once it has been submitted, as its references have been counted. So do
// the regions of an iteration, as they have begun together.
bool may_be_cancelled(const Ahead& one) { return one.ending == nullptr && !one.is_iteration; }

bool launch(Ahead* one, List<uint64_t>& behind) {
  marline_claimed_t* handle = one->task->handle;
  if (marline_claimed_is_cancelled(handle) != 0) return false;
  if (one->is_iteration) return launch_iteration(one, behind);
  check_place(one, behind);
  switch (one->task->kind) {
    case ConstructKind::kEnterData:
    case ConstructKind::kExitData: return launch_mapping(one, behind);
    case ConstructKind::kUpdate:
      if (!launch_update(one, behind)) return false;
      break;
    default:
      if (!launch_region(one, behind)) return false;
  }
  // `cancels` looks only at tasks that are marked as submitted. This one is marked next, so look at it here.
  if (may_be_cancelled(*one) && marline_claimed_is_cancelled(handle) != 0)
    one->device->kind->ahead->cancel(one->device, one->number);
  return true;
}

}  // namespace marline::offload::submission
