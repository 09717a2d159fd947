// SPDX-License-Identifier: Apache-2.0
//
// The part of OMPT's binary interface that Marline supports: the types and values that a tool and the runtime pass to
// each other (OpenMP 5.2, chapter 19; the values are also in LLVM's omp-tools.h). No state.
#pragma once

#include <cstdint>

namespace marline::ompt {

// ompt_data_t: a word that belongs to the tool.
union Data {
  uint64_t value;
  void* ptr;
};

// ompt_frame_t.
struct Frame {
  Data exit_frame;
  Data enter_frame;
  int exit_frame_flags;
  int enter_frame_flags;
};

// ompt_frame_flag_t.
inline constexpr int kFrameRuntime = 0x00, kFrameApplication = 0x01;
inline constexpr int kFramePointer = 0x20, kFrameStackAddress = 0x30;

// ompt_dependence_t.
struct Dependence {
  Data variable;
  int type;
};

// ompt_interface_fn_t and ompt_callback_t: to be cast to what the name or the number says.
using Function = void (*)();
using Lookup = Function (*)(const char* name);

// ompt_start_tool_result_t.
struct StartToolResult {
  int (*initialize)(Lookup lookup, int initial_device, Data* tool_data);
  void (*finalize)(Data* tool_data);
  Data tool_data;
};

using StartTool = StartToolResult* (*)(unsigned omp_version, const char* runtime_version);

// ompt_dispatch_chunk_t.
struct DispatchChunk {
  uint64_t start;
  uint64_t iterations;
};

// ompt_callbacks_t: those that Marline has a place for.
enum class Callback : int {
  kThreadBegin = 1,
  kThreadEnd = 2,
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kControlTool = 11,
  kSyncRegionWait = 16,
  kMutexReleased = 17,
  kDependences = 18,
  kTaskDependence = 19,
  kWork = 20,
  kMasked = 21,
  kSyncRegion = 23,
  kLockInit = 24,
  kLockDestroy = 25,
  kMutexAcquire = 26,
  kMutexAcquired = 27,
  kNestLock = 28,
  kFlush = 29,
  kCancel = 30,
  kReduction = 31,
  kDispatch = 32,
  kError = 37,
};
inline constexpr int kLastCallback = 37;  // ompt_callback_error

// ompt_set_result_t.
enum class SetResult : int { kError = 0, kNever = 1, kSometimes = 3, kSometimesPaired = 4, kAlways = 5 };

// ompt_state_t.
enum class State : int {
  kWorkSerial = 0,
  kWorkParallel = 1,
  kWaitBarrierImplicitParallel = 0x11,
  kWaitBarrierImplicitWorkshare = 0x12,
  kWaitBarrierExplicit = 0x14,
  kWaitBarrierImplementation = 0x15,
  kWaitBarrierTeams = 0x16,
  kWaitTaskwait = 0x20,
  kWaitTaskgroup = 0x21,
  kWaitLock = 0x41,
  kWaitCritical = 0x42,
  kWaitAtomic = 0x43,
  kWaitOrdered = 0x44,
  kIdle = 0x100,
  kUndefined = 0x102,
};

// ompt_thread_t.
enum class Thread : int { kInitial = 1, kWorker = 2 };

}  // namespace marline::ompt
