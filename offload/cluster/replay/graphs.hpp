// SPDX-License-Identifier: Apache-2.0
//
// Node 0's part of replay. An iteration of a persistent graph is planned as usual and written down (*recorded*). Its
// plan is kept if the directory is at its end as it was at its beginning, but for the iteration's number. Later
// iterations that are the same are *replayed*: each node gets one message, or one for each batch, and makes its tasks
// itself. An iteration that differs is *cut*: what was replayed of it stays, the rest is planned. A pure state machine,
// of which Head is the only user; the driver calls Head's functions of the same names.
//
// Invariant: while a plan is replayed, the directory has the state in which the first of these replays began, which is
// that in which the last one began but for names of tasks. `settle` puts the names in and plans the last one's tasks,
// before anybody else asks for the buffers. docs/design/cluster.md has the proof.
#pragma once

#include "cluster/coherence/copies.hpp"
#include "cluster/replay/plan.hpp"

namespace marline::offload::cluster {

// What Head knows of ends.
struct EndsKnown {
  const void* head;
  bool (*of_task)(const void* head, TaskNumber task);
  bool (*of_place)(const void* head, const TaskPlace& place);
};

// What a recorded task adds to the plan.
struct RecordedTask {
  TaskNumber number;
  uint32_t kernel, kinds;
  double load;
  double time;  // that it is expected to take, of all slots of its node
  const List<TaskAccess>* accesses;
  const List<TaskNumber>* predecessors;  // that count as not ended
  const List<uint64_t>* words;
  const Message* assignment;
};

class Graphs {
 public:
  Graphs(Directory& directory, Copies& copies, EndsKnown ends) : directory_(directory), copies_(copies), ends_(ends) {}

  [[nodiscard]] bool is_empty() const { return graphs_.is_empty() && retired_.is_empty(); }

  // By the times of iterations: what the plan's nodes have to do, from 0 on, and its longest task.
  struct Times {
    List<double> loads;
    List<double> planned;  // of replays: what they were to have, for each slot
    double longest = 0;    // of recorded ones
    uint64_t tasks = 0;
    uint32_t kinds = 0;  // of members that may run one of them
  };
  // Of tasks that are not on the host. False: they are not known, there is no plan, it has been made by them, or they
  // have been asked for since an iteration was recorded: it costs O(tasks), and O(1) else.
  [[nodiscard]] bool sum_times(GraphNumber graph, Times& times);
  // By what nodes have told of replays since this was true last. False: these are less than so many iterations, twice
  // as many each time that they have been uneven and half as many each time that they have not, or there is no plan.
  // O(nodes) if it is true, O(1) else.
  [[nodiscard]] bool sum_replays(GraphNumber graph, uint64_t iterations, Times& times);
  // These were uneven: the times of recorded iterations hold no more, and are learned where the tasks are. Or not.
  void judge_replays(GraphNumber graph, bool is_uneven);
  // The next iteration begins. True: it can be replayed. `assigned`: the next index of each node. `all_planned`: no
  // task created before waits to be planned. `is_uneven`: sum_times or sum_replays says so, so the plan is given up for
  // another one.
  [[nodiscard]] bool begin(GraphNumber graph, bool is_behind, bool all_planned, bool is_uneven,
                           const List<uint64_t>& assigned);
  void end(GraphNumber graph);
  // There is no other iteration.
  void remove(GraphNumber graph);

  // Of a recorded iteration, in the order of creation and of planning.
  // Its place in the iteration, or kNoPlace: it is not recorded.
  uint64_t note_created(GraphNumber graph, TaskNumber task);
  static constexpr uint64_t kNoPlace = ~uint64_t{0};
  [[nodiscard]] bool has_ended(GraphNumber graph, TaskNumber task);
  // False: it is in none of the iterations that are known.
  [[nodiscard]] bool find_place(GraphNumber graph, TaskNumber task, TaskPlace& place);
  // Where the task in that place is to stay, as it ran there in the iteration before; or kAnyNode.
  [[nodiscard]] NodeNumber node_before(GraphNumber graph, uint64_t at, uint32_t kernel, uint32_t kinds);
  // What is known of a task by those in its place in iterations before. `node`: of the last one, 0 if it had none.
  struct Before {
    NodeNumber node = 0;
    NodeNumber timed_at = 0;  // one of them ran there, for that time; 0: not known
    double time = 0;
  };
  [[nodiscard]] Before find_before(GraphNumber graph, uint64_t at, uint32_t kernel, uint32_t kinds, uint64_t bytes);
  // The recorded task in that place, which uses so many bytes, has run for that time.
  void note_time(GraphNumber graph, uint64_t at, uint64_t bytes, NodeNumber node, double time);
  void record(GraphNumber graph, const RecordedTask& task);
  void record_use(GraphNumber graph, const CopyUse& use);
  // Before anything else uses or ends the buffer. `graph`: of the task that does, or 0.
  void disturb(uint64_t buffer, GraphNumber graph);
  void disturb_end(uint64_t buffer);

