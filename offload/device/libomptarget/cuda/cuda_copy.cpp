// SPDX-License-Identifier: Apache-2.0
//
// Starts copies in the driver's streams and polls for their ends. Functions and constants: NVIDIA, CUDA Driver API. A
// stream belongs to one copy at a time and is kept for later copies. A context that this file makes current is so only
// while it calls the driver: a suspended task may continue in another thread, and libomptarget makes its own context
// current at each call.
#include "device/libomptarget/cuda/cuda_copy.hpp"

#include "base/forks.hpp"
#include "base/intrusive_list.hpp"
#include "base/report.hpp"
#include "base/streamed.hpp"
#include "device/contract/wait.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"
#include "device/libomptarget/staging/pinned.hpp"
#include "device/libomptarget/staging/staging_pool.hpp"
#include "image/images.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::device {

// A stream that is free or belongs to one copy. `next` is under g_lock.
struct CudaStream {
  void* handle;
  void* context;
  int result = 0;  // set when nothing waits for the stream any more
  marline_event_t event;
  CudaStream* next = nullptr;
};

namespace {

constexpr size_t kMostPiece = 4 << 20, kLeastPiece = 4 << 10;
// Copies to the device up to this size are staged by the driver; as in staged_construct.cpp.
constexpr size_t kDriverStages = 64 << 10;
constexpr int kMostPerPoll = 64;
constexpr int kNotReady = 600;
constexpr unsigned kNonBlocking = 1;  // a stream that does not wait for the default one

struct Routines {
  int (*create)(void**, unsigned);
  int (*query)(void*);
  int (*synchronize)(void*);
  int (*to_device)(uint64_t, const void*, size_t, void*);
  int (*to_host)(void*, uint64_t, size_t, void*);
  int (*inside)(uint64_t, uint64_t, size_t, void*);
  int (*peer)(uint64_t, void*, uint64_t, void*, size_t, void*);
  int (*open_peer)(void*, unsigned);
  int (*fill)(uint64_t, unsigned char, size_t, void*);
};

// Constant once the devices are counted.
Routines g_cuda = {};
marline_hook_t* g_hook = nullptr;  // null: there is no driver, or it lacks a function

Lock g_lock;  // protects the two lists
const HeldAcrossForks g_held(g_lock, ForkOrder::kCopies);
IntrusiveList<CudaStream> g_idle;    // at most the largest number of copies in flight
IntrusiveList<CudaStream> g_active;  // streams with a copy in flight, oldest first
int g_waited = 0;

uint64_t word(const char* address) { return reinterpret_cast<uint64_t>(address); }

// Null: it is not memory of an NVIDIA GPU.
void* context_of(const char* address) { return g_hook != nullptr ? cuda_context_of(word(address)) : nullptr; }

CudaStream* take_idle(void* context) {
  Guard guard(g_lock);
  for (CudaStream* stream : g_idle) {
    if (stream->context != context) continue;
    g_idle.remove(stream);
    return stream;
  }
  return nullptr;
}

// Null: the driver cannot create one.
CudaStream* take_stream(void* context) {
  if (CudaStream* stream = take_idle(context)) return stream;
  void* handle = nullptr;
  {
    CudaContext current(context);
    if (current.failed() || g_cuda.create(&handle, kNonBlocking) != 0) return nullptr;
  }
  void* memory = std::malloc(sizeof(CudaStream));
  if (memory == nullptr) fatal("no memory for a copy to or from a device");
  return new (memory) CudaStream{handle, context, 0, MARLINE_EVENT_INIT, nullptr};
}

void give_stream(CudaStream* stream) {
  Guard guard(g_lock);
  g_idle.push_first(stream);
}

void append(CudaStream* stream) {
  Guard guard(g_lock);
  g_active.push(stream);
  ++g_waited;
}

CudaStream* take_oldest() {
  Guard guard(g_lock);
  CudaStream* stream = g_active.pop();
  if (stream != nullptr) --g_waited;
  return stream;
}

int query(CudaStream* stream) {
  CudaContext current(stream->context);
  return g_cuda.query(stream->handle);
}

int poll(void*) {
  int ended = 0;
  int left;
  {
    Guard guard(g_lock);
    left = std::min(g_waited, kMostPerPoll);
  }
  for (; left > 0; --left) {
    CudaStream* stream = take_oldest();
    if (stream == nullptr) break;
    int result = query(stream);
    if (result == kNotReady) {
      append(stream);
      continue;
    }
    ++ended;
    stream->result = result;
    marline_event_fulfill(&stream->event);
  }
  if (ended != 0) marline_progress_add(g_hook, -ended);
  return ended;
}

// Opens the access from one device to the other, as libomptarget does at their first copy. Then copies need not go
// through the host, and kernels of the source device may use the memory of the other one. If the devices cannot do
// that, the copy goes through the host.
void open_peer(const Device* from, void* from_context, const Device* to, void* to_context) {
  static std::atomic<bool> opened[kMostDevices][kMostDevices];
  if (opened[from->number][to->number].exchange(true, std::memory_order_relaxed)) return;
  CudaContext current(from_context);
  (void)g_cuda.open_peer(to_context, 0);
}

// Suspends until all copies that were started in the stream have ended. False: one has failed.
bool await(CudaStream* stream, Device* device, const char* what, size_t bytes) {
  int result = query(stream);
  if (result != kNotReady) return result == 0;
  marline_event_init(&stream->event);
  marline_progress_add(g_hook, 1);
  append(stream);
  wait_or_progress(&stream->event, device, what, bytes);
  return stream->result == 0;
}

}  // namespace

