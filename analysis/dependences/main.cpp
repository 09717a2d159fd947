// SPDX-License-Identifier: Apache-2.0
//
// marline-dependences FILE: reads a record of accesses (common/accesses_format.h) and prints conflicting accesses of
// tasks that no path of the program's graph orders, as lines of fields that are separated by tabs, for
// python/marline/check/dependences.py:
//   text NUMBER TEXT
//   module SUBTRACT LOW HIGH TEXT
//   conflict TIMES LOW HIGH BLOCK SIZE CODE STACK    a block of the heap that LOW lies in, the code that allocated it,
//                                                    the task on whose stack LOW lies; 0: none
//   side FLAGS CODE task TASK KIND CONSTRUCT LABEL   twice, the earlier task first; KIND as OMPT's flags, or 0x100 for
//                                                    an operation of MPI
//   ancestor TASK KIND CONSTRUCT LABEL RELATION      twice: each task's ancestor, or the task itself, whose creator
//   also
//                                                    created the other task's; RELATION: how many creations below it
//                                                    the accessing task is
//   depend ADDRESS TYPE                              after an ancestor: its dependences
//   total TASKS SEGMENTS ACCESSES IS_INSTRUMENTED IS_COMPLETE
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../../common/accesses_format.h"
#include "../../common/ompt.h"
#include "graph.hpp"
#include "shadow.hpp"

namespace marline::dependences {
namespace {

constexpr uint64_t kOperationKind = 0x100;  // OMPT has no such flag

struct Block {
  uint64_t size;
  uint64_t code;
  bool is_freed;
};

struct Stack {
  uint64_t high;
  uint32_t task;
};

struct Finding {
  uint64_t times = 0;
  uint64_t low = 0, high = 0;
  Access earlier{}, later{};
  uint64_t block = 0, size = 0, code = 0;
  uint32_t stack = 0;
};

class Analysis {
 public:
  void apply(uint64_t kind, const uint64_t* words, uint64_t count);
  void print();

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint8_t, uint8_t, uint64_t, uint64_t>;

  void found(uint64_t low, uint64_t high, const Access& before, const Access& after);
  void add_accesses(const uint64_t* words, uint64_t count);
  void add_free(const uint64_t* words);
  void allocate(const uint64_t* words);
  bool is_private(uint64_t address) const;
  void end_private(uint64_t low, uint64_t high);
  Access access_of(uint32_t task, uint8_t flags, uint64_t code);
  void print_task(const char* word, uint32_t number);
  void print_ancestors(const Finding& finding);
  void print(const Finding& finding);

