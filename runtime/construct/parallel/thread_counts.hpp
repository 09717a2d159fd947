// SPDX-License-Identifier: Apache-2.0
//
// num_threads with a list, or with `strict` (OpenMP 6.0, section 12.1.2). The first number is for the region, the
// others are for the regions inside it, level by level; the last one applies to all further levels. With `strict` it is
// an error if the region has fewer threads.
//
// A worker keeps the numbers for its next region. If a list was given, the region's team keeps the list until the
// region ends, and the teams inside point to it.
#pragma once

#include <cstdint>

namespace marline {

struct Team;
struct Worker;

struct ThreadCounts {
  static constexpr uint32_t kMost = 16;                                   // numbers in a list; further ones are ignored
  enum class Severity : int32_t { kNone = 0, kWarning = 1, kFatal = 2 };  // OpenMP's severity clause; kNone: not strict

  uint32_t count = 0;
  int32_t numbers[kMost] = {};
  int level = 0;  // nesting level of the region that the first number is for
  Severity severity = Severity::kNone;
  const char* message = nullptr;  // from the clause, or null
};

// The record of the worker's next region, for the caller to fill; the caller sets Worker::pushed.
ThreadCounts* thread_counts_of(Worker* worker);

// Called for a team that opens with a list: copies the list, for this team and the teams inside.
void thread_counts_adopt(Team* team, const ThreadCounts& counts);

// nthreads-var in the team's region.
int thread_count_inside(const Team* team);

// Called when the region has got `have` threads: reports an error if `strict` asked for more.
void thread_counts_enforce(const ThreadCounts& counts, int have);

}  // namespace marline
