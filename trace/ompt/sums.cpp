// SPDX-License-Identifier: Apache-2.0
//
// OMPT callbacks of a recorder that keeps sums (OpenMP 5.2, 19.5.2): each moves the thread from one place to another
// (sums/sums.hpp). A task's word says where a thread is that runs it, so that the thread finds back after it has run
// other tasks in a wait, and another thread finds on.
#include "base/clock.hpp"
#include "ompt/callbacks.hpp"
#include "ompt/set.hpp"
#include "sums/sums.hpp"

namespace marline::trace {
namespace {

constexpr uint8_t kSingle = 3, kSingleOthers = 4;  // ompt_work_single_executor, ompt_work_single_other

// Constructs that share out work. Of ompt_work_t a taskloop makes tasks, and a scope is code as any other.
bool shares_work(uint64_t kind) {
  constexpr uint64_t kShared = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 0xfu << 10;
  return kind < 16 && (kShared >> kind & 1) != 0;
}

Place place_of(ompt_sync_region_t kind) {
  switch (kind) {
    case ompt_sync_region_taskwait:
    case ompt_sync_region_taskgroup: return kInTaskwait;
    case ompt_sync_region_reduction: return kOutside;  // no wait
    default: return kInBarrier;
  }
}

// The word of a region: its row; of one that an initial task began also the slot of that task's thread, plus 1, and the
// number of the region there (RegionEnds).
struct RegionWord {
  static constexpr int kSlotShift = kRowBits, kNumberShift = 16;  // slots below 32
  uint64_t value;

  unsigned row() const {
    const unsigned row = static_cast<unsigned>(value) & (kMostRows - 1);
    return row == 0 ? kSerialRow : row;
  }
  unsigned slot_after() const {
    return static_cast<unsigned>(value >> kSlotShift) & ((1u << (kNumberShift - kSlotShift)) - 1);
  }
  uint64_t number() const { return value >> kNumberShift; }
};

RegionWord region(const ompt_data_t* parallel) { return {parallel == nullptr ? 0 : parallel->value}; }

void sum_thread_begin(ompt_thread_t, ompt_data_t*) {
  if (ThreadSums* sums = ThreadSums::mine()) sums->begin_worker();
}

void sum_thread_end(ompt_data_t*) {
  if (ThreadSums* sums = ThreadSums::mine()) sums->end();
}

void sum_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned, int, const void* code) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr) return;
  const unsigned row = sums->row_of({Sort::kRegion, 0, address(code), nullptr});
  parallel->value = row;
  if (!sums->in_region()) {
    const uint64_t number = ThreadSums::ends_at(sums->slot()).count();
    parallel->value |= uint64_t{sums->slot() + 1} << RegionWord::kSlotShift | number << RegionWord::kNumberShift;
  }
  sums->count(row);
}

void sum_parallel_end(ompt_data_t* parallel, ompt_data_t* encountering, int, const void*) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr) return;
  const unsigned slot = region(parallel).slot_after();
  if (slot != 0) ThreadSums::ends_at(slot - 1).note(recorded_time(read_cycles()));
  sums->run(encountering == nullptr ? nullptr : &encountering->value);
}

void sum_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned,
                       unsigned index, int flags) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr) return;
  const bool is_initial = (flags & ompt_task_initial) != 0;
  if (endpoint == ompt_scope_begin) {
    const RegionWord word = region(parallel);
    task->value = TaskWord::implicit(is_initial ? kSerialRow : word.row()).value();
    sums->run(&task->value);
    const unsigned slot = word.slot_after();
    const RegionEnds* ends = slot == 0 ? nullptr : &ThreadSums::ends_at(slot - 1);
    if (!is_initial) sums->push({index, kOthersRow, ends, word.number()});
  } else {
    sums->run(nullptr);
    if (!is_initial) sums->pop();
  }
}

void sum_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int, const void* code) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr || (flags & ompt_task_taskwait) != 0) return;
  const char* label = nullptr;
  uint32_t color = 0;
  if (task_info != nullptr && *names_used != 0) task_info(&label, &color);
  task->value = TaskWord::explicit_task(sums->row_of({Sort::kTask, 0, address(code), label})).value();
}

