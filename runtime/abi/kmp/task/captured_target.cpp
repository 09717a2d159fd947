// SPDX-License-Identifier: Apache-2.0
//
// The task's block: kmp_task_t, the call, the arrays of its items, then the bytes of private items.
#include "abi/kmp/task/captured_target.hpp"

#include "base/check.hpp"

#include <cstring>

extern "C" marline::kmp::TaskBlock* __kmpc_omp_target_task_alloc(marline::kmp::Ident*, int32_t, int32_t flags,
                                                                 size_t task_bytes, size_t shareds_bytes,
                                                                 marline::kmp::TaskBlock::Routine, int64_t device);

namespace marline::kmp {

namespace {

struct CapturedBlock {
  TaskBlock block;
  TargetCall call;
};

constexpr size_t kAlignment = 16;

size_t rounded(size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

// The bytes to copy for item i: of a firstprivate variable that is larger than a pointer.
size_t private_bytes(const KernelArguments& given, uint32_t i) {
  const bool is_private = (given.types[i] & (kItemPrivate | kItemLiteral)) == kItemPrivate;
  return is_private && given.begins[i] != nullptr ? static_cast<size_t>(given.sizes[i]) : 0;
}

template <class T>
T* copy_array(char*& at, const T* from, uint32_t count) {
  if (from == nullptr) return nullptr;
  auto* to = reinterpret_cast<T*>(at);
  if (count != 0) std::memcpy(to, from, count * sizeof(T));
  at += rounded(count * sizeof(T));
  return to;
}

void copy_private(char*& at, KernelArguments& to, uint32_t i) {
  const size_t bytes = private_bytes(to, i);
  if (bytes == 0) return;
  const ptrdiff_t moved = at - static_cast<char*>(to.begins[i]);
  std::memcpy(at, to.begins[i], bytes);
  to.begins[i] = at;
  to.bases[i] = static_cast<char*>(to.bases[i]) + moved;
  at += rounded(bytes);
}

// The program has left the region to the runtime because the device has run it before.
int32_t make_call(int32_t, TaskBlock* block) {
  TargetCall& call = reinterpret_cast<CapturedBlock*>(block)->call;
  KernelArguments& given = call.arguments;
  if (call.run_kernel == nullptr) {
    call.run_data(call.where, call.device, static_cast<int32_t>(given.count), given.bases, given.begins, given.sizes,
                  given.types, given.names, given.mappers);
  } else if (call.run_kernel(call.where, call.device, call.teams, call.threads, call.id, &given) != 0) {
    fatal("a target region of a taskgraph did not run on device %lld, which has run it before; leave out nowait",
          static_cast<long long>(call.device));
  }
  return 0;
}

}  // namespace

TaskBlock* capture_target(const TargetCall& call, int32_t thread) {
  const KernelArguments& given = call.arguments;
  size_t bytes = rounded(sizeof(CapturedBlock)) + 5 * rounded(given.count * sizeof(void*));
  for (uint32_t i = 0; i < given.count; ++i) bytes += rounded(private_bytes(given, i));
  TaskBlock* block = __kmpc_omp_target_task_alloc(call.where, thread, 0, bytes, 0, make_call, call.device);
  auto* captured = reinterpret_cast<CapturedBlock*>(block);
  captured->call = call;
  KernelArguments& to = captured->call.arguments;
  char* at = reinterpret_cast<char*>(block) + rounded(sizeof(CapturedBlock));
  to.bases = copy_array(at, given.bases, given.count);
  to.begins = copy_array(at, given.begins, given.count);
  to.sizes = copy_array(at, given.sizes, given.count);
  to.types = copy_array(at, given.types, given.count);
  to.mappers = copy_array(at, given.mappers, given.count);
  for (uint32_t i = 0; i < given.count; ++i) copy_private(at, to, i);
  return block;
}

}  // namespace marline::kmp
