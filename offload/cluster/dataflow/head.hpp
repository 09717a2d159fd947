// SPDX-License-Identifier: Apache-2.0
//
// Node 0's part of the dataflow. It takes tasks in the order of creation, places them, plans where their bytes come
// from and go to, and assigns them at once, long before their inputs exist. It learns later, in batches, that they have
// ended. A pure state machine: events are calls, commands are messages in `messages`. The driver sends the messages,
// and keeps the order of those for one node. It uses no thread and no clock, and touches no memory of the program.
//
// Invariant: tasks are planned in the order of creation. A task waits only for tasks that were planned before it, at
// its node and elsewhere, or for its speculative copy, which has been sent. So the oldest task in flight can always
// continue, however few credits and however little memory there are.
#pragma once

#include "cluster/base/new_task.hpp"
#include "cluster/base/window.hpp"

#include "cluster/coherence/copies.hpp"
#include "cluster/coherence/directory.hpp"
#include "cluster/placement/batch.hpp"
#include "cluster/replay/graphs.hpp"

namespace marline::offload::cluster {

struct HeadOptions {
  size_t nodes = 1;
  PlacementPolicy policy = PlacementPolicy::kEarliestEnd;
  bool hold = false;               // plan nothing before `barrier`
  uint64_t memory = ~uint64_t{0};  // of each node except node 0
  // How many tasks a node may have been sent that have not ended, without speculative copies.
  uint64_t credits = 64;
  // Tasks are placed in groups of this many, each when as many tasks after it are known. All are placed at `barrier`,
  // or when a node has a free slot.
  uint64_t window = 0;
  // The limit of imbalance: a plan is given up if its most loaded node has more than this times the work that it could
  // have.
  double imbalance_limit = 1.03;
  // The same for replays: more than this times the share of the work that the plan predicted for its most loaded node.
  double replan_gain = 1.1;
  uint64_t replays = 16;    // how many replays are judged together
  bool withdraw = false;    // an idle node may run a speculative copy of a task that waits at a busy node
  double report_delay = 0;  // how long nodes may delay the report of an end: Worker::waits_at_most
};

class Head {
 public:
  explicit Head(const HeadOptions& options);

  // The driver adds members 1 to options.nodes before the first task.
  Placement placement;
  // Called before the first task. Sets HeadOptions::window, but only for a task that may wait, for which moving its
  // data takes a notable part of its time, and whose time is at least `least_time` times the number of all nodes'
  // slots. A task whose time is unknown counts as long enough. All other tasks, and the tasks created before them, are
  // planned at once.
  void set_groups(uint64_t window, double least_time) { options_.window = window, least_time_ = least_time; }
  // Whether tasks wait to be planned with others that have not been created, or for a barrier.
  [[nodiscard]] bool holds_back() const { return due_ < tasks_.end(); }
  // Plans the tasks that wait.
  void plan_held();
  // Whether the node with the least work could start another task at once.
  [[nodiscard]] bool has_idle_node() const;

  TaskNumber create(NewTask task);
  // The task need not run, if it has not started. Its successors run all the same.
  void cancel(TaskNumber task);
  // Cancels a task that cannot have started, because one of its predecessors ends only after the task's node has been
  // notified. So the task will not run. True: its node gets a message about it, ahead of tasks that wait for credits.
  // The task must not have a speculative copy.
  [[nodiscard]] bool leave_out(TaskNumber task);
  // Moves NewTask::last_of of a task that has been left out to `to`, for the task that does its work.
  void pass_on_last_of(TaskNumber task, List<uint64_t>& to) { to.swap(tasks_[task].made.last_of); }
  // The program waits for all tasks.
  void barrier();
  // The program waits for the end of this task, or of each task, perhaps before others have ended. Nodes report these
  // ends at once. They report other ends when a slot is free, or many together.
  void await(TaskNumber task);
  void await_all();
  // A kReport from a node has arrived.
  void receive(const Message& message);

