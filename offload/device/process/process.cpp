// SPDX-License-Identifier: Apache-2.0
//
// The program's side of a process device: the processor as a device in a process of its own, which has another address
// space, so that its crashes are not the program's. The device's memory is an arena that both processes map
// (arena.hpp), so the program makes the copies itself. Kernels are commands. Copies of the images' variables are
// commands too, as these lie in the process's private memory. A progress hook reads completions from a ring, so any
// number of operations can be in flight without a thread that waits for them.
#include "device/process/process.hpp"

#include "base/forks.hpp"
#include "base/report.hpp"
#include "device/contract/kinds.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/wait.hpp"
#include "device/process/inheritance.hpp"
#include "device/process/memory.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/crash/crash_report.hpp"
#include "device/processor/long_copy.hpp"
#include "device/processor/name_in_words.hpp"
#include "device/processor/processor.hpp"
#include "device/processor/window.hpp"
#include "image/functions.hpp"
#include "image/images.hpp"
#include "image/jumps.hpp"
#include "marline/devices.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kPollsBetweenChecks = 64;  // vain polls between two checks that the process is alive
constexpr uint64_t kPatience = 50'000;   // nanoseconds that a waiting thread polls before it sleeps
constexpr uint64_t kAlone = 2'000;       // nanoseconds before it also yields to threads of its CPU, as the device's
constexpr int kMostPerPoll = 64;         // operations, so that the polls of other devices are not kept waiting
constexpr size_t kStage = 1 << 20;       // bytes of an image's variables that are copied at a time

struct Process {
  Process* next;  // in g_processes
  Device* device;
  Arena arena;
  Channel* channel;
  int socket;
  int peer = -1;                      // the device's end of the socket pair, until its process is forked
  std::atomic<int64_t> under_way{0};  // commands without a completion; if there are none, polls skip the device
  Lock send_lock;
  Lock read_lock;                    // held to read completions
  int vain_polls = 0;                // polls since the last completion; guarded by read_lock
  std::atomic<bool> is_slow{false};  // a hint: the last look_for_ends found no completion
  List<Operation*, 8> unfinished;    // `ended` has returned false and is called again; guarded by read_lock
};

// A list. A thread that starts a device adds to it (release), under the lock under which devices are started.
std::atomic<Process*> g_processes{nullptr};
// One for all processes, as there are few hooks. Written before the first process is added.
marline_hook_t* g_hook = nullptr;
Lock g_processes_lock;  // guards g_processes: no process is added during a fork
const HeldAcrossForks g_held(g_processes_lock, ForkOrder::kProcesses);

template <class Function>
void for_all_processes(Function function) {
  for (Process* process = g_processes.load(std::memory_order_acquire); process != nullptr; process = process->next) {
    function(process);
  }
}

thread_local Process* t_becoming = nullptr;  // the process that this thread is forking, or null

Process* process_of(Device* device) { return static_cast<Process*>(device->state); }

Process* usable(Device* device) {
  refuse_if_lost(device);
  return process_of(device);
}

[[noreturn]] void report_death(Process* process) {
  const Crash& crash = process->channel->crash;
  int cause = crash.cause.load(std::memory_order_acquire);  // pairs with the store in serve.cpp
  auto* entry = reinterpret_cast<const Entry*>(crash.entry);
  char device[32];
  std::snprintf(device, sizeof device, "device %d (process)", process->device->number);
  report_end(device, {cause, crash.running, crash.at_address, crash.value, entry != nullptr ? entry->name : nullptr,
                      reinterpret_cast<const char*>(crash.place), crash.stack});
}

