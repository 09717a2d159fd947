// SPDX-License-Identifier: Apache-2.0
//
// One node's part of the dataflow. It knows the tasks that the node has been assigned, waits for their predecessors on
// other nodes, requests their inputs, starts the tasks, sends what they have written to its home, and notifies the
// nodes that wait. A pure state machine: events are calls, commands are left in `commands`. It uses no thread and no
// clock, and touches no memory of the program.
//
// Every byte of a node's copy of a buffer has a stamp, a number that identifies the write by which the byte got its
// value. Of two values for a byte, the one with the higher stamp is kept. A copy has a twin, which has the bytes as
// they were when they were last compared or merged: when a task has run, the bytes that differ from their twin are the
// ones that it has written.
//
// Invariants (docs/design/cluster-coherence.md proves what follows from them):
// - a task fetches the early inputs of its assignment at once, and the rest when all its predecessors have ended. It
//   starts when all its inputs have come and all its predecessors have ended;
// - for all other nodes, a task has ended when all its homes have merged what it has written;
// - a task that another node runs as a speculative copy has ended when the copy has ended;
// - the stamp of what a task has written is higher than all stamps that its node knew when the task had run, and no
//   task of any node has the same stamp.
#pragma once

#include "cluster/base/window.hpp"

#include "base/id_table.hpp"
#include "cluster/replay/share.hpp"

namespace marline::offload::cluster {

enum class WorkerAction : uint8_t {
  kSend,  // send `message`; kData and kDelta carry the bytes and stamps of message.range as they are now
  // Merge the bytes that came with the message just received: those with a higher stamp than the copy has. The driver
  // may have done so before, after a call of `hear`.
  kMerge,
  kReady,  // all inputs of task `index` are there
  // Start task `index`; the driver calls `compare` and `end` when it has run. `task` is its number; for a speculative
  // copy it is the original task's number. For a replayed task, message.index is the plan, message.task the task's
  // number in the iteration, and message.words are the driver's words of the task (PlanStep::words).
  kStart,
  // Compare, for task `index`: bytes of `range` that differ from their twin get `stamp`, and are copied to the twin.
  kCompare,
  kDrop,  // drop the copy of range.buffer
};

struct WorkerCommand {
  WorkerAction action{};
  uint64_t index = 0, stamp = 0;
  bool is_sole = false;  // PlannedAccess::is_sole of the access whose bytes are compared
  bool is_home = false;  // the node is the range's home
  TaskNumber task = 0;
  ClusterRange range;
  Message message;
};

class Worker {
 public:
  static constexpr size_t kUnknownSlots = ~size_t{0};

  // `slots`: how many started tasks may not have ended; all others can be withdrawn. `report_at_most`: how many ended
  // tasks may wait for a report while the node is busy. `part`: see kPartBytes.
  explicit Worker(NodeNumber node, size_t slots = kUnknownSlots, size_t report_at_most = kReportAtMost,
                  uint64_t part = kPartBytes)
      : node_(node), slots_(slots), report_at_most_(report_at_most), part_(part) {
    assert(node >> kNodeBits == 0);  // each node is one device, and the number of devices is limited far below this
  }

  void receive(Message& message);
  // Takes over the clock of a message whose bytes are about to be merged. The message itself is received later.
  void hear(uint64_t clock) {
    if (clock > clock_) clock_ = clock;
  }
  // A started task has run. Leaves commands to compare, and no others, which the driver executes before it calls `end`.
  // Other events may come in between; for them the task still runs.
  void compare(uint64_t index);
  // The task has run for `time`, in the driver's unit, and has been compared.
  void end(uint64_t index, double time);
  // The number of a task that the node has been assigned; of a speculative copy: the original task's.
  [[nodiscard]] TaskNumber task_of(uint64_t index) { return tasks_[index].number; }
  // Whether ended tasks wait for a report.
  [[nodiscard]] bool has_unreported_ends() const { return !ended_.is_empty(); }
  // Reports the ended tasks now.
  void report() {
    must_report_ = true;
    report_if_due();
  }

  // All tasks with a lower index have been forgotten: no command and no call names one of them any more.
  [[nodiscard]] uint64_t first_known() const { return tasks_.first(); }

  // The driver executes the commands in order and clears the list.
  List<WorkerCommand> commands;

  // The report delay: how long an end may wait to be reported together with others, in the driver's unit. The driver
  // calls report() when an end has waited that long. If the next end is likely to come later than that, an end does not
  // wait.
  double waits_at_most = 1e300;
  // The report delay in nanoseconds for this many nodes. With it, the reports of all nodes together cost node 0 at most
  // a twentieth of its time.
  static double report_delay(size_t nodes) { return nodes <= 16 ? 1e6 : 1e6 / 16 * static_cast<double>(nodes); }

  static constexpr size_t kReportAtMost = 16;

