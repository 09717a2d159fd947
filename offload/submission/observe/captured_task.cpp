// SPDX-License-Identifier: Apache-2.0
//
// Makes CapturedTasks.
#include "submission/observe/captured_task.hpp"

#include "base/report.hpp"
#include "data/gcc_map_kinds.hpp"
#include "image/functions.hpp"
#include "registry/registry.hpp"
#include "data/mapper.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::submission {

using namespace data;
using namespace image;
using namespace registry;

namespace {

constexpr int kHostFallback = -2;  // GOMP_DEVICE_HOST_FALLBACK
constexpr size_t kAlign = 16;

size_t rounded(size_t bytes) { return (bytes + kAlign - 1) & ~(kAlign - 1); }

// Whether item i is a private variable with a value that must be copied now. Clang's code gives the address of the
// variable itself, which may change or be gone before the task runs; the task needs the value at the construct. GCC's
// code gives the address of a copy in the task's block.
bool is_value_to_copy(const marline_target_task_t& reported, const Items& items, int32_t i) {
  return (items.types[i] & map_type::kPrivate) != 0 && reported.form == MARLINE_TARGET_ENTRY;
}

bool is_known(const Frames& frames, const Items& items, int32_t i) {
  uint64_t type = items.types[i];
  if (has_mapper(items, i) || (type & map_type::kNonContiguous) != 0) return false;
  if ((type & map_type::kPrivate) != 0) return true;
  // A lambda's capture is a pointer inside the closure, which may change before the task runs.
  if ((type & map_type::kLiteral) != 0) return !is_capture(type);
  return !frames.have(items.begins[i]) && !frames.have(items.bases[i]);
}

// Copies data into the block, one array after the other.
class Block {
 public:
  explicit Block(char* at) : at_(at) {}

  template <class T>
  T* copy(const T* from, size_t count) {
    auto* to = reinterpret_cast<T*>(at_);
    if (count != 0) std::memcpy(at_, from, count * sizeof(T));
    at_ += rounded(count * sizeof(T));
    return to;
  }

 private:
  char* at_;
};

void copy_values(Block& block, const marline_target_task_t& reported, const Items& from, const Items& to) {
  for (int32_t i = 0; i < from.count; ++i) {
    if (!is_value_to_copy(reported, from, i)) continue;
    auto* begin = static_cast<char*>(from.begins[i]);
    char* copy = block.copy(begin, static_cast<size_t>(from.sizes[i]));
    to.bases[i] = copy + (static_cast<char*>(from.bases[i]) - begin);
    to.begins[i] = copy;
  }
}

}  // namespace

CapturedTask* make_captured(const marline_target_task_t& reported, const Items& items, const Frames& frames) {
  auto count = static_cast<size_t>(items.count);
  size_t bytes = rounded(sizeof(CapturedTask)) + 4 * rounded(count * sizeof(uint64_t)) +
                 rounded(reported.dependence_count * sizeof(marline_dependence_t)) +
                 (reported.form == MARLINE_TARGET_ENTRY ? 0 : rounded(sizeof(marline_device_maps_t)));
  for (int32_t i = 0; i < items.count; ++i) {
    if (!is_known(frames, items, i)) return nullptr;
    if (is_value_to_copy(reported, items, i)) bytes += rounded(static_cast<size_t>(items.sizes[i]));
  }
  auto* memory = static_cast<char*>(std::malloc(bytes));
  if (memory == nullptr) fatal("no memory for a target task with %zu mapped pieces", count);
  auto* task = new (memory) CapturedTask{};
  Block block(memory + rounded(sizeof(CapturedTask)));
  task->items = items;
  task->items.bases = block.copy(items.bases, count);
  task->items.begins = block.copy(items.begins, count);
  task->items.sizes = block.copy(items.sizes, count);
  task->items.types = block.copy(items.types, count);
  task->items.mappers = nullptr;
  task->dependences = block.copy(reported.dependences, reported.dependence_count);
  task->maps = reported.form == MARLINE_TARGET_ENTRY ? nullptr : block.copy(&reported.maps, 1);
  copy_values(block, reported, items, task->items);
  task->dependence_count = static_cast<uint32_t>(reported.dependence_count);
  task->entry = entry_of(reported);
  task->handle = reported.handle;
  task->number = reported.number;
  task->graph = reported.graph;
  task->step = reported.step;
  task->code = reported.code;
  task->name = reported.name;
  task->priority = reported.priority;
  task->node = reported.node;
  return task;
}

CapturedTask* capture_maps(const marline_target_task_t& reported) {
  Device* device = reported.device != kHostFallback ? device_for_construct(reported.device) : nullptr;
  if (device == nullptr) return nullptr;
  ItemList list;
  reported.form == MARLINE_TARGET_UPDATE ? take_updates(reported.maps, list)
                                         : take_maps(reported.maps, *device->mapping, list);
  Items items = items_of(list);
  items.of_region = reported.form == MARLINE_TARGET_REGION;
  CapturedTask* task = make_captured(reported, items, {});
  if (task == nullptr) return nullptr;
  task->device = reported.device;
  task->code = reported.maps.code;
  switch (reported.form) {
    case MARLINE_TARGET_UPDATE: task->kind = ConstructKind::kUpdate; break;
    case MARLINE_TARGET_ENTER_DATA: task->kind = ConstructKind::kEnterData; break;
    case MARLINE_TARGET_EXIT_DATA: task->kind = ConstructKind::kExitData; break;
    default:
      task->kind = ConstructKind::kTarget;
      task->kernel = entry_of_function(reinterpret_cast<const void*>(reported.function));
      task->thread_limit = reported.thread_limit;
      task->in_memory = true;
      task->passed_teams = 0;  // GCC does not pass the number of teams with a deferred region
  }
  return task;
}

}  // namespace marline::offload::submission
