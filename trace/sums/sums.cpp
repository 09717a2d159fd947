// SPDX-License-Identifier: Apache-2.0
#include "sums/sums.hpp"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

#include "base/clock.hpp"
#include "base/metadata.hpp"
#include "file/no_cancel.hpp"

namespace marline::trace {
namespace {

constexpr const char* kPlaceNames[] = {"outside", "barrier", "taskwait", "lock"};
static_assert(sizeof kPlaceNames / sizeof *kPlaceNames == kPlaces);

pthread_once_t prepared = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;
uint64_t ended_at;  // when end_sums was called first; 0: not yet
uint64_t restarts;  // how often restart_sums was called, and when last
uint64_t restarted_at;

uint64_t load(const uint64_t& value) { return __atomic_load_n(&value, __ATOMIC_RELAXED); }
uint64_t now() { return recorded_time(read_cycles()); }
bool is_counting() { return !is_off(load_switches()) && load(ended_at) == 0; }

struct ProcessSum {
  Sum sum;
  uint64_t longest;  // of a thread, in code of the row
  uint64_t threads;  // that were in it
};

// How much of a wait from `from` to `to` was in a region of which the thread knows this frame.
uint64_t part_in_region(const Frame& frame, uint64_t from, uint64_t to) {
  const uint64_t end = frame.ends == nullptr ? 0 : frame.ends->end_of(frame.number_of_region);
  return end == 0 || end >= to ? to - from : end > from ? end - from : 0;
}

}  // namespace

void RegionEnds::note(uint64_t time) {
  const uint64_t count = count_;
  __atomic_store_n(&times_[count % kKept], time, __ATOMIC_RELAXED);
  __atomic_store_n(&count_, count + 1, __ATOMIC_RELEASE);
}

uint64_t RegionEnds::end_of(uint64_t number) const {
  const uint64_t known = count();
  if (known <= number) return 0;
  // The oldest one may be written anew at this moment.
  const uint64_t oldest = known < kKept ? 0 : known - kKept + 1;
  return __atomic_load_n(&times_[(number < oldest ? oldest : number) % kKept], __ATOMIC_RELAXED);
}

constinit thread_local ThreadSums* ThreadSums::mine_ = nullptr;

// What threads that have ended did, and the list of the others. Under the lock.
class ProcessSums {
 public:
  void join(ThreadSums* thread) {
    pthread_mutex_lock(&lock_);
    thread->next_ = threads_;
    threads_ = thread;
    thread->slot_ = joined_++ % ThreadSums::kSlots;
    if (begin_ == 0 || thread->since_ < begin_) begin_ = thread->since_;
    if (++present_ > most_) most_ = present_;
    pthread_mutex_unlock(&lock_);
  }
  void leave(ThreadSums* thread) {
    pthread_mutex_lock(&lock_);
    ThreadSums** at = &threads_;
    while (*at != nullptr && *at != thread) at = &(*at)->next_;
    if (*at != nullptr) {  // else it is the parent process's
      *at = thread->next_;
      --present_;
      add(*thread, nullptr, 0, gone_, gone_places_);
    }
    pthread_mutex_unlock(&lock_);
  }
  void restart() {
    pthread_mutex_lock(&lock_);
    memset(gone_, 0, sizeof gone_);
    memset(gone_places_, 0, sizeof gone_places_);
    begin_ = now();
    most_ = present_;
    __atomic_store_n(&restarted_at, begin_, __ATOMIC_RELAXED);
    __atomic_store_n(&restarts, restarts + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock_);
  }
  void write(FILE* out);
  void forget() {  // in the child of a fork
    pthread_mutex_init(&lock_, nullptr);
    threads_ = nullptr;
  }

