// SPDX-License-Identifier: Apache-2.0
//
// Submits a deferred target construct early (submission.cpp) to its device: its maps are processed now, so that
// its effect on the data environment is settled. Its copies become operations of the device.
#include "base/make.hpp"
#include "submission/queue/submission.hpp"
#include "submission/queue/tool_events.hpp"
#include "submission/reductions.hpp"
#include "registry/region.hpp"
#include "data/order/submitted_constructs.hpp"

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
  const SubmittedTask* one;
  List<uint64_t>* after;
};

bool is_ordered_after(const void* of, uint64_t task) {
  return is_ordered_after(static_cast<const Place*>(of)->one, task);
}
void also_after(const void* of, uint64_t operation) { static_cast<const Place*>(of)->after->push(operation); }

SubmissionOrder order_at(const Place& place) { return {place.one->key, is_ordered_after, &place, also_after}; }

void show(SubmittedTask* one, const char* what) {
  one->shown = make<PendingConstruct>("a deferred target region");
  one->shown->device = one->device;
  one->shown->kernel = one->task->kernel;
  one->shown->place = one->task->place;
  one->shown->what.store(what, std::memory_order_relaxed);
  add_pending(one->shown);
}

// The operation of copies after which the construct goes on.
struct TransientCopy : Operation {
  bool in_parts = false;
};

bool end_transient_copy(Operation* operation) {
  auto* copies = static_cast<TransientCopy*>(operation);
  bool in_parts = copies->in_parts;
  destroy(copies);
  if (in_parts) count_in_parts(-1);
  return true;
}

TransientCopy* make_transient_copy(bool in_parts) {
  auto* operation = make<TransientCopy>("a deferred target region");
  operation->ended = end_transient_copy;
  operation->in_parts = in_parts;
  return operation;
}

// The kernel of a region that ends with copies back to the host. Shared by the submitting thread, which reads the
// operation's number, and the device; whichever finishes last frees it. acq_rel: the accesses of the one happen before
// the other frees the object.
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

size_t list_copies(List<Transfer, 8>& from, bool is_to_device, List<DeviceCopy>& to) {
  size_t bytes = 0;
  for (const Transfer& transfer : from) {
    to.push({transfer.device, transfer.host, transfer.bytes, is_to_device});
    bytes += transfer.bytes;
  }
  return bytes;
}

// Lists the plan's copies to the device. The values of attached pointers are copied last, as the other copies may write
// the host's bytes to the same addresses. The values stay in the plan, which exists as long as the construct.
size_t list_copies_to(Plan& plan, List<DeviceCopy>& to) {
  size_t bytes = list_copies(plan.copies, true, to);
  for (Slot& slot : plan.slots) to.push({slot.device, &slot.value, sizeof slot.value, true});
  return bytes;
}

uint64_t start(SubmittedTask* one, const List<DeviceCopy>& copies, const List<uint64_t>& after, bool in_parts,
               Operation* operation) {
  if (in_parts) count_in_parts(1);
  OrderedCopies all = {copies.begin(), static_cast<uint32_t>(copies.count()), after.begin(),
                       static_cast<uint32_t>(after.count()), in_parts};
  return one->device->kind->early->start_copies(one->device, all, operation);
}

// Starts an operation also if nothing is to be copied: successors of the construct are ordered after it.
void start_copies(SubmittedTask* one, Plan* to_device, List<Transfer, 8>* from_device, const List<uint64_t>& after) {
  List<DeviceCopy> copies;
  size_t bytes = to_device != nullptr ? list_copies_to(*to_device, copies) : 0;
  one->looks_later = !copies.is_empty() && !after.is_empty();
  if (from_device != nullptr) bytes += list_copies(*from_device, false, copies);
  report_copies(one->task->items.reported, one->device, copies.begin(), static_cast<uint32_t>(copies.count()),
                one->reported_copies);
  one->in_parts = bytes > kMostBytesAtOnce;
  (void)start(one, copies, after, one->in_parts, one);
}

