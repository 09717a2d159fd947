// SPDX-License-Identifier: Apache-2.0
//
// Replaces tasks that were created before the program knew all data that they use. These are functions of ClusterHead
// (head.hpp).
//
// The data that a task may use is determined when the task is created, by the pointers that are known then. A task that
// is submitted early may be ordered after a kernel T that is going to store another pointer. So T's node reports the
// pointers that it has found, and then asks the program before it ends T (ClusterNode::end_when_allowed). Until the
// node has the answer, no task after T starts on any node. The program finds the tasks after T that would use more data
// now, and all tasks after these. It leaves these tasks out: they will not run. Each is replaced by a new task with the
// same kernel and the same order, and with all data that it may use. When the nodes have confirmed that the left-out
// tasks do not run, T may end. The same is done for a copy to the device that contains a pointer which was not there
// when the copy was submitted; in that case the program's process asks itself.
//
// The core allows this order of creation: let X be left out, and let Y have been created after X and stay. Then Y is
// not ordered after X in the program, so X's replacement may be ordered after Y. The replacement is ordered after X
// itself, so every successor of the replacement is ordered after both.
#include "device/cluster/head/head.hpp"

#include "base/report.hpp"
#include "base/now.hpp"

#include <algorithm>

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

// Returns the task's replacement, or in nearly all cases the task itself, as it has none. Called under the lock, as are
// all functions of this file except take_question and take_note_taken.
TaskNumber ClusterHead::present(TaskNumber task) const {
  for (const Recreated& one : recreated_) {
    if (one.task == task) return one.by;
  }
  return task;
}

// The replacement `by` has ended.
void ClusterHead::forget_recreated(TaskNumber by) {
  for (size_t i = recreated_.count(); i-- > 0;) {
    if (recreated_[i].by == by) recreated_.erase(i);
  }
}

// Replayed tasks are at the list's end and have higher numbers than all others, so the list is ordered by number.
ClusterHead::OpenTask* ClusterHead::find_open(List<OpenTask>& open, TaskNumber number) {
  OpenTask* found = std::ranges::lower_bound(open, number, {}, &OpenTask::number);
  return found != open.end() && found->number == number ? found : nullptr;
}

// Adds to the accesses all data that they lead to by the pointers known now.
void ClusterHead::make_wider(List<TaskAccess>& accesses) { memory_.add_reachable(uses_all(), accesses); }

// Whether make_wider would add bytes to these accesses.
bool ClusterHead::uses_more_now(const List<TaskAccess>& known) {
  auto bytes_of = [](const List<TaskAccess>& accesses) {
    uint64_t bytes = 0;
    for (const TaskAccess& access : accesses) bytes += access.range.bytes;
    return bytes;
  };
  List<TaskAccess> wider;
  for (const TaskAccess& access : known) wider.push(access);
  make_wider(wider);
  return bytes_of(wider) > bytes_of(known);
}

// Whether the task has been replaced.
bool ClusterHead::is_recreated(TaskNumber task) {
  if (!is_replayed(task)) return known_[task].state == Known::State::kReplaced;
  for (const Recreated& one : recreated_) {
    if (one.task == task) return true;
  }
  return false;
}

// Whether the task is a kernel that may use data which was not known when it was created.
bool ClusterHead::may_use_more(TaskNumber task) {
  if (is_replayed(task)) return uses_more_now(head_.graphs().task_of(task).accesses);
  return known_[task].is_kernel() && uses_more_now(head_.made(task).accesses);
}

// Lists the predecessors of a task that has not ended, perhaps with some that have ended.
void ClusterHead::list_open_predecessors(TaskNumber task, List<TaskNumber>& after) {
  if (is_replayed(task)) return head_.graphs().list_open_predecessors(task, after);
  for (TaskNumber before : head_.made(task).predecessors) after.push(before);
}

