// SPDX-License-Identifier: Apache-2.0
//
// Reads the suspended tasks and the threads of this process, and describes them in JSON.
#include "exec/view/inspect_tasks.hpp"

#include "exec/fiber/fiber.hpp"
#include "exec/fiber/stack.hpp"
#include "exec/worker/worker.hpp"
#include "sched/team.hpp"

#include <cstring>

namespace marline {

namespace {

constexpr size_t kLongestText = 256;
constexpr const char* kWaitKinds[] = {"none", "event", "taskwait", "dependences", "taskgroup",
                                      "lock", "turn",  "yield",    "permission",  "detach"};  // by WaitKind

// A suspended task, and the data that describes it.
struct Suspended {
  MemoryCopy<Fiber> fiber;
  MemoryCopy<Task> task;
  WaitReason why{};
  CallCopy call;
};

bool lies_on(const Fiber* fiber, const void* address) {
  auto* at = static_cast<const char*>(address);
  return at >= static_cast<const char*>(fiber->sp) && at < fiber->stack.high;
}

// True if a task is suspended on the fiber: the task and the fiber point to each other. The fiber's fields are the same
// after the rest has been read, so all of it belongs together.
bool take_suspended(const OwnMemory& memory, const Fiber* at, Suspended* result) {
  if (!result->fiber.take(memory, at) || result->fiber->task == nullptr || result->fiber->sp == nullptr) return false;
  if (!result->task.take(memory, result->fiber->task) || result->task->fiber != at) return false;
  const Fiber* fiber = result->fiber.operator->();
  result->why = {};
  const WaitReason* why = fiber->waits_for;
  if (why != nullptr && !memory.read(why, &result->why, sizeof result->why)) return false;
  if (!result->call.take(memory, result->why.call)) result->call.forget();
  MemoryCopy<Fiber> again;
  return again.take(memory, at) && again->task == fiber->task && again->sp == fiber->sp && again->waits_for == why;
}

// Writes one piece at a time, so that only one piece is kept here; ends where memory is not mapped.
void describe_bytes(ReportStream& out, const OwnMemory& memory, const void* low, size_t left) {
  out.address("sp", low);
  unsigned char piece[1024];
  out.open("stack", '[');
  for (size_t done = 0; done < left; done += sizeof piece) {
    size_t bytes = left - done < sizeof piece ? left - done : sizeof piece;
    if (!memory.read(static_cast<const char*>(low) + done, piece, bytes)) break;
    out.hexadecimal(nullptr, piece, bytes);
  }
  out.close(']');
}

void describe_stack(ReportStream& out, const OwnMemory& memory, const Fiber* fiber, size_t most) {
  auto left = static_cast<size_t>(fiber->stack.high - static_cast<char*>(fiber->sp));
  describe_bytes(out, memory, fiber->sp, left < most ? left : most);
}

// Both compilers' blocks hold the address of the task's function in one of their first words.
void describe_block(ReportStream& out, const OwnMemory& memory, const Task* task) {
  const void* words[2] = {};
  if (task->has(task_flag::kImplicit)) {
    MemoryCopy<Team> team;
    if (team.take(memory, task->team)) words[0] = team->microtask;
  } else {
    memory.read(task->block, words, sizeof words);
  }
  out.open("block", '[');
  for (const void* word : words) out.address(nullptr, word);
  out.close(']');
}

void describe_task(ReportStream& out, const OwnMemory& memory, const Task* at, const Task* task) {
  out.address("id", at);
  char label[kLongestText];
  if (task->name() != nullptr && memory.read_string(task->name(), label, sizeof label)) out.string("label", label);
  out.string("kind", task->has(task_flag::kImplicit) ? "implicit" : task->tied() ? "tied" : "untied");
  out.address("parent", task->parent);
  out.address("taskgroup", task->taskgroup);
  MemoryCopy<Worker> home;
  if (home.take(memory, task->home)) out.number("home", home->id);
  uint64_t children = task->children.load(relaxed) + task->created * children_word::kLeaf;
  out.number("children", children_word::incomplete(children));
  describe_block(out, memory, task);
}

bool is_at_barrier(const OwnMemory& memory, const Task* task) {
  MemoryCopy<Member> member;
  return task->has(task_flag::kImplicit) && member.take(memory, static_cast<Member*>(task->block)) &&
         member->at_barrier != AtBarrier::kNot;
}

void describe_wait(ReportStream& out, const OwnMemory& memory, const Suspended& one) {
  const WaitReason& why = one.why;
  auto kind = static_cast<size_t>(why.kind);
  if (kind >= sizeof kWaitKinds / sizeof *kWaitKinds) kind = 0;
  bool at_barrier = why.kind == WaitKind::kYield && is_at_barrier(memory, one.task.operator->());
  out.open("wait", '{');
  out.string("kind", at_barrier ? "barrier" : kWaitKinds[kind]);
  out.address("object", why.object);
  one.call.describe(out);
  MemoryCopy<Taskgroup> group;
  if (why.kind == WaitKind::kTaskgroup && group.take(memory, static_cast<const Taskgroup*>(why.object))) {
    out.number("unfinished", group->count.load(relaxed) / Taskgroup::kOne);
  }
  out.close('}');
}

struct Walk {
  ReportStream& out;
  const OwnMemory& memory;
  const InspectRequest& request;
  size_t described = 0;

