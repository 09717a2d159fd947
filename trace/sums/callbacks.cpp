// SPDX-License-Identifier: Apache-2.0
//
// OMPT callbacks of a recorder that aggregates (OpenMP 5.2, 19.5.2): each moves the thread from one place to another
// (sums/sums.hpp). A task's word says where a thread is that runs it, so that the thread finds back after it has run
// other tasks in a wait, and another thread finds on.
#include "sums/callbacks.hpp"

#include <initializer_list>

#include "base/clock.hpp"
#include "base/kinds.hpp"
#include "base/recorder.hpp"
#include "sums/sums.hpp"

namespace marline::trace {
namespace {

using TaskInfo = int (*)(const char** label, uint32_t* color);
TaskInfo task_label;           // Marline's query for the task that is being created; or null
const uint32_t* labels_exist;  // 0 as long as no task has been given a label

constexpr uint8_t kSingle = 3, kSingleOthers = 4;  // ompt_work_single_executor, ompt_work_single_other

uint64_t address(const void* code) { return reinterpret_cast<uint64_t>(code); }

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

void on_thread_begin(ompt_thread_t, ompt_data_t*) {
  if (ThreadSums* sums = ThreadSums::mine()) sums->begin_worker();
}

void on_thread_end(ompt_data_t*) {
  if (ThreadSums* sums = ThreadSums::mine()) sums->end();
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned, int, const void* code) {
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

void on_parallel_end(ompt_data_t* parallel, ompt_data_t* encountering, int, const void*) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr) return;
  const unsigned slot = region(parallel).slot_after();
  if (slot != 0) ThreadSums::ends_at(slot - 1).note(recorded_time(read_cycles()));
  sums->run(encountering == nullptr ? nullptr : &encountering->value);
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned,
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

void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int, const void* code) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr || (flags & ompt_task_taskwait) != 0) return;
  const char* label = nullptr;
  uint32_t color = 0;
  if (task_label != nullptr && *labels_exist != 0) task_label(&label, &color);
  task->value = TaskWord::explicit_task(sums->row_of({Sort::kTask, 0, address(code), label})).value();
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  ThreadSums* sums = ThreadSums::mine();
  if (sums == nullptr) return;
  const bool has_ended = status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
  const bool leaves = has_ended || status == ompt_task_yield || status == ompt_task_switch;
  if (prior != nullptr && leaves && &prior->value == sums->word()) {
    if (has_ended) {
      sums->count_task(&prior->value);
    } else {
      sums->suspend(&prior->value);
    }
  }
  if (next != nullptr) {
    sums->run(&next->value);
  } else if (leaves && prior != nullptr && &prior->value == sums->word()) {
    sums->run(nullptr);
  }
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
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

void on_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, uint64_t,
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
void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void*) {
  if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock) return;
  if (ThreadSums* sums = ThreadSums::mine()) sums->wait(kInLock, nullptr);
}

void on_mutex_acquired(ompt_mutex_t, ompt_wait_id_t, const void*) {
  if (ThreadSums* sums = ThreadSums::mine()) sums->go_on();
}

// In place of mutex_acquired, of a lock that the task has already.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  ThreadSums* sums = endpoint == ompt_scope_begin ? ThreadSums::mine() : nullptr;
  if (sums != nullptr) sums->go_on();
}

struct Callback {
  ompt_callbacks_t which;
  ompt_callback_t function;
};

template <class Function>
Callback callback(ompt_callbacks_t which, Function function) {
  return {which, reinterpret_cast<ompt_callback_t>(function)};
}

void set_wanted(ompt_set_callback_t set, Events events, std::initializer_list<Callback> callbacks) {
  if (!wanted(events)) return;
  for (const Callback& one : callbacks) set(one.which, one.function);
}

}  // namespace

void register_sums(ompt_function_lookup_t lookup) {
  static constexpr uint32_t kAlways = 1;
  using NamesUsed = const uint32_t* (*)();
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  const auto used = reinterpret_cast<NamesUsed>(lookup("marline_names_used"));
  task_label = reinterpret_cast<TaskInfo>(lookup("marline_task_info"));
  labels_exist = used == nullptr ? &kAlways : used();
  for (const Callback& one :
       {callback(ompt_callback_thread_begin, on_thread_begin), callback(ompt_callback_thread_end, on_thread_end),
        callback(ompt_callback_parallel_begin, on_parallel_begin),
        callback(ompt_callback_parallel_end, on_parallel_end),
        callback(ompt_callback_implicit_task, on_implicit_task)}) {
    set(one.which, one.function);
  }
  set_wanted(
      set, kTaskEvents,
      {callback(ompt_callback_task_create, on_task_create), callback(ompt_callback_task_schedule, on_task_schedule)});
  set_wanted(set, kSyncEvents, {callback(ompt_callback_sync_region_wait, on_sync_region_wait)});
  set_wanted(set, kWorkEvents, {callback(ompt_callback_work, on_work)});
  set_wanted(
      set, kMutexEvents,
      {callback(ompt_callback_mutex_acquire, on_mutex_acquire),
       callback(ompt_callback_mutex_acquired, on_mutex_acquired), callback(ompt_callback_nest_lock, on_nest_lock)});
}

}  // namespace marline::trace
