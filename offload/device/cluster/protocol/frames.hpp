// SPDX-License-Identifier: Apache-2.0
//
// The frames between the nodes of a cluster, and the words in which a message of the core travels.
#pragma once

#include "cluster/base/message.hpp"
#include "device/cluster/protocol/blob.hpp"
#include "device/remote/job/frames.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

enum class ClusterFrame : uint16_t {
  // From the program to a worker, first: words: the begin of the cluster's memory, its bytes, the flags kRunsOnGpu and
  // kHasGpuWords, and what word_of says of MARLINE_CLUSTER_WRITES. Answered by NodeFrame::kDone: how many threads the
  // worker has
  kJoin = kFirstGuest,
  kMessage,   // of the core, between any two nodes: a blob, as words or as bulk. a: when it was sent, or 0
              // (ClusterTimes)
  kFinding,   // to the program, of a task that has written bytes which it does not name: words as in CheckFinding
  kPointers,  // to the program: words: a buffer, and what has been written there that may be pointers
  kTimes,     // to the program: words: entries of times.hpp
  kWarning,   // to the program: words: a text, of which only the first one is said
  // To the program, of a task that has run and perhaps has stored a pointer of which the program had not heard:
  // words: the node's number for the question, and the task. Answered by kMayEnd, with that number
  // (late_pointers.cpp)
  kAsksToEnd,
  kMayEnd,
  // From the program to a worker: words: a number, which kHasTakenNote has again: what was sent before has come
  kTakesNote,
  kHasTakenNote,
  // From the program to a worker, with a word that says nothing: from now on it postpones no comparison, and makes
  // those that it has. Answered by kHasCompared, likewise, behind the pointers that these have found
  // (postponed.cpp)
  kComparesAll,
  kHasCompared,
};

inline constexpr uint64_t kRunsOnGpu = 1;    // the worker's kernels
inline constexpr uint64_t kHasGpuWords = 2;  // kernels of Clang's code have the words of a GPU's (serve_gpu.hpp)

// A task has written bytes of a buffer that its depend clauses do not name, or that another task, which it has no order
// to, has written as well (MARLINE_CLUSTER_WRITES=check).
enum class Found : uint64_t { kUnnamed, kWrittenTwice };

struct CheckFinding {
  Found what;
  uint64_t task, buffer;
  uint64_t first, end;  // all of them lie here
  uint64_t count;
};

// What send_blob needs in front of a blob.
inline constexpr size_t kBlobFront = 16;

// Appends the message. What goes with it follows in the blob: kAssign: the task; kData and kDelta: the bytes.
void write_message(const Message& message, BlobWriter& to);
// False: it is no message.
[[nodiscard]] bool read_message(BlobReader& from, Message& message);

}  // namespace marline::offload::device
