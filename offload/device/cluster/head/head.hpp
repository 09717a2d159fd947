// SPDX-License-Identifier: Apache-2.0
//
// The program's side of a cluster: drives the core's Head (cluster/dataflow/head.hpp) and node 0 (node.hpp). A task is
// created when each of its predecessors has ended or has been created (Launch::after), which is an order of creation
// that the core allows. Any thread. All state is under node 0's lock.
#pragma once

#include "cluster/base/window.hpp"

#include "cluster/dataflow/head.hpp"
#include "device/contract/wait.hpp"
#include "device/cluster/head/check.hpp"
#include "device/cluster/head/graphs.hpp"
#include "device/cluster/head/memory.hpp"
#include "device/cluster/worker/node.hpp"
#include "device/cluster/reduce/region_copies.hpp"
#include "device/remote/program/link.hpp"
#include "image/program.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace image;
using namespace wire;

// The code of a kernel on all nodes.
struct KernelCodes {
  const uint64_t* at;  // address by node, 0: the node has none; permanent
  uint32_t kinds;      // the kinds of members that have it (NewTask::kinds)
};

class ClusterHead {
 public:
  // `limit`: the memory of the smallest node, in bytes.
  ClusterHead(Device* device, const ClusterPlace& place, uint64_t limit, const HeadOptions& options);

  [[nodiscard]] bool checks_writes() const { return checks_; }
  // Must be called before the first task.
  void set_writes(MayWrite may_write, bool checks, bool by_pages) {
    memory_.may_write = may_write;
    checks_ = checks;
    bool may_postpone = may_write == MayWrite::kAll && !checks && !by_pages && !has_gpus_ && !needs_ends_;
    if (!may_postpone) postponing_.state = Postponing::kOver;
    if (checks) node_.set_checks();
  }

  // Must be called for each worker, before the first task. `kind` is as in Member.
  void add_member(uint32_t kind, double threads);
  // The nanoseconds that a byte takes between nodes, until set_link is called: 2 GB/s. A faster link changes little, as
  // the nodes' processors work on each byte, too.
  static constexpr double kTimePerByte = 0.5;
  void set_link(double time_per_byte);
  // From now on regions that are created shortly after each other are placed on nodes in groups, if that saves time.
  // Must be called after set_link. Returns the size of a group.
  int place_in_groups();

  [[nodiscard]] Device* device() { return device_; }

  // Returns 0 if there is not enough memory.
  uint64_t allocate(uint64_t bytes);
  // As in EarlySubmission.
  bool has_room(uint64_t bytes);
  void release(uint64_t address);
  // Adds a variable of the program or of an image with its first value. `places`: its address on each node; must stay
  // valid. Returns the address by which the program knows it. May suspend.
  uint64_t add_variable(const uint64_t* places, const void* value, uint64_t bytes);

  // Removes the variable at that address. When the call returns, no node uses it any more. May suspend.
  void remove_variable(uint64_t address);

  // Copy bytes from the program to the cluster, or back. The copy is complete when the call returns. May suspend.
  void write(uint64_t to, const void* from, uint64_t bytes);
  void copy_all(const DeviceCopy* copies, uint32_t count);
  // `after`: a task after which the copy is ordered; null: none.
  void read(void* to, uint64_t from, uint64_t bytes, const TaskNumber* after = nullptr);

  // Creates a task of node 0 that makes the copies. Returns its number.
  TaskNumber start_copies(const OrderedCopies& copies, Operation* operation);
  // As in EarlySubmission.
  bool copy_part();

  // Submits a kernel. The operation ends when the kernel has run. `kernel`: the number by which the placement records
  // how long the kernel's runs take.
  void launch(const Launch& launch, uint32_t kernel, const KernelCodes& codes, Operation* operation);

  // Iterations of persistent graphs (EarlySubmission).
  bool begin_iteration(uint64_t graph, bool has_barrier);
  [[nodiscard]] bool repeat_iteration(uint64_t graph, bool changes, Operation* operation);
  [[nodiscard]] bool repeat_kernel(uint64_t graph, bool leading_null, const ChangedWord* changed, size_t count);
  void end_iteration(uint64_t graph);
  void end_graph(uint64_t graph);
  // Prints statistics of graphs with OMP_DISPLAY_ENV=verbose, at the program's end.
  void note_graphs();
  // Called when the program begins to wait for all tasks that it has submitted. `singly`: it may have to learn of the
  // end of each task at once, not only of the end of the last one.
  void wait_begins(bool singly);
  // Called by the thread that polls the wire, after each poll: plans waiting regions if no more are created
  // (groups.cpp).
  void look_at_held();
  // Called when the program waits for this kernel. `kernel`: its operation's number. The kernel may have ended.
  void await(TaskNumber kernel);

