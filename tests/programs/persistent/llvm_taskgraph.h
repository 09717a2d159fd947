/* SPDX-License-Identifier: Apache-2.0
 *
 * What Clang's code passes to the runtime for tasks, and LLVM's taskgraph entry points as the open pull request
 * llvm-project #188765 declares them. Clang 24 of October 2026 does not know the directive, so programs call them here
 * as the tests of Clang's code generation there (clang/test/OpenMP/taskgraph_*.cpp) expect.
 */
#ifndef PROGRAMS_LLVM_TASKGRAPH_H
#define PROGRAMS_LLVM_TASKGRAPH_H

#include <stddef.h>
#include <stdint.h>

typedef struct Task Task;
typedef int (*Routine)(int, Task*);
struct Task { /* kmp_task_t; the private variables follow */
  void* shareds;
  Routine routine;
  int part;
  Routine destructors;
  union {
    int priority;
    Routine unused;
  } data;
};
enum { kTied = 1, kPriority = 0x20 };

typedef struct { /* kmp_depend_info_t */
  void* address;
  size_t bytes;
  unsigned char flags;
} Depend;
enum { kIn = 1, kInout = 3, kMutexinoutset = 4, kInoutset = 8 };

typedef struct { /* kmp_taskred_input_t */
  void *shared, *original;
  size_t bytes;
  void (*initialise)(void*, void*);
  void (*finalise)(void*);
  void (*combine)(void*, void*);
  unsigned flags;
} Reduced;

typedef void (*Duplicate)(Task* to, Task* from, int last);

int __kmpc_global_thread_num(void*);
Task* __kmpc_omp_task_alloc(void*, int, int flags, size_t task_bytes, size_t shareds_bytes, Routine);
int __kmpc_omp_task(void*, int, Task*);
int __kmpc_omp_task_with_deps(void*, int, Task*, int, Depend*, int, Depend*);
void __kmpc_omp_taskwait_deps_51(void*, int, int, Depend*, int, Depend*, int nowait);
void __kmpc_omp_task_begin_if0(void*, int, Task*);
void __kmpc_omp_task_complete_if0(void*, int, Task*);
int __kmpc_omp_taskwait(void*, int);
void __kmpc_taskgroup(void*, int);
void __kmpc_end_taskgroup(void*, int);
void* __kmpc_task_reduction_get_th_data(int, void* group, void* shared);

void __kmpc_taskgraph(void*, int, void** handle, uintptr_t id, int reset, int nogroup, void (*region)(void*), void*);
int __kmpc_taskgraph_task(void*, int, Task*, int flags, size_t task_bytes, size_t shareds_bytes, int, Depend*,
                          void (*relocate)(Task*, void*), Duplicate clone);
void __kmpc_taskgraph_taskwait(void*, int, int, Depend*, int nowait);
int __kmpc_taskgraph_taskloop(void*, int, Task*, int flags, size_t task_bytes, int if_clause, uint64_t* lower,
                              uint64_t* upper, int64_t stride, int nogroup, int clause, uint64_t value, int strict,
                              Duplicate, void (*relocate)(Task*, void*));
void* __kmpc_taskgraph_taskred_init(int, int count, Reduced*);

#endif
