// SPDX-License-Identifier: Apache-2.0
//
// Task reductions on a cluster: first the program's side, which creates the combinations, then the nodes' side, which
// runs them.
#include "device/cluster/reduce/reduce.hpp"

#include "base/now.hpp"
#include "device/cluster/head/code.hpp"
#include "device/cluster/head/head.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "image/program.hpp"

#include <cstring>

namespace marline::offload::device {

using namespace image;

namespace {

// The number of children of each node of the tree. For few bytes, the number of levels decides the time, as a node
// handles several messages in the time that one message takes. For many bytes, the number of children decides it, as a
// node gets its children's results over one link, one after the other.
constexpr size_t kBelow = 4;

constexpr uint64_t kNoCodes[kMostNodes + 1] = {};  // a combination has no kernel: its words name the function

}  // namespace

// Adds the ReducedWords of a kernel that takes part in reductions. The kernel writes a copy and not the buffer, so its
// access to the buffer becomes a read. Called under the node's lock, as are all functions up to create_combinations.
void ClusterHead::add_reduced(const Launch& launch, NewTask& task) {
  for (uint32_t i = 0; i < launch.reduced_count; ++i) {
    const ReducedArgument& reduced = launch.reduced[i];
    const ClusterBuffer& buffer = buffer_at(reduced.address, 1, "the reduction of");
    for (TaskAccess& access : task.accesses)
      access.may_write = access.may_write && access.range.buffer != buffer.number;
    uint64_t argument = first_argument(launch.in_memory) != 0 ? gpu_word(launch, reduced.word) : reduced.word;
    for (uint64_t word : {argument, buffer.number, buffer.begin, buffer.bytes()}) task.words.push(word);
  }
}

// Notes that the node may get copies of the variables that the kernel reduces.
void ClusterHead::note_reducer(const KernelCall& call, const List<uint64_t>& words, NodeNumber node) {
  size_t first = words.count() - call.reduced * kReducedWords;
  for (uint32_t i = 0; i < call.reduced; ++i) {
    ReducedWords reduced;
    std::memcpy(&reduced, &words[first + i * kReducedWords], sizeof reduced);
    List<NodeNumber>& reducers = memory_.known(reduced.buffer)->reducers;
    bool is_known = false;
    for (NodeNumber known : reducers) is_known = is_known || known == node;
    if (!is_known) reducers.push(node);
  }
}

TaskNumber ClusterHead::create_combination(NewTask task) {
  Known known;
  known.kernel = {kNoCodes, {.number = device_->number, .combines = true}, kCombination, nullptr};
  return create(std::move(task), known);
}

// Allocates a result for each node, or, if there is no room for so many, one result to which the nodes add one after
// the other.
void ClusterHead::make_results(size_t count, uint64_t bytes, List<uint64_t>& results) {
  if (!memory_.has(count * bytes)) count = 1;
  for (size_t i = 0; i < count; ++i) {
    const ClusterBuffer* made = memory_.allocate(bytes);
    if (made == nullptr) {
      fatal(
          "device %d (cluster) has no memory for the result of a task reduction, %lu bytes: map less, or use "
          "MARLINE_CLUSTER_SENDS=ready",
          device_->number, bytes);
    }
    results.push(made->begin);
  }
}

// Creates a combination for each node that may have copies. A node's task is created after the tasks of the nodes below
// it. Returns the last task; its result, results[0], is that of all nodes.
TaskNumber ClusterHead::create_combinations(const ClusterBuffer& copies, const ProgramPlace& place,
                                            List<uint64_t>& results) {
  const uint64_t bytes = copies.bytes();
  const size_t count = copies.reducers.count();
  make_results(count, bytes, results);
  const bool has_tree = results.count() == count;
  List<TaskNumber> tasks;  // from the last node to the first
  for (size_t i = count; i-- > 0;) {
    NewTask task;
    task.pin = copies.reducers[i];
    task.priority = INT32_MAX;  // a thread waits for the result
    task.is_awaited = i == 0 || needs_ends_;
    task.accesses.push({{copies.number, 0, bytes}, false});
    uint64_t result = results[has_tree ? i : 0];
    task.accesses.push({{memory_.at(result)->number, 0, bytes}, true});
    bool starts = has_tree || i == count - 1;
    for (uint64_t word : {place.module, place.offset, copies.number, copies.begin, bytes, result, uint64_t{starts}})
      task.words.push(word);
    if (!starts) task.predecessors.push(tasks.back());
    for (size_t below = i * kBelow + 1; has_tree && below <= i * kBelow + kBelow && below < count; ++below) {
      task.accesses.push({{memory_.at(results[below])->number, 0, bytes}, false});
      task.predecessors.push(tasks[count - 1 - below]);
      task.words.push(results[below]);
    }
    tasks.push(create_combination(std::move(task)));
  }
  return tasks.back();
}

bool ClusterHead::reduce(uint64_t address, uint64_t bytes, Combine combine, void* to) {
  const ProgramPlace place = place_of_address(reinterpret_cast<const void*>(combine));
  List<uint64_t> results;
  TaskNumber root;
  {
    Guard guard(node_.lock);
    const ClusterBuffer& copies = buffer_at(address, bytes, "the reduction of");
    if (copies.reducers.is_empty()) return false;
    root = create_combinations(copies, place, results);
  }
  read(to, results[0], bytes, &root);
  for (uint64_t made : results) release(made);
  return true;
}

// The nodes' side ----------------------------------------------------

namespace {

RegionCopies g_copies;  // one for the process, which is one node

}  // namespace

ReducedWords reduced_of(const KernelStart& kernel, uint32_t i) {
  ReducedWords reduced;
  uint32_t first = kernel.count - kernel.call.reduced * kReducedWords;  // after the arguments and the patches
  std::memcpy(&reduced, kernel.words + first + i * kReducedWords, sizeof reduced);
  return reduced;
}

Combine combine_of(const ClusterNode& node, const KernelStart& kernel) {
  auto* found = address_of_place({kernel.words[0], kernel.words[1]});
  if (found == nullptr) {
    fatal(
        "node %u of the cluster does not have the program's function that combines the copies of a task reduction: "
        "start the same program on all nodes",
        node.number());
  }
  return reinterpret_cast<Combine>(reinterpret_cast<uint64_t>(found));
}

ReducingRegion::ReducingRegion(const ClusterNode& node, KernelStart& kernel) {
  for (uint32_t i = 0; i < kernel.call.reduced; ++i) {
    ReducedWords reduced = reduced_of(kernel, i);
    const char* copy = nullptr;
    for (const Taken& taken : taken_) copy = taken.buffer == reduced.buffer ? taken.copy : copy;
    if (copy == nullptr) {
      copy = g_copies.take(reduced.buffer, node.memory_at(reduced.address), reduced.bytes);
      taken_.push({reduced.buffer, copy});
    }
    kernel.words[reduced.word] += reinterpret_cast<uint64_t>(copy) - reduced.address;
  }
}

ReducingRegion::~ReducingRegion() {
  for (const Taken& taken : taken_) g_copies.give_back(taken.buffer, taken.copy);
}

void combine_copies(const ClusterNode& node, const KernelStart& kernel) {
  const uint64_t* words = kernel.words;
  Combine combine = combine_of(node, kernel);
  char* to = node.memory_at(words[5]);
  if (words[6] != 0) std::memcpy(to, node.memory_at(words[3]), words[4]);
  g_copies.combine(words[2], combine, to);
  for (uint32_t i = 7; i < kernel.count; ++i) combine(to, node.memory_at(words[i]));
}

}  // namespace marline::offload::device
