// SPDX-License-Identifier: Apache-2.0
//
// Target constructs, as GCC calls them. Marline has no devices for GCC's code: every region runs on the host, and
// nothing is mapped or copied.
#include "abi/gomp/target.hpp"

#include "construct/device/target.hpp"
#include "construct/parallel/teams.hpp"

#include <alloca.h>
#include <climits>

namespace marline::gomp {

namespace {

int as_int(unsigned value) { return static_cast<int>(std::min<unsigned>(value, INT_MAX)); }

// Of the clause, or else teams-thread-limit-var.
int limit_of_teams(unsigned thread_limit) { return thread_limit != 0 ? as_int(thread_limit) : teams_thread_limit(); }

// The arguments of a deferred region: this, the addresses, the private copies.
struct DeferredRegion {
  Function function;
  intptr_t thread_limit;

  void** addresses() { return reinterpret_cast<void**>(this + 1); }
};

void run_deferred(void* arguments) {
  auto* region = static_cast<DeferredRegion*>(arguments);
  target_region(this_worker(), {region->function, region->addresses(), static_cast<int>(region->thread_limit)});
}

void spawn_region(Worker* worker, Function function, const MappedVariables& variables, const PrivateRoom& room,
                  int thread_limit, const DependenceBuffer& dependences, const void* codeptr) {
  size_t align = std::max(alignof(TaskBlock), room.align);
  size_t begin = std::max(sizeof(TaskBlock), align);
  size_t copies = (sizeof(DeferredRegion) + variables.count * sizeof(void*) + align - 1) & ~(align - 1);
  Task* task = allocate_task(worker, {.invoke = invoke,
                                      .code = code_of(function),
                                      .flags = 0,  // a target task is untied
                                      .block_bytes = begin + copies + room.bytes,
                                      .block_align = align,
                                      .dependences = dependences.count()});
  fill_block(task, run_deferred, begin);
  auto* region = static_cast<DeferredRegion*>(arguments_of(task));
  region->function = function;
  region->thread_limit = thread_limit;
  copy_private(variables, reinterpret_cast<char*>(region) + copies, region->addresses());
  spawn_task(worker, task, dependences.list(), dependences.count(), codeptr);
}

// What the region gets is copied before the wait: its value is that at the construct.
void run_region_here(Function function, const MappedVariables& variables, const PrivateRoom& room, int thread_limit,
                     const DependenceBuffer& dependences, const void* codeptr) {
  auto space = reinterpret_cast<uintptr_t>(alloca(room.bytes + room.align - 1));
  copy_private(variables, reinterpret_cast<char*>((space + room.align - 1) & ~(uintptr_t{room.align} - 1)),
               variables.addresses);
  if (dependences.count() != 0) taskwait_depend(this_worker(), dependences.list(), dependences.count(), codeptr);
  target_region(this_worker(), {function, variables.addresses, thread_limit});
}

// target update, target enter data and target exit data move nothing: what is left of them is their place among the
// dependences.
void data_construct(int device, unsigned flags, void** depend, const void* codeptr) {
  Worker* worker = this_worker();
  must_be_host(worker, device);
  if (depend == nullptr) return;
  DependenceBuffer dependences;
  decode(dependences, depend);
  if ((flags & kNowait) != 0 && !in_final(worker)) {
    spawn_empty_task(worker, dependences.list(), dependences.count(), codeptr);
  } else {
    taskwait_depend(worker, dependences.list(), dependences.count(), codeptr);
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Of GCC 4.9; the argument in the middle is unused. It has no private copies.
void GOMP_target(int device, Function function, const void*, size_t, void** addresses, size_t*, unsigned char*) {
  Worker* worker = this_worker();
  must_be_host(worker, device);
  target_region(worker, {function, addresses});
}

void GOMP_target_ext(int device, Function function, size_t count, void** addresses, size_t* sizes,
                     unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  const void* codeptr = __builtin_return_address(0);
  Worker* worker = this_worker();
  must_be_host(worker, device);
  DependenceBuffer dependences;
  if (depend != nullptr) decode(dependences, depend);
  MappedVariables variables{count, addresses, sizes, kinds};
  PrivateRoom room = private_room(variables);
  int thread_limit = thread_limit_of(arguments);
  if ((flags & kNowait) != 0 && !in_final(worker)) {
    spawn_region(worker, function, variables, room, thread_limit, dependences, codeptr);
  } else {
    run_region_here(function, variables, room, thread_limit, dependences, codeptr);
  }
}

void GOMP_target_data(int device, const void*, size_t, void**, size_t*, unsigned char*) {
  must_be_host(this_worker(), device);
}
void GOMP_target_data_ext(int device, size_t, void**, size_t*, unsigned short*) { must_be_host(this_worker(), device); }
void GOMP_target_end_data() {}

void GOMP_target_update(int device, const void*, size_t, void**, size_t*, unsigned char*) {
  must_be_host(this_worker(), device);
}

void GOMP_target_update_ext(int device, size_t, void**, size_t*, unsigned short*, unsigned flags, void** depend) {
  data_construct(device, flags, depend, __builtin_return_address(0));
}

void GOMP_target_enter_exit_data(int device, size_t, void**, size_t*, unsigned short*, unsigned flags, void** depend) {
  data_construct(device, flags, depend, __builtin_return_address(0));
}

// A teams construct in a target region, up to GCC 11: each team runs the code behind the call, here the only one does.
void GOMP_teams(unsigned, unsigned thread_limit) { league_begin(this_worker(), 1, limit_of_teams(thread_limit)); }

// The same from GCC 12 on: called before each team with `first` for the first one, until it returns false.
bool GOMP_teams4(unsigned lower, unsigned upper, unsigned thread_limit, bool first) {
  Worker* worker = this_worker();
  if (!first) return league_next_team(worker);
  league_begin(worker, league_size(worker, as_int(lower), as_int(upper)), limit_of_teams(thread_limit));
  return true;
}

// Code for devices that the program brings along: (version,) tables of the host, kind of device, its code.
void GOMP_offload_register(const void*, int, const void*) {}
void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
void GOMP_offload_unregister(const void*, int, const void*) {}
void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
