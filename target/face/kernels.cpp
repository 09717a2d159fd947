// SPDX-License-Identifier: Apache-2.0
//
// Target regions as Clang's code calls them. 14: a routine for each combination of teams and nowait; 16 and later: one,
// with a structure of arguments that has a version (LLVM, offload/include/Shared/APITypes.h). All return 0 when the
// region has run on the device, or goes on there; else the caller runs it itself.
#include "base/report.hpp"
#include "device/devices.hpp"
#include "image/images.hpp"
#include "mapping/mapping.hpp"
#include "mapping/region.hpp"

namespace marline::target {

namespace {

constexpr int kDone = 0, kRunItYourself = -1;
constexpr uint32_t kNewestArguments = 3;  // version 3: Clang 17 to 22
constexpr uint64_t kNowaitFlag = 1;

struct KernelArguments {
  uint32_t version;
  uint32_t count;
  void** bases;
  void** begins;
  int64_t* sizes;
  int64_t* types;
  void** names;
  void** mappers;
  uint64_t trip_count;
  uint64_t flags;
  uint32_t teams[3];
  uint32_t threads[3];
  uint32_t dynamic_memory;
};

struct Ident {
  int32_t reserved, flags, reserved2, reserved3;
  const char* place;
};

const char* place_of(const void* ident) { return ident != nullptr ? static_cast<const Ident*>(ident)->place : nullptr; }

int run(const void* ident, int64_t number, const void* id, Region region) {
  Device* device = device_for_construct(number);
  if (device == nullptr) return kRunItYourself;
  region.kernel = find_entry(id);
  region.place = place_of(ident);
  if (region.kernel != nullptr && run_region(device, region)) return kDone;
  if (is_mandatory()) {
    fatal("OMP_TARGET_OFFLOAD=mandatory, and the program has no code for device %d (%s) of a region: build it with "
          "-fopenmp-targets= for that device's architecture", device->number, device->kind->name);
  }
  return kRunItYourself;
}

Items items_of(int32_t count, void** bases, void** begins, int64_t* sizes, int64_t* types, void** mappers) {
  return {count, bases, begins, sizes, reinterpret_cast<const uint64_t*>(types), mappers};
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int __tgt_target_kernel(void* ident, int64_t device, int32_t, int32_t threads, void* id, KernelArguments* given) {
  if (given->version > kNewestArguments) {
    fatal("kernel arguments of version %u, from a newer Clang than Marline knows; the newest known is %u (Clang 22)",
          given->version, kNewestArguments);
  }
  Region region = {};
  region.items = items_of(static_cast<int32_t>(given->count), given->bases, given->begins, given->sizes, given->types,
                          given->mappers);
  region.thread_limit = threads > 0 ? threads : 0;
  region.leading_null = given->version >= 3;
  region.nowait = (given->flags & kNowaitFlag) != 0;
  return run(ident, device, id, region);
}

int __tgt_target_teams_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                              int64_t* sizes, int64_t* types, void**, void** mappers, int32_t, int32_t threads) {
  Region region = {};
  region.items = items_of(count, bases, begins, sizes, types, mappers);
  region.thread_limit = threads > 0 ? threads : 0;
  return run(ident, device, id, region);
}

int __tgt_target_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                        int64_t* sizes, int64_t* types, void** names, void** mappers) {
  return __tgt_target_teams_mapper(ident, device, id, count, bases, begins, sizes, types, names, mappers, 1, 0);
}

int __tgt_target_teams_nowait_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                                     int64_t* sizes, int64_t* types, void**, void** mappers, int32_t, int32_t threads,
                                     int32_t, void*, int32_t, void*) {
  Region region = {};
  region.items = items_of(count, bases, begins, sizes, types, mappers);
  region.thread_limit = threads > 0 ? threads : 0;
  region.nowait = true;
  return run(ident, device, id, region);
}

int __tgt_target_nowait_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                               int64_t* sizes, int64_t* types, void** names, void** mappers, int32_t, void*, int32_t,
                               void*) {
  return __tgt_target_teams_nowait_mapper(ident, device, id, count, bases, begins, sizes, types, names, mappers, 1, 0, 0,
                                          nullptr, 0, nullptr);
}

// How often the loop of the next region runs: GPUs size their grids by it.
void __kmpc_push_target_tripcount_mapper(void*, int64_t, uint64_t) {}
void __kmpc_push_target_tripcount(void*, int64_t, uint64_t) {}

// The regions of these devices have ended when their task's body has, or hold the task themselves.
void __tgt_target_nowait_query(void** handle) { *handle = nullptr; }

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::target
