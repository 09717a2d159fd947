// SPDX-License-Identifier: Apache-2.0
//
// Checks frames about GPUs when they arrive, and then handles them by tasks. An address must lie in the block that the
// program has been given or in a variable that it has asked for; a kernel must be an entry of an image for GPUs.
// libomptarget's operations suspend a task as they do in a program with GPUs of its own.
#include "device/remote/worker/serve_gpu.hpp"

#include "base/list.hpp"
#include "items/items.hpp"
#include "base/report.hpp"
#include "device/contract/kinds.hpp"
#include "base/now.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"
#include "device/libomptarget/library_call.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "device/libomptarget/copies.hpp"
#include "device/remote/worker/statistics.hpp"
#include "device/remote/worker/wire_use.hpp"
#include "device/processor/dispatcher.hpp"
#include "device/processor/window.hpp"
#include "image/images.hpp"
#include "image/program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::device {

using namespace image;
using namespace items;

namespace {

struct Variable {
  uint64_t begin, bytes;
};

struct Gpu {
  Device device;                  // for the functions of kLlvmKind
  uint64_t begin = 0, bytes = 0;  // the program's block; 0: not allocated yet
  Lock lock;                      // guards `variables`
  List<Variable, 8> variables;
};

Gpu* g_gpus = nullptr;  // constant once open_worker_gpus has returned

// Data that has a place and is not delivered yet. There may be several: a wire may ask for the place of a frame's data
// before it delivers the frame before it.
struct Incoming {
  uint64_t operation;  // the program's handle: only the program asks for such frames
  void* data;
};
List<Incoming, 8> g_incoming;

// A frame, with its words.
struct GpuJob : Work {
  KernelStatistics seen;  // used for a kernel
  GpuFrame of;
  Frame frame;
  const void* from;  // what a kWrite writes
  void* data;        // freed with the job
  int target;        // for a kForward within this worker: the GPU that gets the bytes; -1: the worker's memory
  uint64_t words[];
};

struct Sending : Outgoing {
  void* data;
};

Device* device_of(const GpuJob* job) { return &g_gpus[job->of.gpu].device; }

bool is_gpus(Gpu& gpu, uint64_t address, uint64_t bytes) {
  if (address - gpu.begin < gpu.bytes) return bytes <= gpu.bytes - (address - gpu.begin);
  Guard guard(gpu.lock);
  for (const Variable& variable : gpu.variables) {
    if (address - variable.begin < variable.bytes) return bytes <= variable.bytes - (address - variable.begin);
  }
  return false;
}

uint64_t memory_of(int gpu) {
  DeviceFacts facts;
  kLlvmKind.describe(gpu, facts);
  return facts.memory;
}

// Allocates the program's block: three quarters of the memory, or half of that, and so on, as other processes may have
// some, and how much there is may not be known. `at`: where all GPUs of a cluster have their blocks, if the driver
// allocates it there; 0: anywhere.
uint64_t take_pool(Gpu& gpu, uint64_t all, uint64_t at) {
  constexpr uint64_t kMost = uint64_t{1} << 38, kLeast = uint64_t{1} << 22;
  uint64_t most = (all != 0 ? all : kMost) / 4 * 3;
  for (uint64_t bytes = std::min(most, kPart); at != 0 && gpu.begin == 0 && bytes >= kLeast; bytes /= 2) {
    gpu.bytes = cuda_memory_at(gpu.device.index, at, bytes);
    gpu.begin = gpu.bytes != 0 ? at : 0;
  }
  for (uint64_t bytes = most; gpu.begin == 0 && bytes >= kLeast; bytes /= 2) {
    gpu.begin = kLlvmKind.allocate(&gpu.device, bytes);
    gpu.bytes = gpu.begin != 0 ? bytes : 0;
  }
  return gpu.begin;
}

Module* module_with(uint64_t number) {
  if (number == 0 || number > UINT32_MAX) return nullptr;
  Module* module = module_after(static_cast<uint32_t>(number - 1));
  return module != nullptr && module->number == number ? module : nullptr;
}

uint64_t find(Gpu& gpu, Module* module, const char* name) {
  for (uint32_t i = 0; i < module->count; ++i) {
    const Entry& entry = module->entries[i];
    if (entry.host == nullptr || std::strcmp(entry.name, name) != 0) continue;
    if (entry.size == 0) return reinterpret_cast<uint64_t>(entry.host);
    uint64_t address = llvm_variable(&gpu.device, entry.host);
    Guard guard(gpu.lock);
    if (address != 0) gpu.variables.push({address, entry.size});
    return address;
  }
  return 0;
}

uint64_t load(const Frame& frame) {
  const Entry* entry = find_entry(address_of_place({frame.a, frame.b}));
  return entry != nullptr && entry->module != nullptr && entry->module->has_foreign ? entry->module->number : 0;
}

// The first dimension comes separately; the second and third are in one word.
void set_sizes(uint32_t (&sizes)[3], int32_t first, uint64_t others) {
  sizes[0] = first > 0 ? static_cast<uint32_t>(first) : 0;
  sizes[1] = static_cast<uint32_t>(others);
  sizes[2] = static_cast<uint32_t>(others >> 32);
}

bool is_kernel(uint64_t code) {
  const Entry* entry = find_entry(reinterpret_cast<const void*>(code));
  return entry != nullptr && entry->size == 0 && entry->module != nullptr && entry->module->has_foreign;
}

}  // namespace

