// SPDX-License-Identifier: Apache-2.0
//
// Recording without records (MARLINE_TRACE_AGGREGATE): each thread adds up where its time goes, in memory that does not
// grow with the run, and the process's description holds the sums at the end. A thread is in one place at a time: the
// code of a row (sums/rows.hpp), a wait, or no parallel region. Each event that moves it reads the clock once.
//
// Times are of the recorded clock (base/recorder.hpp), which stands still while recording is off.
//
// Everything here belongs to the calling thread. Another thread reads it when it writes the description, by loads that
// may miss what the thread does at that moment, or count that twice.
#ifndef MARLINE_TRACE_SUMS_SUMS_HPP
#define MARLINE_TRACE_SUMS_SUMS_HPP

#include <stdint.h>

#include "base/recorder.hpp"
#include "sums/rows.hpp"

namespace marline::trace {

// Where threads are that run no code of a row.
enum Place { kOutside, kInBarrier, kInTaskwait, kInLock, kPlaces };

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

// When regions of one initial thread ended, which begins them one after the other. LLVM's runtime tells a worker that
// its barrier at the region's end is over when it has the next region for it: until then the thread was in none. The
// number of a region is how many had ended when it began, so its end is known while it is among the newest kKept ones;
// later the oldest of these takes its place.
class RegionEnds {
 public:
  void note(uint64_t time);
  uint64_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }  // pairs with the release in note()
  // 0: it has not ended.
  uint64_t end_of(uint64_t number) const;

 private:
  static constexpr uint64_t kKept = 256;
  uint64_t count_, times_[kKept];
};

// What a thread knows of the implicit task that it runs.
struct Frame {
  unsigned index;          // of the thread in its team
  unsigned last;           // row of the construct that it left since the last barrier; kOthersRow: none
  const RegionEnds* ends;  // of the initial thread that began the region; or null
  uint64_t number_of_region;
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
  // The two halves of run(): what the thread did up to now counts; then it runs another task. In between the word of
  // the task that it leaves gets the time for which that has run here, and the task counts if it has ended.
  void stop();
  void keep_time(uint64_t* word);
  void count_task(TaskWord word);
  void go_to(uint64_t* word);
  void count(unsigned row);

  // The thread entered a call of MPI at `began`, with the row of its function. Returns the row where it was.
  unsigned enter_call(unsigned row, uint64_t began);
  // The call has returned, perhaps on another thread. `outer`: what enter_call returned.
  void leave_call(unsigned row, unsigned outer, uint64_t began, uint64_t bytes);

  // Implicit tasks of nested regions lie within each other. Of the ones further inside nothing more is known.
  void push(const Frame& frame);
  void pop();
  Frame& frame() { return frames_[depth_ < kFrames ? depth_ : kFrames - 1]; }

  // Where the ends of regions are noted that its initial task begins; a number of them, from 0.
  unsigned slot() const { return slot_; }
  static RegionEnds& ends_at(unsigned slot);
  bool in_region() const { return depth_ > 0; }
  uint64_t* word() const { return word_; }
  unsigned row_of(const RowName& name) { return cache_.row_of(name); }

  void begin_worker() {
    is_openmp_ = true;
    go_on();
  }
  // Adds what the thread has to the sums of the process, and forgets it.
  void end();

 private:
  static constexpr int kFrames = 8;
  static constexpr unsigned kSlots = 16;  // of more initial threads, two share one, and last waits are inexact

  static ThreadSums* begin_mine();
  static void prepare();
  static void end_at_exit(void* sums);
  // Written by this thread, read by the one that writes the description: whole words, in any order.
  static void store(uint64_t& to, uint64_t value) { __atomic_store_n(&to, value, __ATOMIC_RELAXED); }
  void charge(uint64_t now);
  void restart();
  void add(uint64_t from, uint64_t to);

  static constinit thread_local ThreadSums* mine_ __attribute__((tls_model("initial-exec")));

  uint64_t since_;    // when the thread came to where it is
  uint64_t* into_;    // what its time there is added to
  uint64_t* word_;    // of the task that it runs; or null
  uint64_t ran_;      // time of that task that its word does not have yet
  bool counts_;       // the thread runs the code of an explicit task, outside of MPI
  uint64_t epoch_;    // of restart_sums(), at the last event
  bool is_openmp_;    // else it runs the program's code where it has no task
  ThreadSums* next_;  // of all threads
  int depth_;
  Frame frames_[kFrames];  // [0]: of an initial task
  unsigned slot_;
  RowCache cache_;
  uint64_t places_[kPlaces];
  Sum sums_[kMostRows];

  friend class ProcessSums;
};

// The sums go into the description (base/metadata.hpp). Once, while the recorder starts.
void begin_sums();
// MPI_Init has returned: forgets what was before, which each rank did at a time of its own.
void restart_sums();
// The run has ended. Any thread, any number of times.
void end_sums();

}  // namespace marline::trace

#endif
