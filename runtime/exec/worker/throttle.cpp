// SPDX-License-Identifier: Apache-2.0
//
// Holds a generating task while too many of its tasks are unfinished. Runs on the thread of the generating task.
#include "exec/worker/throttle.hpp"

#include "base/clock.hpp"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/pieces.hpp"
#include "exec/worker/suspend.hpp"
#include "exec/worker/worker.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/target_observer.hpp"

#include <algorithm>
#include <bit>
#include <sched.h>

namespace marline {

namespace {

constexpr uint32_t kLongestInterval = 64;  // creations between two looks at the limits
constexpr uint64_t kPatience = 1'000'000, kLongestPatience = 256 * kPatience;  // nanoseconds

// Unfinished tasks and memory in use, or the limits on them.
struct Amount {
  uint64_t tasks;
  size_t bytes;

  bool reaches(const Amount& limit) const { return tasks >= limit.tasks || bytes >= limit.bytes; }
  bool exceeds(const Amount& limit) const { return tasks > limit.tasks || bytes > limit.bytes; }
  bool is_below(const Amount& other) const { return tasks < other.tasks || bytes < other.bytes; }
};

Amount limits() {
  const Options& o = options();
  return {o.max_tasks != 0 ? static_cast<uint64_t>(o.max_tasks) : UINT64_MAX,
          o.max_bytes != 0 ? o.max_bytes : SIZE_MAX};
}

// The amount at which a held producer goes on: an eighth below the limit, so that it does not stop at every creation.
Amount resumption(const Amount& limit) { return {limit.tasks - limit.tasks / 8 - 1, limit.bytes - limit.bytes / 8}; }

// A power of two, at most a quarter of the limit on tasks: the limit may be exceeded by this number.
uint32_t creations_between_looks() {
  if (options().max_tasks == 0) return kLongestInterval;
  return std::bit_floor(std::clamp(static_cast<uint32_t>(options().max_tasks) / 4, 1u, kLongestInterval));
}

size_t bytes_in_use(const SlabPool* pool, size_t limit) {
  // The mapped bytes are an upper bound, and the sum over all sizes is needed only if they exceed the limit.
  return pool->mapped_bytes() + pool->large_bytes_in_use() < limit ? 0 : pool->bytes_in_use();
}

Amount under_way(Worker* worker, const Amount& limit) {
  flush_reports(worker);
  return {incomplete_children(worker->task), bytes_in_use(worker->pool, limit.bytes)};
}

// How long a producer is held without a completion that makes room. The producer may have gone on above the limit
// before a completion comes. If it comes soon after, it needed the newly created tasks, and the next wait is shorter.
// If it comes late, the tasks are just long, and the next wait is longer.
class Patience {
 public:
  explicit Patience(Worker* worker) : since_(nanoseconds_now()) {
    if (worker->throttling.patience == 0) worker->throttling.patience = kPatience;
  }

  void encourage(Worker* worker) {
    uint64_t now = nanoseconds_now();
    if (worker->throttling.in_vain) {
      worker->throttling.in_vain = false;
      now - since_ < worker->throttling.patience / 4 ? shorten(worker) : lengthen(worker);
    }
    since_ = now;
  }

  bool has_ended(Worker* worker) {
    if (nanoseconds_now() - since_ < worker->throttling.patience) return false;
    if (worker->throttling.in_vain) shorten(worker);
    worker->throttling.in_vain = true;
    return true;
  }

 private:
  static void shorten(Worker* worker) {
    worker->throttling.patience = std::max(worker->throttling.patience / 2, kPatience);
  }
  static void lengthen(Worker* worker) {
    worker->throttling.patience = std::min(worker->throttling.patience * 2, kLongestPatience);
  }

  uint64_t since_;
};

void wait_a_moment(Worker* worker) {
  worker->pool->flush_remote();
  if (progress_pending()) progress_when_idle(worker);
  if (oversubscribed()) sched_yield();
  for (int i = 0; i < 64; ++i) cpu_relax();
}

// Runs other work than the producer: a task over its frame, on a fiber of its own. If too many frames wait in place
// already, yields instead, so that the frames below choose what runs.
void let_others_run(Worker* worker) {
  bool deep = worker->fiber->depth >= kDeepest;
  if (deep && work_in_sight(worker)) return yield_task();
  Found found = deep ? Found{} : find_work(worker);
  if (!found) return wait_a_moment(worker);
  run_over_frame(worker, found.member, found.task);
  this_worker()->thief.drop();
}

void wait_for_room(Worker* worker, const Amount& limit, Amount least) {
  tool::report_wait(MARLINE_WAIT_THROTTLE);
  leave_pieces_of(worker);
  Patience patience(worker);
  Amount enough = resumption(limit);
  for (Amount now = least; now.exceeds(enough) && !patience.has_ended(worker);) {
    let_others_run(worker);
    worker = this_worker();
    worker->pool->collect();
    now = under_way(worker, limit);
    if (!now.is_below(least)) continue;
    least = {std::min(least.tasks, now.tasks), std::min(least.bytes, now.bytes)};
    patience.encourage(worker);
  }
}

}  // namespace

Worker* throttle(Worker* worker) {
  worker->throttling.mask = creations_between_looks() - 1;
  if (options().discover_first) return worker;  // the created tasks are kept back: a wait would make no room
  Amount limit = limits();
  Amount now = under_way(worker, limit);
  if (now.reaches(limit)) wait_for_room(worker, limit, now);
  return this_worker();
}

}  // namespace marline
