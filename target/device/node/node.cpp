// SPDX-License-Identifier: Apache-2.0
//
// The program's side of devices on other nodes. Allocation is arithmetic here: the worker has all addresses of its part of
// the window. Where worker and program share a machine, the program maps the worker's memory and copies by itself; else
// data travels by the wire. A progress hook polls the wire; whatever waits for an answer has a handle in a table. Any
// thread.
#include "device/node/node.hpp"

#include "base/forks.hpp"
#include "base/report.hpp"
#include "device/base/kinds.hpp"
#include "device/base/tell.hpp"
#include "device/base/wait.hpp"
#include "device/process/process.hpp"
#include "device/processor/arena.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/long_copy.hpp"
#include "device/processor/name_in_words.hpp"
#include "device/processor/operation_table.hpp"
#include "device/processor/processor.hpp"
#include "device/processor/window.hpp"
#include "image/images.hpp"
#include "image/program.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::target {

namespace {

constexpr int kMostPeers = 64;  // workers are numbered from 1 on; as many as devices, less one

// What a worker has said of itself.
struct Greeting {
  DeviceFacts facts;
  uint64_t identity;  // of its program
  int memory_file;    // the descriptor there
};

struct Node {
  Device* device;
  int peer;
  Arena arena;
  bool shares_memory = false;
  int64_t clock_offset = 0;  // of the worker's clock, less ours
// What has been sent that another worker's data may overtake, and how much of it is known to have arrived.
  std::atomic<uint64_t> sent{0};       // raised behind the sending
  std::atomic<uint64_t> confirmed{0};  // never more than that
};

const NodeJob* g_job = nullptr;          // written before the first device is listed or started
Greeting g_greetings[kMostPeers];        // by peer
Node* g_nodes[kMostPeers];               // likewise; written by the thread that starts it, read by polls
marline_hook_t* g_hook = nullptr;
std::atomic<int> g_under_way{0};         // operations that the hook knows of
OperationTable g_operations;
Lock g_poll_lock;                        // over the next two, and for who waits on the wire
Array<Operation*> g_unfinished;          // to be told again that they have ended
int g_ended = 0;                         // in this poll
const HeldAcrossForks g_held(g_operations.lock(), ForkOrder::kNodes);

void add_operations(int operations) {
  g_under_way.fetch_add(operations, std::memory_order_relaxed);
  marline_progress_add(g_hook, operations);
}

Node* node_of(Device* device) { return static_cast<Node*>(device->state); }

Node* usable(Device* device) {
  refuse_if_lost(device);
  return node_of(device);
}

void end(Operation* operation) {
  if (operation->ended(operation)) {
    ++g_ended;
  } else {
    g_unfinished.push(operation);
  }
}

Operation* answered(int peer, const Frame& frame) {
  Operation* operation = g_operations.take(frame.operation);
  if (operation == nullptr) fatal("worker %d has answered a question that nobody asked (handle %#lx)", peer, frame.operation);
  return operation;
}

void take_welcome(int peer, const Frame& frame, const uint64_t* words) {
  bool fits = frame.words == 1 + sizeof(DeviceFacts) / sizeof(uint64_t);
  if (!fits) fatal("worker %d answers as no Marline of this version does", peer);
  Greeting& greeting = g_greetings[peer];
  greeting.identity = words[0];
  std::memcpy(&greeting.facts, words + 1, sizeof(DeviceFacts));
  greeting.memory_file = static_cast<int>(frame.b);
  Operation* operation = answered(peer, frame);
  operation->result = frame.a;
  end(operation);
}

void* place(void*, int peer, const Frame& frame, const uint64_t*) {
  void* to = g_operations.place(frame.operation, frame.bulk);
  if (to == nullptr) fatal("worker %d brings %lu bytes that nobody has asked for", peer, frame.bulk);
  return to;
}

void deliver(void*, int peer, const Frame& frame, const uint64_t* words) {
  switch (static_cast<NodeFrame>(frame.kind)) {
    case NodeFrame::kWelcome: return take_welcome(peer, frame, words);
    case NodeFrame::kData: return end(answered(peer, frame));
    case NodeFrame::kDone: {
      Operation* operation = answered(peer, frame);
      operation->result = frame.a;
      if ((frame.flags & kTimed) != 0) {
        int64_t offset = g_nodes[peer]->clock_offset;
        operation->begin = frame.b - static_cast<uint64_t>(offset);
        operation->end = frame.c - static_cast<uint64_t>(offset);
      }
      return end(operation);
    }
    default: fatal("worker %d has sent a frame of kind %u, which a program does not understand", peer, frame.kind);
  }
}

// The worker has said why, if it could.
void lost(void*, int peer, const char* why) {
  end_process(EXIT_FAILURE, "device %d (node, process %d of the job on %s) has gone, so the program cannot go on: it %s",
              peer - 1, peer, g_job->kind->peer(g_job->wire, peer)->node, why);
}

[[noreturn]] void fail(const char* line) { fatal("%s", line); }

const WireUser kUser = {nullptr, place, deliver, lost, fail};

// With the lock. Returns how many operations have ended.
int poll_locked() {
  g_ended = 0;
  uint32_t kept = 0, count = g_unfinished.count();
  for (uint32_t i = 0; i < count; ++i) {
    Operation* operation = g_unfinished[i];
    if (operation->ended(operation)) {
      ++g_ended;
    } else {
      g_unfinished[kept++] = operation;
    }
  }
  g_unfinished.shrink(kept);
  (void)g_job->kind->poll(g_job->wire);
  if (g_ended != 0) add_operations(-g_ended);
  return g_ended;
}

// The progress hook. In a fork, and when the program has ended, there is no job.
int poll(void*) {
  if (!g_poll_lock.try_take()) return 0;
  int ended = g_job != nullptr ? poll_locked() : 0;
  g_poll_lock.release();
  return ended;
}

void progress(Device*) {
  if (!g_poll_lock.try_take()) {
    sched_yield();
    return;
  }
  if (g_job != nullptr && poll_locked() == 0) g_job->kind->wait(g_job->wire, 1);
  g_poll_lock.release();
}

// Those who send kernels or data without an end wait here for the wire.
void await_room(Device* device, int peer) {
  while (!g_job->kind->has_room(g_job->wire, peer)) {
    if (poll(nullptr) == 0) sched_yield();
  }
  refuse_if_lost(device);
}

void send(Node* node, const Frame& frame, const uint64_t* words = nullptr) {
  await_room(node->device, node->peer);
  add_operations(1);
  g_job->send(node->peer, frame, words);
}

Frame frame_of(NodeFrame kind, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
  Frame frame = {};
  frame.kind = static_cast<uint16_t>(kind);
  frame.a = a;
  frame.b = b;
  frame.c = c;
  return frame;
}

// Sends a frame and waits for its answer, with bytes that go to `to`.
uint64_t ask(Node* node, Frame frame, const char* what, const uint64_t* words = nullptr, void* to = nullptr,
             size_t bytes = 0) {
  Awaited answer(node->device);
  frame.operation = g_operations.add(&answer, to, bytes);
  send(node, frame, words);
  answer.wait(what, bytes);
  return answer.result;
}

// Before this process has joined the job, as much as is known.
void describe(int index, DeviceFacts& facts) {
  int peer = index + 1;
  if (g_job == nullptr || peer >= g_job->count) {
    describe_processor(facts);
    std::snprintf(facts.uid, sizeof facts.uid, "node-%d", peer);
    return;
  }
  facts = g_greetings[peer].facts;
  std::snprintf(facts.uid, sizeof facts.uid, "node-%.40s-%d", g_job->kind->peer(g_job->wire, peer)->node, peer);
}

bool is_on_this_machine(int peer) {
  const Peer* own = g_job->kind->peer(g_job->wire, g_job->number);
  return std::strcmp(own->machine, g_job->kind->peer(g_job->wire, peer)->machine) == 0;
}

Frame hello_of(const Device* device) {
  Frame hello = frame_of(NodeFrame::kHello, kNodeProtocol, device != nullptr ? part_of(device) : 0,
                         device != nullptr ? static_cast<uint64_t>(device->number) : 0);
  hello.words = 2;
  return hello;
}

// Asks all workers what they are, before any device is started, and waits.
void greet_all() {
  for (int peer = 1; peer < g_job->count; ++peer) {
    struct Greeted : Operation {
      bool is_here = false;
    } greeted;
    greeted.ended = [](Operation* operation) {
      static_cast<Greeted*>(operation)->is_here = true;
      return true;
    };
    uint64_t words[] = {program_identity(), 0};
    Frame hello = hello_of(nullptr);
    hello.operation = g_operations.add(&greeted);
    add_operations(1);
    g_job->send(peer, hello, words);
    while (!greeted.is_here) progress(nullptr);
    if (g_greetings[peer].identity == program_identity()) continue;
    fatal("the program of worker %d, on %s, is another one than this (by its build id): start the same file everywhere", peer,
          g_job->kind->peer(g_job->wire, peer)->node);
  }
}

// Processes of one machine have one clock. Else both clocks are read within the answer's way: the middle of it is the best
// guess. The shortest way counts.
void open_device(Node* node) {
  constexpr int kTimes = 4;
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTimes; ++i) {
    uint64_t words[] = {program_identity(), kPart};
    uint64_t before = now();
    uint64_t theirs = ask(node, hello_of(node->device), "first answer", words);
    uint64_t way = now() - before;
    if (is_on_this_machine(node->peer)) return;
    if (way >= shortest) continue;
    shortest = way;
    node->clock_offset = static_cast<int64_t>(theirs - (before + way / 2));
  }
}

