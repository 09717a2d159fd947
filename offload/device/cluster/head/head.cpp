// SPDX-License-Identifier: Apache-2.0
//
// Creates the tasks of a cluster, exchanges messages with its nodes, and ends tasks.
#include "device/cluster/head/head.hpp"

#include "base/report.hpp"
#include "device/contract/place.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/protocol/times.hpp"
#include "device/cluster/protocol/wire.hpp"
#include "image/images.hpp"
#include "image/program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace marline::offload::device {

namespace {

ClusterHead* g_head = nullptr;  // a program has only one cluster

void send_to_node(const Message& message, BlobWriter& blob, bool) { send_blob(*node_job(), message.to, blob); }
void report_here(const Message& message) { g_head->report(message); }
void start_task_here(uint64_t index, TaskNumber task, KernelStart*) { g_head->start_here(index, task); }

// Converts a time of the node's clock to this process's clock. 0 stays 0.
uint64_t to_own_clock(NodeNumber node, uint64_t time) {
  return time != 0 && node != 0 ? time - static_cast<uint64_t>(clock_offset_of(static_cast<int>(node))) : time;
}

// For node 0: there is no limit on the number of tasks that have been started and have not ended.
constexpr size_t kAllAtOnce = ~size_t{0};

const ClusterSide kSide = {send_to_node, report_here, start_task_here, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

ClusterHead::ClusterHead(Device* device, const ClusterPlace& place, uint64_t limit, const HeadOptions& options)
    : device_(device),
      has_gpus_(place.is_gpus),
      needs_ends_(options.memory != UINT64_MAX),
      node_(0, kAllAtOnce, place, {}, kSide),
      head_(options) {
  memory_.open(place.begin, place.bytes, limit);
  // In nanoseconds, for regions whose duration is not known: long enough that these are spread over the nodes.
  constexpr double kUnknownTime = 1'000'000;
  head_.placement.set_unknown_time(kUnknownTime);
  set_link(kTimePerByte);
  g_head = this;
  show_cluster(0);
}

void ClusterHead::add_member(uint32_t kind, double threads) { head_.placement.add({kind, threads}); }

TaskNumber ClusterHead::create(NewTask task, const Known& known) {
  memory_.take_new(task.new_buffers);
  task.may_wait = comes_soon();
  TaskNumber number = head_.create(std::move(task));
  known_.reach(number) = known;
  known_[number].transition_to_created();
  count_up(cluster_statistics().under_way);
  limit_waits();
  return number;
}

// Sends the core's messages and lets node 0 handle the ones for it, until there are none left. Then adds the operations
// of tasks that have ended to `finished`.
void ClusterHead::pump(Finished& finished) {
  cluster_times().set_wanted(is_reported(MARLINE_ON_TIMES));
  do {
    List<Message> messages;
    messages.swap(head_.messages);
    for (Message& message : messages) send(message);
    node_.pump();
  } while (!head_.messages.is_empty());
  for (Operation* operation : woken_) finished.push(operation);
  woken_.clear();
  note_holding();
  for (TaskNumber task : head_.completed) note_ended(task, finished);
  graphs_.take_ended(finished);
  if (!head_.completed.is_empty()) {
    memory_.forget_gone([this](uint64_t buffer) { return head_.has_copies(buffer); }, finished);
  }
  head_.completed.clear();
  warn_of_memory();
}

// Warns once if a node needs more memory than MARLINE_CLUSTER_MEMORY allows. The program's results are right all the
// same.
void ClusterHead::warn_of_memory() {
  const Head::Counts& counts = head_.counts;
  if (has_warned_ || counts.over_budget == 0) return;
  has_warned_ = true;
  warn(
      "device %d (cluster): what one region uses takes %lu bytes more on node %u than MARLINE_CLUSTER_MEMORY allows; "
      "it runs there all the same. Allow more, or let the region use less",
      device_->number, counts.over_bytes, counts.over_node);
}

// Records the end of a task, and adds its operation to `finished`. Forgets the oldest tasks if they have ended.
void ClusterHead::note_ended(TaskNumber task, Finished& finished) {
  Known& known = known_.reach(task);
  if (known.state != Known::State::kUnknown) count_up(cluster_statistics().under_way, -1);
  known.transition_to_ended();
  if (known.host != nullptr) {
    known.host->has_ended = true;
    if (known.host->waiter != nullptr) finished.push(known.host->waiter);
  }
  if (!recreated_.is_empty()) forget_recreated(task);
  if (known.replay != 0) graphs_.end_again(known.replay);
  if (known.operation != nullptr) {
    // If take_times has not set the times, the operation lasts from the submission to now, when the program learns of
    // the end.
    if (known.operation->by == nullptr) known.operation->end = now();
    finished.push(known.operation);
    known.operation = nullptr;
  }
  std::free(known.copies);
  known.copies = nullptr;
  if (known.checked != nullptr) free_checked(known.checked);
  known.checked = nullptr;
  while (known_.first() < known_.end() && known_[known_.first()].has_ended()) known_.drop_first();
}

void ClusterHead::finish(Finished& finished, bool polls) {
  if (is_reported(MARLINE_ON_TIMES)) [[unlikely]] {
    report_noted();
  }
  for (Operation* operation : finished) {
    if (polls) {
      end_operation(operation);
      continue;
    }
    int counted = hooks_share(operation);  // read before the operation's end, which may free it
    // The operation belongs to a kernel or to copies, or it is an Awaited: then `ended` wakes the thread that waits for
    // it.
    (void)operation->ended(operation);
    add_operations(-counted);
  }
}

// Reports the recorded times to the tools.
void ClusterHead::report_noted() {
  List<TimedEntry> noted;
  {
    Guard guard(node_.lock);
    noted.swap(cluster_times().entries);
  }
  report_times(device_, noted);
}

// Sends a message of the core to its node. A message to node 0 is queued in this process. Before that, node 0 gets the
// buffers that the message names.
void ClusterHead::send(Message& message) {
  bool is_task = message.kind == MessageKind::kAssign;
  if (message.to != 0 && is_task) return send_task(message);
  if (message.kind == MessageKind::kPlan) return send_plan(message);
  if (message.kind == MessageKind::kUnplan) graphs_.note_unplan(message.index);
  if (message.to != 0) {
    BlobWriter blob(kBlobFront);
    write_message(message, blob);
    return send_blob(*node_job(), message.to, blob);
  }
  for (const PlannedAccess& access : message.accesses) {
    const ClusterBuffer* buffer = memory_.known(access.range.buffer);
    node_.add_buffer(buffer->number, buffer->begin, buffer->bytes());
  }
  node_.queue(std::move(message));
}

void ClusterHead::receive(int peer, Message& message, uint64_t sent, BlobReader& rest) {
  message.from = static_cast<NodeNumber>(peer);
  message.to = 0;
  size_t bytes = rest.left();
  node_.merge(message, rest);
  auto take = [&] {
    if (message.kind == MessageKind::kReport) return head_.receive(message);
    note_transfer(message, to_own_clock(message.from, sent), bytes);
    node_.receive(message, rest);
  };
  under_lock(take, true);
}

void ClusterHead::take_pointers(const uint64_t* words, uint32_t count) {
  Guard guard(node_.lock);
  ClusterBuffer* holder = count != 0 ? memory_.numbered(words[0]) : nullptr;
  List<uint64_t> pointers;
  for (uint32_t i = 1; i < count; ++i) pointers.push(words[i]);
  if (holder != nullptr) note_pointers(*holder, pointers);
}

// Notes the words as pointers in the buffer. Returns whether one of them was not known.
bool ClusterHead::note_pointers(ClusterBuffer& holder, const List<uint64_t>& words) {
  bool is_new = false;
  for (uint64_t word : words) {
    const ClusterBuffer* pointee = memory_.note_pointer(holder, word);
    if (pointee != nullptr) note_new_pointer();
    is_new = is_new || pointee != nullptr;
  }
  return is_new;
}

void ClusterHead::report_lost(NodeNumber node, char* to, size_t bytes) {
  const KernelForm* first = nullptr;
  int count = 0;
  Guard guard(node_.lock);
  for (TaskNumber task = known_.first(); task < known_.end(); ++task) {
    const Known& known = known_[task];
    bool has_it = known.sent_to == node || known.speculative_copy_on == node;
    if (!has_it || !known.is_kernel() || known.has_ended()) continue;
    if (first == nullptr) first = &known.kernel;
    ++count;
  }
  if (first == nullptr) return;
  char where[384];
  describe_place(first->name, first->where, where, sizeof where);
  if (count == 1) {
    std::snprintf(to, bytes, "; it had one task, %s", where);
  } else {
    std::snprintf(to, bytes, "; it had %d tasks, the first is %s", count, where);
  }
}

void ClusterHead::note_at_end() {
  Guard guard(node_.lock);
  uint64_t moved = head_.counts.stood_in;
  note("cluster: idle nodes have run %lu region%s that waited on busy ones", moved, moved == 1 ? "" : "s");
  uint64_t postponed = postponing_.regions;
  if (postponed != 0) {
    note("cluster: regions whose data was not compared at once: %lu", postponed);
  }
  uint64_t groups = head_.counts.groups, tasks = head_.counts.in_groups;
  if (groups != 0)
    note("cluster: regions that were placed together: %lu, in groups of %lu on average", tasks, tasks / groups);
}

void ClusterHead::take_times(int peer, const uint64_t* words, uint32_t count) {
  if (count % kTimedWords != 0) fatal("worker %d has sent times that are torn", peer);
  Guard guard(node_.lock);
  for (uint32_t i = 0; i < count; i += kTimedWords) {
    TimedEntry entry;
    std::memcpy(&entry, words + i, sizeof entry);
    if (entry.what > static_cast<uint16_t>(kLastTimed) || entry.peer > static_cast<uint32_t>(device_->member_count)) {
      fatal("worker %d has sent a time of kind %u, of process %u, which this program does not understand", peer,
            entry.what, entry.peer);
    }
    bool is_transfer = static_cast<TimedWhat>(entry.what) == TimedWhat::kTransfer;
    entry.node = static_cast<uint16_t>(peer);
    entry.begin = to_own_clock(is_transfer ? entry.peer : entry.node, entry.begin);
    // The offset between two nodes' clocks is only known to within some microseconds, so a transfer could seem to end
    // before it begins.
    entry.end = std::max(to_own_clock(entry.node, entry.end), entry.begin);
    if (static_cast<TimedWhat>(entry.what) != TimedWhat::kKernel) {
      cluster_times().entries.push(entry);
    } else if (Operation* operation = known_.has(entry.detail) ? known_[entry.detail].operation : nullptr) {
      operation->begin = entry.begin;
      operation->end = entry.end;
      operation->by = device_->members[peer - 1];
    }
  }
}

// Called when a kernel has stored a new pointer. The data that a task uses is determined when the task is created, by
// the pointers known then. So from now on a task is submitted only when its predecessors have ended. Successors of the
// kernel that exist already, also as a part of a graph's iteration that nodes repeat by themselves, are replaced
// (late_pointers.cpp). In most programs there are none, as the successors of a kernel's first run are created after
// that run (submission/queue/submission.cpp).
void ClusterHead::note_new_pointer() {
  device_->takes_early.store(false, std::memory_order_relaxed);  // a hint: other tasks may be created meanwhile
  postponing_.takes_early = false;
}

void ClusterHead::take_finding(int peer, const uint64_t* words, uint32_t count) {
  CheckFinding finding;
  if (count * sizeof *words != sizeof finding)
    fatal("worker %d has sent a finding that the program does not understand", peer);
  std::memcpy(&finding, words, sizeof finding);
  Guard guard(node_.lock);
  const CheckedKernel* kernel = known_.has(finding.task) ? known_[finding.task].checked : nullptr;
  const ClusterBuffer* buffer = memory_.known(finding.buffer);
  if (kernel != nullptr && buffer != nullptr) report_finding(*kernel, *buffer, finding, peer);
}

// Starts a task of node 0. If a thread waits for the start, that thread does the task's work. Any other task of node 0
// makes copies, or does nothing.
void ClusterHead::start_here(uint64_t index, TaskNumber task) {
  if (known_[task].is_kernel()) {
    fatal("device %d (cluster): task %lu, a target region, is placed in the program's process", device_->number, task);
  }
  HostTask* host = known_[task].host;
  const Copies* copies = known_[task].copies;
  if (copies != nullptr && copies->in_parts) return void(copying_.push({index, task, copies, 0, 0}));
  if (copies != nullptr && copy(*copies) && waits_for_notes({0, 0, index, 0, true}, task)) return;
  if (host == nullptr) return node_.end_at_once(index);
  host->index = index;
  host->has_started = true;
  if (host->waiter != nullptr) woken_.push(host->waiter);
  host->waiter = nullptr;
}

// Creates a task of node 0, waits for its start, calls `work`, and waits for the task's end. A wait is counted as an
// operation only after the lock is released, when another thread may already have ended the operation. Until then the
// count is one too low.
template <class Work>
void ClusterHead::run_here(NewTask task, const char* what, uint64_t bytes, Work work) {
  HostTask self;
  Awaited start(device_), end(device_);
  Finished finished;
  bool must_wait;
  task.is_on_host = true;
  {
    Guard guard(node_.lock);
    create(std::move(task), {.host = &self});
    head_.barrier();
    pump(finished);
    must_wait = !self.has_started;
    self.waiter = must_wait ? &start : nullptr;
  }
  if (must_wait) add_operations(hooks_share(&start));
  finish(finished, false);
  finished.clear();
  if (must_wait) start.wait(what, bytes);
  work();
  node_.compare(self.index);
  {
    Guard guard(node_.lock);
    node_.end(self.index, 0);
    pump(finished);
    must_wait = !self.has_ended;
    self.waiter = must_wait ? &end : nullptr;
  }
  if (must_wait) add_operations(hooks_share(&end));
  finish(finished, false);
  if (must_wait) end.wait(what, bytes);
}

// Ends the program if the bytes do not lie in one buffer. `what`: their use, for the message.
ClusterBuffer& ClusterHead::buffer_at(uint64_t address, uint64_t bytes, const char* what) {
  ClusterBuffer* buffer = memory_.at(address);
  if (buffer == nullptr || address + bytes > buffer->end) {
    fatal("device %d (cluster): %s %lu bytes at %#lx, which are not all in one piece of its memory", device_->number,
          what, bytes, address);
  }
  return *buffer;
}

uint64_t ClusterHead::allocate(uint64_t bytes) {
  Guard guard(node_.lock);
  ClusterBuffer* buffer = memory_.allocate(bytes);
  return buffer != nullptr ? buffer->begin : 0;
}

bool ClusterHead::has_room(uint64_t bytes) {
  Guard guard(node_.lock);
  return memory_.has_room(bytes);
}

// Under the lock. The returned buffer stays valid until the next pump.
ClusterBuffer& ClusterHead::begin_release(uint64_t address) {
  ClusterBuffer* buffer = memory_.at(address);
  if (buffer == nullptr || buffer->begin != address) {
    fatal("device %d (cluster): %#lx is freed, but no memory of it begins there", device_->number, address);
  }
  NewTask task;
  task.is_on_host = true;
  task.last_of.push(buffer->number);
  create(std::move(task), {});
  memory_.release(buffer);
  return *buffer;
}

void ClusterHead::release(uint64_t address) {
  under_lock([&] { begin_release(address); });
}

// When the wait ends, each node has been sent the message that drops its copy. Later messages to a node arrive after
// it.
void ClusterHead::remove_variable(uint64_t address) {
  Awaited gone(device_);
  add_operations(hooks_share(&gone));
  under_lock([&] {
    begin_release(address).waiter = &gone;
    head_.barrier();
    head_.await_all();
  });
  gone.wait("unload of a variable");
}

uint64_t ClusterHead::add_variable(const uint64_t* places, const void* value, uint64_t bytes) {
  uint64_t address;
  {
    Guard guard(node_.lock);
    ClusterBuffer* buffer = memory_.add_variable(bytes, places);
    if (buffer == nullptr)
      fatal("device %d (cluster) has no memory for a variable of %lu bytes", device_->number, bytes);
    address = buffer->begin;
  }
  write(address, value, bytes);
  return address;
}

// Ends the program if the copied word is a pointer to a variable. Each attached pointer is one copy of one word.
void ClusterHead::refuse_pointer_to_variable(const void* pointer) {
  uint64_t word;
  std::memcpy(&word, pointer, sizeof word);
  const ClusterBuffer* buffer = memory_.is_inside(word) ? memory_.at(word) : nullptr;
  if (buffer == nullptr || buffer->places == nullptr) return;
  fatal(
      "device %d (cluster): a pointer to a `declare target` variable is mapped, but the variable has another address "
      "on each node: use it by its name in regions, or use --devices=nodes",
      device_->number);
}

void ClusterHead::write(uint64_t to, const void* from, uint64_t bytes) {
  if (bytes == 0) return;
  NewTask task;
  List<uint64_t> pointers;
  memory_.find_pointers(to, from, bytes, pointers);
  {
    Guard guard(node_.lock);
    ClusterBuffer& buffer = buffer_at(to, bytes, "a copy to");
    for (uint64_t word : pointers) memory_.note_pointer(buffer, word);
    if (bytes == sizeof(void*)) refuse_pointer_to_variable(from);
    bool overwrites = !checks_;  // a check needs the old bytes
    task.accesses.push({{buffer.number, to - buffer.begin, bytes}, true, overwrites});
  }
  run_here(std::move(task), "copy to", bytes, [&] { std::memcpy(node_.memory_at(to), from, bytes); });
}

// Returns how many bytes two copies may be apart to become one access, together with the gap between them. One range
// costs less to fetch than many. But for copies to the device the gap counts as written, and a region that writes there
// at the same time would lose its results. So these are joined only if all of them fill new memory.
uint64_t ClusterHead::join_distance(const DeviceCopy* copies, uint32_t count) {
  constexpr uint64_t kNear = 4096;
  bool only_fills = std::all_of(copies, copies + count, [](const DeviceCopy& one) { return one.fills; });
  return !copies[0].is_to_device || only_fills ? kNear : 0;
}

// Makes all copies, which go in one direction, in one task: as separate tasks, each would wait for an answer of the
// node that has the data.
void ClusterHead::copy_all(const DeviceCopy* copies, uint32_t count) {
  uint64_t bytes = 0;
  List<List<uint64_t>> pointers;
  find_pointers(copies, count, pointers);
  NewTask task;
  {
    Guard guard(node_.lock);
    task = task_of({copies, count, nullptr, 0}, pointers, join_distance(copies, count));
    for (uint32_t i = 0; i < count; ++i) {
      if (copies[i].is_to_device && copies[i].bytes == sizeof(void*)) refuse_pointer_to_variable(copies[i].host);
      bytes += copies[i].bytes;
    }
  }
  run_here(std::move(task), copies[0].is_to_device ? "copy to" : "copy from", bytes, [&] {
    for (uint32_t i = 0; i < count; ++i) {
      void *on_device = node_.memory_at(copies[i].device), *on_host = copies[i].host;
      bool in = copies[i].is_to_device;
      std::memcpy(in ? on_device : on_host, in ? on_host : on_device, copies[i].bytes);
    }
  });
}

void ClusterHead::read(void* to, uint64_t from, uint64_t bytes, const TaskNumber* after) {
  if (bytes == 0) return;
  NewTask task;
  {
    Guard guard(node_.lock);
    if (after != nullptr) task.predecessors.push(present(*after));
    ClusterBuffer& buffer = buffer_at(from, bytes, "a copy from");
    task.accesses.push({{buffer.number, from - buffer.begin, bytes}, false});
  }
  run_here(std::move(task), "copy from", bytes, [&] { std::memcpy(to, node_.memory_at(from), bytes); });
}

// Whether a task with these predecessors is submitted early: a direct or indirect predecessor is a kernel that has not
// ended.
bool ClusterHead::is_submitted_early(const uint64_t* after, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    TaskNumber task = present(after[i]);
    if (is_replayed(task) && !head_.has_ended(task)) return true;
    if (!known_.has(task)) continue;
    const Known& before = known_[task];
    if (!before.has_ended() && (before.is_kernel() || before.is_submitted_early)) return true;
  }
  return false;
}

// This only causes messages to nodes. It needs no pump, as no task of node 0 starts or ends by it.
void ClusterHead::await(TaskNumber kernel) {
  Guard guard(node_.lock);
  head_.await(present(kernel));
  for (Message& message : head_.messages) send(message);
  head_.messages.clear();
}

void ClusterHead::wait_begins(bool singly) {
  if (!singly && in_groups_ && !holds_.load(std::memory_order_relaxed)) return;  // no task waits
  under_lock([&] {
    head_.barrier();
    if (singly) head_.await_all();
  });
}

}  // namespace marline::offload::device
