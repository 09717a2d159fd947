// SPDX-License-Identifier: Apache-2.0
// The engine's thread: queues, the heap of ends, sleeping. What an operation does when it begins is in work.cpp.
// Functions that program threads call take the lock; all others run on the engine's thread.
#include "engine.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "settings.hpp"

namespace emulator {
namespace {

// Bytes moved before the engine looks at other things again: about 100 microseconds of copying.
constexpr std::size_t kMoveAtOnce = std::size_t{1} << 20;

Nanoseconds from_microseconds(double microseconds) { return static_cast<Nanoseconds>(microseconds * 1e3); }

// A device takes no core from the thread that feeds it. The system would often wake this thread on just that core.
void go_to_cpu(std::uint64_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    fatal("MARLINE_EMULATOR_CPU is '%lu': the thread cannot run there (%s)", cpu, std::strerror(errno));
  }
}

}  // namespace

Nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

Engine::Engine(std::vector<std::unique_ptr<Device>>& devices)
    : devices_(devices),
      latency_(from_microseconds(settings().latency)),
      kernel_time_(from_microseconds(std::max(settings().kernel_time, 0.0))),
      doorbell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  // Like a driver's locks, it is held for a microsecond: less than it takes to sleep and to be woken.
  *mutex_.native_handle() = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  // The program's signals are for the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([this] { run(); });
  (void)pthread_getcpuclockid(thread.native_handle(), &cpu_clock_);
  thread.detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Engine::enqueue(Stream& stream, decltype(Operation::work) work) {
  stream.queue.push_back({now(), std::move(work)});
  stream.submitted++;
  add_to(Count::kOperations, 1);
  raise(Count::kMostOperations, ++in_flight_);
  if (!stream.active) {
    stream.active = true;
    inbox_.push_back(&stream);
    if (sleeping_) {
      sleeping_ = false;
      const std::uint64_t one = 1;
      (void)!write(doorbell_, &one, sizeof one);
    }
  }
}

void Engine::submit(Stream& stream, decltype(Operation::work) work) {
  const std::lock_guard lock(mutex_);
  enqueue(stream, std::move(work));
}

void Engine::record(Stream& stream, Event& event) {
  const std::lock_guard lock(mutex_);
  enqueue(stream, Record{event.state, ++event.state->recorded});
}

void Engine::wait_for(Stream& stream, Event& event) {
  const std::lock_guard lock(mutex_);
  enqueue(stream, Wait{event.state, event.state->recorded});
}

bool Engine::idle(const Stream& stream) { return stream.completed == stream.submitted; }

bool Engine::reached(const Event& event) { return event.state->reached == event.state->recorded; }

void Engine::await(std::unique_lock<std::mutex>& lock, Stream& stream, std::uint64_t submitted) {
  stream.waiters++;
  stream.moved.wait(lock, [&] { return stream.completed >= submitted; });
  forget_waiter(stream);
}

void Engine::forget_waiter(Stream& stream) {
  if (--stream.waiters == 0) {
    stream.moved.notify_all();  // for a thread that destroys the stream
  }
}

void Engine::synchronize(Stream& stream) {
  std::unique_lock lock(mutex_);
  await(lock, stream, stream.submitted);
}

void Engine::synchronize(Device& device) {
  std::unique_lock lock(mutex_);
  std::vector<std::pair<Stream*, std::uint64_t>> busy = {{&device.default_stream, device.default_stream.submitted}};
  for (Stream* stream : device.streams) {
    if (stream->completed != stream->submitted) {
      stream->waiters++;  // keeps the stream
      busy.emplace_back(stream, stream->submitted);
    }
  }
  for (const auto& [stream, submitted] : busy) {
    await(lock, *stream, submitted);
  }
  for (std::size_t i = 1; i < busy.size(); i++) {
    forget_waiter(*busy[i].first);
  }
}

void Engine::synchronize(Event& event) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<EventState> state = event.state;
  const std::uint64_t recorded = state->recorded;
  state->waiters++;
  state->moved.wait(lock, [&] { return state->reached >= recorded; });
  state->waiters--;
}

double Engine::milliseconds_between(const Event& from, const Event& to) {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(to.state->time - from.state->time) * 1e-6;
}

void Engine::add(Stream& stream) {
  const std::lock_guard lock(mutex_);
  stream.device.streams.push_back(&stream);
}

void Engine::destroy(Stream* stream) {
  std::unique_lock lock(mutex_);
  await(lock, *stream, stream->submitted);
  std::erase(stream->device.streams, stream);
  // A thread that synchronizes with the stream may still hold it, or the engine after the stream's last operation.
  stream->moved.wait(lock, [&] { return stream->waiters == 0 && !stream->active; });
  lock.unlock();
  delete stream;
}

