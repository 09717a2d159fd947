// SPDX-License-Identifier: Apache-2.0
//
// Target regions, as GCC calls them. They run on the provider's devices (construct/device/provider.hpp) if there are
// any, and else on the host, where nothing is mapped or copied.
#include "abi/gomp/target/target.hpp"

#include "construct/device/provider.hpp"
#include "construct/device/target.hpp"
#include "construct/parallel/teams.hpp"
#include "construct/task/next_task.hpp"
#include "construct/task/observed.hpp"
#include "construct/task/gcc_reduction.hpp"
#include "construct/task/task_reduction.hpp"
#include "exec/worker/frames.hpp"

#include <alloca.h>

#include <climits>
#include <new>

namespace marline::gomp {

namespace {

int as_int(unsigned value) { return static_cast<int>(std::min<unsigned>(value, INT_MAX)); }

// The clause's limit, or else teams-thread-limit-var.
int limit_of_teams(unsigned thread_limit) { return thread_limit != 0 ? as_int(thread_limit) : teams_thread_limit(); }

// A target region, and where and how it runs.
struct TargetCall {
  Function function;
  int device;
  int thread_limit;
  const void* code;
  bool nowait;
  int node;  // the node of a cluster; 0: any
};

bool any_reduction_copy(const Worker* worker, const MappedVariables& variables) {
  if (worker->task->taskgroup == nullptr) return false;
  auto is_copy = [worker](const void* address) { return gcc_reduction_has_copy(worker, address); };
  return std::any_of(variables.addresses, variables.addresses + variables.count, is_copy);
}

// A thread's copy in a task reduction comes back from the device when the region has ended: no other task of the thread
// may add to it meanwhile.
bool run_on_device(const marline_device_provider_t* devices, const TargetCall& call, const MappedVariables& variables) {
  Worker* worker = this_worker();
  marline_device_maps_t maps = maps_of(variables, call.code, call.nowait, call.node);
  bool keeps = any_reduction_copy(worker, variables);
  if (keeps) worker->context.keeps_task = true;
  int done = devices->region(call.device, call.function, &maps, call.thread_limit);
  if (keeps)
    worker->context.keeps_task = false;  // the same worker: the task uses the thread's copy, so it is tied to it
  return done != 0;
}

// Runs the region on the device, or on the host if the device number stands for the host.
void run_region(const TargetCall& call, const MappedVariables& variables) {
  const marline_device_provider_t* devices = device_provider();
  if (devices != nullptr && run_on_device(devices, call, variables)) return;
  target_region(this_worker(), {call.function, variables.addresses, call.thread_limit});
}

// The task's block for a deferred region: this struct, then the addresses, sizes and kinds, and the private copies.
struct DeferredRegion {
  TargetCall call;
  size_t count;

