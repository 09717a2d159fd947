// SPDX-License-Identifier: Apache-2.0
//
// Target tasks as they are created (devices.h): what a kind of devices that takes them ahead of time gets of each, and
// how it asks for them. offload/submission/observe/observer.cpp finds it out. Functions may be called from any thread.
#pragma once

#include "items/items.hpp"
#include "base/told.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::submission {
struct RegionReduction;
}

namespace marline::offload::device {

using namespace items;

// An item that is a variable of a task reduction: it names what stands for all copies of the tasks that are captured
// (submission/reductions.hpp), and its type is that of something the region only reads.
struct ReducedItem {
  int32_t item;
  submission::RegionReduction* reduction;
  const void* variable;  // that the compiler has named
};

// A construct with nowait, in its normal form. One block of memory with copies of all arrays: nothing of it lies on a
// stack. The values of private variables are copies (Clang's code), or lie in the task's block until the task has been
// ended (GCC's).
struct CapturedTask {
  const void* entry;          // the function that the compiler has made of the construct
  marline_claimed_t* handle;  // while the task has not been ended, if it has been taken
  uint64_t number;
  ConstructKind kind;
  int64_t device;       // as the program says; -1: the default device
  const Entry* kernel;  // of a region
  Items items;
  int32_t thread_limit;  // this and the following of a region, as in Region (registry/region.hpp)
  bool leading_null, in_memory;
  int32_t passed_teams;
  uint64_t trip_count;
  GpuGrid grid;
  const char* place;      // as in Launch
  int32_t node;           // likewise: by device(k), or a hint (marline_task_node); 0: any
  int32_t region_number;  // Launch::number
  const void* code;       // an address in the program behind the construct's call
  const char* name;       // until the task has been ended; or null
  int32_t priority;
  uint32_t dependence_count;
  const marline_dependence_t* dependences;
  uint64_t graph, step;  // as in marline_target_task_t
  ReducedItem* reduced;  // a block of its own, or null
  uint32_t reduced_count;
  const marline_device_maps_t* maps;  // of GCC's code, whose arrays stay until the task has been ended; null: Clang's
};

void free_captured(CapturedTask* task);

// As marline_target_observer_t, of which it is a part.
struct CaptureSink {
  // Whether tasks for the device may be taken; what is not wanted is not looked at.
  bool (*wants)(int64_t device);
  // The result takes the task, which is the sink's to free from then on. Null: it is not taken, and runs as any other.
  void* (*take)(CapturedTask* task);
  void (*ordered)(void* taken, const uint64_t* numbers, size_t count, size_t others);
  void (*others_ended)(void* taken);
  void (*ready)(void* taken);
  void (*waits)(marline_wait_kind_t kind);
  void (*cancels)();
  void (*raised)(uint64_t number, int32_t priority);
  void (*ended)(uint64_t number);
  void (*iterates)(uint64_t graph, bool is_behind);
  void (*iterated)(uint64_t graph);
  void (*graph_ends)(uint64_t graph);
  void (*awaited)(uint64_t number);
  bool (*repeats)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  bool (*reduced)(void* copy);
  bool (*renews)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  bool (*again)(const marline_target_task_t& task);
};

// From now on, to the end. There is one sink; a second one ends the program.
void capture_to(const CaptureSink* sink);

// From now on, to the end: what the depend clauses of target tasks name is kept (named.hpp).
void capture_names();

// For offload/abi: what these two start, now or when they are called; and the sink, once there is one.
void set_capture_start(void (*start)());
[[nodiscard]] const CaptureSink* capture_sink();

// Deferred target regions that are given to a device before those that they stand behind have ended
// (submission/queue/submitted_tasks.cpp), for devices that take them so: Device::takes_ahead. From now on, for a device
// that is being started.
void start_ahead();
// In a fork's child, which has none of the tasks.
void forget_ahead();

// For offload/abi: what these two do.
struct AheadRoom {
  void (*start)();
  void (*forget)();
};
void set_ahead(const AheadRoom* room);

}  // namespace marline::offload::device