// A descriptor of another process of the same user; -1: it cannot be reached.
int open_file_of(int process, int file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
  return open(path, O_RDWR | O_CLOEXEC);
}

// The worker's memory as this process sees it: by the file, if both are on one machine, and on one node if names are made
// up.
void open_memory(Node* node) {
  const Peer* own = g_job->kind->peer(g_job->wire, g_job->number);
  const Peer* other = g_job->kind->peer(g_job->wire, node->peer);
  int file = -1;
  if (std::strcmp(own->node, other->node) == 0 && is_on_this_machine(node->peer)) {
    file = open_file_of(other->pid, g_greetings[node->peer].memory_file);
  }
  node->shares_memory = file >= 0;
  node->arena.adopt(part_of(node->device), kPart, g_greetings[node->peer].facts.memory, file);
  node->device->asks_to_copy = !node->shares_memory;
}

void start(Device* device) {
  if (device->state != nullptr) return;
  void* memory = std::malloc(sizeof(Node));
  if (memory == nullptr) fatal("no memory for device %d (node)", device->number);
  auto* node = new (memory) Node{};
  node->device = device;
  node->peer = device->index + 1;
  start_nodes();
  g_nodes[node->peer] = node;
  device->state = node;
  open_device(node);
  open_memory(node);
}