  // As in EarlySubmission (reduce.cpp).
  [[nodiscard]] bool reduce(uint64_t address, uint64_t bytes, Combine combine, void* to);

  // Cancels a kernel. `kernel`: its operation's number. The kernel may have ended.
  void cancel(TaskNumber kernel);

  // The functions from `receive` to take_times are called by the thread that polls the wire, with a message or a frame
  // from a worker. `sent`: when the message was sent, by the peer's clock, or 0.
  void receive(int peer, Message& message, uint64_t sent, BlobReader& rest);
  // A node has found words that may be pointers.
  void take_pointers(const uint64_t* words, uint32_t count);
  // A node asks whether a task that may have stored a pointer may end (late_pointers.cpp).
  void take_question(NodeNumber node, uint64_t question, TaskNumber task);
  // A node has answered a kTakesNote: it has handled all earlier messages (late_pointers.cpp).
  void take_note_taken(uint64_t number);
  // A node has made all its postponed comparisons (postponed.cpp).
  void take_compared();
  void take_finding(int peer, const uint64_t* words, uint32_t count);
  void take_times(int peer, const uint64_t* words, uint32_t count);

  // A node has been lost. Writes, as a part of the message about this, which regions it had been sent.
  void report_lost(NodeNumber node, char* to, size_t bytes);

  // Prints statistics with OMP_DISPLAY_ENV=verbose.
  void note_at_end();

  // Called by node 0 (ClusterSide).
  void report(const Message& message) { head_.receive(message); }
  void start_here(uint64_t index, TaskNumber task);

 private:
  // A task of node 0 whose work is done by the thread that has created it (run_here). Lies on that thread's stack.
  struct HostTask {
    Awaited* waiter = nullptr;  // set while the thread waits for the task's start or end
    bool has_started = false, has_ended = false;
    uint64_t index = 0;
  };
  // The copies of a task of node 0 for which no thread waits.
  struct Copies {
    uint32_t count;
    bool in_parts;
    // The data that goes to the device may change before it is copied, so it is searched for pointers after the copy.
    bool looks_later;
    DeviceCopy copies[];
  };
  // The progress of copies that are made in parts.
  struct Copying {
    uint64_t index;  // of the task
    TaskNumber task;
    const Copies* copies;
    uint32_t copy;  // the current one; the copies before it are complete
    size_t bytes;   // how many bytes of it have been copied
  };
  // The record of a task, until the task has ended. If the core's Head has created the task itself, as it does with a
  // speculative copy, the state is kUnknown until it is kEnded.
  //
  //            create            leave: another task replaces this one, which does not run
  //   kUnknown -------> kCreated ------------------------------------------------------> kReplaced
  //       |                 |                                                                |
  //       +-----------------+----------------- note_ended -----------------------------------+----> kEnded
  struct Known {
    enum class State : uint8_t { kUnknown, kCreated, kReplaced, kEnded };

    void transition_to_created() { assert(state == State::kUnknown), state = State::kCreated; }
    void transition_to_replaced() { assert(state == State::kCreated), state = State::kReplaced; }
    void transition_to_ended() { assert(state != State::kEnded), state = State::kEnded; }
    [[nodiscard]] bool has_ended() const { return state == State::kEnded; }
    [[nodiscard]] bool is_kernel() const { return kernel.codes != nullptr; }

