// SPDX-License-Identifier: Apache-2.0
//
// See the header: the program's side, and behind it that of the nodes.
#include "device/cluster/cluster_reduce.hpp"

#include "device/base/tell.hpp"
#include "device/cluster/cluster_code.hpp"
#include "device/cluster/cluster_head.hpp"
#include "device/cluster/region_copies.hpp"
#include "image/program.hpp"

#include <cstring>
#include <new>

namespace marline::target {

namespace {

// Nodes below a node of the tree. The time for few bytes is that of the messages one behind the other, of which a node
// takes several in the time of one; for many it is that of a link, which the results pass one behind the other.
constexpr size_t kBelow = 4;

constexpr uint64_t kNoCodes[kMostNodes + 1] = {};  // the words say where it is

}  // namespace

// Under the lock, as the next two.
void ClusterHead::add_reduced(const Launch& launch, NewTask& task, List<uint64_t>& words) {
  for (uint32_t i = 0; i < launch.reduced_count; ++i) {
    const ReducedArgument& reduced = launch.reduced[i];
    const ClusterBuffer& buffer = buffer_at(reduced.address, 1, "the reduction of");
    for (TaskAccess& access : task.accesses) access.may_write = access.may_write && access.range.buffer != buffer.number;
    for (uint64_t word : {uint64_t{reduced.word}, buffer.number, buffer.begin, buffer.bytes()}) words.push(word);
  }
}

void ClusterHead::note_reducer(const KernelPayload& kernel, NodeNumber node) {
  size_t first = kernel.words.count() - kernel.form.call.reduced * kReducedWords;
  for (uint32_t i = 0; i < kernel.form.call.reduced; ++i) {
    ReducedWords reduced;
    std::memcpy(&reduced, &kernel.words[first + i * kReducedWords], sizeof reduced);
    List<NodeNumber>& reducers = memory_.known(reduced.buffer)->reducers;
    bool is_known = false;
    for (NodeNumber known : reducers) is_known = is_known || known == node;
    if (!is_known) reducers.push(node);
  }
}

TaskNumber ClusterHead::create_combination(NewTask task, List<uint64_t>& words) {
  void* memory = std::malloc(sizeof(KernelPayload));
  if (memory == nullptr) fatal("no memory for a task of the cluster");
  Known known;
  KernelCall call;
  call.combines = true;
  call.number = device_->number;
  known.kernel = new (memory) KernelPayload{{kNoCodes, call}, kCombination, nullptr, {}, nullptr};
  known.kernel->words.swap(words);
  known.created = now();
  return create(std::move(task), known);
}

// Under the lock: a task for each node that may have copies, those below it first. Returns the root's; `results`: where
// theirs are, the root's first.
TaskNumber ClusterHead::create_combinations(const ClusterBuffer& copies, Combine combine, List<uint64_t>& results) {
  ProgramPlace place = place_of_address(reinterpret_cast<const void*>(combine));
  size_t count = copies.reducers.count();
  List<ClusterRange> ranges;
  List<TaskNumber> tasks;  // from the last node on
  for (size_t i = 0; i < count; ++i) {
    const ClusterBuffer* made = memory_.allocate(copies.bytes());
    if (made == nullptr)
      fatal("device %d (cluster) has no memory for the results of a task reduction (%lu bytes)", device_->number, copies.bytes());
    results.push(made->begin);
    ranges.push({made->number, 0, made->bytes()});
  }
  for (size_t i = count; i-- > 0;) {
    NewTask task;
    task.pin = copies.reducers[i];
    task.is_awaited = i == 0 || needs_ends_;
    task.accesses.push({{copies.number, 0, copies.bytes()}, false});
    task.accesses.push({ranges[i], true});
    List<uint64_t> words;
    for (uint64_t word : {place.module, place.offset, copies.number, copies.begin, copies.bytes(), results[i]})
      words.push(word);
    for (size_t below = i * kBelow + 1; below <= i * kBelow + kBelow && below < count; ++below) {
      task.accesses.push({ranges[below], false});
      task.predecessors.push(tasks[count - 1 - below]);
      words.push(results[below]);
    }
    tasks.push(create_combination(std::move(task), words));
  }
  return tasks.back();
}

bool ClusterHead::reduce(uint64_t address, uint64_t bytes, Combine combine, void* to) {
  List<uint64_t> results;
  TaskNumber root;
  {
    Guard guard(node_.lock);
    const ClusterBuffer& copies = buffer_at(address, bytes, "the reduction of");
    if (copies.reducers.is_empty()) return false;
    root = create_combinations(copies, combine, results);
  }
  read(to, results[0], bytes, &root);
  for (uint64_t made : results) release(made);
  return true;
}

// At the nodes ----------------------------------------------------

namespace {

RegionCopies g_copies;  // the process is a node

ReducedWords reduced_of(const KernelStart& kernel, uint32_t i) {
  ReducedWords reduced;
  std::memcpy(&reduced, kernel.words + kernel.argument_count() + i * kReducedWords, sizeof reduced);
  return reduced;
}

}  // namespace

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
  auto combine = reinterpret_cast<Combine>(reinterpret_cast<uint64_t>(address_of_place({words[0], words[1]})));
  if (combine == nullptr) {
    fatal("node %u of the cluster does not have the program's function that combines the copies of a task reduction: link "
          "the library that has it to the program", node.number());
  }
  char* to = node.memory_at(words[5]);
  g_copies.combine(words[2], node.memory_at(words[3]), words[4], combine, to);
  for (uint32_t i = 6; i < kernel.count; ++i) combine(to, node.memory_at(words[i]));
}

}  // namespace marline::target