void check_life(Process* process) {
  char byte;
  if (recv(process->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) report_death(process);
}

// Calls `ended` of a bounded number of operations. The caller holds read_lock.
int take_completions(Process* process) {
  int ended = 0;
  uint32_t kept = 0;
  for (Operation* operation : process->unfinished) {
    if (operation->ended(operation)) {
      ++ended;
    } else {
      process->unfinished[kept++] = operation;
    }
  }
  process->unfinished.shrink(kept);
  Ring& ring = process->channel->completions;
  for (uint32_t taken = kept; taken < kMostPerPoll && !ring.is_empty(); ++taken) {
    // The completion is ordered after its command, and the command after the setup of the operation's storage. The
    // device's process passes that order on, but ThreadSanitizer does not see into that process. For it, this thread
    // acquires the publication of the command itself.
    process->channel->commands.acquire();
    Completion completion;
    ring.read(&completion, sizeof completion);
    auto* operation = reinterpret_cast<Operation*>(completion.operation);
    operation->result = completion.result;
    operation->begin = completion.begin;
    operation->end = completion.end;
    if (operation->ended(operation)) {
      ++ended;
    } else {
      process->unfinished.push(operation);
    }
  }
  return ended;
}

int poll_one(Process* process) {
  if (process->under_way.load(std::memory_order_relaxed) == 0 || !process->read_lock.try_take()) return 0;
  int ended = take_completions(process);
  if (ended != 0) {
    process->vain_polls = 0;
    process->is_slow.store(false, std::memory_order_relaxed);
    process->under_way.fetch_sub(ended, std::memory_order_relaxed);
    marline_progress_add(g_hook, -ended);
  } else if (++process->vain_polls % kPollsBetweenChecks == 0) {
    check_life(process);
  }
  process->read_lock.release();
  return ended;
}

// The progress hook.
int poll(void*) {
  int ended = 0;
  for_all_processes([&ended](Process* process) { ended += poll_one(process); });
  return ended;
}

// Polls until there is a completion, which another thread may take, or until kPatience has passed. To sleep and be
// woken takes as long as a short region, on both sides. `tail`: Ring::written() before the caller's poll.
void look_for_ends(Process* process, uint64_t tail) {
  const Ring& ring = process->channel->completions;
  uint64_t begin = now(), time = begin;
  while (ring.written() == tail && time - begin < kPatience) {
    if (time - begin > kAlone) sched_yield();
    time = now();
  }
  if (ring.written() == tail) process->is_slow.store(true, std::memory_order_relaxed);
}

void progress(Device* device) {
  Process* process = usable(device);
  uint64_t tail = process->channel->completions.written();
  if (poll_one(process) != 0) return;
  if (!process->is_slow.load(std::memory_order_relaxed)) return look_for_ends(process, tail);
  process->channel->completions.announce(Ring::kAnything);
  process->channel->completions.sleep(1);
}

void send(Process* process, const Command& command, const void* words) {
  uint64_t bytes = sizeof command + command.words * sizeof(uint64_t);
  Ring& ring = process->channel->commands;
  refuse_if_lost(process->device);
  Guard guard(process->send_lock);
  process->under_way.fetch_add(1, std::memory_order_relaxed);
  marline_progress_add(g_hook, 1);
  while (!ring.has_room(bytes)) {
    ring.press();
    check_life(process);
    sched_yield();
  }
  ring.write(&command, sizeof command);
  ring.write(words, command.words * sizeof(uint64_t));
  ring.publish();
}

// Sends a command and waits for its result.
uint64_t ask(Device* device, Command command, const void* words, const char* what, size_t bytes = 0) {
  Awaited answer(device);
  command.operation = reinterpret_cast<uint64_t>(static_cast<Operation*>(&answer));
  send(process_of(device), command, words);
  Channel* channel = process_of(device)->channel;
  channel->asked.fetch_add(1);  // before `press` looks for a sleeper: see receive in serve.cpp
  channel->commands.press();
  answer.wait(what, bytes);
  return answer.result;
}

// Forks twice, so that the device's process is not the program's child and the program's own wait() does not find it.
// It does if orphaned processes become the program's children (docs/design/target-tasks.md).
void become_device(Process* process) {
  char why[256];
  t_becoming = process;
  pid_t middle = fork();
  if (middle < 0) {
    fatal("device %d: no process can be created: %s", process->device->number,
          marline_describe_refusal(errno, 0, why, sizeof why));
  }
  if (middle > 0) {
    int status = 0;
    while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {
    }
    int error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (error != 0) {
      fatal("device %d: no process can be created: %s", process->device->number,
            marline_describe_refusal(error, 0, why, sizeof why));
    }
    t_becoming = nullptr;
    return;
  }
  pid_t last = fork();
  if (last != 0) _exit(last < 0 ? errno : 0);
  int socket = process->peer;
  marline_tool_leave();  // the tool belongs to the program: a device that wrote to the same files would spoil them
  close_inherited(socket, process->arena.file());
  give_up_memory();
  serve_device(process->channel, &process->arena, socket, process->device->number);
}

// Called before the first process is added.
void prepare_for_processes() {
  g_hook = marline_progress_register("process devices", poll, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
}

void describe(int index, DeviceFacts& facts) {
  describe_processor(facts);
  std::snprintf(facts.uid, sizeof facts.uid, "process-%d", index);
}

// Creates the sockets under the same lock, so that a fork by another thread finds both ends, and closes them, or none.
void add(Process* process) {
  hold_across_forks(process->read_lock, ForkOrder::kCompletions);
  hold_across_forks(process->send_lock, ForkOrder::kCommands);
  Guard guard(g_processes_lock);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    fatal("device %d (process) cannot be started: %s", process->device->number, strerror(errno));
  }
  process->socket = sockets[0];
  process->peer = sockets[1];
  process->next = g_processes.load(std::memory_order_relaxed);
  g_processes.store(process, std::memory_order_release);  // pairs with the loads of polls and of forks
}

void start(Device* device) {
  if (device->state != nullptr) return;
  void* memory = std::malloc(sizeof(Process));
  void* channel = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == nullptr || channel == MAP_FAILED) {
    fatal("device %d (process) cannot be started: %s", device->number, strerror(errno));
  }
  auto* process = new (memory) Process{};
  process->device = device;
  process->channel = static_cast<Channel*>(channel);
  process->arena.open(part_of(device), kPart);
  if (g_hook == nullptr) prepare_for_processes();
  add(process);
  note_loaded_modules();
  flush_output();
  part_heap();
  become_device(process);
  end_parting_heap();
  {
    Guard guard(g_processes_lock);
    close(process->peer);
    process->peer = -1;
  }
  madvise(channel, sizeof(Channel), MADV_DONTFORK);  // later forks do not use it
  device->state = process;
}

