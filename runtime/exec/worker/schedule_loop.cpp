// SPDX-License-Identifier: Apache-2.0
//
// What a worker does when it runs no task: the scheduling loop of spare fibers, the wait at a barrier on the waiting
// stack, and the pool thread's wait for a job. All three idle in the same way: poll, spin for a bounded time, sleep.
// Also how a worker that waits shares its core with other threads.
#include "base/clock.hpp"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/pieces.hpp"
#include "exec/worker/run_task.hpp"
#include "exec/worker/suspend.hpp"
#include "exec/worker/worker.hpp"
#include "graph/lineage.hpp"
#include "platform/thread.hpp"
#include "sched/idle.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/target_observer.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>

namespace marline {

namespace {

struct Condition {
  bool (*done)(void*);
  void* context;
};

// One stretch of idleness. Looking at other workers' queues takes cache lines away from them, so the looks become
// rarer, down to about one per microsecond. The second look does not follow at once either: a thread that creates tasks
// one by one would lose its line at each of them. The condition of the wait is checked all the time, because that takes
// no line from a worker.
struct Idleness {
  static constexpr uint32_t kFirstPause = 8;
  static constexpr uint32_t kLongestPause = 64;
  uint64_t since = 0;
  uint64_t polls_since = 0;  // when the fruitless polls began ...
  int64_t polled_for = 0;    // ... and how many operations were pending then
  uint32_t pause = kFirstPause;
  uint32_t fruitless_polls = 0;
  bool slept = false;
  bool rested = false;  // just now, between two polls
  bool polled = false;  // has, or had, the idle poller's role
};

Atomic<int64_t> g_idle_spin{-1};  // set by any thread, read by idle threads; orders nothing

constexpr uint64_t kCrowdedSpin = 20 * 1000;  // nanoseconds, where another thread wants the core
constexpr uint64_t kSpin = 2 * 1000 * 1000;
constexpr uint32_t kPollsBetween = 16;  // at least so many polls come between two rests

uint64_t spin_nanoseconds(bool crowded) {
  if (int64_t asked = g_idle_spin.load(relaxed); asked >= 0) [[unlikely]] {
    auto spin = static_cast<uint64_t>(asked);
    return spin > kCrowdedSpin && crowded ? kCrowdedSpin : spin;
  }
  const Options& o = options();
  if (o.spin_us >= 0) return static_cast<uint64_t>(o.spin_us) * 1000;
  if (o.wait_policy == WaitPolicy::kPassive) return 0;
  if (crowded) return kCrowdedSpin;
  return o.wait_policy == WaitPolicy::kActive ? uint64_t{1} << 62 : kSpin;
}

// However long it is to spin, a thread of a nested region's team sleeps at some time: the team's first member waits for
// that before it works for others (sched/idle.hpp).
uint64_t spin_nanoseconds(const Worker* worker) {
  uint64_t spin = spin_nanoseconds(oversubscribed());
  if (spin <= kSpin) return spin;
  for (const Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    if (m->team->nesting.bounds_reach.load(relaxed)) return kSpin;
  }
  return spin;
}

// Neither the options nor set_idle_spin say how to wait.
bool waits_as_it_likes() {
  return options().wait_policy == WaitPolicy::kAuto && options().spin_us < 0 && g_idle_spin.load(relaxed) < 0;
}

// Another thread had the core for long: the next waits do not spin. If the same happened not many waits ago, the other
// thread is there to stay, and twice as many waits do not spin.
void note_core_was_kept(Worker* worker) {
  constexpr uint32_t kFirst = 64, kMost = 64 * kFirst;
  WaitingBeside& beside = worker->beside;
  bool stays = beside.undisturbed < 8 * beside.sleep_length;
  beside.sleep_length = stays ? std::min(2 * beside.sleep_length, kMost) : kFirst;
  beside.waits_asleep = beside.sleep_length;
  beside.undisturbed = 0;
}

// Yields the core to other threads. The thread that the caller waits for may be queued on this core, after the caller,
// or on another core, after a thread of another process. A thread that keeps the core for long loses it sooner to a
// wake-up than to a yield. Two threads that yield to each other stay on one core, because neither waits long enough for
// the system to move it. So now and then, ever more rarely and at most a twentieth of the time, the caller keeps the
// core for long enough.
void give_way(Worker* worker) {
  constexpr uint64_t kSomebodyRan = 1500,
                     kKeptIt = 200 * 1000;  // ns; a yield without a switch takes 200 to 700, a switch more
  constexpr uint64_t kToBeMoved = 5 * 1000 * 1000, kBetween = 20 * kToBeMoved;
  bool crowded = oversubscribed();
  if (!waits_as_it_likes()) {
    if (crowded) sched_yield();
    return;
  }
  uint64_t before = nanoseconds_now();
  if (before < worker->beside.keeps_core_until) return;
  sched_yield();
  uint64_t away = nanoseconds_now() - before;
  if (away > kKeptIt) {
    note_core_was_kept(worker);
  } else if (crowded || away < kSomebodyRan) {
    worker->beside.shared_yields = 0;
  } else if (++worker->beside.shared_yields >= 64 && std::has_single_bit(worker->beside.shared_yields) &&
             before > worker->beside.keeps_core_until + kBetween) {
    worker->beside.keeps_core_until = before + kToBeMoved;
  }
}

bool sleeps_at_once(Worker* worker) { return worker->beside.waits_asleep > 0 && worker->beside.waits_asleep-- > 0; }

bool never(void*) { return false; }

bool must_not_sleep(Worker* worker, void* context) {
  auto* condition = static_cast<Condition*>(context);
  return condition->done(condition->context) || work_in_sight(worker) || progress_wants_poller(worker);
}

// Giving memory back takes the system milliseconds, so it is done in parts; between them the thread checks whether work
// has come.
void give_back_memory_unless(Worker* worker, bool (*work_came)(Worker*, void*), void* context) {
  while (fibers_shrink(worker) && !work_came(worker, context)) {
  }
}

bool job_posted(Worker* worker, void*) { return worker->job.load(seq_cst) != nullptr; }

struct Rest {
  Condition condition;
  int64_t operations;
};

bool must_not_rest(Worker* worker, void* context) {
  auto* rest = static_cast<Rest*>(context);
  return rest->condition.done(rest->condition.context) || work_in_sight(worker) ||
         progress_operations() != rest->operations;
}

// Another process on this core may be the sender, or compute for a device. A yield is the fastest way to let it run,
// but must not be repeated for long: under Linux 6.18 the yields of one thread per core can keep all other threads
// waiting for seconds. So a thread that polls in vain soon rests as well: it sleeps for a part of the time that it has
// polled in vain. New work and new operations end the rest. Between two rests the thread polls so often that each
// request is asked about, though one poll asks only about some of many; docs/design/progress.md has the limits for
// other calls.
struct RestRule {
  uint64_t part;   // a rest is the fruitless time divided by this
  uint32_t polls;  // more fruitless polls than these come between two rests
};

constexpr int64_t kManyOperations = 16;
constexpr uint64_t kShortestRest = 50 * 1000, kLongestRest = 200 * 1000;  // ns

// A device with many operations has other work while the end of one goes unnoticed. One poll asks about 64 operations.
RestRule rest_rule(int64_t operations, bool only_devices) {
  auto pending = static_cast<uint32_t>(std::max<int64_t>(operations, 0));
  if (!only_devices && shares_cores())
    return {1, kPollsBetween / 4 + pending / 32};  // other processes wait for the core for sure
  if (!only_devices) return {32, kPollsBetween + pending / 32};
  return {operations >= kManyOperations ? 2u : 32u, pending / 64 + 1};
}

// `ended`: how many operations the first poll after a rest has found ended. If they are a quarter of the operations
// that one poll asks about, the device may have run out of work during the rest: the next rests begin only after polls
// have been in vain for twice as long. Each rest after which fewer have ended takes one doubling back.
void judge_rest(Worker* worker, Idleness& idle, int ended) {
  constexpr uint32_t kMostDoublings = 2;
  constexpr int64_t kAsked = 64;
  uint32_t& later = worker->beside.rests_later;
  idle.rested = false;
  if (idle.polled_for >= kManyOperations && ended >= std::min(idle.polled_for, kAsked) / 4) {
    later = std::min(later + 1, kMostDoublings);
  } else if (later > 0) {
    --later;
  }
}

void rest_between_polls(Worker* worker, Idleness& idle, Condition condition, bool only_devices) {
  uint64_t now = nanoseconds_now();
  int64_t operations = progress_operations();
  if (idle.polls_since == 0 || operations != idle.polled_for) {
    idle.polls_since = now;
    idle.polled_for = operations;
  }
  RestRule rule = rest_rule(operations, only_devices);
  uint64_t rest = std::min((now - idle.polls_since) / rule.part, kLongestRest);
  if (rest < kShortestRest << worker->beside.rests_later || idle.fruitless_polls <= rule.polls) {
    if (idle.fruitless_polls > kPollsBetween) sched_yield();
    return;
  }
  Rest context{condition, operations};
  sleep_unless(worker, must_not_rest, &context, oversubscribed(), rest);
  idle.slept = idle.rested = true;
  idle.fruitless_polls = 0;
  if (nanoseconds_now() - now < rest) idle.polls_since = 0;  // woken: work has come, even if it has ended already
}

// While operations are pending, one idle worker polls instead of sleeping for good. True: this one does.
bool poll_while_idle(Worker* worker, Idleness& idle, Condition condition) {
  if (!progress_pending() || !options().progress_idle || worker->context.called_back) return false;
  if (!progress_take_idle_role(worker)) return false;
  if (!idle.polled) notify_primaries(worker);
  idle.polled = true;
  int ended = progress_when_idle(worker);
  if (idle.rested) judge_rest(worker, idle, ended);
  if (ended > 0) {
    idle.fruitless_polls = 0;
    idle.polls_since = 0;
    idle.pause = Idleness::kFirstPause;
  } else {
    ++idle.fruitless_polls;
    bool only_devices = progress_may_rest();
    if (only_devices || oversubscribed()) rest_between_polls(worker, idle, condition, only_devices);
  }
  return true;
}

void spin_once(Worker* worker, Idleness& idle, Condition condition) {
  for (uint32_t i = 0; i < idle.pause && !condition.done(condition.context); ++i) cpu_relax();
  if (idle.pause == Idleness::kLongestPause || oversubscribed()) give_way(worker);
  if (idle.pause < Idleness::kLongestPause) idle.pause *= 2;
}

bool must_not_pause(Worker* worker, void* context) {
  auto* condition = static_cast<Condition*>(context);
  return condition->done(condition->context) || !worker->inbox.empty() || !worker->resumed.empty();
}

// Where threads share cores, a thief that leaves short tasks to their creator sleeps, so that the creator has the core.
// Pushes do not see that, else each short task would wake it; so it sleeps for a short time only.
void sleep_while_pausing(Worker* worker, Condition condition) {
  constexpr uint64_t kRest = 100 * 1000;  // ns
  rest_unless(worker, must_not_pause, &condition, kRest);
}

// A pause that is not worth a sleep is spent like any other wait.
void pause_stealing(Worker* worker, Idleness& idle, Condition condition) {
  if (oversubscribed() && worker->thief.pauses_for_long()) {
    sleep_while_pausing(worker, condition);
  } else {
    spin_once(worker, idle, condition);
  }
}

void idle_once(Worker* worker, Idleness& idle, Condition condition) {
  flush_reports(worker);
  leave_pieces_of(worker);  // of the frames that wait here
  if (idle.since == 0 && !idle.polled) tool::report_wait(MARLINE_WAIT_FOR_WORK);
  if (options().priority.asynchronous && propagate_when_idle(worker)) [[unlikely]]
    return;
  if (poll_while_idle(worker, idle, condition)) return;
  if (worker->thief.pauses()) return pause_stealing(worker, idle, condition);
  uint64_t now = nanoseconds_now();
  if (idle.since == 0) {
    idle.since = now;
    ++worker->beside.undisturbed;
    worker->pool->flush_remote();
  }
  if (now - idle.since < spin_nanoseconds(worker) && !sleeps_at_once(worker)) return spin_once(worker, idle, condition);
  progress_drop_idle_role(worker);  // a sleeping worker would keep others from the role
  if (worker->thief.shuns() && oversubscribed()) {
    worker->thief.forgive();
    return sleep_while_pausing(worker, condition);
  }
  give_back_memory_unless(worker, must_not_sleep, &condition);
  sleep_unless(worker, must_not_sleep, &condition, oversubscribed());
  idle = {};
  idle.slept = true;
}

// Back to work: wakes another worker if it may take over the polling or other work. (A worker that was woken for a task
// of its team may have found a task in its own inbox first; the wake-up must be passed on.)
void end_idleness(Worker* worker, Idleness& idle) {
  if (worker->nesting.polls_in_turn.load(relaxed) != 0) [[unlikely]] {
    worker->nesting.polls_in_turn.store(0, relaxed);
  }
  if (idle.since == 0 && !idle.polled && !idle.slept) return;
  bool polled = progress_drop_idle_role(worker) && progress_pending();
  bool pass_on = polled || (idle.slept && (work_in_sight(worker) || worker->nesting.must_wake));
  idle = {};
  if (!pass_on) return;
  worker->nesting.must_wake = false;
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    polled ? wake_one(m->team) : wake_for_task(m->team);
  }
}

// A frame that waits in place over another one has nothing to do: the other frame gets a turn.
[[gnu::noinline]] void go_round(Worker* worker) {
  tool::report_wait(MARLINE_WAIT_FOR_WORK);
  progress_when_idle(worker);
  worker->nesting.polls_in_turn.store(1, seq_cst);
  notify_primaries(worker);
  if (oversubscribed()) sched_yield();  // perhaps to one of these members
  yield_to_caller();
}

bool has_yielded(const Task* task) {
  return task->fiber != nullptr && task->fiber->waits_for->kind == WaitKind::kYield;
}

}  // namespace

