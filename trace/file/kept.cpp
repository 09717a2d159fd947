// SPDX-License-Identifier: Apache-2.0
//
// See the header. The table is open addressing with linear probing. Several entries may have the same kind and id: the
// waits, calls and regions of a task nest. An entry is erased by moving the following ones up (Knuth, volume 3, 6.4,
// algorithm R), so that no places are used up by what has gone. The table grows with what is in use, so that it stays
// in the cache where little is: a table of N places begins at place N of its part of the file, so a table and the one
// of twice its size do not overlap.
#include "file/kept.hpp"

#include <string.h>

#include <initializer_list>

namespace marline::trace {
namespace {

constexpr u64 kIdBits = 48;
constexpr u64 kIds = (u64{1} << kIdBits) - 1;
constexpr u64 kLow = 0xffffffff;
constexpr u64 kGroups = 0xffff;
constexpr u64 kBegun = u64{1} << kIdBits;  // in the creation of a task: where a record has how long that took

u64 number_of(const Record& record) { return record.head & 0xffff; }
u64 id_of(const Record& record) { return record.head >> 16; }
Record entry(u64 time, u64 id, u64 number, u64 first = 0, u64 second = 0) {
  return {.time = time, .head = id << 16 | number, .payload = {first, second}};
}

// The status of a task_schedule after which the task runs no more (ompt_task_status_t): complete, cancel, late_fulfill,
// taskwait_complete.
bool ends_task(u64 status) { return status == 1 || status == 3 || status == 6 || status > 7; }

// The reader of a killed program's file trusts an entry that has a time.
void store(Record& to, const Record& record) {
  to.head = record.head;
  to.payload[0] = record.payload[0];
  to.payload[1] = record.payload[1];
  __atomic_signal_fence(__ATOMIC_RELEASE);
  *static_cast<volatile u64*>(&to.time) = record.time;
}

// ompt_mutex_t of an attempt to take a lock, which may fail: ompt_mutex_test_lock, ompt_mutex_test_nest_lock.
bool only_tries(u64 kind) { return kind == 2 || kind == 4; }

}  // namespace

void Kept::place(Record* tables, u64 places, Grow give_memory, Record* definitions, u64 most, Counts* counts) {
  tables_ = tables;
  largest_ = places / 2;
  give_memory_ = give_memory;
  use_table(kFirstPlaces / 2);
  definitions_ = definitions;
  room_ = most;
  counts_ = counts;
}

void Kept::use_table(u64 places) {
  table_ = tables_ + places;
  places_ = places;
  most_ = places - places / 4;
  shift_ = 64 - __builtin_ctzll(places);
}

Kept::Family Kept::family_of(const Record& entry) {
  static constexpr auto kFamilies = [] {
    struct Families {
      Family of[64];
    } made = {};
    made.of[event::task_create::kNumber] = made.of[event::implicit_begin::kNumber] = kLife;
    made.of[event::parallel_begin::kNumber] = kLife;
    made.of[event::task_run::kNumber] = kLife;  // an end that was folded before its creation
    made.of[event::task_label::kNumber] = kLabel;
    made.of[event::wait_begin::kNumber] = kWait;
    made.of[event::mutex_acquire::kNumber] = kLock;
    made.of[event::sync_begin::kNumber] = kSync;
    made.of[event::work_begin::kNumber] = kWork;
    made.of[event::region_begin::kNumber] = kRegion;
    made.of[event::mpi_enter::kNumber] = kCall;
    made.of[event::recording_on::kNumber] = kCurrent;
    made.of[event::text::kNumber] = kText;
    made.of[event::graph_iteration::kNumber] = kGraph;
    made.of[event::group_begin::kNumber] = kGroup;
    made.of[event::range_begin::kNumber] = kRange;
    made.of[event::range_end::kNumber] = kRange;  // folded before its begin
    return made;
  }();
  return kFamilies.of[entry.head & 63];  // entries have no other numbers
}

void Kept::fold(u64 thread, const Record* records, u64 count) {
  const i64 known = find(kCurrent, thread);
  const u64 before = known < 0 ? 0 : table_[known].payload[0];
  current_ = before;
  for (u64 i = 0; i < count; ++i) fold_one(thread, records[i]);
  if (count > 0 && records[count - 1].time > newest_) newest_ = records[count - 1].time;
  ++folded_;
  if (current_ != before) replace(entry(newest_, thread, event::recording_on::kNumber, current_));
}

void Kept::fold_one(u64 thread, const Record& record) {
  switch (number_of(record)) {
    case event::task_create::kNumber: begin_life(record); break;
    case event::task_run::kNumber:
      end_life(id_of(record), record.time);
      current_ = record.payload[1] & kIds;
      break;
    case event::task_schedule::kNumber:
      if (ends_task(record.payload[0] >> kIdBits)) end_life(id_of(record), record.time);
      if ((record.payload[0] & kIds) != 0) take_up(record.payload[0] & kIds);
      break;
    case event::implicit_begin::kNumber:
      begin_life(record);
      current_ = id_of(record);
      break;
    case event::implicit_end::kNumber:
      end_implicit(id_of(record));
      current_ = thread << 32;
      break;
    case event::parallel_begin::kNumber: begin_team(record); break;
    case event::parallel_end::kNumber:
      erase(kLife, record.payload[0] & kIds);
      current_ = id_of(record);
      break;
    case event::thread_end::kNumber:
    case event::recording_off::kNumber: current_ = thread << 32; break;
    case event::recording_on::kNumber: current_ = id_of(record); break;
    case event::task_label::kNumber: label(record); break;
    case event::wait_begin::kNumber: begin_scope(record); break;
    case event::wait_end::kNumber: end_scope(kWait, id_of(record)); break;
    case event::mutex_acquire::kNumber:
      if (!only_tries(record.payload[1] & 0xffff)) begin_scope(record);
      break;
    case event::mutex_acquired::kNumber: end_scope(kLock, id_of(record)); break;
    case event::sync_begin::kNumber: begin_scope(record); break;
    case event::sync_end::kNumber: end_scope(kSync, id_of(record)); break;
    case event::work_begin::kNumber: begin_scope(record); break;
    case event::work_end::kNumber: end_scope(kWork, id_of(record)); break;
    case event::region_begin::kNumber: begin_scope(record); break;
    case event::region_end::kNumber: end_scope(kRegion, id_of(record)); break;
    case event::group_begin::kNumber: begin_scope(record); break;
    case event::group_end::kNumber: end_group(record); break;
    case event::range_begin::kNumber: begin_range(record); break;
    case event::range_end::kNumber: end_range(record); break;
    case event::mpi_enter::kNumber: begin_scope(record); break;
    case event::mpi_exit::kNumber: end_scope(kCall, id_of(record)); break;
    case event::graph_iteration::kNumber: iteration(record); break;
    case event::text::kNumber: text(thread, record); break;
    case event::mpi_comm::kNumber:
    case event::mpi_member::kNumber:
    case event::device_begin::kNumber:
    case event::thread_name::kNumber:
    case event::counter_name::kNumber: define(record); break;
    default: break;
  }
}

// Lives of tasks and teams --------------------------------------------------------------------------------------------

// Once per task, as is end_life.
void Kept::begin_life(const Record& record) {
  const u64 at = probe(kLife, id_of(record));
  if (table_[at].time != 0) {
    if (number_of(table_[at]) == event::task_run::kNumber) erase(at);
    return;
  }
  Record begun = record;
  if (number_of(record) == event::task_create::kNumber) begun.payload[1] &= kIds;
  fill(at, begun);
}

// The thread turns to a task that is not run in one piece: that it has begun is noted in its creation.
void Kept::take_up(u64 id) {
  current_ = id;
  const i64 life = find(kLife, id);
  if (life >= 0 && number_of(table_[life]) == event::task_create::kNumber) {
    table_[life].payload[1] |= kBegun;
  }
}

void Kept::end_life(u64 id, u64 time) {
  const u64 at = probe(kLife, id);
  if (table_[at].time == 0) {
    fill(at, entry(time, id, event::task_run::kNumber));
    return;
  }
  erase(at);
  if (labels_) erase(kLabel, id);
}

// The entry's id is the team's; the task that began it takes the team's place among the fields.
void Kept::begin_team(const Record& record) {
  put(entry(record.time, record.payload[1] & kIds, event::parallel_begin::kNumber, record.payload[0],
            (record.payload[1] & ~kIds) | id_of(record)));
}

// A label follows the creation of its task in the same window or the next. Without that creation the task has ended.
void Kept::label(const Record& record) {
  labels_ = true;
  if (find(kLife, id_of(record)) >= 0) replace(record);
}

// Waits, calls and regions of implicit tasks, and of threads outside of tasks: their records are all of one thread, so
// they are folded in order. Explicit tasks may go on elsewhere; what they are in ends with the first record that says
// so, or does not matter because they run no more.
void Kept::begin_scope(const Record& record) {
  const u64 id = id_of(record);
  const bool is_thread = (id & 0xffffffff) == 0;
  const i64 life = is_thread ? -1 : find(kLife, id);
  if (is_thread || (life >= 0 && number_of(table_[life]) == event::implicit_begin::kNumber)) put(record);
}

void Kept::end_scope(Family family, u64 id) { erase_newest(family, id, false, 0); }

// Annotations nest within a task and group, and overlap those of other groups.
void Kept::end_group(const Record& record) { erase_newest(kGroup, id_of(record), true, record.payload[0] & kGroups); }

// The newest entry of that kind and id, and of that group if `grouped`.
void Kept::erase_newest(Family family, u64 id, bool grouped, u64 group) {
  i64 newest = -1;
  for (u64 at = home(family, id); table_[at].time != 0; at = (at + 1) & (places_ - 1)) {
    if (id_of(table_[at]) != id || family_of(table_[at]) != family) continue;
    if (grouped && table_[at].payload[0] >> kIdBits != group) continue;
    if (newest < 0 || table_[at].time > table_[newest].time) newest = static_cast<i64>(at);
  }
  if (newest >= 0) erase(static_cast<u64>(newest));
}

// The entry's id is the range's number. The task takes that number's place among the fields, and its upper part the
// unused bits above the text.
void Kept::begin_range(const Record& record) {
  const u64 task = id_of(record);
  const u64 range = record.payload[1] & kLow;
  if (erase(kRange, range)) return;  // its end
  put(entry(record.time, range, event::range_begin::kNumber, (record.payload[0] & kIds) | task >> 32 << kIdBits,
            (record.payload[1] & ~kLow) | (task & kLow)));
}

void Kept::end_range(const Record& record) {
  const u64 range = record.payload[0] & kLow;
  if (!erase(kRange, range)) put(entry(record.time, range, event::range_end::kNumber));
}

void Kept::end_implicit(u64 id) {
  for (const Family family : {kLife, kWait, kLock, kSync, kWork, kRegion, kGroup, kCall}) {
    while (erase(family, id)) {
    }
  }
}

// Of each graph the last iteration. The entry's id is the graph's; the producer stands above the other fields.
void Kept::iteration(const Record& record) {
  replace(entry(record.time, record.payload[0] & 0xffffffff, event::graph_iteration::kNumber, record.payload[0],
                (record.payload[1] & 0xffff) | id_of(record) << 16));
}

// Definitions ---------------------------------------------------------------------------------------------------------

// Several threads write the same text. The pieces of the first one are kept, up to the one with the NUL.
void Kept::text(u64 thread, const Record& record) {
  constexpr u64 kComplete = 1;
  i64 known = find(kText, id_of(record));
  if (known < 0) {
    // A text that cannot be kept must not take a place from tasks for good.
    if (counts_->definitions == room_) {
      ++counts_->lost;
      return;
    }
    put(entry(record.time, id_of(record), event::text::kNumber, 0, thread));
    known = find(kText, id_of(record));
    if (known < 0) return;  // no room
  }
  Record& state = table_[known];
  if (state.payload[0] == kComplete || state.payload[1] != thread) return;
  define(record);
  if (memchr(record.payload, 0, sizeof record.payload) != nullptr) state.payload[0] = kComplete;
}

void Kept::define(const Record& record) {
  if (counts_->definitions == room_) {
    ++counts_->lost;
    return;
  }
  definitions_[counts_->definitions] = record;
  // Pairs with nothing in this process: the reader of a killed program's file counts on complete records.
  __atomic_signal_fence(__ATOMIC_RELEASE);
  counts_->definitions = counts_->definitions + 1;
}

// The table -----------------------------------------------------------------------------------------------------------

u64 Kept::home(Family family, u64 id) const {
  // Fibonacci hashing (Knuth, volume 3, 6.4).
  return (id ^ static_cast<u64>(family) << kIdBits) * 0x9e3779b97f4a7c15 >> shift_;
}

u64 Kept::probe(Family family, u64 id) const {
  u64 at = home(family, id);
  while (table_[at].time != 0 && (id_of(table_[at]) != id || family_of(table_[at]) != family)) {
    at = (at + 1) & (places_ - 1);
  }
  return at;
}

i64 Kept::find(Family family, u64 id) const {
  const u64 at = probe(family, id);
  return table_[at].time != 0 ? static_cast<i64>(at) : -1;
}

void Kept::put(const Record& record) {
  u64 at = home(family_of(record), id_of(record));
  while (table_[at].time != 0) at = (at + 1) & (places_ - 1);
  fill(at, record);
}

// `place` is the end of the record's chain.
void Kept::fill(u64 place, const Record& record) {
  if (__builtin_expect(used_ >= most_, 0)) {
    if (make_room()) {
      put(record);  // all has moved
    } else {
      ++counts_->lost;
    }
    return;
  }
  store(table_[place], record);
  ++used_;
}

bool Kept::make_room() {
  if ((places_ >= largest_ || !grow()) && folded_ > swept_ + places_ / 4096) sweep();
  return used_ < most_;
}

// While both tables have the entries, a killed program's file has them twice, which does no harm.
bool Kept::grow() {
  Record* before = table_;
  const u64 count = places_;
  if (!give_memory_(4 * count)) return false;
  use_table(2 * count);
  for (u64 i = 0; i < count; ++i) {
    if (before[i].time == 0) continue;
    u64 at = home(family_of(before[i]), id_of(before[i]));
    while (table_[at].time != 0) at = (at + 1) & (places_ - 1);
    store(table_[at], before[i]);
  }
  memset(before, 0, count * sizeof(Record));
  return true;
}

void Kept::replace(const Record& record) {
  erase(family_of(record), id_of(record));
  put(record);
}

bool Kept::erase(Family family, u64 id) {
  const i64 found = find(family, id);
  if (found >= 0) erase(static_cast<u64>(found));
  return found >= 0;
}

void Kept::erase(u64 place) {
  u64 hole = place;
  for (u64 at = (hole + 1) & (places_ - 1); table_[at].time != 0; at = (at + 1) & (places_ - 1)) {
    const u64 wanted = home(family_of(table_[at]), id_of(table_[at]));
    // The entry may move to the hole unless its home lies between the hole and its place.
    if (((at - wanted) & (places_ - 1)) < ((at - hole) & (places_ - 1))) continue;
    *static_cast<volatile u64*>(&table_[hole].time) = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    table_[hole] = table_[at];
    hole = at;
  }
  *static_cast<volatile u64*>(&table_[hole].time) = 0;
  --used_;
}

// The table is full and cannot grow. Ends without a begin are dropped first: mostly the creation found no
// room. If that is not enough, all tasks and ranges are dropped, because some have ended whose ends found no room, and
// these would fill the table for ever. Later ones are kept again.
void Kept::sweep() {
  swept_ = folded_;
  erase_all(u64{1} << event::task_run::kNumber | u64{1} << event::range_end::kNumber);
  if (used_ > most_ / 2) {
    counts_->lost += erase_all(u64{1} << event::task_create::kNumber | u64{1} << event::task_label::kNumber |
                               u64{1} << event::range_begin::kNumber);
  }
}

// Erases the entries with these numbers of events (bits).
u64 Kept::erase_all(u64 numbers) {
  const u64 before = used_;
  for (u64 at = 0; at < places_;) {
    if (table_[at].time != 0 && (numbers >> number_of(table_[at]) & 1) != 0) {
      erase(at);  // another entry may have moved here
    } else {
      ++at;
    }
  }
  return before - used_;
}

}  // namespace marline::trace
