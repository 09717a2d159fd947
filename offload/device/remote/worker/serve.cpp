// SPDX-License-Identifier: Apache-2.0
//
// The worker's side of a device on another node. Frames come from the wire. The thread that polls the wire answers
// requests at once that need no task. It hands kernels, and requests that take the loader's lock, to the dispatcher.
// watch.hpp decides which thread waits for frames. A worker obeys only the program, process 0, and checks all that a
// frame names. From other workers it takes only data that they send at the program's request.
#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/worker/neighbours.hpp"
#include "device/remote/program/remote_device.hpp"
#include "device/remote/job/inspection_port.hpp"
#include "device/remote/job/protocol_extension.hpp"
#include "device/remote/worker/memory.hpp"
#include "device/remote/worker/worker_devices.hpp"
#include "device/remote/worker/statistics.hpp"
#include "device/remote/worker/watch.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "device/remote/worker/wire_use.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/crash/crash_report.hpp"
#include "device/processor/dispatcher.hpp"
#include "device/processor/crash/process_crash.hpp"
#include "device/processor/processor.hpp"
#include "device/processor/window.hpp"
#include "image/functions.hpp"
#include "image/jumps.hpp"
#include "image/load.hpp"
#include "image/offload_tables.hpp"
#include "image/program.hpp"
#include "marline/devices.h"
#include "wire/base/peers.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

using namespace image;
using namespace wire;

