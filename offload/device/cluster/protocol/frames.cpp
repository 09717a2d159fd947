// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads the messages of the core as words.
#include "device/cluster/protocol/frames.hpp"

namespace marline::offload::device {

namespace {

void pass_place(auto& blob, auto& place) { blob.words(place.node, place.index); }

void pass_message(auto& blob, auto& message) {
  blob.words(message.kind, message.clock, message.index, message.copy, message.task, message.predecessors,
             message.priority, message.order, message.count);
  blob.flags(message.is_cancelled, message.is_after_end, message.is_end, message.is_awaited);
  pass_place(blob, message.peer);
  pass_range(blob, message.range);
  blob.list(message.waits_for, [&](auto& place) { pass_place(blob, place); });
  blob.list(message.accesses, [&](auto& access) {
    pass_access(blob, access);
    pass_place(blob, access.source);
  });
  blob.list(message.ended, [&](auto& one) {
    blob.words(one.index, one.has_run, one.count);
    blob.time(one.time);
  });
  blob.list(message.words, [&](auto& word) { blob.words(word); });
}

}  // namespace

void write_message(const Message& message, BlobWriter& to) { pass_message(to, message); }

bool read_message(BlobReader& from, Message& message) {
  pass_message(from, message);
  return from.is_good() && message.kind <= kLastKind;
}

}  // namespace marline::offload::device
