// SPDX-License-Identifier: Apache-2.0
//
// In the program: copies from and to devices on nodes. If a worker shares memory with the program, the program has
// mapped the worker's memory and makes the copy itself. Otherwise data travels by the wire; data between two workers
// does not pass the program. Any thread.
#include "base/report.hpp"
#include "device/contract/wait.hpp"
#include "device/remote/program/link.hpp"
#include "device/remote/program/shared_copies.hpp"
#include "device/processor/long_copy.hpp"
#include "device/processor/window.hpp"

#include <cstring>

namespace marline::offload::device {

using namespace wire;

Sending::Sending() : event MARLINE_EVENT_INIT {
  marline_event_init(&event);
  sent = [](Outgoing* outgoing) {
    note_ended();
    marline_event_fulfill(&static_cast<Sending*>(outgoing)->event);
  };
}

void NodePiece::wait(const char* what, size_t bytes) {
  if (is_sending) wait_or_progress(&sending.event, answer.device, what, bytes);
  answer.wait(what, bytes);
}

namespace {

bool send_bytes(int place, uint64_t to, const void* from, size_t bytes, Outgoing* outgoing, Operation* operation) {
  Node* node = node_at(place);
  Frame frame = frame_of(NodeFrame::kWrite, to);
  frame.flags = flags_of_device(node->number);
  frame.bulk = bytes;
  if (operation != nullptr) {
    frame.flags |= kAnswers;
    frame.operation = handle_of(operation);
  }
  add_operations(operation != nullptr ? 1 + hooks_share(operation) : 1);
  bool is_copied = node_job()->kind->send(node_job()->wire, node->peer, frame, nullptr, from, outgoing);
  if (!is_gpu_at(place)) node->sent.fetch_add(1);  // data for a GPU is there when its answer is
  return is_copied;
}

void send_data(Node* node, uint64_t to, const void* from, size_t bytes) {
  Sending sending;
  Frame frame = frame_of(NodeFrame::kWrite, to);
  // kMayWait: only a later frame to this worker makes use of the data. A kernel that is in flight might look for the
  // data, too, but then threads poll, which sends the frame.
  frame.flags = flags_of_device(node->number) | kMayWait;
  frame.bulk = bytes;
  await_room(node);
  bool is_copied = node_job()->kind->send(node_job()->wire, node->peer, frame, nullptr, from, &sending);
  node->sent.fetch_add(1);
  if (is_copied) return;
  add_operations(1);
  wait_or_progress(&sending.event, node->device, "copy to", bytes);
}

void forward_bytes(int to_place, uint64_t to, int from_place, uint64_t from, size_t bytes, Operation* operation) {
  const Node *target = node_at(to_place), *source = node_at(from_place);
  bool is_beside = !is_gpu_at(to_place) && is_in_part(target->device, to) && are_beside(source->peer, target->peer);
  uint64_t words[kForwardWords] = {static_cast<uint64_t>(target->peer), static_cast<uint64_t>(to_place - 1),
                                   static_cast<uint64_t>(memory_file_at(to_place)),
                                   is_beside ? part_of(target->device) : 0, static_cast<uint64_t>(target->number)};
  Frame frame = frame_of(NodeFrame::kForward, to, from, bytes);
  frame.flags = flags_of_device(source->number);
  frame.words = kForwardWords;
  frame.operation = handle_of(operation);
  if (hooks_share(operation) != 0) add_operations(1);
  node_job()->send(source->peer, frame, words);
}

// The lowest number of a process on the node of `place`.
int node_number(int place) {
  int peer = place == kProgramPlace ? 0 : node_at(place)->peer, lowest = 0;
  while (!are_beside(lowest, peer)) ++lowest;
  return lowest;
}

constexpr CopyWay kCopyWay = {node_number, is_gpu_at,     [] { return place_count() == 1; },
                              send_bytes,  forward_bytes, [](int place) { confirm_on_node(node_at(place)); },
                              note_ended};

}  // namespace

// What was sent to the worker may arrive later than what another worker sends to it. The answer to a kFlush says that
// it has arrived.
void confirm_on_node(Node* node) {
  uint64_t sent = node->sent.load(), known = node->confirmed.load();
  if (known >= sent) return;
  (void)ask_node(node, frame_of(NodeFrame::kFlush), "copies before");
  while (known < sent && !node->confirmed.compare_exchange_weak(known, sent)) {
  }
}

// Sends the kDiscard before the block can be allocated again, so that new data for these addresses arrives after it.
void release_on_node(Device* device, uint64_t address) {
  if (device->lost || node_job() == nullptr) return;
  auto* node = static_cast<Node*>(device->state);
  size_t empty = node->arena.bytes_to_give_back(address);
  if (empty != 0) {
    Frame discard = frame_of(NodeFrame::kDiscard, address, empty);
    discard.flags = flags_of_device(node->number);
    node_job()->send(node->peer, discard);
    node->sent.fetch_add(1);
  }
  node->arena.release(address);
}

void start_write_to_node(Node* node, Frame frame, const void* from, size_t bytes, NodePiece& piece) {
  frame.flags |= flags_of_device(node->number) | kAnswers | (hooks_share(&piece.answer) == 0 ? kAwaited : 0);
  frame.bulk = bytes;
  frame.operation = handle_of(&piece.answer);
  await_room(node);
  add_operations(1 + hooks_share(&piece.answer));
  piece.is_sending = !node_job()->kind->send(node_job()->wire, node->peer, frame, nullptr, from, &piece.sending);
  if (!piece.is_sending) add_operations(-1);
}

void forward_on_node(const Node* target, uint64_t to, const Node* source, uint64_t from, size_t bytes,
                     Operation* operation) {
  await_room(source);
  forward_bytes(target->place, to, source->place, from, bytes, operation);
}

void write_shared_to_node(Node* node, uint64_t to, const void* from, size_t bytes) {
  await_room(node);
  copy_shared(kCopyWay, node->place, to, kProgramPlace, reinterpret_cast<uint64_t>(from), bytes, node->device,
              "copy to");
}

void write_on_node(Device* device, uint64_t to, const void* from, size_t bytes) {
  Node* node = usable_node(device);
  if (node->shares_memory && is_in_part(device, to)) {
    copy_and_poll(node->arena.here(to), from, bytes, poll_nodes);
  } else if (bytes >= kSharedCopy) {
    write_shared_to_node(node, to, from, bytes);
  } else {
    send_data(node, to, from, bytes);
  }
}

void read_on_node(Device* device, void* to, uint64_t from, size_t bytes) {
  Node* node = usable_node(device);
  if (node->shares_memory && is_in_part(device, from)) {
    copy_and_poll(to, node->arena.here(from), bytes, poll_nodes);
  } else {
    (void)ask_node(node, frame_of(NodeFrame::kRead, from, bytes), "copy from", nullptr, to, bytes);
  }
}

bool copy_between_nodes(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes) {
  Node *target = usable_node(to_device), *source = usable_node(from_device);
  bool have_both =
      target->shares_memory && is_in_part(to_device, to) && source->shares_memory && is_in_part(from_device, from);
  if (have_both) {
    char *there = target->arena.here(to), *here = source->arena.here(from);
    if (target == source) {
      std::memmove(there, here, bytes);
    } else {
      copy_and_poll(there, here, bytes, poll_nodes);
    }
    return true;
  }
  await_room(source);
  if (bytes >= kSharedCopy && target != source) {
    copy_shared(kCopyWay, target->place, to, source->place, from, bytes, from_device, "copy between devices");
    return true;
  }
  if (is_gpu_at(target->place) || is_gpu_at(source->place)) {
    copy_in_pieces(target, to, source, from, bytes);
    return true;
  }
  confirm_on_node(target);
  Awaited answer(from_device);
  forward_bytes(target->place, to, source->place, from, bytes, &answer);
  answer.wait("copy between devices", bytes);
  return true;
}

}  // namespace marline::offload::device
