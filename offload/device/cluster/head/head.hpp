// SPDX-License-Identifier: Apache-2.0
//
// In the program: drives the core's Head, and node 0's part (node.hpp). Tasks come when all that they depend on
// has ended or has been handed over (Launch::behind), which is one of the orders of creation that the core allows. Any
// thread; the lock is node 0's.
#pragma once

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

// Where a kernel is.
struct KernelCodes {
  const uint64_t* at;  // by node; 0: it has none. Stays
  uint32_t kinds;      // of members that have it (NewTask::kinds)
};

// What runs on a node.
struct KernelPayload {
  KernelForm form;
  const char* name;  // of the region, and the text of its place, or null; both stay
  const char* where;
  List<uint64_t> words;
  CheckedKernel* checked;  // only if writes are checked
};

// It takes the words.
[[nodiscard]] KernelPayload* make_payload(const KernelForm& form, const char* name, const char* where,
                                          List<uint64_t>& words);

class ClusterHead {
 public:
  // `limit`: bytes of memory that the smallest node has.
  ClusterHead(Device* device, const ClusterPlace& place, uint64_t limit, const HeadOptions& options);

  [[nodiscard]] bool checks_writes() const { return checks_; }
  // Before the first task.
  void set_writes(MayWrite may_write, bool checks, bool by_pages) {
    memory_.may_write = may_write;
    checks_ = checks;
    bool may_postpone = may_write == MayWrite::kAll && !checks && !by_pages && !has_gpus_ && !needs_ends_;
    if (!may_postpone) postponing_.state = Postponing::kOver;
    if (checks) node_.set_checks();
  }

  // For each worker, before the first task; `kind` as Member has it.
  void add_member(uint32_t kind, double threads);
  // Nanoseconds that a byte takes between nodes. 2 GB/s until it is set, and the most that is worth setting: a node's
  // processors have to do with each byte, too.
  static constexpr double kTimePerByte = 0.5;
  void set_link(double time_per_byte);
  // Behind that: regions that are created one right behind the other are placed in groups, if that is worth it. Returns
  // of how many.
  int place_in_groups();

  [[nodiscard]] Device* device() { return device_; }

  // 0: there is not that much memory.
  uint64_t allocate(uint64_t bytes);
  // As AheadKind has it.
  bool has_room(uint64_t bytes);
  void release(uint64_t address);
  // A variable of the program or of an image, which lies at `places` (by node, which stays), with its first value;
  // returns the address by which the program knows it. May suspend.
  uint64_t add_variable(const uint64_t* places, const void* value, uint64_t bytes);

  // The variable at that address goes; no node uses it any more at the return. May suspend.
  void remove_variable(uint64_t address);

  // Done at the return. May suspend.
  void write(uint64_t to, const void* from, uint64_t bytes);
  void copy_all(const AheadCopy* copies, uint32_t count);
  void read(void* to, uint64_t from, uint64_t bytes, const TaskNumber* behind = nullptr);  // null: none under way

  // A task of node 0 that makes the copies; returns its number.
  TaskNumber start_copies(const AheadCopies& copies, Operation* operation);
  // As AheadKind has it.
  bool copy_part();

  // The operation ends when the kernel has run. `kernel`: a number for what it costs.
  void launch(const Launch& launch, uint32_t kernel, const KernelCodes& codes, Operation* operation);

  // Iterations of persistent graphs (AheadKind).
  bool begin_iteration(uint64_t graph, bool is_behind);
  [[nodiscard]] bool repeat_iteration(uint64_t graph, bool changes, Operation* operation);
  [[nodiscard]] bool repeat_kernel(uint64_t graph, bool leading_null, const ChangedWord* changed, size_t count);
  void end_iteration(uint64_t graph);
  void end_graph(uint64_t graph);
  // With OMP_DISPLAY_ENV=verbose, at the program's end.
  void note_graphs();
  // The program waits for all that it has given, perhaps for the end of each.
  void wait_begins(bool singly);
  // From the thread that polls the wire (groups.cpp).
  void look_at_held();
  // For that of this kernel, by its operation's number. It may have ended.
  void await(TaskNumber kernel);

  // As AheadKind has it (reduce.cpp).
  [[nodiscard]] bool reduce(uint64_t address, uint64_t bytes, Combine combine, void* to);

  // A kernel, by its operation's number. It may have ended.
  void cancel(TaskNumber kernel);

