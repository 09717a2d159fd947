// SPDX-License-Identifier: Apache-2.0
//
// Runs target regions. A deferred region on an asynchronous device becomes a pending construct without a stack: what
// its end needs lies in one block. A region that copies much back to the host is suspended instead, so that a thread
// makes the copies and not a progress hook.
#include "registry/region.hpp"

#include "base/report.hpp"
#include "device/contract/place.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/wait.hpp"
#include "device/contract/pending_constructs.hpp"
#include "image/images.hpp"
#include "data/mapper.hpp"
#include "data/spans.hpp"
#include "registry/registry.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::registry {

using namespace image;

namespace {

constexpr size_t kMostBytesInHook = 64 << 10;

// A pending region, with copies of the arrays that its end needs after it in the same block.
struct PendingRegion : Operation {
  PendingConstruct shown;
  Device* device;
  marline_task_t* task;
  Arguments arguments;
  Items items;
};

// The size of a block with `bytes`, rounded up, and the arrays of `items` after them.
size_t bytes_with(size_t bytes, const Items& items) {
  return ((bytes + 15) & ~size_t{15}) + static_cast<size_t>(items.count) * (3 * sizeof(void*) + sizeof(uint64_t));
}

template <class T>
T* copy_array(char*& at, const T* from, int32_t count) {
  auto* copy = reinterpret_cast<T*>(at);
  if (count != 0) std::memcpy(at, from, static_cast<size_t>(count) * sizeof(T));
  at += static_cast<size_t>(count) * sizeof(T);
  return copy;
}

bool end_pending(Operation* operation) {
  auto* pending = static_cast<PendingRegion*>(operation);
  ReportedConstruct* reported = pending->items.reported;
  pending->shown.what.store("mapped data", std::memory_order_relaxed);
  report_kernel_end(reported, pending->begin, pending->end, pending->by);
  if (!pending->device->mapping->try_end(pending->items)) return false;
  release_arguments(pending->device, pending->arguments, reported);
  end_report(reported);
  remove_pending(&pending->shown);
  marline_task_t* task = pending->task;
  pending->~PendingRegion();
  std::free(pending);
  marline_task_release(task);
  return true;
}

PendingRegion* make_pending(Device* device, const Items& items, marline_task_t* task) {
  auto* memory = static_cast<char*>(std::malloc(bytes_with(sizeof(PendingRegion), items)));
  if (memory == nullptr) fatal("no memory for a deferred target region");
  auto* pending = new (memory) PendingRegion{};
  pending->ended = end_pending;
  pending->device = device;
  pending->task = task;
  char* at = memory + ((sizeof(PendingRegion) + 15) & ~size_t{15});
  pending->items.count = items.count;
  pending->items.of_region = items.of_region;
  pending->items.bases = copy_array(at, items.bases, items.count);
  pending->items.begins = copy_array(at, items.begins, items.count);
  pending->items.sizes = copy_array(at, items.sizes, items.count);
  pending->items.types = copy_array(at, items.types, items.count);
  return pending;
}

}  // namespace

Region region_of(const CapturedTask& task) {
  Region region = {task};
  region.items = task.items;
  region.items.source = {task.kernel->name, task.place};
  region.teams = reported_teams(task.passed_teams);
  region.task = task.handle;
  return region;
}

bool has_kernel(Device* device, const Entry* kernel) {
  DeviceWords& code = const_cast<Entry*>(kernel)->code;
  if (code.get(device->number) != 0) return true;
  if (kernel->module == nullptr) {  // a function of the program
    uint64_t place = device->kind->locate(device, kernel->host, 0);
    code.set(device->number, place);
    return place != 0;
  }
  uint64_t handle = kernel->module->handles.get(device->number);
  if (handle == 0) return false;
  uint64_t found = device->kind->find(device, handle, kernel->name);
  code.set(device->number, found);
  return found != 0;
}

