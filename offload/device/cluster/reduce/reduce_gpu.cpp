// SPDX-License-Identifier: Apache-2.0
//
// Task reductions on a worker's GPU. The GPU runs one task at a time, so one copy of each variable is enough, and no
// lock is needed. The combine function is code for processors, so the copies are read from the GPU, combined, and
// written back.
#include "base/report.hpp"
#include "device/cluster/worker/gpu.hpp"
#include "device/cluster/reduce/reduce.hpp"
#include "device/remote/worker/serve_gpu.hpp"

#include <cstdlib>

namespace marline::offload::device {

using namespace cluster;

namespace {

struct GpuCopy {
  uint64_t buffer, address;
};

List<GpuCopy> g_copies;  // of reductions of taskgroups that have not ended

// A buffer in the worker's memory for the bytes of one variable on the GPU.
class Fetched {
 public:
  explicit Fetched(uint64_t bytes) : memory_(static_cast<char*>(std::malloc(bytes + 1))) {
    if (memory_ == nullptr) fatal("no memory for the result (%lu bytes) of a task reduction", bytes);
    all_.push({0, bytes});
  }
  ~Fetched() { std::free(memory_); }
  Fetched(const Fetched&) = delete;
  Fetched& operator=(const Fetched&) = delete;

  char* read(uint64_t address) const {
    kGpuMemory.read(memory_, address, all_);
    return memory_;
  }
  void write(uint64_t address) const { kGpuMemory.write(address, memory_, all_); }

 private:
  char* memory_;
  List<ByteRun> all_;
};

// Returns the address on the GPU of the copy of a reduced variable. The first call makes it, with the initial value.
uint64_t copy_of(int gpu, const ReducedWords& reduced) {
  for (const GpuCopy& copy : g_copies) {
    if (copy.buffer == reduced.buffer) return copy.address;
  }
  uint64_t address = allocate_on_gpu(gpu, reduced.bytes);
  if (address == 0) {
    fatal(
        "the GPU has no memory beside the cluster's for a copy (%lu bytes) of a variable of a task reduction: leave "
        "in_reduction out, or use --devices=cluster",
        reduced.bytes);
  }
  Fetched initial(reduced.bytes);
  (void)initial.read(reduced.address);
  initial.write(address);
  g_copies.push({reduced.buffer, address});
  return address;
}

}  // namespace

void take_gpu_copies(int gpu, KernelStart& kernel) {
  for (uint32_t i = 0; i < kernel.call.reduced; ++i) {
    ReducedWords reduced = reduced_of(kernel, i);
    kernel.words[reduced.word] += copy_of(gpu, reduced) - reduced.address;
  }
}

void combine_gpu_copies(int gpu, const ClusterNode& node, const KernelStart& kernel) {
  const uint64_t *words = kernel.words, bytes = words[4];
  Combine combine = combine_of(node, kernel);
  Fetched result(bytes), other(bytes);
  char* to = result.read(words[6] != 0 ? words[3] : words[5]);
  for (size_t i = 0; i < g_copies.count(); ++i) {
    GpuCopy copy = g_copies[i];
    if (copy.buffer != words[2]) continue;
    combine(to, other.read(copy.address));
    release_on_gpu(gpu, copy.address);
    g_copies.erase(i);
    break;
  }
  for (uint32_t i = 7; i < kernel.count; ++i) combine(to, other.read(words[i]));
  result.write(words[5]);
}

}  // namespace marline::offload::device