bool is_cuda_memory(const void* address) { return context_of(static_cast<const char*>(address)) != nullptr; }

bool are_cuda_copies_open() { return g_hook != nullptr; }

// An operation of the program's that has failed is the program's to see: the driver reports it at the next call.
void cuda_await_stream(void* stream, void* context, Device* device, const char* what) {
  if (g_hook == nullptr) return;
  CudaStream waited{stream, context, 0, MARLINE_EVENT_INIT, nullptr};
  (void)await(&waited, device, what, 0);
}

int poll_cuda_copies() { return g_hook != nullptr ? poll(nullptr) : 0; }

void open_cuda_copies() {
  Routines& to = g_cuda;
  bool whole = cuda_gpu_count() > 0 && has_cuda_contexts() && find_cuda("cuStreamCreate", to.create) &&
               find_cuda("cuStreamQuery", to.query) && find_cuda("cuStreamSynchronize", to.synchronize) &&
               find_cuda("cuMemcpyHtoDAsync_v2", to.to_device) && find_cuda("cuMemcpyDtoHAsync_v2", to.to_host) &&
               find_cuda("cuMemcpyDtoDAsync_v2", to.inside) && find_cuda("cuMemcpyPeerAsync", to.peer) &&
               find_cuda("cuCtxEnablePeerAccess", to.open_peer) && find_cuda("cuMemsetD8Async", to.fill);
  if (!whole) return;
  g_hook = marline_progress_register("copies of GPUs", poll, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
}

void forget_cuda_copies() {
  g_active = {};
  if (g_hook != nullptr && g_waited != 0) marline_progress_add(g_hook, -g_waited);
  g_waited = 0;
  g_hook = nullptr;
}

CudaCopy::CudaCopy(const CopyEnd& to, const CopyEnd& from, size_t bytes) : to_(to), from_(from), bytes_(bytes) {
  bool between = to.device != nullptr && from.device != nullptr;
  void* to_context = to.device != nullptr ? context_of(to.address) : nullptr;
  void* from_context = from.device != nullptr ? context_of(from.address) : nullptr;
  what_ = between ? "copy between devices" : to.device != nullptr ? "copy to" : "copy from";
  device_ = from.device != nullptr ? from.device : to.device;
  to_context_ = to_context;
  if (between) {
    context_ = to_context != nullptr ? from_context : nullptr;
    if (has_way() && context_ != to_context_) open_peer(from.device, context_, to.device, to_context_);
  } else {
    context_ = to_context != nullptr ? to_context : from_context;
    pageable_ = !is_pinned(to.device == nullptr ? to.address : from.address, bytes);
    if (has_way() && pageable_) choose_blocks(bytes);
  }
}

// A caller that cannot be suspended lets the driver copy. The driver itself stages a small copy to the device.
void CudaCopy::choose_blocks(size_t bytes) {
  if (!marline_target_can_suspend() || (to_.device != nullptr && bytes <= kDriverStages)) return;
  size_t piece = bytes <= kMostPiece ? bytes : kMostPiece;
  int count = bytes <= kMostPiece ? 1 : kLanes;
  for (; piece >= kLeastPiece; piece /= 2, count = kLanes) {
    if (static_cast<size_t>(count) * StagingPool::size_of(piece) <= StagingPool::limit()) break;
  }
  if (static_cast<size_t>(count) * StagingPool::size_of(piece) > StagingPool::limit()) return;
  block_bytes_ = lane_bytes_ = piece;
  reserved_ = static_cast<size_t>(count) * StagingPool::size_of(piece);
  staging_pool(device_).reserve(device_, reserved_);
}

// If there is no stream, the copy fails. If there is no block, the copy continues without blocks.
void CudaCopy::open_lane() {
  Lane& lane = lanes_[lane_];
  if (lane.stream == nullptr) lane.stream = take_stream(context_);
  if (lane.stream == nullptr) failed_ = true;
  if (block_bytes_ == 0 || lane.block != nullptr) return;
  lane.block = staging_pool(device_).take(device_, block_bytes_);
  if (lane.block == nullptr) block_bytes_ = 0;
}

void CudaCopy::start(char* to, const char* from, size_t bytes) {
  if (failed_) return;
  void* stream = lanes_[lane_].stream->handle;
  CudaContext current(context_);
  int result;
  if (to_.device == nullptr) {
    result = g_cuda.to_host(to, word(from), bytes, stream);
  } else if (from_.device == nullptr) {
    result = g_cuda.to_device(word(to), from, bytes, stream);
  } else if (context_ == to_context_) {
    result = g_cuda.inside(word(to), word(from), bytes, stream);
  } else {
    result = g_cuda.peer(word(to), to_context_, word(from), context_, bytes, stream);
  }
  failed_ = current.failed() || result != 0;
}

void CudaCopy::add(size_t to_offset, size_t from_offset, size_t bytes) {
  if (failed_) return;
  open_lane();
  if (block_bytes_ != 0) return add_staged(to_offset, from_offset, bytes);
  if (!pageable_) return start(to_.address + to_offset, from_.address + from_offset, bytes);
  Blocked blocked(device_, what_, bytes);
  start(to_.address + to_offset, from_.address + from_offset, bytes);
}

void CudaCopy::add_staged(size_t to_offset, size_t from_offset, size_t bytes) {
  for (size_t done = 0; done < bytes && !failed_;) {
    if (lanes_[lane_].used == block_bytes_) {
      lane_ = (lane_ + 1) % kLanes;
      drain(lanes_[lane_]);
      open_lane();
      if (block_bytes_ == 0) return add(to_offset + done, from_offset + done, bytes - done);
    }
    Lane& lane = lanes_[lane_];
    size_t piece = std::min(bytes - done, block_bytes_ - lane.used);
    char* block = lane.block + lane.used;
    char* to = to_.address + to_offset + done;
    const char* from = from_.address + from_offset + done;
    if (to_.device != nullptr) {
      std::memcpy(block, from, piece);
      start(to, block, piece);
    } else {
      start(block, from, piece);
      lane.back.push({to, lane.used, piece});
    }
    lane.used += piece;
    done += piece;
  }
}

void CudaCopy::drain(Lane& lane) {
  if (lane.stream == nullptr) return;
  if (!await(lane.stream, device_, what_, lane.used)) failed_ = true;
  for (const Back& back : lane.back) {
    if (!failed_) copy_streamed(back.to, lane.block + back.at, back.bytes, bytes_);
  }
  lane.back.shrink(0);
  lane.used = 0;
}

Copied CudaCopy::finish() {
  if (!has_way()) return Copied::kNoWay;
  for (int i = 1; i <= kLanes; ++i) drain(lanes_[(lane_ + i) % kLanes]);
  for (Lane& lane : lanes_) {
    if (lane.stream != nullptr) give_stream(lane.stream);
    if (lane.block != nullptr) staging_pool(device_).give(lane.block, lane_bytes_);
  }
  if (reserved_ != 0) staging_pool(device_).unreserve(reserved_);
  return failed_ ? Copied::kFailed : Copied::kYes;
}

namespace {

// Copies by start(stream), of memory at the address on the device, and waits for the end.
template <class Start>
Copied copy_now(const char* on_device, Start start) {
  void* context = context_of(on_device);
  if (context == nullptr) return Copied::kNoWay;
  CudaStream* stream = take_stream(context);
  if (stream == nullptr) return Copied::kFailed;
  CudaContext current(context);
  bool failed = current.failed() || start(stream->handle) != 0;
  failed = g_cuda.synchronize(stream->handle) != 0 || failed;
  give_stream(stream);
  return failed ? Copied::kFailed : Copied::kYes;
}

}  // namespace

Copied cuda_read_now(void* to, const char* from, size_t bytes) {
  return copy_now(from, [&](void* stream) { return g_cuda.to_host(to, word(from), bytes, stream); });
}

Copied cuda_write_now(char* to, const void* from, size_t bytes) {
  return copy_now(to, [&](void* stream) { return g_cuda.to_device(word(to), from, bytes, stream); });
}

Copied cuda_fill(Device* device, char* address, int value, size_t bytes) {
  void* context = context_of(address);
  if (context == nullptr) return Copied::kNoWay;
  CudaStream* stream = take_stream(context);
  if (stream == nullptr) return Copied::kFailed;
  bool failed;
  {
    CudaContext current(context);
    failed =
        current.failed() || g_cuda.fill(word(address), static_cast<unsigned char>(value), bytes, stream->handle) != 0;
  }
  failed = !await(stream, device, "fill of", bytes) || failed;
  give_stream(stream);
  return failed ? Copied::kFailed : Copied::kYes;
}

}  // namespace marline::offload::device
