// SPDX-License-Identifier: Apache-2.0
//
// Makes teams and runs the implicit tasks of their members. A team's fields are written by its opener before the
// members' `job` words are set (release), and by no thread while the region runs; each member initialises its own
// Member when it takes the job.
#include "exec/team/team.hpp"

#include "base/check.hpp"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/team/barrier.hpp"
#include "exec/team/binding.hpp"
#include "exec/view/affinity_display.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/worker.hpp"
#include "graph/dependences.hpp"
#include "sched/idle.hpp"
#include "task/own_icvs.hpp"
#include "tool/tool.hpp"

#include <sched.h>

#include <bit>
#include <cstdlib>
#include <new>

namespace marline {

namespace {

// The limit on inner regions that are open on one thread and of which none encloses another. The thread has left each
// region waiting, with all threads of the region asleep, and continued with other tasks (sched/idle.hpp). Each region
// keeps its threads, so there must be a bound.
constexpr int kMostUnrelatedRegions = 8;

// Lists of unused teams by capacity, a power of two. Under g_abandoned_teams_lock, which is taken when a thread of the
// program's begins or ends, and when a region is larger than all before it.
Team* g_abandoned[std::countr_zero(static_cast<unsigned>(kMaxTeam)) + 1];

Team*& abandoned_of(int capacity) { return g_abandoned[std::countr_zero(static_cast<unsigned>(capacity))]; }

template <class T>
T* allocate_array(int count) {
  void* memory = std::aligned_alloc(alignof(T), sizeof(T) * static_cast<size_t>(count));
  if (memory == nullptr) fatal("out of memory for a team of %d threads", count);
  auto* array = static_cast<T*>(memory);
  for (int i = 0; i < count; ++i) new (&array[i]) T;
  return array;
}

// A team's memory is kept for the next team of its capacity and never freed: a thread outside the team that has made
// one of its tasks ready may still be looking for a worker to wake when the region is long over. So there are as many
// teams as regions were ever open at the same time, about 3 KiB each, and more with the members.
void team_abandon(Team* team) {
  Guard<SpinLock> guard(g_abandoned_teams_lock);
  Team*& list = abandoned_of(team->capacity);
  team->next_free = list;
  list = team;
}

void abandon_all(Team*& list) {
  while (Team* team = list) {
    list = team->next_free;
    team_abandon(team);
  }
}

// Skips teams that a worker has not left yet but is about to leave.
Team* take_abandoned(int capacity) {
  Guard<SpinLock> guard(g_abandoned_teams_lock);
  for (Team** link = &abandoned_of(capacity); *link != nullptr; link = &(*link)->next_free) {
    Team* team = *link;
    if (team->nesting.inside.load(acquire) != 0) continue;  // pairs with run_job
    *link = team->next_free;
    team->nesting.inner = false;
    for (int i = 0; i < capacity; ++i) team->members[i].worker = nullptr;
    team->displayed = {};
    team->asked = 0;
    return team;
  }
  return nullptr;
}

Team* team_create(int capacity) {
  if (Team* team = take_abandoned(capacity)) return team;
  auto* team = allocate_array<Team>(1);
  team->members = allocate_array<Member>(capacity);
  team->tree = allocate_array<Team::TreeNode>(capacity);  // a tree of n leaves has fewer inner nodes
  team->capacity = capacity;
  for (int i = 0; i < capacity; ++i) {
    team->members[i].team = team;
    team->members[i].index = i;
    if (options().priority.on) team->members[i].urgent = allocate_array<PriorityQueue>(1);
  }
  return team;
}

int capacity_for(int size) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(size))); }

// Waits until the workers of the last region have left it: they may still look at queues that are about to change.
void wait_for_stragglers(Team* team) {
  for (int i = 1; i < team->capacity; ++i) {
    Worker* worker = team->members[i].worker;
    while (worker != nullptr && worker->in_region.load(acquire) != 0) sched_yield();
  }
}

Team* grow_hot_team(Worker* worker, int size) {
  Team* old = worker->hot_team;
  if (old != nullptr) {
    wait_for_stragglers(old);
    dismiss_workers(old, 1);
    team_abandon(old);
  }
  Team* team = team_create(capacity_for(size));
  team->members[0].worker = worker;
  worker->hot_team = team;
  team->size = 1;
  return team;
}

// Size and clause in one word, so that a region like the last one needs one comparison.
int asked_as_one(int size, int proc_bind) { return size | proc_bind << 16; }
static_assert(kMaxTeam < 1 << 16);

