// SPDX-License-Identifier: Apache-2.0
//
// A node of a cluster: one of the workers, or the program's process (node 0). It drives the core's Worker, holds the
// node's replicas of buffers, and exchanges messages with other nodes.
//
// There is one lock, the node's. The caller of a function holds it, unless the function's comment says otherwise.
// `merge`, `compare` and `find` take it themselves: `merge` and `compare` can take long, so they do not hold it while
// they work on bytes. Nothing here blocks or suspends, though packing bytes takes time with the lock held.
#pragma once

#include "cluster/base/window.hpp"

#include "base/lock.hpp"
#include "cluster/base/shared.hpp"
#include "cluster/dataflow/worker.hpp"
#include "device/contract/own_words.hpp"
#include "device/cluster/protocol/frames.hpp"
#include "device/cluster/protocol/kernel_call.hpp"
#include "device/cluster/replica/replica.hpp"
#include "device/processor/dispatcher.hpp"
#include "device/remote/worker/statistics.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

// The address range of the cluster's memory, and how many nodes have it.
struct ClusterPlace {
  uint64_t begin, bytes;
  // A GPU has these addresses: this node's GPU, or, in the program, the GPU of any node. The replicas then lie
  // elsewhere in this process.
  bool is_gpus;
  size_t nodes;
};

// A range of a buffer that a kernel may use. `address`: the range's address for the kernel.
struct UsedRange {
  ClusterRange range;
  uint64_t address;
  bool may_write;
  bool is_shared;  // the kernel may write it, and tasks of other nodes may write it at the same time
};

// A kernel that this node must run, as work for the node's dispatcher.
struct KernelStart : Work {
  uint64_t index;  // the task's index at the node
  TaskNumber task;
  const char* region;  // permanent; set with `seen` when the kernel is started
  KernelStatistics seen;
  KernelCall call;
  uint32_t count, range_count;
  uint64_t words[];  // `count` words (KernelCall); then, for GPUs only, `range_count` ranges

  [[nodiscard]] uint32_t argument_count() const {
    return count - call.reduced * kReducedWords - call.patches * kOwnPatchWords;
  }
  // Writes the addresses of the kernel's own memory, which lies after its arguments, into the words (own_words.hpp).
  // Must be called once, before the kernel runs. Returns false if a patch does not fit the words.
  [[nodiscard]] bool patch() {
    auto* patches = reinterpret_cast<const OwnPatch*>(words + argument_count());
    return patch_words(words, argument_count(), reinterpret_cast<uint64_t>(words), patches, call.patches);
  }
  [[nodiscard]] UsedRange* ranges() { return reinterpret_cast<UsedRange*>(words + count); }
};

// Allocates a KernelStart and copies the words and ranges into it. The caller sets the other members.
[[nodiscard]] KernelStart* make_kernel(const void* words, size_t count, const List<UsedRange>& ranges);

// The functions that are different for the program's node and for a worker's node.
struct ClusterSide {
  // Sends a message to another node, with the data that belongs to it. `is_followed`: the next message to the same node
  // comes at once, and the two may travel together.
  void (*send)(const Message& message, BlobWriter& blob, bool is_followed);
  // Hands a message of this node's Worker to the head in the same process. Null in a worker: the head is in another
  // process.
  void (*report)(const Message& message);
  // Starts a task of this node. `kernel` is valid until the task's end; it is null for a task of node 0.
  void (*start)(uint64_t index, TaskNumber task, KernelStart* kernel);
  // Reports words that tasks have written into a buffer and that may be pointers. Null in the program.
  void (*report_pointers)(uint64_t buffer, const List<uint64_t>& words);
  // Asks the program whether the task may end (ClusterFrame::kAsksToEnd). Null if pointers are not reported.
  void (*ask_to_end)(uint64_t question, TaskNumber task);
  // Reports a finding of a check (node_check.cpp). Null in the program.
  void (*notify_finding)(const CheckFinding& finding);
  const GpuMemory* gpu;  // null: no GPU runs the kernels
  // Asks for a call of report_late_ends soon. Null if report_late_ends is called often anyway.
  void (*look_soon)();
};

// How a node finds out what its tasks have written.
struct ClusterFinding {
  // The tasks are kernels, and the bytes that they have written are found by comparison. If false, a task counts as
  // having written all bytes that it may write.
  bool compares = false;
  bool by_pages = false;  // compare only pages that have been written
  // Check the writes of kernels (check.hpp), and run one kernel at a time.
  bool checks = false;
};

