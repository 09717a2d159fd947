// SPDX-License-Identifier: Apache-2.0
//
// Defines the frames that the nodes of a cluster exchange, and how a message of the core is written as words.
#pragma once

#include "cluster/base/message.hpp"
#include "device/cluster/protocol/blob.hpp"
#include "device/remote/job/frames.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

enum class ClusterFrame : uint16_t {
  // The program's first frame to a worker. Words: the begin of the cluster's memory, its size in bytes, the flags
  // kRunsOnGpu and kHasGpuWords, and word_of the program's MARLINE_CLUSTER_WRITES. The worker answers with
  // NodeFrame::kDone and the number of tasks that it runs at a time.
  kJoin = kFirstExtension,
  // A message of the core, between any two nodes: a blob, as words or as bulk data. Frame::a: when it was sent, or 0
  // (ClusterTimes).
  kMessage,
  // To the program: a task has written bytes that its depend clauses do not name, or that another task has written,
  // too.
  // Words: a CheckFinding.
  kFinding,
  // To the program. Words: a buffer's number, and words that tasks have written there and that may be pointers.
  kPointers,
  // To the program. Words: entries of times.hpp.
  kTimes,
  // To the program. Words: a text. The program prints only the first one that it gets.
  kWarning,
  // To the program: a task has run and may have stored a pointer that the program does not know yet. Words: a number
  // that
  // the node gives to this question, and the task's number. The program answers with kMayEnd and the question's number
  // (late_pointers.cpp).
  kAsksToEnd,
  kMayEnd,
  // From the program to a worker. Word: a number. The worker sends the number back in kHasTakenNote, which proves that
  // it has handled all earlier messages.
  kTakesNote,
  kHasTakenNote,
  // From the program to a worker, with one unused word: the worker postpones no comparison from now on and makes all
  // that it has postponed. It answers with kHasCompared, also with one unused word, after it has sent the pointers that
  // these comparisons found (postponed.cpp).
  kComparesAll,
  kHasCompared,
};

[[nodiscard]] inline Frame frame_of(ClusterFrame kind, size_t words = 0) {
  Frame frame = {};
  frame.kind = static_cast<uint16_t>(kind);
  frame.words = static_cast<uint16_t>(words);
  return frame;
}

inline constexpr uint64_t kRunsOnGpu = 1;  // a GPU runs the worker's kernels
// At least one member is a GPU. So the words of every kernel of Clang's code begin with the words of a GPU launch
// (serve_gpu.hpp), also on processors.
inline constexpr uint64_t kHasGpuWords = 2;

// What a check found (MARLINE_CLUSTER_WRITES=check). kUnnamed: a task has written bytes of a buffer that its depend
// clauses do not name. kWrittenTwice: another task, without an order between the two, has written the same bytes.
enum class Found : uint64_t { kUnnamed, kWrittenTwice };

struct CheckFinding {
  Found what;
  uint64_t task, buffer;
  uint64_t first, end;  // the `count` bytes lie in [first, end)
  uint64_t count;
};

// The number of free bytes that send_blob needs before a blob.
inline constexpr size_t kBlobFront = 16;

// Appends the message to the blob. The caller appends the data that belongs to it: for kAssign the task, for kData and
// kDelta the bytes.
void write_message(const Message& message, BlobWriter& to);
// Returns false if the bytes are not a message.
[[nodiscard]] bool read_message(BlobReader& from, Message& message);

}  // namespace marline::offload::device
