// SPDX-License-Identifier: Apache-2.0
//
// The memory of NVIDIA's GPUs in calls of other libraries: what libmarline-mpi asks for, so that a GPU-aware MPI works
// in whatever thread a task, or the poller, calls it.
#pragma once

namespace marline::offload::device {

// The first device starts, which is the driver's GPU of that number: provides marline_device_memory_t to libmarline.
// Its context becomes current in threads that have none. Later calls do nothing. The caller holds the registry's lock.
void provide_cuda_memory(int gpu);

}  // namespace marline::offload::device
