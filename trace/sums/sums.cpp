// SPDX-License-Identifier: Apache-2.0
#include "sums/sums.hpp"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/metadata.hpp"
#include "base/recorder.hpp"
#include "file/no_cancel.hpp"

namespace marline::trace {
namespace {

constexpr const char* kPlaceNames[] = {"outside", "barrier", "taskwait", "lock", "not_recorded"};
static_assert(sizeof kPlaceNames / sizeof *kPlaceNames == kPlaces);

pthread_once_t prepared = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;
uint64_t region_ended;  // written by threads that run an initial task
uint64_t ended_at;      // when end_sums was called first; 0: not yet
uint64_t restarts;      // how often restart_sums was called, and when last
uint64_t restarted_at;

uint64_t load(const uint64_t& value) { return __atomic_load_n(&value, __ATOMIC_RELAXED); }

struct ProcessSum {
  Sum sum;
  uint64_t longest;  // of a thread, in code of the row
  uint64_t threads;  // that were in it
};

}  // namespace

constinit thread_local ThreadSums* ThreadSums::mine_ = nullptr;

// What threads that have ended did, and the list of the others. Under the lock.
class ProcessSums {
 public:
  void join(ThreadSums* thread) {
    pthread_mutex_lock(&lock_);
    thread->next_ = threads_;
    threads_ = thread;
    if (begin_ == 0 || thread->since_ < begin_) begin_ = thread->since_;
    ++joined_;
    pthread_mutex_unlock(&lock_);
  }
  void leave(ThreadSums* thread) {
    pthread_mutex_lock(&lock_);
    ThreadSums** at = &threads_;
    while (*at != thread) at = &(*at)->next_;
    *at = thread->next_;
    add(*thread, gone_, gone_places_);
    pthread_mutex_unlock(&lock_);
  }
  void restart(uint64_t now) {
    pthread_mutex_lock(&lock_);
    memset(gone_, 0, sizeof gone_);
    memset(gone_places_, 0, sizeof gone_places_);
    begin_ = now;
    __atomic_store_n(&restarted_at, now, __ATOMIC_RELAXED);
    __atomic_store_n(&restarts, restarts + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock_);
  }
  void write(FILE* out);
  void forget() {  // in the child of a fork
    pthread_mutex_init(&lock_, nullptr);
    threads_ = nullptr;
  }