    State state = State::kUnknown;
    HostTask* host = nullptr;
    Copies* copies = nullptr;
    Operation* operation = nullptr;
    KernelForm kernel = {};            // of a kernel; its words are NewTask::words
    CheckedKernel* checked = nullptr;  // of a kernel, if writes are checked
    NodeNumber sent_to = 0;            // the kernel's node; 0: it has not been sent
    // An idle node that has been sent a speculative copy of the task; 0: none.
    NodeNumber speculative_copy_on = 0;
    // When the task was created, a direct or indirect predecessor was a kernel that had not ended.
    bool is_submitted_early = false;
    // If the task replaces a replayed task: the first task of that replay; else 0.
    TaskNumber replay = 0;
  };
  // The task `task` has been left out, and the task `by` replaces it (late_pointers.cpp).
  struct Recreated {
    TaskNumber task, by;
  };
  // A task that may not have ended, for the search of recreate_successors. kApart: it is not ordered after the task
  // whose successors are searched. kAfter: it is. kAgain: it is, and it must be replaced.
  struct OpenTask {
    TaskNumber number;
    enum : uint8_t { kApart, kAfter, kAgain } mark = kApart;
    bool is_listed = false;
    List<TaskNumber> before;  // its predecessors
  };
  // A node has asked whether a task may end. The task may end when `missing` more nodes have confirmed that the
  // left-out tasks will not run.
  struct OpenQuestion {
    uint64_t number;
    NodeNumber node;    // the node that asks
    uint64_t question;  // that node's number of the question; for node 0: the task's index
    size_t missing;
    // For node 0: the task has not been compared yet, so it must be compared (ClusterNode::compare) before it ends.
    bool compares;
  };
  // Whether comparisons are postponed (postponed.cpp). The state passes through these values in this order, and may
  // skip kOn and kEnds. kNotYet: no comparison has been postponed. kOn: some may be. kEnds: the node has been asked to
  // make the postponed ones. kOver: none is postponed any more.
  struct Postponing {
    enum State : uint8_t { kNotYet, kOn, kEnds, kOver } state = kNotYet;
    // The node that postpones comparisons, or that may soon begin to do so.
    NodeNumber node = 0;
    // The number of regions in a row, at that node, that could have postponed their comparisons.
    uint32_t fit = 0;
    bool takes_early = false;  // the value of Device::takes_early to set at the end
    List<Operation*> waiters;  // they wait for kOver
    uint64_t regions = 0;      // how many regions were allowed to postpone their comparisons
  };
  // Operations that have ended, for `finish`.
  using Finished = List<Operation*>;

  TaskNumber create(NewTask task, const Known& known);
  void pump(Finished& finished);
  void send(Message& message);
  void note_ended(TaskNumber task, Finished& finished);
  void warn_of_memory();
  // Ends the operations. `polls`: the calling thread is the one that polls the wire. Called without the lock.
  void finish(Finished& finished, bool polls);
  void report_noted();
  bool note_pointers(ClusterBuffer& holder, const List<uint64_t>& words);
  void note_new_pointer();
  void refuse_pointer_to_variable(const void* pointer);
  ClusterBuffer& buffer_at(uint64_t address, uint64_t bytes, const char* what);
  ClusterBuffer& begin_release(uint64_t address);
  static uint64_t join_distance(const DeviceCopy* copies, uint32_t count);
  bool is_submitted_early(const uint64_t* after, uint32_t count);

  // Kernels (kernels.cpp).
  void send_task(const Message& message);
  void send_plan(const Message& message);
  TaskNumber create_kernel(NewTask task, const Launch& launch, const KernelForm& form, Operation* operation);
  [[nodiscard]] uint64_t uses();
  [[nodiscard]] NodeNumber pin_of(const Launch& launch, const KernelCodes& codes) const;
  [[nodiscard]] uint32_t first_argument(bool in_memory) const;
  [[nodiscard]] bool may_be_repeated(const List<uint64_t>& words, bool in_memory);
  [[nodiscard]] bool is_of_variable(const List<uint64_t>& words, size_t i, size_t first);
  void add_words(const Launch& launch, List<uint64_t>& to) const;

  // Regions that wait to be placed in groups (groups.cpp).
  [[nodiscard]] bool comes_soon();
  void limit_waits();
  void note_holding();

  // Postponed comparisons (postponed.cpp).
  [[nodiscard]] bool uses_all() const;
  [[nodiscard]] bool is_alone(const Launch& launch) const;
  [[nodiscard]] bool are_others_at(NodeNumber node, const List<TaskAccess>& accesses);
  [[nodiscard]] bool may_postpone(const Launch& launch, NewTask& task);
  void note_fit(const Launch& launch, TaskNumber task, uint64_t bytes);
  void end_postponing();
  void await_comparisons(const Launch& launch);

