// SPDX-License-Identifier: Apache-2.0
//
// What a node of a cluster does, the program's process among them: drives the core's Worker, holds the node's copies of
// buffers, and exchanges messages. One lock, the node's: whoever calls has it, but for `merge`, `compare` and `find`,
// which take it for their begins only, as they take their time. Nothing here blocks or suspends, but packing bytes to
// send takes its time, too.
#pragma once

#include "base/lock.hpp"
#include "cluster/base/shared.hpp"
#include "cluster/dataflow/worker.hpp"
#include "device/contract/own_words.hpp"
#include "device/cluster/protocol/frames.hpp"
#include "device/cluster/protocol/kernel_call.hpp"
#include "device/cluster/replica/replica.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

// The addresses of the cluster's memory, and how many nodes have it.
struct ClusterPlace {
  uint64_t begin, bytes;
  bool is_gpus;  // a GPU has them: this node's, or, for the program, any. In this process the copies lie elsewhere
  size_t nodes;
};

// What a kernel may use; `address`: where its kernel finds it.
struct UsedRange {
  ClusterRange range;
  uint64_t address;
  bool may_write;
  bool is_shared;  // others may write it as well
};

// A kernel to be run at a node.
struct KernelStart {
  uint64_t index;  // of its task
  KernelCall call;
  uint32_t count, range_count;
  uint64_t words[];  // arguments; behind them, for GPUs alone, the ranges

  [[nodiscard]] uint32_t argument_count() const {
    return count - call.reduced * kReducedWords - call.patches * kOwnPatchWords;
  }
  // Its own memory is behind its arguments. Once, before it runs.
  [[nodiscard]] bool patch() {
    auto* patches = reinterpret_cast<const OwnPatch*>(words + argument_count());
    return patch_words(words, argument_count(), reinterpret_cast<uint64_t>(words), patches, call.patches);
  }
  [[nodiscard]] UsedRange* ranges() { return reinterpret_cast<UsedRange*>(words + count); }
};

// With nothing set but the words and ranges.
[[nodiscard]] KernelStart* make_kernel(const void* words, size_t count, const List<UsedRange>& ranges);

// How the two kinds of nodes differ.
struct ClusterSide {
  // Sends a message to another node, with what goes with it.
  void (*send)(const Message& message, BlobWriter& blob);
  // A message of this node's Worker to the head, which is here: null where it is elsewhere.
  void (*report)(const Message& message);
  // A task of this node is to start: `kernel` is the callee's; null: a task of node 0.
  void (*start)(uint64_t index, TaskNumber task, KernelStart* kernel);
  // Words that tasks have written into a buffer and that may be pointers.
  void (*tell_pointers)(uint64_t buffer, const List<uint64_t>& words);
  // Asks the program whether the task may end (ClusterFrame::kAsksToEnd). Null: nobody is told of pointers.
  void (*ask_to_end)(uint64_t question, TaskNumber task);
  void (*tell_finding)(const CheckFinding& finding);
  const GpuMemory* gpu;  // if a GPU runs the kernels
  // tell_late_ends has become necessary. Null: somebody looks often anyway.
  void (*look_soon)();
};

// How a node finds out what its tasks have written.
struct ClusterFinding {
  bool compares = false;  // they are kernels, whose writes are found by comparison; else they write all that they may
  bool by_pages = false;  // and only pages that have been written are compared
  bool checks = false;    // what kernels have written (check.hpp), one of them at a time
};

class ClusterNode {
 public:
  // The memory gets mapped. `slots`: tasks that are started and have not ended, at most; others may be withdrawn.
  ClusterNode(NodeNumber node, size_t slots, const ClusterPlace& place, const ClusterFinding& finding,
              const ClusterSide& side);

  // A buffer that a task here is going to use, where its bytes are in this process.
  void add_buffer(uint64_t buffer, uint64_t address, uint64_t bytes);

  [[nodiscard]] NodeNumber number() const { return node_; }

  // Where the process has the cluster's memory with that address.
  [[nodiscard]] char* memory_at(uint64_t address) const { return reinterpret_cast<char*>(address + shift_); }

  // Of a cluster that checks: messages have more, and copies hear more. Before any message.
  void set_checks() { checks_ = true; }

  // The node's copy, as long as a task under way uses it. Without the lock.
  [[nodiscard]] Replica* find(const ClusterRange& range) {
    Guard guard(lock);
    return &replica(range);
  }

  // A message, with what goes with it. Ends the process if no node of Marline's can have sent it. Two calls, by the
  // thread that polls the wire: without the lock, what the message brings for copies, and with it the rest.
  void merge(const Message& message, BlobReader& rest);
  void receive(Message& message, BlobReader& rest);
  // The task that was started has run: what it has written gets its stamp. Without the lock; `end` comes behind it.
  void compare(uint64_t index);
  // `time`: that it has run for, in nanoseconds.
  void end(uint64_t index, double time);
  // The same for a kernel's task, which ends later if the program has to be asked; `may_end` is called with its answer.
  void end_when_allowed(uint64_t index, double time);
  void may_end(uint64_t question);
  // No comparison is postponed any more, and those that are get made. With the lock.
  void compare_postponed();
  // A comparison is about to tell of pointers. Without the lock; whoever compares the same bytes later comes behind it.
  void note_told_pointers() { told_pointers_.fetch_add(1, std::memory_order_relaxed); }
  // Called now and then, with the lock: ends that the core holds back are not held for long, whatever runs here.
  // Whether any still wait.
  bool tell_late_ends();
  // Both, of a task that does nothing, with the lock.
  void end_at_once(uint64_t index);

