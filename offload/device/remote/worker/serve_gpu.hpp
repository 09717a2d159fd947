// SPDX-License-Identifier: Apache-2.0
//
// The worker's side of its GPUs: LLVM's libomptarget drives them, and each question about one becomes a task of the
// first dispatcher. Called by the thread that polls the wire, unless it says otherwise.
#pragma once

#include "device/contract/byte_runs.hpp"
#include "device/contract/device.hpp"
#include "device/remote/job/frames.hpp"

#include <cstddef>

namespace marline::offload::device {

using namespace wire;

// The program copies in pieces of at most this: each is in the worker's memory for a while.
inline constexpr size_t kGpuPiece = size_t{2} << 20;

// A launch has these words, and then the arguments: teams as Clang passes them, the trip count, the version of the
// arguments, their flags, the dynamic memory, and teams and threads of the second and third dimension: two in a word.
inline constexpr uint32_t kGpuLaunchWords = 7;
inline constexpr uint32_t kMostGpuArguments = 256;

// In the program (remote_gpu.cpp): the words of a launch; returns how many.
uint32_t gpu_launch_words(const Launch& launch, uint64_t (&words)[kGpuLaunchWords + kMostGpuArguments]);
// Which of them is that argument of the launch, which is not the leading null.
[[nodiscard]] uint32_t gpu_word(const Launch& launch, uint32_t argument);

// In a worker: the same launch on a processor. Returns its arguments, which lie among the words, and takes the others
// from `count`. Once.
uint64_t* processor_arguments(uint64_t* words, uint32_t& count);

// How many there are. By the first thread, once. Ends the process if they cannot be used; `asked`: what asks for them;
// null: there need not be any.
[[nodiscard]] int open_worker_gpus(const char* asked);

// The program's number of that GPU, before any other frame about it.
void number_worker_gpu(int gpu, int number);

// A kernel of the program on a GPU, with the words of a launch.
struct GpuKernel {
  int worker;  // this process's number in the job
  int gpu;
  int number;       // of the device, as the program counts it
  uint64_t code;    // of its entry
  int32_t threads;  // 0: no limit
  uint64_t place;   // as in a kLaunch
  const uint64_t* words;
  uint32_t count;
};

// Whether it is one. Any thread.
[[nodiscard]] bool is_gpu_kernel(uint64_t code, uint32_t count);

// By a task, which may be suspended: runs the kernel, or copies, runs at their offsets from both addresses.
void run_gpu_kernel(const GpuKernel& kernel);
void write_to_gpu(int gpu, uint64_t to, const void* from, const ByteRun* runs, size_t count);
void read_from_gpu(int gpu, void* to, uint64_t from, const ByteRun* runs, size_t count);
void clear_on_gpu(int gpu, uint64_t at, uint64_t bytes);
// Memory besides the program's; 0: there is none.
[[nodiscard]] uint64_t allocate_on_gpu(int gpu, uint64_t bytes);
void release_on_gpu(int gpu, uint64_t address);
// Holds the thread, which may have locks.
void read_from_gpu_now(int gpu, void* to, uint64_t from, uint64_t bytes);
// Whether the bytes are the program's there. Any thread.
[[nodiscard]] bool is_on_gpu(int gpu, uint64_t address, uint64_t bytes);

// If the calling thread is in libomptarget, in which region of which device; else false. For handlers of signals.
[[nodiscard]] bool tell_worker_gpu(int& number, const char*& name, const char*& place);

// What is wrong with a copy from or to memory that the device does not have.
inline constexpr const char* kReadsElsewhere = "reads where its device has no memory";
inline constexpr const char* kWritesElsewhere = "writes where its device has no memory";

struct GpuFrame {
  const NodeJob* job;
  int gpu;
  int number;  // as the program counts it
};

// Null: the frame is not to bring data, or not there.
[[nodiscard]] void* place_for_gpu(const GpuFrame& of, const Frame& frame);

// Null, or what is wrong with the frame: of another worker's, a kWrite alone.
[[nodiscard]] const char* deliver_to_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words);

// A kForward of a piece of the GPU's bytes. `target`: the GPU of this worker to which they go; -1: another worker, or
// memory of this one that has been checked. And one of bytes that are this process's own, to a GPU. Both return the
// same.
[[nodiscard]] const char* forward_from_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words, int target);
[[nodiscard]] const char* forward_to_gpu(const GpuFrame& of, const Frame& frame);

}  // namespace marline::offload::device
