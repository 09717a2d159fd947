// SPDX-License-Identifier: Apache-2.0
//
// One node's part of the dataflow: it knows the tasks that it has been assigned, waits for their predecessors on other
// nodes, has their inputs fetched, starts them, sends what they have written to its home, and tells the nodes that
// wait. A pure state machine: events are calls, commands are left in `commands`. No thread, clock or memory of the
// program.
//
// Invariants (docs/design/cluster.md proves what follows from them):
// - a task fetches early what its assignment says, the rest when all its predecessors have ended, and starts when all
//   its inputs have come and all its predecessors have ended;
// - a task has ended, for everybody else, when all its homes have merged what it has written;
// - a task that another node's task stands in for has ended when that one has;
// - the stamp of what a task has written is above all stamps that its node had heard of when the task had run, and no
// other
//   task's on any node.
#pragma once

#include "cluster/base/numbered.hpp"
#include "cluster/replay/share.hpp"

namespace marline::offload::cluster {

enum class WorkerAction : uint8_t {
  kSend,   // `message`; kData and kDelta with the bytes and stamps of message.range as they are now
  kMerge,  // the bytes that came with the message just received: those with a higher stamp than the copy's. The driver
           // may have done it before, behind `hear`
  kReady,  // the inputs of task `index` are there
  kStart,  // task `index`; the driver calls `compare` and `end` when it has run; `task` is its number, of a stand-in:
           // the one for which it stands in. Of a replay: message.index is the plan, message.task the task's number in
           // the iteration, message.words its words
  kCompare,  // of task `index`: bytes of `range` that differ from their twin get `stamp`, and the twin gets them
  kDrop,     // the copy of range.buffer
};

struct WorkerCommand {
  WorkerAction action{};
  uint64_t index = 0, stamp = 0;
  bool is_sole = false;  // as PlannedAccess has it
  bool is_home = false;  // the node is the range's home
  TaskNumber task = 0;
  ClusterRange range;
  Message message;
};

class Worker {
 public:
  static constexpr size_t kUnknownSlots = ~size_t{0};

  // `slots`: tasks that are started and have not ended, at most; all others can be withdrawn. `report_at_most`: ended
  // tasks that wait for a report while the node is busy. `part`: see kPartBytes.
  explicit Worker(NodeNumber node, size_t slots = kUnknownSlots, size_t report_at_most = kReportAtMost,
                  uint64_t part = kPartBytes)
      : node_(node), slots_(slots), report_at_most_(report_at_most), part_(part) {
    assert(node >> kNodeBits == 0);  // the list of devices, of which each node is one, ends far below
  }

  void receive(Message& message);
  // The clock of a message that is going to be received, whose bytes are about to be merged.
  void hear(uint64_t clock) {
    if (clock > clock_) clock_ = clock;
  }
  // A started task has run: leaves commands to compare, and no others, which the driver executes before it calls `end`.
  // Other events may come in between, for which the task still runs.
  void compare(uint64_t index);
  // It has run for `time`, in the driver's unit, and has been compared.
  void end(uint64_t index, double time);
  // Whether ends wait for a report.
  [[nodiscard]] bool has_untold_ends() const { return !ended_.is_empty(); }
  // They wait no longer.
  void report() {
    must_report_ = true;
    report_if_due();
  }

  // Tasks with a lower index have been forgotten: neither a command nor a call names one any more.
  [[nodiscard]] uint64_t first_known() const { return tasks_.first(); }

  // The driver executes them in their order and clears them.
  List<WorkerCommand> commands;

  // How long an end may wait for others, to be told with them, in the driver's unit; the driver calls report() when one
  // has waited for that. If the next end is likely to come later than that, this one does not wait.
  double waits_at_most = 1e300;
  // In nanoseconds: ends that have waited for that cost node 0 a twentieth of its time, or less, on all nodes together.
  static double patience(size_t nodes) { return nodes <= 16 ? 1e6 : 1e6 / 16 * static_cast<double>(nodes); }

