// SPDX-License-Identifier: Apache-2.0
//
// Target tasks as they are created (devices.h): what a kind of devices with early submission gets of each task, and how
// it asks for them. offload/submission/observe/observer.cpp collects it. Any thread may call these functions.
#pragma once

#include "items/items.hpp"
#include "base/told.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::submission {
struct RegionReduction;
}

namespace marline::offload::device {

using namespace items;

// An item that is a variable of a task reduction. `reduction` represents the copies of all captured tasks
// (submission/reductions.hpp). The item's map type is that of data that the region only reads.
struct ReducedItem {
  int32_t item;
  submission::RegionReduction* reduction;
  const void* variable;  // the variable that the compiler's code names
};

// A construct with nowait, in its normal form. It is one block of memory with copies of all arrays, so nothing of it
// lies on a stack. The values of private variables are copies (Clang's code), or lie in the task's block until the task
// has been ended (GCC's code).
struct CapturedTask {
  const void* entry;          // the function that the compiler generated for the construct
  marline_claimed_t* handle;  // of a submitted task, until the task has been ended
  uint64_t number;
  ConstructKind kind;
  int64_t device;       // as the program gives it; -1: the default device
  const Entry* kernel;  // of a region
  Items items;
  int32_t thread_limit;  // this member and the next ones are a region's, as in Region (registry/region.hpp)
  bool leading_null, in_memory;
  int32_t passed_teams;
  uint64_t trip_count;
  GpuGrid grid;
  const char* place;      // as in Launch
  int32_t node;           // as in Launch; from device(k) or a hint (marline_task_node); 0: any node
  int32_t region_number;  // Launch::number
  const void* code;       // an address in the program right after the call of the construct
  const char* name;       // valid until the task has been ended; may be null
  int32_t priority;
  uint32_t dependence_count;
  const marline_dependence_t* dependences;
  uint64_t graph, step;  // as in marline_target_task_t
  ReducedItem* reduced;  // a block of its own, or null
  uint32_t reduced_count;
  // Of GCC's code, whose arrays stay until the task has been ended; null for Clang's code.
  const marline_device_maps_t* maps;
};

void free_captured(CapturedTask* task);

// A part of marline_target_observer_t: functions of the same name have the same meaning.
struct CaptureSink {
  // Whether tasks for the device may be taken over. A task is not examined if its device is not wanted.
  bool (*wants)(int64_t device);
  // Takes over the task if the result is not null; the sink then frees it. Null: the task runs like any other.
  void* (*take)(CapturedTask* task);
  void (*ordered)(void* taken, const uint64_t* numbers, size_t count, size_t others);
  void (*others_ended)(void* taken);
  void (*ready)(void* taken);
  void (*waits)(marline_wait_kind_t kind);
  void (*cancels)();
  void (*raised)(uint64_t number, int32_t priority);
  void (*ended)(uint64_t number);
  void (*iterates)(uint64_t graph, bool has_barrier);
  void (*iterated)(uint64_t graph);
  void (*graph_ends)(uint64_t graph);
  void (*awaited)(uint64_t number);
  bool (*repeats)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  bool (*reduced)(void* copy);
  bool (*replays_with_arguments)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  bool (*replay_next)(const marline_target_task_t& task);
};

// Sets the sink, until the program ends. A second call ends the program.
void capture_to(const CaptureSink* sink);

// From now on until the program ends, the names in depend clauses of target tasks are kept (named.hpp).
void capture_names();

// For offload/abi. set_capture_start sets what capture_to and capture_names start, now or when they are called.
// capture_sink returns the sink, or null.
void set_capture_start(void (*start)());
[[nodiscard]] const CaptureSink* capture_sink();

// Starts early submission, for a device that is being started and has Device::takes_early: deferred target regions are
// submitted to it before their predecessors have ended (submission/queue/submitted_tasks.cpp).
void start_submission();
// Called in the child of a fork, which has none of the tasks.
void forget_submission();

// For offload/abi: the functions that start_submission and forget_submission call.
struct SubmissionLayer {
  void (*start)();
  void (*forget)();
};
void set_submission_layer(const SubmissionLayer* room);

}  // namespace marline::offload::device
