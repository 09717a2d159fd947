// SPDX-License-Identifier: Apache-2.0
//
// Replayable target constructs (taskgraph.cpp). Clang makes no target task for them, but passes the dependences and the
// arguments of the call to libomptarget. The arguments are those of the tests of Clang's code generation
// (clang/test/OpenMP/taskgraph_target_codegen.cpp, taskgraph_target_data_codegen.cpp).
//
// Without nowait, the construct waits for its predecessors as a taskwait with these dependences does, and the
// encountering task makes the call. With nowait a target task makes it. Both are steps of the recorded graph. But if
// libomptarget does not run a region, Clang's code runs it, at once. So a region becomes a task only when the device
// has run it before.
#include "abi/kmp/task/captured_target.hpp"
#include "abi/kmp/task/depend.hpp"
#include "abi/kmp/task/task_block.hpp"
#include "abi/omp/next_definition.hpp"
#include "construct/task/task.hpp"

extern "C" int omp_get_default_device(void);

namespace marline::kmp {

namespace {

constexpr int64_t kDefaultDevice = -1;  // OFFLOAD_DEVICE_DEFAULT
constexpr int32_t kRunItYourself = -1;

// Which regions have run on which devices: the identifiers of the last ones, each at the place that its hash gives. A
// region that is not found runs without a task once more. Written and read by any thread; the order does not matter.
constexpr unsigned kKnownBits = 8;
Atomic<uint64_t> g_known[1u << kKnownBits];

// Addresses have 48 bits. 0: the number of the device is too large to be kept.
uint64_t key_of(const void* id, int64_t device) {
  if (device == kDefaultDevice) device = omp_get_default_device();
  if (device < 0 || device > UINT16_MAX) return 0;
  return reinterpret_cast<uint64_t>(id) << 16 | static_cast<uint64_t>(device);
}

Atomic<uint64_t>& place_of(uint64_t key) { return g_known[key * 0x9e3779b97f4a7c15 >> (64 - kKnownBits)]; }

void wait_for(const DependInfo* list, int32_t count, const void* codeptr) {
  if (count == 0) return;
  DependenceBuffer buffer;
  decode(buffer, list, count);
  taskwait_depend(this_worker(), buffer.list(), buffer.count(), codeptr);
}

// libomptarget's function; null: there is no libomptarget, and so no device.
template <class Function>
Function libomptarget(Atomic<Function>& found, const char* name) {
  if (Function function = found.load(relaxed)) return function;
  auto function = reinterpret_cast<Function>(next_definition(name));
  found.store(function, relaxed);
  return function;
}

Atomic<RunKernel> g_run_kernel{nullptr};
Atomic<RunData> g_enter_data{nullptr}, g_exit_data{nullptr}, g_update{nullptr};

// A list of dimensions lies on the stack of the program's function.
bool can_capture(const KernelArguments& given) {
  if (given.version > kNewestKernelArguments) return false;
  for (uint32_t i = 0; i < given.count; ++i) {
    if ((given.types[i] & kItemNonContiguous) != 0) return false;
  }
  return true;
}

void data_construct(RunData run, const TargetCall& call, int32_t thread, DependInfo* list, int32_t count,
                    int32_t nowait, const void* codeptr) {
  const KernelArguments& given = call.arguments;
  if (nowait != 0 && run != nullptr && can_capture(given)) {
    spawn_replayable(capture_target(call, thread), list, count, codeptr);
    return;
  }
  wait_for(list, count, codeptr);
  if (run == nullptr) return;
  run(call.where, call.device, static_cast<int32_t>(given.count), given.bases, given.begins, given.sizes, given.types,
      given.names, given.mappers);
}

TargetCall data_call(RunData run, Ident* where, int64_t device, int32_t items, void** bases, void** begins,
                     int64_t* sizes, int64_t* types, void** names, void** mappers) {
  TargetCall call = {};
  call.run_data = run;
  call.where = where;
  call.device = device;
  call.arguments.count = static_cast<uint32_t>(items);
  call.arguments.bases = bases;
  call.arguments.begins = begins;
  call.arguments.sizes = sizes;
  call.arguments.types = types;
  call.arguments.names = names;
  call.arguments.mappers = mappers;
  return call;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Other than 0: the caller runs the region on the host.
int32_t __kmpc_taskgraph_target(Ident* where, int32_t thread, int32_t count, DependInfo* list, int32_t nowait,
                                int64_t device, int32_t teams, int32_t threads, void* id, KernelArguments* arguments,
                                void*) {
  const void* codeptr = __builtin_return_address(0);
  RunKernel run = libomptarget(g_run_kernel, "__tgt_target_kernel");
  const uint64_t key = key_of(id, device);
  Atomic<uint64_t>& known = place_of(key);
  if (nowait != 0 && run != nullptr && key != 0 && known.load(relaxed) == key && can_capture(*arguments)) {
    const TargetCall call = {run, nullptr, where, device, teams, threads, id, *arguments};
    return spawn_replayable(capture_target(call, thread), list, count, codeptr);
  }
  wait_for(list, count, codeptr);
  const int32_t result = run != nullptr ? run(where, device, teams, threads, id, arguments) : kRunItYourself;
  if (result == 0) known.store(key, relaxed);
  return result;
}

void __kmpc_taskgraph_target_enter_data(Ident* where, int32_t thread, int32_t count, DependInfo* list, int32_t nowait,
                                        int64_t device, int32_t items, void** bases, void** begins, int64_t* sizes,
                                        int64_t* types, void** names, void** mappers, void*) {
  RunData run = libomptarget(g_enter_data, "__tgt_target_data_begin_mapper");
  data_construct(run, data_call(run, where, device, items, bases, begins, sizes, types, names, mappers), thread, list,
                 count, nowait, __builtin_return_address(0));
}

void __kmpc_taskgraph_target_exit_data(Ident* where, int32_t thread, int32_t count, DependInfo* list, int32_t nowait,
                                       int64_t device, int32_t items, void** bases, void** begins, int64_t* sizes,
                                       int64_t* types, void** names, void** mappers, void*) {
  RunData run = libomptarget(g_exit_data, "__tgt_target_data_end_mapper");
  data_construct(run, data_call(run, where, device, items, bases, begins, sizes, types, names, mappers), thread, list,
                 count, nowait, __builtin_return_address(0));
}

void __kmpc_taskgraph_target_update(Ident* where, int32_t thread, int32_t count, DependInfo* list, int32_t nowait,
                                    int64_t device, int32_t items, void** bases, void** begins, int64_t* sizes,
                                    int64_t* types, void** names, void** mappers, void*) {
  RunData run = libomptarget(g_update, "__tgt_target_data_update_mapper");
  data_construct(run, data_call(run, where, device, items, bases, begins, sizes, types, names, mappers), thread, list,
                 count, nowait, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