  static constexpr size_t kReportAtMost = 16;

 private:
  enum class State : uint8_t { kUnknown, kWaiting, kFetching, kReady, kLent, kRunning, kMerging, kEnded, kForgotten };

  struct Input {
    ClusterRange range;
    bool has_come;
  };

  struct Task {
    State state = State::kUnknown;
    bool is_cancelled = false, has_run = false;
    bool is_lent = false, is_stand_in = false;
    TaskPlace other;  // the one that stands in for this one, or for which this one does
    double time = 0;
    double beside = 0;              // tasks that ran when this one ended, itself among them
    int64_t open_predecessors = 0;  // -1: the task that this one stands in for has come before the assignment
    size_t open_inputs = 0, open_merges = 0;
    TaskNumber number = 0;
    int32_t priority = 0;
    uint64_t order = 0;
    // Of a replay:
    uint64_t batch = 0, plan = 0;
    TaskNumber step = 0;  // its number in the iteration
    List<uint64_t> words;
    List<PlannedAccess> accesses;
    List<Input> inputs;  // that have been asked for, until all are there
    List<TaskPlace> subscribers;
    List<Message> fetches;  // of other tasks, that wait for the inputs or the end
  };

  // A task that could start, or has left meanwhile.
  struct Ready {
    int32_t priority;
    uint64_t order, arrival, index;
    // Something else is to be started before.
    bool operator<(const Ready& other) const {
      return priority != other.priority ? priority < other.priority
             : order != other.order     ? order > other.order
                                        : arrival > other.arrival;
    }
  };

  // Tasks of a replay that came together, and whose end is told together.
  struct Batch {
    uint64_t number = 0, first = 0, count = 0, open = 0;
    double time = 0;
  };

  void handle(Message& message);
  Share* share_of(const Message& message);
  void replay(const Message& message);
  void leave_batch(uint64_t index);
  void handle_own_messages();
  void assign(Message& message);
  void end_predecessor(uint64_t index);
  void take_data(const Message& message);
  void fetch(uint64_t index, const PlannedAccess& access);
  void subscribe(const Message& message);
  void answer_fetch(Message& message);
  void merge_delta(const Message& message);
  void forget(uint64_t index);
  void fetch_inputs(uint64_t index);
  void find_inputs_complete(uint64_t index);
  void add_ready(uint64_t index);
  void start_ready();
  void start(uint64_t index);
  void withdraw(const Message& message);
  void lend(uint64_t index);
  void stand_in(Message& message);
  void send_deltas(uint64_t index);
  void complete(uint64_t index);
  void tell_end(const TaskPlace& subscriber);
  void send_data(const Message& fetch);
  void answer_fetches(Task& task, bool has_ended);
  void answer_fetches_of(Task& task, const ClusterRange& come);
  static bool is_there(const Task& task, const ClusterRange& range);
  void send_early(Task& task, const Message& fetch);
  void report_if_due();
  void await(uint64_t below);
  Message& send(MessageKind kind, NodeNumber to);

  NodeNumber node_;
  // Of a task with more accesses, others get nothing before all is there: each part that comes is looked up in all.
  static constexpr size_t kMostLookedAt = 64;

  size_t slots_, report_at_most_, running_ = 0;
  uint64_t part_;
  static constexpr unsigned kNodeBits = 16;  // of a stamp; the clock has 48, which last for years
  uint64_t clock_ = 0;
  Window<Task> tasks_;
  List<EndedTask> ended_;     // at most report_at_most_
  List<Ready> ready_;         // a heap
  uint64_t arrivals_ = 0;     // in it, ever
  bool must_report_ = false;  // one of ended_ is a batch, is awaited, or the next may come late
  uint64_t awaited_ = 0;      // tasks below are
  Numbered<Share> shares_;    // by plan; as many as node 0 keeps
  Numbered<Batch> batches_;   // under way
  uint64_t last_batch_ = 0;
  List<Message> own_;  // from this node to itself: no driver sees them
};

}  // namespace marline::offload::cluster
