// SPDX-License-Identifier: Apache-2.0
//
// Finds out what a target task will do when it is created: from Clang's code by a dry run of its entry, from GCC's code
// by the arrays that it passes along.
#include "submission/observe/capture.hpp"

#include "registry/registry.hpp"
#include "submission/observe/captured_task.hpp"
#include "submission/observe/dry_run.hpp"

namespace marline::offload::submission {

using namespace registry;

CapturedTask* capture_task(const marline_target_task_t& task) {
  CapturedTask* captured = task.form == MARLINE_TARGET_ENTRY ? run_dry(task) : capture_maps(task);
  if (captured == nullptr) return nullptr;
  Destination to = destination_of(captured->device);
  captured->device_number = to.number;
  if (to.node != 0) captured->node = to.node;
  return captured;
}

void record_reduction(const marline_reduction_t* reduction) { record_reduction(*t_recording, *reduction); }

}  // namespace marline::offload::submission
