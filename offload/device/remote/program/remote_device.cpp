// SPDX-License-Identifier: Apache-2.0
//
// The program's side of devices on other nodes: which workers there are, and requests to them with their answers.
// Copies are in copies.cpp. Allocation needs no request: the worker has mapped all addresses of its part of the window,
// and the program only calculates. A progress hook polls the wire. An operation that waits for an answer has a handle
// in a table. Any thread.
#include "device/remote/program/remote_device.hpp"

#include "base/forks.hpp"
#include "base/report.hpp"
#include "device/contract/kinds.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/wait.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/program/code.hpp"
#include "device/remote/job/inspection_port.hpp"
#include "device/remote/job/protocol_extension.hpp"
#include "device/remote/program/link.hpp"
#include "device/remote/worker/worker_devices.hpp"
#include "device/remote/job/ranks.hpp"
#include "device/remote/program/shared_copies.hpp"
#include "device/remote/job/stopped.hpp"
#include "device/process/process.hpp"
#include "device/processor/arena.hpp"
#include "device/processor/operation_table.hpp"
#include "device/processor/processor.hpp"
#include "device/processor/window.hpp"
#include "image/program.hpp"
#include "wire/base/peers.hpp"

#include <fcntl.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kMostPlaces = kMostDevices;  // devices of all workers together

// What a worker has reported about itself.
struct HandshakeResult {
  uint64_t identity;     // of its program
  int first, count;      // its devices, in g_places
  int64_t clock_offset;  // its clock minus this process's; known before its first device has work
  bool knows_clock;
};

// A device of a worker, and what the worker has reported about it.
struct Place {
  int peer;
  int number;  // the worker's own number of the device
  DeviceFacts facts;
  int memory_file;  // the descriptor in the worker, once the device is started
  Node* node;       // set when the device is started
};

const NodeJob* g_job = nullptr;            // written before the first device is listed or started
HandshakeResult g_handshakes[kMostPeers];  // by peer
Place g_places[kMostPlaces];               // in the order of the workers; written while they are greeted
int g_place_count = 0;
Lock g_start_lock;  // held to join the job
marline_hook_t* g_hook = nullptr;
std::atomic<int> g_under_way{0};  // operations that the hook counts
OperationTable g_operations;
Lock g_poll_lock;                  // guards the next three; also held to wait on the wire
List<Operation*, 8> g_unfinished;  // `ended` has returned false and is called again; none has a poller
int g_ended = 0;                   // operations that have ended in this poll
int g_ended_uncounted = 0;         // how many of them have a poller
const HeldAcrossForks g_held(g_operations.lock(), ForkOrder::kNodes);

}  // namespace

void add_operations(int operations) {
  g_under_way.fetch_add(operations, std::memory_order_relaxed);
  marline_progress_add(g_hook, operations);
}

int hooks_share(const Operation* operation) { return operation->has_poller ? 0 : 1; }

