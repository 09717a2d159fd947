// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's driver says of its GPUs. LLVM's libomptarget 16 to 21 has no such questions, so the driver's own
// library is asked, the one that libomptarget opens, too. Any thread.
#pragma once

#include "base/facts.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// A function of the driver's library; null if it has none, or there is no driver.
[[nodiscard]] void* cuda_routine(const char* name);
// Likewise, into a pointer to a function of that type. False: the driver has none of that name.
template <class Function>
[[nodiscard]] bool find_cuda(const char* name, Function& to) {
  to = reinterpret_cast<Function>(cuda_routine(name));
  return to != nullptr;
}

// The number of GPUs; -1: there is no driver.
[[nodiscard]] int cuda_gpu_count();

// The compute capability, times ten: 90. 0: not known.
[[nodiscard]] int cuda_capability(int gpu);

// Whether the driver has what the next two need.
[[nodiscard]] bool has_cuda_contexts();
// In which context that memory can be used; null: it is no memory of a GPU of NVIDIA's.
[[nodiscard]] void* cuda_context_of(uint64_t address);

// The scope in which a context is current in the calling thread.
class CudaContext {
 public:
  explicit CudaContext(void* context);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void* old_ = nullptr;
  bool failed_;
};

// Of the GPU whose context is current in the calling thread. False: there is none.
[[nodiscard]] bool cuda_free_memory(size_t& bytes);

// Memory of a GPU at that address, which stays to the end of the process. 0: the driver does not give it there; else
// how many bytes there are: as many as wanted, or somewhat fewer, in whole pages of the GPU.
[[nodiscard]] size_t cuda_memory_at(int gpu, uint64_t address, size_t bytes);

// Fills in all facts of a GPU, by the driver's number. The uid is "GPU-" and its UUID, as nvidia-smi prints it.
void cuda_describe(int gpu, DeviceFacts& facts);

}  // namespace marline::offload::device