  // From the thread that polls the wire.
  void receive(int peer, Message& message, uint64_t sent, BlobReader& rest);  // `sent`: by the peer's clock, or 0
  void take_pointers(const uint64_t* words, uint32_t count);
  // A node's task has stored a pointer, perhaps; and an answer to kTakesNote (late_pointers.cpp).
  void take_question(NodeNumber node, uint64_t question, TaskNumber task);
  void take_note_taken(uint64_t number);
  // A node has made its postponed comparisons (postponed.cpp).
  void take_compared();
  void take_finding(int peer, const uint64_t* words, uint32_t count);
  void take_times(int peer, const uint64_t* words, uint32_t count);

  // Which regions had been sent to a node that has gone, as a part of a line.
  void tell_lost(NodeNumber node, char* to, size_t bytes);

  // For OMP_DISPLAY_ENV=verbose.
  void note_at_end();

  // Of node 0's side.
  void report(const Message& message) { head_.receive(message); }
  void start_here(uint64_t index, TaskNumber task);

 private:
  // A task of node 0, on the stack of the thread that does its work.
  struct HostTask {
    Awaited* waiter = nullptr;
    bool has_started = false, has_ended = false;
    uint64_t index = 0;
  };
  // What a task of node 0 copies that no thread waits for.
  struct Copies {
    uint32_t count;
    bool in_parts;
    bool looks_later;  // for pointers in what goes to the device: it may change before it is copied
    AheadCopy copies[];
  };
  // Copies that are made in parts: how far they are.
  struct Copying {
    uint64_t index;  // of the task
    TaskNumber task;
    const Copies* copies;
    uint32_t copy;
    size_t bytes;  // of that one
  };
  // What is known of a task until it has ended.
  struct Known {
    HostTask* host = nullptr;
    Copies* copies = nullptr;
    Operation* operation = nullptr;
    KernelPayload* kernel = nullptr;
    uint64_t created = 0;         // tell.hpp, now
    NodeNumber sent_to = 0;       // a kernel's node; 0: none yet
    NodeNumber lent_to = 0;       // one that was idle and may run it instead; 0: none
    NodeNumber node = 0;          // that has run it; 0: its times are not known
    uint64_t begin = 0, end = 0;  // the times
    bool is_counted = false;      // in what `marline ps` shows
    bool is_ahead = false;        // created behind kernels that may not have ended, directly or not
    bool is_made_again = false;   // another task does what this one was to do, which does not run
    bool has_ended = false;
    TaskNumber replay = 0;  // in whose place it does a task: its first number; 0: none
  };
  // A task that has been made again, and the one that does what it was to do.
  struct MadeAgain {
    TaskNumber task, by;
  };
  // One that has not ended, as make_again_behind looks at it.
  struct OpenTask {
    TaskNumber number;
    enum : uint8_t { kApart, kBehind, kAgain } mark = kApart;
    bool is_listed = false;
    List<TaskNumber> before;
  };
  // A task may end when so many nodes have taken note of tasks that do not run.
  struct OpenQuestion {
    uint64_t number;
    NodeNumber node;    // that asks
    uint64_t question;  // that node's number; of node 0: the task's index
    size_t missing;
    bool compares;  // then: before it ends
  };
  // Of comparisons that nodes postpone: in this order.
  struct Postponing {
    enum State : uint8_t { kNotYet, kOn, kEnds, kOver } state = kNotYet;
    NodeNumber node = 0;       // the one that postpones, or may do so soon
    uint32_t fit = 0;          // regions that could have postponed, one behind the other, at that node
    bool takes_ahead = false;  // Device::takes_ahead, afterwards
    List<Operation*> waiters;  // for the state kOver
    uint64_t regions = 0;
  };
  using Finished = List<Operation*>;