namespace {

Node* node_of(Device* device) { return static_cast<Node*>(device->state); }

void end(Operation* operation) {
  int uncounted = 1 - hooks_share(operation);  // read before `ended`: the operation may be gone after that
  if (operation->ended(operation)) {
    ++g_ended;
    g_ended_uncounted += uncounted;
  } else {
    g_unfinished.push(operation);
  }
}

Operation* answered(int peer, const Frame& frame) {
  Operation* operation = g_operations.take(frame.operation);
  if (operation == nullptr)
    fatal("worker %d has answered a question that nobody asked (handle %#lx)", peer, frame.operation);
  return operation;
}

constexpr uint32_t kFactsWords = sizeof(DeviceFacts) / sizeof(uint64_t);

// `words`: the facts of the worker's devices; `count`: how many devices.
void add_places(int peer, const uint64_t* words, uint32_t count) {
  HandshakeResult& handshake = g_handshakes[peer];
  handshake.first = g_place_count;
  handshake.count = static_cast<int>(count);
  for (uint32_t i = 0; i < count; ++i, words += kFactsWords) {
    if (g_place_count == kMostPlaces) {
      end_by_options("the workers have more than %d devices: start fewer, or see MARLINE_NODE_DEVICES", kMostPlaces);
    }
    Place& place = g_places[g_place_count++];
    place = {peer, static_cast<int>(i), {}, -1, nullptr};
    std::memcpy(&place.facts, words, sizeof(DeviceFacts));
  }
}

void take_accepted(int peer, const Frame& frame, const uint64_t* words) {
  HandshakeResult& handshake = g_handshakes[peer];
  int number = device_in(frame.flags);
  bool says_facts = handshake.count == 0 && frame.words > 1 && (frame.words - 1) % kFactsWords == 0;
  bool fits = says_facts || (frame.words == 1 && number < handshake.count);
  if (!fits) fatal("worker %d answers as no Marline of this version does", peer);
  handshake.identity = words[0];
  if (says_facts) {
    add_places(peer, words + 1, (frame.words - 1) / kFactsWords);
  } else {
    g_places[handshake.first + number].memory_file = static_cast<int>(frame.b);
  }
  Operation* operation = answered(peer, frame);
  operation->result = frame.a;
  end(operation);
}

void* place(void*, int peer, const Frame& frame, const uint64_t* words) {
  if (is_extension(frame)) return place_newcomer(peer, frame, words);
  void* to = g_operations.place(frame.operation, frame.bulk);
  if (to == nullptr) fatal("worker %d brings %lu bytes that nobody has asked for", peer, frame.bulk);
  return to;
}

void deliver(void*, int peer, const Frame& frame, const uint64_t* words) {
  if (is_extension(frame)) return deliver_extension(peer, frame, words);
  switch (static_cast<NodeFrame>(frame.kind)) {
    case NodeFrame::kAccepted: return take_accepted(peer, frame, words);
    case NodeFrame::kData: return end(answered(peer, frame));
    case NodeFrame::kDone: {
      Operation* operation = answered(peer, frame);
      operation->result = frame.a;
      if ((frame.flags & kTimed) != 0) {
        auto offset = static_cast<uint64_t>(g_handshakes[peer].clock_offset);
        operation->begin = frame.b - offset;
        operation->end = frame.c - offset;
      }
      return end(operation);
    }
    case NodeFrame::kInspectionPort:
      if (!take_inspection_port(peer, frame, words)) fatal("worker %d tells a port %lu that is none", peer, frame.a);
      return;
    default: fatal("worker %d has sent a frame of kind %u, which a program does not understand", peer, frame.kind);
  }
}

// The worker has written itself why it ended, if it could.
void lost(void*, int peer, const char* why) {
  const HandshakeResult& handshake = g_handshakes[peer];
  const Node* node = handshake.count == 1 ? g_places[handshake.first].node : nullptr;
  char devices[48];
  if (handshake.count > 1) {
    std::snprintf(devices, sizeof devices, "a worker with %d devices", handshake.count);
  } else {
    std::snprintf(devices, sizeof devices, "device %d", node != nullptr ? node->device->number : peer - 1);
  }
  const char* where = g_job->kind->peer(g_job->wire, peer)->node;
  char tasks[512];
  report_lost_extension(peer, tasks, sizeof tasks);
  end_process(EXIT_FAILURE, "%s (node, %s on %s) has gone, so the program cannot go on: it %s%s", devices,
              words_for_process(peer), where, why, tasks);
}

[[noreturn]] void fail(const char* line) { fatal("%s", line); }

const WireUser kUser = {nullptr, place, deliver, lost, fail};

// The caller holds g_poll_lock. Returns how many operations have ended.
int poll_locked() {
  g_ended_uncounted = 0;
  g_ended = end_copied_parts();
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
  report_extension_polled();
  look_for_stopped_workers();
  if (int counted = g_ended - g_ended_uncounted; counted != 0) add_operations(-counted);
  return g_ended;
}

}  // namespace

// In a forked child, and when the program has ended, there is no job.
int poll_nodes(void*) {
  if (!g_poll_lock.try_take()) return 0;
  int ended = g_job != nullptr ? poll_locked() : 0;
  g_poll_lock.release();
  return ended;
}

void progress_nodes(Device*) {
  if (!g_poll_lock.try_take()) {
    sched_yield();
    return;
  }
  if (g_job != nullptr && poll_locked() == 0) {
    g_job->kind->wait(g_job->wire, 1);
    (void)poll_locked();
  }
  g_poll_lock.release();
}

void await_room(const Node* node) {
  while (!g_job->kind->has_room(g_job->wire, node->peer)) {
    if (poll_nodes(nullptr) == 0) sched_yield();
  }
  refuse_if_lost(node->device);
}

Node* usable_node(Device* device) {
  refuse_if_lost(device);
  return node_of(device);
}

// Sends the frame before it counts the operation, as counting may wake a thread. If the answer comes before the
// operation is counted, the count is -1 for a moment.
void start_on_node(Node* node, Frame frame, const uint64_t* words, Operation* operation, void* to, size_t bytes) {
  int counted = hooks_share(operation);
  frame.operation = g_operations.add(operation, to, bytes);
  await_room(node);
  frame.flags |= flags_of_device(node->number) | (counted == 0 ? kAwaited : 0);
  g_job->send(node->peer, frame, words);
  if (counted != 0) add_operations(counted);
}