  // Persistent graphs. An iteration consists of the tasks between begin and end. True: it is replayed. Then the tasks
  // are not created; instead replay_next or replay_next_with is called for each, in the order of the iteration before,
  // or replay_all for all of them. False: the tasks are created, with the graph's number and with all their direct
  // predecessors in this iteration and the one before, even if these have ended. `has_barrier`: the graph has a
  // barrier, so the program waits for each iteration before the next one.
  [[nodiscard]] bool begin_iteration(GraphNumber graph, bool has_barrier);
  // Replays the next task, with these driver's words. It has the accesses, the kernel and the predecessors that it had
  // in the iteration before, and no other predecessor that has not ended. False: the iteration is cut, because it has
  // more tasks than the one before, or because another task was created meanwhile. Then this task and the rest of the
  // iteration must be created.
  [[nodiscard]] bool replay_next(GraphNumber graph, const uint64_t* words, size_t count) {
    if (graphs_.replay_next(graph, words, count)) return true;
    send_of_graphs();
    return false;
  }
  // Whether the next task of its graph has the task's kernel and accesses, and may run at its node. For a driver that
  // knows only that its predecessors are the same.
  [[nodiscard]] bool is_next(const NewTask& task) { return graphs_.is_next(task); }
  // The plan that is kept of the graph, valid until the next call of this class; null: there is none.
  [[nodiscard]] const Plan* kept_plan(GraphNumber graph) { return graphs_.kept(graph); }
  // Replays all tasks, with the driver's words (NewTask::words) of the iteration before. False: the iteration has been
  // cut, or is not a replay.
  [[nodiscard]] bool replay_all(GraphNumber graph) { return graphs_.replay_all(graph); }
  // The graph's iteration is replayed, and has not been cut meanwhile.
  [[nodiscard]] bool is_replaying(GraphNumber graph) const { return graphs_.is_replaying(graph); }
  // Replays the next task with the driver's words of the iteration before, except for these words, which are counted
  // from `first` on. The same plan must have replayed the iteration before.
  [[nodiscard]] bool replay_next_with(GraphNumber graph, const ChangedWord* changed, size_t count, uint32_t first = 0) {
    if (graphs_.replay_next_with(graph, changed, count, first)) return true;
    send_of_graphs();
    return false;
  }
  // The tasks replayed so far may start; otherwise they wait for the end of the iteration.
  void confirm();
  // The next tasks differ from the iteration before: the rest of the iteration must be created.
  void cut_iteration();
  void end_iteration(GraphNumber graph);
  void end_graph(GraphNumber graph);
  // The number of a task in the present iteration, if that is replayed. Other tasks may name it as a predecessor.
  [[nodiscard]] TaskNumber number_of(GraphNumber graph, uint64_t task) { return graphs_.number_of(graph, task); }

  [[nodiscard]] bool has_ended(TaskNumber task);
  // For a driver that examines the replayed tasks that may be in flight.
  [[nodiscard]] Graphs& graphs() { return graphs_; }
  // What a task that has not ended was created with. Its predecessors are the ones that had not ended when it was
  // planned, and perhaps others.
  [[nodiscard]] const NewTask& made(TaskNumber task) { return tasks_[task].made; }
  // The original task, if this one is a speculative copy that a node has run; otherwise the task itself.
  [[nodiscard]] TaskNumber original(TaskNumber task) {
    return tasks_.has(task) && tasks_[task].is_speculative_copy ? tasks_[task].other : task;
  }
  [[nodiscard]] size_t under_way() const { return under_way_; }
  [[nodiscard]] TaskPlace place_of(TaskNumber task) {
    return is_replayed(task) ? graphs_.place_of(task) : tasks_[task].place;
  }

  // How many bytes of the range will have another home (coherence/directory.hpp) than the node when the planned tasks
  // have ended; bytes without a home count, too.
  [[nodiscard]] uint64_t bytes_elsewhere(const ClusterRange& range, NodeNumber node) {
    return directory_.bytes_elsewhere(range, node);
  }

  // Whether a node may still have a copy of the buffer. Then another buffer must not get this buffer's address.
  [[nodiscard]] bool has_copies(uint64_t buffer) { return copies_.has(buffer); }

