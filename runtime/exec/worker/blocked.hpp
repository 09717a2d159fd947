// SPDX-License-Identifier: Apache-2.0
//
// Records of threads that block inside a library call, for `marline ps`. The library makes the record
// (marline_block_begin in marline.h). A worker keeps its record itself; other threads take a slot of a small table.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

struct marline_wait;  // marline.h

namespace marline {

// The slot of a thread that is no worker. That thread claims and frees the slot; any thread may read it.
struct BlockedThread {
  Atomic<int32_t> thread{0};  // the kernel's number of it; 0: the slot is free
  Atomic<const marline_wait*> wait{nullptr};
  int depth = 0;  // owner only
};

inline constexpr int kBlockedThreads = 64;  // at a time; further ones block as well, unseen by `marline ps`
extern BlockedThread g_blocked_threads[kBlockedThreads];

// The calls nest; the outermost one counts.
void block_begin(const marline_wait* wait);
void block_end();

// In a forked child: its only thread is in no library call of the parent's, and has another number.
void blocked_after_fork();

}  // namespace marline
