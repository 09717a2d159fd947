// SPDX-License-Identifier: Apache-2.0
//
// The entry points that Clang's code calls for target regions. Clang 14 has a routine for each combination of teams and
// nowait, Clang 15 one with nowait and one without; Clang 16 and later have one. Since Clang 15 the arguments are a
// structure that has a version (LLVM, offload/include/Shared/APITypes.h). All return 0 if the region has run on the
// device, or still runs there; else the caller runs the region on the host.
#include "base/report.hpp"
#include "device/contract/delegate.hpp"
#include "device/contract/place.hpp"
#include "submission/observe/dry_run.hpp"
#include "image/images.hpp"
#include "registry/registry.hpp"
#include "data/data_environment.hpp"
#include "registry/region.hpp"

namespace marline::offload::abi {

using namespace data;
using namespace device;
using namespace image;
using namespace registry;
using namespace submission;

namespace {

constexpr int kDone = 0, kRunItYourself = -1;
constexpr uint32_t kNewestArguments = 5;

bool run_on(const Destination& to, const Origin& call, void* id, int32_t teams, const KernelArguments& given,
            int32_t threads) {
  Device* device = to.device;
  prepare(device);
  bool nowait = (given.flags & kNowaitFlag) != 0;
  const Delegate* delegate = device->kind->delegate;
  const Entry* kernel = delegate == nullptr ? find_entry(id) : nullptr;
  if (delegate == nullptr && (kernel == nullptr || !has_kernel(device, kernel))) return false;
  ReportScope scope(ConstructKind::kTarget, nowait, device->number, call.code);
  if (delegate != nullptr) return delegate->run_kernel(device, call, teams, threads, id, given, scope) == 0;
  Region region = {};
  region.kernel = kernel;
  region.items = items_of(given);
  region.thread_limit = threads > 0 ? threads : 0;
  region.leading_null = note_convention(kernel, given.version);
  region.items.of_region = true;
  region.items.reported = scope.reported();
  region.nowait = nowait;
  region.place = place_of(call.ident);
  region.items.source = {kernel->name, region.place};
  region.teams = reported_teams(teams);
  region.passed_teams = teams;
  region.trip_count = given.trip_count;
  region.grid = grid_of(given);
  region.node = to.node;
  region.device_number = to.number;
  region.scope = &scope;
  run_region(device, region);
  return true;
}

int run(const Origin& call, int64_t number, void* id, int32_t teams, int32_t threads, const KernelArguments& given) {
  if (Recording* recording = t_recording) [[unlikely]] {
    record_region(*recording, call, number, id, teams, threads, given);
    return kDone;
  }
  Destination to = destination_of(number);
  Device* device = to.device;
  if (int node = marline_target_node(); to.node == 0) to.node = node;
  bool is_alone = marline_target_region_reduces(given.begins, static_cast<int>(given.count)) != 0;
  if (device == nullptr) return kRunItYourself;
  if (run_on(to, call, id, teams, given, threads)) {
    if (is_alone) marline_target_region_ends();
    return kDone;
  }
  if (is_mandatory() && device->kind->delegate != nullptr) {
    fatal(
        "OMP_TARGET_OFFLOAD=mandatory, and libomptarget does not run a region on device %d; LIBOMPTARGET_INFO=-1 shows "
        "its steps",
        device->number);
  }
  if (is_mandatory()) {
    fatal(
        "OMP_TARGET_OFFLOAD=mandatory, and the program has no code for device %d (%s) of a region: build it with "
        "-fopenmp-targets= for that device's architecture",
        device->number, device->kind->name);
  }
  return kRunItYourself;
}

// Puts the arguments that Clang 14 passes one by one into the structure of later versions. Its version is 2, as Clang
// 16's: kernels of both have no leading null argument.
KernelArguments in_structure(int32_t count, void** bases, void** begins, int64_t* sizes, int64_t* types, void** names,
                             void** mappers, int32_t teams, int32_t threads, uint64_t flags) {
  KernelArguments made = {};
  made.version = 2;
  made.count = static_cast<uint32_t>(count);
  made.bases = bases;
  made.begins = begins;
  made.sizes = sizes;
  made.types = types;
  made.names = names;
  made.mappers = mappers;
  made.flags = flags;
  made.teams[0] = static_cast<uint32_t>(teams);
  made.threads[0] = static_cast<uint32_t>(threads);
  return made;
}

// Clang 15's structure has version 1, and ends after the number of iterations (LLVM 15, openmp/libomptarget/include).
KernelArguments of_clang_15(const KernelArguments& given, int32_t teams, int32_t threads, uint64_t flags) {
  KernelArguments made = in_structure(static_cast<int32_t>(given.count), given.bases, given.begins, given.sizes,
                                      given.types, given.names, given.mappers, teams, threads, flags);
  made.trip_count = given.trip_count;
  return made;
}

constexpr int32_t kNoTeams = -1;  // not a teams region

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int __tgt_target_kernel(void* ident, int64_t device, int32_t teams, int32_t threads, void* id, KernelArguments* given) {
  if (given->version > kNewestArguments) {
    fatal("kernel arguments of version %u, from a newer Clang than Marline knows; the newest known is %u (Clang 23)",
          given->version, kNewestArguments);
  }
  Origin call = {ident, __builtin_return_address(0)};
  if (given->version < 2) return run(call, device, id, teams, threads, of_clang_15(*given, teams, threads, 0));
  return run(call, device, id, teams, threads, *given);
}

int __tgt_target_teams_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                              int64_t* sizes, int64_t* types, void** names, void** mappers, int32_t teams,
                              int32_t threads) {
  return run({ident, __builtin_return_address(0)}, device, id, teams, threads,
             in_structure(count, bases, begins, sizes, types, names, mappers, teams, threads, 0));
}

int __tgt_target_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                        int64_t* sizes, int64_t* types, void** names, void** mappers) {
  return run({ident, __builtin_return_address(0)}, device, id, kNoTeams, 0,
             in_structure(count, bases, begins, sizes, types, names, mappers, 0, 0, 0));
}

