// SPDX-License-Identifier: Apache-2.0
//
// Task reductions of early-submitted regions. One list under a lock has the reductions of open taskgroups: a program
// has few at a time, and each task that takes part looks up its reduction once for each variable.
#include "submission/reductions.hpp"

#include "base/forks.hpp"
#include "base/lock.hpp"
#include "base/report.hpp"
#include "image/direct_calls.hpp"
#include "image/program.hpp"
#include "data/data_environment.hpp"

#include <cassert>
#include <cstdlib>
#include <new>

namespace marline::offload::submission {

using namespace image;
using namespace items;

struct RegionReduction {
  marline_reduction_t what;
  bool combines_anywhere;    // `combine` gives the same result in another process of the program
  Device* device = nullptr;  // this and the next two are set by the submitting thread
  uint64_t address = 0;
  uint64_t written_by = 0;  // the operation that copies the initial value to the device
};

namespace {

using namespace map_type;

Lock g_lock;  // guards the list
const HeldAcrossForks g_held(g_lock, ForkOrder::kReductions);
List<RegionReduction*> g_open;  // as many as task reductions of regions in flight; a region searches all

// Whether `combine` gives the same result in another process of the program. It must be a function of the program
// itself and use nothing but its arguments. A function that reads the length of an array of variable length, or
// variables of the program, does not qualify.
bool combines_anywhere(const marline_reduction_t& what) {
  auto* function = reinterpret_cast<const void*>(what.combine);
  return offset_in_program(function) != 0 && stands_alone(function);
}

// Called with g_lock.
RegionReduction* find_open(const void* copy) {
  for (RegionReduction* one : g_open) {
    if (one->what.copy == copy) return one;
  }
  return nullptr;
}

RegionReduction* find_or_add(const marline_reduction_t& what) {
  {
    Guard guard(g_lock);
    if (RegionReduction* known = find_open(what.copy)) return known;
  }
  // Called without g_lock: it takes the lock of the list of modules, which comes before g_lock (ForkOrder).
  bool anywhere = combines_anywhere(what);
  Guard guard(g_lock);
  if (RegionReduction* known = find_open(what.copy)) return known;
  void* memory = std::malloc(sizeof(RegionReduction));
  if (memory == nullptr) fatal("no memory for the reduction of a taskgroup");
  return g_open.push(new (memory) RegionReduction{what, anywhere});
}

RegionReduction* take(const void* copy) {
  Guard guard(g_lock);
  for (size_t i = 0; i < g_open.count(); ++i) {
    RegionReduction* one = g_open[i];
    if (one->what.copy != copy) continue;
    g_open.erase(i);
    return one;
  }
  return nullptr;
}

bool is_in(const void* address, const void* begin, size_t bytes) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin) < bytes;
}

// Item i is the variable or a part of it; makes the item name the copy instead. The compiler may map the original
// variable or its private copy; accept both. The items' arrays belong to the task (make_captured), so they may be
// changed.
void name(const marline_reduction_t& what, RegionReduction* reduction, CapturedTask& task, int32_t i) {
  char* begin = static_cast<char*>(task.items.begins[i]);
  char* base = static_cast<char*>(task.items.bases[i]);
  if (is_in(begin, what.variable, what.bytes)) {
    ptrdiff_t moves = static_cast<char*>(what.copy) - static_cast<char*>(what.variable);
    task.items.begins[i] = begin + moves;
    task.items.bases[i] = base + moves;
  }
  const_cast<uint64_t*>(task.items.types)[i] = kTo | kParameter;
  task.reduced[task.reduced_count++] = {i, reduction, what.variable};
}

bool is_named(const marline_reduction_t& what, const Items& items, int32_t i) {
  bool is_variable = is_in(items.begins[i], what.variable, what.bytes) || is_in(items.begins[i], what.copy, what.bytes);
  return !has_no_storage(items.types[i]) && is_variable;
}

