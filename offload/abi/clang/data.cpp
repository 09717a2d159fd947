// SPDX-License-Identifier: Apache-2.0
//
// The entry points that Clang's code calls for target data, enter data, exit data and update. With nowait they are
// called in the bodies of target tasks. Some versions also pass dependences. They are ignored, as they are fulfilled
// when the task's body runs. (Clang 14 and 16 pass fewer arguments than later versions: arguments after `mappers` are
// not read.)
#include "base/report.hpp"
#include "device/contract/delegate.hpp"
#include "device/contract/place.hpp"
#include "submission/observe/dry_run.hpp"
#include "abi/clang/newer_sections.hpp"
#include "abi/clang/sections.hpp"
#include "registry/registry.hpp"
#include "data/data_environment.hpp"

#include <atomic>

namespace marline::offload::abi {

using namespace device;
using namespace items;
using namespace registry;
using namespace submission;

namespace {

// Warns of a `target update` with nowait of a section that is not contiguous. Clang 14 to 22 put the section's
// dimensions on the stack of the function that creates the task, and only their address into the task: when the task
// runs, the dimensions there may belong to a later update.
void warn_of_lost_dimensions(const Items& items) {
  static std::atomic<bool> warned{false};
  for (int32_t i = 0; i < items.count; ++i) {
    if ((items.types[i] & map_type::kNonContiguous) == 0 || warned.exchange(true)) continue;
    warn(
        "target update with nowait of a section that is not contiguous: Clang's code loses its shape if the function "
        "creates another update or returns before this one has run; leave out nowait, or use contiguous sections");
  }
}

// Which entry point the program has called, and from where.
struct Call {
  ConstructKind kind;
  bool nowait;
  Origin origin;
};

void run_on(Device* device, const Call& call, Items items, void** names) {
  prepare(device);
  if (call.kind != ConstructKind::kUpdate) marline_target_data_begins();
  ReportScope scope(call.kind, call.nowait, device->number, call.origin.code);
  items.reported = scope.reported();
  if (const Delegate* delegate = device->kind->delegate) {
    return delegate->run_data(device, call.origin, call.kind, call.nowait, items, names, scope);
  }
  switch (call.kind) {
    case ConstructKind::kEnterData: return device->mapping->begin(items);
    case ConstructKind::kExitData: return device->mapping->end(items);
    default: return device->mapping->update(items);
  }
}

void construct(const Call& call, int64_t number, int32_t count, void** bases, void** begins, int64_t* sizes,
               int64_t* types, void** names, void** mappers) {
  Items items = {count, bases, begins, sizes, reinterpret_cast<const uint64_t*>(types), mappers};
  if (Recording* recording = t_recording) [[unlikely]] {
    return record_data(*recording, call.origin, call.kind, number, items);
  }
  Device* device = device_for_construct(number);
  if (device == nullptr) return;
  items.source = {nullptr, place_of(call.origin.ident), call.origin.code};
  if (call.kind != ConstructKind::kUpdate || device->mapping->is_shared()) return run_on(device, call, items, names);
  if (call.nowait) warn_of_lost_dimensions(items);
  ExactSections sections(items);
  run_on(device, call, sections.items(), names);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void __tgt_target_data_begin_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                    int64_t* sizes, int64_t* types, void** names, void** mappers) {
  construct({ConstructKind::kEnterData, false, {ident, __builtin_return_address(0)}}, device, count, bases, begins,
            sizes, types, names, mappers);
}
void __tgt_target_data_begin_nowait_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                           int64_t* sizes, int64_t* types, void** names, void** mappers) {
  construct({ConstructKind::kEnterData, true, {ident, __builtin_return_address(0)}}, device, count, bases, begins,
            sizes, types, names, mappers);
}
void __tgt_target_data_end_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                  int64_t* sizes, int64_t* types, void** names, void** mappers) {
  construct({ConstructKind::kExitData, false, {ident, __builtin_return_address(0)}}, device, count, bases, begins,
            sizes, types, names, mappers);
}
void __tgt_target_data_end_nowait_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                         int64_t* sizes, int64_t* types, void** names, void** mappers) {
  construct({ConstructKind::kExitData, true, {ident, __builtin_return_address(0)}}, device, count, bases, begins, sizes,
            types, names, mappers);
}
void __tgt_target_data_update_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                     int64_t* sizes, int64_t* types, void** names, void** mappers) {
  OlderSections older({count, bases, begins, sizes, reinterpret_cast<const uint64_t*>(types), mappers});
  construct({ConstructKind::kUpdate, false, {ident, __builtin_return_address(0)}}, device, count, bases, older.begins(),
            sizes, types, names, mappers);
}
void __tgt_target_data_update_nowait_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                            int64_t* sizes, int64_t* types, void** names, void** mappers) {
  OlderSections older({count, bases, begins, sizes, reinterpret_cast<const uint64_t*>(types), mappers});
  construct({ConstructKind::kUpdate, true, {ident, __builtin_return_address(0)}}, device, count, bases, older.begins(),
            sizes, types, names, mappers);
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
