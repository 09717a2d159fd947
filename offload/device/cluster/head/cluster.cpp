// SPDX-License-Identifier: Apache-2.0
//
// The functions of the device kind "cluster", in the program. Also receives the frames that workers send to the
// program.
#include "device/cluster/head/cluster.hpp"

#include "base/options.hpp"
#include "base/report.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/kinds.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/cluster/head/code.hpp"
#include "device/cluster/head/head.hpp"
#include "device/cluster/head/members.hpp"
#include "device/cluster/protocol/wire.hpp"
#include "device/cluster/protocol/writes.hpp"
#include "device/remote/program/remote_device.hpp"
#include "device/remote/job/protocol_extension.hpp"
#include "device/process/process.hpp"
#include "device/processor/call_kernel.hpp"

#include <atomic>
#include <climits>
#include <cstring>
#include <new>

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

namespace {

// Null until `start` has made the head. Atomic, as other threads poll the wire meanwhile.
std::atomic<ClusterHead*> g_cluster{nullptr};
ClusterHead* cluster() { return g_cluster.load(); }
// The memory of the head, which is never destroyed.
alignas(ClusterHead) char g_room[sizeof(ClusterHead)];

ClusterHead& head_of(Device* device) {
  refuse_if_lost(device);
  if (node_job() == nullptr) fatal("device %d (cluster) is used after the program's end", device->number);
  return *static_cast<ClusterHead*>(device->state);
}

struct ChosenPlacement {
  PlacementPolicy policy = PlacementPolicy::kEarliestEnd;
  bool hold = false;
};

ChosenPlacement chosen_placement() {
  constexpr int kHold = 3;  // index of the word `hold`; the words before it are in the order of PlacementPolicy
  static constexpr const char* kWords[] = {"heft", "roundrobin", "owner", "hold"};
  int word = option_word<int>(Option::kClusterPlacement, kWords);
  if (word == kHold) return {.hold = true};
  return {.policy = static_cast<PlacementPolicy>(word)};
}

// How many kernels may be submitted that have not run. Each node may have twice the number of kernels that it is sent
// at a time (HeadOptions::credits). In addition, two groups of kernels may wait to be placed; `group`: the size of a
// group. With `hold` all kernels are planned at once, so there is no limit.
int most_submitted(const Device* device, bool hold, int group) {
  return hold ? INT_MAX : 128 * device->member_count + 2 * group;
}

bool submits_early() {
  static constexpr const char* kWords[] = {"ready", "ahead"};
  return option_word<bool>(Option::kClusterSends, kWords);
}

uint64_t chosen_memory() {
  return option_value(Option::kClusterMemory) != nullptr ? option_bytes(Option::kClusterMemory) : UINT64_MAX;
}

const CheckedAtLoad g_placement_checked(Option::kClusterPlacement, [] { (void)chosen_placement(); });
const CheckedAtLoad g_sends_checked(Option::kClusterSends, [] { (void)submits_early(); });
const CheckedAtLoad g_memory_checked(Option::kClusterMemory, [] { (void)chosen_memory(); });

void refuse_frame(int peer) {
  fatal("worker %d has sent a message of the cluster that the program does not understand", peer);
}

void* place(int peer, const Frame& frame, const uint64_t*) {
  if (static_cast<ClusterFrame>(frame.kind) != ClusterFrame::kMessage) refuse_frame(peer);
  return place_blob(peer, frame);
}

// Prints only the first warning, as all nodes may send the same one. Called by the thread that polls the wire.
void say_once(int peer, const Frame& frame, const uint64_t* words) {
  static bool is_said = false;
  auto* text = reinterpret_cast<const char*>(words);
  size_t bytes = frame.words * sizeof *words;
  if (strnlen(text, bytes) == bytes) refuse_frame(peer);
  if (!is_said) warn("node %d of the cluster: %s", peer, text);
  is_said = true;
}

void deliver(int peer, const Frame& frame, const uint64_t* words) {
  auto kind = static_cast<ClusterFrame>(frame.kind);
  if (kind == ClusterFrame::kWarning) return say_once(peer, frame, words);
  ClusterHead* head = cluster();
  if (head == nullptr) refuse_frame(peer);
  if (kind == ClusterFrame::kFinding) return head->take_finding(peer, words, frame.words);
  if (kind == ClusterFrame::kPointers) return head->take_pointers(words, frame.words);
  if (kind == ClusterFrame::kTimes) return head->take_times(peer, words, frame.words);
  if (kind == ClusterFrame::kAsksToEnd && frame.words == 2) {
    return head->take_question(static_cast<NodeNumber>(peer), words[0], words[1]);
  }
  if (kind == ClusterFrame::kHasTakenNote && frame.words == 1) return head->take_note_taken(words[0]);
  if (kind == ClusterFrame::kHasCompared && frame.words == 1) return head->take_compared();
  ReceivedBlob blob(peer, frame, words);
  Message message;
  bool is_good = kind == ClusterFrame::kMessage && read_message(blob.reader, message) && is_to_head(message.kind);
  if (!is_good) refuse_frame(peer);
  head->receive(peer, message, frame.a, blob.reader);
}

void report_lost(int peer, char* to, size_t bytes) {
  if (cluster() != nullptr) cluster()->report_lost(static_cast<NodeNumber>(peer), to, bytes);
}

void look_at_held() {
  if (cluster() != nullptr) cluster()->look_at_held();
}

constexpr ExtensionFrames kExtension = {place, deliver, report_lost, nullptr, look_at_held};

void describe(int, DeviceFacts& facts) { describe_cluster(facts); }

// The flags that a worker gets with ClusterFrame::kJoin. `has_gpus`: at least one member is a GPU.
uint64_t join_flags_of(const Device* member, bool has_gpus) {
  return (kind_of_member(member) == MemberKind::kGpu ? kRunsOnGpu : 0) | (has_gpus ? kHasGpuWords : 0);
}

void start(Device* device) {
  if (device->state != nullptr) return;
  refuse_unfit_members(device);
  for (int i = 0; i < device->member_count; ++i) {
    device->members[i]->kind->start(device->members[i]);
    refuse_other_worker(device, i);
  }
  int gpus = count_members(device, MemberKind::kGpu);
  bool has_gpus = gpus != 0;
  ClusterRoom room = room_of_cluster(device);
  HeadOptions options;
  options.nodes = static_cast<size_t>(device->member_count);
  ChosenPlacement placement = chosen_placement();
  options.policy = placement.policy;
  options.hold = placement.hold;
  options.memory = chosen_memory();
  options.report_delay = Worker::report_delay(options.nodes);
  // An idle node may run a region that waits on a busy node. The other policies choose nodes by a fixed rule, which
  // this would break.
  options.withdraw = options.policy == PlacementPolicy::kEarliestEnd;
  ClusterPlace place = {room.begin, room.bytes, has_gpus, options.nodes};
  auto* head = new (g_room) ClusterHead(device, place, room.limit, options);
  g_cluster = head;
  ClusterWrites writes = chosen_writes();
  head->set_writes(writes.may_write, writes.checks, writes.by_pages);
  // Checked here before the workers check it, so that the message is printed once and not by each worker.
  if (writes.by_pages && gpus != device->member_count) WrittenPages::refuse_if_impossible();
  for (int i = 0; i < device->member_count; ++i) {
    uint64_t words[] = {room.begin, room.bytes, join_flags_of(device->members[i], has_gpus), word_of(writes)};
    auto* member = static_cast<Node*>(device->members[i]->state);
    auto kind = static_cast<uint32_t>(kind_of_member(device->members[i]));
    uint64_t slots = ask_node(member, frame_of(ClusterFrame::kJoin, 4), "joining the cluster", words);
    head->add_member(kind, static_cast<double>(slots));
  }
  bool weighs_links = options.nodes > 1 && options.policy == PlacementPolicy::kEarliestEnd;
  if (weighs_links) head->set_link(measure_links(device, ClusterHead::kTimePerByte));
  device->asks_to_copy = true;
  device->asks_for_spans = true;
  // A check prints which host memory an allocation belongs to, so each map entry needs an allocation of its own.
  device->shares_storage = !writes.checks;
  bool takes_early = submits_early();
  bool in_groups = weighs_links && takes_early && !options.hold;
  device->most_submitted = most_submitted(device, options.hold, in_groups ? head->place_in_groups() : 0);
  device->holds_for_waits = options.hold;
  device->holds_back = options.hold || in_groups;
  // relaxed: published together with the device, like its other members.
  device->takes_early.store(takes_early, std::memory_order_relaxed);
  if (takes_early) start_submission();
  // Must be called after start_submission, which captures tasks.
  if (writes.needs_names()) capture_names();
  device->state = head;
}

uint64_t allocate(Device* device, size_t bytes) { return head_of(device).allocate(bytes); }

void release(Device* device, uint64_t address) {
  if (device->lost || node_job() == nullptr) return;
  head_of(device).release(address);
}

void write(Device* device, uint64_t to, const void* from, size_t bytes) { head_of(device).write(to, from, bytes); }
void read(Device* device, void* to, uint64_t from, size_t bytes) { head_of(device).read(to, from, bytes); }

bool launch(Device* device, const Launch& launch, Operation* operation) {
  if (!launch.in_memory && launch.count > kMostArguments) {
    fatal("a target region with %u arguments; the most are %u", launch.count, kMostArguments);
  }
  head_of(device).launch(launch, static_cast<uint32_t>(launch.code), codes_of(launch.code), operation);
  return false;
}

void stop(Device*) {}  // the cluster ends when its workers end

void cancel(Device* device, uint64_t number) { head_of(device).cancel(number); }

void copy_all(Device* device, const DeviceCopy* copies, uint32_t count) { head_of(device).copy_all(copies, count); }
uint64_t start_copies(Device* device, const OrderedCopies& copies, Operation* operation) {
  return head_of(device).start_copies(copies, operation);
}

bool copy_part(Device* device) { return head_of(device).copy_part(); }

bool has_room(Device* device, size_t bytes) { return head_of(device).has_room(bytes); }

void wait_begins(Device* device, bool singly) { head_of(device).wait_begins(singly); }
void await(Device* device, uint64_t number) { head_of(device).await(number); }

// Called by a thread that waits. It also makes parts of copies, as it may be the program's only thread.
void progress(Device* device) {
  bool is_usable = !device->lost && node_job() != nullptr;
  if (is_usable && device->holds_back) wait_begins(device, false);
  if (is_usable) (void)copy_part(device);
  progress_nodes(device);
}

bool begin_iteration(Device* device, uint64_t graph, bool has_barrier) {
  return head_of(device).begin_iteration(graph, has_barrier);
}
bool repeat_iteration(Device* device, uint64_t graph, bool changes, Operation* operation) {
  return head_of(device).repeat_iteration(graph, changes, operation);
}
bool repeat_kernel(Device* device, uint64_t graph, bool leading_null, const ChangedWord* changed, size_t count) {
  return head_of(device).repeat_kernel(graph, leading_null, changed, count);
}
void end_iteration(Device* device, uint64_t graph) { head_of(device).end_iteration(graph); }
void end_graph(Device* device, uint64_t graph) { head_of(device).end_graph(graph); }

bool reduce(Device* device, uint64_t address, size_t bytes, Combine combine, void* to) {
  return head_of(device).reduce(address, bytes, combine, to);
}

bool checks_order(Device* device) { return head_of(device).checks_writes(); }

constexpr EarlySubmission kSubmission = {cancel,        start_copies,    start_find_on_cluster, copy_part,
                                         has_room,      begin_iteration, repeat_iteration,      repeat_kernel,
                                         end_iteration, end_graph,       wait_begins,           await,
                                         reduce,        checks_order,    report_unordered};

}  // namespace

void end_cluster_check() {
  if (cluster() == nullptr || cluster()->device()->lost) return;
  cluster()->note_at_end();
  cluster()->note_graphs();
  end_check();
}

void take_cluster_frames() { take_extension_frames(kExtension); }

constexpr DeviceTraits kTraits = {.name = "cluster", .is_asynchronous = true, .job_part = JobPart::kCluster};
constinit const DeviceKind kClusterKind = {kTraits,
                                           describe,
                                           start,
                                           allocate,
                                           release,
                                           write,
                                           read,
                                           load_on_cluster,
                                           unload_on_cluster,
                                           find_on_cluster,
                                           locate_on_cluster,
                                           nullptr,
                                           launch,
                                           progress,
                                           stop,
                                           &kSubmission,
                                           copy_all};

}  // namespace marline::offload::device
