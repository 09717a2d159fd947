// SPDX-License-Identifier: Apache-2.0
//
// The part of OMPT's binary interface that Marline supports: the types and values that a tool and the runtime pass to
// each other (OpenMP 5.2, chapter 19; the values are also in LLVM's omp-tools.h). No state.
#pragma once

#include <cstddef>
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

// ompt_interface_fn_t and ompt_callback_t: to be cast to the type that belongs to the name or number.
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

// ompt_callbacks_t: the callbacks that Marline can store.
enum class Callback : int {
  kNone = 0,
  kThreadBegin = 1,
  kThreadEnd = 2,
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kTarget = 8,
  kTargetDataOp = 9,
  kTargetSubmit = 10,
  kControlTool = 11,
  kDeviceInitialize = 12,
  kDeviceFinalize = 13,
  kDeviceLoad = 14,
  kDeviceUnload = 15,
  kSyncRegionWait = 16,
  kMutexReleased = 17,
  kDependences = 18,
  kTaskDependence = 19,
  kWork = 20,
  kMasked = 21,
  kTargetMap = 22,
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
  kTargetEmi = 33,
  kTargetDataOpEmi = 34,
  kTargetSubmitEmi = 35,
  kTargetMapEmi = 36,
  kError = 37,
  kNative = 100,  // not in OMPT: marks a native record (Record)
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

// The members of ompt_record_ompt_t's union that are used here.
struct DataOpRecord {
  uint64_t host_op_id;
  int optype;
  const void* src_addr;
  int src_device_num;
  const void* dest_addr;
  int dest_device_num;
  size_t bytes;
  uint64_t end_time;
  const void* codeptr_ra;
};
struct KernelRecord {
  uint64_t host_op_id;
  unsigned requested_num_teams;
  unsigned granted_num_teams;
  uint64_t end_time;
};
// ompt_record_abstract_t.
struct AbstractRecord {
  int record_class;  // ompt_record_native_event: kEvent
  const char* type;
  uint64_t start_time;
  uint64_t end_time;
  uint64_t hardware;  // ompt_hwid_t; kNone
  static constexpr int kEvent = 2;
  static constexpr uint64_t kNone = 0;  // ompt_hwid_none
};
// ompt_record_ompt_t. Native records have the same form in the buffers, with a type that is no callback's: kNative.
struct Record {
  Callback type;
  uint64_t time;
  uint64_t thread_id;
  uint64_t target_id;
  union {
    DataOpRecord data_op;
    KernelRecord kernel;
    AbstractRecord native;
  };
};
static_assert(sizeof(Record) == 104);

// ompt_record_t.
enum class RecordType : int { kOmpt = 1, kNative = 2, kInvalid = 3 };

// ompt_callback_buffer_request_t and ompt_callback_buffer_complete_t.
using BufferRequest = void (*)(int device, void** buffer, size_t* bytes);
using BufferComplete = void (*)(int device, void* buffer, size_t bytes, uint64_t begin, int owned);

// ompt_thread_t.
enum class Thread : int { kInitial = 1, kWorker = 2 };

}  // namespace marline::ompt
