// SPDX-License-Identifier: Apache-2.0
//
// The worker's side of its GPUs: LLVM's libomptarget drives them, and each question about one becomes a task of the
// first dispatcher. Called by the thread that polls the wire, unless it says otherwise.
#pragma once

#include "device/node/node_frames.hpp"

#include <cstddef>

namespace marline::target {

// The program copies in pieces of at most this: each is in the worker's memory for a while.
inline constexpr size_t kGpuPiece = size_t{2} << 20;

// A launch has these words, and then the arguments: teams as Clang passes them, the trip count, the version of the
// arguments, their flags, the dynamic memory, and teams and threads of the second and third dimension: two in a word.
inline constexpr uint32_t kGpuLaunchWords = 7;
inline constexpr uint32_t kMostGpuArguments = 256;

// How many there are. By the first thread, once. Ends the process if they cannot be used.
[[nodiscard]] int open_worker_gpus();

// The program's number of that GPU, before any other frame about it.
void number_worker_gpu(int gpu, int number);

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
// memory of this one that has been checked. And one of bytes that are this process's own, to a GPU. Both return the same.
[[nodiscard]] const char* forward_from_gpu(const GpuFrame& of, const Frame& frame, const uint64_t* words, int target);
[[nodiscard]] const char* forward_to_gpu(const GpuFrame& of, const Frame& frame);

}  // namespace marline::target
