// SPDX-License-Identifier: Apache-2.0
//
// Node 0's part of replay. An iteration of a persistent graph is planned as usual, task by task, and written down as a
// Plan (*recorded*): where each task runs, what it uses, and which messages its node gets. The directory knows for each
// range of a buffer its home and the tasks that have written and read it; this is the directory's state. A plan is kept
// if the state at the end of its iteration is the same as at the beginning, except that it refers to tasks of the later
// iteration. Later iterations that are the same are *replayed*: each node gets one message for all its tasks, or one
// for each batch, and creates its tasks itself. An iteration that differs is *cut*: the tasks replayed so far stay, and
// the rest is planned. A pure state machine that only Head uses; the driver calls Head's functions of the same names.
//
// Invariant: while a plan is replayed, the directory stays in the state in which the first of these replays began. The
// last replay began in the same state, but that state would refer to tasks of another iteration. Before any other user
// asks for the buffers, `settle` makes the directory refer to the tasks of the right iteration, and plans the tasks of
// the last replay. docs/design/cluster-graphs.md has the proof.
#pragma once

#include "cluster/coherence/copies.hpp"
#include "cluster/replay/plan.hpp"

namespace marline::offload::cluster {

// How Graphs asks Head which tasks have ended.
struct EndsKnown {
  const void* head;
  bool (*of_task)(const void* head, TaskNumber task);
  bool (*of_place)(const void* head, const TaskPlace& place);
};

class Graphs {
 public:
  Graphs(Directory& directory, Copies& copies, EndsKnown ends) : directory_(directory), copies_(copies), ends_(ends) {}

  [[nodiscard]] bool is_empty() const { return graphs_.is_empty() && retired_.is_empty(); }

  // The work of the plan's nodes by the times of earlier iterations, from node 0 on, and the plan's longest task.
  struct Times {
    List<double> loads;
    List<double> planned;  // of replays: the work per slot that the plan predicted
    double longest = 0;    // of recorded iterations
    uint64_t tasks = 0;
    uint32_t kinds = 0;  // the kinds of members that may run one of the tasks
  };
  // Sums up the times of recorded tasks, except tasks on the host. False: the times are not known, there is no plan,
  // the plan was made from these times, or they have been asked for since an iteration was recorded. A call that
  // examines the times costs O(tasks), any other call O(1).
  [[nodiscard]] bool sum_times(GraphNumber graph, Times& times);
  // Sums up the times that nodes have reported of replays since the last call that returned true. False: there is no
  // plan, or there are fewer replays than `iterations`. That number doubles each time that the replays are found
  // imbalanced, and halves each time that they are not. It costs O(nodes) if true, and O(1) otherwise.
  [[nodiscard]] bool sum_replays(GraphNumber graph, uint64_t iterations, Times& times);
  // The caller's judgement of the replays that sum_replays returned. If they were imbalanced, the times of recorded
  // iterations are not valid any more, and are learned anew with the tasks at their present nodes.
  void judge_replays(GraphNumber graph, bool is_uneven);
  // The next iteration begins. True: it can be replayed. `assigned`: the next index of each node. `all_planned`: no
  // task created before waits to be planned. `is_uneven`: by sum_times or sum_replays the plan is imbalanced, so it is
  // given up for another one.
  [[nodiscard]] bool begin(GraphNumber graph, bool has_barrier, bool all_planned, bool is_uneven,
                           const List<uint64_t>& assigned);
  void end(GraphNumber graph);
  // The graph has no further iteration.
  void remove(GraphNumber graph);

