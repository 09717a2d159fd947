// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills by address on NVIDIA's GPUs, for routines of the program and for data constructs: by the driver
// itself, in streams of our own in the contexts that libomptarget has made. The task is suspended until they have
// ended. Memory of the host that is not pinned goes through pinned blocks in pieces (staging_pool.hpp), as the driver
// would hold the thread. Any thread.
//
// Why not through libomptarget: its routines wait, and its constructs find the device's address by the host's. Such an
// entry for a range of the program's would change what the program's own constructs find there.
#pragma once

#include "base/array.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

// One side of a copy.
struct CopyEnd {
  Device* device;  // null: the host
  char* address;
};

enum class Copied {
  kYes,
  kFailed,  // some bytes may have been copied
  kNoWay,   // nothing done: not all of it is memory of a GPU of NVIDIA's
};

struct CudaStream;

// A copy in any number of runs of bytes. The caller adds the runs, then finishes.
class CudaCopy {
 public:
  // `bytes`: the sum of the runs. At least one end is a device of libomptarget's.
  CudaCopy(const CopyEnd& to, const CopyEnd& from, size_t bytes);
  CudaCopy(const CudaCopy&) = delete;
  CudaCopy& operator=(const CudaCopy&) = delete;

  [[nodiscard]] bool has_way() const { return context_ != nullptr; }

  // With offsets from the two addresses. May suspend.
  void add(size_t to_offset, size_t from_offset, size_t bytes);

  // Done at the return. May suspend.
  [[nodiscard]] Copied finish();

 private:
  struct Back {  // from a block to the host
    char* to;
    size_t at;
    size_t bytes;
  };
  // A stream, and the block whose bytes are on their way in it. While one lane's are, the next one's are prepared.
  struct Lane {
    CudaStream* stream = nullptr;
    char* block = nullptr;
    size_t used = 0;
    Array<Back> back;
  };
  static constexpr int kLanes = 2;

  void choose_blocks(size_t bytes);
  void open_lane();
  void start(char* to, const char* from, size_t bytes);
  void add_staged(size_t to_offset, size_t from_offset, size_t bytes);
  void drain(Lane& lane);

  CopyEnd to_, from_;
  void* context_ = nullptr;  // of the device; the source's of a copy between two
  void* to_context_ = nullptr;
  Device* device_ = nullptr;
  const char* what_;
  size_t bytes_;            // of all runs
  size_t block_bytes_ = 0;  // 0: not staged, or no more
  size_t lane_bytes_ = 0;   // of each block
  size_t reserved_ = 0;
  bool pageable_ = false;
  bool failed_ = false;
  Lane lanes_[kLanes];
  int lane_ = 0;
};

// Whether copies of such memory have this way; of memory that is not there yet: whether they may have it.
[[nodiscard]] bool is_cuda_memory(const void* address);
[[nodiscard]] bool are_cuda_copies_open();

// Holds the thread, which may have locks.
[[nodiscard]] Copied cuda_read_now(void* to, const char* from, size_t bytes);

[[nodiscard]] Copied cuda_fill(Device* device, char* address, int value, size_t bytes);

// Once, when the devices are counted.
void open_cuda_copies();

// The progress hook, for a thread that cannot suspend: how many have ended.
int poll_cuda_copies();

// In a fork's child, which has no GPU.
void forget_cuda_copies();

}  // namespace marline::offload::device