 private:
  static void add(const ThreadSums& thread, ProcessSum* sums, uint64_t* places);
  static void add_to_now(const ThreadSums& thread, uint64_t end, ProcessSum* sums, uint64_t* places);

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  ThreadSums* threads_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t joined_ = 0;
  ProcessSum gone_[kMostRows] = {};
  uint64_t gone_places_[kPlaces] = {};
};

namespace {

constinit ProcessSums all;

void write_all(FILE* out) { all.write(out); }

}  // namespace

void ProcessSums::add(const ThreadSums& thread, ProcessSum* sums, uint64_t* places) {
  for (int i = 0; i < kPlaces; ++i) places[i] += load(thread.places_[i]);
  const unsigned count = named_rows();
  for (unsigned row = 0; row < count; ++row) {
    const Sum& from = thread.sums_[row];
    ProcessSum& to = sums[row];
    const uint64_t time = load(from.time);
    if (time == 0 && load(from.count) == 0 && load(from.waited) == 0) continue;
    const uint64_t least = load(from.least), most = load(from.most);
    if (least != 0 && (to.sum.least == 0 || least < to.sum.least)) to.sum.least = least;
    if (most > to.sum.most) to.sum.most = most;
    if (time > to.longest) to.longest = time;
    to.sum.count += load(from.count);
    to.sum.time += time;
    to.sum.waited += load(from.waited);
    to.sum.bytes += load(from.bytes);
    ++to.threads;
  }
}

// What the thread has added, and the time since then, in which it is still where it came to last.
void ProcessSums::add_to_now(const ThreadSums& thread, uint64_t end, ProcessSum* sums, uint64_t* places) {
  uint64_t since = load(thread.since_);
  const uint64_t until = load(region_ended);
  if (load(thread.epoch_) == restarts) {
    add(thread, sums, places);
  } else if (since < restarted_at) {
    since = restarted_at;
  }
  const uint64_t* into = __atomic_load_n(&thread.into_, __ATOMIC_RELAXED);
  uint64_t rest = end > since ? end - since : 0;
  if (into == &thread.places_[kInBarrier] && until > since && until < end) {
    places[kOutside] += end - until;
    rest = until - since;
  }
  for (int i = 0; i < kPlaces; ++i) {
    if (into == &thread.places_[i]) places[i] += rest;
  }
  for (unsigned row = 0; row < kMostRows; ++row) {
    if (into != &thread.sums_[row].time) continue;
    sums[row].sum.time += rest;
    if (sums[row].threads == 0) sums[row].threads = 1;
    if (rest > sums[row].longest) sums[row].longest = rest;
  }
}

void ProcessSums::write(FILE* out) {
  static ProcessSum sums[kMostRows];  // under the lock
  uint64_t places[kPlaces];
  pthread_mutex_lock(&lock_);
  memcpy(sums, gone_, sizeof sums);
  memcpy(places, gone_places_, sizeof places);
  const uint64_t end = load(ended_at) != 0 ? load(ended_at) : read_cycles();
  for (ThreadSums* thread = threads_; thread != nullptr; thread = thread->next_) add_to_now(*thread, end, sums, places);
  fprintf(out, "  \"sums\": {\"begin\": %" PRIu64 ", \"end\": %" PRIu64 ", \"threads\": %" PRIu64, begin_, end,
          joined_);
  fprintf(out, ", \"full\": %s", named_rows() == kMostRows ? "true" : "false");
  for (int i = 0; i < kPlaces; ++i) fprintf(out, ", \"%s\": %" PRIu64, kPlaceNames[i], places[i]);
  fputs(", \"rows\": [", out);
  const char* separator = "";
  for (unsigned row = 0; row < named_rows(); ++row) {
    const ProcessSum& one = sums[row];
    if (one.threads == 0) continue;
    fprintf(out, "%s\n    {", separator);
    write_row_name(out, row);
    fprintf(out,
            ", \"count\": %" PRIu64 ", \"time\": %" PRIu64 ", \"waited\": %" PRIu64 ", \"least\": %" PRIu64
            ", \"most\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"longest\": %" PRIu64 ", \"threads\": %" PRIu64 "}",
            one.sum.count, one.sum.time, one.sum.waited, one.sum.least, one.sum.most, one.sum.bytes, one.longest,
            one.threads);
    separator = ",";
  }
  fputs("]},\n", out);
  pthread_mutex_unlock(&lock_);
}

void ThreadSums::prepare() {
  pthread_key_create(&exit_key, end_at_exit);
  pthread_atfork(nullptr, nullptr, [] {
    mine_ = nullptr;
    all.forget();
  });
}

ThreadSums* ThreadSums::begin_mine() {
  if (load(ended_at) != 0 || !aggregating()) return nullptr;
  const NoCancel no_cancel;
  pthread_once(&prepared, prepare);
  // Pages that no row needs are never touched.
  void* memory = mmap(nullptr, sizeof(ThreadSums), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* sums = static_cast<ThreadSums*>(memory);
  sums->since_ = read_cycles();
  sums->into_ = &sums->places_[kOutside];
  sums->switches_ = load_switches();
  sums->off_ = is_off(sums->switches_);
  sums->epoch_ = load(restarts);
  if (sums->off_) sums->into_ = &sums->places_[kNotRecorded];
  all.join(sums);
  mine_ = sums;
  pthread_setspecific(exit_key, sums);
  return sums;
}

void ThreadSums::end_at_exit(void* sums) { static_cast<ThreadSums*>(sums)->end(); }

void ThreadSums::end() {
  const NoCancel no_cancel;
  charge(read_cycles());
  all.leave(this);
  mine_ = nullptr;
  pthread_setspecific(exit_key, nullptr);
  munmap(this, sizeof *this);
}

void restart_sums() {
  if (!aggregating()) return;
  all.restart(read_cycles());
}

// The time between two moments belongs to where the thread is.
void ThreadSums::add(uint64_t from, uint64_t to) {
  if (to <= from) return;
  uint64_t time = to - from;
  if (into_ == &places_[kInBarrier]) {
    const uint64_t until = load(region_ended);
    if (until > from && until < to) {
      store(places_[kOutside], places_[kOutside] + to - until);
      time = until - from;
    }
    Sum& last = sums_[last_];
    store(last.waited, last.waited + time);
  } else if (word_ != nullptr && is_code(into_)) {
    const TaskWord word(*word_);
    if (word.is_explicit() && !word.in_mpi()) *word_ = word.longer_by(time).value();
  }
  store(*into_, *into_ + time);
}

// Recording was switched, or MPI_Init has returned, since the thread's last event: until then it went on where it was.
void ThreadSums::follow(uint64_t now) {
  const uint64_t epoch = load(restarts);
  if (epoch != epoch_) {
    memset(places_, 0, sizeof places_);
    memset(sums_, 0, sizeof sums_);
    epoch_ = epoch;
    const uint64_t at = load(restarted_at);
    if (at > since_) store(since_, at);
  }
  const uint64_t switches = load_switches();
  const bool off = is_off(switches);
  if (off != off_) {
    const uint64_t at = switched_at(switches);
    const uint64_t moment = at < since_ ? since_ : at > now ? now : at;
    if (off) {
      add(since_, moment);
    } else {
      store(places_[kNotRecorded], places_[kNotRecorded] + moment - since_);
    }
    store(since_, moment);
    off_ = off;
  }
  switches_ = switches;
}

void ThreadSums::charge(uint64_t now) {
  if (__builtin_expect(load_switches() != switches_ || load(restarts) != epoch_, 0)) follow(now);
  if (__builtin_expect(off_, 0)) {
    if (now > since_) store(places_[kNotRecorded], places_[kNotRecorded] + now - since_);
  } else {
    const uint64_t end = load(ended_at);
    add(since_, end != 0 && end < now ? end : now);
  }
  store(since_, now);
}

void ThreadSums::run(uint64_t* word) {
  charge(read_cycles());
  go_to(word);
}

void ThreadSums::go_to(uint64_t* word) {
  word_ = word;
  uint64_t* into = !is_openmp_ ? &sums_[kSerialRow].time : &places_[kOutside];
  if (word != nullptr) {
    is_openmp_ = true;
    const TaskWord task(*word);
    into = task.wait() != kOutside ? &places_[task.wait()] : &sums_[task.row()].time;
  }
  __atomic_store_n(&into_, into, __ATOMIC_RELAXED);
}

void ThreadSums::wait(Place place, uint64_t* word) {
  charge(read_cycles());
  if (word != nullptr) *word = TaskWord(*word).with_wait(place).value();
  __atomic_store_n(&into_, &places_[place], __ATOMIC_RELAXED);
}

void ThreadSums::count_task(uint64_t* word) {
  charge(read_cycles());
  const TaskWord task(*word);
  if (off_ || !task.is_explicit()) return;
  Sum& sum = sums_[task.row()];
  store(sum.count, sum.count + 1);
  const uint64_t time = task.time() == 0 ? 1 : task.time();
  if (sum.least == 0 || time < sum.least) store(sum.least, time);
  if (time > sum.most) store(sum.most, time);
}

unsigned ThreadSums::enter_call(unsigned row) {
  charge(read_cycles());
  if (word_ == nullptr) {
    __atomic_store_n(&into_, &sums_[row].time, __ATOMIC_RELAXED);
    return kSerialRow;
  }
  const TaskWord task(*word_);
  *word_ = task.with_row(row).with_mpi(true).value();
  go_to(word_);
  return task.row();
}

void ThreadSums::leave_call(unsigned row, unsigned outer, uint64_t began, uint64_t bytes) {
  const uint64_t now = read_cycles();
  charge(now);
  if (!off_ && load(ended_at) == 0) {
    Sum& sum = sums_[row];
    store(sum.count, sum.count + 1);
    store(sum.waited, sum.waited + (now > began ? now - began : 0));
    store(sum.bytes, sum.bytes + bytes);
  }
  if (word_ != nullptr) *word_ = TaskWord(*word_).with_row(outer).with_mpi(false).value();
  go_to(word_);
}

void begin_sums() {
  if (aggregating()) __atomic_store_n(&write_more, &write_all, __ATOMIC_RELEASE);  // acquired by Metadata::write
}

void end_sums() {
  uint64_t none = 0;
  __atomic_compare_exchange_n(&ended_at, &none, read_cycles(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void note_region_end() { __atomic_store_n(&region_ended, read_cycles(), __ATOMIC_RELAXED); }

}  // namespace marline::trace