// For a region with another size or clause than the last one. If the size is the same, only the clause can have changed
// the places.
void arrange_hot_team(Team* team, Worker* worker, int size, int proc_bind) {
  wait_for_stragglers(team);
  int have = 1;
  while (have < team->capacity && team->members[have].worker != nullptr) ++have;
  if (have < size) have += hire_workers(team, have, size - have);
  team->size = have < size ? have : size;
  // Inner regions may need these threads, and the thread limit may not allow others.
  if (have > size && worker->task->icvs->max_active_levels > 1) dismiss_workers(team, size);
  team->asked = team->size == size ? asked_as_one(size, proc_bind) : 0;  // 0: tries to hire again next time
  assign_places(team, worker, proc_bind);
}

// Takes one of the worker's own inner teams that is large enough and that all workers have left.
Team* take_free_inner(Worker* worker, int size) {
  for (Team** link = &worker->nesting.free_inner; *link != nullptr; link = &(*link)->next_free) {
    Team* team = *link;
    if (team->capacity < size || team->nesting.inside.load(acquire) != 0) continue;  // pairs with run_job
    *link = team->next_free;
    return team;
  }
  return nullptr;
}

void keep_inner(Worker* worker, Team* team) {
  team->next_free = worker->nesting.free_inner;
  worker->nesting.free_inner = team;
}

void init_implicit_task(Team* team, Member* member) {
  Task& task = member->implicit_task;
  member->icvs = team->icvs;
  task.block = member;
  task.parent = team->parent_task;
  task.team = team;
  task.taskgroup = nullptr;
  task.fiber = nullptr;
  task.home = nullptr;
  task.flags = task_flag::kTied | task_flag::kImplicit;
  if (team->parent_task != nullptr) task.flags |= team->parent_task->flags & task_flag::kFinal;
  task.children.store(0, relaxed);
  task.created = 0;
  task.table = nullptr;
  task.icvs = &member->icvs;
  task.tool_data = 0;
  task.references.store(1, relaxed);
}

[[gnu::noinline]] void announce_implicit_begin(Team* team, Member* member) {
  member->frame = {};
  member->construct = nullptr;
  member->is_leaving = false;
  // The flags of the address that call_microtask will write.
  member->frame.exit_frame_flags = ompt::kFrameRuntime | ompt::kFramePointer;
  if (!tool::on(tool::event::kImplicitTask) || team->level == 0) return;
  tool::implicit_task(tool::Endpoint::kBegin, &team->tool_data, &member->implicit_task.tool_data,
                      static_cast<unsigned>(team->size), static_cast<unsigned>(member->index),
                      tool::task_bits::kImplicit);
}

}  // namespace

SpinLock g_abandoned_teams_lock;

Team* team_hot(Worker* worker, int size, int proc_bind) {
  Team* team = worker->hot_team;
  if (team != nullptr && team->in_use) return nullptr;
  if (team == nullptr || team->capacity < size) {
    if (!worker->root) return nullptr;
    team = grow_hot_team(worker, size);
  }
  if (team->asked != asked_as_one(size, proc_bind)) arrange_hot_team(team, worker, size, proc_bind);
  // A region that the initial task itself opens is not nested, and other tasks of the initial team may run at its
  // barriers.
  const bool nested = worker->member->team->level > 0 || !worker->task->has(task_flag::kImplicit);
  team->nesting.bounds_reach.store(nested, relaxed);
  if (nested && binding_wanted()) [[unlikely]] {  // the policy may be another than in the last region of the same size
    arrange_hot_team(team, worker, size, proc_bind);
    team->asked = 0;
  }
  team->in_use = true;
  return team;
}

void team_hot_release(Team* team) { team->in_use = false; }

Team* team_inner(Worker* worker, int size, int proc_bind) {
  int around = worker->member->team->active_level - 1;  // open inner regions that may enclose this one
  if (worker->nesting.open_inner - around >= kMostUnrelatedRegions) return nullptr;
  Team* team = take_free_inner(worker, size);
  if (team == nullptr) team = team_create(capacity_for(size));
  team->nesting.inner = true;
  team->nesting.bounds_reach.store(true, relaxed);
  team->members[0].worker = worker;
  team->size = 1 + hire_workers(team, 1, size - 1);
  if (team->size == 1) {
    keep_inner(worker, team);
    return nullptr;
  }
  assign_places(team, worker, proc_bind);
  team->nesting.inside.store(team->size - 1, relaxed);  // published by team_start
  ++worker->nesting.open_inner;
  return team;
}

void team_inner_release(Worker* worker, Team* team) {
  --worker->nesting.open_inner;
  dismiss_inner_workers(team);
  keep_inner(worker, team);
}

