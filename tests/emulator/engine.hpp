// SPDX-License-Identifier: Apache-2.0
// The engine: one thread per process that carries out the operations of all streams of all devices.
//
// It keeps a clock of its own: each operation has a time at which it begins (its submission, the end of its predecessor
// and the next free moment of what it needs, whichever is last) and one at which it ends. It sleeps until the earliest
// end, and however late it wakes, the next operation begins at the time that was computed; so sleeping costs no device
// time. What is really done, bytes moved and kernels run, is done between the two; an operation never ends before that.
//
// Program threads submit and wait, under one lock. Everything else in here belongs to the engine's thread, which holds
// the lock only to look at a queue. Invariant: a stream with operations is in exactly one place: the inbox, the list of
// runnable streams, a list of moves, the heap of ends, a kernel's slot, or a list of streams that wait.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "counts.h"
#include "device.hpp"

namespace emulator {

class Engine {
 public:
  explicit Engine(std::vector<std::unique_ptr<Device>>& devices);

  // Any thread.
  void submit(Stream& stream, decltype(Operation::work) work);
  void record(Stream& stream, Event& event);
  void wait_for(Stream& stream, Event& event);
  bool idle(const Stream& stream);
  bool reached(const Event& event);
  void synchronize(Stream& stream);
  void synchronize(Device& device);
  void synchronize(Event& event);
  double milliseconds_between(const Event& from, const Event& to);
  void add(Stream& stream);
  void destroy(Stream* stream);
  std::uint64_t count(Count what) const;

 private:
  enum class Progress { kEnded, kUnderWay };
  struct Due {
    Nanoseconds time;
    std::uint64_t order;
    Stream* stream;
    bool operator>(const Due& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  struct Move {
    Stream* stream;
    std::byte* to;
    const std::byte* from;
    std::size_t left;
  };

  // Under the lock.
  void enqueue(Stream& stream, decltype(Operation::work) work);
  void await(std::unique_lock<std::mutex>& lock, Stream& stream, std::uint64_t submitted);
  static void forget_waiter(Stream& stream);

  // The engine's thread.
  void run();
  void take_inbox();
  void advance_runnable();
  void advance(Stream& stream);
  Operation* first(Stream& stream);
  void complete_first(Stream& stream, Nanoseconds time);
  void end(Stream& stream, Nanoseconds time);
  void end_at(Stream& stream, Nanoseconds time);
  void end_due();
  void move_some();
  bool stays_awake();
  void sleep();
  void read_answers(Device& device);
  void on_answer(Device& device, const LaunchAnswer& answer);
  void start_kernel(Stream& stream, std::uint32_t slot, Nanoseconds time);
  void free_slot(Device& device, std::uint32_t slot, Nanoseconds time);
  void fail(Device& device, Result error);

  Progress begin(Stream& stream, Operation& operation, Nanoseconds& time);
  Progress begin_work(Stream& stream, Copy& copy, Nanoseconds& time);
  Progress begin_work(Stream& stream, Fill& fill, Nanoseconds& time);
  Progress begin_work(Stream& stream, Launch& launch, Nanoseconds& time);
  Progress begin_work(Stream& stream, Record& record, Nanoseconds& time);
  Progress begin_work(Stream& stream, Wait& wait, Nanoseconds& time);
  Progress begin_work(Stream& stream, Call& call, Nanoseconds& time);
  Progress begin_work(Stream& stream, Release& release, Nanoseconds& time);

  void add_to(Count what, std::uint64_t n) {
    counts_[static_cast<std::size_t>(what)].fetch_add(n, std::memory_order_relaxed);
  }
  void raise(Count what, std::uint64_t to);

  std::vector<std::unique_ptr<Device>>& devices_;
  const Nanoseconds latency_;
  const Nanoseconds kernel_time_;                             // 0 if not set
  clockid_t cpu_clock_ = {};                                  // of the engine's thread
  std::array<std::atomic<std::uint64_t>, kCounts> counts_{};  // written by any thread, read by any thread

  std::mutex mutex_;
  std::vector<Stream*> inbox_;   // lock: streams that got their first operation
  Nanoseconds busy_until_ = 0;   // of the engine's thread
  bool sleeping_ = false;        // lock
  std::uint64_t in_flight_ = 0;  // lock
  int doorbell_ = -1;            // wakes the engine's thread

  struct Runnable {
    Stream* stream;
    Nanoseconds time;
  };
  std::deque<Runnable> runnable_;
  std::deque<Move> moves_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t order_ = 0;
  std::uint64_t running_kernels_ = 0;
};

}  // namespace emulator
