// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a cluster on the program's side: turns a launch into a task of the core or into a replayed task of a
// persistent graph, and sends it to its node. These are functions of ClusterHead (head.hpp).
#include "device/cluster/head/head.hpp"

#include "base/report.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/cluster/head/members.hpp"
#include "device/cluster/protocol/wire.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "device/processor/call_kernel.hpp"
#include "image/images.hpp"
#include "image/program.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace image;
using namespace wire;

// The index of the first argument among a kernel's words. If a member is a GPU, the words of a GPU launch come before
// the arguments; they are no addresses. Code of GCC (`in_memory`) has no such words, as it is not compiled for GPUs.
uint32_t ClusterHead::first_argument(bool in_memory) const { return has_gpus_ && !in_memory ? kGpuLaunchWords : 0; }

// Whether word i is an argument that is an address in a `declare target` variable.
bool ClusterHead::is_of_variable(const List<uint64_t>& words, size_t i, size_t first) {
  const ClusterBuffer* buffer = i >= first && memory_.is_inside(words[i]) ? memory_.at(words[i]) : nullptr;
  return buffer != nullptr && buffer->places != nullptr;
}

// Sends a task to its node: the message of the core, the ranges that the task uses, the kernel and its words. Addresses
// are the node's. The core's message for a speculative copy names no accesses, so every task is sent with the accesses
// that it was created with.
void ClusterHead::send_task(const Message& message) {
  Known& known = known_[message.task];
  const List<uint64_t>& words = head_.made(message.task).words;
  note_reducer(known.kernel.call, words, message.to);
  (known.sent_to == 0 ? known.sent_to : known.speculative_copy_on) = message.to;
  BlobWriter blob(kBlobFront);
  write_message(message, blob);
  const List<TaskAccess>& accesses = head_.made(message.task).accesses;
  blob.put(accesses.count());
  for (const TaskAccess& access : accesses) {
    write_used(*memory_.known(access.range.buffer), access.range, access.may_write, message.to, blob);
  }
  known.kernel.write(message.to, blob);
  blob.put(words.count());
  const uint32_t first = first_argument(known.kernel.call.in_memory);
  for (size_t i = 0; i < words.count(); ++i) {
    uint64_t word = words[i];
    const ClusterBuffer* variable = is_of_variable(words, i, first) ? memory_.at(word) : nullptr;
    blob.put(variable != nullptr ? variable->address_at(message.to) + (word - variable->begin) : word);
  }
  if (known.checked != nullptr) {
    write_checked(*known.checked, blob);
  } else if (checks_) {
    // The task is not a region: its writes are not checked, and it has no named ranges.
    blob.put(0);
    blob.put(0);
  }
  send_blob(*node_job(), message.to, blob);
}

void ClusterHead::send_plan(const Message& message) {
  BlobWriter blob(kBlobFront);
  write_message(message, blob);
  graphs_.write_kernels(message, memory_, blob);
  send_blob(*node_job(), message.to, blob);
}

// Appends the words of a kernel: its arguments, after the words of a GPU launch if there are any.
void ClusterHead::add_words(const Launch& launch, List<uint64_t>& to) const {
  const uint64_t* words = launch.arguments;
  uint32_t count = launch.count;
  uint64_t for_gpu[kGpuLaunchWords + kMostGpuArguments];
  if (first_argument(launch.in_memory) != 0) {
    count = gpu_launch_words(launch, for_gpu);
    words = for_gpu;
  }
  for (uint32_t i = 0; i < count; ++i) to.push(words[i]);
}

// Whether a later iteration may repeat the kernel with these words. It may not if a word is a variable's address, which
// is different on each node, while a plan's words are for any node. It may not if writes are checked, as each task
// has its own checked ranges. And it may not if the words are in memory and there is a GPU, as repeat_kernel
// then assumes that all kernels have the words of a GPU launch.
bool ClusterHead::may_be_repeated(const List<uint64_t>& words, bool in_memory) {
  const uint32_t first = first_argument(in_memory);
  for (size_t i = 0; i < words.count(); ++i) {
    if (is_of_variable(words, i, first)) return false;
  }
  return !checks_ && !(has_gpus_ && in_memory);
}

// The node on which the program wants the kernel to run. The node is only a hint if the region's device is
// the cluster itself and not a member of it. A hint is ignored if its node has no code of the kernel.
NodeNumber ClusterHead::pin_of(const Launch& launch, const KernelCodes& codes) const {
  if (launch.node == 0) return kAnyNode;
  MemberKind kind = kind_of_member(device_->members[launch.node - 1]);
  if ((codes.kinds & bit_of(kind)) != 0) return static_cast<NodeNumber>(launch.node);
  bool is_hint = launch.device_number < 0 || launch.device_number == device_->number;
  if (is_hint) return kAnyNode;
  fatal(
      "%s is to run on node %d of the cluster, for which the program has no code of it: leave `device` out, or compile "
      "it for that kind of device, too (-fopenmp-targets)",
      launch.kernel->name, launch.node);
}