namespace {

// A frame that is work, with its words.
struct Job : Work {
  Frame frame;
  const char* region;     // a kernel's name, which stays valid
  KernelStatistics seen;  // used for a kernel
  uint64_t words[];
};

const NodeJob* g_job;
// The devices by the worker's number: the program's number and the descriptor of the memory's file. Set by the frame
// that starts the device.
struct Started {
  int number = 0;
  int memory_file = -1;
  bool is_there = false;
};
Started g_started[kMostWorkerDevices];

// `number`: the program's number of the device; -1: not known.
void name_device(char (&text)[128], int number) {
  const char *node = g_job->kind->peer(g_job->wire, g_job->number)->node, *where = words_for_process(g_job->number);
  if (number >= 0) {
    std::snprintf(text, sizeof text, "device %d (node, %s on %s)", number, where, node);
  } else {
    std::snprintf(text, sizeof text, "a device (node, %s on %s)", where, node);
  }
}

// The address comes from a pointer that the program has passed to a routine, as only such pointers are not checked
// before.
[[noreturn]] void refuse_copy(const Frame& frame, const char* what) {
  auto kind = static_cast<NodeFrame>(frame.kind);
  bool is_forward = kind == NodeFrame::kForward;
  uint64_t address = is_forward && what == kReadsElsewhere ? frame.b : frame.a;
  uint64_t bytes = is_forward ? frame.c : kind == NodeFrame::kRead ? frame.b : frame.bulk;
  int number = device_in(frame.flags);
  char device[128];
  name_device(device, number < worker_devices().count && g_started[number].is_there ? g_started[number].number : -1);
  end_process(EXIT_FAILURE, "%s: a copy %s: %lu bytes at %#lx; is it an address of the program or of another device?",
              device, what, bytes, address);
}

[[noreturn]] void refuse(int peer, const Frame& frame, const char* what) {
  if (what == kReadsElsewhere || what == kWritesElsewhere) refuse_copy(frame, what);
  end_process(EXIT_FAILURE,
              "worker %d: a frame of kind %u from process %d %s (a = %#lx, b = %#lx, c = %#lx, %lu bytes)",
              g_job->number, frame.kind, peer, what, frame.a, frame.b, frame.c, frame.bulk);
}

void answer(const Frame& asked, uint64_t result) { WireUse::send(*g_job, answer_to(asked, NodeFrame::kDone, result)); }

// Requests that a dispatcher handles ----------------------------------------------------------------------------------

// A kernel's second word for reports of crashes (tell): the offset of the region's place in the program's file, and in
// the bits above it the worker's number of the device.
constexpr int kPlaceBits = 56;
constexpr uint64_t kPlaceMask = (uint64_t{1} << kPlaceBits) - 1;

void run_kernel(void* data) {
  auto* job = static_cast<Job*>(data);
  uint64_t device = static_cast<uint64_t>(device_in(job->frame.flags)) << kPlaceBits;
  uint64_t place = job->frame.c & kPlaceMask;
  RunningKernel running(reinterpret_cast<uint64_t>(job->region), place | device);
  call_kernel(job->frame.a, job->words, job->frame.words);
}

void launch(Job* job) {
  Frame done = answer_to(job->frame, NodeFrame::kDone);
  done.flags |= job->frame.flags & kTimed;
  bool is_timed = (done.flags & kTimed) != 0;
  int number = g_started[device_in(job->frame.flags)].number;
  marline_target_region_t region = {run_kernel, job, number, static_cast<int>(job->frame.b), job->frame.a};
  if (is_timed) done.b = now();
  see_begin(&job->seen);
  marline_target_region_run(&region);
  see_end(&job->seen);
  if (is_timed) done.c = now();
  std::fflush(stdout);  // _exit does not
  kernel_has_run();
  WireUse::send(*g_job, done);
}

uint64_t load(const Frame& frame) {
  return reinterpret_cast<uint64_t>(load_image(copy_image({reinterpret_cast<const char*>(frame.a), frame.b})));
}

uint64_t unload(const Frame& frame) {
  ImageRange range = range_of_image(reinterpret_cast<void*>(frame.a));
  forget_addresses(range.begin, range.end);
  remove_jumps(range.begin, range.end);
  unload_image(reinterpret_cast<void*>(frame.a));
  return 0;
}

uint64_t find(const Frame& frame, uint64_t* words) {
  auto* name = reinterpret_cast<char*>(words);
  if (frame.words == 0 || strnlen(name, frame.words * sizeof *words) == frame.words * sizeof *words) {
    refuse(0, frame, "has a name without an end");
  }
  size_t bytes = 0;
  uint64_t address = find_sized(reinterpret_cast<void*>(frame.a), name, bytes);
  if (address == 0) return 0;
  allow_variable(address, bytes);
  allow_code(address, name);
  return address;
}

// If the function has the same address in this process (a program without position-independent code), no jump is
// needed: kernels call this process's function.
uint64_t jump(const Frame& frame, uint64_t* words) {
  auto* name = reinterpret_cast<char*>(words + 1);
  size_t room = frame.words > 1 ? (frame.words - 1u) * sizeof *words : 0;
  if (strnlen(name, room) == room) refuse(0, frame, "has a name without an end");
  bool is_here = reinterpret_cast<uint64_t>(address_of_place({words[0], frame.c})) == frame.b;
  return static_cast<uint64_t>(is_here ? Jump::kMade : make_jump(frame.b, reinterpret_cast<void*>(frame.a), name));
}

// Finds only functions and variables that are in GCC's tables: the program must not reach others.
uint64_t locate(const Frame& frame) {
  const void* address = address_of_place({frame.a, frame.b});
  if (address == nullptr) return 0;
  if (frame.c != 0) {
    if (!is_offload_variable(address, frame.c)) return 0;
    allow_variable(reinterpret_cast<uint64_t>(address), frame.c);
  } else {
    if (!is_offload_function(address)) return 0;
    allow_code(reinterpret_cast<uint64_t>(address), entry_of_function(address)->name);
  }
  return reinterpret_cast<uint64_t>(address);
}

void run_job(Work* work) {
  auto* job = static_cast<Job*>(work);
  const Frame& frame = job->frame;
  switch (static_cast<NodeFrame>(frame.kind)) {
    case NodeFrame::kLaunch: launch(job); break;
    case NodeFrame::kLoad: answer(frame, load(frame)); break;
    case NodeFrame::kUnload: answer(frame, unload(frame)); break;
    case NodeFrame::kFind: answer(frame, find(frame, job->words)); break;
    case NodeFrame::kJump: answer(frame, jump(frame, job->words)); break;
    default: answer(frame, locate(frame)); break;
  }
  std::free(job);
}

void submit_ready(const Frame& frame, const uint64_t* words, const char* region = nullptr) {
  size_t bytes = frame.words * sizeof *words;
  auto* job = static_cast<Job*>(std::malloc(sizeof(Job) + bytes));
  if (job == nullptr) fatal("worker %d: no memory for a command", g_job->number);
  job->is_kernel = static_cast<NodeFrame>(frame.kind) == NodeFrame::kLaunch;
  job->run = run_job;
  job->frame = frame;
  job->region = region;
  if (job->is_kernel) see_arrival(&job->seen, region, frame.c);
  if (bytes != 0) std::memcpy(job->words, words, bytes);
  WorkList list;
  list.push(job);
  bool is_kernel = job->is_kernel;
  add_work(list, device_in(frame.flags));
  // This dispatcher may have received the command for another dispatcher that has all its threads in kernels: then the
  // first thread runs it. A command for itself the dispatcher takes next, in the order of the frames.
  if (!is_kernel && worker_devices().count > 1) look_soon();
}

// Requests that are handled at once -----------------------------------------------------------------------------------

// Data that is on its way to another process.
struct Sending : Outgoing {
  int64_t bytes;