  // Task reductions (reduce.cpp).
  void add_reduced(const Launch& launch, NewTask& task);
  void note_reducer(const KernelCall& call, const List<uint64_t>& words, NodeNumber node);
  void make_results(size_t count, uint64_t bytes, List<uint64_t>& results);
  TaskNumber create_combinations(const ClusterBuffer& copies, const ProgramPlace& place, List<uint64_t>& results);
  TaskNumber create_combination(NewTask task);

  // Replacement of tasks that would use more data by now (late_pointers.cpp).
  [[nodiscard]] TaskNumber present(TaskNumber task) const;
  void make_wider(List<TaskAccess>& accesses);
  [[nodiscard]] bool uses_more_now(const List<TaskAccess>& known);
  [[nodiscard]] bool may_use_more(TaskNumber task);
  [[nodiscard]] bool is_recreated(TaskNumber task);
  void list_open_predecessors(TaskNumber task, List<TaskNumber>& after);
  void list_open(List<OpenTask>& open);
  static OpenTask* find_open(List<OpenTask>& open, TaskNumber number);
  void mark(List<OpenTask>& open, TaskNumber after);
  void list_to_recreate(TaskNumber after, List<TaskNumber>& to);
  void list_predecessors(TaskNumber task, TaskNumber made, List<TaskNumber>& to);
  [[nodiscard]] NewTask copy_of(TaskNumber task);
  [[nodiscard]] Known leave(TaskNumber task);
  void recreate(TaskNumber task);
  void recreate_successors(TaskNumber after, List<NodeNumber>& notified);
  [[nodiscard]] bool waits_for_notes(const OpenQuestion& asked, TaskNumber after);
  void answer(const OpenQuestion& asked);
  void forget_recreated(TaskNumber by);

  // Copies that no thread waits for (copies.cpp).
  NewTask task_of(const OrderedCopies& given, const List<List<uint64_t>>& pointers, uint64_t apart);
  void find_pointers(const DeviceCopy* copies, uint32_t count, List<List<uint64_t>>& pointers) const;
  [[nodiscard]] bool copy(const Copies& copies);
  [[nodiscard]] bool note_copied(const Copies& copies, const List<List<uint64_t>>& pointers);
  bool copy_more(Copying& copying) const;
  void end_copying(const Copying& copying);

  // Calls `work` with the lock, and sends the messages and ends the tasks that follow from it. Then ends the operations
  // of these tasks without the lock.
  template <class Work>
  void under_lock(const Work& work, bool polls = false);
  template <class Work>
  void run_here(NewTask task, const char* what, uint64_t bytes, Work work);

  Device* device_;
  bool has_gpus_;    // at least one member is a GPU, so the words of kernels begin with the words of a GPU launch
  bool needs_ends_;  // ends must be known at once, as copies may have to be dropped before tasks can be planned
  ClusterMemory memory_;
  ClusterNode node_;
  Head head_;
  ClusterGraphs graphs_{head_};
  Window<Known> known_;  // by the task's number
  Postponing postponing_;
  uint64_t uses_of_all_ = 0;  // number of calls of `uses` while comparisons are postponed
  bool checks_ = false;
  bool has_warned_ = false;
  bool in_groups_ = false;     // set before the first task
  uint64_t last_created_ = 0;  // when the last task was created; now()
  uint64_t held_since_ = 0;    // since when tasks wait to be placed in a group; 0: none waits
  // Whether held_since_ is not 0, readable without the lock. relaxed: it only says whether taking the lock is worth it.
  std::atomic<bool> holds_{false};
  // Both lists are empty except for a short time when kernels begin to store pointers. They are searched from the
  // begin, and have at most as many entries as there are tasks in flight.
  List<Recreated> recreated_;
  List<OpenQuestion> open_questions_;
  uint64_t last_note_ = 0;  // the number of the last OpenQuestion
  List<Copying> copying_;   // copies whose tasks have started and on which no thread works
  // Operations of threads that waited for the start of a task of node 0. The task has started. The next pump takes
  // them.
  Finished woken_;
};

template <class Work>
void ClusterHead::under_lock(const Work& work, bool polls) {
  Finished finished;
  {
    Guard guard(node_.lock);
    work();
    pump(finished);
  }
  finish(finished, polls);
}

}  // namespace marline::offload::device