  // Executes what the Worker wants. Called behind the two above, and after messages for this node have been queued.
  void pump();
  // A message for this node from this process.
  void queue(Message message) { own_.push(std::move(message)); }

  Lock lock;

 private:
  // What is known of a task in any iteration of its graph.
  struct PlannedStart {
    KernelCall call;
    List<UsedRange> ranges;      // for GPUs
    List<ClusterRange> written;  // if `by_pages_`
  };
  struct PlannedStarts {
    List<PlannedStart> by_rank;
  };
  struct KeptPlan {
    uint64_t number = 0;
    Shared<PlannedStarts> starts;
  };
  struct Started {
    uint64_t version = 0;   // of the copies, when the task's inputs had come
    uint64_t assigned = 0;  // when the task came here, if a tool wants times
    KernelStart* kernel = nullptr;
    Shared<PlannedStarts> plan;  // of a replayed task, which has no `kernel`
    uint64_t rank = 0;           // in it
    bool waits = false;          // such a task has not started
    List<ClusterRange> written;  // what it may write; only with `pages_`
    bool is_checked = false;     // it writes only what is `named`; only if `checks_`
    List<ClusterRange> named;    // in order
    List<ChangedBytes> changed;  // likewise, with the stamp that it gets
    uint64_t stamp = 0;
    TaskNumber task = 0;
    bool may_postpone = false;  // KernelCall
    bool is_running = false;    // or waits for the program's answer
    bool must_ask = false;      // before it ends: it was running when pointers were told that it may have stored
  };
  // A task that has run, and ends when the program says so.
  struct Question {
    uint64_t number;
    uint64_t index;
    double time;
    uint64_t told_pointers;
  };
  struct Comparison {
    Replica* replica;  // stays: the task uses it
    ClusterRange range;
    uint64_t stamp, version;  // as Replica::compare has them
    bool is_home, is_sent;    // as it has it; home
  };

  void read_task(const Message& message, BlobReader& rest);
  void read_used(const Message& message, BlobReader& rest, List<UsedRange>& ranges, List<ClusterRange>& written);
  KernelStart* read_kernel(uint64_t index, BlobReader& rest, const List<UsedRange>& ranges) const;
  void read_plan(const Message& message, BlobReader& rest);
  void take_batch(const Message& message);
  [[nodiscard]] KernelStart* kernel_of(const WorkerCommand& command);
  [[nodiscard]] const List<ClusterRange>& written_by(const Started& started) const;
  void take(Message& message, BlobReader& rest);
  void execute(WorkerCommand& command);
  void execute_all();
  void send(Message& message);
  void start(const WorkerCommand& command);
  void list_comparisons(uint64_t index, List<Comparison>& to);
  [[nodiscard]] bool may_postpone(const Started& started, const WorkerCommand& command);
  void compare_all(const List<Comparison>& comparisons);
  void compare_by_chunks(const Comparison& one, const WrittenPages* pages) const;
  void check_before(uint64_t index, const List<Comparison>& comparisons);
  void check_named(const List<ClusterRange>& named, const List<Comparison>& comparisons, CheckFinding& finding);
  void check_behind(uint64_t index, const List<Comparison>& comparisons);
  void write_changed(const Message& message, BlobWriter& to);
  void find_newer(const Message& message, Replica& own, BlobReader& rest);
  void tell_merged(const Message& message, BlobReader& rest);
  void begin_writing(const Started& started);
  void end_writing(const Started& started);
  void drop(uint64_t buffer);
  [[nodiscard]] size_t place_of(uint64_t buffer) const;
  Replica& replica(uint64_t buffer);
  Replica& replica(const ClusterRange& range);
  void refuse_unfit(const Message& message) const;
  [[nodiscard]] bool is_inside(uint64_t address) const { return address - begin_ < bytes_; }
  [[nodiscard]] bool is_memory(const char* data) const { return is_inside(reinterpret_cast<uint64_t>(data) - shift_); }
  void drop_forgotten();
  void note_untold_ends();
  [[nodiscard]] bool is_end_late() const;

  NodeNumber node_;
  Worker worker_;
  uint64_t untold_since_ = 0;  // 0: no end waits
  bool has_gpu_;               // that runs the kernels
  const ClusterSide& side_;
  uint64_t begin_, bytes_;
  uint64_t shift_;      // from the cluster's addresses to the copies
  int64_t twins_ = 0;   // from the memory to its twin; 0: there is none
  WrittenPages pages_;  // if `by_pages_`
  bool by_pages_, checks_;
  bool postpones_;  // comparisons of tasks that may
  const PointerSink postponed_sink_;
  List<Replica*> replicas_;  // by buffer, each a word: one that comes or goes moves those behind it
  Window<Started> started_;  // by index; as long as the Worker knows them
  Numbered<KeptPlan> plans_;
  List<Message> own_;  // from this node to itself, in order
  size_t next_own_ = 0;
  std::atomic<uint64_t> told_pointers_{0};  // how often. relaxed: the chunks' locks order it (end_when_allowed)
  uint64_t allowed_pointers_ = 0;           // of these, those behind which a task has been allowed to end
  uint64_t last_question_ = 0;
  List<Question> questions_;  // at most the tasks that run at a time
  CheckFinding merged_ = {};  // what the delta that is being received says; the thread's that polls the wire
};

}  // namespace marline::offload::device