void set_idle_spin(int64_t nanoseconds) { g_idle_spin.store(nanoseconds, relaxed); }
int64_t idle_spin() { return g_idle_spin.load(relaxed); }

void schedule_on_this_fiber() {
  Idleness idle;
  for (;;) {
    Worker* worker = this_worker();
    if (worker->fiber->caller != nullptr) return;
    Found found = find_work(worker);
    if (!found) {
      idle_once(worker, idle, {never, nullptr});
      continue;
    }
    end_idleness(worker, idle);
    if (found.task->fiber != nullptr) {
      resume_and_release(found.member, found.task);
      return;
    }
    worker->member = found.member;
    for (Task* task = found.task; task != nullptr;) {
      task = run_found(task);
      if (task != nullptr && this_worker()->fiber->caller != nullptr) {
        enqueue(this_worker(), task);
        return;
      }
    }
  }
}

bool yield_core_until(bool (*done)(const void*), const void* context) {
  constexpr int kYields = 16;
  if (!oversubscribed() || !waits_as_it_likes()) return false;  // give_way notes who keeps the core only then
  Worker* worker = this_worker();
  ++worker->beside.undisturbed;
  if (sleeps_at_once(worker)) return false;
  for (int i = 0; i < kYields && worker->beside.waits_asleep == 0 && !work_in_sight(worker); ++i) {
    give_way(worker);
    if (done(context)) return true;
  }
  return false;
}

