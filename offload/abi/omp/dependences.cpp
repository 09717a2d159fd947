// SPDX-License-Identifier: Apache-2.0
//
// Calls the runtime to wait for dependences and to create tasks that have them.
#include "abi/omp/dependences.hpp"

#include "base/list.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
int __kmpc_global_thread_num(void* ident);
void* __kmpc_omp_target_task_alloc(void* ident, int thread, int32_t flags, size_t bytes, size_t shareds_bytes,
                                   int32_t (*routine)(int32_t, void*), int64_t device);
int32_t __kmpc_omp_task_with_deps(void* ident, int32_t thread, void* block, int32_t count, void* list, int32_t, void*);
void __kmpc_omp_wait_deps(void* ident, int thread, int count, void* list, int, void*);
}

namespace marline::offload::abi {

namespace {

// A dependence as Clang's code builds it. A depend object points to the first of its dependences, and the entry in
// front of this one holds the number of dependences (LLVM, kmp.h).
struct Dependence {
  uintptr_t address;
  size_t length;
  uint8_t flags;
};

constexpr int64_t kHostForTask = -1;  // the runtime ignores it

// A task's block as compilers lay it out (LLVM, kmp.h, kmp_task_t), followed by our member `body`. The data comes after
// the block.
struct Block {
  void* shareds;
  int32_t (*routine)(int32_t, void*);
  int32_t part;
  void* destructors;
  int64_t priority;
  void (*body)(void* data);
};

int32_t run_block(int32_t, void* block) {
  auto* own = static_cast<Block*>(block);
  own->body(own + 1);
  return 0;
}

}  // namespace

void wait_for_dependences(int count, void* list) {
  if (count > 0) __kmpc_omp_wait_deps(nullptr, __kmpc_global_thread_num(nullptr), count, list, 0, nullptr);
}

void create_task(void (*body)(void* data), const void* data, size_t bytes, int count, void* const* objects) {
  List<Dependence, 8> list;
  for (int i = 0; i < count; ++i) {
    auto* object = static_cast<const Dependence*>(objects[i]);
    for (uintptr_t k = 0; object != nullptr && k < object[-1].address; ++k) list.push(object[k]);
  }
  int thread = __kmpc_global_thread_num(nullptr);
  auto* block = static_cast<Block*>(
      __kmpc_omp_target_task_alloc(nullptr, thread, 0, sizeof(Block) + bytes, 0, run_block, kHostForTask));
  block->body = body;
  std::memcpy(block + 1, data, bytes);
  __kmpc_omp_task_with_deps(nullptr, thread, block, static_cast<int>(list.count()), list.begin(), 0, nullptr);
}

}  // namespace marline::offload::abi
