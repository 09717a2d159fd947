// SPDX-License-Identifier: Apache-2.0
//
// Asks workers to load images, to find symbols and to run kernels.
#include "device/remote/program/code.hpp"

#include "base/report.hpp"
#include "device/contract/kinds.hpp"
#include "device/remote/program/link.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/name_in_words.hpp"
#include "image/images.hpp"
#include "image/jumps.hpp"
#include "image/program.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

using namespace image;
using namespace wire;

namespace {

// By peer: 1 + the worker's number of the first device for which a variable of GCC's code was found; 0: none yet.
std::atomic<int> g_with_variables[kMostPeers];

// In GCC's code a variable belongs to the process, so all devices of a worker share it. Warns once, when a second
// device of a worker uses such variables.
void note_variable_of(const Node* node) {
  static std::atomic<bool> said{false};
  int first = 0, own = node->number + 1;
  if (g_with_variables[node->peer].compare_exchange_strong(first, own) || first == own) return;
  if (said.exchange(true)) return;
  warn(
      "the devices of a worker share the `declare target` variables of code of GCC: if each device needs its own, "
      "start more processes (-n) and leave MARLINE_NODE_DEVICES unset");
}

// For declare target indirect: kernels get the program's pointers to functions, so the worker needs jumps at these
// addresses (image/jumps.hpp).
void make_jumps(Device* device, const Module& module, uint64_t handle) {
  for (uint32_t i = 0; i < module.count; ++i) {
    const Entry& entry = module.entries[i];
    if (!is_indirect_function(entry)) continue;
    ProgramPlace place = place_of_address(entry.host);
    List<uint64_t, 32> words;
    words.push(place.module);
    NameInWords name(entry.name);
    for (uint32_t k = 0; k < name.count(); ++k) words.push(name.begin()[k]);
    Frame frame = frame_of(NodeFrame::kJump, handle, reinterpret_cast<uint64_t>(entry.host), place.offset);
    frame.words = static_cast<uint16_t>(words.count());
    uint64_t made = ask_node(usable_node(device), frame, "place for a function", words.begin());
    warn_unless_made(static_cast<Jump>(made), entry, device->number, "node");
  }
}

}  // namespace

uint64_t load_on_node(Device* device, Module* module) {
  if (module->native.begin == nullptr) return 0;
  Node* node = usable_node(device);
  size_t bytes = module->native.bytes;
  auto* copied = static_cast<char*>(std::malloc(bytes));
  if (copied == nullptr) fatal("device %d (node): no memory for an image", device->number);
  bool there;
  {
    Guard guard(images_lock());
    there = !module->gone.load(std::memory_order_relaxed);
    if (there) std::memcpy(copied, module->native.begin, bytes);
  }
  uint64_t handle = 0, stage = there ? kNodeKind.allocate(device, bytes) : 0;
  if (stage != 0) {
    kNodeKind.write(device, stage, copied, bytes);
    handle = ask_node(node, frame_of(NodeFrame::kLoad, stage, bytes), "load of an image");
    kNodeKind.release(device, stage);
  }
  std::free(copied);
  if (there && stage == 0) fatal("device %d (node): no memory for an image", device->number);
  if (handle != 0) make_jumps(device, *module, handle);
  return handle;
}

void unload_on_node(Device* device, uint64_t handle) {
  (void)ask_node(usable_node(device), frame_of(NodeFrame::kUnload, handle), "unload of an image");
}

uint64_t find_on_node(Device* device, uint64_t handle, const char* name) {
  NameInWords words(name);
  Frame frame = frame_of(NodeFrame::kFind, handle);
  frame.words = static_cast<uint16_t>(words.count());
  return ask_node(usable_node(device), frame, "search for a symbol", words.begin());
}

void start_find_on_node(Device* device, uint64_t handle, const char* name, Operation* operation) {
  NameInWords words(name);
  Frame frame = frame_of(NodeFrame::kFind, handle);
  frame.words = static_cast<uint16_t>(words.count());
  start_on_node(usable_node(device), frame, words.begin(), operation);
}

bool can_locate_on_nodes(const void* address) { return place_of_address(address).module != 0; }

void start_locate_on_node(Device* device, const void* address, Operation* operation) {
  ProgramPlace place = place_of_address(address);
  start_on_node(usable_node(device), frame_of(NodeFrame::kLocate, place.module, place.offset), nullptr, operation);
}

uint64_t locate_on_node(Device* device, const void* address, size_t bytes) {
  ProgramPlace place = place_of_address(address);
  if (place.module == 0) return 0;
  Node* node = usable_node(device);
  uint64_t found =
      ask_node(node, frame_of(NodeFrame::kLocate, place.module, place.offset, bytes), "search for a symbol");
  if (found != 0 && bytes != 0) note_variable_of(node);
  return found;
}

bool launch_on_node(Device* device, const Launch& launch, Operation* operation) {
  if (launch.count > kMostArguments) {
    fatal("a target region with %u arguments; the most are %u", launch.count, kMostArguments);
  }
  Frame frame = frame_of(NodeFrame::kLaunch, code_to_call(launch), static_cast<uint64_t>(launch.thread_limit),
                         offset_in_program(launch.place));
  frame.words = static_cast<uint16_t>(launch.count);
  frame.flags = operation->timed ? kTimed : 0;
  start_on_node(usable_node(device), frame, launch.arguments, operation);
  return false;
}

}  // namespace marline::offload::device