void stop(Device*) {}  // all workers end together: see end_nodes

uint64_t allocate(Device* device, size_t bytes) { return usable(device)->arena.allocate(bytes); }

// The worker is told before the block can be another's: its data comes behind that.
void release(Device* device, uint64_t address) {
  if (device->lost || g_job == nullptr) return;
  Node* node = node_of(device);
  size_t empty = node->arena.bytes_to_give_back(address);
  if (empty != 0) {
    g_job->send(node->peer, frame_of(NodeFrame::kDiscard, address, empty));
    node->sent.fetch_add(1);
  }
  node->arena.release(address);
}

// Data that is on its way.
struct Sending : Outgoing {
  marline_event_t event = MARLINE_EVENT_INIT;

  Sending() {
    marline_event_init(&event);
    sent = [](Outgoing* outgoing) {
      ++g_ended;
      marline_event_fulfill(&static_cast<Sending*>(outgoing)->event);
    };
  }
};

void send_data(Node* node, uint64_t to, const void* from, size_t bytes) {
  Sending sending;
  Frame frame = frame_of(NodeFrame::kWrite, to);
  frame.bulk = bytes;
  await_room(node->device, node->peer);
  add_operations(1);
  bool is_copied = g_job->kind->send(g_job->wire, node->peer, frame, nullptr, from, &sending);
  node->sent.fetch_add(1);
  if (is_copied) {
    add_operations(-1);
  } else {
    wait_or_progress(&sending.event, node->device, "copy to", bytes);
  }
}

void write(Device* device, uint64_t to, const void* from, size_t bytes) {
  Node* node = usable(device);
  if (node->shares_memory && is_in_part(device, to)) {
    copy_and_poll(node->arena.here(to), from, bytes, poll);
  } else {
    send_data(node, to, from, bytes);
  }
}

void read(Device* device, void* to, uint64_t from, size_t bytes) {
  Node* node = usable(device);
  if (node->shares_memory && is_in_part(device, from)) {
    copy_and_poll(to, node->arena.here(from), bytes, poll);
  } else {
    (void)ask(node, frame_of(NodeFrame::kRead, from, bytes), "copy from", nullptr, to, bytes);
  }
}