// Copies the data of transient maps to the device; the region is ordered after these copies. If claimed predecessors
// write a pointer into the data, the device finds the pointer only when it copies the data, too late for the region.
// Then the program ends with a message, as for a pointer that a kernel stores.
void bring(SubmittedTask* one, Plan& plan, List<uint64_t>& after) {
  List<DeviceCopy> copies;
  size_t bytes = list_copies_to(plan, copies);
  plan.copies.shrink(0);
  if (copies.is_empty()) return;
  bool in_parts = bytes > kMostBytesAtOnce;
  uint64_t number = start(one, copies, after, in_parts, make_transient_copy(in_parts));
  note_filling(plan, number);
  after.push(number);
}

// Copies data back to the host. The end of these copies is the end of the region, so they are also ordered after the
// ends of the tasks that share the data.
void take_home(SubmittedTask* one, Plan& plan, uint64_t kernel) {
  List<uint64_t> after;
  after.push(kernel);
  for (uint64_t task : plan.sharers) {
    uint64_t operation;
    if (find_operation(task, operation)) after.push(operation);
  }
  start_copies(one, nullptr, &plan.copies_back, after);
}

// `graph`: number of the graph, if the device takes the kernel as a part of the graph's iteration, else 0. `others`:
// Launch::has_other_predecessors.
void start_kernel(SubmittedTask* one, List<uint64_t>& after, Operation* operation, uint64_t graph, bool others) {
  const CapturedTask& task = *one->task;
  ReportedConstruct* reported = task.items.reported;
  Region region = region_of(task);
  Arguments arguments;
  List<Transfer, 4> copies;
  arguments.later = &copies;
  make_region_arguments(one->device, region, arguments);
  for (uint64_t copy : arguments.copies) one->copies.push(copy);
  for (const Transfer& transfer : copies) {
    DeviceCopy copy = {transfer.device, transfer.host, transfer.bytes, true};
    report_copies(reported, one->device, &copy, 1, one->reported_copies);
    List<DeviceCopy> only;
    only.push(copy);
    bool in_parts = copy.bytes > kMostBytesAtOnce;
    after.push(start(one, only, {}, in_parts, in_parts ? make_transient_copy(true) : nullptr));
  }
  Launch launch = launch_of(one->device, region, arguments);
  launch.is_submitted_early = true;
  // A region with transient maps also counts as awaited: other constructs may wait for its data or its memory.
  launch.is_awaited = one->is_reported || one->ending != nullptr;
  launch.priority = task.priority;
  launch.after = after.begin();
  launch.predecessor_count = static_cast<uint32_t>(after.count());
  launch.graph = graph;
  launch.has_other_predecessors = others;
  List<ReducedArgument, 4> reduced;
  if (task.reduced_count != 0) list_reduced(task, reduced);
  launch.reduced = reduced.begin();
  launch.reduced_count = reduced.count();
  report_kernel(reported, one->device, region.teams);
  (void)one->device->kind->launch(one->device, launch, operation);
}

void check_place(SubmittedTask* one, List<uint64_t>& after) {
  Place at = {one, &after};
  check_order(one, order_at(at));
}

// Launches a region with transient maps. False if regions may be cancelled: a cancelled region must not copy back what
// it has not computed. False if a tool listens, as the times of the kernel are not kept.
bool launch_transient(SubmittedTask* one, List<uint64_t>& after) {
  if (is_reported(MARLINE_ON_ANYTHING)) return false;
  auto* ending = make<Ending>("a deferred target region");
  Place at = {one, &after};
  if (omp_get_cancellation() != 0 ||
      !begin_transient(*one->device->mapping, one->task->items, ending->plan, order_at(at))) {
    destroy(ending);
    return false;
  }
  one->ending = ending;
  show(one, "kernel");
  bring(one, ending->plan, after);
  if (ending->plan.copies_back.count() == 0) {
    start_kernel(one, after, one, 0, false);
    return true;
  }
  auto* run = make<Run>("a deferred target region");
  run->ended = has_run;
  run->kernel = one->task->kernel;
  start_kernel(one, after, run, 0, false);
  uint64_t kernel = run->number;
  leave(run);
  take_home(one, ending->plan, kernel);
  return true;
}