  void visit(const Fiber* at) {
    Suspended one;
    if (!take_suspended(memory, at, &one)) return;
    const Fiber* fiber = one.fiber.operator->();
    out.open(nullptr, '{');
    describe_task(out, memory, fiber->task, one.task.operator->());
    describe_wait(out, memory, one);
    if (described++ < request.stacks && lies_on(fiber, fiber->sp))
      describe_stack(out, memory, fiber, request.stack_bytes);
    out.close('}');
  }
};

// Visits every worker with a thread: suspended tasks may be on the threads' own stacks, too.
template <class Visit>
void for_each_worker(const OwnMemory& memory, Visit visit) {
  MemoryCopy<Worker> worker;
  for (const Worker* at = newest_worker(); at != nullptr; at = worker->created_before) {
    if (!worker.take(memory, at)) return;
    if (worker->shown_state.thread != 0) visit(at, worker.operator->());
  }
}

// Succeeds if the worker `at` is still in that call afterwards, and has been in no other call in between.
bool take_blocked(const OwnMemory& memory, const Worker* at, const InView& before, CallCopy* call) {
  InView after;
  return call->take(memory, before.blocked) && memory.read(&at->shown_state, &after, sizeof after) &&
         after.blocked == before.blocked && after.suspensions == before.suspensions;
}

const char* state_of(const OwnMemory& memory, const Worker* worker, const Task* task) {
  if (worker->shown_state.blocked != nullptr) return "blocked";
  if (worker->task == nullptr) return "idle";
  return task != nullptr && is_at_barrier(memory, task) ? "barrier" : "runs";
}

// Tasks that wait in place for the worker's current one to end or block (exec/fiber/fiber.hpp).
void describe_callers(ReportStream& out, const OwnMemory& memory, const Worker* worker) {
  constexpr int kMost = 16;
  out.open("below", '[');
  MemoryCopy<Fiber> fiber;
  const Fiber* at = worker->fiber;
  for (int i = 0; i < kMost && fiber.take(memory, at) && fiber->caller != nullptr; ++i) {
    at = fiber->caller;
    MemoryCopy<Fiber> caller;
    if (caller.take(memory, at) && caller->task != nullptr) out.address(nullptr, caller->task);
  }
  out.close(']');
}

int64_t ready_tasks(const OwnMemory& memory, const Worker* worker) {
  int64_t ready = 0;
  MemoryCopy<Member> member;
  for (const Member* at = worker->memberships; member.take(memory, at); at = member->next_membership) {
    int64_t size = member->deque.size_hint();
    ready += size > 0 && !member->deque.empty() ? size : 0;
  }
  return ready;
}

}  // namespace

// Copies the ids. None if they cannot be read: the array is the library's, and may be gone.
void CallCopy::take_ids(const OwnMemory& memory) {
  id_count_ = 0;
  int count = record_.id_count < kMostIds ? record_.id_count : kMostIds;
  if (record_.ids == nullptr || count <= 0) return;
  auto size = static_cast<size_t>(count);
  if (record_.id_bytes == sizeof(int64_t)) {
    if (!memory.read(record_.ids, ids_, size * sizeof(int64_t))) return;
  } else if (record_.id_bytes == sizeof(int32_t)) {
    int32_t narrow[kMostIds];
    if (!memory.read(record_.ids, narrow, size * sizeof(int32_t))) return;
    for (int i = 0; i < count; ++i) ids_[i] = narrow[i];
  } else {
    return;
  }
  id_count_ = count;
}

bool CallCopy::take(const OwnMemory& memory, const marline_wait_t* call) {
  forget();
  count_ = 0;
  if (call == nullptr || !memory.read(call, &record_, sizeof record_)) return false;
  if (!memory.read_string(record_.operation, operation_, sizeof operation_) || *operation_ == 0) return false;
  const char* name = nullptr;
  while (count_ < MARLINE_WAIT_VALUES && record_.names != nullptr) {
    if (!memory.read(record_.names + count_, &name, sizeof name)) return false;
    if (name == nullptr) break;
    if (!memory.read_string(name, names_[count_], sizeof names_[count_])) return false;
    ++count_;
  }
  take_ids(memory);
  call_ = call;
  return true;
}

void CallCopy::describe(ReportStream& out) const {
  if (call_ == nullptr) return;
  out.open("call", '{');
  out.string("operation", operation_);
  out.address("record", call_);
  for (int i = 0; i < count_; ++i) out.number(names_[i], record_.values[i]);
  if (record_.ids != nullptr) {
    out.number("id_count", record_.id_count);
    out.open("ids", '[');
    for (int i = 0; i < id_count_; ++i) out.number(nullptr, ids_[i]);
    out.close(']');
  }
  out.close('}');
}

void describe_tasks(ReportStream& out, const OwnMemory& memory, const InspectRequest& request) {
  out.open("tasks", '[');
  Walk walk{out, memory, request};
  for (size_t i = 0; i < stack_numbers(); ++i) {
    if (Stack stack; stack_number(i, &stack)) walk.visit(fiber_on_stack(stack));
  }
  for_each_worker(memory, [&](const Worker*, const Worker* worker) { walk.visit(worker->shown_state.own_fiber); });
  out.close(']');
  out.number("task_count", static_cast<int64_t>(walk.described));
}

void describe_stack_above(ReportStream& out, const OwnMemory& memory, const void* record,
                          const InspectRequest& request) {
  if (record != nullptr && request.stacks != 0) describe_bytes(out, memory, record, request.stack_bytes);
}

void describe_threads(ReportStream& out, const OwnMemory& memory, const InspectRequest& request) {
  out.open("threads", '[');
  for_each_worker(memory, [&](const Worker* at, const Worker* worker) {
    MemoryCopy<Task> task;
    bool has_task = task.take(memory, worker->task);
    out.open(nullptr, '{');
    out.number("worker", worker->id);
    out.number("thread", worker->shown_state.thread);
    out.string("state", state_of(memory, worker, has_task ? task.operator->() : nullptr));
    out.number("suspensions", static_cast<int64_t>(worker->shown_state.suspensions));
    out.number("ready", ready_tasks(memory, worker));
    if (CallCopy call; take_blocked(memory, at, worker->shown_state, &call)) {
      call.describe(out);
      describe_stack_above(out, memory, worker->shown_state.blocked, request);
    }
    if (has_task) {
      out.open("task", '{');
      describe_task(out, memory, worker->task, task.operator->());
      out.close('}');
    }
    describe_callers(out, memory, worker);
    out.close('}');
  });
  out.close(']');
}

}  // namespace marline