bool is_gpu_kernel(uint64_t code, uint32_t count) {
  return is_kernel(code) && count >= kGpuLaunchWords && count <= kGpuLaunchWords + kMostGpuArguments;
}

// All arguments are words that the kernel gets as they are.
void run_gpu_kernel(const GpuKernel& kernel) {
  constexpr int64_t kWord = static_cast<int64_t>(map_type::kLiteral | map_type::kParameter);
  void* values[kMostGpuArguments];
  int64_t sizes[kMostGpuArguments], types[kMostGpuArguments];
  void* none[kMostGpuArguments] = {};
  KernelArguments arguments = {};
  const uint64_t* words = kernel.words;
  arguments.version = static_cast<uint32_t>(words[2]);
  arguments.count = kernel.count - kGpuLaunchWords;
  std::memcpy(values, words + kGpuLaunchWords, arguments.count * sizeof *values);
  std::fill_n(sizes, arguments.count, sizeof *values);
  std::fill_n(types, arguments.count, kWord);
  arguments.bases = arguments.begins = values;
  arguments.sizes = sizes;
  arguments.types = types;
  arguments.names = arguments.mappers = none;
  arguments.trip_count = words[1];
  auto teams = static_cast<int32_t>(words[0]);
  arguments.flags = words[3] & ~kNowaitFlag;  // without nowait, as the arrays above live only as long as this call
  arguments.dynamic_memory = static_cast<uint32_t>(words[4]);
  set_sizes(arguments.teams, teams, words[5]);
  set_sizes(arguments.threads, kernel.threads, words[6]);
  ReportScope scope(ConstructKind::kTarget, false, kernel.number, nullptr);
  auto* id = reinterpret_cast<void*>(kernel.code);
  struct {
    int32_t unused[4];
    const char* place;
  } ident = {{}, kernel.place != 0 ? text_in_program(kernel.place) : nullptr};  // Clang's ident; only `place` is read
  int result = llvm_kernel(&g_gpus[kernel.gpu].device, {&ident, nullptr}, teams, kernel.threads, id, arguments, scope);
  if (result == 0) return;
  end_process(EXIT_FAILURE,
              "worker %d: libomptarget does not run a region on device %d; LIBOMPTARGET_INFO=-1 shows its steps",
              kernel.worker, kernel.number);
}