class ClusterNode {
 public:
  // Maps the cluster's memory. `slots`: how many tasks may have been started and not ended. More tasks wait at the node
  // until they are started; until then the head may withdraw them.
  ClusterNode(NodeNumber node, size_t slots, const ClusterPlace& place, const ClusterFinding& finding,
              const ClusterSide& side);

  // Adds a buffer that a task of this node will use, and that lies at `address` in this process.
  void add_buffer(uint64_t buffer, uint64_t address, uint64_t bytes);

  [[nodiscard]] NodeNumber number() const { return node_; }

  // The address in this process of the byte that has this address in the cluster's memory.
  [[nodiscard]] char* memory_at(uint64_t address) const { return reinterpret_cast<char*>(address + shift_); }

  // For node 0 of a cluster that checks writes: messages then carry more data. Must be called before the first message.
  void set_checks() { checks_ = true; }

  // The node's replica; valid while a task in flight uses it. Called without the lock.
  [[nodiscard]] Replica* find(const ClusterRange& range) {
    Guard guard(lock);
    return &replica(range);
  }

  // Handle a message and the data that belongs to it. Both end the process if no Marline node can have sent it. The
  // thread that polls the wire first calls `merge`, without the lock: it merges the bytes that the message carries into
  // the replica. Then it calls `receive`, with the lock: it does the rest.
  void merge(const Message& message, BlobReader& rest);
  void receive(Message& message, BlobReader& rest);
  // Must be called when a started task has run: finds what the task has written and gives these bytes the task's stamp.
  // Called without the lock, before `end`.
  void compare(uint64_t index);
  // `time`: how long the task has run, in nanoseconds.
  void end(uint64_t index, double time);
  // As `end`, for a kernel's task. If the node must ask the program before the task ends, the task ends later, by the
  // call of `may_end` for the answer.
  void end_when_allowed(uint64_t index, double time);
  void may_end(uint64_t question);
  // Makes all postponed comparisons. From now on no comparison is postponed. Called with the lock.
  void compare_postponed();
  // Must be called when a comparison is about to report pointers, while it holds the chunk's lock. The node's lock is
  // not needed: a later comparison of the same bytes takes the chunk's lock afterwards, so it sees the increment.
  void note_reported_pointers() { reported_pointers_.fetch_add(1, std::memory_order_relaxed); }
  // Reports the ends of tasks that the core has held back for too long. Must be called now and then, with the lock,
  // also while long tasks run. Returns whether ends are still held back.
  bool report_late_ends();
  // Calls `compare` and `end` for a task that does nothing. Called with the lock.
  void end_at_once(uint64_t index);

  // Executes the commands of the core's Worker, and handles queued messages. Must be called after `queue`; `end` and
  // `receive` call it themselves.
  void pump();
  // Queues a message from this process for this node.
  void queue(Message message) { own_.push(std::move(message)); }

  Lock lock;

 private:
  // How a task of a persistent graph is started in every iteration.
  struct PlannedStart {
    KernelCall call;
    List<UsedRange> ranges;      // only for GPUs
    List<ClusterRange> written;  // only with `by_pages_`
  };
  struct PlannedStarts {
    List<PlannedStart> by_rank;
  };
  struct KeptPlan {
    uint64_t number = 0;
    Shared<PlannedStarts> starts;
  };
  // A task at this node, in addition to the Worker's record of it. kNoKernel: the task's kernel has not arrived, or it
  // is a task of node 0 and has no kernel.
  //
  //             read_task, take_batch             start             end_when_allowed of another task
  //   kNoKernel ---------------------> kWaiting --------> kRunning ----------------------------------> kMustAsk
  //       |                                                  ^  |                                        |
  //       +---------------- start of a task of node 0 -------+  +------------------ end -----------------+---> kEnded
  struct Started {
    enum class State : uint8_t { kNoKernel, kWaiting, kRunning, kMustAsk, kEnded };

    void transition_to_waiting() { assert(state == State::kNoKernel), state = State::kWaiting; }
    void transition_to_running() { assert(state <= State::kWaiting), state = State::kRunning; }
    // The node must ask the program before the task ends: the task was running when pointers were reported, and may
    // have stored them.
    void transition_to_must_ask() { assert(is_running()), state = State::kMustAsk; }
    void transition_to_ended() { assert(is_running()), state = State::kEnded; }
    // A task that waits for the program's answer to kAsksToEnd counts as running.
    [[nodiscard]] bool is_running() const { return state == State::kRunning || state == State::kMustAsk; }