// Lists all tasks that may be ordered after a task that has not ended. Of a replay all tasks are listed, as the program
// does not know which of them have ended. That does no harm: a task that has ended is not ordered after one that has
// not.
void ClusterHead::list_open(List<OpenTask>& open) {
  for (TaskNumber task = known_.first(); task < known_.end(); ++task) {
    if (!known_[task].has_ended() && !head_.has_ended(task)) open.push({}).number = task;
  }
  const Graphs& graphs = head_.graphs();
  for (size_t i = 0; i < graphs.replay_count(); ++i) {
    for (uint64_t at = 0; at < graphs.tasks_of_replay(i); ++at) open.push({}).number = graphs.first_of_replay(i) + at;
  }
  for (OpenTask& one : open) list_open_predecessors(one.number, one.before);
}

// Marks the tasks that are ordered after the task `after`, and among them the tasks that must be replaced. The created
// tasks and the replayed tasks each come in a legal order, but a task of one kind may be a predecessor of a task of the
// other. So the list is passed once more for each change from one kind to the other on a path.
void ClusterHead::mark(List<OpenTask>& open, TaskNumber after) {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (OpenTask& one : open) {
      auto mark = one.mark;
      for (TaskNumber before : one.before) {
        if (before == after) mark = std::max(mark, OpenTask::kAfter);
        const OpenTask* other = find_open(open, before);
        if (other != nullptr) mark = std::max(mark, other->mark);
      }
      // A replaced task is not replaced again. It still passes the mark on, as its successors are ordered after its
      // predecessors, too.
      bool is_again = is_recreated(one.number);
      if (mark == OpenTask::kAfter && !is_again && may_use_more(one.number)) mark = OpenTask::kAgain;
      is_done = is_done && mark == one.mark;
      one.mark = mark;
    }
  }
}

// Lists the tasks to be replaced, each after its predecessors.
void ClusterHead::list_to_recreate(TaskNumber after, List<TaskNumber>& to) {
  List<OpenTask> open;
  list_open(open);
  mark(open, after);
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (OpenTask& one : open) {
      bool is_next = one.mark == OpenTask::kAgain && !one.is_listed;
      for (TaskNumber before : one.before) {
        const OpenTask* other = is_next ? find_open(open, before) : nullptr;
        is_next = is_next && (other == nullptr || other->mark != OpenTask::kAgain || other->is_listed);
      }
      if (!is_next) continue;
      one.is_listed = true;
      is_done = false;
      if (!is_recreated(one.number)) to.push(one.number);
    }
  }
}

// Adds the predecessors of the replacement of `task`: the predecessors of `made`, each by its own replacement. `made`:
// the task itself, or a task that `task` has replaced.
void ClusterHead::list_predecessors(TaskNumber task, TaskNumber made, List<TaskNumber>& to) {
  List<TaskNumber> after;
  list_open_predecessors(made, after);
  for (TaskNumber before : after) {
    TaskNumber by = present(before);
    if (by == task) {
      if (!head_.has_ended(before)) list_predecessors(task, before, to);
      continue;
    }
    bool is_listed = false;
    for (TaskNumber other : to) is_listed = is_listed || other == by;
    if (!is_listed) to.push(by);
  }
}

// Returns the replacement of a task. It belongs to no graph, as the iteration that is being recorded contains the
// original. The replacement of a replayed task is pinned to the planned node, as it is not known any more whether the
// program named a node. The words are copied, as the left-out task may still have to be sent.
NewTask ClusterHead::copy_of(TaskNumber number) {
  NewTask task;
  if (is_replayed(number)) {
    const PlanTask& from = head_.graphs().task_of(number);
    task.TaskTraits::operator=({.kernel = from.kernel, .kinds = from.kinds, .pin = from.node, .is_awaited = true});
    for (const TaskAccess& access : from.accesses) task.accesses.push(access);
    head_.graphs().list_words(number, task.words);
  } else {
    const NewTask& from = head_.made(number);
    task.TaskTraits::operator=(from);
    for (const TaskAccess& access : from.accesses) task.accesses.push(access);
    for (uint64_t word : from.words) task.words.push(word);
  }
  task.predecessors.push(number);
  list_predecessors(number, number, task.predecessors);
  return task;
}

