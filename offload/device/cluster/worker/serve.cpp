// SPDX-License-Identifier: Apache-2.0
//
// The cluster in a worker: joins the cluster when the program's frame kJoin arrives, and runs the node's tasks with the
// worker's dispatcher, as remote/worker/serve.cpp runs kernels. The thread that polls the wire delivers the frames.
#include "base/report.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/cluster/head/cluster.hpp"
#include "device/cluster/worker/gpu.hpp"
#include "device/cluster/worker/node.hpp"
#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/worker/statics.hpp"
#include "device/cluster/protocol/times.hpp"
#include "device/cluster/protocol/wire.hpp"
#include "device/cluster/protocol/writes.hpp"
#include "device/cluster/reduce/reduce.hpp"
#include "device/remote/program/remote_device.hpp"
#include "device/remote/job/protocol_extension.hpp"
#include "device/remote/worker/memory.hpp"
#include "device/remote/worker/statistics.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "device/remote/worker/wire_use.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/dispatcher.hpp"
#include "device/processor/crash/process_crash.hpp"
#include "image/program.hpp"
#include "marline/devices.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>

extern "C" int omp_get_max_threads();

namespace marline::offload::device {

using namespace cluster;
using namespace image;
using namespace wire;

namespace {

const NodeJob* g_job;
// Set by kJoin. release; pairs with the acquire in own_node.
std::atomic<ClusterNode*> g_node{nullptr};
bool g_has_gpu = false;  // a GPU runs the kernels; set by kJoin
// The words of kernels begin with the words of a GPU launch, also if a processor runs them; set by kJoin.
bool g_has_gpu_words = false;
alignas(ClusterNode) char g_room[sizeof(ClusterNode)];

// Null before kJoin. Any thread.
ClusterNode* own_node() { return g_node.load(std::memory_order_acquire); }

constexpr size_t kMostTimes = kMostWords / kTimedWords;  // records in one frame

// Sends all recorded times to the program. Under the node's lock.
void send_times() {
  List<TimedEntry>& entries = cluster_times().entries;
  for (size_t first = 0, count; first < entries.count(); first += count) {
    count = std::min(entries.count() - first, kMostTimes);
    auto* words = reinterpret_cast<const uint64_t*>(&entries[first]);
    g_job->send(0, frame_of(ClusterFrame::kTimes, count * kTimedWords), words);
  }
  entries.clear();
}

// Sends the recorded times to the program before each message except kFetch. So the program has the times of a task
// before it learns that the task has ended. A node that runs no task, and only answers requests for bytes, sends its
// times before its answers.
void send(const Message& message, BlobWriter& blob, bool is_followed) {
  WireUse use;
  if (!use.is_possible()) return;
  if (message.kind != MessageKind::kFetch) send_times();
  send_blob(*g_job, message.to, blob, is_followed ? kMayWait : 0);
}

// The program gets the pointers before it learns that the task has ended, as the node sends the task's end later, on
// the same wire. Does not need the node's lock.
void report_pointers(uint64_t buffer, const List<uint64_t>& found) {
  constexpr size_t kAtATime = kMostWords - 1;
  WireUse use;
  if (!use.is_possible()) return;
  own_node()->note_reported_pointers();
  static Lock lock;
  static uint64_t words[kMostWords];  // guarded by `lock`
  Guard guard(lock);
  for (size_t first = 0; first < found.count(); first += kAtATime) {
    size_t count = found.count() - first < kAtATime ? found.count() - first : kAtATime;
    words[0] = buffer;
    for (size_t i = 0; i < count; ++i) words[1 + i] = found[first + i];
    g_job->send(0, frame_of(ClusterFrame::kPointers, 1 + count), words);
  }
}

// The program gets the question after all pointers that this node has reported, as both use the same wire.
void ask_to_end(uint64_t question, TaskNumber task) {
  uint64_t words[] = {question, task};
  WireUse::send(*g_job, frame_of(ClusterFrame::kAsksToEnd, 2), words);
}

// Reports bytes that a task has written and should not have. The program gets this report, like the pointers, before it
// learns that the task has ended.
void notify_finding(const CheckFinding& finding) {
  constexpr size_t kWords = sizeof finding / sizeof(uint64_t);
  WireUse::send(*g_job, frame_of(ClusterFrame::kFinding, kWords), reinterpret_cast<const uint64_t*>(&finding));
}

// Whether the kernel's words begin with the words of a GPU launch.
bool has_gpu_words(const KernelStart& kernel) {
  return g_has_gpu_words && !kernel.call.in_memory && !kernel.call.combines;
}

// Runs a kernel, or a combination of a task reduction, on this worker's processor.
void run_kernel(void* data) {
  KernelStart& kernel = *static_cast<KernelStart*>(data);
  auto address = reinterpret_cast<uint64_t>(kernel.words);
  if (!kernel.patch()) {
    fatal("%s at node %d of the cluster: its own memory does not fit its arguments", kernel.region, g_job->number);
  }
  RunningKernel running(reinterpret_cast<uint64_t>(kernel.region), kernel.call.place);
  if (kernel.call.combines) return combine_copies(*own_node(), kernel);
  ReducingRegion copies(*own_node(), kernel);
  if (kernel.call.in_memory) return call_kernel(kernel.call.code, &address, 1);
  uint32_t count = kernel.argument_count();
  uint64_t* arguments = kernel.words;
  if (has_gpu_words(kernel)) arguments = processor_arguments(arguments, count);
  call_kernel(kernel.call.code | (kernel.call.by_pointers ? kByPointers : 0), arguments, count);
}

// Sends the program a warning if the kernel's image has changed a static variable.
void report_changed_statics(const KernelStart& kernel) {
  constexpr size_t kBytes = 768;
  uint64_t words[kBytes / sizeof(uint64_t)] = {};
  const char* place = kernel.call.place != 0 ? text_in_program(kernel.call.place) : nullptr;
  if (!have_statics_changed(kernel.call.code, kernel.region, place, reinterpret_cast<char*>(words), kBytes)) return;
  WireUse::send(*g_job, frame_of(ClusterFrame::kWarning, kBytes / sizeof(uint64_t)), words);
}

void run_on_processor(KernelStart* kernel) {
  const KernelCall& call = kernel->call;
  marline_target_region_t region = {run_kernel, kernel, call.number, call.thread_limit, call.code};
  marline_target_region_run(&region);
}

// Called by the dispatcher: runs a task, finds the bytes that it has written, and ends it.
void run_work(Work* work) {
  auto* kernel = static_cast<KernelStart*>(work);
  uint64_t begin = now();
  see_begin(&kernel->seen);
  g_has_gpu ? run_on_gpu(*own_node(), *kernel) : run_on_processor(kernel);
  see_end(&kernel->seen);
  uint64_t took = now() - begin;
  std::fflush(stdout);  // nothing flushes it when the worker ends
  if (!g_has_gpu && !kernel->call.combines) report_changed_statics(*kernel);
  own_node()->compare(kernel->index);
  // How long the task has used its slot, including the comparison: the placement predicts this time.
  uint64_t slot_time = now() - begin;
  kernel_has_run();
  Guard guard(own_node()->lock);
  if (cluster_times().is_wanted())
    cluster_times().entries.push({static_cast<uint16_t>(TimedWhat::kKernel), 0, 0, begin, begin + took, kernel->task});
  own_node()->end_when_allowed(kernel->index, static_cast<double>(slot_time));
}

// The name for messages and traces; null: the code is not that of a kernel.
const char* name_of(const KernelStart& kernel) {
  if (g_has_gpu) return name_of_gpu_kernel(kernel);
  if (kernel.call.combines) return kCombination;
  uint32_t least = has_gpu_words(kernel) ? kGpuLaunchWords : 0, count = kernel.argument_count();
  bool fits = kernel.call.in_memory || (count >= least && count <= kMostArguments);
  return fits ? name_of_code(kernel.call.code) : nullptr;
}

// Gives a kernel to the dispatcher.
void start(uint64_t index, TaskNumber, KernelStart* kernel) {
  const char* region = kernel != nullptr ? name_of(*kernel) : nullptr;
  if (region == nullptr) {
    fatal("task %lu of node %d of the cluster is no target region", index, g_job->number);
  }
  kernel->is_kernel = true;
  kernel->run = run_work;
  kernel->region = region;
  see_arrival(&kernel->seen, region, kernel->call.place);
  if (!kernel->call.combines) watch_statics(kernel->call.code);
  WorkList list;
  list.push(kernel);
  add_work(list);
}

const ClusterSide kSide = {send, nullptr, start, report_pointers, ask_to_end, notify_finding, &kGpuMemory, look_soon};

// How many tasks may have been started and not ended. It is the number of threads: tasks that could not run at once
// are not started, so that they can still be reordered. It is 1 for a GPU and with checked writes, as all bytes that a
// comparison finds changed must have been written by the same task.
size_t chosen_slots(const ClusterFinding& finding) {
  return g_has_gpu || finding.checks ? 1 : static_cast<size_t>(omp_get_max_threads());
}

// Handles kJoin: makes this worker's node, and answers with the number of its slots.
void join(int peer, const Frame& frame, const uint64_t* words) {
  if (peer != 0 || frame.words != 4) fatal("process %d is not the program of this cluster", peer);
  g_job = &join_job({});
  ClusterFinding finding = finding_of(words[3]);
  g_has_gpu = (words[2] & kRunsOnGpu) != 0;
  g_has_gpu_words = (words[2] & kHasGpuWords) != 0;
  size_t slots = chosen_slots(finding);
  if (own_node() == nullptr) {
    ClusterPlace place = {words[0], words[1], g_has_gpu, static_cast<size_t>(g_job->count - 1)};
    auto node = static_cast<NodeNumber>(g_job->number);
    g_node.store(new (g_room) ClusterNode(node, slots, place, finding, kSide), std::memory_order_release);
    show_cluster(static_cast<uint32_t>(g_job->number));
  }
  g_job->send(0, answer_to(frame, NodeFrame::kDone, slots));
}

void refuse_frame(int peer, const Frame& frame) {
  fatal("node %d of the cluster has got a message from process %d that it does not understand (frame %u)",
        g_job != nullptr ? g_job->number : -1, peer, frame.kind);
}

void* place(int peer, const Frame& frame, const uint64_t*) {
  if (static_cast<ClusterFrame>(frame.kind) != ClusterFrame::kMessage) refuse_frame(peer, frame);
  return place_blob(peer, frame);
}

// Handles a frame of one word from the program: the answer kMayEnd, or a question, which is answered. All earlier
// messages of the program have been handled by now, as frames of one process arrive in order.
void take_short_frame(const Frame& frame, const uint64_t* words) {
  if (static_cast<ClusterFrame>(frame.kind) == ClusterFrame::kMayEnd) {
    Guard guard(own_node()->lock);
    return own_node()->may_end(words[0]);
  }
  bool compares = static_cast<ClusterFrame>(frame.kind) == ClusterFrame::kComparesAll;
  if (compares) {
    Guard guard(own_node()->lock);
    own_node()->compare_postponed();
  }
  g_job->send(0, frame_of(compares ? ClusterFrame::kHasCompared : ClusterFrame::kHasTakenNote, 1), words);
}

bool is_short_frame(int peer, const Frame& frame) {
  auto kind = static_cast<ClusterFrame>(frame.kind);
  bool is_one = kind == ClusterFrame::kMayEnd || kind == ClusterFrame::kTakesNote || kind == ClusterFrame::kComparesAll;
  return is_one && peer == 0 && frame.words == 1 && own_node() != nullptr;
}

void deliver(int peer, const Frame& frame, const uint64_t* words) {
  auto kind = static_cast<ClusterFrame>(frame.kind);
  if (kind == ClusterFrame::kJoin) return join(peer, frame, words);
  if (is_short_frame(peer, frame)) return take_short_frame(frame, words);
  ReceivedBlob blob(peer, frame, words);
  Message message;
  bool is_good = kind == ClusterFrame::kMessage && own_node() != nullptr && read_message(blob.reader, message);
  if (!is_good || message.kind == MessageKind::kReport || (peer != 0 && message.kind <= kLastOfHead)) {
    refuse_frame(peer, frame);
  }
  message.from = static_cast<NodeNumber>(peer);
  message.to = static_cast<NodeNumber>(g_job->number);
  size_t bytes = blob.reader.left();
  own_node()->merge(message, blob.reader);
  Guard guard(own_node()->lock);
  if (peer == 0) cluster_times().set_wanted(frame.a != 0);
  note_transfer(message, frame.a, bytes);
  own_node()->receive(message, blob.reader);
}

bool look() {
  ClusterNode* node = own_node();
  if (node == nullptr) return false;
  Guard guard(node->lock);
  return node->report_late_ends();
}

constexpr ExtensionFrames kExtension = {place, deliver, nullptr, look, nullptr};

}  // namespace

void serve_cluster() { take_extension_frames(kExtension); }

}  // namespace marline::offload::device