    State state = State::kNoKernel;
    uint64_t version = 0;           // of the replicas, when the task's inputs had come
    uint64_t assigned = 0;          // when the task came here, if a tool wants times
    KernelStart* kernel = nullptr;  // of a replayed task: from its start on
    Shared<PlannedStarts> plan;     // of a replayed task
    uint64_t rank = 0;              // the task's rank in the plan
    // The ranges that the task may write; only with `by_pages_`.
    List<ClusterRange> written;
    // The task must write only the ranges in `named`; only if `checks_`.
    bool is_checked = false;
    List<ClusterRange> named;  // ordered, without overlap
    // Only if `checks_`: the bytes that the task has changed, and in `stamp` the stamp that they get.
    List<ChangedBytes> changed;
    uint64_t stamp = 0;
  };
  // A task that has run, and may end only when the program has answered.
  struct Question {
    uint64_t number;
    uint64_t index;
    double time;
    uint64_t reported_pointers;  // reported_pointers_ when the question was asked
  };
  // A range that a task may have written, which must be compared when the task has run.
  struct Comparison {
    Replica* replica;  // stays valid: the task uses it
    ClusterRange range;
    uint64_t stamp, version;  // as for Replica::compare
    // is_home: this node is the range's home, and no check needs the bytes. is_sent: it is not the home, so the bytes
    // are sent to another node.
    bool is_home, is_sent;
  };

  void read_task(const Message& message, BlobReader& rest);
  void read_used(const Message& message, BlobReader& rest, List<UsedRange>& ranges, List<ClusterRange>& written);
  KernelStart* read_kernel(BlobReader& rest, const List<UsedRange>& ranges) const;
  void read_plan(const Message& message, BlobReader& rest);
  void take_batch(const Message& message);
  [[nodiscard]] KernelStart* kernel_of(const WorkerCommand& command);
  [[nodiscard]] const List<ClusterRange>& written_by(const Started& started) const;
  void take(Message& message, BlobReader& rest);
  void execute(WorkerCommand& command, bool is_followed);
  void execute_all();
  void send(Message& message, bool is_followed);
  bool is_followed(const List<WorkerCommand>& commands, size_t i) const;
  void start(const WorkerCommand& command);
  void list_comparisons(uint64_t index, List<Comparison>& to);
  [[nodiscard]] bool may_postpone(const Started& started, const WorkerCommand& command);
  void compare_all(const List<Comparison>& comparisons);
  void compare_by_chunks(const Comparison& one, const WrittenPages* pages) const;
  void check_before(uint64_t index, const List<Comparison>& comparisons);
  void check_named(const List<ClusterRange>& named, const List<Comparison>& comparisons, CheckFinding& finding);
  void check_overwritten(uint64_t index, const List<Comparison>& comparisons);
  void write_changed(const Message& message, BlobWriter& to);
  void find_newer(const Message& message, Replica& own, BlobReader& rest);
  void report_merged(const Message& message, BlobReader& rest);
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
  void note_unreported_ends();
  [[nodiscard]] bool is_end_late() const;

  NodeNumber node_;
  Worker worker_;
  // When the core began to hold back ends of tasks; 0: it holds back none.
  uint64_t unreported_since_ = 0;
  bool has_gpu_;  // a GPU runs the kernels
  const ClusterSide& side_;
  uint64_t begin_, bytes_;
  uint64_t shift_;      // from the cluster's addresses to the replicas
  int64_t twins_ = 0;   // from a replica's bytes to their twin; 0: there are no twins
  WrittenPages pages_;  // only with `by_pages_`
  bool by_pages_, checks_;
  bool postpones_;  // comparisons are postponed if may_postpone allows it
  const PointerSink postponed_sink_;
  // Ordered by the buffers' numbers. Inserting and erasing move all later entries, one word each.
  List<Replica*> replicas_;
  // By index, as long as the Worker knows the tasks.
  Window<Started> started_;
  IdTable<KeptPlan> plans_;
  List<Message> own_;  // from this node to itself, in order
  size_t next_own_ = 0;
  // How often pointers have been reported. relaxed: the locks of the chunks order it (end_when_allowed).
  std::atomic<uint64_t> reported_pointers_{0};
  // The highest value that reported_pointers_ had when a question was asked that the program has answered by now.
  uint64_t allowed_pointers_ = 0;
  uint64_t last_question_ = 0;
  List<Question> questions_;  // at most as many as tasks run at a time
  // With checks_: what find_newer has found in the delta that is being received. Used by the thread that polls the
  // wire.
  CheckFinding merged_ = {};
};

}  // namespace marline::offload::device
