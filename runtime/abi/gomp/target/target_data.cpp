// SPDX-License-Identifier: Apache-2.0
//
// target data, target update, target enter data and target exit data, as GCC calls them. The provider's devices move
// the data (construct/device/provider.hpp). Where there are none, nothing is moved: only the dependences of these
// constructs have an effect. Any thread.
#include "abi/gomp/target/target.hpp"

#include "construct/device/provider.hpp"
#include "construct/task/observed.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/worker.hpp"

#include <new>

namespace marline::gomp {

namespace {

constexpr unsigned kExitData = 1u << 1;  // GOMP_TARGET_FLAG_EXIT_DATA
constexpr unsigned kUpdate = 1u << 31;   // Marline's own flag, none of GCC's

// The construct's arguments, without its variables.
struct DataCall {
  int device;
  unsigned flags;
  const void* code;
};

void move_data(const DataCall& call, const MappedVariables& variables, bool nowait) {
  const marline_device_provider_t* devices = device_provider();
  auto* move = (call.flags & kUpdate) != 0     ? devices->update
               : (call.flags & kExitData) != 0 ? devices->exit_data
                                               : devices->enter_data;
  marline_device_maps_t maps = maps_of(variables, call.code, nowait);
  move(call.device, &maps);
}

// The task's block for a deferred construct: this struct, then the addresses, sizes and kinds.
struct DeferredData {
  DataCall call;
  size_t count;

  MappedVariables variables() {
    auto** addresses = reinterpret_cast<void**>(this + 1);
    auto* sizes = reinterpret_cast<size_t*>(addresses + count);
    return {count, addresses, sizes, reinterpret_cast<unsigned short*>(sizes + count)};
  }
};

void run_deferred(void* arguments) {
  auto* construct = static_cast<DeferredData*>(arguments);
  move_data(construct->call, construct->variables(), true);
}

// For the observer of target tasks.
void describe_data(Task* task, marline_target_task_t& reported) {
  auto* construct = static_cast<DeferredData*>(arguments_of(task));
  const DataCall& call = construct->call;
  reported.form = (call.flags & kUpdate) != 0     ? MARLINE_TARGET_UPDATE
                  : (call.flags & kExitData) != 0 ? MARLINE_TARGET_EXIT_DATA
                                                  : MARLINE_TARGET_ENTER_DATA;
  reported.device = call.device;
  reported.maps = maps_of(construct->variables(), call.code, true);
}

void spawn_construct(Worker* worker, const DataCall& call, const MappedVariables& variables,
                     const DependenceBuffer& dependences) {
  constexpr size_t kPerVariable = sizeof(void*) + sizeof(size_t) + sizeof(unsigned short);
  size_t bytes = sizeof(DeferredData) + variables.count * kPerVariable;
  Task* task = allocate(worker, run_deferred, 0, bytes, alignof(DeferredData), dependences.count());
  auto* construct = new (arguments_of(task)) DeferredData{call, variables.count};
  MappedVariables own = construct->variables();
  std::copy_n(variables.addresses, variables.count, own.addresses);
  copy_description(variables, own);
  note_target(task);
  if (tool::on(tool::event::kTargetTasks)) [[unlikely]] {
    let_observe(task, describe_data);
  }
  spawn_task(worker, task, dependences.list(), dependences.count(), call.code);
}

void data_construct(const DataCall& call, const MappedVariables& variables, void** depend) {
  Worker* worker = this_worker();
  bool moves = device_provider() != nullptr;
  if (!moves) must_be_host(worker, call.device);
  if (depend == nullptr && !moves) return;
  DependenceBuffer dependences;
  if (depend != nullptr) decode(dependences, depend);
  if ((call.flags & kNowait) == 0 || in_final(worker)) {
    if (dependences.count() != 0) taskwait_depend(worker, dependences.list(), dependences.count(), call.code);
    if (moves) move_data(call, variables, false);
  } else if (moves) {
    spawn_construct(worker, call, variables, dependences);
  } else {
    spawn_empty_task(worker, dependences.list(), dependences.count(), call.code);
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Without _ext: called by code of GCC 4.9, which runs target regions on the host.
void GOMP_target_data(int device, const void*, size_t, void**, size_t*, unsigned char*) {
  must_be_host(this_worker(), device);
  if (device_provider() != nullptr) push_target_data(this_worker()->task, nullptr);
}

void GOMP_target_data_ext(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds) {
  const marline_device_provider_t* devices = device_provider();
  if (devices == nullptr) return must_be_host(this_worker(), device);
  marline_device_maps_t maps{count, addresses, sizes, kinds, __builtin_return_address(0), 0, 0, nullptr};
  void* data = devices->data_begin(device, &maps);
  push_target_data(this_worker()->task, data);
}

void GOMP_target_end_data() {
  const marline_device_provider_t* devices = device_provider();
  void* data = devices != nullptr ? pop_target_data(this_worker()->task) : nullptr;
  if (data != nullptr) devices->data_end(data);
}

void GOMP_target_update(int device, const void*, size_t, void**, size_t*, unsigned char*) {
  must_be_host(this_worker(), device);
}

void GOMP_target_update_ext(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds,
                            unsigned flags, void** depend) {
  data_construct({device, (flags & kNowait) | kUpdate, __builtin_return_address(0)}, {count, addresses, sizes, kinds},
                 depend);
}

void GOMP_target_enter_exit_data(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds,
                                 unsigned flags, void** depend) {
  data_construct({device, flags & (kNowait | kExitData), __builtin_return_address(0)}, {count, addresses, sizes, kinds},
                 depend);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
