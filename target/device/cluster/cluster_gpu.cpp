// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "device/cluster/cluster_gpu.hpp"

#include "base/report.hpp"
#include "device/node/node_parts.hpp"
#include "device/node/serve_gpu.hpp"
#include "image/images.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

// The worker's only one.
int gpu() {
  const WorkerDevices& all = worker_devices();
  int i = 0;
  while (i + 1 < all.count && all.devices[i].gpu < 0) ++i;
  return all.devices[i].gpu;
}

// The bytes of all ranges of a task, one behind the other.
class Bytes {
 public:
  explicit Bytes(KernelStart& kernel) : kernel_(kernel) {
    for (uint32_t i = 0; i < kernel.range_count; ++i) all_ += kernel.ranges()[i].range.bytes;
    memory_ = static_cast<char*>(std::malloc(all_ + 1));
    if (memory_ == nullptr) fatal("no memory for %lu bytes that a region uses on a GPU", all_);
  }
  ~Bytes() { std::free(memory_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  [[nodiscard]] const char* begin() const { return memory_; }

  // `visit(range, its bytes)`.
  template <class Visit>
  void each(const Visit& visit) {
    char* at = memory_;
    for (uint32_t i = 0; i < kernel_.range_count; ++i) {
      const UsedRange& used = kernel_.ranges()[i];
      visit(used, at);
      at += used.range.bytes;
    }
  }

 private:
  KernelStart& kernel_;
  uint64_t all_ = 0;
  char* memory_;
};

void refuse_unfit(const UsedRange& used) {
  if (is_on_gpu(gpu(), used.address, used.range.bytes)) return;
  fatal("a task of the cluster uses %lu bytes at %#lx, which are not the GPU's", used.range.bytes, used.address);
}

void bring(ClusterNode& node, Bytes& before) {
  {
    Guard guard(node.lock);
    before.each([&](const UsedRange& used, char* bytes) {
      refuse_unfit(used);
      std::memcpy(bytes, node.data(used.range), used.range.bytes);
    });
  }
  before.each(
      [&](const UsedRange& used, const char* bytes) { write_to_gpu(gpu(), used.address, bytes, used.range.bytes); });
}

void take_changed(char* to, const char* before, const char* now, uint64_t bytes) {
  constexpr uint64_t kBlock = 256;  // most have not changed
  for (uint64_t begin = 0; begin < bytes; begin += kBlock) {
    uint64_t end = std::min(bytes, begin + kBlock);
    if (std::memcmp(before + begin, now + begin, end - begin) == 0) continue;
    for (uint64_t i = begin; i < end; ++i) {
      if (now[i] != before[i]) to[i] = now[i];
    }
  }
}

void take_back(ClusterNode& node, KernelStart& kernel, Bytes& before) {
  Bytes after(kernel);
  after.each([&](const UsedRange& used, char* bytes) {
    if (used.may_write != 0) read_from_gpu(gpu(), bytes, used.address, used.range.bytes);
  });
  Guard guard(node.lock);
  const char* now = after.begin();
  before.each([&](const UsedRange& used, const char* bytes) {
    if (used.may_write != 0) take_changed(node.data(used.range), bytes, now, used.range.bytes);
    now += used.range.bytes;
  });
}

}  // namespace

const char* name_of_gpu_kernel(const KernelStart& kernel) {
  if (kernel.in_memory || !is_gpu_kernel(kernel.code, kernel.count)) return nullptr;
  return find_entry(reinterpret_cast<const void*>(kernel.code))->name;
}

void run_on_gpu(ClusterNode& node, KernelStart& kernel) {
  Bytes before(kernel);
  bring(node, before);
  run_gpu_kernel({static_cast<int>(node.number()), gpu(), kernel.number, kernel.code, kernel.thread_limit, kernel.place,
                  kernel.words, kernel.count});
  take_back(node, kernel, before);
}

}  // namespace marline::target
