// SPDX-License-Identifier: Apache-2.0
//
// How a deferred target construct that is sent ahead (ahead.cpp) is handed to its device: its maps are looked at now, and
// what it does to the data environment is settled. What is to be copied are operations of the device.
#include "base/chained.hpp"
#include "face/ahead.hpp"
#include "mapping/mapping.hpp"
#include "mapping/region.hpp"
#include "mapping/sent.hpp"

namespace marline::target {

namespace {

// More are made in parts, as the thread that hands over, or polls, has something else to do.
constexpr size_t kMostBytesAtOnce = 64 << 10;

// Where the data environment asks for the construct's place among the others.
struct Place {
  const Ahead* one;
  List<uint64_t>* behind;
};

bool is_behind(const void* of, uint64_t task) { return comes_behind(static_cast<const Place*>(of)->one, task); }
void also_behind(const void* of, uint64_t operation) { static_cast<const Place*>(of)->behind->push(operation); }

Sent sent_at(const Place& place) { return {place.one->key, is_behind, &place, also_behind}; }

void show(Ahead* one, const char* what) {
  one->shown.device = one->device;
  one->shown.kernel = one->task->kernel;
  one->shown.place = one->task->place;
  one->shown.what.store(what, std::memory_order_relaxed);
  add_aside(&one->shown);
}

// False, also of the next ones: the device cannot take it now.
bool launch_region(Ahead* one, List<uint64_t>& behind) {
  const CapturedTask& task = *one->task;
  if (where(task.kernel, one->device) == 0) return false;
  if (behind.count() != 0 && !one->device->takes_ahead.load(std::memory_order_relaxed)) return false;
  Place at = {one, &behind};
  if (!one->device->mapping->begin_present(task.items, sent_at(at))) return false;
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

// The operation is there also if nothing is to be copied: constructs behind this one come behind it.
void start_copies(Ahead* one, Array<Transfer>& to_device, Array<Transfer>& from_device, const List<uint64_t>& behind,
                  const char* what) {
  List<AheadCopy> copies;
  size_t bytes = 0;
  for (bool is_to_device : {true, false}) {
    for (const Transfer& transfer : is_to_device ? to_device : from_device) {
      copies.push({transfer.device, transfer.host, transfer.bytes, is_to_device});
      bytes += transfer.bytes;
    }
  }
  one->looks_later = to_device.count() != 0 && behind.count() != 0;
  one->in_parts = bytes > kMostBytesAtOnce;
  if (one->in_parts) count_in_parts(1);
  show(one, what);
  AheadCopies all = {copies.begin(), static_cast<uint32_t>(copies.count()), behind.begin(),
                     static_cast<uint32_t>(behind.count()), one->in_parts};
  (void)one->device->kind->ahead->start_copies(one->device, all, one);
}

bool launch_update(Ahead* one, List<uint64_t>& behind) {
  Plan plan;
  Place at = {one, &behind};
  if (!one->device->mapping->begin_update(one->task->items, plan, sent_at(at))) return false;
  start_copies(one, plan.copies, plan.copies_back, behind, "update");
  return true;
}

// enter data and exit data.
bool launch_mapping(Ahead* one, List<uint64_t>& behind) {
  auto* ending = make<Ending>();
  Plan& plan = ending->plan;
  Mapping& mapping = *one->device->mapping;
  bool enters = one->task->kind == ConstructKind::kEnterData;
  Place at = {one, &behind};
  const Items& items = one->task->items;
  bool has_begun = enters ? mapping.begin_enter(items, plan, sent_at(at)) : mapping.begin_exit(items, plan, sent_at(at));
  if (!has_begun) {
    destroy(ending);
    return false;
  }
  one->ending = ending;
  start_copies(one, enters ? plan.copies : plan.copies_back, enters ? plan.copies_back : plan.copies, behind,
               enters ? "data on its way to" : "data on its way from");
  plan.busy.operation = one->number;
  return true;
}

}  // namespace

bool launch(Ahead* one, List<uint64_t>& behind) {
  marline_claimed_t* handle = one->task->handle;
  if (marline_claimed_is_cancelled(handle) != 0) return false;
  switch (one->task->kind) {
    case ConstructKind::kEnterData:
    case ConstructKind::kExitData: return launch_mapping(one, behind);
    case ConstructKind::kUpdate:
      if (!launch_update(one, behind)) return false;
      break;
    default:
      if (!launch_region(one, behind)) return false;
  }
  // `cancels` looks only at tasks that are marked as handed over, which this one is next.
  if (marline_claimed_is_cancelled(handle) != 0) one->device->kind->ahead->cancel(one->device, one->number);
  return true;
}

}  // namespace marline::target
