// SPDX-License-Identifier: Apache-2.0
//
// In the program: the record of a worker's device and the requests to it, for all kinds of such devices. Any thread.
#pragma once

#include "base/device_set.hpp"
#include "device/contract/device.hpp"
#include "device/contract/wait.hpp"
#include "device/remote/job/frames.hpp"
#include "device/processor/arena.hpp"

#include <atomic>

namespace marline::offload::device {

using namespace wire;

// The program is peer 0. Workers are numbered from 1 on, so there is one fewer of them at most than devices.
inline constexpr int kMostPeers = kMostDevices;

struct Node {
  Device* device;
  int peer;
  int number;  // the worker's own number of the device
  int place;   // for copies (shared_copies.hpp)
  Arena arena;
  bool shares_memory = false;
  // How many frames have been sent that another worker's data may overtake, and how many are known to have arrived.
  std::atomic<uint64_t> sent{0};       // raised after the sending
  std::atomic<uint64_t> confirmed{0};  // never more than `sent`
};

// The job. Null before the first device is listed or started, in a forked child, and when the program has ended.
[[nodiscard]] const NodeJob* node_job();

// Facts about a place (shared_copies.hpp). For node_at and memory_file_at it is not the program's.
[[nodiscard]] Node* node_at(int place);
[[nodiscard]] bool is_gpu_at(int place);
[[nodiscard]] int memory_file_at(int place);  // the descriptor in the worker
[[nodiscard]] int place_count();              // of all workers' devices

// A worker's clock minus this process's, in nanoseconds (base/now.hpp). Known once the worker's first device is
// started.
[[nodiscard]] int64_t clock_offset_of(int peer);

// Whether two processes of the job share memory.
[[nodiscard]] bool are_beside(int peer, int other);

// The progress hook: polls the wire. Returns how many operations have ended.
int poll_nodes(void*);

// How many operations the hook counts for this one. An operation that has a poller is not counted: counting it would
// wake the runtime's watchdog before the answer comes.
[[nodiscard]] int hooks_share(const Operation* operation);
void add_operations(int operations);       // the hook counts so many more
void note_ended();                         // one of them has ended; called from a poll
void end_operation(Operation* operation);  // called from a poll; if `ended` returns false, it is called again later
// Frame::operation for a request; the answer to the request ends the operation.
[[nodiscard]] uint64_t handle_of(Operation* operation);

// Waits until the wire has room for frames to the node: for senders of kernels or data, which have no other limit. Ends
// a forked child of the program with a message.
void await_room(const Node* node);

// The device's node. Ends a forked child of the program with a message.
[[nodiscard]] Node* usable_node(Device* device);

// Sends a frame and waits for its answer. Data of the answer goes to `to`. May suspend.
uint64_t ask_node(Node* node, const Frame& frame, const char* what, const uint64_t* words = nullptr, void* to = nullptr,
                  size_t bytes = 0);

// Sends a frame; its answer ends the operation. Data of the answer goes to `to`.
void start_on_node(Node* node, Frame frame, const uint64_t* words, Operation* operation, void* to = nullptr,
                   size_t bytes = 0);

// Data that is on its way to a worker.
struct Sending : Outgoing {
  marline_event_t event;
  Sending();
};

// A piece of a copy that is in flight. If it is sent, its data belongs to the wire until `wait` has returned.
struct NodePiece {
  Awaited answer;
  Sending sending;
  bool is_sending = false;

  explicit NodePiece(Device* device) : answer(device) {}
  void wait(const char* what, size_t bytes);  // may suspend
};

// Sends a frame with data. The worker answers when it has stored the data; that ends the piece's `answer`.
void start_write_to_node(Node* node, Frame frame, const void* from, size_t bytes, NodePiece& piece);

// Copies kSharedCopy bytes or more (shared_copies.hpp). May suspend.
void write_shared_to_node(Node* node, uint64_t to, const void* from, size_t bytes);

// Makes the worker of `source` send bytes of that device to another worker's device, or to another device of its own.
// The operation ends when they have arrived. Data that was sent to the target before may arrive after them: see
// confirm_on_node.
void forward_on_node(const Node* target, uint64_t to, const Node* source, uint64_t from, size_t bytes,
                     Operation* operation);

// When it returns, all that was sent to the worker before has arrived. May suspend.
void confirm_on_node(Node* node);

// DeviceKind's functions for processors on nodes.
void release_on_node(Device* device, uint64_t address);
void write_on_node(Device* device, uint64_t to, const void* from, size_t bytes);
void read_on_node(Device* device, void* to, uint64_t from, size_t bytes);

// DeviceKind::copy for both kinds of devices on nodes, and the part of it that copies from or to GPUs.
bool copy_between_nodes(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes);
void copy_in_pieces(Node* target, uint64_t to, Node* source, uint64_t from, size_t bytes);

// Joins the job if this process has not joined it yet, and tells the worker which of the program's devices its GPU is.
Node* open_node_gpu(Device* device);

void describe_node_gpu(int index, DeviceFacts& facts);
void progress_nodes(Device* device);

}  // namespace marline::offload::device
