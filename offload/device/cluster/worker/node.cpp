// SPDX-License-Identifier: Apache-2.0
//
// Runs a node of a cluster: receives messages, starts and ends tasks, and finds the bytes that tasks have written.
#include "device/cluster/worker/node.hpp"

#include "base/make.hpp"
#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/protocol/times.hpp"
#include "device/processor/dispatcher.hpp"
#include "device/remote/worker/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace marline::offload::device {

namespace {

constexpr uint64_t kSharedOut = 2 * Replica::kChunk;  // from this size on, a range is compared by several threads

constexpr uint64_t kPageBytes = 4096;
// Other nodes may name tasks of this node before node 0's assignment arrives. Their indices are at most so much higher
// than the last known one.
constexpr uint64_t kMostSubmitted = 1 << 16;

// Maps memory at this address, or anywhere if it is 0.
char* map_memory(uint64_t at, uint64_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                      kFlags | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (memory == MAP_FAILED || (at != 0 && memory != reinterpret_cast<void*>(at))) {
    fatal("a cluster's memory, %lu GiB at %#lx, cannot be mapped (%s): is `ulimit -v` set?", bytes >> 30, at,
          strerror(errno));
  }
  madvise(memory, bytes, MADV_DONTDUMP);
  madvise(memory, bytes, MADV_DONTFORK);  // a forked child of the program has no devices
  return static_cast<char*>(memory);
}

// Adds a range that the kernel uses. If the message plans several parts of the range separately, each part is added on
// its own. The parts of a speculative copy's range are only known later, so its range is added as a whole.
void add_used(const Message& message, const ClusterRange& range, uint64_t address, bool may_write,
              List<UsedRange>& to) {
  if (message.accesses.is_empty()) to.push({range, address + range.offset, may_write, may_write});
  for (const PlannedAccess& access : message.accesses) {
    const ClusterRange& part = access.range;
    bool is_inside = part.buffer == range.buffer && part.offset >= range.offset && part.end() <= range.end();
    if (!is_inside) continue;
    to.push({part, address + part.offset, access.may_write, access.may_write && !access.is_sole});
  }
}

// Sets all bytes to 0, and gives whole pages back to the system.
void clear(char* begin, uint64_t bytes) {
  auto first = (reinterpret_cast<uint64_t>(begin) + kPageBytes - 1) & ~(kPageBytes - 1);
  uint64_t last = reinterpret_cast<uint64_t>(begin + bytes) & ~(kPageBytes - 1);
  if (first >= last) return void(std::memset(begin, 0, bytes));
  std::memset(begin, 0, first - reinterpret_cast<uint64_t>(begin));
  std::memset(reinterpret_cast<char*>(last), 0, reinterpret_cast<uint64_t>(begin + bytes) - last);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

// A worker's node may hold back the ends of several tasks and report them together. The program's node reports each end
// at once, as a thread waits for each of its tasks. A GPU runs one task at a time, as all bytes that a comparison finds
// changed on the GPU must have been written by the same task. A GPU's pages cannot be watched for writes, so `by_pages`
// has no effect on a GPU.
ClusterNode::ClusterNode(NodeNumber node, size_t slots, const ClusterPlace& place, const ClusterFinding& finding,
                         const ClusterSide& side)
    : node_(node),
      worker_(node, finding.checks ? 1 : slots, finding.compares ? Worker::kReportAtMost : 1),
      has_gpu_(finding.compares && place.is_gpus),
      side_(side),
      begin_(place.begin),
      bytes_(place.bytes),
      by_pages_(finding.by_pages && !place.is_gpus),
      checks_(finding.checks),
      postpones_(finding.compares && !place.is_gpus && !finding.by_pages && !finding.checks),
      postponed_sink_{begin_, begin_ + bytes_, {}, side.report_pointers} {
  worker_.waits_at_most = Worker::report_delay(place.nodes);
  char* memory = map_memory(place.is_gpus ? 0 : begin_, bytes_);
  shift_ = reinterpret_cast<uint64_t>(memory) - begin_;
  if (finding.compares) twins_ = map_memory(0, bytes_) - memory;
  if (by_pages_) pages_.watch(begin_, bytes_);
}

// The replica's index in the list, or the index at which it would be inserted.
size_t ClusterNode::place_of(uint64_t buffer) const {
  auto number_of = [](const Replica* replica) { return replica->buffer(); };
  return static_cast<size_t>(std::ranges::lower_bound(replicas_, buffer, {}, number_of) - replicas_.begin());
}

Replica& ClusterNode::replica(uint64_t buffer) {
  size_t at = place_of(buffer);
  if (at == replicas_.count() || replicas_[at]->buffer() != buffer) {
    fatal("node %u of the cluster is asked for buffer %lu, which it does not have", node_, buffer);
  }
  return *replicas_[at];
}

Replica& ClusterNode::replica(const ClusterRange& range) {
  Replica& found = replica(range.buffer);
  if (range.offset <= found.bytes() && range.bytes <= found.bytes() - range.offset) return found;
  fatal("node %u of the cluster is asked for %lu bytes from byte %lu of buffer %lu on, which has %lu", node_,
        range.bytes, range.offset, range.buffer, found.bytes());
}

void ClusterNode::add_buffer(uint64_t buffer, uint64_t address, uint64_t bytes) {
  size_t at = place_of(buffer);
  if (at < replicas_.count() && replicas_[at]->buffer() == buffer) return;
  bool is_variable = !is_inside(address);
  auto* data = is_variable ? reinterpret_cast<char*>(address) : memory_at(address);
  char* twin = twins_ != 0 ? data + twins_ : nullptr;
  if (is_variable) {
    // A variable of the program or of an image. Its first value is the same on all nodes, and comes from the program.
    if (has_gpu_) data = static_cast<char*>(std::calloc(1, bytes));
    twin = static_cast<char*>(std::malloc(bytes));
    if (data == nullptr || twin == nullptr) fatal("no memory for a `declare target` variable of %lu bytes", bytes);
    std::memcpy(twin, data, bytes);
  }
  auto* made = make<Replica>("the list of a cluster's buffers", buffer, data, twin, bytes,
                             has_gpu_ ? side_.gpu : nullptr, address);
  replicas_.insert(at, made);
  if (checks_ && twins_ != 0) made->watch_merges();
  count_up(cluster_statistics().copies);
  count_up(cluster_statistics().bytes, static_cast<int64_t>(bytes));
}

// Forgets the replica of a buffer, and frees its memory. The data of a `declare target` variable on a processor stays:
// it is the variable itself.
void ClusterNode::drop(uint64_t buffer) {
  Replica* gone = &replica(buffer);
  if (!is_memory(gone->data())) {
    std::free(gone->twin());
    if (has_gpu_) std::free(gone->data());
  } else {
    clear(gone->data(), gone->bytes());
    if (gone->twin() != nullptr) clear(gone->twin(), gone->bytes());
  }
  replicas_.erase(place_of(buffer));
  count_up(cluster_statistics().copies, -1);
  count_up(cluster_statistics().bytes, -static_cast<int64_t>(gone->bytes()));
  destroy(gone);
}

// Reads the ranges that a task uses, with this node's addresses. `message`: the task's assignment, with the planned
// accesses.
void ClusterNode::read_used(const Message& message, BlobReader& rest, List<UsedRange>& ranges,
                            List<ClusterRange>& written) {
  for (uint64_t left = rest.get(); left > 0 && rest.is_good(); --left) {
    uint64_t buffer = rest.get(), address = rest.get(), bytes = rest.get(), offset = rest.get();
    ClusterRange range = {buffer, offset, rest.get()};
    uint64_t may_write = rest.get();
    bool is_memory = is_inside(address) && bytes <= begin_ + bytes_ - address;
    if (!is_memory && !has_gpu_ && !may_access(address, bytes)) {
      fatal("node %u of the cluster has got a task that uses %lu bytes at %#lx, which are not the cluster's", node_,
            bytes, address);
    }
    add_buffer(buffer, address, bytes);
    (void)replica(range);  // ends the process if the range does not lie in the buffer
    if (has_gpu_) add_used(message, range, address, may_write != 0, ranges);
    if (by_pages_ && may_write != 0) written.push(range);
  }
}

// Reads what the head sends with an assignment: the ranges that the task uses, and the kernel.
void ClusterNode::read_task(const Message& message, BlobReader& rest) {
  Started& started = started_.reach(message.index);
  List<UsedRange> ranges;
  read_used(message, rest, ranges, started.written);
  started.kernel = read_kernel(rest, ranges);
  started.transition_to_waiting();
  if (!checks_) return;
  rest.words(started.is_checked);
  rest.list(started.named, [&](auto& range) { pass_range(rest, range); });
}

// Reads a kernel and its words.
KernelStart* ClusterNode::read_kernel(BlobReader& rest, const List<UsedRange>& ranges) const {
  KernelCall call;
  pass_call(rest, call);
  uint64_t count = rest.get();
  const char* words = count <= rest.left() / sizeof(uint64_t) ? rest.get_bytes(count * sizeof(uint64_t)) : nullptr;
  if (count != 0 && words == nullptr) fatal("node %u of the cluster has got a task that is torn", node_);
  KernelStart* kernel = make_kernel(words, count, ranges);
  if (size_t{call.reduced} * kReducedWords + size_t{call.patches} * kOwnPatchWords > count) {
    fatal("node %u of the cluster has got a task that is torn", node_);
  }
  kernel->call = call;
  count_up(cluster_statistics().waiting);
  return kernel;
}

// Frees the records of tasks that the core's Worker does not know any more.
void ClusterNode::drop_forgotten() {
  while (started_.first() < started_.end() && started_.first() < worker_.first_known()) {
    Started& started = started_[started_.first()];
    bool was_cancelled = started.state == Started::State::kWaiting;
    if (was_cancelled) count_up(cluster_statistics().waiting, -1);
    std::free(started.kernel);
    started_.drop_first();
  }
}

void ClusterNode::receive(Message& message, BlobReader& rest) {
  take(message, rest);
  pump();
}

// Ends the process if another process has sent a message for a task that this node cannot have.
void ClusterNode::refuse_unfit(const Message& message) const {
  bool is_fit = true;
  switch (message.kind) {
    case MessageKind::kEnded:
    case MessageKind::kSpeculativeCopy:
      is_fit = message.index >= started_.first() && message.index < started_.end() + kMostSubmitted;
      break;
    case MessageKind::kSubscribe:
    case MessageKind::kFetch: is_fit = message.index < started_.end() + kMostSubmitted; break;
    case MessageKind::kData:
    case MessageKind::kMerged: is_fit = started_.has(message.index); break;
    default: break;
  }
  if (is_fit) return;
  fatal("node %u of the cluster has got a message from process %u for task %lu, which it does not have", node_,
        message.from, message.index);
}

// The bytes may arrive before the Worker handles the event that they belong to; merging them early is right
// (docs/design/cluster-coherence.md). The replica is used here without the lock. It is not dropped meanwhile, as the
// message is for a task in flight that uses it.
void ClusterNode::merge(const Message& message, BlobReader& rest) {
  if (message.kind != MessageKind::kData && message.kind != MessageKind::kDelta) return;
  Replica* own;
  uint64_t begin;
  {
    Guard guard(lock);
    begin = cluster_times().now_if_wanted();
    refuse_unfit(message);
    worker_.hear(message.clock);
    own = &replica(message.range);
  }
  if (checks_ && message.kind == MessageKind::kDelta) find_newer(message, *own, rest);
  own->merge(rest);
  if (begin == 0) return;
  Guard guard(lock);
  cluster_times().note_long(TimedWhat::kMerge, begin);
}

// Handles a message: reads the data that belongs to it, passes it to the core's Worker, and executes the commands that
// the Worker leaves.
void ClusterNode::take(Message& message, BlobReader& rest) {
  if (message.from != node_) refuse_unfit(message);
  if (message.kind == MessageKind::kAssign) {
    Started& started = started_.reach(message.index);
    started.assigned = cluster_times().now_if_wanted();
    if (rest.left() != 0) read_task(message, rest);
  }
  if (message.kind == MessageKind::kPlan) read_plan(message, rest);
  if (checks_ && message.kind == MessageKind::kMerged) report_merged(message, rest);
  MessageKind kind = message.kind;
  worker_.receive(message);
  if (kind == MessageKind::kReplay) take_batch(message);
  if (kind == MessageKind::kUnplan) plans_.erase(plans_.find(message.index));
  execute_all();
}

// Whether the comparison may be postponed: the head allows it, this node is the range's home, and no task of another
// node may write the range. A `declare target` variable is compared at once, as it does not lie in the cluster's
// memory.
bool ClusterNode::may_postpone(const Started& started, const WorkerCommand& command) {
  bool may = postpones_ && started.kernel != nullptr && started.kernel->call.may_postpone && command.is_sole &&
             command.is_home;
  return may && is_memory(replica(command.range).data());
}

// Lists the comparisons that must be made now that the task has run, and postpones the others.
void ClusterNode::list_comparisons(uint64_t index, List<Comparison>& to) {
  worker_.compare(index);
  const Started& started = started_[index];
  for (const WorkerCommand& command : worker_.commands) {
    bool is_sole = command.is_sole && !checks_;  // a check needs all twins to be up to date
    uint64_t version = is_sole ? started.version : Replica::kNotSole;
    Comparison one = {&replica(command.range),     command.range,   command.stamp, version,
                      command.is_home && !checks_, !command.is_home};
    List<ClusterRange> left;
    if (may_postpone(started, command)) {
      one.replica->postpone(one.range, one.stamp, one.version, postponed_sink_, left);
    } else {
      left.push(one.range);
    }
    for (const ClusterRange& range : left) {
      one.range = range;
      to.push(one);
    }
  }
  worker_.commands.clear();
}

// Comparisons are postponed with the lock held, so this call makes every comparison that has been postponed.
void ClusterNode::compare_postponed() {
  postpones_ = false;
  for (Replica* replica : replicas_) replica->compare_postponed();
}

// Divides the comparison among all threads of the node, if share_out can. They probably have run the task together, so
// each thread's cache may have the bytes that the thread has written.
void ClusterNode::compare_by_chunks(const Comparison& one, const WrittenPages* pages) const {
  struct Shared {
    const ClusterNode* node;
    const Comparison* one;
    const WrittenPages* pages;
  } shared = {this, &one, pages};
  const uint64_t first = one.range.offset / Replica::kChunk;
  const uint64_t count = (one.range.end() + Replica::kChunk - 1) / Replica::kChunk - first;
  auto body = [](void* data, uint64_t from, uint64_t to) {
    auto* all = static_cast<Shared*>(data);
    const ClusterRange& range = all->one->range;
    const uint64_t first_chunk = range.offset / Replica::kChunk;
    const uint64_t begin = std::max(range.offset, (first_chunk + from) * Replica::kChunk);
    const uint64_t end = std::min(range.end(), (first_chunk + to) * Replica::kChunk);
    if (from == to) return;
    const ClusterNode& node = *all->node;
    const Comparison& of = *all->one;
    PointerSink sink = {node.begin_, node.begin_ + node.bytes_, {}, node.side_.report_pointers};
    of.replica->compare({range.buffer, begin, end - begin}, of.stamp, of.version, sink, all->pages);
  };
  share_out(count, body, &shared);
}

// `by_pages_` has no effect on a `declare target` variable: only pages of the cluster's memory are watched for writes.
void ClusterNode::compare_all(const List<Comparison>& comparisons) {
  PointerSink sink = {begin_, begin_ + bytes_, {}, side_.report_pointers};
  for (const Comparison& one : comparisons) {
    bool has_pages = by_pages_ && is_inside(reinterpret_cast<uint64_t>(one.replica->data()));
    if (twins_ == 0) {
      one.replica->claim(one.range, one.stamp);
    } else if (has_gpu_) {
      one.replica->compare_on_gpu(one.range, one.stamp, one.version, one.is_home, sink);
    } else if (side_.report_pointers != nullptr && one.range.bytes >= kSharedOut) {
      compare_by_chunks(one, has_pages ? &pages_ : nullptr);
    } else {
      one.replica->compare(one.range, one.stamp, one.version, sink, has_pages ? &pages_ : nullptr);
    }
  }
}

void ClusterNode::compare(uint64_t index) {
  List<Comparison> comparisons;
  uint64_t begin = 0;
  {
    Guard guard(lock);
    begin = cluster_times().now_if_wanted();
    list_comparisons(index, comparisons);
  }
  bool checks = checks_ && twins_ != 0;
  if (checks) check_before(index, comparisons);
  compare_all(comparisons);
  if (checks) check_overwritten(index, comparisons);
  if (begin == 0) return;
  Guard guard(lock);
  cluster_times().note_long(TimedWhat::kCompare, begin);
}

void ClusterNode::end_at_once(uint64_t index) {
  List<Comparison> comparisons;
  list_comparisons(index, comparisons);
  compare_all(comparisons);
  end(index, 0);
}

// Called before a task may write: protects the pages of its ranges, so that they count as clean, even if transfers have
// written them. This is right where no task is writing: there, each byte is equal to its twin or has its stamp already.
void ClusterNode::begin_writing(const Started& started) {
  for (const ClusterRange& range : written_by(started)) {
    const Replica& own = replica(range);
    auto data = reinterpret_cast<uint64_t>(own.data());
    if (own.writers == 0 && is_inside(data)) pages_.protect(data + range.offset, data + range.end());
  }
  for (const ClusterRange& range : written_by(started)) ++replica(range).writers;
}

void ClusterNode::end_writing(const Started& started) {
  for (const ClusterRange& range : written_by(started)) --replica(range).writers;
}

void ClusterNode::end(uint64_t index, double time) {
  Started& started = started_[index];
  end_writing(started);
  started.transition_to_ended();
  std::free(started.kernel);
  started.kernel = nullptr;
  worker_.end(index, time);
  pump();
}

// Guarantee: after the last report of a pointer that a task T has stored, and before T ends, the program is asked.
// Proof: let a comparison C (T's own or another task's) have reported the pointer. If C compared these bytes before T's
// own comparison did, T's comparison took the chunk's lock after C, so T sees here that reported_pointers_ has grown,
// unless another task's question has been answered in between, which raised allowed_pointers_. But that task's call of
// this function marked T, which was running, with kMustAsk.
void ClusterNode::end_when_allowed(uint64_t index, double time) {
  uint64_t reported = reported_pointers_.load(std::memory_order_relaxed);
  bool must_ask = started_[index].state == Started::State::kMustAsk;
  if (reported == allowed_pointers_ && !must_ask) return end(index, time);
  for (uint64_t other = started_.first(); other < started_.end() && reported != allowed_pointers_; ++other) {
    if (started_[other].is_running()) started_[other].transition_to_must_ask();
  }
  questions_.push({++last_question_, index, time, reported});
  side_.ask_to_end(last_question_, worker_.task_of(index));
}

void ClusterNode::may_end(uint64_t question) {
  for (size_t i = 0; i < questions_.count(); ++i) {
    if (questions_[i].number != question) continue;
    Question asked = questions_[i];
    questions_.erase(i);
    allowed_pointers_ = std::max(allowed_pointers_, asked.reported_pointers);
    return end(asked.index, asked.time);
  }
  fatal("node %u of the cluster has got an answer to a question that it has not asked", node_);
}

bool ClusterNode::is_end_late() const {
  return unreported_since_ != 0 && static_cast<double>(now() - unreported_since_) >= worker_.waits_at_most;
}

bool ClusterNode::report_late_ends() {
  if (is_end_late()) pump();
  return unreported_since_ != 0;
}

// Must be called when the core may have begun or ceased to hold back ends of tasks.
void ClusterNode::note_unreported_ends() {
  if (!worker_.has_unreported_ends()) {
    unreported_since_ = 0;
  } else if (unreported_since_ == 0) {
    unreported_since_ = now();
    if (side_.look_soon != nullptr) side_.look_soon();
  }
}

// Whether the next message that the commands send goes to the same node as the one at `i`. Node 0 sends itself reports.
bool ClusterNode::is_followed(const List<WorkerCommand>& commands, size_t i) const {
  if (commands[i].action != WorkerAction::kSend || side_.report != nullptr) return false;
  const NodeNumber to = commands[i].message.to;
  while (++i < commands.count()) {
    if (commands[i].action == WorkerAction::kSend) return commands[i].message.to == to;
  }
  return false;
}

void ClusterNode::execute_all() {
  while (!worker_.commands.is_empty()) {
    List<WorkerCommand> commands;
    commands.swap(worker_.commands);
    for (size_t i = 0; i < commands.count(); ++i) execute(commands[i], is_followed(commands, i));
  }
}

void ClusterNode::pump() {
  execute_all();
  while (next_own_ < own_.count()) {
    Message message = std::move(own_[next_own_++]);
    BlobReader nothing(nullptr, 0);
    take(message, nothing);
  }
  own_.clear();
  next_own_ = 0;
  // While the dispatcher's thread polls the wire, the worker's first thread does not call report_late_ends. The
  // dispatcher's thread comes here with each message and with each end of a task.
  if (is_end_late()) {
    worker_.report();
    execute_all();
  }
  drop_forgotten();
  note_unreported_ends();
}

void ClusterNode::execute(WorkerCommand& command, bool is_followed) {
  switch (command.action) {
    case WorkerAction::kSend: return send(command.message, is_followed);
    // ClusterNode::merge has merged the bytes already.
    case WorkerAction::kMerge: return;
    case WorkerAction::kReady:
      started_[command.index].version = Replica::version();
      cluster_times().note(TimedWhat::kWait, started_[command.index].assigned);
      return;
    case WorkerAction::kStart: return start(command);
    case WorkerAction::kCompare: assert(!"only Worker::compare leaves it"); return;
    case WorkerAction::kDrop: return drop(command.range.buffer);
  }
}

// Sends a message of the core's Worker, with the data that belongs to it.
void ClusterNode::send(Message& message, bool is_followed) {
  if (message.kind == MessageKind::kReport && side_.report != nullptr) return side_.report(message);
  if (message.kind == MessageKind::kFetch) message.copy = replica(message.range).number();
  BlobWriter blob(kBlobFront);
  write_message(message, blob);
  if (message.kind == MessageKind::kData) {
    TimedScope timed(TimedWhat::kPack);
    replica(message.range).answer(message.to, message.copy, message.range, blob);
  } else if (message.kind == MessageKind::kDelta) {
    TimedScope timed(TimedWhat::kPack);
    if (checks_) write_changed(message, blob);
    replica(message.range).pack(message.range, started_[message.peer.index].version, blob);
  } else if (message.kind == MessageKind::kMerged && checks_) {
    blob.words(merged_.buffer, merged_.first, merged_.end, merged_.count);
  }
  side_.send(message, blob, is_followed);
}

// Starts a task whose inputs have arrived.
void ClusterNode::start(const WorkerCommand& command) {
  Started& started = started_[command.index];
  if (started.plan) started.kernel = kernel_of(command);
  started.transition_to_running();
  if (started.kernel != nullptr) {
    started.kernel->index = command.index;
    started.kernel->task = command.task;
    count_up(cluster_statistics().waiting, -1);
  }
  begin_writing(started);
  side_.start(command.index, command.task, started.kernel);
}

}  // namespace marline::offload::device