  List<Message> messages;
  List<TaskNumber> completed;  // tasks that have ended; the driver clears the list
  List<TaskNumber>
      completed_replays;  // completed replays, by the number of their first task; the driver clears the list
  struct Counts {
    uint64_t moves = 0;         // buffers whose home moved to node 0 for lack of memory
    uint64_t drops = 0;         // copies of buffers that were dropped for lack of memory
    uint64_t over_budget = 0;   // tasks that were planned without room for them, because no other copy could be dropped
    uint64_t over_bytes = 0;    // by how many bytes the last of these tasks exceeded the memory
    NodeNumber over_node = 0;   // the node of the last of these tasks
    uint64_t without_node = 0;  // tasks for which no member has an image: they run at node 0
    uint64_t withdrawn = 0;     // tasks of which a speculative copy was sent to another node
    uint64_t from_companions = 0;  // fetches of tasks that may write, from other tasks that may write
    uint64_t groups = 0;           // groups of tasks that were placed together
    uint64_t in_groups = 0;        // tasks in these groups
    uint64_t stood_in = 0;         // tasks that ran as a speculative copy
  } counts;
  [[nodiscard]] const Graphs::Counts& graph_counts() const { return graphs_.counts; }

 private:
  static constexpr uint64_t kNoLevel = ~uint64_t{0};
  enum class State : uint8_t { kCreated, kPlanned, kEnded };

  struct Task {
    State state = State::kCreated;
    bool is_cancelled = false;
    bool has_speculative_copy = false, is_speculative_copy = false;
    bool is_move = false;       // moves a home to node 0; not planned in the order of creation
    TaskNumber other = 0;       // of a speculative copy: the original task; of the original task: its speculative copy
    bool has_reported = false;  // the original task has been reported, but its speculative copy has not
    NewTask made;
    TaskPlace place;
    PlacementRequest request;
    double load = 0, mark = 0;  // `load`: the task's part of its node's load; `mark`: Placement::mark
    // The length of the longest chain of known predecessors; kNoLevel unless the program created the task.
    uint64_t level = kNoLevel;
    uint64_t rank = 0;  // among the level's tasks, in the order of creation
    List<CopyUse> uses;
    NodeNumber advice = 0;       // the node that make_due has chosen; 0: none
    double weight = 1;           // its time relative to others of its kernel and size, from earlier iterations
    NodeNumber node_before = 0;  // where it ran in the iteration before; 0: nowhere, or it cannot run there now
    uint64_t graph_place = Graphs::kNoPlace;  // its number in the iteration that is recorded
    double planned_end = 0;                   // the end that its batch predicts; 0: it was in no batch
    uint32_t batch_number = 0;                // in batch_, while make_due runs
    uint64_t order = 0;                       // Message::order of its assignment
    // With `withdraw`:
    uint64_t open = 0;            // predecessors that have not ended
    List<TaskNumber> successors;  // successors that have been planned
    bool is_runnable = false;     // it is in its node's list of runnable tasks
  };
  struct Node {
    uint64_t assigned = 0;
    int64_t credits = 0;      // may be below 0, because a replay takes the credits for all its tasks at once
    uint64_t open = 0;        // tasks that are assigned and have not ended
    uint64_t replayed = 0;    // replayed tasks among the open ones
    uint64_t awaited = 0;     // the program waits for tasks below this index
    bool is_reported = true;  // the node knows `awaited`, or need not know it
    // Messages that wait, from the first task without a credit on. Bounded by the tasks in flight.
    List<Message> waiting;
    size_t next_waiting = 0;
    size_t waiting_drops = 0;   // kDrop messages among the waiting ones
    uint64_t first_unsent = 0;  // an index: all tasks below it have been sent
    // With `withdraw`: tasks that need only a slot, as far as is known; the newest is last. A linear list is enough:
    // the driver submits 128 tasks for each node, except with `hold`.
    List<TaskNumber> runnable;
  };

