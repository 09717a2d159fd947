// SPDX-License-Identifier: Apache-2.0
//
// Node 0's part of the dataflow: takes tasks in the order of creation, places them, plans where their bytes come from
// and go to, and assigns them at once, long before their inputs exist. It learns later, in batches, that they have
// ended. A pure state machine: events are calls, commands are messages in `messages`, which the driver sends, those
// for one node in order. No thread, clock or memory of the program.
//
// Invariant: tasks are planned in the order of creation, and a task waits only for tasks planned before it, at its node
// and elsewhere, or for its stand-in, which has been sent. So the oldest task under way can always go on, whatever
// credits and memory there are.
#pragma once

#include "cluster/coherence/directory.hpp"
#include "cluster/coherence/copies.hpp"
#include "cluster/placement/batch.hpp"
#include "cluster/replay/graphs.hpp"

namespace marline::offload::cluster {

struct NewBuffer {
  uint64_t buffer, bytes;
};

// A target region, or, on the host, a task or a data construct: these run at node 0, where the variables are.
struct NewTask {
  bool is_on_host = false;
  uint32_t kernel = 0;
  uint32_t kinds = ~uint32_t{0};
  NodeNumber pin = kAnyNode;
  int32_t priority = 0;
  bool is_awaited = false;  // see Head::await
  bool may_wait = true;     // to be planned with those that come behind it (Head::set_groups)
  List<TaskNumber> predecessors;
  List<TaskAccess> accesses;    // one per range; ranges do not overlap
  List<NewBuffer> new_buffers;  // that come into being with this task
  List<uint64_t> last_of;       // buffers that go when it has ended; all others that use them are ordered before it
  GraphNumber graph = 0;        // of whose iteration it is
  List<uint64_t> words;         // in a graph: the driver's, of which later iterations may change the values
};

struct HeadOptions {
  size_t nodes = 1;
  PlacementPolicy policy = PlacementPolicy::kEarliestEnd;
  bool hold = false;               // plan nothing before `barrier`
  uint64_t memory = ~uint64_t{0};  // bytes of each node but node 0
  uint64_t credits = 64;           // tasks that a node has been sent and that have not ended, without stand-ins
  // So many are placed together when as many behind them are known; all, at `barrier`, or when a node has a free slot.
  uint64_t window = 0;
  double uneven = 1.03;   // of what its most loaded node could have to do: a plan with more than that is given up
  double worse = 1.1;     // and in replays: of what the plan gave it
  uint64_t replays = 16;  // are looked at together
  bool withdraw = false;  // let idle nodes stand in for tasks that wait on busy ones
  double patience = 0;    // nodes may keep ends to themselves for so long: Worker::waits_at_most
};

class Head {
 public:
  explicit Head(const HeadOptions& options);

  // Members 1 to options.nodes, before the first task.
  Placement placement;
  // Before the first task: HeadOptions::window, but only for tasks that may wait, whose data takes a part of their time
  // to move, and which take `least_time` for each slot of all nodes or more; what they take may be unknown yet. To plan
  // the others, and what was created before them, nothing is waited for.
  void set_groups(uint64_t window, double least_time) { options_.window = window, least_time_ = least_time; }
  // Whether tasks wait to be planned with others that have not been created, or for a barrier.
  [[nodiscard]] bool holds_back() const { return due_ < tasks_.end(); }
  // Plans them.
  void plan_held();
  // Whether the node with least work could start another task at once.
  [[nodiscard]] bool has_idle_node() const;

  TaskNumber create(NewTask task);
  // It need not run, if it has not started; what depends on it goes on.
  void cancel(TaskNumber task);
  // The same for a task that cannot have started, as one before it does not end until its node has been told: it will
  // not run. True: its node gets a message of it, past those of tasks that wait for credits. It must not be lent.
  [[nodiscard]] bool leave_out(TaskNumber task);
  // `to` takes over NewTask::last_of of a task that has been left out: the task that does its work has them.
  void pass_on_last_of(TaskNumber task, List<uint64_t>& to) { to.swap(tasks_[task].made.last_of); }
  // The program waits for tasks.
  void barrier();
  // The program waits for the end of this task, or of each one, perhaps before others have ended: nodes tell it at
  // once. All other ends they tell when a slot is free, or many together.
  void await(TaskNumber task);
  void await_all();
  // A kReport from a node.
  void receive(const Message& message);

