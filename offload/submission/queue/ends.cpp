// SPDX-License-Identifier: Apache-2.0
//
// Ends claimed tasks in the progress hook: finishes the maps of a region or data construct, copies data back to the
// host, and ends the task itself. The hook does this because a task must not end in a call from the runtime.
#include "base/make.hpp"
#include "base/lock.hpp"
#include "data/order/submitted_constructs.hpp"
#include "submission/queue/submission.hpp"
#include "submission/queue/tool_events.hpp"

namespace marline::offload::submission {

namespace {

Ending* g_spare = nullptr;  // used by the progress hook only, which one thread runs at a time

// Leaves the task to the runtime. If the task can have successors, its record stays until the task has ended, so that
// the successors are not submitted earlier.
void leave(SubmittedTask* one) {
  CapturedTask* task = one->task;
  marline_claimed_t* handle = task->handle;
  bool is_named = task->dependence_count != 0;
  free_captured(task);
  one->task = nullptr;
  if (!is_named) {
    Guard guard(g_submission.lock);
    g_submission.claimed.remove(one->key);
    destroy(one);
  }
  marline_claimed_run(handle);
}

struct CopyHome : Operation {
  SubmittedTask* of = nullptr;
};

bool copy_ended(Operation* operation) {
  auto* copy = static_cast<CopyHome*>(operation);
  int pushed = 0;
  {
    Guard guard(g_submission.lock);
    if (--copy->of->ending->copies_left == 0) push_end(copy->of, pushed);
  }
  destroy(copy);
  notify_hook(pushed);
  count_in_parts(-1);
  return true;
}

void start_copies(SubmittedTask* one) {
  Device* device = one->device;
  Ending& ending = *one->ending;
  uint32_t count = ending.plan.copies.count();
  ending.copies_left = count;
  for (uint32_t i = 0; i < count; ++i) {
    Transfer transfer = ending.plan.copies[i];
    DeviceCopy made = {transfer.device, transfer.host, transfer.bytes, false};
    report_copies(one->task->items.reported, one->device, &made, 1, one->reported_copies);
    auto* copy = make<CopyHome>("a deferred target region");
    copy->ended = copy_ended;
    copy->of = one;  // when the last copy has ended, another thread may end and free `one`
    count_in_parts(1);
    (void)device->kind->early->start_copies(device, {&made, 1, nullptr, 0, true}, copy);
  }
  if (device->holds_for_waits) device->kind->early->waits(device, false);
}

void end(SubmittedTask* one) {
  marline_claimed_t* handle = one->task->handle;
  report_copies_done(one->reported_copies);
  end_report(one->task->items.reported);
  if (one->shown != nullptr) {
    remove_pending(one->shown);
    destroy(one->shown);
  }
  {
    Guard guard(g_submission.lock);
    g_submission.claimed.remove(one->key);
  }
  free_captured(one->task);
  destroy(one);
  marline_claimed_end(handle);
}

enum class Step { kDone, kAgain, kGoesOn };

void end_data(SubmittedTask* one) {
  DataEnvironment& mapping = *one->device->mapping;
  report_copies_done(one->reported_copies);
  if (one->task->kind == ConstructKind::kEnterData) finish_enter(mapping, one->ending->plan);
  if (one->task->kind == ConstructKind::kExitData) mapping.finish_end(one->task->items, one->ending->plan);
  if (one->ending != nullptr) destroy(one->ending);
  end(one);
}

// Ends a construct after its operation has ended. A region's maps end with it.
Step end_task(SubmittedTask* one) {
  if (one->task->kind != ConstructKind::kTarget) {
    end_data(one);
    return Step::kDone;
  }
  DataEnvironment& mapping = *one->device->mapping;
  report_copies_done(one->reported_copies);
  report_kernel_done(one->task->items.reported, *one);
  report_release(one->task->items.reported, one->device, one->copies);
  for (uint64_t copy : one->copies) one->device->kind->release(one->device, copy);
  one->copies.clear();
  if (one->ending == nullptr || !one->ending->has_begun) {
    if (g_spare == nullptr) g_spare = make<Ending>("a deferred target region");
    Ending* ending = one->ending != nullptr ? one->ending : g_spare;
    // Some of the data is in flight for another construct.
    if (!begin_end(mapping, one->task->items, ending->plan, one->key)) return Step::kAgain;
    bool is_over = ending == g_spare && ending->plan.entries.is_empty() && ending->plan.copies.count() == 0;
    if (!is_over) {
      ending->has_begun = true;
      if (ending == g_spare) g_spare = nullptr;
      one->ending = ending;
      if (one->ending->plan.copies.count() != 0) {
        start_copies(one);
        return Step::kGoesOn;
      }
    }
  }
  if (one->ending != nullptr) {
    mapping.finish_end(one->task->items, one->ending->plan);
    destroy(one->ending);
  }
  end(one);
  return Step::kDone;
}

SubmittedTask* pop_end() {
  Guard guard(g_submission.lock);
  return g_submission.to_end.pop();
}

}  // namespace

int end_tasks(void*) {
  bool is_copying = g_submission.in_parts.load(std::memory_order_relaxed) != 0;  // relaxed, as it is only a hint
  Device* device = g_submission.device.load();
  int copied = is_copying && device->kind->early->copy_part(device) ? 1 : 0, ended = 0;
  IntrusiveList<SubmittedTask> later;
  while (SubmittedTask* one = pop_end()) {
    Step step = Step::kDone;
    one->is_left_to_runtime() ? leave(one) : void(step = end_task(one));
    if (step == Step::kAgain) {
      later.push(one);
    } else {
      ++ended;
    }
  }
  {
    Guard guard(g_submission.lock);
    g_submission.to_end.append(later);
    g_submission.counted -= ended;
  }
  if (ended != 0) marline_progress_add(g_submission.hook, -ended);
  return ended + copied;
}

}  // namespace marline::offload::submission
