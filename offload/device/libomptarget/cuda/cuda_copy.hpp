// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills by address on NVIDIA's GPUs, for routines of the program and for data constructs. The driver makes
// the copies, in streams of our own in the contexts that libomptarget has made. The task is suspended until the copies
// have ended. Host memory that is not pinned goes through pinned blocks in parts (staging_pool.hpp), because the driver
// would block the thread. Any thread may call these functions.
//
// Why not through libomptarget: its routines block, and its constructs find the device address by the host address. A
// map entry of libomptarget for a range of the program would change what the program's own constructs find there.
#pragma once

#include "base/list.hpp"
#include "device/contract/delegate.hpp"

namespace marline::offload::device {

enum class Copied {
  kYes,
  kFailed,  // some bytes may have been copied
  kNoWay,   // nothing was copied: a device's end is not memory of an NVIDIA GPU
};

struct CudaStream;

// A copy in any number of runs of bytes. The caller adds the runs, then finishes.
class CudaCopy {
 public:
  // `bytes`: the sum of all runs. At least one end is a device of libomptarget.
  CudaCopy(const CopyEnd& to, const CopyEnd& from, size_t bytes);
  CudaCopy(const CudaCopy&) = delete;
  CudaCopy& operator=(const CudaCopy&) = delete;

  [[nodiscard]] bool has_way() const { return context_ != nullptr; }

  // Adds a run, with its offsets from the two addresses. May suspend.
  void add(size_t to_offset, size_t from_offset, size_t bytes);

  // Completes the copy before it returns. May suspend.
  [[nodiscard]] Copied finish();

 private:
  struct Back {  // a part of a block that must be copied to the host
    char* to;
    size_t at;
    size_t bytes;
  };
  // A stream, and a block whose bytes are copied in it. While the bytes of one lane are being copied, the next lane is
  // prepared.
  struct Lane {
    CudaStream* stream = nullptr;
    char* block = nullptr;
    size_t used = 0;
    List<Back, 8> back;
  };
  static constexpr int kLanes = 2;

  void choose_blocks(size_t bytes);
  void open_lane();
  void start(char* to, const char* from, size_t bytes);
  void add_staged(size_t to_offset, size_t from_offset, size_t bytes);
  void drain(Lane& lane);

  CopyEnd to_, from_;
  void* context_ = nullptr;  // of the device; for a copy between two devices, of the source
  void* to_context_ = nullptr;
  Device* device_ = nullptr;
  const char* what_;
  size_t bytes_;            // how many bytes all runs of the copy have
  size_t block_bytes_ = 0;  // 0: the copy is not staged, or not any more
  size_t lane_bytes_ = 0;   // the size of each block
  size_t reserved_ = 0;
  bool pageable_ = false;
  bool failed_ = false;
  Lane lanes_[kLanes];
  int lane_ = 0;
};

// is_cuda_memory: whether this memory can be copied by the driver. are_cuda_copies_open: whether the driver can copy at
// all; for memory that does not exist yet.
[[nodiscard]] bool is_cuda_memory(const void* address);
[[nodiscard]] bool are_cuda_copies_open();

// Blocks the thread, which may hold locks.
[[nodiscard]] Copied cuda_read_now(void* to, const char* from, size_t bytes);
[[nodiscard]] Copied cuda_write_now(char* to, const void* from, size_t bytes);

[[nodiscard]] Copied cuda_fill(Device* device, char* address, int value, size_t bytes);

// Suspends until all that the program has put into a stream of its own has ended. Does nothing without a driver.
void cuda_await_stream(void* stream, void* context, Device* device, const char* what);

// Called once, when the devices are counted.
void open_cuda_copies();

// Calls the progress hook for a thread that cannot suspend. Returns how many copies have ended.
int poll_cuda_copies();

// Called in the child of a fork, which has no GPU.
void forget_cuda_copies();

}  // namespace marline::offload::device