TaskNumber ClusterHead::create_kernel(NewTask task, const Launch& launch, const KernelForm& form,
                                      Operation* operation) {
  Known known;
  known.operation = operation;
  known.kernel = form;
  if (checks_) known.checked = make_checked(launch, memory_);
  operation->begin = now();
  for (uint32_t i = 0; i < launch.predecessor_count; ++i) task.predecessors.push(present(launch.after[i]));
  known.is_submitted_early = is_submitted_early(launch.after, launch.predecessor_count);
  if (task.graph != 0) graphs_.note_created(task.graph, form);
  return create(std::move(task), known);
}

void ClusterHead::launch(const Launch& launch, uint32_t kernel, const KernelCodes& codes, Operation* operation) {
  int number = launch.device_number >= 0 ? launch.device_number : device_->number;
  KernelForm form = {codes.at,
                     {0, offset_in_program(launch.place), launch.thread_limit, launch.in_memory, number, false,
                      is_by_pointers(launch)},
                     launch.kernel->name,
                     launch.place};
  NewTask task;
  add_words(launch, task.words);
  await_comparisons(launch);
  add_operations(hooks_share(operation));
  under_lock([&] {
    task.kernel = kernel;
    task.kinds = codes.kinds;
    task.priority = launch.priority;
    task.is_awaited = launch.is_awaited || needs_ends_;
    task.pin = pin_of(launch, codes);
    bool all = device_->has_far_pointers.load(std::memory_order_relaxed);  // ordered by the lock
    memory_.list_accesses(launch, all, task.accesses);
    uint64_t bytes = 0;
    for (const TaskAccess& access : task.accesses) bytes += access.range.bytes;
    form.call.may_postpone = may_postpone(launch, task);
    if (launch.reduced_count != 0) add_reduced(launch, task);
    form.call.reduced = launch.reduced_count;
    form.call.patches = launch.patches;
    if (launch.graph != 0 && may_be_repeated(task.words, launch.in_memory)) task.graph = launch.graph;
    bool is_repeated = task.graph != 0 && !launch.has_other_predecessors &&
                       graphs_.repeat(launch.graph, form, task, operation, operation->number);
    if (!is_repeated) operation->number = create_kernel(std::move(task), launch, form, operation);
    if (!launch.is_submitted_early) head_.barrier();
    note_fit(launch, operation->number, bytes);
  });
}

void ClusterHead::cancel(TaskNumber kernel) {
  under_lock([&] { head_.cancel(present(kernel)); });
}

bool ClusterHead::begin_iteration(uint64_t graph, bool has_barrier) {
  bool may_be_whole = false;
  under_lock([&] {
    end_postponing();
    may_be_whole = graphs_.begin(graph, has_barrier, uses());
  });
  return may_be_whole;
}

// Returns a number that changes with the state that list_accesses reads besides a launch's spans: the known pointers,
// the variables, and Device::has_far_pointers. While comparisons are postponed, each call returns another number, so no
// iteration can be repeated.
uint64_t ClusterHead::uses() {
  bool is_postponing = postponing_.state == Postponing::kOn || postponing_.state == Postponing::kEnds;
  if (is_postponing) return uint64_t{1} << 63 | ++uses_of_all_;
  return 2 * memory_.changes() +
         (device_->has_far_pointers.load(std::memory_order_relaxed) ? 1 : 0);  // ordered by the lock
}

bool ClusterHead::repeat_iteration(uint64_t graph, bool changes, Operation* operation) {
  bool is_repeated = false;
  int counted = hooks_share(operation);
  add_operations(counted);
  under_lock([&] {
    is_repeated = changes ? graphs_.renew(graph, uses(), operation, operation->number)
                          : graphs_.repeat_all(graph, uses(), operation, operation->number);
  });
  if (!is_repeated) add_operations(-counted);
  return is_repeated;
}

// The indices in `changed` count arguments without the leading null pointer; the words of a GPU launch do not change.
// If a new value may be an address in the cluster's memory, the kernel may use other data, so it is not repeated.
bool ClusterHead::repeat_kernel(uint64_t graph, bool leading_null, const ChangedWord* changed, size_t count) {
  const uint32_t first = has_gpus_ ? kGpuLaunchWords : leading_null ? 1 : 0;
  Finished finished;
  bool is_reported = false, is_repeated;
  {
    Guard guard(node_.lock);
    bool uses_same = true;
    for (size_t i = 0; i < count; ++i) uses_same = uses_same && !memory_.is_inside(changed[i].value);
    is_repeated = uses_same && graphs_.renew_next(graph, uses(), changed, count, first, is_reported);
    if (is_reported || !is_repeated) pump(finished);
  }
  finish(finished, false);
  return is_repeated;
}

void ClusterHead::end_iteration(uint64_t graph) {
  under_lock([&] { graphs_.end(graph); });
}

void ClusterHead::end_graph(uint64_t graph) {
  under_lock([&] { graphs_.remove(graph); });
}

void ClusterHead::note_graphs() {
  Guard guard(node_.lock);
  const Graphs::Counts& counts = head_.graph_counts();
  if (counts.kept == 0) return;
  note(
      "cluster: iterations of persistent graphs that the nodes repeated: %lu, of these as a whole: %lu, in part: %lu, "
      "by %lu plan%s, of which %lu were given up as times were uneven",
      counts.replayed, graphs_.repeated_whole(), counts.cut, counts.kept, counts.kept == 1 ? "" : "s", counts.uneven);
}

}  // namespace marline::offload::device
