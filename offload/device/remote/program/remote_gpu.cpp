// SPDX-License-Identifier: Apache-2.0
//
// The program's side of GPUs on other nodes. The program keeps the data environment, as for all devices on nodes. The
// worker has allocated one block of the GPU's memory. The program allocates its parts; their addresses are the GPU's
// own. Data goes in pieces by way of the worker's memory (serve_gpu.cpp), and directly from one worker's device to
// another's. A kernel's `code` is the address of its entry in the worker, where libomptarget runs it. Any thread.
#include "base/report.hpp"
#include "device/contract/kinds.hpp"
#include "device/remote/program/code.hpp"
#include "device/remote/program/link.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "device/remote/program/shared_copies.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/window.hpp"
#include "image/images.hpp"
#include "image/program.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace marline::offload::device {

using namespace image;
using namespace wire;

namespace {

void start(Device* device) {
  if (device->state != nullptr) return;
  Node* node = open_node_gpu(device);
  uint64_t at = device->cluster != nullptr ? part_of(device->cluster) : 0;  // its GPUs have the same addresses
  uint64_t begin = ask_node(node, frame_of(NodeFrame::kPool, 0, at), "first answer");
  uint64_t bytes = ask_node(node, frame_of(NodeFrame::kPool, 1), "first answer");
  if (bytes == 0) fatal("device %d (node) has no memory left: does another program use the GPU?", device->number);
  node->arena.manage(begin, bytes);
  device->asks_to_copy = true;
}

void stop(Device*) {}  // all workers end together: see end_nodes

uint64_t allocate(Device* device, size_t bytes) { return usable_node(device)->arena.allocate(bytes); }

void release(Device* device, uint64_t address) {
  if (!device->lost) usable_node(device)->arena.release(address);
}

// Copies in pieces. Several pieces are in flight at a time: while one crosses the network, others pass the buses of the
// GPUs. `start` begins a piece. May suspend.
template <class Start>
void in_pieces(Node* node, size_t bytes, const char* what, Start start) {
  constexpr size_t kAtATime = 6;
  std::optional<NodePiece> pieces[kAtATime];
  size_t begun = 0, ended = 0;
  auto end_one = [&] { pieces[ended++ % kAtATime]->wait(what, bytes); };
  for (size_t done = 0; done < bytes; done += kGpuPiece) {
    if (begun - ended == kAtATime) end_one();
    start(pieces[begun++ % kAtATime].emplace(node->device), done, std::min(kGpuPiece, bytes - done));
  }
  while (ended < begun) end_one();
}

void write(Device* device, uint64_t to, const void* from, size_t bytes) {
  Node* node = usable_node(device);
  if (bytes >= kSharedCopy) return write_shared_to_node(node, to, from, bytes);
  NodePiece piece(device);
  start_write_to_node(node, frame_of(NodeFrame::kWrite, to), from, bytes, piece);
  piece.wait("copy to", bytes);
}

void read(Device* device, void* to, uint64_t from, size_t bytes) {
  Node* node = usable_node(device);
  in_pieces(node, bytes, "copy from", [&](NodePiece& piece, size_t done, size_t size) {
    start_on_node(node, frame_of(NodeFrame::kRead, from + done, size), nullptr, &piece.answer,
                  static_cast<char*>(to) + done, size);
  });
}

// The worker has the program's images itself, and finds the module by the address of one of its entries.
uint64_t load(Device* device, Module* module) {
  const void* entry = nullptr;
  {
    Guard guard(images_lock());
    if (module->gone.load(std::memory_order_relaxed) || !module->has_foreign) return 0;
    for (uint32_t i = 0; entry == nullptr && i < module->count; ++i) entry = module->entries[i].host;
  }
  ProgramPlace place = entry != nullptr ? place_of_address(entry) : ProgramPlace{};
  if (place.module == 0) return 0;
  return ask_node(usable_node(device), frame_of(NodeFrame::kLoad, place.module, place.offset), "load of an image");
}

void unload(Device*, uint64_t) {}  // the worker keeps its libraries

uint64_t locate(Device*, const void*, size_t) { return 0; }  // only for code of GCC, which makes none for GPUs here

uint64_t two(const uint32_t (&sizes)[2]) { return sizes[0] | uint64_t{sizes[1]} << 32; }

bool launch(Device* device, const Launch& launch, Operation* operation) {
  uint64_t words[kGpuLaunchWords + kMostGpuArguments];
  uint32_t count = gpu_launch_words(launch, words);
  Frame frame = frame_of(NodeFrame::kLaunch, launch.code, static_cast<uint64_t>(launch.thread_limit),
                         offset_in_program(launch.place));
  frame.words = static_cast<uint16_t>(count);
  frame.flags = operation->timed ? kTimed : 0;
  start_on_node(usable_node(device), frame, words, operation);
  return false;
}

}  // namespace

// Versions of a kernel's arguments: with a null in front of the arguments, the version before that, which has no null,
// and a version that has the null as the last argument.
static constexpr uint64_t kWithNull = 3, kWithoutNull = 2, kWithLastNull = 5;

static uint64_t version_of(const Launch& launch) {
  return launch.leading_null ? kWithNull : is_by_pointers(launch) ? kWithLastNull : kWithoutNull;
}

uint32_t gpu_launch_words(const Launch& launch, uint64_t (&words)[kGpuLaunchWords + kMostGpuArguments]) {
  if (launch.count > kMostGpuArguments) {
    fatal("a target region with %u arguments; the most are %u", launch.count, kMostGpuArguments);
  }
  const uint64_t grid[kGpuLaunchWords] = {static_cast<uint64_t>(launch.passed_teams),
                                          launch.trip_count,
                                          version_of(launch),
                                          launch.grid.flags,
                                          launch.grid.dynamic_memory,
                                          two(launch.grid.teams),
                                          two(launch.grid.threads)};
  std::memcpy(words, grid, sizeof grid);
  uint32_t first = launch.leading_null ? 1 : 0;  // libomptarget adds the leading null itself
  std::memcpy(words + kGpuLaunchWords, launch.arguments + first, (launch.count - first) * sizeof *words);
  return kGpuLaunchWords + launch.count - first;
}

uint32_t gpu_word(const Launch& launch, uint32_t argument) {
  return kGpuLaunchWords + argument - (launch.leading_null ? 1 : 0);
}

uint64_t* processor_arguments(uint64_t* words, uint32_t& count) {
  bool has_null = words[2] == kWithNull;
  uint32_t first = kGpuLaunchWords - (has_null ? 1 : 0);
  if (has_null) words[first] = 0;
  count -= first;
  return words + first;
}

void copy_in_pieces(Node* target, uint64_t to, Node* source, uint64_t from, size_t bytes) {
  confirm_on_node(target);
  in_pieces(source, bytes, "copy between devices", [&](NodePiece& piece, size_t done, size_t size) {
    forward_on_node(target, to + done, source, from + done, size, &piece.answer);
  });
}

constexpr DeviceTraits kTraits = {.name = "node", .is_asynchronous = true, .job_part = JobPart::kGpu};
constinit const DeviceKind kNodeGpuKind = {
    kTraits, describe_node_gpu, start,  allocate,           release, write,          read, load,
    unload,  find_on_node,      locate, copy_between_nodes, launch,  progress_nodes, stop};

}  // namespace marline::offload::device