void work_until(bool (*done)(void*), void* context) {
  Idleness idle;
  bool turn_below = true;
  while (!done(context)) {
    Worker* worker = this_worker();
    Member* member = worker->member;
    Found found = find_work(worker);
    if (!found) {
      if (worker->fiber->caller != nullptr) {
        go_round(worker);
      } else {
        idle_once(worker, idle, {done, context});
      }
      continue;
    }
    end_idleness(worker, idle);
    while (found.task != nullptr) {
      // A tied task of this team may run over the frame of a barrier that waits for it anyway. An untied task would be
      // fixed to this thread there.
      if (found.task->fiber != nullptr || !found.task->tied() || found.member != member) {
        // If all tasks that are left have yielded, the frame below gets a turn as well: the others may wait for it.
        turn_below = !turn_below;
        if (turn_below && worker->fiber->caller != nullptr && has_yielded(found.task)) {
          enqueue_yielded(worker, found.member, found.task);
          go_round(worker);
        } else {
          run_over_frame(worker, found.member, found.task);
        }
        break;
      }
      // A task that is taken after the wait was over may belong to a later phase, and must not keep this frame waiting.
      // A task that is taken before keeps the barrier from completing until the task ends.
      if (done(context)) {
        enqueue(worker, found.task);
        break;
      }
      found.task = run_found(found.task);
    }
  }
  this_worker()->thief.drop();
  end_idleness(this_worker(), idle);
}

Team* wait_for_job(Worker* worker) {
  uint64_t since = nanoseconds_now();
  ++worker->beside.undisturbed;
  worker->pool->flush_remote();
  for (uint32_t looks = 0;; ++looks) {
    if (worker->job.load(relaxed) != nullptr) {
      // acquire pairs with team_start. Null: the opener has taken it back (team_withdraw).
      if (Team* team = worker->job.exchange(nullptr, acquire)) return team;
    }
    if (looks % 64 != 63) {
      cpu_relax();
      continue;
    }
    const bool asleep = sleeps_at_once(worker);
    if (!asleep) give_way(worker);
    // A thread of a root's team waits for the next region; a thread without a team makes way for all others.
    bool crowded = worker->in_pool.load(relaxed) != 0 ? more_threads_than_cores() : oversubscribed();
    if (!asleep && nanoseconds_now() - since <= spin_nanoseconds(crowded)) continue;
    give_back_memory_unless(worker, job_posted, nullptr);
    while (SlabPool::shrink() && !job_posted(worker, nullptr)) {
    }
    sleep_unless(worker, job_posted, nullptr, false);
  }
}

}  // namespace marline
