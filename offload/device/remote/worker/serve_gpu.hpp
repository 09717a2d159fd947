// SPDX-License-Identifier: Apache-2.0
//
// The worker's side of its GPUs. LLVM's libomptarget drives them, and each request about a GPU becomes a task of the
// first dispatcher. The functions are called by the thread that polls the wire, unless their comments say otherwise.
#pragma once

#include "device/contract/byte_runs.hpp"
#include "device/contract/device.hpp"
#include "device/remote/job/frames.hpp"

#include <cstddef>

namespace marline::offload::device {

using namespace wire;

// The program copies in pieces of at most so many bytes: each piece is in the worker's memory for a while.
inline constexpr size_t kGpuPiece = size_t{2} << 20;

// A launch has this many words in front of its arguments: the teams as Clang passes them, the trip count, the version
// of the arguments, their flags, the dynamic memory, the teams of the second and third dimension in one word, and the
// threads of these in another.
inline constexpr uint32_t kGpuLaunchWords = 7;
inline constexpr uint32_t kMostGpuArguments = 256;

// Called in the program (remote_gpu.cpp): writes the words of a launch; returns how many.
uint32_t gpu_launch_words(const Launch& launch, uint64_t (&words)[kGpuLaunchWords + kMostGpuArguments]);
// Which of these words has the given argument of the launch, which is not the leading null.
[[nodiscard]] uint32_t gpu_word(const Launch& launch, uint32_t argument);

// Called in a worker, once for a launch, to run it on a processor. Returns its arguments, which lie among the words,
// and reduces `count` to the number of arguments.
uint64_t* processor_arguments(uint64_t* words, uint32_t& count);

// Opens the GPUs and returns how many there are. Called once, by the first thread. `asked`: what asks for GPUs, for the
// message with which the process ends if there are none that can be used. Null: there need not be any.
[[nodiscard]] int open_worker_gpus(const char* asked);

// Sets the program's number of the GPU, before any other frame about it.
void number_worker_gpu(int gpu, int number);

// A kernel of the program on a GPU, with the words of a launch.
struct GpuKernel {
  int worker;  // this process's number in the job
  int gpu;
  int number;       // the program's number of the device
  uint64_t code;    // the address of the kernel's entry
  int32_t threads;  // 0: no limit
  uint64_t place;   // as in a kLaunch
  const uint64_t* words;
  uint32_t count;
};

// Whether `code` is a kernel for GPUs, and `count` can be the number of its words. Any thread.
[[nodiscard]] bool is_gpu_kernel(uint64_t code, uint32_t count);

// The next functions are called by a task, which may be suspended. They run a kernel, or copy or clear memory. A copy
// has several runs of bytes; each has the same offset from both addresses.
void run_gpu_kernel(const GpuKernel& kernel);
void write_to_gpu(int gpu, uint64_t to, const void* from, const ByteRun* runs, size_t count);
void read_from_gpu(int gpu, void* to, uint64_t from, const ByteRun* runs, size_t count);
void clear_on_gpu(int gpu, uint64_t at, uint64_t bytes);
// Allocates memory of the GPU outside the program's block; 0: there is none.
[[nodiscard]] uint64_t allocate_on_gpu(int gpu, uint64_t bytes);
void release_on_gpu(int gpu, uint64_t address);
// Blocks the thread, which may hold locks.
void read_from_gpu_now(int gpu, void* to, uint64_t from, uint64_t bytes);
// Whether the bytes lie in the program's block or in one of its variables on the GPU. Any thread.
[[nodiscard]] bool is_on_gpu(int gpu, uint64_t address, uint64_t bytes);

// If the calling thread is in libomptarget, says in which region and for which device; else returns false. For signal
// handlers.
[[nodiscard]] bool notify_worker_gpu(int& number, const char*& name, const char*& place);

// What is wrong with a copy from or to memory that the device does not have.
inline constexpr const char* kReadsElsewhere = "reads where its device has no memory";
inline constexpr const char* kWritesElsewhere = "writes where its device has no memory";

struct GpuFrame {
  const NodeJob* job;
  int gpu;
  int number;  // the program's number of the device
};

// Where the frame's data goes. Null: the frame must not bring so much data, or not to that address.
[[nodiscard]] void* place_for_gpu(const GpuFrame& of, const Frame& frame);

// Handles a frame. Returns null, or what is wrong with the frame. From other workers, only a kWrite comes here.
[[nodiscard]] const char* deliver_to_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words);

// Both handle a kForward and return the same as deliver_to_gpu. forward_from_gpu: a piece of the GPU's bytes. `target`:
// the GPU of this worker to which they go; -1: they go to another worker, or to memory of this worker that the caller
// has checked. forward_to_gpu: bytes of this process go to a GPU.
[[nodiscard]] const char* forward_from_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words, int target);
[[nodiscard]] const char* forward_to_gpu(const GpuFrame& of, const Frame& frame);

}  // namespace marline::offload::device
