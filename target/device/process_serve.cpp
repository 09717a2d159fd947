// SPDX-License-Identifier: Apache-2.0
//
// The device's own side of a process device: a dispatching task takes commands from the ring and makes a task of each;
// the threads of a parallel region run these, as many at a time as OMP_NUM_THREADS says. When nothing has come for a
// while the dispatcher sleeps, and a receiver thread watches the ring. While all threads run kernels, the receiver empties
// a ring that is full, and does what is no kernel. The forked thread watches for the program's end. Idle, all of them
// sleep. The process leaves with _exit: the program's exit handlers and destructors are not its own.
#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/call_kernel.hpp"
#include "device/process.hpp"
#include "device/process_crash.hpp"
#include "device/tell.hpp"
#include "image/load.hpp"
#include "marline/devices.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace marline::target {

namespace {

constexpr uint64_t kPatience = 50'000;                 // nanoseconds: some round trips
constexpr size_t kUnlimitedStack = size_t{256} << 20;  // the C library would take 2 MiB

// A command with its words.
struct Job {
  Job* next;
  Command command;
  uint64_t words[];
};

Channel* g_channel;
Arena* g_arena;
int g_socket;
int g_number;
Lock g_jobs_lock;  // over the next four, and for who reads commands
Job* g_first = nullptr;
Job** g_last = &g_first;
bool g_waiting = false;  // the dispatcher, for g_arrival
marline_event_t g_arrival;
Lock g_answer_lock;

// Ends the process when the program has ended, or has closed its side.
[[noreturn]] void watch() {
  char byte;
  while (recv(g_socket, &byte, 1, 0) < 0 && errno == EINTR) {}
  _exit(0);
}

// With a stack as large as that of a program's first thread may become.
void start_thread(void* (*function)(void*)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
    pthread_attr_setstacksize(&attributes, kUnlimitedStack);
  }
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, function, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) fatal("device %d (process): no thread can be created: %s", g_number, strerror(error));
}

// With the lock.
void receive_one() {
  Ring& ring = g_channel->commands;
  g_channel->completions.acquire();  // a kernel may depend on one that has been answered: see take_completions
  Command command;
  ring.read(&command, sizeof command);
  size_t bytes = command.words * sizeof(uint64_t);
  auto* job = static_cast<Job*>(std::malloc(sizeof(Job) + bytes));
  if (job == nullptr) fatal("device %d: no memory for a command", g_number);
  job->next = nullptr;
  job->command = command;
  ring.read(job->words, bytes);
  *g_last = job;
  g_last = &job->next;
}

void receive_all() {
  while (!g_channel->commands.is_empty()) receive_one();
}

// Takes all that have arrived, in order; null: none, and with `wait` the receiver is going to fulfil g_arrival.
Job* take_arrived(bool wait) {
  Guard guard(g_jobs_lock);
  receive_all();
  if (g_first == nullptr && wait) {
    marline_event_init(&g_arrival);
    g_waiting = true;
    g_channel->commands.announce(Ring::kAnything);  // for the receiver, asleep or not: see Ring::sleep
    receive_all();
    if (g_first != nullptr) g_waiting = false;
  }
  Job* jobs = g_first;
  g_first = nullptr;
  g_last = &g_first;
  return jobs;
}

uint64_t nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Waits until there are some. The next command of a chain follows soon, so the dispatcher looks for it for a while, and
// runs kernels meanwhile, before it sleeps.
Job* take_jobs() {
  uint64_t end = nanoseconds_now() + kPatience;
  do {
    if (Job* jobs = take_arrived(false)) return jobs;
#pragma omp taskyield
  } while (nanoseconds_now() < end);
  for (;;) {
    if (Job* jobs = take_arrived(true)) return jobs;
    marline_event_wait(&g_arrival);
  }
}

void answer(const Completion& completion) {
  Ring& ring = g_channel->completions;
  Guard guard(g_answer_lock);
  while (!ring.has_room(sizeof completion)) sched_yield();
  ring.write(&completion, sizeof completion);
  ring.publish();
}