  // The next functions are for the tasks of an iteration that is being recorded. note_created is called in the order of
  // creation. Returns the task's place, which is its number in this order, from 0 on; kNoPlace: the iteration is not
  // recorded.
  uint64_t note_created(GraphNumber graph, TaskNumber task);
  static constexpr uint64_t kNoPlace = ~uint64_t{0};
  [[nodiscard]] bool has_ended(GraphNumber graph, TaskNumber task);
  // Finds the task's node and index. False: the task belongs to none of the known iterations.
  [[nodiscard]] bool find_place(GraphNumber graph, TaskNumber task, TaskPlace& place);
  // The node where the task in that place must stay, because it ran there in the iteration before; or kAnyNode.
  [[nodiscard]] NodeNumber node_before(const NewTask& made, uint64_t at);
  // What is known of a task from the tasks in the same place of earlier iterations. `node`: the node of the task in the
  // last iteration; 0: there was no such task.
  struct Before {
    NodeNumber node = 0;
    NodeNumber timed_at = 0;  // a node where one of them ran, for `time`; 0: not known
    double time = 0;
  };
  [[nodiscard]] Before find_before(const NewTask& made, uint64_t at, uint64_t bytes);
  // The recorded task in that place, which uses this many bytes, has run for `time`.
  void note_time(GraphNumber graph, uint64_t at, uint64_t bytes, NodeNumber node, double time);
  // Adds the task to the plan. Its predecessors are the ones that count as not ended. `time`: how long it is expected
  // to take all slots of its node.
  void record(const NewTask& made, const Message& assignment, double load, double time);
  void record_use(GraphNumber graph, const CopyUse& use);
  // Called before anything else uses the buffer, or ends it (disturb_end). `graph`: the graph of the task that uses it,
  // or 0.
  void disturb(uint64_t buffer, GraphNumber graph);
  void disturb_end(uint64_t buffer);

  // Whether the next task of a replay is this one, for a driver that does not know.
  [[nodiscard]] bool is_next(const NewTask& task);
  // Null: no plan is kept.
  [[nodiscard]] const Plan* kept(GraphNumber graph);
  // The replays that may be in flight, oldest first, and what their tasks do, by task number. list_open_predecessors
  // appends the task's predecessors to `after`.
  [[nodiscard]] size_t replay_count() const { return replays_.count(); }
  [[nodiscard]] TaskNumber first_of_replay(size_t at) const { return replays_[at].iteration->first_number; }
  [[nodiscard]] uint64_t tasks_of_replay(size_t at) const { return replays_[at].iteration->count; }
  [[nodiscard]] const PlanTask& task_of(TaskNumber replayed);
  void list_open_predecessors(TaskNumber replayed, List<TaskNumber>& after);
  // The number of the first task, and of the plan, of the task's replay; and the driver's words (PlanStep::words) that
  // the task has in that replay.
  [[nodiscard]] TaskNumber first_number_of(TaskNumber replayed) { return find(replayed)->iteration->first_number; }
  [[nodiscard]] uint64_t plan_of(TaskNumber replayed) { return find(replayed)->iteration->plan->number; }
  void list_words(TaskNumber replayed, List<uint64_t>& words);

  // Replays the next task of the graph's iteration, with these driver's words. False: the replay has been cut, so the
  // task must be created.
  [[nodiscard]] bool replay_next(GraphNumber graph, const uint64_t* words, size_t count);
  [[nodiscard]] bool replay_all(GraphNumber graph);
  // Replays the next task with the driver's words of the iteration before, except for these words. The same plan
  // must have replayed that iteration.
  [[nodiscard]] bool replay_next_with(GraphNumber graph, const ChangedWord* changed, size_t count, uint32_t first);
  void confirm();
  [[nodiscard]] bool is_replaying() const { return replaying_ != 0; }
  [[nodiscard]] bool is_replaying(GraphNumber graph) const { return replaying_ == graph; }
  void cut();
  // Whether the replay of this replayed task has ended.
  [[nodiscard]] bool has_ended(TaskNumber replayed) { return find(replayed) == nullptr; }
  [[nodiscard]] TaskPlace place_of(TaskNumber replayed);
  // The number of the task in that place of the graph's present iteration, or of its last one.
  [[nodiscard]] TaskNumber number_of(GraphNumber graph, uint64_t task);
  // The number of the first task of the next replay.
  [[nodiscard]] TaskNumber next_number() const { return next_number_; }
  void end_batch(TaskNumber replayed, NodeNumber node, uint64_t count, double time);
  // The share of this many tasks of the replay in the node's load.
  [[nodiscard]] double load_of(TaskNumber replayed, NodeNumber node, uint64_t count);
  // To free memory: gives up a plan that no iteration in flight uses. False: there is no such plan.
  [[nodiscard]] bool forget_idle_plan();

  // kPlan, kUnplan, and kReplay, for whose `count` tasks the caller must assign indices at the node.
  List<Message> messages;
  List<TaskNumber> completed;   // completed replays, by the number of their first task
  List<uint64_t> gone_buffers;  // retired buffers of which no plan needs a copy any more
  struct Counts {
    uint64_t kept = 0, replayed = 0, cut = 0;  // kept plans, replayed iterations, and iterations that were cut
    uint64_t uneven = 0;                       // plans that were given up because they were imbalanced
  } counts;

