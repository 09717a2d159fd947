// SPDX-License-Identifier: Apache-2.0
//
// The processor as a device, in the program's own process: memory is malloc's, and a kernel runs on the thread that
// asks for it, as the initial task of a target region. Each device has its own copy of an image, and so of its
// variables.
#include "device/contract/kinds.hpp"
#include "base/now.hpp"
#include "device/processor/call_kernel.hpp"
#include "device/processor/processor.hpp"
#include "image/images.hpp"
#include "image/load.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr size_t kAlignment = 64;

void describe(int index, DeviceFacts& facts) {
  describe_processor(facts);
  std::snprintf(facts.uid, sizeof facts.uid, "host-%d", index);
}

void start(Device*) {}
void stop(Device*) {}
void progress(Device*) {}

uint64_t allocate(Device*, size_t bytes) {
  void* memory = nullptr;
  return posix_memalign(&memory, kAlignment, bytes) == 0 ? reinterpret_cast<uint64_t>(memory) : 0;
}

void release(Device*, uint64_t address) { std::free(reinterpret_cast<void*>(address)); }

// Code that GCC made for the host device uses the host's own variables: then both addresses are the same.
void write(Device*, uint64_t to, const void* from, size_t bytes) {
  if (reinterpret_cast<const void*>(to) != from) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
}

void read(Device*, void* to, uint64_t from, size_t bytes) {
  if (reinterpret_cast<const void*>(from) != to) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
}

uint64_t load(Device*, Module* module) {
  if (module->native.begin == nullptr) return 0;
  int file;
  {
    Guard guard(images_lock());
    if (module->gone.load(std::memory_order_relaxed)) return 0;
    file = copy_image(module->native);
  }
  return reinterpret_cast<uint64_t>(load_image(file));
}

void unload(Device*, uint64_t handle) { unload_image(reinterpret_cast<void*>(handle)); }

uint64_t find(Device*, uint64_t handle, const char* name) {
  return find_in_image(reinterpret_cast<void*>(handle), name);
}

uint64_t locate(Device*, const void* address, size_t) { return reinterpret_cast<uint64_t>(address); }

struct Call {
  uint64_t code;
  const Launch* launch;
};

void run(void* data) {
  auto* call = static_cast<Call*>(data);
  call_kernel(call->code, call->launch->arguments, call->launch->count);
}

bool launch(Device* device, const Launch& launch, Operation* operation) {
  Call call = {code_to_call(launch), &launch};
  marline_target_region_t region = {run, &call, device->number, launch.thread_limit, 0};
  if (operation->timed) operation->begin = now();
  marline_target_region_run(&region);
  if (operation->timed) operation->end = now();
  return true;
}

}  // namespace

constexpr DeviceTraits kTraits = {.name = "host", .shares_memory = true};
constinit const DeviceKind kHostKind = {kTraits, describe, start,  allocate, release, write,    read, load,
                                        unload,  find,     locate, nullptr,  launch,  progress, stop};

}  // namespace marline::offload::device