Team* team_serial(Worker* worker) {
  Team* team = worker->nesting.free_serial;
  if (team != nullptr) {
    worker->nesting.free_serial = team->next_free;
  } else {
    team = team_create(1);
    // Written once: a thread of no team that has released an earlier barrier may still read it (wake_all).
    team->size = 1;
  }
  team->members[0].worker = worker;
  team->in_use = true;
  return team;
}

void team_serial_release(Worker* worker, Team* team) {
  team->in_use = false;
  team->next_free = worker->nesting.free_serial;
  worker->nesting.free_serial = team;
}

void team_describe_initial(Team* team, const Icvs& icvs, Member* encountering) {
  team->level = 0;
  team->active_level = 0;
  team->parent_task = nullptr;
  team->parent_member = encountering;
  team->icvs = icvs;
  team->thread_counts.held = nullptr;
  team->display_affinity = false;
  team->fp_control.read();
  team->tool_data = 0;
  team->tool_codeptr = nullptr;
}

void team_start(Team* team) {
  team->first_workshare = team->members[0].workshares_entered;
  team->first_single = team->members[0].singles_entered;
  team->first_block = team->members[0].block;
  team->share = team->members[0].worker->binding.share;
  team->nesting.called_back = team->members[0].worker->context.called_back;
  for (int i = 1; i < team->size; ++i) {
    Worker* worker = team->members[i].worker;
    worker->job_index = i;
    worker->in_region.fetch_add(1, relaxed);
    worker->job.store(team, seq_cst);  // releases the team's fields; before the look at `announced`
    wake_worker(worker);
  }
}

void team_withdraw(Team* team) {
  for (int i = 1; i < team->size; ++i) {
    Worker* worker = team->members[i].worker;
    Team* job = team;
    // relaxed: the worker has read nothing of the team's.
    if (!worker->job.compare_exchange_strong(job, nullptr, relaxed)) continue;
    worker->in_region.fetch_sub(1, relaxed);
    if (team->nesting.inner) team->nesting.inside.fetch_sub(1, release);  // pairs with team_inner
    barrier_arrive(&team->members[i]);
  }
}

void implicit_task_begin(Worker* worker, Member* member) {
  Team* team = member->team;
  member->next_membership = worker->memberships;
  worker->memberships = member;
  if (member->index != 0) {  // member 0 goes on from the last region: no construct needs to be reset
    member->workshares_entered = team->first_workshare;
    member->singles_entered = team->first_single;
    member->block = team->first_block;
  }
  init_implicit_task(team, member);
  fence_signal();
  worker->member = member;
  worker->task = &member->implicit_task;
  ++worker->fiber->tied_frames;
  if (team->display_affinity) [[unlikely]]
    affinity_display(AffinityFormat(nullptr).c_str());
  if (tool::present()) [[unlikely]] {
    announce_implicit_begin(team, member);
  }
}

void implicit_task_end(Worker* worker, Member* member, Task* previous, Member* previous_member) {
  // The team may have gone on to its next region: only the member's own fields are read.
  if (tool::on(tool::event::kImplicitTask) && member->implicit_task.parent != nullptr &&
      !member->implicit_task.has(task_flag::kInitial)) {
    tool::implicit_task(tool::Endpoint::kEnd, nullptr, &member->implicit_task.tool_data, 0,
                        static_cast<unsigned>(member->index), tool::task_bits::kImplicit);
  }
  if (member->implicit_task.table != nullptr) drop_table(worker, &member->implicit_task);
  free_own_icvs(&member->implicit_task, worker->pool, &member->icvs);
  --worker->fiber->tied_frames;
  Member** link = &worker->memberships;
  while (*link != member) link = &(*link)->next_membership;
  *link = member->next_membership;
  worker->task = previous;
  worker->member = previous_member;
}

Worker* team_give_threads(Team* team, Worker* list) {
  wait_for_stragglers(team);
  for (int i = 1; i < team->capacity; ++i) {
    Worker* worker = team->members[i].worker;
    if (worker == nullptr) continue;
    team->members[i].worker = nullptr;
    worker->next = list;
    list = worker;
  }
  team->size = 1;
  team->asked = 0;
  return list;
}

void team_dissolve(Worker* worker) {
  if (Team* team = worker->hot_team) {
    wait_for_stragglers(team);
    dismiss_workers(team, 1);
    team_abandon(team);
    worker->hot_team = nullptr;
  }
  abandon_all(worker->nesting.free_serial);
  abandon_all(worker->nesting.free_inner);
}

}  // namespace marline