  static void free(Outgoing* outgoing) {
    auto* sending = static_cast<Sending*>(outgoing);
    if (is_seen(static_cast<uint64_t>(sending->bytes))) see_sending(-1, -sending->bytes);
    std::free(sending);
  }
};

void send_data(int peer, const Frame& frame, uint64_t from) {
  auto* sending = static_cast<Sending*>(std::malloc(sizeof(Sending)));
  if (sending == nullptr) fatal("worker %d: no memory for a copy", g_job->number);
  sending->sent = Sending::free;
  sending->bytes = static_cast<int64_t>(frame.bulk);
  if (is_seen(frame.bulk)) see_sending(1, sending->bytes);
  bool is_copied = g_job->kind->send(g_job->wire, peer, frame, nullptr, reinterpret_cast<const void*>(from), sending);
  if (is_copied) Sending::free(sending);
}

int gpu_of(int device) { return worker_devices().devices[device].gpu; }

void answer_hello(const Frame& frame, const uint64_t* words) {
  if (frame.a != kNodeProtocol) {
    fatal(
        "worker %d: its libmarline-target speaks version %u to workers, the program's version %lu: use the same "
        "Marline everywhere",
        g_job->number, kNodeProtocol, frame.a);
  }
  if (frame.words != 2) refuse(0, frame, "is no first frame");
  const WorkerDevices& all = worker_devices();
  int device = device_in(frame.flags);
  Started& started = g_started[device];
  bool asks_who = words[1] == 0;
  if (!asks_who && !started.is_there) {
    started.number = static_cast<int>(frame.c);
    started.is_there = true;
    if (gpu_of(device) < 0) {
      started.memory_file = open_worker_memory(frame.b, words[1], all.devices[device].facts.numa_domain);
    } else {
      number_worker_gpu(gpu_of(device), started.number);
    }
  }
  constexpr size_t kWords = sizeof(DeviceFacts) / sizeof(uint64_t);
  static_assert(sizeof(DeviceFacts) % sizeof(uint64_t) == 0 && 1 + kMostWorkerDevices * kWords <= kMostWords);
  static uint64_t facts[1 + kMostWorkerDevices * kWords];  // too large for the stack of a task
  facts[0] = program_identity();
  size_t count = 1;
  for (int i = 0; asks_who && i < all.count; ++i, count += kWords) {
    std::memcpy(facts + count, &all.devices[i].facts, sizeof(DeviceFacts));
  }
  Frame back = frame_of(NodeFrame::kAccepted, now(), static_cast<uint64_t>(started.memory_file));
  back.operation = frame.operation;
  back.flags = flags_of_device(device);
  back.words = static_cast<uint16_t>(count);
  send_inspection_port(g_job->kind, g_job->wire, 0);
  g_job->send(0, back, facts);
}

void read(const Frame& frame) {
  if (!may_access(frame.a, frame.b)) refuse(0, frame, kReadsElsewhere);
  Frame data = answer_to(frame, NodeFrame::kData);
  data.bulk = frame.b;
  send_data(0, data, frame.a);
}

// Writes to the memory of another worker of this node. False: that is not possible, so the wire is needed.
bool write_beside(const Frame& frame, const uint64_t* words) {
  uint64_t begin = words[3], offset = frame.a - begin;
  if (begin == 0) return false;
  if (frame.a < begin || offset > kPart || frame.c > kPart - offset) refuse(0, frame, kWritesElsewhere);
  auto peer = static_cast<int>(words[0]);
  return write_to_neighbour(static_cast<int>(words[1]), *g_job->kind->peer(g_job->wire, peer),
                            static_cast<int>(words[2]), offset, reinterpret_cast<const void*>(frame.b), frame.c);
}

// The GPU of this worker to which a kForward goes; -1: it goes to another worker, or to memory of this worker.
int target_gpu(const Frame& frame, const uint64_t* words) {
  if (frame.words != kForwardWords || words[0] == 0 || words[0] >= static_cast<uint64_t>(g_job->count)) {
    refuse(0, frame, "names a worker that is none");
  }
  if (static_cast<int>(words[0]) != g_job->number) return -1;
  if (words[4] >= static_cast<uint64_t>(worker_devices().count)) refuse(0, frame, "is for a device that is none");
  int gpu = gpu_of(static_cast<int>(words[4]));
  if (gpu < 0 && !may_access(frame.a, frame.c)) refuse(0, frame, kWritesElsewhere);
  return gpu;
}

void forward(const Frame& frame, const uint64_t* words) {
  if (!may_access(frame.b, frame.c)) refuse(0, frame, kReadsElsewhere);
  int gpu = target_gpu(frame, words), peer = static_cast<int>(words[0]), device = static_cast<int>(words[4]);
  if (gpu >= 0) {
    const char* wrong = forward_to_gpu({g_job, gpu, g_started[device].number}, frame);
    if (wrong != nullptr) refuse(0, frame, wrong);
  } else if (peer == g_job->number) {
    std::memmove(reinterpret_cast<void*>(frame.a), reinterpret_cast<const void*>(frame.b), frame.c);
    answer(frame, 0);
  } else if (write_beside(frame, words)) {
    answer(frame, 0);
  } else {
    Frame data = frame_of(NodeFrame::kWrite, frame.a);
    data.operation = frame.operation;
    data.flags = kAnswers | flags_of_device(device);
    data.bulk = frame.c;
    send_data(peer, data, frame.b);
  }
}

void discard(const Frame& frame) {
  if (!may_access(frame.a, frame.b)) refuse(0, frame, "discards what is not the device's");
  discard_worker_memory(frame.a, frame.b);
}

// Whether the peer may send the frame: the program sends all kinds, another worker only a kWrite with kAnswers.
bool may_send(int peer, const Frame& frame) {
  return peer == 0 || (static_cast<NodeFrame>(frame.kind) == NodeFrame::kWrite && (frame.flags & kAnswers) != 0);
}

// Whether the program may send frames of this kind before the device is started.
bool is_early(NodeFrame kind) {
  return kind == NodeFrame::kHello || kind == NodeFrame::kInspectionPort || kind == NodeFrame::kEnd;
}

// The worker's number of the device that a frame is about.
int device_of(int peer, const Frame& frame) {
  int device = device_in(frame.flags);
  if (device >= worker_devices().count) refuse(peer, frame, "is for a device that is none");
  return device;
}

void* place(void*, int peer, const Frame& frame, const uint64_t* words) {
  if (is_extension(frame)) return place_newcomer(peer, frame, words);
  if (!may_send(peer, frame) || static_cast<NodeFrame>(frame.kind) != NodeFrame::kWrite)
    refuse(peer, frame, "has data");
  if (int device = device_of(peer, frame); gpu_of(device) >= 0) {
    void* to = place_for_gpu({g_job, gpu_of(device), g_started[device].number}, frame);
    if (to == nullptr) refuse(peer, frame, kWritesElsewhere);
    return to;
  }
  if (!may_access(frame.a, frame.bulk)) refuse(peer, frame, kWritesElsewhere);
  if (is_seen(frame.bulk)) see_arriving(1, static_cast<int64_t>(frame.bulk));
  return reinterpret_cast<void*>(frame.a);
}

void deliver(void*, int peer, const Frame& frame, const uint64_t* words) {
  if (is_extension(frame)) return deliver_extension(peer, frame, words);
  if (!may_send(peer, frame)) refuse(peer, frame, "is the program's to send");
  auto kind = static_cast<NodeFrame>(frame.kind);
  if (kind == NodeFrame::kEnd) {
    WireUse::note_end();
    return g_job->kind->wake(g_job->wire);  // wakes the first thread, which may wait while the dispatcher polls
  }
  int device = device_of(peer, frame);
  bool is_started = peer != 0 || g_started[device].is_there;
  if (!is_started && !is_early(kind)) refuse(peer, frame, "comes too early");
  if (gpu_of(device) >= 0 && !is_early(kind)) {
    GpuFrame of = {g_job, gpu_of(device), g_started[device].number};
    const char* wrong = kind == NodeFrame::kForward ? forward_from_gpu(of, frame, words, target_gpu(frame, words))
                                                    : deliver_to_gpu(of, frame, words);
    if (wrong != nullptr) refuse(peer, frame, wrong);
    return;
  }
  switch (kind) {
    case NodeFrame::kHello: return answer_hello(frame, words);
    case NodeFrame::kWrite:
      if (is_seen(frame.bulk)) see_arriving(-1, -static_cast<int64_t>(frame.bulk));
      if ((frame.flags & kAnswers) != 0) answer(frame, 0);
      return;
    case NodeFrame::kRead: return read(frame);
    case NodeFrame::kForward: return forward(frame, words);
    case NodeFrame::kDiscard: return discard(frame);
    case NodeFrame::kFlush: return answer(frame, 0);
    case NodeFrame::kLaunch: {
      const char* region = name_of_code(frame.a & ~kByPointers);
      if (region == nullptr || frame.words > kMostArguments) refuse(peer, frame, "launches no target region");
      return submit_ready(frame, words, region);
    }
    case NodeFrame::kLoad:
      if (!may_access(frame.a, frame.b)) refuse(peer, frame, "loads what is not the device's");
      return submit_ready(frame, words);
    case NodeFrame::kUnload:
    case NodeFrame::kFind:
    case NodeFrame::kJump:
      if (!is_loaded_image(reinterpret_cast<void*>(frame.a))) refuse(peer, frame, "names no image");
      return submit_ready(frame, words);
    case NodeFrame::kLocate: return submit_ready(frame, words);
    case NodeFrame::kInspectionPort:
      if (!take_inspection_port(peer, frame, words)) refuse(peer, frame, "tells no port");
      return;
    default: refuse(peer, frame, "is not understood");
  }
}

// If another worker has gone, the program ends the job. A program that ends sends a kEnd first. A program that has
// ended without it has crashed, and has written why, or has called _exit; the job's exit status is the program's. A
// program that cannot be reached any more may still run, or its machine may be down: this process has to say that.
void lost(void*, int peer, const char* why) {
  if (peer != 0) return;
  if (std::strcmp(why, kHasEnded) == 0) _exit(EXIT_SUCCESS);
  end_process(EXIT_FAILURE, "%s, on %s, %s; this worker on %s ends", words_for_process(0),
              g_job->kind->peer(g_job->wire, 0)->node, why, g_job->kind->peer(g_job->wire, g_job->number)->node);
}

[[noreturn]] void fail(const char* line) { end_process(EXIT_FAILURE, "%s", line); }

const WireUser kUser = {nullptr, place, deliver, lost, fail};

// Start and end -------------------------------------------------------------------------------------------------------

// The program's number of the only device that it has started; -1: it has started none yet, or several.
int only_device() {
  int number = -1, count = 0;
  for (const Started& started : g_started) {
    if (!started.is_there) continue;
    number = started.number;
    ++count;
  }
  return count == 1 ? number : -1;
}

// Writes the message about this process's end: the program sees only that this process has gone.
void report(const EndInKernel& end) {
  char device[128];
  uint64_t place = end.kernel_place & kPlaceMask;
  int number = end.entry != 0 ? g_started[end.kernel_place >> kPlaceBits].number : only_device();
  ProcessEnd reported = end;
  if (!notify_worker_gpu(number, reported.name, reported.place)) {
    reported.name = reinterpret_cast<const char*>(end.entry);
    reported.place = place != 0 ? text_in_program(place) : nullptr;
  }
  name_device(device, number);
  report_end(device, reported);
}

// Called by the first device's dispatcher before any kernel runs. Starts the dispatchers of the other devices.
void begin() {
  note_ends(report);
  const WorkerDevices& all = worker_devices();
  for (int i = 1; i < all.count; ++i) {
    if (all.devices[i].gpu < 0) start_dispatcher(wire_source(nullptr, false), all.devices[i].part);
  }
}

// A terminal or a batch system sends these signals to all processes of the job. The program decides what they mean;
// when it ends, the workers end.
void ignore_signals_of_the_job() {
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_IGN);
}

}  // namespace

// How many workers of this node have lower numbers.
static int workers_before() {
  const Peer* own = g_job->kind->peer(g_job->wire, g_job->number);
  int before = 0;
  for (int peer = 1; peer < g_job->number; ++peer) {
    before += are_on_one_node(*own, *g_job->kind->peer(g_job->wire, peer)) ? 1 : 0;
  }
  return before;
}

void serve_node() {
  marline_tool_leave();  // the program tells tools what devices do
  ignore_signals_of_the_job();
  g_job = &join_job(kUser);
  note_workers_before(workers_before());
  open_inspection_port(g_job->kind, g_job->wire, static_cast<uint16_t>(NodeFrame::kInspectionPort));
  begin_watch(*g_job);
  show_work(only_device);
  bool is_only = worker_devices().count == 1;
  WorkSource source = wire_source(begin, is_only);
  source.may_run_alone = is_only && gpu_of(0) < 0;
  start_dispatcher(source, worker_devices().devices[0].part);
  watch_wire();
  std::fflush(stdout);
  while (WireUse::is_under_way()) sched_yield();
  g_job->kind->leave(g_job->wire, true);
  _exit(EXIT_SUCCESS);
}

}  // namespace marline::offload::device