  void plan_what_can_be();
  bool plan(TaskNumber number);
  void note_predecessors(TaskNumber number);
  [[nodiscard]] static PlacementRequest request_of(const NewTask& made);
  [[nodiscard]] NodeNumber pin_of(const Task& task);
  void place(Task& task);
  void add_running(const Task& task, List<RunningPredecessor>& running);
  void make_due(TaskNumber end);
  [[nodiscard]] bool may_wait(const Task& task) const;
  [[nodiscard]] uint64_t width_of(uint64_t level);
  void add_to_batch(const Task& task, TaskNumber first, BatchTask& entry);
  void add_outside(const ClusterRange& range, uint64_t made, BatchTask& entry);
  static uint64_t bytes_written(const Task& task, const ClusterRange& range);
  bool make_room(Task& task);
  [[nodiscard]] bool leave_out_replayed(TaskNumber number);
  void move_home(uint64_t buffer);
  void drop_copy(uint64_t buffer, NodeNumber node);
  List<uint64_t> buffers_of(const Task& task) const;
  void assign_index(TaskNumber number);
  void note_open_predecessors(TaskNumber number);
  void add_runnable(TaskNumber number);
  void remove_runnable(TaskNumber number);
  void end_predecessor_of(const List<TaskNumber>& successors);
  void take_back(TaskNumber number);
  void withdraw_for_idle(NodeNumber reporting);
  NodeNumber find_busiest(NodeNumber reporting);
  bool withdraw_from(NodeNumber busy, NodeNumber idle);
  [[nodiscard]] size_t most_unreported(NodeNumber node, double time) const;
  [[nodiscard]] double time_of_runnable(const Task& task) const;
  bool can_be_speculative_copy(const Task& task, NodeNumber idle);
  void lend(TaskNumber number, NodeNumber idle);
  void plan_accesses(TaskNumber number, Message& assignment);
  [[nodiscard]] TaskNumber unordered_from(const List<TaskNumber>& predecessors) const;
  void use(Task& task, uint64_t buffer, NodeNumber node);
  [[nodiscard]] bool has_ended(const TaskPlace& place);
  void record(TaskNumber number, const Message& assignment);
  void learn(TaskNumber number, NodeNumber node, double time);
  void recall(Task& task);
  [[nodiscard]] bool is_uneven(GraphNumber graph);
  void disturb_graphs(const Task& task);
  void assign_replayed(const Message& message);
  void end_replayed(NodeNumber node, TaskNumber number, const EndedTask& ended);
  void send_of_graphs();
  void await_at(NodeNumber node, uint64_t below);
  void report_awaited(NodeNumber node);
  void add_open(NodeNumber node, uint64_t tasks);
  void end(TaskNumber number);
  void leave_level(const Task& task);
  void leave_node(const Task& task);
  void take_end(TaskNumber number, Message& forget);
  [[nodiscard]] bool is_recorded(TaskNumber task);
  void drop_ended();
  void begin_recording();
  void end_recording();
  void forget_buffer(uint64_t buffer);
  void send(Message message);
  static bool take_credits(Node& node, const Message& message);
  void send_waiting(Node& node);
  Message message_to(MessageKind kind, NodeNumber node, uint64_t index = 0) const;
  void send_drop(uint64_t buffer, NodeNumber node);

  HeadOptions options_;
  Directory directory_;
  Copies copies_;
  Graphs graphs_;
  Window<Task> tasks_;
  List<Node> nodes_;
  List<Window<TaskNumber>> assigned_;   // by node: the task of an index
  TaskNumber next_ = 0;                 // the next task to plan
  TaskNumber due_ = 0;                  // the first task that waits for a barrier, or for more tasks
  size_t under_way_ = 0, planned_ = 0;  // created, and planned, tasks that have not ended
  NodeNumber cursor_ = 0;               // where find_busiest continues
  Tournament runnable_;  // with `withdraw`: per node, the work that could run at once, divided by its slots
  struct Level {
    uint64_t open = 0;  // tasks that have not ended
    // Tasks created since the level was last empty. In an endless stream of tasks of one level the number keeps
    // growing, so new tasks get ranks at the end. Such tasks form no row, and other placements suit them better than
    // blocks.
    uint64_t created = 0;
  };
  Window<Level> levels_;
  uint64_t clock_ = 0;
  Batch batch_;
  static constexpr TaskNumber kNone = ~TaskNumber{0};
  TaskNumber loaded_from_ = 0;         // replayed tasks from this number on count in the loads of their nodes
  TaskNumber recording_from_ = kNone;  // the first task of the iteration that is being created, if it is recorded
  List<TaskNumber> recorded_ends_;     // tasks of that iteration that have ended
  TaskNumber ended_before_ = 0;        // all tasks that have ended have a lower number
  double least_time_ = 0;              // as set by set_groups
  uint64_t order_ = 0;                 // with a window or `hold`: the lowest order that no task has
  List<TaskNumber> covered_;           // predecessors of the task being planned whose ends its fetches report
};

}  // namespace marline::offload::cluster
