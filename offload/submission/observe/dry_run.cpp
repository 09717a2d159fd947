// SPDX-License-Identifier: Apache-2.0
//
// Runs the entries of target tasks dry. A table without locks records which entries have been examined: each word has
// an entry's address and whether the entry may be called. An entry whose word was overwritten for another entry is
// examined again.
#include "submission/observe/dry_run.hpp"

#include "base/report.hpp"
#include "device/contract/place.hpp"
#include "submission/observe/captured_task.hpp"
#include "submission/reductions.hpp"
#include "image/direct_calls.hpp"
#include "image/images.hpp"

#include <atomic>
#include <cassert>

namespace marline::offload::submission {

using namespace data;
using namespace image;

thread_local constinit Recording* t_recording = nullptr;

namespace {

constexpr const char* kConstructs = "__tgt_target_";  // the prefix of all entry points for constructs
constexpr uint32_t kWords = 1024;                     // words of the table, one per known entry
constexpr uint32_t kNear = 8;                         // number of words that may hold the same entry
constexpr uint64_t kIsKnown = 1, kMayBeCalled = 2, kShift = 2;

// Any thread that creates a target task reads and writes g_known and g_changes.
std::atomic<uint64_t> g_known[kWords];
// module_changes() for which the table is valid: after a change, an address may be that of other code.
std::atomic<uint32_t> g_changes{0};

void forget_closed_modules() {
  uint32_t changes = module_changes();
  // Acquire pairs with the store below: a thread that finds no change also finds the words wiped.
  if (g_changes.load(std::memory_order_acquire) == changes) return;
  for (std::atomic<uint64_t>& word : g_known) word.store(0, std::memory_order_relaxed);
  g_changes.store(changes, std::memory_order_release);
}

std::atomic<uint64_t>& word_near(uint64_t address, uint32_t step) {
  static_assert(kWords == 1u << (64 - 54));
  return g_known[((address * 0x9e3779b97f4a7c15 >> 54) + step) % kWords];
}

// Whether the entry's only effect is the call of a construct's entry point in this library. An entry that calls the
// runtime's function for thread_limit has another effect: the function changes the current task, which is the creator.
// The runtime's function for in_reduction may be called, as it knows of dry runs.
bool is_only_a_construct(const void* entry) {
  return calls_directly(entry, kConstructs, reinterpret_cast<const void*>(&is_only_a_construct)) &&
         !calls_directly(entry, "__kmpc_set_thread_limit");
}

// Whether the entry may be run dry. Its library cannot be closed meanwhile, as its task is being created.
bool may_be_called(const void* entry) {
  forget_closed_modules();
  auto address = reinterpret_cast<uint64_t>(entry);
  std::atomic<uint64_t>* free = nullptr;
  for (uint32_t step = 0; step < kNear; ++step) {
    std::atomic<uint64_t>& word = word_near(address, step);
    uint64_t known = word.load(std::memory_order_relaxed);  // relaxed: the word itself has the answer
    if (known >> kShift == address && (known & kIsKnown) != 0) return (known & kMayBeCalled) != 0;
    if (known == 0 && free == nullptr) free = &word;
  }
  bool may = is_only_a_construct(entry);
  if (free == nullptr) free = &word_near(address, 0);
  free->store(address << kShift | kIsKnown | (may ? kMayBeCalled : 0), std::memory_order_relaxed);
  return may;
}

// The stack frames of the entry and of the functions below it, down to the function that calls this one.
[[gnu::always_inline]] inline Frames frames_of(const Recording& recording) {
  return {reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), recording.stack_end};
}

bool is_first(Recording& recording) { return recording.calls++ == 0; }

}  // namespace

void record_region(Recording& recording, const Origin& call, int64_t device, void* id, int32_t teams, int32_t threads,
                   const KernelArguments& given) {
  const Entry* kernel = find_entry(id);
  if (!is_first(recording) || kernel == nullptr) return;
  Items items = items_of(given);
  KernelInvocation invocation;
  invocation.kernel = kernel;
  invocation.thread_limit = threads > 0 ? threads : 0;
  invocation.leading_null = note_convention(kernel, given.version);
  invocation.passed_teams = teams;
  invocation.trip_count = given.trip_count;
  invocation.grid = grid_of(given);
  if (recording.comparison != nullptr) return recording.comparison->compare(invocation, device, items);
  items.of_region = true;
  CapturedTask* task = make_captured(recording.reported, items, frames_of(recording));
  if (task == nullptr) return;
  task->kind = ConstructKind::kTarget;
  static_cast<KernelInvocation&>(*task) = invocation;
  task->device = device;
  task->place = place_of(call.ident);
  task->code = call.code;
  if (recording.reductions.is_empty() || name_reductions(recording.reductions, *task)) {
    recording.task = task;
  } else {
    free_captured(task);
  }
}

void record_reduction(Recording& recording, const marline_reduction_t& reduction) {
  recording.reductions.push(reduction);
}

void record_data(Recording& recording, const Origin& call, ConstructKind kind, int64_t device, const Items& items) {
  if (!is_first(recording) || recording.comparison != nullptr) return;
  CapturedTask* task = make_captured(recording.reported, items, frames_of(recording));
  if (task == nullptr) return;
  task->kind = kind;
  task->device = device;
  task->place = place_of(call.ident);
  task->code = call.code;
  recording.task = task;
}

// Not inlined, so that the frames of the functions that it calls lie below its own.
[[gnu::noinline]] CapturedTask* run_dry(const marline_target_task_t& reported) {
  if (!may_be_called(reinterpret_cast<const void*>(reported.entry))) return nullptr;
  Recording recording = {reported, reinterpret_cast<uintptr_t>(__builtin_frame_address(0))};
  t_recording = &recording;
  reported.entry(reported.thread, reported.block);
  assert(t_recording == &recording);  // the entry has not suspended
  t_recording = nullptr;
  if (recording.calls == 0) {
    fatal(
        "a target task's entry at %p ran when the task was created: its calls of __tgt_target_* are not those of this "
        "library; remove the other one",
        reinterpret_cast<void*>(reported.entry));
  }
  if (recording.calls == 1) return recording.task;
  free_captured(recording.task);  // the entry has several constructs, and it is not known which one the task executes
  return nullptr;
}

void compare_dry(const marline_target_task_t& reported, RegionComparison& comparison) {
  Recording recording = {reported, 0};
  recording.comparison = &comparison;
  t_recording = &recording;
  reported.entry(reported.thread, reported.block);
  t_recording = nullptr;
  if (recording.calls != 1) comparison.is_same = false;
}

}  // namespace marline::offload::submission
