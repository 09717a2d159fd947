// SPDX-License-Identifier: Apache-2.0
//
// Writes the late announcements of tasks.
#include "base/task_words.hpp"

namespace marline::trace {
namespace {

constexpr u64 kExplicit = 0x4;  // ompt_task_explicit
constexpr uint32_t kImplicit = 0x2;

}  // namespace

u64 announce(Stream& stream, u64& word) {
  if (word == 0 && !wanted(kTaskEvents)) {
    return stream.current_task();
  }
  if (word == 0) {
    word = stream.new_id();
    stream.emit(word, event::task_create{.code = 0, .parent = 0, .flags = kExplicit});
    return word;
  }
  const u64 index = saturated(word & ~kUnannouncedImplicit, 16);
  word = stream.new_id();
  stream.emit(word, event::implicit_begin{.parallel = 0, .size = 0, .index = index, .flags = kImplicit});
  return word;
}

}  // namespace marline::trace
