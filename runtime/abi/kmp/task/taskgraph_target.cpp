// SPDX-License-Identifier: Apache-2.0
//
// Replayable target constructs (taskgraph.cpp). Clang makes no target task for them, but passes the dependences and the
// arguments of the call to libomptarget. The arguments are those of the tests of Clang's code generation
// (clang/test/OpenMP/taskgraph_target_codegen.cpp, taskgraph_target_data_codegen.cpp).
//
// Each construct waits for its predecessors, as a taskwait with these dependences does, which is a step of the recorded
// graph; then the encountering task runs it. So nowait is not used: the program runs a region itself if libomptarget
// does not, so the result is needed at once, and the arguments are in the frame of the region's code.
#include "abi/kmp/task/depend.hpp"
#include "abi/kmp/types.hpp"
#include "abi/omp/next_definition.hpp"
#include "construct/task/task.hpp"

namespace marline::kmp {

namespace {

using RunKernel = int32_t (*)(Ident*, int64_t device, int32_t teams, int32_t threads, void* id, void* arguments);
using RunData = void (*)(Ident*, int64_t device, int32_t count, void** bases, void** begins, int64_t* sizes,
                         int64_t* types, void** names, void** mappers);

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

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Other than 0: the caller runs the region on the host.
int32_t __kmpc_taskgraph_target(Ident* where, int32_t, int32_t count, DependInfo* list, int32_t, int64_t device,
                                int32_t teams, int32_t threads, void* id, void* arguments, void*) {
  wait_for(list, count, __builtin_return_address(0));
  RunKernel run = libomptarget(g_run_kernel, "__tgt_target_kernel");
  return run != nullptr ? run(where, device, teams, threads, id, arguments) : -1;
}

void __kmpc_taskgraph_target_enter_data(Ident* where, int32_t, int32_t count, DependInfo* list, int32_t, int64_t device,
                                        int32_t items, void** bases, void** begins, int64_t* sizes, int64_t* types,
                                        void** names, void** mappers, void*) {
  wait_for(list, count, __builtin_return_address(0));
  RunData run = libomptarget(g_enter_data, "__tgt_target_data_begin_mapper");
  if (run != nullptr) run(where, device, items, bases, begins, sizes, types, names, mappers);
}

void __kmpc_taskgraph_target_exit_data(Ident* where, int32_t, int32_t count, DependInfo* list, int32_t, int64_t device,
                                       int32_t items, void** bases, void** begins, int64_t* sizes, int64_t* types,
                                       void** names, void** mappers, void*) {
  wait_for(list, count, __builtin_return_address(0));
  RunData run = libomptarget(g_exit_data, "__tgt_target_data_end_mapper");
  if (run != nullptr) run(where, device, items, bases, begins, sizes, types, names, mappers);
}

void __kmpc_taskgraph_target_update(Ident* where, int32_t, int32_t count, DependInfo* list, int32_t, int64_t device,
                                    int32_t items, void** bases, void** begins, int64_t* sizes, int64_t* types,
                                    void** names, void** mappers, void*) {
  wait_for(list, count, __builtin_return_address(0));
  RunData run = libomptarget(g_update, "__tgt_target_data_update_mapper");
  if (run != nullptr) run(where, device, items, bases, begins, sizes, types, names, mappers);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