uint64_t ask_node(Node* node, const Frame& frame, const char* what, const uint64_t* words, void* to, size_t bytes) {
  Awaited answer(node->device);
  start_on_node(node, frame, words, &answer, to, bytes);
  answer.wait(what, bytes);
  return answer.result;
}

bool are_beside(int peer, int other) {
  return are_on_one_node(*g_job->kind->peer(g_job->wire, peer), *g_job->kind->peer(g_job->wire, other));
}

const NodeJob* node_job() { return g_job; }
int64_t clock_offset_of(int peer) { return g_handshakes[peer].clock_offset; }
Node* node_at(int place) { return g_places[place - 1].node; }
bool is_gpu_at(int place) { return place != kProgramPlace && g_places[place - 1].facts.is_gpu; }
int place_count() { return g_place_count; }
int memory_file_at(int place) { return g_places[place - 1].memory_file; }
uint64_t handle_of(Operation* operation) { return g_operations.add(operation); }
void note_ended() { ++g_ended; }
void end_operation(Operation* operation) { end(operation); }

namespace {

// The device that has the given index among the GPUs, or among the other devices. Null: it is not known.
Place* place_of(int index, bool is_gpu) {
  for (int i = 0; i < g_place_count; ++i) {
    if (g_places[i].facts.is_gpu == is_gpu && index-- == 0) return &g_places[i];
  }
  return nullptr;
}

void describe_place(const Place& place, DeviceFacts& facts) {
  facts = place.facts;
  const char* node = g_job->kind->peer(g_job->wire, place.peer)->node;
  std::snprintf(facts.uid, sizeof facts.uid, "node-%.40s-%d%.12s", node,
                is_serving_rank() ? place.peer - 1 : place.peer, place.facts.uid);
}

// Before this process has joined the job, it describes as much as is known: each worker counts as one device then
// (node_device_count).
void describe(int index, DeviceFacts& facts) {
  const Place* place = g_job != nullptr ? place_of(index, false) : nullptr;
  if (place == nullptr) {
    describe_processor(facts);
    const char* node = node_of_rank(index);
    if (is_serving_rank() && *node != '\0') {
      std::snprintf(facts.uid, sizeof facts.uid, "node-%.40s-%d", node, index);
    } else {
      std::snprintf(facts.uid, sizeof facts.uid, "node-%d", is_serving_rank() ? index : index + 1);
    }
    return;
  }
  describe_place(*place, facts);
}

bool is_on_this_machine(int peer) {
  const Peer* own = g_job->kind->peer(g_job->wire, g_job->number);
  return are_on_one_machine(*own, *g_job->kind->peer(g_job->wire, peer));
}

// Without a device, the frame asks who the worker is.
Frame hello_of(const Device* device) {
  Frame hello = frame_of(NodeFrame::kHello, kNodeProtocol, device != nullptr ? part_of(device) : 0,
                         device != nullptr ? static_cast<uint64_t>(device->number) : 0);
  hello.words = 2;
  return hello;
}

// Asks all workers what they are, before any device is started, and waits for the answers.
void greet_all() {
  for (int peer = 1; peer < g_job->count; ++peer) {
    struct Greeted : Operation {
      std::atomic<bool> is_here{false};
    } greeted;
    // Called by any thread that polls. The answer is in g_handshakes then.
    greeted.ended = [](Operation* operation) {
      static_cast<Greeted*>(operation)->is_here.store(true, std::memory_order_release);  // pairs with the loop
      return true;
    };
    uint64_t words[] = {program_identity(), 0};
    Frame hello = hello_of(nullptr);
    hello.operation = g_operations.add(&greeted);
    add_operations(1);
    send_inspection_port(g_job->kind, g_job->wire, peer);
    g_job->send(peer, hello, words);
    while (!greeted.is_here.load(std::memory_order_acquire)) progress_nodes(nullptr);
    if (g_handshakes[peer].identity == program_identity()) continue;
    fatal("the program of worker %d, on %s, is another one than this (by its build id): start the same file everywhere",
          peer, g_job->kind->peer(g_job->wire, peer)->node);
  }
}

// Starts the device, and measures how much the worker's clock differs. Processes of one machine have the same clock.
// Otherwise the worker reads its clock while this process waits for the answer: the middle of that time is the best
// guess of when. The shortest of several round trips counts. Only the worker's first device is measured: when another
// one is started, the worker may already have kernels with times.
void open_device(Node* node) {
  constexpr int kTimes = 4;
  HandshakeResult& handshake = g_handshakes[node->peer];
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTimes; ++i) {
    uint64_t words[] = {program_identity(), kPart};
    uint64_t before = now();
    uint64_t theirs = ask_node(node, hello_of(node->device), "first answer", words);
    uint64_t way = now() - before;
    if (handshake.knows_clock || is_on_this_machine(node->peer)) return;
    if (way >= shortest) continue;
    shortest = way;
    handshake.clock_offset = static_cast<int64_t>(theirs - (before + way / 2));
  }
  handshake.knows_clock = true;
}

