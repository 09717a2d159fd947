// SPDX-License-Identifier: Apache-2.0
//
// In the program: a device of a worker, and questions to it, for all kinds of such devices. Any thread.
#pragma once

#include "base/device_set.hpp"
#include "device/contract/device.hpp"
#include "device/contract/wait.hpp"
#include "device/remote/job/frames.hpp"
#include "device/processor/arena.hpp"

#include <atomic>

namespace marline::offload::device {

using namespace wire;

inline constexpr int kMostPeers = kMostDevices;  // workers are numbered from 1 on; as many as devices, less one

struct Node {
  Device* device;
  int peer;
  int number;  // the worker's own
  int place;   // for copies (shared_copies.hpp)
  Arena arena;
  bool shares_memory = false;
  // What has been sent that another worker's data may overtake, and how much of it is known to have arrived.
  std::atomic<uint64_t> sent{0};       // raised behind the sending
  std::atomic<uint64_t> confirmed{0};  // never more than that
};

[[nodiscard]] inline Frame frame_of(NodeFrame kind, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
  Frame frame = {};
  frame.kind = static_cast<uint16_t>(kind);
  frame.a = a;
  frame.b = b;
  frame.c = c;
  return frame;
}

// The job; null: before the first device is listed or started, in a fork, and when the program has ended.
[[nodiscard]] const NodeJob* node_job();

// Of a place (shared_copies.hpp), which is not the program's for the first and the last one.
[[nodiscard]] Node* node_at(int place);
[[nodiscard]] bool is_gpu_at(int place);
[[nodiscard]] int memory_file_at(int place);  // the descriptor in the worker
[[nodiscard]] int place_count();              // of all workers' devices

// Of a worker's clock, less this process's, in nanoseconds (tell.hpp, now); once the worker's first device is started.
[[nodiscard]] int64_t clock_offset_of(int peer);

// Whether two processes of the job share memory.
[[nodiscard]] bool are_beside(int peer, int other);

// Polls the wire; the progress hook. Returns how many operations have ended.
int poll_nodes(void*);

// How many operations the hook is to count for this one. One that has a poller is not counted: to count it would wake
// the runtime's watchdog, ahead of the answer.
[[nodiscard]] int hooks_share(const Operation* operation);
void add_operations(int operations);       // that the hook knows of
void note_ended();                         // one of them, told from a poll
void end_operation(Operation* operation);  // likewise; if it cannot end now, it is asked again
// For the frame whose answer ends the operation.
[[nodiscard]] uint64_t handle_of(Operation* operation);

// Those who send kernels or data without an end wait here for the wire. Ends a fork of the program with a line.
void await_room(const Node* node);

// Ends a fork of the program with a line.
[[nodiscard]] Node* usable_node(Device* device);

// Sends a frame and waits for its answer, with bytes that go to `to`. May suspend.
uint64_t ask_node(Node* node, const Frame& frame, const char* what, const uint64_t* words = nullptr, void* to = nullptr,
                  size_t bytes = 0);

// The answer ends the operation; it may bring bytes, which go to `to`.
void start_on_node(Node* node, Frame frame, const uint64_t* words, Operation* operation, void* to = nullptr,
                   size_t bytes = 0);

// Data that is on its way to a worker.
struct Sending : Outgoing {
  marline_event_t event;
  Sending();
};

// A piece of a copy that is under way. The data of one that is sent is the wire's until the wait has returned.
struct NodePiece {
  Awaited answer;
  Sending sending;
  bool is_sending = false;

  explicit NodePiece(Device* device) : answer(device) {}
  void wait(const char* what, size_t bytes);  // may suspend
};

// Sends a frame with data; the worker answers when it has stored it. Ends the piece's `answer`.
void start_write_to_node(Node* node, Frame frame, const void* from, size_t bytes, NodePiece& piece);

// For kSharedCopy bytes and more (shared_copies.hpp). May suspend.
void write_shared_to_node(Node* node, uint64_t to, const void* from, size_t bytes);

// Lets the device's worker send bytes of it to another worker's device, or to one of its own. The operation ends when
// they are there. Data that was sent to the target before may arrive behind them: see confirm_on_node.
void forward_on_node(const Node* target, uint64_t to, const Node* source, uint64_t from, size_t bytes,
                     Operation* operation);

// What was sent to the worker has arrived at the return. May suspend.
void confirm_on_node(Node* node);

// DeviceKind's functions of processors on nodes.
void release_on_node(Device* device, uint64_t address);
void write_on_node(Device* device, uint64_t to, const void* from, size_t bytes);
void read_on_node(Device* device, void* to, uint64_t from, size_t bytes);

// DeviceKind::copy of both kinds of devices on nodes, and its part for copies from or to GPUs.
bool copy_between_nodes(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes);
void copy_in_pieces(Node* target, uint64_t to, Node* source, uint64_t from, size_t bytes);

// Joins the job, if need be, and tells the worker which of the program's devices its GPU is.
Node* open_node_gpu(Device* device);

void describe_node_gpu(int index, DeviceFacts& facts);
void progress_nodes(Device* device);

}  // namespace marline::offload::device
