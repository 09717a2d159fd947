// SPDX-License-Identifier: Apache-2.0
//
// Queries NVIDIA's driver about its GPUs. LLVM's libomptarget 16 to 21 has no such queries, so this file asks the
// driver's own library, which libomptarget opens, too. Any thread may call these functions.
#pragma once

#include "base/facts.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// A function of the driver's library; null if the library does not have it, or there is no driver.
[[nodiscard]] void* cuda_routine(const char* name);
// Stores the function into a pointer of that type. False: the driver has no function of that name.
template <class Function>
[[nodiscard]] bool find_cuda(const char* name, Function& to) {
  to = reinterpret_cast<Function>(cuda_routine(name));
  return to != nullptr;
}

// The number of GPUs; -1: there is no driver.
[[nodiscard]] int cuda_gpu_count();

// The compute capability times ten, such as 90. 0: not known.
[[nodiscard]] int cuda_capability(int gpu);

// Whether the driver has the functions that cuda_context_of and CudaContext need.
[[nodiscard]] bool has_cuda_contexts();
// The context in which that memory can be used; null: it is not memory of an NVIDIA GPU.
[[nodiscard]] void* cuda_context_of(uint64_t address);

// Makes the context of a GPU, which libomptarget uses, too, current in the calling thread, if the thread has none.
[[nodiscard]] bool make_cuda_context_current(int gpu);

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

// The free memory of the GPU whose context is current in the calling thread. False: no context is current.
[[nodiscard]] bool cuda_free_memory(size_t& bytes);

// Maps memory of a GPU at that address, which stays until the process ends. Returns how many bytes there are: as many
// as wanted, or somewhat fewer, in whole pages of the GPU. 0: the driver cannot map memory at that address.
[[nodiscard]] size_t cuda_memory_at(int gpu, uint64_t address, size_t bytes);

// Fills in all facts of a GPU, by the driver's number. The uid is "GPU-" and its UUID, as nvidia-smi prints it.
void cuda_describe(int gpu, DeviceFacts& facts);

}  // namespace marline::offload::device
