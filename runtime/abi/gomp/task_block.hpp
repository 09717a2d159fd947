// SPDX-License-Identifier: Apache-2.0
//
// GCC's task: a function, and an argument block that the runtime copies. Marline's block has the function before the
// copy.
#pragma once

#include "construct/task/dependence_buffer.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/frames.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace marline::gomp {

// The flags of GOMP_task and GOMP_taskloop (GCC, include/gomp-constants.h).
inline constexpr unsigned kUntied = 1u << 0;
inline constexpr unsigned kFinal = 1u << 1;
inline constexpr unsigned kMergeable = 1u << 2;
inline constexpr unsigned kDepend = 1u << 3;
inline constexpr unsigned kPriority = 1u << 4;
inline constexpr unsigned kUp = 1u << 8;
inline constexpr unsigned kGrainsize = 1u << 9;
inline constexpr unsigned kIf = 1u << 10;
inline constexpr unsigned kNogroup = 1u << 11;
inline constexpr unsigned kReduction = 1u << 12;
inline constexpr unsigned kDetach = 1u << 13;
inline constexpr unsigned kStrict = 1u << 14;

using Function = void (*)(void*);
using CopyFunction = void (*)(void* to, void* from);

inline const void* code_of(Function function) { return reinterpret_cast<const void*>(function); }

struct TaskBlock {
  Function function;
  void* arguments;
};

inline uint32_t task_flags(unsigned flags) {
  return ((flags & kUntied) ? 0 : task_flag::kTied) | ((flags & kFinal) ? task_flag::kFinal : 0) |
         ((flags & kMergeable) ? task_flag::kMergeable : 0) | ((flags & kDetach) ? task_flag::kDetach : 0);
}

// Calls the function of the task's block.
inline void invoke(Task* task) {
  auto* block = static_cast<TaskBlock*>(task->block);
  call_of(task, block->function, block->arguments);
}

// The arguments lie `offset` bytes after the block's begin.
inline void fill_block(Task* task, Function function, size_t offset) {
  auto* block = static_cast<TaskBlock*>(task->block);
  block->function = function;
  block->arguments = static_cast<char*>(task->block) + offset;
}

// A task with room for `bytes` bytes of arguments, aligned to `align`; the caller fills them.
Task* allocate(Worker* worker, Function function, uint32_t flags, size_t bytes, size_t align, size_t dependences);

inline void* arguments_of(Task* task) { return static_cast<TaskBlock*>(task->block)->arguments; }

// The first aligned address from `space` on.
inline void* aligned_to(size_t align, void* space) {
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(space) + align - 1) & ~(uintptr_t{align} - 1));
}

// As memcpy, without a call for the sizes that arguments mostly have: one to four words.
inline void copy_bytes(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<char*>(to);
  auto* source = static_cast<const char*>(from);
  if (bytes - 8 <= 8) {  // the first and the last eight, which may overlap
    uint64_t first, last;
    std::memcpy(&first, source, 8);
    std::memcpy(&last, source + bytes - 8, 8);
    std::memcpy(target, &first, 8);
    std::memcpy(target + bytes - 8, &last, 8);
  } else if (bytes - 16 <= 16) {
    unsigned __int128 first, last;
    std::memcpy(&first, source, 16);
    std::memcpy(&last, source + bytes - 16, 16);
    std::memcpy(target, &first, 16);
    std::memcpy(target + bytes - 16, &last, 16);
  } else if (bytes != 0) {
    std::memcpy(target, source, bytes);
  }
}

// Copies the creator's block, with the compiler's function if the variables need more than their bytes.
void copy_arguments(Task* task, void* data, size_t bytes, CopyFunction copy);

// omp_depend_t as GCC lays it out. GCC also passes single locators of later kinds in this form.
struct DependObject {
  void* address;
  uintptr_t kind;
};

void decode_object(DependenceBuffer& buffer, const DependObject& object);

// Decodes a depend clause: both array forms, depobj, and the kinds of GCC 13 and later.
void decode(DependenceBuffer& buffer, void* const* depend);

}  // namespace marline::gomp