void stop(Device* device) {
  Process* process = process_of(device);
  if (process == nullptr || process->socket < 0) return;
  close(process->socket);
  process->socket = -1;
}

uint64_t allocate(Device* device, size_t bytes) { return usable(device)->arena.allocate(bytes); }

// In a forked child this does nothing, as the memory is the program's: a destructor may call it there.
void release(Device* device, uint64_t address) {
  if (!device->lost) process_of(device)->arena.release(address);
}

// Copies variables of images, which lie outside the arena, by way of a block of the arena.
void copy_staged(Device* device, uint64_t address, char* host, size_t bytes, bool to_device) {
  Process* process = usable(device);
  size_t room = std::min(bytes, kStage);
  uint64_t stage = process->arena.allocate(room);
  if (stage == 0) fatal("device %d (process): no memory for a copy", device->number);
  for (size_t done = 0; done < bytes;) {
    size_t piece = std::min(room, bytes - done);
    uint64_t variable = address + done;
    if (to_device) std::memcpy(process->arena.here(stage), host + done, piece);
    Command command = {CommandKind::kCopy,           0,     0, to_device ? variable : stage,
                       to_device ? stage : variable, piece, 0, false};
    ask(device, command, nullptr, to_device ? "copy to" : "copy from", bytes);
    if (!to_device) std::memcpy(host + done, process->arena.here(stage), piece);
    done += piece;
  }
  process->arena.release(stage);
}

void write(Device* device, uint64_t to, const void* from, size_t bytes) {
  if (is_in_part(device, to)) {
    copy_and_poll(usable(device)->arena.here(to), from, bytes, poll);
  } else {
    copy_staged(device, to, const_cast<char*>(static_cast<const char*>(from)), bytes, true);
  }
}

void read(Device* device, void* to, uint64_t from, size_t bytes) {
  if (is_in_part(device, from)) {
    copy_and_poll(to, usable(device)->arena.here(from), bytes, poll);
  } else {
    copy_staged(device, from, static_cast<char*>(to), bytes, false);
  }
}

// The program maps the memory of both devices.
bool copy(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes) {
  if (!is_in_part(to_device, to) || !is_in_part(from_device, from)) return false;
  char *target = usable(to_device)->arena.here(to), *source = usable(from_device)->arena.here(from);
  if (to_device == from_device) {
    std::memmove(target, source, bytes);
  } else {
    copy_and_poll(target, source, bytes, poll);
  }
  return true;
}

