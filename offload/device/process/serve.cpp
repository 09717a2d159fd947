// SPDX-License-Identifier: Apache-2.0
//
// Serves commands in the process of a process device. The dispatcher (dispatcher.hpp) takes commands from the ring and
// runs them. While the dispatcher sleeps, a receiver thread watches the ring. While all threads run kernels, the
// receiver empties the ring if it is full, and runs the commands that are no kernels. The forked thread waits for the
// program's end. If there is no work, all of these threads sleep. The process ends by _exit: the exit handlers and
// destructors belong to the program.
#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/process/process.hpp"
#include "device/process/memory.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/dispatcher.hpp"
#include "device/processor/crash/process_crash.hpp"
#include "image/jumps.hpp"
#include "image/load.hpp"
#include "marline/devices.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

using namespace image;

namespace {

// A command with its words.
struct Job : Work {
  Command command;
  uint64_t words[];
};

Channel* g_channel;
Arena* g_arena;
int g_socket;
int g_number;
Lock g_ring_lock;    // held to read commands, and to announce what the receiver waits for
Lock g_answer_lock;  // held to write one answer

void run_job(Work* work);

// Ends the process when the program has ended or has closed its end of the socket.
[[noreturn]] void watch() {
  char byte;
  while (recv(g_socket, &byte, 1, 0) < 0 && errno == EINTR) {
  }
  _exit(0);
}

// The caller holds g_ring_lock.
Job* receive_one() {
  Ring& ring = g_channel->commands;
  g_channel->completions.acquire();  // a kernel may depend on one that is completed: see take_completions
  Command command;
  ring.read(&command, sizeof command);
  size_t bytes = command.words * sizeof(uint64_t);
  auto* job = static_cast<Job*>(std::malloc(sizeof(Job) + bytes));
  if (job == nullptr) fatal("device %d: no memory for a command", g_number);
  job->is_kernel = command.kind == CommandKind::kLaunch;
  job->run = run_job;
  job->command = command;
  ring.read(job->words, bytes);
  return job;
}

// Adds the work under the lock, so that it stays in the order of the ring.
bool receive_all() {
  if (g_channel->commands.is_empty()) return false;
  Guard guard(g_ring_lock);
  WorkList list;
  while (!g_channel->commands.is_empty()) list.push(receive_one());
  bool has_some = !list.is_empty();
  add_work(list);
  return has_some;
}

// From now on each command wakes the receiver. It may be asleep already or not: see Ring::sleep.
void announce() {
  Guard guard(g_ring_lock);
  g_channel->commands.announce(Ring::kAnything);
}

// While the first thread runs a kernel, the receiver has to notice new commands. It would miss commands that came
// before the announcement, so this thread takes them.
void begin_alone() {
  announce();
  (void)receive_all();
}

// Changes the announcement only if it is still that of begin_alone. A writer that has woken the receiver has replaced
// it, and so has a receiver that has gone on since.
void end_alone() {
  Guard guard(g_ring_lock);
  g_channel->commands.announce_instead(Ring::kAnything, Ring::kWantOfRoom);
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
  ImageRange range = range_of_image(reinterpret_cast<void*>(command.a));
  remove_jumps(range.begin, range.end);
  unload_image(reinterpret_cast<void*>(command.a));
  return 0;
}

uint64_t find(const Command& command, const uint64_t* name) {
  return find_in_image(reinterpret_cast<void*>(command.a), reinterpret_cast<const char*>(name));
}

uint64_t jump(const Command& command, const uint64_t* name) {
  auto* image = reinterpret_cast<void*>(command.a);
  const char* pointer = reinterpret_cast<const char*>(name);
  return static_cast<uint64_t>(make_jump(command.b, image, pointer, is_given_up(command.b)));
}

void run_job(Work* work) {
  auto* job = static_cast<Job*>(work);
  const Command& command = job->command;
  Completion completion = {command.operation, 0, command.timed ? now() : 0, 0};
  switch (command.kind) {
    case CommandKind::kLaunch: {
      marline_target_region_t region = {run_kernel, job, g_number, static_cast<int>(command.thread_limit), command.a};
      marline_target_region_run(&region);
      if (command.timed) completion.end = now();
      std::fflush(stdout);  // _exit does not
      kernel_has_run();
      break;
    }
    case CommandKind::kLoad: completion.result = load(command); break;
    case CommandKind::kUnload: completion.result = unload(command); break;
    case CommandKind::kFind: completion.result = find(command, job->words); break;
    case CommandKind::kJump: completion.result = jump(command, job->words); break;
    case CommandKind::kCopy:
      std::memcpy(reinterpret_cast<void*>(command.a), reinterpret_cast<const void*>(command.b), command.c);
      break;
  }
  answer(completion);
  std::free(job);
}

// The body of the receiver thread. For a command that is no kernel, the program first raises `asked` and then looks for
// a sleeper; the receiver first announces and then loads `asked` (all seq_cst). So one of the two sees the other. The
// dispatcher announces, too, after it has noted that it sleeps: so the later of the two announcements takes the
// sleeping dispatcher into account.
void* receive(void*) {
  Ring& ring = g_channel->commands;
  for (;;) {
    uint64_t asked = g_channel->asked.load();
    (void)receive_all();
    run_all(take_other_work());
    {
      Guard guard(g_ring_lock);
      ring.announce(dispatcher_sleeps() ? Ring::kAnything : Ring::kWantOfRoom);
    }
    if (g_channel->asked.load() == asked) ring.sleep();
  }
}

// Writes how this process ends into shared memory. The program reads it when the process is gone (process.cpp).
void report_to_program(const EndInKernel& end) {
  Crash& crash = g_channel->crash;
  crash.running = end.running;
  crash.at_address = end.at_address;
  crash.value = end.value;
  crash.entry = end.entry;
  crash.place = end.kernel_place;
  static_assert(sizeof crash.stack == ProcessEnd::kStackText);
  std::memcpy(crash.stack, end.stack, sizeof crash.stack);
  crash.cause.store(end.cause, std::memory_order_release);  // pairs with report_death
}

void start_receiver() {
  pthread_t thread;
  int error = pthread_create(&thread, nullptr, receive, nullptr);
  char why[256];
  if (error != 0) {
    fatal("device %d (process): no thread can be created: %s", g_number,
          marline_describe_refusal(error, 0, why, sizeof why));
  }
}

// Called when the program's stack is given up. That comes before there is another thread, so no region finds the stack.
void serve() {
  g_arena->enter();
  pthread_atfork(nullptr, nullptr, [] { close(g_socket); });  // a child of a region must not hide the device's end
  // The dispatcher calls note_ends when the runtime has started, so after the runtime has installed its own handlers.
  WorkSource source = {receive_all, announce, [] { note_ends(report_to_program); }};
  source.may_run_alone = true;
  source.begin_alone = begin_alone;
  source.end_alone = end_alone;
  start_dispatcher(source);
  start_receiver();
  watch();
}

}  // namespace

// The calling thread may have been inside the program's tasks when it forked. These tasks belong to the program, so
// this thread never returns to them: it only waits for the program's end, and new threads run the kernels.
void serve_device(Channel* channel, Arena* arena, int socket, int number) {
  g_channel = channel;
  g_arena = arena;
  g_socket = socket;
  g_number = number;
  give_up_stack(serve);
}

}  // namespace marline::offload::device