  Graph graph_;
  MutexSets mutexes_;
  Shadow shadow_{graph_, mutexes_, [this](uint64_t low, uint64_t high, const Access& earlier, const Access& later) {
                   found(low, high, earlier, later);
                 }};
  std::map<Key, Finding> findings_;
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, Stack> stacks_;
  std::map<uint64_t, uint64_t> private_;
  uint64_t tasks_ = 0, accesses_ = 0, on_device_ = 0;  // target regions
  bool is_instrumented_ = false, is_complete_ = false;
};

// Findings are told apart by the order of creation, which does not depend on the run.
void Analysis::found(uint64_t low, uint64_t high, const Access& before, const Access& after) {
  const bool is_swapped = after.task < before.task;
  const Access &earlier = is_swapped ? after : before, &later = is_swapped ? before : after;
  const Key key = {earlier.code,
                   later.code,
                   earlier.flags,
                   later.flags,
                   graph_.task(earlier.task).code,
                   graph_.task(later.task).code};
  Finding& finding = findings_[key];
  ++finding.times;
  if (finding.times > 1) {
    const bool is_same = finding.earlier.task == earlier.task && finding.later.task == later.task;
    if (is_same && low == finding.high) finding.high = high;
    if (low >= finding.low) return;
  }
  finding.low = low;
  finding.high = high;
  finding.earlier = earlier;
  finding.later = later;
  if (auto block = blocks_.upper_bound(low); block != blocks_.begin()) {
    --block;
    if (low < block->first + block->second.size) {
      finding.block = block->first;
      finding.size = block->second.size;
      finding.code = block->second.code;
    }
  }
  if (auto stack = stacks_.upper_bound(low); stack != stacks_.begin()) {
    --stack;
    if (low < stack->second.high) finding.stack = stack->second.task;
  }
}

Access Analysis::access_of(uint32_t task, uint8_t flags, uint64_t code) {
  const Node node = graph_.segment(task);
  return {node, task, mutexes_.number(graph_.task(task).mutexes), flags, code};
}

bool Analysis::is_private(uint64_t address) const {
  auto range = private_.upper_bound(address);
  return range != private_.begin() && address < std::prev(range)->second;
}

void Analysis::end_private(uint64_t low, uint64_t high) {
  auto range = private_.upper_bound(low);
  if (range != private_.begin() && std::prev(range)->second > low) --range;
  while (range != private_.end() && range->first < high) range = private_.erase(range);
}

void Analysis::add_accesses(const uint64_t* words, uint64_t count) {
  const auto task = static_cast<uint32_t>(words[0]);
  for (uint64_t i = 1; i + 2 < count; i += 3) {
    const uint64_t low = words[i], size = words[i + 1] >> 2;
    if (is_private(low)) continue;
    ++accesses_;
    shadow_.add(low, low + size, access_of(task, static_cast<uint8_t>(words[i + 1] & 3), words[i + 2]));
  }
}

void Analysis::allocate(const uint64_t* words) {
  const uint64_t low = words[1], size = words[2];
  auto old = blocks_.lower_bound(low);
  while (old != blocks_.end() && old->first < low + size) old = blocks_.erase(old);
  blocks_[low] = {size, words[3], false};
  end_private(low, low + size);
  shadow_.forget(low, low + size);
}

void Analysis::add_free(const uint64_t* words) {
  const auto block = blocks_.find(words[1]);
  if (block == blocks_.end() || block->second.is_freed) return;
  block->second.is_freed = true;
  const auto task = static_cast<uint32_t>(words[0]);
  if (task == 0 || block->second.size == 0) return;
  shadow_.add(words[1], words[1] + block->second.size, access_of(task, kWrites | kFrees, words[2]));
}

void Analysis::apply(uint64_t kind, const uint64_t* words, uint64_t count) {
  switch (kind) {
    case kAccesses: return add_accesses(words, count);
    case kAllocated: return allocate(words);
    case kFreed: return add_free(words);
    case kReused: return shadow_.forget(words[0], words[1]);
    case kStack:
      stacks_[words[1]] = {words[2], static_cast<uint32_t>(words[0])};
      return shadow_.forget(words[1], words[2]);
    case kPrivate: private_[words[0]] = words[1]; return;
    case kText:
      std::printf("text\t%" PRIu64 "\t%.*s\n", words[0], static_cast<int>(words[1]),
                  reinterpret_cast<const char*>(&words[2]));
      return;
    case kModule:
      std::printf("module\t%#" PRIx64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%" PRIu64 "\n", words[0], words[1], words[2],
                  words[3]);
      return;
    case kInstrumented: is_instrumented_ = true; return;
    case kOnDevice: ++on_device_; return;
    case kComplete: is_complete_ = true; return;
    case kTask: ++tasks_; [[fallthrough]];
    default: return graph_.apply(kind, words, count);
  }
}

void Analysis::print_task(const char* word, uint32_t number) {
  const Task& task = graph_.task(number);
  const uint64_t implicit = task.region != 0 ? ompt_task_implicit : ompt_task_initial;
  const uint64_t kind = task.is_implicit ? implicit : task.is_operation ? kOperationKind : task.flags;
  std::printf("%s\t%u\t%#" PRIx64 "\t%#" PRIx64 "\t%" PRIu64, word, number, kind, task.code, task.label);
}

// Dependences order tasks with the same creator: of the two tasks, or of those above them.
void Analysis::print_ancestors(const Finding& finding) {
  std::map<uint32_t, std::pair<uint32_t, int>> above;  // creator -> the task below it, and how far that is
  uint32_t child = finding.earlier.task;
  above[child] = {child, -1};
  for (int depth = 0; child != 0; ++depth) {
    const uint32_t parent = graph_.task(child).parent;
    above.try_emplace(parent, child, depth);
    child = parent;
  }
  uint32_t other = finding.later.task, below = other;
  int depth = -1;
  while (!above.contains(other)) {
    below = other;
    other = graph_.task(other).parent;
    ++depth;
  }
  const auto& [mine, up] = above[other];
  for (const auto& [number, relation] : {std::pair{mine, up}, std::pair{below, depth}}) {
    print_task("ancestor", number);
    std::printf("\t%d\n", relation);
    for (const Dependence& one : graph_.task(number).dependences)
      std::printf("depend\t%#" PRIx64 "\t%" PRIu64 "\n", one.address, one.type);
  }
}

void Analysis::print(const Finding& finding) {
  std::printf("conflict\t%" PRIu64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%u\n",
              finding.times, finding.low, finding.high, finding.block, finding.size, finding.code, finding.stack);
  for (const Access& access : {finding.earlier, finding.later}) {
    std::printf("side\t%u\t%#" PRIx64 "\t", access.flags, access.code);
    print_task("task", access.task);
    std::printf("\n");
  }
  print_ancestors(finding);
}

void Analysis::print() {
  for (const auto& [key, finding] : findings_) print(finding);
  std::printf("total\t%" PRIu64 "\t%zu\t%" PRIu64 "\t%d\t%d\t%" PRIu64 "\n", tasks_, graph_.nodes(), accesses_,
              is_instrumented_, is_complete_, on_device_);
}

// Returns an exit status.
int analyse(const char* path) {
  FILE* file = std::fopen(path, "rb");
  uint64_t head[2] = {};
  if (file == nullptr || std::fread(head, sizeof head[0], 2, file) != 2 || head[1] != MARLINE_ACCESSES_MAGIC) {
    std::fprintf(stderr, "%s: not a record of accesses\n", path);
    return 1;
  }
  Analysis analysis;
  std::vector<uint64_t> words;
  // A killed process may leave half a record.
  for (uint64_t first = 0; std::fread(&first, sizeof first, 1, file) == 1;) {
    words.resize(first >> 8);
    if (std::fread(words.data(), sizeof first, words.size(), file) != words.size()) break;
    analysis.apply(first & 0xff, words.data(), words.size());
  }
  std::fclose(file);
  analysis.print();
  return 0;
}

}  // namespace
}  // namespace marline::dependences

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: marline-dependences FILE\n");
    return 2;
  }
  return marline::dependences::analyse(arguments[1]);
}
