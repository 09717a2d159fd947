// SPDX-License-Identifier: Apache-2.0
//
// kmp_* routines of LLVM's omp.h: memory, affinity masks, settings. Some have a second name with `kmpc_`. Names with
// `_` are for Fortran code that does not use LLVM's module: arguments are passed by reference, text is followed by its
// length; names with `_8` have 8-byte integers, by value for flang of LLVM 24, by reference with a further `_`.
// Settings that are only hints on how libomp works (buffers, the library's mode except serial) are remembered and have
// no effect. Any thread.
#include "abi/omp/current.hpp"
#include "base/check.hpp"
#include "config/options.hpp"
#include "construct/environment/defaults.hpp"
#include "construct/sync/cancel.hpp"
#include "exec/worker/worker.hpp"
#include "platform/thread.hpp"

#include <bit>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::omp {

namespace {

constexpr int kSerial = 1, kThroughput = 3;  // between them, turnaround: the kinds of kmp_set_library
Atomic<int> g_library{0};                    // the mode that any thread has set last; 0: none has

// kmp_affinity_mask_t is a pointer to the runtime's own kind of mask.
using MaskHandle = CpuMask*;

int library() {
  int set = g_library.load(relaxed);
  if (set == 0) set = options().library;
  return set != 0 ? set : kThroughput;
}

bool valid(int processor) { return processor >= 0 && processor < CpuMask::kCpus; }

int as_int(size_t value) { return value < INT_MAX ? static_cast<int>(value) : INT_MAX; }

// Serial is the one mode with a meaning that can be seen: regions have one thread until another mode is set.
void set_library(int kind) {
  if (kind < kSerial || kind > kThroughput) {
    warn("kmp_set_library(%d): expected 1 (serial), 2 (turnaround) or 3 (throughput); ignored", kind);
    return;
  }
  int before = library();
  g_library.store(kind, relaxed);
  if (kind == kSerial) own_current_icvs().num_threads = 1;
  if (kind != kSerial && before == kSerial) own_current_icvs().num_threads = options().num_threads[0];
}

void* allocate_aligned(size_t bytes, size_t alignment) {
  if (!std::has_single_bit(alignment)) return nullptr;
  void* memory = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);  // the least that posix_memalign takes
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* kmp_malloc(size_t bytes) { return std::malloc(bytes); }
void* kmp_malloc_(const size_t* bytes) { return std::malloc(*bytes); }
[[gnu::alias("kmp_malloc")]] void* kmpc_malloc(size_t bytes);
void* kmp_calloc(size_t count, size_t bytes) { return std::calloc(count, bytes); }
void* kmp_calloc_(const size_t* count, const size_t* bytes) { return std::calloc(*count, *bytes); }
[[gnu::alias("kmp_calloc")]] void* kmpc_calloc(size_t count, size_t bytes);
void* kmp_realloc(void* memory, size_t bytes) { return std::realloc(memory, bytes); }
void* kmp_realloc_(void* const* memory, const size_t* bytes) { return std::realloc(*memory, *bytes); }
[[gnu::alias("kmp_realloc")]] void* kmpc_realloc(void* memory, size_t bytes);
void* kmp_aligned_malloc(size_t bytes, size_t alignment) { return allocate_aligned(bytes, alignment); }
void* kmp_aligned_malloc_(const size_t* bytes, const size_t* alignment) { return allocate_aligned(*bytes, *alignment); }
[[gnu::alias("kmp_aligned_malloc")]] void* kmpc_aligned_malloc(size_t bytes, size_t alignment);
void kmp_free(void* memory) { std::free(memory); }
void kmp_free_(void* const* memory) { std::free(*memory); }
[[gnu::alias("kmp_free")]] void kmpc_free(void* memory);

int kmp_get_blocktime() { return blocktime(); }
[[gnu::alias("kmp_get_blocktime")]] int kmp_get_blocktime_();
void kmp_set_blocktime(int milliseconds) { set_blocktime(milliseconds); }
void kmp_set_blocktime_(const int32_t* milliseconds) { set_blocktime(*milliseconds); }
void kmp_set_blocktime_8(int64_t milliseconds) { set_blocktime(nearest_int(milliseconds)); }
void kmp_set_blocktime_8_(const int64_t* milliseconds) { set_blocktime(nearest_int(*milliseconds)); }
[[gnu::alias("kmp_set_blocktime")]] void kmpc_set_blocktime(int milliseconds);

int kmp_get_stacksize() { return as_int(options().stacksize); }
[[gnu::alias("kmp_get_stacksize")]] int kmp_get_stacksize_();
size_t kmp_get_stacksize_s() { return options().stacksize; }
[[gnu::alias("kmp_get_stacksize_s")]] size_t kmp_get_stacksize_s_();
void kmp_set_stacksize(int bytes) { set_stack_size(static_cast<size_t>(bytes)); }
void kmp_set_stacksize_(const int32_t* bytes) { set_stack_size(static_cast<size_t>(*bytes)); }
void kmp_set_stacksize_8(int64_t bytes) { set_stack_size(bytes > 0 ? static_cast<size_t>(bytes) : 0); }
void kmp_set_stacksize_8_(const int64_t* bytes) { kmp_set_stacksize_8(*bytes); }
[[gnu::alias("kmp_set_stacksize")]] void kmpc_set_stacksize(int bytes);
void kmp_set_stacksize_s(size_t bytes) { set_stack_size(bytes); }
void kmp_set_stacksize_s_(const size_t* bytes) { set_stack_size(*bytes); }
[[gnu::alias("kmp_set_stacksize_s")]] void kmpc_set_stacksize_s(size_t bytes);

int kmp_get_library() { return library(); }
[[gnu::alias("kmp_get_library")]] int kmp_get_library_();
void kmp_set_library(int kind) { set_library(kind); }
void kmp_set_library_(const int32_t* kind) { set_library(*kind); }
void kmp_set_library_8(int64_t kind) { set_library(nearest_int(kind)); }
void kmp_set_library_8_(const int64_t* kind) { set_library(nearest_int(*kind)); }
[[gnu::alias("kmp_set_library")]] void kmpc_set_library(int kind);
void kmp_set_library_serial() { set_library(kSerial); }
[[gnu::alias("kmp_set_library_serial")]] void kmp_set_library_serial_();
void kmp_set_library_turnaround() { set_library(kSerial + 1); }
[[gnu::alias("kmp_set_library_turnaround")]] void kmp_set_library_turnaround_();
void kmp_set_library_throughput() { set_library(kThroughput); }
[[gnu::alias("kmp_set_library_throughput")]] void kmp_set_library_throughput_();

void kmp_set_disp_num_buffers(int) {}
void kmp_set_disp_num_buffers_(const int32_t*) {}
void kmp_set_disp_num_buffers_8(int64_t) {}
void kmp_set_disp_num_buffers_8_(const int64_t*) {}
[[gnu::alias("kmp_set_disp_num_buffers")]] void kmpc_set_disp_num_buffers(int count);

void kmp_set_warnings_on() { set_warnings(true); }
[[gnu::alias("kmp_set_warnings_on")]] void kmp_set_warnings_on_();
void kmp_set_warnings_off() { set_warnings(false); }
[[gnu::alias("kmp_set_warnings_off")]] void kmp_set_warnings_off_();

void kmp_set_defaults(const char* settings) { set_defaults(settings, std::strlen(settings)); }
void kmp_set_defaults_(const char* settings, int length) {
  set_defaults(settings, length > 0 ? static_cast<size_t>(length) : 0);
}
[[gnu::alias("kmp_set_defaults")]] void kmpc_set_defaults(const char* settings);

int kmp_get_num_known_threads() { return worker_count(); }
[[gnu::alias("kmp_get_num_known_threads")]] int kmp_get_num_known_threads_();
// kmp_cancel_kind_t, from 1 on.
int kmp_get_cancellation_status(int kind) {
  if (!options().cancellation || kind < 1 || kind > 4) return 0;
  return is_cancellation_active(this_worker(), static_cast<CancelKind>(kind - 1)) ? 1 : 0;
}
int kmp_get_cancellation_status_(const int32_t* kind) { return kmp_get_cancellation_status(*kind); }

void kmp_create_affinity_mask(MaskHandle* mask) {
  void* memory = std::malloc(sizeof(CpuMask));
  if (memory == nullptr) fatal("out of memory for an affinity mask");
  *mask = new (memory) CpuMask;
}
[[gnu::alias("kmp_create_affinity_mask")]] void kmp_create_affinity_mask_(MaskHandle* mask);

void kmp_destroy_affinity_mask(MaskHandle* mask) {
  std::free(*mask);
  *mask = nullptr;
}
[[gnu::alias("kmp_destroy_affinity_mask")]] void kmp_destroy_affinity_mask_(MaskHandle* mask);

int kmp_get_affinity_max_proc() { return CpuMask::kCpus; }
[[gnu::alias("kmp_get_affinity_max_proc")]] int kmp_get_affinity_max_proc_();

// These return 0 for success.
int kmp_set_affinity(MaskHandle* mask) {
  this_worker()->binding.place = kElsewhere;
  return thread_bind_self(**mask) ? 0 : -1;
}
[[gnu::alias("kmp_set_affinity")]] int kmp_set_affinity_(MaskHandle* mask);
int kmp_get_affinity(MaskHandle* mask) {
  **mask = thread_affinity();
  return 0;
}
[[gnu::alias("kmp_get_affinity")]] int kmp_get_affinity_(MaskHandle* mask);

int kmp_set_affinity_mask_proc(int processor, MaskHandle* mask) {
  if (!valid(processor)) return -1;
  (*mask)->set(processor);
  return 0;
}
int kmp_set_affinity_mask_proc_(const int32_t* processor, MaskHandle* mask) {
  return kmp_set_affinity_mask_proc(*processor, mask);
}
int kmp_set_affinity_mask_proc_8(int64_t processor, MaskHandle* mask) {
  return kmp_set_affinity_mask_proc(nearest_int(processor), mask);
}
int kmp_set_affinity_mask_proc_8_(const int64_t* processor, MaskHandle* mask) {
  return kmp_set_affinity_mask_proc(nearest_int(*processor), mask);
}
[[gnu::alias("kmp_set_affinity_mask_proc")]] int kmpc_set_affinity_mask_proc(int processor, MaskHandle* mask);
int kmp_unset_affinity_mask_proc(int processor, MaskHandle* mask) {
  if (!valid(processor)) return -1;
  (*mask)->clear(processor);
  return 0;
}
int kmp_unset_affinity_mask_proc_(const int32_t* processor, MaskHandle* mask) {
  return kmp_unset_affinity_mask_proc(*processor, mask);
}
int kmp_unset_affinity_mask_proc_8(int64_t processor, MaskHandle* mask) {
  return kmp_unset_affinity_mask_proc(nearest_int(processor), mask);
}
int kmp_unset_affinity_mask_proc_8_(const int64_t* processor, MaskHandle* mask) {
  return kmp_unset_affinity_mask_proc(nearest_int(*processor), mask);
}
[[gnu::alias("kmp_unset_affinity_mask_proc")]] int kmpc_unset_affinity_mask_proc(int processor, MaskHandle* mask);
int kmp_get_affinity_mask_proc(int processor, MaskHandle* mask) {
  return valid(processor) ? static_cast<int>((*mask)->test(processor)) : -1;
}
int kmp_get_affinity_mask_proc_(const int32_t* processor, MaskHandle* mask) {
  return kmp_get_affinity_mask_proc(*processor, mask);
}
int kmp_get_affinity_mask_proc_8(int64_t processor, MaskHandle* mask) {
  return kmp_get_affinity_mask_proc(nearest_int(processor), mask);
}
int kmp_get_affinity_mask_proc_8_(const int64_t* processor, MaskHandle* mask) {
  return kmp_get_affinity_mask_proc(nearest_int(*processor), mask);
}
[[gnu::alias("kmp_get_affinity_mask_proc")]] int kmpc_get_affinity_mask_proc(int processor, MaskHandle* mask);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
