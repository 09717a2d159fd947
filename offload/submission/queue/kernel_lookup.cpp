// SPDX-License-Identifier: Apache-2.0
//
// Asks devices where they have the kernels of claimed tasks (submission.cpp). The tasks wait for the answer.
#include "base/make.hpp"
#include "submission/queue/submission.hpp"

#include "registry/registry.hpp"

namespace marline::offload::submission {

using namespace device;

namespace {

// One record for each kernel that is sought or missing. Searched only for a task with a kernel that has not been found
// yet. Guarded by g_submission.lock.
IntrusiveList<SoughtKernel> g_sought;

// Called when the device has answered.
bool kernel_found(Operation* operation) {
  auto* sought = static_cast<SoughtKernel*>(operation);
  {
    Guard guard(g_submission.lock);
    for (SubmittedTask* one : sought->waiting) {
      one->seeks_kernel = false;
      count_down(one);
    }
    sought->waiting.clear();
    sought->is_missing = where(sought->kernel, sought->device) == 0;
    if (!sought->is_missing) g_sought.remove(sought);
  }
  if (!sought->is_missing) destroy(sought);
  submit_ready();
  return true;
}

}  // namespace

// Called with the lock, for a task with a kernel that has not been found yet.
bool wait_for_kernel(SubmittedTask* one, SoughtKernel*& fresh) {
  SoughtKernel* sought = g_sought.first();
  while (sought != nullptr && (sought->kernel != one->task->kernel || sought->device != one->device))
    sought = sought->next;
  if (sought == nullptr) {
    fresh = sought = make<SoughtKernel>("a deferred target region");
    sought->ended = kernel_found;
    sought->kernel = one->task->kernel;
    sought->device = one->device;
    g_sought.push_first(sought);
  }
  if (sought->is_missing) return false;
  sought->waiting.push(one);
  one->seeks_kernel = true;
  ++one->missing;
  return true;
}

}  // namespace marline::offload::submission