  MappedVariables variables() {
    auto** addresses = reinterpret_cast<void**>(this + 1);
    auto** originals = addresses + count;
    auto* sizes = reinterpret_cast<size_t*>(originals + count);
    return {count, addresses, sizes, reinterpret_cast<unsigned short*>(sizes + count), originals};
  }
};

constexpr size_t kBytesPerVariable = 2 * sizeof(void*) + sizeof(size_t) + sizeof(unsigned short);

void run_deferred(void* arguments) {
  auto* region = static_cast<DeferredRegion*>(arguments);
  run_region(region->call, region->variables());
}

// For the observer of target tasks.
void describe_region(Task* task, marline_target_task_t& reported) {
  auto* region = static_cast<DeferredRegion*>(arguments_of(task));
  reported.form = MARLINE_TARGET_REGION;
  reported.device = region->call.device;
  reported.function = region->call.function;
  reported.maps = maps_of(region->variables(), region->call.code, true, region->call.node);
  reported.thread_limit = region->call.thread_limit;
}

void spawn_region(Worker* worker, const TargetCall& call, const MappedVariables& variables, const PrivateRoom& room,
                  const DependenceBuffer& dependences, const void* codeptr) {
  size_t align = std::max(alignof(TaskBlock), room.align);
  size_t begin = std::max(sizeof(TaskBlock), align);
  size_t copies = (sizeof(DeferredRegion) + variables.count * kBytesPerVariable + align - 1) & ~(align - 1);
  Task* task = allocate_task(worker, {.invoke = invoke,
                                      .code = code_of(call.function),
                                      .flags = 0,  // a target task is untied
                                      .block_bytes = begin + copies + room.bytes,
                                      .block_align = align,
                                      .dependences = dependences.count()});
  fill_block(task, run_deferred, begin);
  auto* region = new (arguments_of(task)) DeferredRegion{call, variables.count};
  MappedVariables own = region->variables();
  copy_private(variables, room, reinterpret_cast<char*>(region) + copies, own.addresses);
  std::copy_n(variables.addresses, variables.count, own.originals);
  copy_description(variables, own);
  note_target(task);
  if (tool::on(tool::event::kTargetTasks)) [[unlikely]] {
    let_observe(task, describe_region);
  }
  spawn_task(worker, task, dependences.list(), dependences.count(), codeptr);
}

// The region's variables are copied before the wait: the region gets their values at the construct.
void run_region_here(const TargetCall& call, const MappedVariables& variables, const PrivateRoom& room,
                     const DependenceBuffer& dependences, const void* codeptr) {
  auto space = reinterpret_cast<uintptr_t>(alloca(room.bytes + room.align - 1));
  auto* memory = reinterpret_cast<char*>((space + room.align - 1) & ~(uintptr_t{room.align} - 1));
  MappedVariables own = variables;
  own.addresses = static_cast<void**>(alloca(variables.count * sizeof(void*) + 1));
  own.originals = variables.addresses;
  copy_private(variables, room, memory, own.addresses);
  if (dependences.count() != 0) taskwait_depend(this_worker(), dependences.list(), dependences.count(), codeptr);
  run_region(call, own);
}

}  // namespace

Task* current_target_task() {
  Worker* worker = this_worker_or_null();
  Task* task = worker != nullptr ? worker->task : nullptr;
  bool is = task != nullptr && task->invoke == invoke && !task->has(task_flag::kImplicit | task_flag::kUndeferred) &&
            static_cast<TaskBlock*>(task->block)->function == run_deferred;
  return is ? task : nullptr;
}

#pragma GCC visibility push(default)
extern "C" {

// Called by code of GCC 4.9; always on the host. The unnamed arguments are unused. The region has no private copies.
void GOMP_target(int device, Function function, const void*, size_t, void** addresses, size_t*, unsigned char*) {
  Worker* worker = this_worker();
  must_be_host(worker, device);
  target_region(worker, {function, addresses});
}

void GOMP_target_ext(int device, Function function, size_t count, void** addresses, size_t* sizes,
                     unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  const void* codeptr = __builtin_return_address(0);
  Worker* worker = this_worker();
  bool has_devices = device_provider() != nullptr;
  if (!has_devices) must_be_host(worker, device);
  DependenceBuffer dependences;
  if (depend != nullptr) decode(dependences, depend);
  MappedVariables variables{count, addresses, sizes, kinds};
  PrivateRoom room = private_room(variables, has_devices);
  bool nowait = (flags & kNowait) != 0 && !in_final(worker);
  TargetCall call{function, device, thread_limit_of(arguments), codeptr, nowait, take_next_node(worker)};
  if (nowait) {
    spawn_region(worker, call, variables, room, dependences, codeptr);
  } else {
    run_region_here(call, variables, room, dependences, codeptr);
  }
}

// A teams construct in a target region, up to GCC 11: each team runs the code after the call; here there is only one
// team.
void GOMP_teams(unsigned, unsigned thread_limit) { league_begin(this_worker(), 1, limit_of_teams(thread_limit)); }

// The same from GCC 12 on: called before each team with `first` for the first one, until it returns false.
bool GOMP_teams4(unsigned lower, unsigned upper, unsigned thread_limit, bool first) {
  Worker* worker = this_worker();
  if (!first) return league_next_team(worker);
  league_begin(worker, league_size(worker, as_int(lower), as_int(upper)), limit_of_teams(thread_limit));
  return true;
}

// From GCC 14 on, in code for devices only: the host's functions need no translation.
void* GOMP_target_map_indirect_ptr(void* function) { return function; }

// Code for devices that the program brings along: (version,) tables of the host, kind of device, its code.
void GOMP_offload_register(const void*, int, const void*) {}
void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
void GOMP_offload_unregister(const void*, int, const void*) {}
void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