namespace {

void launch(GpuJob* job) {
  Frame done = answer_to(job->frame, NodeFrame::kDone);
  bool is_timed = (job->frame.flags & kTimed) != 0;
  done.flags |= job->frame.flags & kTimed;
  if (is_timed) done.b = now();
  see_begin(&job->seen);
  const Frame& frame = job->frame;
  run_gpu_kernel({job->of.job->number, job->of.gpu, job->of.number, frame.a, static_cast<int32_t>(frame.b), frame.c,
                  job->words, frame.words});
  see_end(&job->seen);
  if (is_timed) done.c = now();
  std::fflush(stdout);  // _exit does not
  WireUse::send(*job->of.job, done);
}

void free_sent(Outgoing* outgoing) {
  std::free(static_cast<Sending*>(outgoing)->data);
  std::free(static_cast<Sending*>(outgoing));
}

// Reads bytes from the GPU, and sends them in a frame.
void send_bytes(GpuJob* job, uint64_t from, int peer, const Frame& frame) {
  auto* sending = static_cast<Sending*>(std::malloc(sizeof(Sending)));
  void* data = std::malloc(frame.bulk);
  if (sending == nullptr || data == nullptr) fatal("worker %d: no memory for a copy", job->of.job->number);
  kLlvmKind.read(device_of(job), data, from, frame.bulk);
  sending->sent = free_sent;
  sending->data = data;
  const NodeJob* to = job->of.job;
  WireUse use;
  if (!use.is_possible() || to->kind->send(to->wire, peer, frame, nullptr, data, sending)) free_sent(sending);
}

void read(GpuJob* job) {
  Frame frame = answer_to(job->frame, NodeFrame::kData);
  frame.bulk = job->frame.b;
  send_bytes(job, job->frame.a, 0, frame);
}

void forward(GpuJob* job) {
  const Frame& frame = job->frame;
  if (auto peer = static_cast<int>(job->words[0]); peer != job->of.job->number) {
    Frame data = answer_to(frame, NodeFrame::kWrite, frame.a);
    data.flags = kAnswers | flags_of_device(static_cast<int>(job->words[4]));
    data.bulk = frame.c;
    return send_bytes(job, frame.b, peer, data);
  }
  CopyEnd to = {job->target < 0 ? nullptr : &g_gpus[job->target].device, reinterpret_cast<char*>(frame.a)};
  if (llvm_copy(to, {device_of(job), reinterpret_cast<char*>(frame.b)}, frame.c) != 0) {
    fatal("worker %d: cannot copy %lu bytes from device %d; LIBOMPTARGET_INFO=-1 shows what libomptarget does",
          job->of.job->number, frame.c, job->of.number);
  }
  WireUse::send(*job->of.job, answer_to(frame, NodeFrame::kDone));
}

uint64_t result_of(GpuJob* job) {
  Gpu& gpu = g_gpus[job->of.gpu];
  const Frame& frame = job->frame;
  switch (static_cast<NodeFrame>(frame.kind)) {
    case NodeFrame::kPool: return frame.a == 0 ? take_pool(gpu, memory_of(job->of.gpu), frame.b) : gpu.bytes;
    case NodeFrame::kWrite: kLlvmKind.write(&gpu.device, frame.a, job->from, frame.bulk); return 0;
    case NodeFrame::kLoad: return load(frame);
    default: return find(gpu, module_with(frame.a), reinterpret_cast<const char*>(job->words));
  }
}

void run_job(Work* work) {
  auto* job = static_cast<GpuJob*>(work);
  switch (static_cast<NodeFrame>(job->frame.kind)) {
    case NodeFrame::kLaunch: launch(job); break;
    case NodeFrame::kRead: read(job); break;
    case NodeFrame::kForward: forward(job); break;
    default: WireUse::send(*job->of.job, answer_to(job->frame, NodeFrame::kDone, result_of(job)));
  }
  std::free(job->data);
  std::free(job);
}

GpuJob* make_job(const GpuFrame& of, const Frame& frame, const uint64_t* words) {
  size_t bytes = frame.words * sizeof *words;
  auto* job = static_cast<GpuJob*>(std::malloc(sizeof(GpuJob) + bytes));
  if (job == nullptr) fatal("worker %d: no memory for a command", of.job->number);
  job->is_kernel = true;  // so it becomes a task, which may be suspended
  job->run = run_job;
  job->of = of;
  job->frame = frame;
  job->from = job->data = nullptr;
  job->target = -1;
  if (bytes != 0) std::memcpy(job->words, words, bytes);
  return job;
}

void submit_ready(GpuJob* job) {
  WorkList list;
  list.push(job);
  add_work(list);
}

void* take_incoming(uint64_t operation) {
  for (Incoming& incoming : g_incoming) {
    if (incoming.operation != operation) continue;
    void* data = incoming.data;
    incoming = g_incoming[g_incoming.count() - 1];
    g_incoming.shrink(g_incoming.count() - 1);
    return data;
  }
  return nullptr;
}

[[noreturn]] void refuse_copy(const Device* device, const char* way) {
  fatal("cannot copy %s device %d; LIBOMPTARGET_INFO=-1 shows what libomptarget does", way, device->number);
}

bool is_name(const Frame& frame, const uint64_t* words) {
  size_t bytes = frame.words * sizeof *words;
  return bytes != 0 && strnlen(reinterpret_cast<const char*>(words), bytes) < bytes;
}

}  // namespace

void write_to_gpu(int gpu, uint64_t to, const void* from, const ByteRun* runs, size_t count) {
  Device* device = &g_gpus[gpu].device;
  CopyEnd host = {nullptr, static_cast<char*>(const_cast<void*>(from))};
  if (llvm_copy_runs({device, reinterpret_cast<char*>(to)}, host, runs, count) != 0) refuse_copy(device, "to");
}

void read_from_gpu(int gpu, void* to, uint64_t from, const ByteRun* runs, size_t count) {
  Device* device = &g_gpus[gpu].device;
  CopyEnd host = {nullptr, static_cast<char*>(to)};
  if (llvm_copy_runs(host, {device, reinterpret_cast<char*>(from)}, runs, count) != 0) refuse_copy(device, "from");
}

void clear_on_gpu(int gpu, uint64_t at, uint64_t bytes) {
  Device* device = &g_gpus[gpu].device;
  if (llvm_fill(device, reinterpret_cast<char*>(at), 0, bytes) != 0) refuse_copy(device, "to");
}