  // Of the next task of a replay: whether it is such a one, for a driver that does not know.
  [[nodiscard]] bool is_next(GraphNumber graph, uint32_t kernel, NodeNumber pin, const List<TaskAccess>& accesses);
  // Null: there is none.
  [[nodiscard]] const Plan* kept(GraphNumber graph);
  // The replays that may be under way, oldest first; and of their tasks, by number, what they do. `behind`: tasks that
  // they stand behind.
  [[nodiscard]] size_t replay_count() const { return replays_.count(); }
  [[nodiscard]] TaskNumber first_of_replay(size_t at) const { return replays_[at].iteration->first_number; }
  [[nodiscard]] uint64_t tasks_of_replay(size_t at) const { return replays_[at].iteration->count; }
  [[nodiscard]] const PlanTask& task_of(TaskNumber replayed);
  void list_behind(TaskNumber replayed, List<TaskNumber>& behind);
  // The first number and the plan of its replay, and its words there.
  [[nodiscard]] TaskNumber first_number_of(TaskNumber replayed) { return find(replayed)->iteration->first_number; }
  [[nodiscard]] uint64_t plan_of(TaskNumber replayed) { return find(replayed)->iteration->plan->number; }
  void list_words(TaskNumber replayed, List<uint64_t>& words);

  // Of a replay. False: it has been cut, so the task has to be created.
  [[nodiscard]] bool again(GraphNumber graph, const uint64_t* words, size_t count);
  [[nodiscard]] bool again_all(GraphNumber graph);
  // The next task with the words that it had in the iteration before, which this plan has replayed as well, but for
  // these.
  [[nodiscard]] bool again_but(GraphNumber graph, const ChangedWord* changed, size_t count, uint32_t first);
  void confirm();
  [[nodiscard]] bool is_replaying() const { return replaying_ != 0; }
  [[nodiscard]] bool is_replaying(GraphNumber graph) const { return replaying_ == graph; }
  void cut();
  // Of all replayed tasks.
  [[nodiscard]] bool has_ended(TaskNumber replayed) { return find(replayed) == nullptr; }
  [[nodiscard]] TaskPlace place_of(TaskNumber replayed);
  // Of the present iteration, or the last one.
  [[nodiscard]] TaskNumber number_of(GraphNumber graph, uint64_t task);
  // Of the first task of the next replay.
  [[nodiscard]] TaskNumber next_number() const { return next_number_; }
  void end_batch(TaskNumber replayed, NodeNumber node, uint64_t count, double time);
  // What so many tasks of the replay mean for the node's load.
  [[nodiscard]] double load_of(TaskNumber replayed, NodeNumber node, uint64_t count);
  // For memory: a plan that no iteration under way uses is given up. False: there is none.
  [[nodiscard]] bool forget_idle_plan();

  List<Message> messages;       // kReplay with `count` tasks to be given indices at its node, kPlan, kUnplan
  List<TaskNumber> over;        // first numbers of replays all of whose tasks have ended
  List<uint64_t> gone_buffers;  // retired, and no plan needs their copies any more
  struct Counts {
    uint64_t kept = 0, replayed = 0, cut = 0;  // plans, iterations, and iterations in the middle
    uint64_t uneven = 0;                       // plans that were given up for others
  } counts;

 private:
  struct OldWord {
    uint64_t task, word, value;  // the task by its number in the iteration
  };
  // That a replay has changed while others were under way, which may have the plan, too.
  struct OldWords {
    Shared<Plan> plan;
    TaskNumber first_number = 0;
    List<OldWord> words;
  };
  // A replay that has tasks under way, or gets more.
  struct Replay {
    Shared<Iteration> iteration, before;
    uint64_t open = 0;
    bool is_complete = false;
    List<double> ran;  // by place in the plan's list of members: for so long its tasks have
    OldWords old;
  };
  struct Progress {  // of a node in the replay, by rank; by place in the plan's list of members
    uint64_t reached = 0, confirmed = 0;
    List<uint64_t> changes;
  };
  struct Timed {
    double time = 0;
    uint64_t bytes = 0;
    NodeNumber node = 0;  // 0: not known
  };
  struct Graph {
    uint64_t number = 0;
    Shared<Iteration> now, before;  // recorded or replayed; none: unknown, as it was cut or interrupted
    Shared<Iteration> named;        // whose tasks the directory's names are, while the graph is unsettled
    Shared<Plan> kept;
    bool is_open = false;             // between begin and end
    bool is_disturbed = false;        // the directory may have another state than the plan begins with
    uint64_t recorded = 0;            // iterations in a row
    List<Timed> times;                // by task, of recorded iterations
    uint64_t timed = 0;               // how many of them are known
    bool is_judged = false;           // the plan has been, by them
    bool is_placed_by_times = false;  // an iteration that is known, and those behind it
    bool is_by_times_now = false;     // the one that is recorded is
    bool is_placed_now = false;       // its tasks need not stay
    bool is_learned_anew = false;     // its times are
    unsigned times_uneven = 0;        // in replays, less those that were not
    List<Progress> progress;
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
  Numbered<Graph> graphs_;      // as many as the program has persistent graphs
  List<Replay> replays_;        // under way, oldest first: a program has two at most of each graph
  List<OldWords> ended_words_;  // of replays that have ended before older ones
  List<double> spare_;          // Replay::ran of one that is over
  List<OldWord> spare_words_;   // likewise
  List<Shared<Plan>> retired_;  // with replays under way
  GraphNumber replaying_ = 0;   // between begin and end of a replay
  GraphNumber unsettled_ = 0;
  uint64_t next_plan_ = 1;
  TaskNumber next_number_ = kReplayed;
};

}  // namespace marline::offload::cluster