bool copy_if_there(Device* device, Module* module, uint64_t stage) {
  Guard guard(images_lock());
  if (module->gone.load(std::memory_order_relaxed)) return false;
  std::memcpy(process_of(device)->arena.here(stage), module->native.begin, module->native.bytes);
  return true;
}

// For declare target indirect: kernels get pointers to the program's functions, so the process needs jumps at these
// addresses. Functions that were loaded before the fork are there already.
void make_jumps(Device* device, const Module& module, uint64_t handle) {
  for (uint32_t i = 0; i < module.count; ++i) {
    const Entry& entry = module.entries[i];
    if (!is_indirect_function(entry) || was_loaded(entry.host)) continue;
    NameInWords words(entry.name);
    auto address = reinterpret_cast<uint64_t>(entry.host);
    Command command = {CommandKind::kJump, words.count(), 0, handle, address, 0, 0, false};
    uint64_t made = ask(device, command, words.begin(), "place for a function");
    warn_unless_made(static_cast<Jump>(made), entry, device->number, "process");
  }
}

uint64_t load(Device* device, Module* module) {
  if (module->native.begin == nullptr) return 0;
  uint64_t stage = allocate(device, module->native.bytes);
  if (stage == 0) fatal("device %d (process): no memory for an image", device->number);
  if (!copy_if_there(device, module, stage)) {
    release(device, stage);
    return 0;
  }
  Command command = {CommandKind::kLoad, 0, 0, stage, module->native.bytes, 0, 0, false};
  uint64_t handle = ask(device, command, nullptr, "load of an image");
  release(device, stage);
  if (handle != 0) make_jumps(device, *module, handle);
  return handle;
}

void unload(Device* device, uint64_t handle) {
  ask(device, {CommandKind::kUnload, 0, 0, handle, 0, 0, 0, false}, nullptr, "unload of an image");
}

uint64_t find(Device* device, uint64_t handle, const char* name) {
  NameInWords words(name);
  Command command = {CommandKind::kFind, words.count(), 0, handle, 0, 0, 0, false};
  return ask(device, command, words.begin(), "search for a symbol");
}

// The process is a fork of this one: what was loaded before the fork has the same address there.
uint64_t locate(Device*, const void* address, size_t) {
  return was_loaded(address) ? reinterpret_cast<uint64_t>(address) : 0;
}

bool launch(Device* device, const Launch& launch, Operation* operation) {
  if (launch.count > kMostArguments) {
    fatal("a target region with %u arguments; the most are %u", launch.count, kMostArguments);
  }
  Command command = {CommandKind::kLaunch,
                     launch.count,
                     reinterpret_cast<uint64_t>(operation),
                     code_to_call(launch),
                     reinterpret_cast<uint64_t>(launch.kernel),
                     reinterpret_cast<uint64_t>(launch.place),
                     launch.thread_limit,
                     operation->timed};
  send(process_of(device), command, launch.arguments);
  return false;
}

}  // namespace

constexpr DeviceTraits kTraits = {.name = "process", .is_asynchronous = true, .is_forked = true};
constinit const DeviceKind kProcessKind = {kTraits, describe, start,  allocate, release, write,    read, load,
                                           unload,  find,     locate, copy,     launch,  progress, stop};

void refuse_if_lost(const Device* device) {
  if (!device->lost) return;
  fatal("device %d (%s) belongs to the process that started it: a fork of it has no such devices", device->number,
        device->kind->name);
}

// The fork happens between two operations of each process, so `under_way` is the number that the hook has counted for
// it. These operations belong to the program: the child neither counts nor polls them. The child closes its copies of
// the sockets, so that the devices see when the program ends.
void forget_processes() {
  for_all_processes([](Process* process) {
    process->device->lost = true;
    process->device->started.store(false, std::memory_order_relaxed);  // so that registry::prepare checks `lost`
    if (process->socket >= 0) close(process->socket);
    process->socket = -1;
    if (process->peer >= 0 && process != t_becoming) close(process->peer);
    marline_progress_add(g_hook, -static_cast<int>(process->under_way.exchange(0, std::memory_order_relaxed)));
  });
}

}  // namespace marline::offload::device