uint64_t allocate_on_gpu(int gpu, uint64_t bytes) { return kLlvmKind.allocate(&g_gpus[gpu].device, bytes); }

void release_on_gpu(int gpu, uint64_t address) { kLlvmKind.release(&g_gpus[gpu].device, address); }

void read_from_gpu_now(int gpu, void* to, uint64_t from, uint64_t bytes) {
  Device* device = &g_gpus[gpu].device;
  if (llvm_read_now(to, {device, reinterpret_cast<char*>(from)}, bytes) != 0) refuse_copy(device, "from");
}

bool is_on_gpu(int gpu, uint64_t address, uint64_t bytes) { return is_gpus(g_gpus[gpu], address, bytes); }

int open_worker_gpus(const char* asked) {
  const char* why = "";
  int count = llvm_device_count(&why);
  if (count <= 0 && asked != nullptr) fatal("%s: %s", asked, why);
  if (count <= 0) {
    note("MARLINE_DEVICES names cluster:all: %s", why);
    return 0;
  }
  g_gpus = static_cast<Gpu*>(std::calloc(static_cast<size_t>(count), sizeof(Gpu)));
  if (g_gpus == nullptr) fatal("no memory for %d GPUs", count);
  for (int i = 0; i < count; ++i) {
    new (&g_gpus[i]) Gpu{};
    g_gpus[i].device.kind = &kLlvmKind;
    g_gpus[i].device.index = i;
  }
  return count;
}

void number_worker_gpu(int gpu, int number) { g_gpus[gpu].device.number = number; }

bool notify_worker_gpu(int& number, const char*& name, const char*& place) {
  const Doing* doing = LibraryCall::here();
  if (doing == nullptr) return false;
  const Entry* entry = doing->region != nullptr ? find_entry(doing->region) : nullptr;
  number = doing->device->number;
  name = entry != nullptr ? entry->name : nullptr;
  place = doing->place;
  return true;
}

void* place_for_gpu(const GpuFrame& of, const Frame& frame) {
  if (frame.bulk > kGpuPiece || !is_gpus(g_gpus[of.gpu], frame.a, frame.bulk)) return nullptr;
  void* data = std::malloc(frame.bulk);
  if (data == nullptr) fatal("worker %d: no memory for a copy", of.job->number);
  g_incoming.push({frame.operation, data});
  return data;
}

const char* deliver_to_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words) {
  Gpu& gpu = g_gpus[of.gpu];
  void* data = nullptr;
  switch (static_cast<NodeFrame>(frame.kind)) {
    case NodeFrame::kPool:
    case NodeFrame::kLoad: break;
    case NodeFrame::kWrite:
      data = take_incoming(frame.operation);
      if (data == nullptr) return "brings no data";
      break;
    case NodeFrame::kRead:
      if (frame.b == 0 || frame.b > kGpuPiece || !is_gpus(gpu, frame.a, frame.b)) return kReadsElsewhere;
      break;
    case NodeFrame::kFind:
      if (module_with(frame.a) == nullptr || !is_name(frame, words)) return "names no image";
      break;
    case NodeFrame::kLaunch:
      if (!is_gpu_kernel(frame.a, frame.words)) return "launches no target region";
      break;
    default: return "is not understood by a GPU";
  }
  GpuJob* job = make_job(of, frame, words);
  job->from = job->data = data;
  if (static_cast<NodeFrame>(frame.kind) == NodeFrame::kLaunch) {
    see_arrival(&job->seen, find_entry(reinterpret_cast<const void*>(frame.a))->name, frame.c);
  }
  submit_ready(job);
  return nullptr;
}

const char* forward_from_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words, int target) {
  if (frame.c == 0 || frame.c > kGpuPiece || !is_gpus(g_gpus[of.gpu], frame.b, frame.c)) {
    return kReadsElsewhere;
  }
  if (target >= 0 && !is_gpus(g_gpus[target], frame.a, frame.c)) return kWritesElsewhere;
  GpuJob* job = make_job(of, frame, words);
  job->target = target;
  submit_ready(job);
  return nullptr;
}

// Handles it as a kWrite with data that is already in this process.
const char* forward_to_gpu(const GpuFrame& of, const Frame& frame) {
  if (!is_gpus(g_gpus[of.gpu], frame.a, frame.c)) return kWritesElsewhere;
  Frame write = frame;
  write.kind = static_cast<uint16_t>(NodeFrame::kWrite);
  write.bulk = frame.c;
  write.words = 0;
  GpuJob* job = make_job(of, write, nullptr);
  job->from = reinterpret_cast<const void*>(frame.b);
  submit_ready(job);
  return nullptr;
}

}  // namespace marline::offload::device
