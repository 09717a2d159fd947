// SPDX-License-Identifier: Apache-2.0
//
// Recording without records (MARLINE_TRACE_AGGREGATE): each thread adds up where its time goes, in memory that does not
// grow with the run, and the process's description holds the sums at the end. A thread is in one place at a time: the
// code of a row (sums/rows.hpp), a wait, MPI, or no parallel region. Each event that moves it reads the clock once.
//
// Everything here belongs to the calling thread; sums of others are read at the end of the run only, by loads that may
// miss what the thread does at that moment.
#ifndef MARLINE_TRACE_SUMS_SUMS_HPP
#define MARLINE_TRACE_SUMS_SUMS_HPP

#include <stdint.h>

#include "base/clock.hpp"
#include "sums/rows.hpp"

namespace marline::trace {

// Where threads are that run no code of a row.
enum Place { kOutside, kInBarrier, kInTaskwait, kInLock, kNotRecorded, kPlaces };

// Of one row and thread; times in cycles. `time`: in its code, of MPI in its calls. `waited`: in the barrier after it;
// of MPI until the calls returned, times at which their tasks were suspended included. `least`, `most`: of one task.
struct Sum {
  uint64_t count, time, waited, least, most, bytes;
};

// The word that OMPT keeps for the tool in each task: where a thread is that runs it, and for how long it has run.
// 0: the task began before anything was added up, and counts as code of row kOthersRow.
class TaskWord {
 public:
  explicit TaskWord(uint64_t word) : word_(word) {}
  static TaskWord implicit(unsigned row) { return TaskWord(uint64_t{row} << kTimeBits); }
  static TaskWord explicit_task(unsigned row) { return TaskWord(kExplicit | uint64_t{row} << kTimeBits); }

  uint64_t value() const { return word_; }
  bool is_explicit() const { return (word_ & kExplicit) != 0; }
  // In a call of MPI: the row is then that of the function.
  bool in_mpi() const { return (word_ & kInMpi) != 0; }
  unsigned row() const { return static_cast<unsigned>(word_ >> kTimeBits) & (kMostRows - 1); }
  uint64_t time() const { return word_ & kMostTime; }
  // Where a task waits: kOutside if it does not.
  Place wait() const { return static_cast<Place>(word_ >> kWaitShift & 7); }

  TaskWord with_row(unsigned row) const {
    return TaskWord((word_ & ~(uint64_t{kMostRows - 1} << kTimeBits)) | uint64_t{row} << kTimeBits);
  }
  TaskWord with_wait(Place wait) const {
    return TaskWord((word_ & ~(uint64_t{7} << kWaitShift)) | uint64_t{wait} << kWaitShift);
  }
  TaskWord with_mpi(bool in_mpi) const { return TaskWord(in_mpi ? word_ | kInMpi : word_ & ~kInMpi); }
  // A day at 3 GHz; then the time stays.
  TaskWord longer_by(uint64_t cycles) const {
    return TaskWord((word_ & ~kMostTime) | (cycles < kMostTime - time() ? time() + cycles : kMostTime));
  }

 private:
  static constexpr int kTimeBits = 48, kWaitShift = kTimeBits + kRowBits;
  static constexpr uint64_t kMostTime = (uint64_t{1} << kTimeBits) - 1;
  static constexpr uint64_t kExplicit = uint64_t{1} << 62, kInMpi = uint64_t{1} << 63;
  uint64_t word_;
};

class ThreadSums {
 public:
  // The calling thread's; null if there is no memory, or nothing is added up any more. Made by its first event.
  static ThreadSums* mine() { return __builtin_expect(mine_ != nullptr, 1) ? mine_ : begin_mine(); }

  // From now on the thread runs the task with this word; null: no task. What it did up to now counts where it was.
  void run(uint64_t* word);
  // The same task goes on, whose word has changed.
  void go_on() { run(word_); }
  // The thread waits: its task is `word`, which may be null.
  void wait(Place place, uint64_t* word);

  // The task in `word` has ended, or its code has. The thread still runs it.
  void count_task(uint64_t* word);
  void count(unsigned row) {
    if (!off_) store(sums_[row].count, sums_[row].count + 1);
  }
  // The thread enters a call of MPI, with the row of its function. Returns the row where it was.
  unsigned enter_call(unsigned row);
  // The call has returned, perhaps on another thread. `outer`: what enter_call returned.
  void leave_call(unsigned row, unsigned outer, uint64_t began, uint64_t bytes);

  // The construct that the next barrier is for.
  void set_last(unsigned row) { last_ = row; }
  void set_last_if_none(unsigned row) {
    if (last_ == kOthersRow) last_ = row;
  }
  uint64_t* word() const { return word_; }
  unsigned row_of(const RowName& name) { return cache_.row_of(name); }

  // Adds what the thread has to the sums of the process, and forgets it.
  void end();
  void begin_worker() {
    is_openmp_ = true;
    go_on();
  }

 private:
  static ThreadSums* begin_mine();
  static void prepare();
  static void end_at_exit(void* sums);
  // Written by this thread, read by the one that writes the description: whole words, in any order.
  static void store(uint64_t& to, uint64_t value) { __atomic_store_n(&to, value, __ATOMIC_RELAXED); }
  void charge(uint64_t now);
  void go_to(uint64_t* word);
  void add(uint64_t from, uint64_t to);
  void follow(uint64_t now);
  bool is_code(const uint64_t* into) const { return into < places_ || into >= places_ + kPlaces; }

  static constinit thread_local ThreadSums* mine_ __attribute__((tls_model("initial-exec")));

  uint64_t since_;     // when the thread came to where it is
  uint64_t* into_;     // what its time there is added to
  uint64_t* word_;     // of the task that it runs; or null
  uint64_t switches_;  // load_switches() at the last event
  bool off_;           // recording is off
  uint64_t epoch_;     // of restart_sums(), at the last event
  bool is_openmp_;     // else it runs the program's code where it has no task
  unsigned last_;      // row of the construct that was left since the last barrier; kOthersRow: none
  ThreadSums* next_;   // of all threads
  RowCache cache_;
  uint64_t places_[kPlaces];
  Sum sums_[kMostRows];

  friend class ProcessSums;
};

// The sums go into the description (base/metadata.hpp). Once, while the recorder starts.
void begin_sums();
// MPI_Init has returned: forgets what was before, which each rank did at a time of its own.
void restart_sums();
// Nothing is added up any more. Any thread, any number of times.
void end_sums();
// A parallel region of an initial task ended now: threads that wait in its barrier, until their runtime tells them of
// the next region, are in none.
void note_region_end();

}  // namespace marline::trace

#endif