namespace {

void patch_words(const Device* device, Arguments& arguments, uint64_t array) {
  List<OwnPatch, 4>& patches = arguments.patches;
  if (patch_words(arguments.words.begin(), arguments.words.count(), array, patches.begin(), patches.count())) return;
  fatal("device %d (%s): a target region's arguments and its own memory do not fit together", device->number,
        device->kind->name);
}

// Appends the patches to the arguments, for a device that starts the kernel elsewhere and applies them there.
void append_patches(Arguments& arguments) {
  for (const OwnPatch& patch : arguments.patches) {
    uint64_t words[kOwnPatchWords];
    std::memcpy(words, &patch, sizeof patch);
    for (uint64_t word : words) arguments.words.push(word);
  }
}

// Copies the words to the device's memory, where the kernel finds them. Their address there is the only argument left.
void store_words(Device* device, Arguments& arguments, const Items& items) {
  ReportedConstruct* reported = items.reported;
  size_t bytes = arguments.words.count() * sizeof(uint64_t);
  uint64_t array = device->kind->allocate(device, bytes + 1);
  if (array == 0) {
    char region[600];
    describe_source(items.source, "a target region", region, sizeof region);
    fatal("device %d (%s): %s: no memory for %zu bytes of arguments", device->number, device->kind->name, region,
          bytes);
  }
  arguments.copies.push(array);
  patch_words(device, arguments, array);
  report_memory(Memory::kAllocate, device, nullptr, array, bytes, reported);
  if (bytes != 0) copy_to(device, array, arguments.words.begin(), bytes, reported);
  arguments.words.shrink(0);
  arguments.words.push(array);
}

// Lists the memory that the kernel writes, as its depend clauses say. A kernel may also write its private copies.
void name_spans(Device* device, const Region& region, Arguments& to) {
  Names names;
  if (!keeps_names() || !take_names(region.task != nullptr ? region.task : marline_target_task_told(), names)) return;
  to.has_named = true;
  list_named(*device->mapping, region.items, names, to.named);
  for (uint64_t copy : to.copies) to.named.push({copy, 0});
}

}  // namespace

void make_region_arguments(Device* device, const Region& region, Arguments& to) {
  make_arguments(device, region.items, region.leading_null, to);
  if (device->asks_for_spans) {
    append_patches(to);
    list_spans(*device->mapping, region.items, to.spans);
    for (uint64_t copy : to.copies) to.spans.push({copy, 0});
    name_spans(device, region, to);
  } else if (region.in_memory) {
    store_words(device, to, region.items);
  }
}

Launch launch_of(const Device* device, const Region& region, Arguments& arguments) {
  Launch launch = {region};
  launch.code = region.kernel->code.get(device->number);
  launch.arguments = arguments.words.begin();
  launch.count = arguments.words.count();
  launch.reported = region.items.reported;
  launch.teams = region.teams;
  launch.in_memory = device->asks_for_spans && region.in_memory;
  launch.spans = arguments.spans.begin();
  launch.span_count = arguments.spans.count();
  launch.named = {arguments.has_named, arguments.named.begin(), static_cast<uint32_t>(arguments.named.count())};
  launch.patches = device->asks_for_spans ? arguments.patches.count() : 0;
  launch.is_deferred = region.nowait;
  return launch;
}

namespace {

void run_here(Device* device, const Region& region) {
  Arguments arguments;
  make_region_arguments(device, region, arguments);
  run_and_wait(device, launch_of(device, region, arguments));
  release_arguments(device, arguments, region.items.reported);
  device->mapping->end(region.items);
}

void run_pending(Device* device, const Region& region, marline_task_t* task) {
  PendingRegion* pending = make_pending(device, region.items, task);
  make_region_arguments(device, region, pending->arguments);
  Launch launch = launch_of(device, region, pending->arguments);
  ReportedConstruct* reported = pending->items.reported = region.scope->leave();
  pending->timed = reported != nullptr;
  pending->shown.device = device;
  pending->shown.kernel = region.kernel;
  pending->shown.place = region.place;
  pending->shown.what.store("kernel", std::memory_order_relaxed);
  add_pending(&pending->shown);
  report_kernel_begin(reported, device, region.teams);
  report_kernel_started(reported);  // reported before the kernel can end, as that ends the construct
  leave_report(reported);
  if (device->kind->launch(device, launch, pending)) {
    while (!pending->ended(pending)) {
    }
  }
}

// How many bytes the end of the region would copy back if no other construct maps its items. SIZE_MAX: it is not known,
// or the copies may be of variables of an image.
size_t most_bytes_back(const Items& items) {
  using namespace map_type;
  size_t bytes = 0;
  for (int32_t i = 0; i < items.count; ++i) {
    if (has_mapper(items, i) || (items.types[i] & (kAlways | kFrom)) == (kAlways | kFrom)) return SIZE_MAX;
    if ((items.types[i] & kFrom) != 0 && !has_no_storage(items.types[i])) bytes += bytes_of(items, i);
  }
  return bytes;
}

}  // namespace

void run_region(Device* device, const Region& region) {
  device->mapping->begin(region.items);
  size_t most_back = device->asks_to_copy ? 0 : kMostBytesInHook;
  bool may_be_pending = region.nowait && device->kind->is_asynchronous && most_bytes_back(region.items) <= most_back;
  if (marline_task_t* task = may_be_pending ? marline_target_task_hold() : nullptr) {
    run_pending(device, region, task);
  } else {
    run_here(device, region);
  }
}

}  // namespace marline::offload::registry
