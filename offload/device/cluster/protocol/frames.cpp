// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads the messages of the core as words.
#include "device/cluster/protocol/frames.hpp"

namespace marline::offload::device {

namespace {

constexpr size_t kAccessWords = 7, kEndedWords = 4, kPlaceWords = 2;

void write_range(const ClusterRange& range, BlobWriter& to) {
  to.put(range.buffer);
  to.put(range.offset);
  to.put(range.bytes);
}

ClusterRange read_range(BlobReader& from) {
  ClusterRange range;
  range.buffer = from.get();
  range.offset = from.get();
  range.bytes = from.get();
  return range;
}

void write_place(const TaskPlace& place, BlobWriter& to) {
  to.put(place.node);
  to.put(place.index);
}

TaskPlace read_place(BlobReader& from) {
  auto node = static_cast<NodeNumber>(from.get());
  return {node, from.get()};
}

void write_access(const PlannedAccess& access, BlobWriter& to) {
  write_range(access.range, to);
  to.put((access.may_write ? 1 : 0) | (access.is_fetched ? 2 : 0) | (access.is_sole ? 4 : 0) |
         (access.is_early ? 8 : 0) | (access.is_after_end ? 16 : 0) | (access.is_end ? 32 : 0));
  write_place(access.source, to);
  to.put(access.home);
}

PlannedAccess read_access(BlobReader& from) {
  PlannedAccess access;
  access.range = read_range(from);
  uint64_t flags = from.get();
  access.may_write = (flags & 1) != 0;
  access.is_fetched = (flags & 2) != 0;
  access.is_sole = (flags & 4) != 0;
  access.is_early = (flags & 8) != 0;
  access.is_after_end = (flags & 16) != 0;
  access.is_end = (flags & 32) != 0;
  access.source = read_place(from);
  access.home = static_cast<NodeNumber>(from.get());
  return access;
}

}  // namespace

void write_message(const Message& message, BlobWriter& to) {
  uint64_t flags = (message.is_cancelled ? 1 : 0) | (message.is_after_end ? 2 : 0) | (message.is_end ? 4 : 0) |
                   (message.is_awaited ? 8 : 0);
  to.put(static_cast<uint64_t>(message.kind) | flags << 8);
  to.put(message.clock);
  to.put(message.index);
  write_place(message.peer, to);
  write_range(message.range, to);
  uint64_t pair = message.predecessors | uint64_t{static_cast<uint32_t>(message.priority)} << 32;
  for (uint64_t word : {message.copy, message.task, message.order, pair}) to.put(word);
  to.put(message.waits_for.count());
  for (const TaskPlace& predecessor : message.waits_for) write_place(predecessor, to);
  to.put(message.accesses.count());
  for (const PlannedAccess& access : message.accesses) write_access(access, to);
  to.put(message.ended.count());
  for (const EndedTask& ended : message.ended) {
    to.put(ended.index);
    to.put(ended.has_run);
    to.put_bytes(&ended.time, sizeof ended.time);
    to.put(ended.count);
  }
  to.put(message.count);
  to.put(message.words.count());
  for (uint64_t word : message.words) to.put(word);
}

bool read_message(BlobReader& from, Message& message) {
  uint64_t first = from.get();
  message.kind = static_cast<MessageKind>(first & 0xff);
  message.is_cancelled = (first & 1 << 8) != 0;
  message.is_after_end = (first & 2 << 8) != 0;
  message.is_end = (first & 4 << 8) != 0;
  message.is_awaited = (first & 8 << 8) != 0;
  message.clock = from.get();
  message.index = from.get();
  message.peer = read_place(from);
  message.range = read_range(from);
  message.copy = from.get();
  message.task = from.get();
  message.order = from.get();
  uint64_t pair = from.get();
  message.predecessors = static_cast<uint32_t>(pair);
  message.priority = static_cast<int32_t>(pair >> 32);
  uint64_t predecessors = from.get();
  if (predecessors > from.left() / (kPlaceWords * sizeof(uint64_t))) return false;
  for (uint64_t i = 0; i < predecessors; ++i) message.waits_for.push(read_place(from));
  uint64_t accesses = from.get();
  if (accesses > from.left() / (kAccessWords * sizeof(uint64_t))) return false;
  for (uint64_t i = 0; i < accesses; ++i) message.accesses.push(read_access(from));
  uint64_t ended = from.get();
  if (ended > from.left() / (kEndedWords * sizeof(uint64_t))) return false;
  for (uint64_t i = 0; i < ended; ++i) {
    EndedTask task = {};
    task.index = from.get();
    task.has_run = from.get() != 0;
    uint64_t time = from.get();
    std::memcpy(&task.time, &time, sizeof time);
    task.count = from.get();
    message.ended.push(task);
  }
  message.count = from.get();
  uint64_t words = from.get();
  if (words > from.left() / sizeof(uint64_t)) return false;
  for (uint64_t i = 0; i < words; ++i) message.words.push(from.get());
  return from.is_good() && message.kind <= kLastKind;
}

}  // namespace marline::offload::device
