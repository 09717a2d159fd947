// SPDX-License-Identifier: Apache-2.0
//
// Target tasks as they are created (devices.h): what a kind of devices with early submission gets of each task, and how
// it asks for them. offload/submission/observe/capture.cpp collects it. Any thread may call these functions.
#pragma once

#include "items/items.hpp"
#include "base/reported_construct.hpp"
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
struct CapturedTask : PlacedInvocation {  // `node`: from device(k), or a hint (marline_task_node)
  const void* entry;                      // the function that the compiler generated for the construct
  marline_claimed_t* handle;              // of a submitted task, until the task has been ended
  uint64_t number;
  ConstructKind kind;
  int64_t device;  // as the program gives it; -1: the default device
  Items items;
  const void* code;  // an address in the program right after the call of the construct
  const char* name;  // valid until the task has been ended; may be null
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

// Starts early submission, for a device that is being started and has Device::takes_early: deferred target regions are
// submitted to it before their predecessors have ended (submission/queue/submission.cpp).
void start_submission();
// From now on until the program ends, the names in depend clauses of target tasks are kept (named.hpp). Must be called
// after start_submission, if that is called at all.
void capture_names();
// Called in the child of a fork, which has none of the tasks.
void forget_submission();

// For offload/submission, which devices do not see: the functions that start_submission, capture_names and
// forget_submission call. Set when the library is loaded.
struct SubmissionLayer {
  void (*start)();
  void (*start_names)();
  void (*forget)();
};
void set_submission_layer(const SubmissionLayer* layer);

}  // namespace marline::offload::device