// What was sent to the worker may come later than what another worker sends.
void confirm(Node* node) {
  uint64_t sent = node->sent.load(), known = node->confirmed.load();
  if (known >= sent) return;
  (void)ask(node, frame_of(NodeFrame::kFlush), "copies before");
  while (known < sent && !node->confirmed.compare_exchange_weak(known, sent)) {}
}

bool copy(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes) {
  Node *target = usable(to_device), *source = usable(from_device);
  bool have_both = target->shares_memory && is_in_part(to_device, to) && source->shares_memory && is_in_part(from_device, from);
  if (have_both) {
    char *there = target->arena.here(to), *here = source->arena.here(from);
    if (target == source) {
      std::memmove(there, here, bytes);
    } else {
      copy_and_poll(there, here, bytes, poll);
    }
    return true;
  }
  confirm(target);
  uint64_t words[] = {static_cast<uint64_t>(target->peer)};
  Frame frame = frame_of(NodeFrame::kForward, to, from, bytes);
  frame.words = 1;
  (void)ask(source, frame, "copy between devices", words);
  return true;
}

uint64_t load(Device* device, Module* module) {
  if (module->native.begin == nullptr) return 0;
  Node* node = usable(device);
  size_t bytes = module->native.bytes;
  auto* copied = static_cast<char*>(std::malloc(bytes));
  if (copied == nullptr) fatal("device %d (node): no memory for an image", device->number);
  bool there;
  {
    Guard guard(images_lock());
    there = !module->gone.load(std::memory_order_relaxed);
    if (there) std::memcpy(copied, module->native.begin, bytes);
  }
  uint64_t handle = 0, stage = there ? allocate(device, bytes) : 0;
  if (stage != 0) {
    write(device, stage, copied, bytes);
    handle = ask(node, frame_of(NodeFrame::kLoad, stage, bytes), "load of an image");
    release(device, stage);
  }
  std::free(copied);
  if (there && stage == 0) fatal("device %d (node): no memory for an image", device->number);
  return handle;
}

void unload(Device* device, uint64_t handle) {
  (void)ask(usable(device), frame_of(NodeFrame::kUnload, handle), "unload of an image");
}

uint64_t find(Device* device, uint64_t handle, const char* name) {
  NameInWords words(name);
  Frame frame = frame_of(NodeFrame::kFind, handle);
  frame.words = static_cast<uint16_t>(words.count());
  return ask(usable(device), frame, "search for a symbol", words.begin());
}

uint64_t locate(Device* device, const void* address, size_t bytes) {
  ProgramPlace place = place_of_address(address);
  if (place.module == 0) return 0;
  return ask(usable(device), frame_of(NodeFrame::kLocate, place.module, place.offset, bytes), "search for a symbol");
}

bool launch(Device* device, const Launch& launch, Operation* operation) {
  if (launch.count > kMostArguments) {
    fatal("a target region with %u arguments; the most are %u", launch.count, kMostArguments);
  }
  Frame frame = frame_of(NodeFrame::kLaunch, launch.code, static_cast<uint64_t>(launch.thread_limit),
                         offset_in_program(launch.place));
  frame.words = static_cast<uint16_t>(launch.count);
  frame.flags = operation->timed ? kTimed : 0;
  frame.operation = g_operations.add(operation);
  send(usable(device), frame, launch.arguments);
  return false;
}

}  // namespace

constinit const DeviceKind kNodeKind = {"node", true, describe, start, allocate, release, write,  read,   load,
                                        unload, find, locate,   copy,  launch,   progress, stop};

void start_nodes() {
  if (g_job != nullptr) return;
  g_hook = marline_progress_register("devices on nodes", poll, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
  const NodeJob& job = join_job(kUser);
  if (job.count > kMostPeers) {
    fatal("the job has %d processes; a program can have %d workers: start fewer", job.count, kMostPeers - 1);
  }
  g_job = &job;
  greet_all();
}

// No thread polls meanwhile, nor later.
void end_nodes() {
  if (g_job == nullptr) return;  // also in a fork, where the lock may be one that nobody releases
  Guard guard(g_poll_lock);
  for (int peer = 1; peer < g_job->count; ++peer) g_job->send(peer, frame_of(NodeFrame::kEnd));
  g_job->kind->leave(g_job->wire, true);
  g_job = nullptr;
}

void forget_nodes() {
  g_job = nullptr;
  if (g_hook != nullptr) add_operations(-g_under_way.load(std::memory_order_relaxed));
}

}  // namespace marline::target