// False, also from the next functions: the device cannot take the construct now.
bool launch_region(SubmittedTask* one, List<uint64_t>& after) {
  const CapturedTask& task = *one->task;
  if (where(task.kernel, one->device) == 0) return false;
  if (after.count() != 0 && !one->device->takes_early.load(std::memory_order_relaxed)) return false;
  Place at = {one, &after};
  if (task.reduced_count != 0 && !bring_reductions(task, one->device, after)) return false;
  size_t known = after.count();
  if (!begin_present(*one->device->mapping, task.items, order_at(at))) return launch_transient(one, after);
  begin_report(*one->task, one->device);
  one->device->mapping->report_maps(task.items, false);
  show(one, "kernel");
  one->is_of_iteration = one->is_submitted_in_turn;
  start_kernel(one, after, one, one->is_submitted_in_turn ? task.graph : 0,
               one->has_other_predecessors || after.count() != known);
  return true;
}

// Submits all regions of an iteration as one construct. This is possible only if no operation outside of the iteration
// comes before it, and if the device accepts. If not, the construct ends at once and does not fail, as its references
// have been counted, and the regions are submitted one by one. No operation is ordered after the construct by its
// number, which is the number of its first region: tasks that the program creates later wait for the construct's end.
bool launch_iteration(SubmittedTask* one, List<uint64_t>& after) {
  Place at = {one, &after};
  if (!begin_present(*one->device->mapping, one->task->items, order_at(at))) return false;
  show(one, "iteration of a graph");
  const EarlySubmission& kind = *one->device->kind->early;
  one->is_of_iteration = after.is_empty() && kind.repeat_iteration(one->device, one->task->graph, one->changes, one);
  if (!one->is_of_iteration) (void)one->ended(one);
  return true;
}

bool launch_update(SubmittedTask* one, List<uint64_t>& after) {
  Plan plan;
  Place at = {one, &after};
  if (!begin_update(*one->device->mapping, one->task->items, plan, order_at(at))) return false;
  begin_report(*one->task, one->device);
  show(one, "update");
  start_copies(one, &plan, &plan.copies_back, after);
  return true;
}

// Reports to a tool the memory that an enter data allocates.
void report_filled(Plan& plan, Device* device, ReportedConstruct* reported) {
  if (reported == nullptr) return;
  for (const MapEntry* entry : plan.filled) {
    if (entry->allocation == 0) continue;
    report_memory(Memory::kAllocate, device, reinterpret_cast<const void*>(entry->begin), entry->address,
                  entry->bytes(), reported);
  }
}

// Launches an enter data or exit data.
bool launch_mapping(SubmittedTask* one, List<uint64_t>& after) {
  auto* ending = make<Ending>("a deferred target region");
  Plan& plan = ending->plan;
  DataEnvironment& mapping = *one->device->mapping;
  bool enters = one->task->kind == ConstructKind::kEnterData;
  Place at = {one, &after};
  const Items& items = one->task->items;
  bool has_begun =
      enters ? begin_enter(mapping, items, plan, order_at(at)) : begin_exit(mapping, items, plan, order_at(at));
  if (!has_begun) {
    destroy(ending);
    return false;
  }
  one->ending = ending;
  begin_report(*one->task, one->device);
  report_filled(plan, one->device, items.reported);
  mapping.report_maps(items, !enters);
  show(one, enters ? "data on its way to" : "data on its way from");
  start_copies(one, enters ? &plan : nullptr, enters ? nullptr : &plan.copies, after);
  plan.in_flight.operation = one->number;
  return true;
}

}  // namespace

// A submitted construct that changes map entries is not cancelled, as its references have been counted. Nor are the
// regions of an iteration, as they have begun together.
bool may_be_cancelled(const SubmittedTask& one) { return one.ending == nullptr && !one.is_iteration; }

bool launch(SubmittedTask* one, List<uint64_t>& after) {
  marline_claimed_t* handle = one->task->handle;
  if (marline_claimed_is_cancelled(handle) != 0) return false;
  if (one->is_iteration) return launch_iteration(one, after);
  check_place(one, after);
  switch (one->task->kind) {
    case ConstructKind::kEnterData:
    case ConstructKind::kExitData: return launch_mapping(one, after);
    case ConstructKind::kUpdate:
      if (!launch_update(one, after)) return false;
      break;
    default:
      if (!launch_region(one, after)) return false;
  }
  // `cancels` looks only at tasks that are marked as submitted. This one is marked next, so look at it here.
  if (may_be_cancelled(*one) && marline_claimed_is_cancelled(handle) != 0)
    one->device->kind->early->cancel(one->device, one->number);
  return true;
}

}  // namespace marline::offload::submission