  // Persistent graphs. An iteration consists of the tasks between begin and end. True: it is replayed, so the tasks are
  // not created, but `again` is called for each, in the order of the iteration before, or `again_all` for all of
  // them. False: tasks are created, with the graph's number and all their direct predecessors in this iteration and
  // the one before, also those that have ended. `is_behind`: the program waits for each iteration before the next one.
  [[nodiscard]] bool begin_iteration(GraphNumber graph, bool is_behind);
  // The next task, which has the accesses, the kernel and the predecessors that it had in the iteration before, and no
  // other predecessor that has not ended. False: the iteration is cut, as it has more tasks than the one before, or
  // somebody has created a task meanwhile. The task and the rest of the iteration have to be created.
  [[nodiscard]] bool again(GraphNumber graph, const uint64_t* words, size_t count) {
    if (graphs_.again(graph, words, count)) return true;
    send_of_graphs();
    return false;
  }
  // Whether the next task has this kernel and these accesses, and runs where `pin` says: for a driver that knows only
  // that it has the predecessors.
  [[nodiscard]] bool is_next(GraphNumber graph, uint32_t kernel, NodeNumber pin, const List<TaskAccess>& accesses) {
    return graphs_.is_next(graph, kernel, pin, accesses);
  }
  // The plan that is kept of the graph, until the next call of this class's; null: there is none.
  [[nodiscard]] const Plan* kept_plan(GraphNumber graph) { return graphs_.kept(graph); }
  // All of them, with the words of the iteration before. False: the iteration has been cut, or is none.
  [[nodiscard]] bool again_all(GraphNumber graph) { return graphs_.again_all(graph); }
  // The graph's iteration is replayed, and has not been cut meanwhile.
  [[nodiscard]] bool is_replaying(GraphNumber graph) const { return graphs_.is_replaying(graph); }
  // The next one, likewise, but for these words, which are counted from `first` on. The same plan has replayed the
  // iteration before.
  [[nodiscard]] bool again_but(GraphNumber graph, const ChangedWord* changed, size_t count, uint32_t first = 0) {
    if (graphs_.again_but(graph, changed, count, first)) return true;
    send_of_graphs();
    return false;
  }
  // Tasks so far may start; else they wait for the end of the iteration.
  void confirm();
  // What comes is not the iteration before: the rest has to be created.
  void cut_iteration();
  void end_iteration(GraphNumber graph);
  void end_graph(GraphNumber graph);
  // Of the present iteration if it is replayed: a task's number, also for others' predecessors.
  [[nodiscard]] TaskNumber number_of(GraphNumber graph, uint64_t task) { return graphs_.number_of(graph, task); }

  [[nodiscard]] bool has_ended(TaskNumber task);
  // For a driver that looks at the replayed tasks that may be under way.
  [[nodiscard]] Graphs& graphs() { return graphs_; }
  // Of a task that has not ended.
  [[nodiscard]] bool uses(TaskNumber task, uint64_t buffer);
  [[nodiscard]] const List<TaskAccess>& accesses_of(TaskNumber task) { return tasks_[task].made.accesses; }
  // Likewise; its predecessors are those that had not ended when it was planned, and perhaps others.
  [[nodiscard]] const NewTask& made(TaskNumber task) { return tasks_[task].made; }
  // The task for which this one, which a node has run, stands in; or itself.
  [[nodiscard]] TaskNumber original(TaskNumber task) {
    return tasks_.has(task) && tasks_[task].is_stand_in ? tasks_[task].other : task;
  }
  [[nodiscard]] size_t under_way() const { return under_way_; }
  [[nodiscard]] TaskPlace place_of(TaskNumber task) {
    return is_replayed(task) ? graphs_.place_of(task) : tasks_[task].place;
  }

  // Bytes of the range whose home is not the node, behind what is planned; also those that have none.
  [[nodiscard]] uint64_t bytes_elsewhere(const ClusterRange& range, NodeNumber node) {
    return directory_.bytes_elsewhere(range, node);
  }

  // Whether a copy of the buffer may still lie on a node: its address must not be another's yet.
  [[nodiscard]] bool has_copies(uint64_t buffer) { return copies_.has(buffer); }

  List<Message> messages;
  List<TaskNumber> over;          // tasks that have ended; the driver clears it
  List<TaskNumber> over_replays;  // likewise: iterations that have ended as a whole, by the number of their first task
  struct Counts {
    uint64_t moves = 0;            // buffers whose home has moved to node 0 for lack of memory
    uint64_t drops = 0;            // copies that went for lack of memory
    uint64_t over_budget = 0;      // tasks that were planned all the same, as nothing could go any more
    uint64_t over_bytes = 0;       // of the last of them: how many bytes too many
    NodeNumber over_node = 0;      // and where
    uint64_t without_node = 0;     // tasks that no member has an image for: they run at node 0
    uint64_t withdrawn = 0;        // tasks for which another node was asked to stand in
    uint64_t from_companions = 0;  // fetches of tasks that may write, from others that may
    uint64_t groups = 0;           // of tasks that were placed together
    uint64_t in_groups = 0;        // tasks of them
    uint64_t stood_in = 0;         // tasks that another node has run as a stand-in
  } counts;
  [[nodiscard]] const Graphs::Counts& graph_counts() const { return graphs_.counts; }