 private:
  struct OldWord {
    uint64_t task, word, value;  // the task's number in the iteration, the index of its driver's word, the old value
  };
  // The old values of driver's words that a replay has changed in its plan while other replays, which may use the same
  // plan, were in flight.
  struct OldWords {
    Shared<Plan> plan;
    TaskNumber first_number = 0;
    List<OldWord> words;
  };
  // A replay that has tasks in flight, or gets more tasks.
  struct Replay {
    Shared<Iteration> iteration, before;
    uint64_t open = 0;
    bool is_complete = false;
    List<double> ran;  // how long the tasks of a node ran; by index of the node in Plan::members
    OldWords old;
  };
  // How far a node is in the replay. Its tasks with a rank below `reached` have been replayed, and the node has been
  // sent the tasks below `confirmed`.
  struct Progress {
    uint64_t reached = 0, confirmed = 0;
    List<uint64_t> changes;  // for the next kReplay: what Share::write_change has written
  };
  struct Timed {
    double time = 0;
    uint64_t bytes = 0;
    NodeNumber node = 0;  // 0: not known
  };
  struct Graph {
    uint64_t number = 0;
    Shared<Iteration> now, before;  // recorded or replayed; empty: unknown, since it was cut or interrupted
    // While the graph is not settled: the iteration to which the tasks belong that the directory's state refers to.
    Shared<Iteration> named;
    Shared<Plan> kept;
    bool is_open = false;             // between begin and end
    bool is_disturbed = false;        // the directory's state may differ from the state in which the plan begins
    uint64_t recorded = 0;            // how many iterations in a row were recorded
    List<Timed> times;                // by place in the iteration, from recorded iterations
    uint64_t timed = 0;               // how many of `times` are known
    bool is_judged = false;           // the plan has been judged by `times`
    bool is_placed_by_times = false;  // a known iteration, and all later ones, were placed by these times
    bool is_by_times_now = false;     // the iteration being recorded is placed by these times
    bool is_placed_now = false;       // the tasks of the iteration being recorded may change their nodes
    bool is_learned_anew = false;     // the times are being learned anew
    unsigned times_over_limit = 0;    // how often replays were imbalanced, less how often they were not
    List<Progress> progress;          // by index of the node in Plan::members
  };

  Graph& graph_of(GraphNumber number);
  Replay* find(TaskNumber replayed);
  bool is_recording(const Graph& graph) const;
  bool has_all_ended(const Iteration& iteration);
  bool leave_iteration(Graph& graph, bool all_planned);
  static bool knows_times(const Graph& graph, const Plan& plan);
  static bool awaits_times(const Graph& graph);
  static void forget_times(Graph& graph);
  void decide_placing(Graph& graph);
  bool can_replay(Graph& graph, bool has_ended, List<uint64_t>& state);
  bool describe(const Iteration& last, bool has_ended, List<uint64_t>& state);
  void settle();
  void plan_replayed(Graph& graph);
  void keep(Graph& graph);
  void retire(Graph& graph);
  bool is_used(const Shared<Plan>& plan) const;
  void free_retired();
  void begin_replay(Graph& graph, const List<uint64_t>& assigned);
  PlanTask& take_next(Graph& graph);
  void set_word(Graph& graph, PlanTask& task, uint64_t at, uint64_t value);
  void complete_replay(Graph& graph);
  bool counts_as_ended(const Graph& graph, TaskNumber task);

  Directory& directory_;
  Copies& copies_;
  EndsKnown ends_;
  IdTable<Graph> graphs_;       // as many as the program has persistent graphs
  List<Replay> replays_;        // replays in flight, oldest first; at most two of each graph
  List<OldWords> ended_words_;  // of replays that have ended before older replays
  List<double> spare_;          // memory for Replay::ran, from a completed replay
  List<OldWord> spare_words_;   // memory for OldWords::words, from a completed replay
  List<Shared<Plan>> retired_;  // retired plans with replays in flight
  GraphNumber replaying_ = 0;   // between begin and end of a replay
  GraphNumber unsettled_ = 0;   // the graph of which `settle` must plan the last replay; 0: none
  uint64_t next_plan_ = 1;
  TaskNumber next_number_ = kReplayed;
};

}  // namespace marline::offload::cluster