// Opens the file of a descriptor of another process of the same user. -1: it cannot be reached.
int open_file_of(int process, int file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
  return open(path, O_RDWR | O_CLOEXEC);
}

// Maps the worker's memory by its file if both processes are on one machine, and on one node if the nodes' names are
// made up. Else this process only allocates its addresses.
void open_memory(Node* node, const Place& place) {
  const Peer* own = g_job->kind->peer(g_job->wire, g_job->number);
  const Peer* other = g_job->kind->peer(g_job->wire, node->peer);
  int file = -1;
  if (are_on_one_node(*own, *other)) {
    file = open_file_of(other->pid, place.memory_file);
  }
  node->shares_memory = file >= 0;
  node->arena.adopt(part_of(node->device), kPart, place.facts.memory, file);
  node->device->asks_to_copy = !node->shares_memory;
}

Place& open_place(Device* device, bool is_gpu) {
  void* memory = std::malloc(sizeof(Node));
  if (memory == nullptr) fatal("no memory for device %d (node)", device->number);
  auto* node = new (memory) Node{};
  node->device = device;
  start_nodes();
  Place* found = place_of(device->index, is_gpu);
  if (found == nullptr)
    end_by_options("device %d (node) is not there: set MARLINE_NODE_DEVICES for all processes", device->number);
  Place& place = *found;
  node->peer = place.peer;
  node->number = place.number;
  node->place = 1 + static_cast<int>(found - g_places);
  place.node = node;
  device->state = node;
  open_device(node);
  return place;
}

void start(Device* device) {
  if (device->state != nullptr) return;
  const Place& place = open_place(device, false);
  open_memory(node_of(device), place);
}

void stop(Device*) {}  // all workers end together: see end_nodes

uint64_t allocate(Device* device, size_t bytes) { return usable_node(device)->arena.allocate(bytes); }

}  // namespace

constexpr DeviceTraits kTraits = {.name = "node", .is_asynchronous = true, .job_part = JobPart::kProcessor};
constinit const DeviceKind kNodeKind = {
    kTraits,        describe,           start,          allocate,       release_on_node,
    write_on_node,  read_on_node,       load_on_node,   unload_on_node, find_on_node,
    locate_on_node, copy_between_nodes, launch_on_node, progress_nodes, stop};

Node* open_node_gpu(Device* device) {
  if (device->state == nullptr) (void)open_place(device, true);
  return node_of(device);
}

void describe_node_gpu(int index, DeviceFacts& facts) { describe_place(*place_of(index, true), facts); }

bool node_device_is_gpu(int device) { return g_job != nullptr && g_places[device].facts.is_gpu; }

void describe_node_device(int device, DeviceFacts& facts) {
  g_job != nullptr ? describe_place(g_places[device], facts) : describe(device, facts);
}

int node_device_at(int index, bool is_gpu) {
  const Place* place = g_job != nullptr ? place_of(index, is_gpu) : nullptr;
  return place != nullptr ? static_cast<int>(place - g_places) : index;
}

int node_device_count() {
  if (g_job == nullptr && !expects_several_devices()) return worker_count();
  start_nodes();
  return g_place_count;
}

void start_nodes() {
  Guard guard(g_start_lock);
  if (g_job != nullptr) return;
  check_worker_options();
  g_hook = marline_progress_register("devices on nodes", poll_nodes, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
  const NodeJob& job = join_job(kUser);
  if (job.count > kMostPeers) {
    fatal("the job has %d processes; a program can have %d workers: start fewer", job.count, kMostPeers - 1);
  }
  g_job = &job;
  open_inspection_port(job.kind, job.wire, static_cast<uint16_t>(NodeFrame::kInspectionPort));
  greet_all();
}

// No thread polls meanwhile (g_poll_lock), nor later (g_job is null).
void end_nodes() {
  if (g_job == nullptr) return;  // also in a forked child, where perhaps no thread would release the lock
  Guard guard(g_poll_lock);
  for (int peer = 1; peer < g_job->count; ++peer) g_job->send(peer, frame_of(NodeFrame::kEnd));
  g_job->kind->leave(g_job->wire, true);
  g_job = nullptr;
}

void forget_nodes() {
  g_job = nullptr;
  if (g_hook != nullptr) add_operations(-g_under_way.load(std::memory_order_relaxed));
}

}  // namespace marline::offload::device