 private:
  static void add(const ThreadSums& thread, const uint64_t* into, uint64_t rest, ProcessSum* sums, uint64_t* places);
  static void add_to_now(const ThreadSums& thread, uint64_t end, ProcessSum* sums, uint64_t* places);

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  ThreadSums* threads_ = nullptr;
  uint64_t begin_ = 0;
  unsigned joined_ = 0, present_ = 0, most_ = 0;
  ProcessSum gone_[kMostRows] = {};
  uint64_t gone_places_[kPlaces] = {};
};

namespace {

constinit ProcessSums all;

void write_all(FILE* out) { all.write(out); }

}  // namespace

// `rest`: what is to be added to `into`, a place or a time of the thread; or null.
void ProcessSums::add(const ThreadSums& thread, const uint64_t* into, uint64_t rest, ProcessSum* sums,
                      uint64_t* places) {
  for (int i = 0; i < kPlaces; ++i) places[i] += load(thread.places_[i]) + (into == &thread.places_[i] ? rest : 0);
  const unsigned count = named_rows();
  for (unsigned row = 0; row < count; ++row) {
    const Sum& from = thread.sums_[row];
    ProcessSum& to = sums[row];
    const uint64_t time = load(from.time) + (into == &from.time ? rest : 0);
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
  const bool is_old = load(thread.epoch_) != restarts;  // no event since restart_sums
  if (is_old && since < restarted_at) since = restarted_at;
  const uint64_t* into = __atomic_load_n(&thread.into_, __ATOMIC_RELAXED);
  uint64_t rest = end > since ? end - since : 0;
  if (rest != 0 && into == &thread.places_[kInBarrier]) {
    const uint64_t inside =
        part_in_region(thread.frames_[thread.depth_ < ThreadSums::kFrames ? thread.depth_ : 0], since, end);
    places[kOutside] += rest - inside;
    rest = inside;
  }
  if (!is_old) {
    add(thread, into, rest, sums, places);
    return;
  }
  for (int i = 0; i < kPlaces; ++i) {
    if (into == &thread.places_[i]) places[i] += rest;
  }
}

void ProcessSums::write(FILE* out) {
  static ProcessSum sums[kMostRows];  // under the lock
  uint64_t places[kPlaces];
  pthread_mutex_lock(&lock_);
  memcpy(sums, gone_, sizeof sums);
  memcpy(places, gone_places_, sizeof places);
  const uint64_t end = load(ended_at) != 0 ? load(ended_at) : now();
  for (ThreadSums* thread = threads_; thread != nullptr; thread = thread->next_) add_to_now(*thread, end, sums, places);
  const uint64_t cycles = read_cycles();
  fprintf(out, "  \"sums\": {\"begin\": %" PRIu64 ", \"end\": %" PRIu64 ", \"threads\": %u", begin_, end, most_);
  fprintf(out, ", \"off\": %" PRIu64 ", \"full\": %s", cycles - recorded_time(cycles), lack_rows() ? "true" : "false");
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
    pthread_setspecific(exit_key, nullptr);
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
  sums->since_ = now();
  sums->into_ = &sums->places_[kOutside];
  sums->epoch_ = load(restarts);
  all.join(sums);
  mine_ = sums;
  pthread_setspecific(exit_key, sums);
  return sums;
}

void ThreadSums::end_at_exit(void* sums) { static_cast<ThreadSums*>(sums)->end(); }

void ThreadSums::end() {
  const NoCancel no_cancel;
  charge(now());
  all.leave(this);
  mine_ = nullptr;
  pthread_setspecific(exit_key, nullptr);
  munmap(this, sizeof *this);
}

RegionEnds& ThreadSums::ends_at(unsigned slot) {
  static RegionEnds ends[kSlots];
  return ends[slot];
}

void ThreadSums::push(const Frame& frame) {
  if (++depth_ < kFrames) frames_[depth_] = frame;
}

void ThreadSums::pop() {
  if (depth_ > 0) --depth_;
}

// MPI_Init has returned since the thread's last event.
void ThreadSums::restart() {
  for (uint64_t& place : places_) store(place, 0);
  for (Sum& sum : sums_) {
    for (uint64_t* value : {&sum.count, &sum.time, &sum.waited, &sum.least, &sum.most, &sum.bytes}) {
      if (*value != 0) store(*value, 0);  // what is never touched takes no memory
    }
  }
  __atomic_store_n(&epoch_, load(restarts), __ATOMIC_RELAXED);
  const uint64_t at = load(restarted_at);
  if (at > since_) store(since_, at);
}

// The time between two moments belongs to where the thread is.
void ThreadSums::add(uint64_t from, uint64_t to) {
  if (to <= from) return;
  uint64_t time = to - from;
  if (into_ == &places_[kInBarrier]) {
    const uint64_t inside = part_in_region(frame(), from, to);
    store(places_[kOutside], places_[kOutside] + time - inside);
    time = inside;
    Sum& last = sums_[frame().last];
    store(last.waited, last.waited + time);
  } else if (counts_) {
    ran_ += time;
  }
  store(*into_, *into_ + time);
}

void ThreadSums::charge(uint64_t now) {
  if (__builtin_expect(load(restarts) != epoch_, 0)) restart();
  const uint64_t end = load(ended_at);
  add(since_, end != 0 && end < now ? end : now);
  if (now > since_) store(since_, now);
}

void ThreadSums::stop() { charge(now()); }

void ThreadSums::run(uint64_t* word) {
  stop();
  go_to(word);
}

void ThreadSums::go_to(uint64_t* word) {
  if (word != word_) ran_ = 0;
  word_ = word;
  counts_ = false;
  uint64_t* into = is_openmp_ ? &places_[kOutside] : &sums_[kSerialRow].time;
  if (word != nullptr) {
    is_openmp_ = true;
    const TaskWord task(*word);
    counts_ = task.is_explicit() && !task.in_mpi();
    into = task.wait() != kOutside ? &places_[task.wait()] : &sums_[task.row()].time;
  }
  __atomic_store_n(&into_, into, __ATOMIC_RELAXED);
}

void ThreadSums::wait(Place place, uint64_t* word) {
  stop();
  counts_ = false;
  if (word != nullptr) *word = TaskWord(*word).with_wait(place).value();
  __atomic_store_n(&into_, &places_[place], __ATOMIC_RELAXED);
}

void ThreadSums::keep_time(uint64_t* word) {
  *word = TaskWord(*word).longer_by(ran_).value();
  ran_ = 0;
}

void ThreadSums::count(unsigned row) {
  if (is_counting()) store(sums_[row].count, sums_[row].count + 1);
}

void ThreadSums::count_task(TaskWord task) {
  if (!task.is_explicit() || !is_counting()) return;
  Sum& sum = sums_[task.row()];
  store(sum.count, sum.count + 1);
  const uint64_t time = task.time() == 0 ? 1 : task.time();
  if (sum.least == 0 || time < sum.least) store(sum.least, time);
  if (time > sum.most) store(sum.most, time);
}

unsigned ThreadSums::enter_call(unsigned row, uint64_t began) {
  charge(recorded_time(began));
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
  const uint64_t at = now(), since = recorded_time(began);
  charge(at);
  if (is_counting()) {
    Sum& sum = sums_[row];
    store(sum.count, sum.count + 1);
    store(sum.waited, sum.waited + (at > since ? at - since : 0));
    store(sum.bytes, sum.bytes + bytes);
  }
  if (word_ != nullptr) *word_ = TaskWord(*word_).with_row(outer).with_mpi(false).value();
  go_to(word_);
}

void begin_sums() {
  if (aggregating()) __atomic_store_n(&write_more, &write_all, __ATOMIC_RELEASE);  // acquired by Metadata::write
}

void restart_sums() {
  if (aggregating()) all.restart();
}

void end_sums() {
  uint64_t none = 0;
  __atomic_compare_exchange_n(&ended_at, &none, now(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

}  // namespace marline::trace
