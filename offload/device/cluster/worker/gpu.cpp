// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels of a cluster on a worker's GPU, and gives the replicas access to its memory.
#include "device/cluster/worker/gpu.hpp"

#include "base/report.hpp"
#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/reduce/reduce.hpp"
#include "device/libomptarget/cuda/cuda_find.hpp"
#include "device/remote/worker/worker_devices.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "image/images.hpp"

#include <cstdlib>

namespace marline::offload::device {

using namespace cluster;
using namespace image;
using namespace wire;

namespace {

// The number of the worker's only GPU.
int gpu() {
  const WorkerDevices& all = worker_devices();
  int i = 0;
  while (i + 1 < all.count && all.devices[i].gpu < 0) ++i;
  return all.devices[i].gpu;
}

int64_t bytes_of(const List<ByteRun>& runs) {
  uint64_t bytes = 0;
  for (const ByteRun& run : runs) bytes += run.bytes;
  return static_cast<int64_t>(bytes);
}

void write(uint64_t to, const char* from, const List<ByteRun>& runs) {
  count_up(cluster_statistics().to_gpu, bytes_of(runs));
  write_to_gpu(gpu(), to, from, runs.begin(), runs.count());
}

void clear(uint64_t to, const List<ByteRun>& runs) {
  for (const ByteRun& run : runs) clear_on_gpu(gpu(), to + run.offset, run.bytes);
}

void read(char* to, uint64_t from, const List<ByteRun>& runs) {
  count_up(cluster_statistics().from_gpu, bytes_of(runs));
  read_from_gpu(gpu(), to, from, runs.begin(), runs.count());
}

void read_now(char* to, uint64_t from, uint64_t bytes) {
  count_up(cluster_statistics().from_gpu, static_cast<int64_t>(bytes));
  read_from_gpu_now(gpu(), to, from, bytes);
}

constexpr uint64_t kWord = sizeof(uint64_t);

// Lists the numbers of the blocks whose byte in `found` is not 0, and frees `found`.
void list_found(char* found, uint64_t words, List<uint64_t>& blocks) {
  for (uint64_t i = 0; found != nullptr && i * kWordsInBlock < words; ++i) {
    if (found[i] != 0) blocks.push(i);
  }
  std::free(found);
}

bool find_words(uint64_t at, uint64_t bytes, uint64_t begin, uint64_t end, List<uint64_t>& blocks) {
  char* found = nullptr;
  uint64_t words = bytes / kWord;
  if (at % kWord != 0 || (words != 0 && !cuda_find_words(at, words, begin, end, found))) return false;
  list_found(found, words, blocks);
  return true;
}

bool find_changes(uint64_t at, uint64_t bytes, List<uint64_t>& blocks) {
  char* found = nullptr;
  uint64_t words = bytes / kWord;
  if (at % kWord != 0 || !cuda_find_changes(at, words, found)) return false;
  list_found(found, words, blocks);
  return true;
}

// Copies, on the GPU, the large ranges that other nodes' tasks may write at the same time as the kernel. With the copy,
// find_changes can find the blocks that the kernel has changed. Smaller ranges take less time to read than to search.
void keep_shared(KernelStart& kernel) {
  constexpr uint64_t kLeast = 256 << 10;
  List<ByteRun> kept;
  for (uint32_t i = 0; i < kernel.range_count; ++i) {
    const UsedRange& used = kernel.ranges()[i];
    if (used.is_shared && used.range.bytes >= kLeast) kept.push({used.address, used.range.bytes});
  }
  cuda_keep(kept.begin(), kept.count());
}

void refuse_unfit(uint64_t address, uint64_t bytes) {
  if (is_on_gpu(gpu(), address, bytes)) return;
  fatal("a task of the cluster uses %lu bytes at %#lx, which are not the GPU's", bytes, address);
}

}  // namespace

static_assert(GpuMemory::kBlock == kWordsInBlock * sizeof(uint64_t));
constinit const GpuMemory kGpuMemory = {write, clear, read, read_now, find_words, find_changes};

const char* name_of_gpu_kernel(const KernelStart& kernel) {
  if (kernel.call.combines) return kCombination;
  if (kernel.call.in_memory || !is_gpu_kernel(kernel.call.code, kernel.argument_count())) return nullptr;
  return find_entry(reinterpret_cast<const void*>(kernel.call.code))->name;
}

void run_on_gpu(ClusterNode& node, KernelStart& kernel) {
  for (uint32_t i = 0; i < kernel.range_count; ++i) {
    const UsedRange& used = kernel.ranges()[i];
    Replica* replica = node.find(used.range);
    refuse_unfit(replica->gpu_address(), replica->bytes());
    replica->bring(used.range, used.may_write);
  }
  if (kernel.call.combines) return combine_gpu_copies(gpu(), node, kernel);
  take_gpu_copies(gpu(), kernel);
  keep_shared(kernel);
  run_gpu_kernel({static_cast<int>(node.number()), gpu(), kernel.call.number, kernel.call.code,
                  kernel.call.thread_limit, kernel.call.place, kernel.words, kernel.argument_count()});
}

}  // namespace marline::offload::device