// Only Clang 15 calls it, in the task that it makes of a region with nowait, whose dependences are obeyed already.
int __tgt_target_kernel_nowait(void* ident, int64_t device, int32_t teams, int32_t threads, void* id,
                               KernelArguments* given, int32_t, void*, int32_t, void*) {
  return run({ident, __builtin_return_address(0)}, device, id, teams, threads,
             of_clang_15(*given, teams, threads, kNowaitFlag));
}

int __tgt_target_teams_nowait_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                                     int64_t* sizes, int64_t* types, void** names, void** mappers, int32_t teams,
                                     int32_t threads, int32_t, void*, int32_t, void*) {
  return run({ident, __builtin_return_address(0)}, device, id, teams, threads,
             in_structure(count, bases, begins, sizes, types, names, mappers, teams, threads, kNowaitFlag));
}

int __tgt_target_nowait_mapper(void* ident, int64_t device, void* id, int32_t count, void** bases, void** begins,
                               int64_t* sizes, int64_t* types, void** names, void** mappers, int32_t, void*, int32_t,
                               void*) {
  return run({ident, __builtin_return_address(0)}, device, id, kNoTeams, 0,
             in_structure(count, bases, begins, sizes, types, names, mappers, 0, 0, kNowaitFlag));
}

// The number of iterations of the next region's loop, by which GPUs size their grids. It is ignored.
void __kmpc_push_target_tripcount_mapper(void*, int64_t, uint64_t) {}
void __kmpc_push_target_tripcount(void*, int64_t, uint64_t) {}

// Answers whether the operations of a task with nowait have ended; a null handle says yes. That is always right here: a
// region has ended when its task's body ends, or it keeps the task from ending.
void __tgt_target_nowait_query(void** handle) { *handle = nullptr; }

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