void sum_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr) return;
  const bool has_ended = status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
  const bool leaves = has_ended || status == ompt_task_yield || status == ompt_task_switch;
  const bool leaves_own = leaves && prior != nullptr && &prior->value == sums->word();
  if (next == nullptr && !leaves_own) return;
  sums->stop();
  if (leaves_own) {
    sums->keep_time(&prior->value);
    if (has_ended) sums->count_task(TaskWord(prior->value));
  }
  sums->go_to(next == nullptr ? nullptr : &next->value);
}

void sum_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                          ompt_data_t* task, const void*) {
  ThreadSums* sums = ThreadSums::mine();
  const Place place = place_of(kind);
  if (sums == nullptr || place == kOutside) return;
  uint64_t* word = task == nullptr ? sums->word() : &task->value;
  if (endpoint == ompt_scope_begin) {
    unsigned& last = sums->frame().last;
    if (place == kInBarrier && word != nullptr && last == kOthersRow) last = TaskWord(*word).row();
    sums->wait(place, word);
  } else if (endpoint == ompt_scope_end) {
    if (word != nullptr) {
      TaskWord after = TaskWord(*word).with_wait(kOutside);
      // GCC reports no end of a `single`: a barrier ends it, too.
      if (place == kInBarrier && parallel != nullptr && !after.is_explicit()) {
        after = after.with_row(region(parallel).row());
      }
      *word = after.value();
    }
    sums->run(word);
    if (place == kInBarrier) sums->frame().last = kOthersRow;
  }
}

void sum_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, uint64_t,
              const void* code) {
  ThreadSums* sums = ThreadSums::mine();
  const auto kind = static_cast<uint8_t>(work);
  if (sums == nullptr || !shares_work(work)) return;
  uint64_t* word = task == nullptr ? sums->word() : &task->value;
  if (endpoint == ompt_scope_end) {  // its code address is another one than at the begin
    if (word == nullptr || TaskWord(*word).is_explicit()) return;
    *word = TaskWord(*word).with_row(region(parallel).row()).value();
  } else {
    const unsigned row =
        sums->row_of({Sort::kConstruct, kind == kSingleOthers ? kSingle : kind, address(code), nullptr});
    sums->frame().last = row;
    if (kind == kSingleOthers || word == nullptr || TaskWord(*word).is_explicit()) return;
    if (kind == kSingle || sums->frame().index == 0) sums->count(row);
    *word = TaskWord(*word).with_row(row).value();
  }
  sums->run(word);
}

// A test does not wait, and may fail without a further event.
void sum_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void*) {
  if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock) return;
  if (ThreadSums* sums = ThreadSums::mine()) sums->wait(kInLock, nullptr);
}

void sum_mutex_acquired(ompt_mutex_t, ompt_wait_id_t, const void*) {
  if (ThreadSums* sums = ThreadSums::mine()) sums->go_on();
}

// In place of mutex_acquired, of a lock that the task has already.
void sum_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  ThreadSums* sums = endpoint == ompt_scope_begin ? ThreadSums::mine() : nullptr;
  if (sums != nullptr) sums->go_on();
}

}  // namespace

void set_sums(ompt_set_callback_t set) {
  set_all(set,
          {callback(ompt_callback_thread_begin, sum_thread_begin), callback(ompt_callback_thread_end, sum_thread_end),
           callback(ompt_callback_parallel_begin, sum_parallel_begin),
           callback(ompt_callback_parallel_end, sum_parallel_end),
           callback(ompt_callback_implicit_task, sum_implicit_task)});
  set_wanted(
      set, kTaskEvents,
      {callback(ompt_callback_task_create, sum_task_create), callback(ompt_callback_task_schedule, sum_task_schedule)});
  set_wanted(set, kSyncEvents, {callback(ompt_callback_sync_region_wait, sum_sync_region_wait)});
  set_wanted(set, kWorkEvents, {callback(ompt_callback_work, sum_work)});
  set_wanted(
      set, kMutexEvents,
      {callback(ompt_callback_mutex_acquire, sum_mutex_acquire),
       callback(ompt_callback_mutex_acquired, sum_mutex_acquired), callback(ompt_callback_nest_lock, sum_nest_lock)});
}

}  // namespace marline::trace