std::uint64_t Engine::count(Count what) const {
  if (what != Count::kEngineTime) {
    return counts_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  timespec spent = {};
  (void)clock_gettime(cpu_clock_, &spent);
  return static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(spent.tv_nsec);
}

void Engine::raise(Count what, std::uint64_t to) {
  auto& count = counts_[static_cast<std::size_t>(what)];
  if (count.load(std::memory_order_relaxed) < to) {  // one writer at a time: the lock, or the engine's thread
    count.store(to, std::memory_order_relaxed);
  }
}

void Engine::run() {
  pthread_setname_np(pthread_self(), "emulator");
  if (settings().cpu != kAnyCpu) {
    go_to_cpu(settings().cpu);
  }
  prctl(PR_SET_TIMERSLACK, 1);  // wakes as soon as the kernel can instead of within 50 microseconds
  for (;;) {
    take_inbox();
    end_due();
    advance_runnable();
    move_some();
    sleep();
  }
}

void Engine::take_inbox() {
  const std::lock_guard lock(mutex_);
  for (Stream* stream : inbox_) {
    runnable_.push_back({stream, 0});
  }
  inbox_.clear();
}

void Engine::advance_runnable() {
  while (!runnable_.empty()) {
    const Runnable next = runnable_.front();
    runnable_.pop_front();
    next.stream->ready_at = std::max(next.stream->ready_at, next.time);
    advance(*next.stream);
  }
}

// Begins the stream's operations until one takes time.
void Engine::advance(Stream& stream) {
  while (Operation* operation = first(stream)) {
    Nanoseconds time = std::max(operation->submitted, stream.ready_at);
    if (begin(stream, *operation, time) == Progress::kUnderWay) {
      return;
    }
    complete_first(stream, time);
  }
}

// Null, and the stream inactive, if the queue is empty.
Operation* Engine::first(Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (!stream.queue.empty()) {
    return stream.current = &stream.queue.front();
  }
  stream.active = false;
  stream.current = nullptr;
  stream.moved.notify_all();  // for a thread that destroys the stream
  return nullptr;
}

void Engine::complete_first(Stream& stream, Nanoseconds time) {
  stream.ready_at = time;
  const std::lock_guard lock(mutex_);
  stream.queue.pop_front();
  stream.completed++;
  in_flight_--;
  if (stream.waiters != 0) {
    stream.moved.notify_all();
  }
}

// The running operation of the stream has ended.
void Engine::end(Stream& stream, Nanoseconds time) {
  if (std::holds_alternative<Launch>(stream.current->work)) {
    free_slot(stream.device, stream.slot, time);
  }
  complete_first(stream, time);
  runnable_.push_back({&stream, time});
}

void Engine::end_at(Stream& stream, Nanoseconds time) {
  if (time <= now()) {
    end(stream, time);
  } else {
    due_.push({time, order_++, &stream});
  }
}

// In the order of their times, with everything that begins in between, so that the clock does not run backwards.
void Engine::end_due() {
  while (!due_.empty() && due_.top().time <= now()) {
    const Due next = due_.top();
    due_.pop();
    end(*next.stream, next.time);
    advance_runnable();
  }
}

void Engine::move_some() {
  std::size_t budget = kMoveAtOnce;
  while (!moves_.empty() && budget != 0) {
    Move& move = moves_.front();
    const std::size_t bytes = std::min(move.left, budget);
    std::memcpy(move.to, move.from, bytes);
    move.to += bytes;
    move.from += bytes;
    move.left -= bytes;
    budget -= bytes;
    if (move.left != 0) {
      moves_.push_back(move);  // the next one takes its turn
      moves_.pop_front();
      continue;
    }
    Stream& stream = *move.stream;
    moves_.pop_front();
    const Nanoseconds moved = settings().bandwidth > 0 ? 0 : now();  // without a model, the copy's own time counts
    end_at(stream, std::max(stream.due, moved));
    advance_runnable();
  }
}

// With a core of its own it answers at once, as a device does: to wake a thread on an idle core takes ten times as long
// as an operation. Whoever else wants the core gets it in between.
bool Engine::stays_awake() {
  constexpr Nanoseconds kAwake = 200'000;
  if (settings().cpu == kAnyCpu) {
    return false;
  }
  const Nanoseconds time = now();
  {
    const std::lock_guard lock(mutex_);
    if (!inbox_.empty() || in_flight_ != 0) {
      busy_until_ = time + kAwake;
    }
  }
  if (time >= busy_until_ || (!due_.empty() && due_.top().time > time + kAwake)) {
    return false;
  }
  sched_yield();
  return true;
}

void Engine::sleep() {
  if (stays_awake() && settings().model_above == 0) {  // nothing comes from processes that compute
    return;
  }
  std::vector<pollfd> files = {{doorbell_, POLLIN, 0}};
  for (const auto& device : devices_) {
    const bool open = device->process.started() && !device->gone;
    files.push_back({open ? device->process.launch_socket() : -1, POLLIN, 0});
  }
  timespec timeout = {};
  bool forever = false;
  {
    const std::lock_guard lock(mutex_);
    if (!inbox_.empty()) {
      return;
    }
    if (moves_.empty()) {
      forever = due_.empty();
      const Nanoseconds left = forever ? 0 : std::max<Nanoseconds>(due_.top().time - now(), 0);
      timeout = {left / 1'000'000'000, left % 1'000'000'000};
      sleeping_ = true;
    }
  }
  const int ready = ppoll(files.data(), files.size(), forever ? nullptr : &timeout, nullptr);
  {
    const std::lock_guard lock(mutex_);
    sleeping_ = false;
  }
  if (ready <= 0) {
    return;
  }
  if (files[0].revents != 0) {
    std::uint64_t rings = 0;
    (void)!read(doorbell_, &rings, sizeof rings);
  }
  for (std::size_t i = 1; i < files.size(); i++) {
    if (files[i].revents != 0) {
      read_answers(*devices_[i - 1]);
    }
  }
}

void Engine::read_answers(Device& device) {
  LaunchAnswer answer;
  for (;;) {
    const ssize_t got = recv(device.process.launch_socket(), &answer, sizeof answer, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) {
      return;
    }
    if (got < 0 && (errno == EINTR || errno == ECONNRESET)) {
      continue;  // the latter is told once, before the messages that the process left
    }
    if (got != sizeof answer) {
      warn("device %d: its process has ended", device.index);
      fail(device, kLaunchFailed);
      return;
    }
    on_answer(device, answer);
    if (device.gone) {
      return;
    }
  }
}

}  // namespace emulator