// Whether item i is a plain argument that lies inside of the variable. If the variable is an array section, only the
// section's bytes have a copy.
bool is_plain(const marline_reduction_t& what, const Items& items, int32_t i) {
  constexpr uint64_t kOthers = kPointerAndObject | kReturn | kDelete | kAttach | kNonContiguous;
  const void* from = is_in(items.begins[i], what.copy, what.bytes) ? what.copy : what.variable;
  auto offset = reinterpret_cast<uintptr_t>(items.begins[i]) - reinterpret_cast<uintptr_t>(from);
  bool is_inside = static_cast<uint64_t>(items.sizes[i]) <= what.bytes - offset;
  return is_inside && (items.types[i] & kParameter) != 0 && (items.types[i] & kOthers) == 0 &&
         !is_member(items.types[i]);
}

// The entry of item i; null: the item does not belong to a reduction. An item belongs to at most one.
const ReducedItem* find_reduced(const CapturedTask& task, int32_t i) {
  for (uint32_t k = 0; k < task.reduced_count; ++k) {
    if (task.reduced[k].item == i) return &task.reduced[k];
  }
  return nullptr;
}

bool name_reduction(const marline_reduction_t& what, CapturedTask& task) {
  RegionReduction* reduction = find_or_add(what);
  if (!reduction->combines_anywhere) return false;
  uint32_t before = task.reduced_count;
  for (int32_t i = 0; i < task.items.count; ++i) {
    if (!is_named(what, task.items, i)) continue;
    if (find_reduced(task, i) != nullptr || !is_plain(what, task.items, i)) return false;
    name(what, reduction, task, i);
  }
  return task.reduced_count != before;
}

bool bring(RegionReduction& one, Device* device) {
  uint64_t address = device->kind->allocate(device, one.what.bytes);
  if (address == 0) return false;
  if (!device->mapping->associate(one.what.copy, one.what.bytes, address)) {
    device->kind->release(device, address);
    return false;
  }
  one.device = device;
  one.address = address;
  DeviceCopy copy = {address, one.what.copy, one.what.bytes, true};
  one.written_by = device->kind->early->start_copies(device, {&copy, 1, nullptr, 0}, nullptr);
  return true;
}

}  // namespace

bool name_reductions(const List<marline_reduction_t>& reductions, CapturedTask& task) {
  auto most = static_cast<size_t>(task.items.count);
  task.reduced = static_cast<ReducedItem*>(std::malloc(most * sizeof(ReducedItem) + 1));
  if (task.reduced == nullptr) fatal("no memory for a target task with %zu mapped pieces", most);
  for (const marline_reduction_t& what : reductions) {
    if (!name_reduction(what, task)) return false;
  }
  return true;
}

bool bring_reductions(const CapturedTask& task, Device* device, List<uint64_t>& after) {
  for (uint32_t i = 0; i < task.reduced_count; ++i) {
    RegionReduction& one = *task.reduced[i].reduction;
    // If the variable is mapped for longer than the region, the end of that map would overwrite the reduction's result
    // with the device's data.
    if (device->mapping->is_present(task.reduced[i].variable)) return false;
    if (one.device == nullptr && !bring(one, device)) return false;
    after.push(one.written_by);
  }
  return true;
}

void list_reduced(const CapturedTask& task, List<ReducedArgument, 4>& to) {
  uint32_t word = task.leading_null ? 1 : 0;
  for (int32_t i = 0; i < task.items.count; ++i) {
    if (const ReducedItem* reduced = find_reduced(task, i)) to.push({word, reduced->reduction->address});
    if ((task.items.types[i] & kParameter) != 0) ++word;
  }
}

int reduced(void* copy) {
  RegionReduction* one = take(copy);
  if (one == nullptr) return 0;
  Device* device = one->device;
  marline_reduction_t what = one->what;
  uint64_t address = one->address;
  std::free(one);
  if (device == nullptr) return 0;
  bool any = device->kind->early->reduce(device, address, what.bytes, what.combine, copy);
  bool is_unused = device->mapping->disassociate(copy);  // all regions of the group have ended
  assert(is_unused);
  (void)is_unused;
  device->kind->release(device, address);
  return any ? 1 : 0;
}

void forget_reductions() { g_open.clear(); }

}  // namespace marline::offload::submission
