// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "device/cluster/cluster_frames.hpp"

namespace marline::target {

namespace {

constexpr size_t kAccessWords = 7, kEndedWords = 3;

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

TaskPlace read_place(BlobReader& from) {
  auto node = static_cast<NodeNumber>(from.get());
  return {node, from.get()};
}

PlannedAccess read_access(BlobReader& from) {
  PlannedAccess access;
  access.range = read_range(from);
  uint64_t flags = from.get();
  access.may_write = (flags & 1) != 0;
  access.is_fetched = (flags & 2) != 0;
  access.is_sole = (flags & 4) != 0;
  access.source = read_place(from);
  access.home = static_cast<NodeNumber>(from.get());
  return access;
}

}  // namespace

void write_message(const Message& message, BlobWriter& to) {
  to.put(static_cast<uint64_t>(message.kind) | uint64_t{message.is_cancelled} << 8);
  for (uint64_t word : {message.clock, message.index, uint64_t{message.peer.node}, message.peer.index}) to.put(word);
  write_range(message.range, to);
  for (uint64_t word : {message.known, message.task, uint64_t{message.predecessors}}) to.put(word);
  to.put(message.accesses.count());
  for (const PlannedAccess& access : message.accesses) {
    write_range(access.range, to);
    to.put((access.may_write ? 1 : 0) | (access.is_fetched ? 2 : 0) | (access.is_sole ? 4 : 0));
    to.put(access.source.node);
    to.put(access.source.index);
    to.put(access.home);
  }
  to.put(message.ended.count());
  for (const EndedTask& ended : message.ended) {
    to.put(ended.index);
    to.put(ended.has_run);
    to.put_bytes(&ended.time, sizeof ended.time);
  }
}

bool read_message(BlobReader& from, Message& message) {
  uint64_t first = from.get();
  message.kind = static_cast<MessageKind>(first & 0xff);
  message.is_cancelled = (first >> 8) != 0;
  message.clock = from.get();
  message.index = from.get();
  message.peer = read_place(from);
  message.range = read_range(from);
  message.known = from.get();
  message.task = from.get();
  message.predecessors = static_cast<uint32_t>(from.get());
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
    message.ended.push(task);
  }
  return from.is_good() && message.kind <= MessageKind::kReport;
}

}  // namespace marline::target