void run_kernel(void* data) {
  auto* job = static_cast<Job*>(data);
  RunningKernel running(job->command.b, job->command.c);
  call_kernel(job->command.a, job->words, job->command.words);
}

uint64_t load(const Command& command) {
  return reinterpret_cast<uint64_t>(load_image(copy_image({g_arena->here(command.a), command.b})));
}

uint64_t unload(const Command& command) {
  unload_image(reinterpret_cast<void*>(command.a));
  return 0;
}

uint64_t find(const Command& command, const uint64_t* name) {
  return find_in_image(reinterpret_cast<void*>(command.a), reinterpret_cast<const char*>(name));
}

void run_job(Job* job) {
  const Command& command = job->command;
  Completion completion = {command.operation, 0, command.timed ? now() : 0, 0};
  switch (command.kind) {
    case CommandKind::kLaunch: {
      marline_target_region_t region = {run_kernel, job, g_number, static_cast<int>(command.thread_limit)};
      marline_target_region_run(&region);
      if (command.timed) completion.end = now();
      std::fflush(stdout);  // nobody does at the end
      break;
    }
    case CommandKind::kLoad: completion.result = load(command); break;
    case CommandKind::kUnload: completion.result = unload(command); break;
    case CommandKind::kFind: completion.result = find(command, job->words); break;
    case CommandKind::kCopy:
      std::memcpy(reinterpret_cast<void*>(command.a), reinterpret_cast<const void*>(command.b), command.c);
      break;
  }
  answer(completion);
  std::free(job);
}

void run_all(Job* job) {
  while (job != nullptr) {
    Job* next = job->next;
    run_job(job);
    job = next;
  }
}

bool is_kernel(const Job* job) { return job->command.kind == CommandKind::kLaunch; }

// With the lock: those that have arrived and are no kernels.
Job* take_others() {
  Job* others = nullptr;
  Job** last = &others;
  Job** link = &g_first;
  while (Job* job = *link) {
    if (is_kernel(job)) {
      link = &job->next;
      continue;
    }
    *link = job->next;
    job->next = nullptr;
    *last = job;
    last = &job->next;
  }
  g_last = link;
  return others;
}

// The receiver thread. A command that is no kernel is counted in `asked` first, and then the program looks for a sleeper;
// here the announcement comes first, and then the look at the count (both seq_cst).
void* receive(void*) {
  Ring& ring = g_channel->commands;
  for (;;) {
    uint64_t asked = g_channel->asked.load();
    Job* others;
    {
      Guard guard(g_jobs_lock);
      receive_all();
      others = take_others();
      if (g_waiting && g_first != nullptr) {
        g_waiting = false;
        marline_event_fulfill(&g_arrival);
      }
      ring.announce(g_waiting ? Ring::kAnything : Ring::kWantOfRoom);
    }
    run_all(others);
    if (g_channel->asked.load() == asked) ring.sleep();
  }
}

// The body of an untied task of a parallel region whose threads wait for tasks. When its thread runs a kernel, another
// thread that is idle goes on with it.
void dispatch() {
  for (;;) {
    for (Job* job = take_jobs(); job != nullptr;) {
      Job* next = job->next;
      if (is_kernel(job)) {
#pragma omp task firstprivate(job) untied
        run_job(job);
      } else {
        run_job(job);  // before a thread is free
      }
      job = next;
    }
  }
}

// The thread that the kernels' team begins with.
void* serve(void*) {
#pragma omp parallel
#pragma omp single
  {
    note_ends(g_channel);  // the runtime's own handlers are there by now
#pragma omp task untied
    dispatch();
  }
  return nullptr;
}

}  // namespace

// The calling thread may be a worker in the midst of the program's tasks. Those are the program's: this thread leaves
// them alone and only watches, and the kernels' threads are new ones.
void serve_device(Channel* channel, Arena* arena, int socket, int number) {
  g_channel = channel;
  g_arena = arena;
  g_socket = socket;
  g_number = number;
  arena->enter();
  pthread_atfork(nullptr, nullptr, [] { close(g_socket); });  // a region's child does not hide the device's end
  start_thread(serve);
  start_thread(receive);
  watch();
}

}  // namespace marline::target