// Moves the record of a task that is left out to its replacement, and returns it. Both records have the kernel, as the
// left-out task may still have to be sent.
ClusterHead::Known ClusterHead::leave(TaskNumber number) {
  Known known;
  if (is_replayed(number)) {
    known.kernel = graphs_.kernel_of(number);
    known.is_submitted_early = true;
    known.replay = head_.graphs().first_number_of(number);
    graphs_.begin_again(known.replay);
    return known;
  }
  Known& left = known_[number];
  known = left;
  known.state = Known::State::kUnknown;
  known.kernel.call.may_postpone = false;  // postponing may have ended before the replacement is created
  known.sent_to = known.speculative_copy_on = 0;
  left.transition_to_replaced();
  left.operation = nullptr;
  left.checked = nullptr;
  left.host = nullptr;
  left.copies = nullptr;
  left.replay = 0;
  return known;
}

// Creates the replacement of a task that has been left out.
void ClusterHead::recreate(TaskNumber number) {
  NewTask task = copy_of(number);
  if (!is_replayed(number)) head_.pass_on_last_of(number, task.last_of);
  Known known = leave(number);
  if (known.is_kernel()) make_wider(task.accesses);
  TaskNumber by = create(std::move(task), known);
  for (Recreated& one : recreated_) {
    if (one.by == number) one.by = by;
  }
  recreated_.push({number, by});
}

// Replaces the tasks after `after` that must be replaced. Adds to `notified` the nodes that get a message about a
// left-out task.
void ClusterHead::recreate_successors(TaskNumber after, List<NodeNumber>& notified) {
  // The rest of the iteration is created with all the data that it uses.
  head_.cut_iteration();
  List<TaskNumber> tasks;
  list_to_recreate(after, tasks);
  for (TaskNumber task : tasks) {
    NodeNumber node = head_.place_of(task).node;
    bool is_reported = head_.leave_out(task) && node != 0;
    for (NodeNumber other : notified) is_reported = is_reported && other != node;
    if (is_reported) notified.push(node);
  }
  for (TaskNumber task : tasks) recreate(task);
}

// Sends a frame of one word to a node, after everything that has been sent to it before.
static void send_word(NodeNumber node, ClusterFrame kind, uint64_t word) {
  node_job()->send(static_cast<int>(node), frame_of(kind, 1), &word);
}

// Replaces the tasks after the task `after`, which `asked` is about, and sends the cancellations of the left-out tasks
// to their nodes. Returns true if nodes must confirm them before `after` may end: then the last confirmation calls
// `answer`. The asking node need not confirm its cancellations, as it gets them before it gets the answer.
bool ClusterHead::waits_for_notes(const OpenQuestion& asked, TaskNumber after) {
  List<NodeNumber> notified;
  recreate_successors(after, notified);
  for (Message& message : head_.messages) send(message);
  head_.messages.clear();
  OpenQuestion open = asked;
  open.number = ++last_note_;
  for (NodeNumber other : notified) {
    if (other == open.node) continue;
    send_word(other, ClusterFrame::kTakesNote, open.number);
    ++open.missing;
  }
  if (open.missing != 0) open_questions_.push(open);
  return open.missing != 0;
}

void ClusterHead::take_question(NodeNumber node, uint64_t question, TaskNumber task) {
  auto take = [&] {
    bool waits = waits_for_notes({0, node, question, 0, false}, head_.original(task));
    if (!waits) send_word(node, ClusterFrame::kMayEnd, question);
  };
  under_lock(take, true);
}

// Lets the task end that the question is about.
void ClusterHead::answer(const OpenQuestion& asked) {
  if (asked.node != 0) return send_word(asked.node, ClusterFrame::kMayEnd, asked.question);
  asked.compares ? node_.end_at_once(asked.question) : node_.end(asked.question, 0);
}

void ClusterHead::take_note_taken(uint64_t number) {
  auto take = [&] {
    size_t at = 0;
    while (at < open_questions_.count() && open_questions_[at].number != number) ++at;
    if (at == open_questions_.count())
      fatal("a worker has confirmed a message that it was not sent: does it run another Marline?");
    if (--open_questions_[at].missing != 0) return;
    OpenQuestion asked = open_questions_[at];
    open_questions_.erase(at);
    answer(asked);
  };
  under_lock(take, true);
}

}  // namespace marline::offload::device
