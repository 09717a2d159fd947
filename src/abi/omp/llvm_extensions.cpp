// SPDX-License-Identifier: Apache-2.0
//
// kmp_* routines of LLVM's omp.h: memory, affinity masks, and settings that Marline takes from the environment
// instead. A setter of those changes nothing, because what it asks for is a hint (blocktime, library mode, buffers,
// warnings); one that would change behaviour (stack size, defaults) says so. Any thread.
#include "abi/omp/current.hpp"
#include "base/check.hpp"
#include "config/options.hpp"
#include "exec/worker.hpp"
#include "platform/thread.hpp"

#include <climits>
#include <cstdlib>
#include <new>

namespace marline::omp {

namespace {

Atomic<int> g_blocktime{200};  // milliseconds; what kmp_set_blocktime was told, LLVM's default before

// kmp_affinity_mask_t is a pointer to the runtime's own kind of mask.
using MaskHandle = CpuMask*;

bool valid(int processor) { return processor >= 0 && processor < CpuMask::kCpus; }

int as_int(size_t value) { return value < INT_MAX ? static_cast<int>(value) : INT_MAX; }

void refuse_stack_size() {
  warn("kmp_set_stacksize has no effect: set OMP_STACKSIZE before the program starts");
}

void* allocate_aligned(size_t bytes, size_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* kmp_malloc(size_t bytes) { return std::malloc(bytes); }
void* kmp_calloc(size_t count, size_t bytes) { return std::calloc(count, bytes); }
void* kmp_realloc(void* memory, size_t bytes) { return std::realloc(memory, bytes); }
void* kmp_aligned_malloc(size_t bytes, size_t alignment) { return allocate_aligned(bytes, alignment); }
void kmp_free(void* memory) { std::free(memory); }

int kmp_get_blocktime() { return g_blocktime.load(relaxed); }
void kmp_set_blocktime(int milliseconds) { g_blocktime.store(milliseconds, relaxed); }

int kmp_get_stacksize() { return as_int(options().stacksize); }
size_t kmp_get_stacksize_s() { return options().stacksize; }
void kmp_set_stacksize(int) { refuse_stack_size(); }
void kmp_set_stacksize_s(size_t) { refuse_stack_size(); }

int kmp_get_library() { return 2; }  // library_throughput
void kmp_set_library(int) {}
void kmp_set_library_serial() {}
void kmp_set_library_turnaround() {}
void kmp_set_library_throughput() {}
void kmp_set_disp_num_buffers(int) {}
void kmp_set_warnings_on() {}
void kmp_set_warnings_off() {}
void kmp_set_defaults(const char* settings) {
  warn("kmp_set_defaults(\"%s\") has no effect: set the variable before the program starts", settings);
}

int kmp_get_num_known_threads() { return worker_count(); }
int kmp_get_cancellation_status(int) { return 0; }  // nothing can be cancelled

void kmp_create_affinity_mask(MaskHandle* mask) {
  void* memory = std::malloc(sizeof(CpuMask));
  if (memory == nullptr) fatal("out of memory for an affinity mask");
  *mask = new (memory) CpuMask;
}

void kmp_destroy_affinity_mask(MaskHandle* mask) {
  std::free(*mask);
  *mask = nullptr;
}

int kmp_get_affinity_max_proc() { return CpuMask::kCpus; }

// These return 0 for success.
int kmp_set_affinity(MaskHandle* mask) {
  this_worker()->place = -1;  // wherever it was
  return thread_bind_self(**mask) ? 0 : -1;
}
int kmp_get_affinity(MaskHandle* mask) {
  **mask = thread_affinity();
  return 0;
}
int kmp_set_affinity_mask_proc(int processor, MaskHandle* mask) {
  if (!valid(processor)) return -1;
  (*mask)->set(processor);
  return 0;
}
int kmp_unset_affinity_mask_proc(int processor, MaskHandle* mask) {
  if (!valid(processor)) return -1;
  (*mask)->clear(processor);
  return 0;
}
int kmp_get_affinity_mask_proc(int processor, MaskHandle* mask) {
  return valid(processor) ? static_cast<int>((*mask)->test(processor)) : -1;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
