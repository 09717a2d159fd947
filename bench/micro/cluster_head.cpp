// SPDX-License-Identifier: Apache-2.0
//
// What a task costs node 0 of a cluster: its core alone (offload/cluster), without wires and without workers. The
// benchmark itself reports the ends of tasks, in batches of 16. CPU time of one thread. Also tasks that write disjoint
// parts of one buffer, all of them unfinished, and iterations of a persistent graph that are replayed.
//
//     micro-cluster_head [TASKS]
#include "cluster/dataflow/head.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace marline::offload;
using namespace marline::offload::cluster;

namespace {

constexpr uint64_t kBytes = 4096, kReported = 16;

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Bench {
 public:
  // With a window, tasks are placed in groups; nodes have one slot then, because a free slot ends a group.
  explicit Bench(size_t nodes, uint64_t window = 0)
      : nodes_(nodes), head_({.nodes = nodes, .credits = 256, .window = window}) {
    for (size_t i = 0; i <= nodes; ++i) {
      if (i != 0) head_.placement.add({0, window == 0 ? 16.0 : 1.0});
      ended_.push({});
    }
    head_.placement.set_link(0.01, 1e-6);
  }

  // Independent tasks without data.
  double run_empty(uint64_t tasks) {
    double begin = cpu_seconds();
    for (uint64_t i = 0; i < tasks; ++i) create({});
    finish();
    return cpu_seconds() - begin;
  }

  // A stencil: each task writes one block of 4 KiB and reads the blocks of its neighbours, after the three tasks of the
  // previous step. 4 blocks per node.
  double run_stencil(uint64_t tasks) {
    uint64_t width = nodes_ * 4;
    List<TaskNumber> before = enter_blocks(width), now;
    double begin = cpu_seconds();
    for (uint64_t step = 0; step < tasks / width; ++step) {
      for (uint64_t i = 0; i < width; ++i) now.push(create(make_stencil_task(step, i, width, before)));
      before.swap(now);
      now.clear();
    }
    finish();
    return cpu_seconds() - begin;
  }

  // Tasks that write 4 bytes each of one buffer, without order; all are created before the first one ends, and another
  // task reads all that they have written.
  double run_disjoint(uint64_t tasks) {
    NewTask enter;
    enter.is_on_host = true;
    enter.new_buffers.push({1, 4 * tasks});
    enter.accesses.push({{1, 0, 4 * tasks}, true});
    create(std::move(enter));
    finish();
    double begin = cpu_seconds();
    for (uint64_t i = 0; i < tasks; ++i) {
      NewTask task;
      task.accesses.push({{1, 4 * i, 4}, true});
      head_.create(std::move(task));
    }
    finish();
    NewTask read;
    read.is_on_host = true;
    read.accesses.push({{1, 0, 4 * tasks}, false});
    create(std::move(read));
    finish();
    return cpu_seconds() - begin;
  }

  // The stencil as a persistent graph: an iteration is two steps. Of 8 words of each task, `changed` differ from the
  // previous iteration. Only iterations that are replayed count.
  double run_replay(uint64_t tasks, size_t changed, uint64_t& replayed) {
    uint64_t width = nodes_ * 4, words[8] = {};
    List<TaskNumber> before = enter_blocks(width);
    double seconds = 0;
    for (uint64_t i = 0; replayed < tasks; ++i) {
      double begin = cpu_seconds();
      if (!head_.begin_iteration(1, false)) {
        if (i > 10) std::abort();  // the plan is not kept
        record(width, before);
        continue;
      }
      if (changed == 0 && !head_.replay_all(1)) std::abort();
      for (uint64_t task = 0; task < 2 * width && changed != 0; ++task) {
        for (size_t word = 0; word < changed; ++word) words[word] = 1000 * i + task;
        if (!head_.replay_next(1, words, 8)) std::abort();
      }
      head_.end_iteration(1);
      drain_replay();
      seconds += cpu_seconds() - begin;
      replayed += 2 * width;
    }
    finish();
    return seconds;
  }

 private:
  List<TaskNumber> enter_blocks(uint64_t width) {
    List<TaskNumber> entered;
    for (uint64_t i = 0; i < width; ++i) {
      NewTask enter;
      enter.is_on_host = true;
      enter.new_buffers.push({2 * i + 1, kBytes});
      enter.new_buffers.push({2 * i + 2, kBytes});
      enter.accesses.push({{2 * i + 1, 0, kBytes}, true});
      entered.push(create(std::move(enter)));
    }
    return entered;
  }

  void record(uint64_t width, List<TaskNumber>& before) {
    List<TaskNumber> now;
    for (uint64_t step = 0; step < 2; ++step) {
      for (uint64_t i = 0; i < width; ++i) {
        NewTask task = make_stencil_task(step, i, width, before);
        task.graph = 1;
        for (int word = 0; word < 8; ++word) task.words.push(0);
        now.push(create(std::move(task)));
      }
      before.swap(now);
      now.clear();
    }
    head_.end_iteration(1);
    finish();
  }

  // Each node reports its tasks of the iteration before when it gets the next ones.
  void drain_replay() {
    List<Message> sent;
    sent.swap(head_.messages);
    head_.completed_replays.clear();
    for (const Message& message : sent) {
      if (message.kind != MessageKind::kReplay) continue;
      report(message.to, 1);
      ended_[message.to].push({message.words[2] + message.words[0], false, 0, message.count});
    }
  }

  static NewTask make_stencil_task(uint64_t step, uint64_t i, uint64_t width, const List<TaskNumber>& before) {
    NewTask task;
    for (uint64_t neighbour : {(i + width - 1) % width, i, (i + 1) % width}) {
      task.predecessors.push(before[neighbour]);
      task.accesses.push({{2 * neighbour + 1 + step % 2, 0, kBytes}, false});
    }
    task.accesses.push({{2 * i + 1 + (step + 1) % 2, 0, kBytes}, true});
    return task;
  }

  TaskNumber create(NewTask task) {
    TaskNumber number = head_.create(std::move(task));
    drain(kReported);
    return number;
  }

  void finish() {
    head_.barrier();
    while (head_.under_way() != 0) drain(1);
  }

  // Tasks end in the order in which they were assigned, so after their predecessors.
  void drain(uint64_t at_least) {
    for (const Message& message : head_.messages) {
      if (message.kind == MessageKind::kAssign) ended_[message.to].push({message.index, true, 1.0});
      ++messages_;
    }
    head_.messages.clear();
    head_.completed.clear();
    NodeNumber first = at_least == 1 ? 0 : next_, last = at_least == 1 ? static_cast<NodeNumber>(nodes_) : next_;
    for (NodeNumber node = first; node <= last; ++node) report(node, at_least);
    next_ = next_ == nodes_ ? 0 : next_ + 1;
  }

  void report(NodeNumber node, uint64_t at_least) {
    if (ended_[node].count() < at_least) return;
    Message message;
    message.kind = MessageKind::kReport;
    message.from = node;
    message.ended.swap(ended_[node]);
    head_.receive(message);
  }

  size_t nodes_;
  Head head_;
  List<List<EndedTask>> ended_;
  NodeNumber next_ = 0;
  uint64_t messages_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  uint64_t tasks = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 200000;
  std::printf("%6s %28s %28s %28s\n", "nodes", "empty: ns/task (tasks/s)", "stencil: ns/task (tasks/s)",
              "groups: ns/task (tasks/s)");
  for (size_t nodes : {8, 64, 1000}) {
    double empty = Bench(nodes).run_empty(tasks) / static_cast<double>(tasks);
    uint64_t width = nodes * 4, rounded = tasks / width * width;
    double stencil = Bench(nodes).run_stencil(rounded) / static_cast<double>(rounded);
    uint64_t window = std::clamp<uint64_t>(32 * nodes, 64, 4096);  // as in offload/device/cluster/head/groups.cpp
    double group = Bench(nodes, window).run_stencil(rounded) / static_cast<double>(rounded);
    std::printf("%6zu", nodes);
    for (double time : {empty, stencil, group}) std::printf(" %14.0f (%10.0f)", time * 1e9, 1 / time);
    std::printf("\n");
  }
  std::printf("\n%6s %30s %20s %20s\n", "nodes", "disjoint writers: ns/task", "replay, 1 word: ns",
              "replay, no code: ns");
  for (size_t nodes : {8, 64, 1000}) {
    uint64_t writers = 100000, counts[2] = {};
    double disjoint = Bench(nodes).run_disjoint(writers) / static_cast<double>(writers);
    double seconds[2];
    for (size_t i = 0; i < 2; ++i) seconds[i] = Bench(nodes).run_replay(20 * tasks, 1 - i, counts[i]);
    std::printf("%6zu %30.0f %20.1f %20.1f\n", nodes, disjoint * 1e9, seconds[0] * 1e9 / static_cast<double>(counts[0]),
                seconds[1] * 1e9 / static_cast<double>(counts[1]));
  }
}