  TaskNumber create(NewTask task, const Known& known);
  [[nodiscard]] bool comes_soon();
  void limit_waits();
  void note_holding();
  void pump(Finished& finished);
  void send(Message& message);
  void send_task(const Message& message);
  void send_plan(const Message& message);
  TaskNumber create_kernel(NewTask task, const Launch& launch, const KernelForm& form, List<uint64_t>& words,
                           Operation* operation);
  [[nodiscard]] uint64_t uses();
  [[nodiscard]] bool uses_all() const;
  [[nodiscard]] bool is_alone(const Launch& launch) const;
  [[nodiscard]] bool are_others_at(NodeNumber node, const List<TaskAccess>& accesses);
  [[nodiscard]] bool may_postpone(const Launch& launch, NewTask& task);
  void note_fit(const Launch& launch, TaskNumber task, uint64_t bytes);
  void end_postponing();
  void await_comparisons(const Launch& launch);
  [[nodiscard]] NodeNumber pin_of(const Launch& launch, const KernelCodes& codes) const;
  [[nodiscard]] uint32_t first_argument(bool in_memory) const;
  [[nodiscard]] bool may_be_repeated(const List<uint64_t>& words, bool in_memory);
  [[nodiscard]] bool is_of_variable(const List<uint64_t>& words, size_t i, size_t first);
  void add_words(const Launch& launch, List<uint64_t>& to) const;
  void add_reduced(const Launch& launch, NewTask& task, List<uint64_t>& words);
  void note_reducer(const KernelPayload& kernel, NodeNumber node);
  void make_results(size_t count, uint64_t bytes, List<uint64_t>& results);
  TaskNumber create_combinations(const ClusterBuffer& copies, const ProgramPlace& place, List<uint64_t>& results);
  TaskNumber create_combination(NewTask task, List<uint64_t>& words);
  void note_ended(TaskNumber task, Finished& finished);
  void warn_of_memory();
  // `polls`: on the thread that polls the wire.
  void finish(Finished& finished, bool polls);
  void tell_what_was_noted();
  void note_new_pointer();
  [[nodiscard]] TaskNumber present(TaskNumber task) const;
  void make_wider(List<TaskAccess>& accesses);
  [[nodiscard]] bool uses_more_now(const List<TaskAccess>& known);
  [[nodiscard]] bool may_use_more(TaskNumber task);
  [[nodiscard]] bool is_made_again(TaskNumber task);
  void list_behind(TaskNumber task, List<TaskNumber>& behind);
  void list_open(List<OpenTask>& open);
  static OpenTask* find_open(List<OpenTask>& open, TaskNumber number);
  void mark(List<OpenTask>& open, TaskNumber behind);
  void list_to_make_again(TaskNumber behind, List<TaskNumber>& to);
  void list_predecessors(TaskNumber task, TaskNumber made, List<TaskNumber>& to);
  [[nodiscard]] NewTask copy_of(TaskNumber task);
  [[nodiscard]] NewTask copy_of_replayed(TaskNumber task);
  [[nodiscard]] Known leave(TaskNumber task);
  void make_again(TaskNumber task);
  void make_again_behind(TaskNumber behind, List<NodeNumber>& told);
  [[nodiscard]] bool waits_for_notes(const OpenQuestion& asked, TaskNumber behind);
  void answer(const OpenQuestion& asked);
  void forget_made_again(TaskNumber by);
  void refuse_pointer_to_variable(const void* pointer);
  ClusterBuffer& buffer_at(uint64_t address, uint64_t bytes, const char* what);
  ClusterBuffer& begin_release(uint64_t address);
  static uint64_t join_distance(const AheadCopy* copies, uint32_t count);
  NewTask task_of(const AheadCopies& given, const List<List<uint64_t>>& pointers, uint64_t apart);
  void find_pointers(const AheadCopy* copies, uint32_t count, List<List<uint64_t>>& pointers) const;
  bool is_ahead(const uint64_t* behind, uint32_t count);
  [[nodiscard]] bool copy(const Copies& copies);
  [[nodiscard]] bool note_copied(const Copies& copies, const List<List<uint64_t>>& pointers);
  bool copy_more(Copying& copying) const;
  void end_copying(const Copying& copying);
  bool note_pointers(ClusterBuffer& holder, const List<uint64_t>& words);
  template <class Work>
  void under_lock(const Work& work);
  template <class Work>
  void run_here(NewTask task, const char* what, uint64_t bytes, Work work);

  Device* device_;
  bool has_gpus_;    // among its members: kernels get the words that a GPU's do
  bool needs_ends_;  // at once: copies may have to go before tasks can be planned
  ClusterMemory memory_;
  ClusterNode node_;
  Head head_;
  ClusterGraphs graphs_{head_};
  Window<Known> known_;  // by task
  Postponing postponing_;
  uint64_t uses_of_all_ = 0;  // how often `uses` has been asked meanwhile
  bool checks_ = false;
  bool has_warned_ = false;
  bool in_groups_ = false;          // set before the first task
  uint64_t last_created_ = 0;       // when a task was; now()
  uint64_t held_since_ = 0;         // when tasks have begun to wait for others; 0: none does
  std::atomic<bool> holds_{false};  // the same, without the lock. relaxed: it says only that a look is worth while
  // Both are empty but for a moment when kernels begin to store pointers; linear lists of at most the tasks under way.
  List<MadeAgain> made_again_;
  List<OpenQuestion> open_questions_;
  uint64_t last_note_ = 0;
  List<Copying> copying_;  // that can be made, and nobody is at
  Finished woken_;         // of node 0's tasks that have started, until the next pump ends
};

}  // namespace marline::offload::device