 private:
  static constexpr uint64_t kNoLevel = ~uint64_t{0};
  enum class State : uint8_t { kCreated, kPlanned, kEnded };

  struct Task {
    State state = State::kCreated;
    bool is_cancelled = false;
    bool is_lent = false, is_stand_in = false;
    bool is_move = false;       // not planned in the order of creation
    TaskNumber other = 0;       // of a stand-in: for which it stands in; of a lent task: which does
    bool has_reported = false;  // a lent task, whose stand-in has not
    NewTask made;
    TaskPlace place;
    PlacementRequest request;
    double load = 0, mark = 0;  // in the node's load
    uint64_t level = kNoLevel;  // the longest chain of predecessors that are known; the program's tasks have one
    uint64_t rank = 0;          // among the level's tasks, in the order of creation
    List<CopyUse> uses;
    NodeNumber advice = 0;                    // the node that make_due has found; 0: none
    double weight = 1;                        // as iterations before say
    NodeNumber node_before = 0;               // where it ran in the last one; 0: in none, or it cannot run there
    uint64_t graph_place = Graphs::kNoPlace;  // in the iteration that is recorded
    double planned_end = 0;                   // as the batch that it was in has it; 0: it was in none
    uint32_t batch_number = 0;                // in batch_, while make_due runs
    uint64_t order = 0;                       // see Message
    // With `withdraw`:
    uint64_t open = 0;            // predecessors that have not ended
    List<TaskNumber> successors;  // that have been planned
    bool is_runnable = false;     // its node's list has it
  };
  struct Node {
    uint64_t assigned = 0;
    int64_t credits = 0;    // below 0: a replay's tasks come together
    uint64_t open = 0;      // assigned, and has not ended
    uint64_t replayed = 0;  // of these, by replays
    uint64_t awaited = 0;   // somebody waits for tasks below this index
    bool is_told = true;    // the node knows that, or need not
    List<Message> waiting;  // messages from the first task on that has no credit; bounded by the tasks under way
    size_t next_waiting = 0;
    size_t waiting_drops = 0;   // among these
    uint64_t first_unsent = 0;  // an index: the tasks before it have been sent
    List<TaskNumber> runnable;  // with `withdraw`: tasks that lack only a slot, as far as is known; the newest last.
                                // A linear list: the driver hands over 128 for each node, but with `hold`
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
  [[nodiscard]] size_t most_untold(NodeNumber node, double time) const;
  [[nodiscard]] double time_of_runnable(const Task& task) const;
  bool can_stand_in(const Task& task, NodeNumber idle);
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
  void tell_awaited(NodeNumber node);
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
  Message message_to(MessageKind kind, NodeNumber node) const;

  HeadOptions options_;
  Directory directory_;
  Copies copies_;
  Graphs graphs_;
  Window<Task> tasks_;
  List<Node> nodes_;
  List<Window<TaskNumber>> assigned_;   // by node: the task of an index
  TaskNumber next_ = 0;                 // to be planned
  TaskNumber due_ = 0;                  // the first that waits for a barrier, or for more tasks
  size_t under_way_ = 0, planned_ = 0;  // created, and planned, that have not ended
  NodeNumber cursor_ = 0;               // of find_busiest
  Tournament runnable_;                 // work that could run at once, over slots, by node; with `withdraw`
  struct Level {
    uint64_t open = 0;  // tasks that have not ended
    uint64_t created =
        0;  // since the last time that there was none. In an endless stream of tasks of one level it grows on, so
            // that ranks lie at its end: such tasks are no row, and other plans are better than blocks
  };
  Window<Level> levels_;
  uint64_t clock_ = 0;
  Batch batch_;
  static constexpr TaskNumber kNone = ~TaskNumber{0};
  TaskNumber loaded_from_ = 0;         // replayed tasks from here on are part of their nodes' loads
  TaskNumber recording_from_ = kNone;  // the first task of the iteration that is created, if it is recorded
  List<TaskNumber> recorded_ends_;     // of that iteration
  TaskNumber ended_before_ = 0;        // a task that has ended was created before the task of this number
  double least_time_ = 0;              // set_groups
  uint64_t order_ = 0;                 // that no task has, with a window or `hold`
  List<TaskNumber> covered_;           // of the task that is being planned
};

}  // namespace marline::offload::cluster