 private:
  enum class State : uint8_t {
    kUnknown,
    kWaiting,
    kFetching,
    kReady,
    kWithSpeculativeCopy,
    kRunning,
    kMerging,
    kEnded,
    kForgotten
  };

  struct Input {
    ClusterRange range;
    bool has_come;
  };

  // A task of this node, from the first message about it on.
  //
  //   kUnknown -- assign --> kWaiting -- predecessors have ended --> kFetching -- inputs have come --> kReady
  //
  //            a slot is free, or it is cancelled             compared              homes have merged
  //   kReady --+--------------------------------> kRunning -----------> kMerging --+----------------> kEnded
  //            |  an idle node runs its copy                                       |  the copy has ended
  //            +--------------------------------> kWithSpeculativeCopy ------------+
  //
  //   kEnded -- forget --> kForgotten
  struct Task {
    void transition_to_waiting() { assert(state == State::kUnknown), state = State::kWaiting; }
    void transition_to_fetching() { assert(state == State::kWaiting), state = State::kFetching; }
    void transition_to_ready() { assert(state == State::kFetching), state = State::kReady; }
    void transition_to_with_copy() { assert(state == State::kReady), state = State::kWithSpeculativeCopy; }
    void transition_to_running() { assert(state == State::kReady), state = State::kRunning; }
    void transition_to_merging() { assert(state == State::kRunning), state = State::kMerging; }
    void transition_to_ended() {
      assert(state == State::kMerging || state == State::kWithSpeculativeCopy), state = State::kEnded;
    }
    void transition_to_forgotten() { assert(state == State::kEnded), state = State::kForgotten; }

    State state = State::kUnknown;
    bool is_cancelled = false, has_run = false;
    bool has_speculative_copy = false, is_speculative_copy = false;
    TaskPlace other;  // of a speculative copy: the original task; of the original task: its speculative copy
    double time = 0;
    double beside = 0;  // how many tasks ran when this one ended, itself included
    // -1: a kSpeculativeCopy for this speculative copy has come before its assignment.
    int64_t open_predecessors = 0;
    size_t open_inputs = 0, open_merges = 0;
    TaskNumber number = 0;
    int32_t priority = 0;
    uint64_t order = 0;
    // For a replayed task:
    uint64_t batch = 0, plan = 0;
    TaskNumber step = 0;   // its number in the iteration
    List<uint64_t> words;  // the driver's words
    List<PlannedAccess> accesses;
    List<Input> inputs;  // inputs that have been requested; cleared when all are there
    List<TaskPlace> subscribers;
    List<Message> fetches;  // fetches for other tasks, which wait for this task's inputs or end
  };

  // A task that could start. Perhaps it has left this state meanwhile.
  struct Ready {
    int32_t priority;
    uint64_t order, arrival, index;
    // The other task starts first.
    bool operator<(const Ready& other) const {
      return priority != other.priority ? priority < other.priority
             : order != other.order     ? order > other.order
                                        : arrival > other.arrival;
    }
  };

  // Tasks of a replay that came together. Their ends are reported together.
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
  void speculative_copy(Message& message);
  void send_deltas(uint64_t index);
  void complete(uint64_t index);
  void notify_end(const TaskPlace& subscriber);
  void send_data(const Message& fetch);
  void answer_fetches(Task& task, bool has_ended);
  void answer_fetches_of(Task& task, const ClusterRange& come);
  static bool is_there(const Task& task, const ClusterRange& range);
  void send_early(Task& task, const Message& fetch);
  void report_if_due();
  void await(uint64_t below);
  WorkerCommand& command(WorkerAction action, uint64_t index = 0);
  Message& send(MessageKind kind, NodeNumber to, uint64_t index = 0);

  NodeNumber node_;
  // If a task has more accesses than this, its inputs are passed on only when all of them are there, because each part
  // that comes would be compared with all accesses.
  static constexpr size_t kMostLookedAt = 64;

  size_t slots_, report_at_most_, running_ = 0;
  uint64_t part_;
  // The lower bits of a stamp are the node's number; the other 48 bits are the clock, which is enough for years.
  static constexpr unsigned kNodeBits = 16;
  uint64_t clock_ = 0;
  Window<Task> tasks_;
  List<EndedTask> ended_;  // at most report_at_most_
  List<Ready> ready_;      // a heap of the tasks that could start
  uint64_t arrivals_ = 0;  // how many tasks have ever been put into ready_
  // Report now: ended_ holds a batch or an awaited task, or the next report may be delayed.
  bool must_report_ = false;
  uint64_t awaited_ = 0;    // the program waits for the tasks below this index
  IdTable<Share> shares_;   // by plan; as many as the plans that node 0 keeps
  IdTable<Batch> batches_;  // batches in flight
  uint64_t last_batch_ = 0;
  List<Message> own_;  // messages from this node to itself, which the driver does not see
};

}  // namespace marline::offload::cluster
