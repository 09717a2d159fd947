// SPDX-License-Identifier: Apache-2.0
//
// Keeps the thread counts of num_threads clauses, and enforces `strict`. Run by the thread that encounters the region.
#include "construct/parallel/thread_counts.hpp"

#include "base/check.hpp"
#include "sched/team.hpp"

#include <algorithm>
#include <cstdlib>

namespace marline {

namespace {

// Allocates the record at first use. It is kept as long as its owner, which is never freed.
ThreadCounts* kept_in(ThreadCounts*& place) {
  if (place == nullptr) place = static_cast<ThreadCounts*>(std::calloc(1, sizeof(ThreadCounts)));
  if (place == nullptr) fatal("no memory (%zu bytes) for a num_threads clause", sizeof(ThreadCounts));
  return place;
}

}  // namespace

ThreadCounts* thread_counts_of(Worker* worker) { return kept_in(worker->own_thread_counts); }

void thread_counts_adopt(Team* team, const ThreadCounts& counts) {
  if (counts.count <= 1) return;  // a single number does not apply to regions inside
  ThreadCounts* own = kept_in(team->thread_counts.own);
  *own = counts;
  own->level = team->level;
  team->thread_counts.held = own;
}

int thread_count_inside(const Team* team) {
  const ThreadCounts& counts = *team->thread_counts.held;
  auto deeper = static_cast<uint32_t>(team->level - counts.level + 1);
  return counts.numbers[std::min(deeper, counts.count - 1)];
}

void thread_counts_enforce(const ThreadCounts& counts, int have) {
  if (counts.severity == ThreadCounts::Severity::kNone || have >= counts.numbers[0]) return;
  constexpr const char* kFormat =
      "%s: num_threads(strict: %d) got %d; allow more threads (OMP_THREAD_LIMIT, "
      "OMP_MAX_ACTIVE_LEVELS) or ask for fewer";
  const char* message = counts.message != nullptr ? counts.message : "a region has too few threads";
  if (counts.severity == ThreadCounts::Severity::kWarning) {
    warn(kFormat, message, counts.numbers[0], have);
  } else {
    fatal_as_asked(kFormat, message, counts.numbers[0], have);
  }
}

}  // namespace marline
