/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime's functions by which compilers create tasks, in front of the runtime: they tell which block of memory has
 * a task's private data. The runtime uses such a block again for later tasks, which OMPT does not report.
 */
#include "../next.h"
#include "current.h"
#include "writer.h"

#include <string.h>

#define ENTRY __attribute__((visibility("default")))

static void note(const void* block, size_t size) {
  if (current_is_recording() && size > 0) PUT(kReused, (uintptr_t)block, (uintptr_t)block + size);
}

/* Clang: the first word of a task points to its shared variables. */
#define ALLOCATES(name, parameters, arguments)                       \
  ENTRY void* name parameters {                                      \
    static _Atomic(void*) found;                                     \
    void* task = ((void*(*)parameters)next(&found, #name))arguments; \
    note(task, size);                                                \
    note(*(void**)task, shared);                                     \
    return task;                                                     \
  }
ALLOCATES(__kmpc_omp_task_alloc, (void* where, int thread, int flags, size_t size, size_t shared, void* entry),
          (where, thread, flags, size, shared, entry))
ALLOCATES(__kmpc_omp_target_task_alloc,
          (void* where, int thread, int flags, size_t size, size_t shared, void* entry, int64_t device),
          (where, thread, flags, size, shared, entry, device))

/* GCC: the runtime calls `copy` with the block of the new task. */
typedef void (*Copy)(void* to, void* from);
static _Thread_local struct {
  Copy copy;
  size_t size;
} creation;

static void copy_arguments(void* to, void* from) {
  note(to, creation.size);
  if (creation.copy != NULL)
    creation.copy(to, from);
  else
    memcpy(to, from, creation.size);
}

ENTRY void GOMP_task(void (*code)(void*), void* data, Copy copy, long size, long alignment, bool deferred,
                     unsigned flags, void** depend, int priority, void* detach) {
  static _Atomic(void*) found;
  void (*create)(void (*)(void*), void*, Copy, long, long, bool, unsigned, void**, int, void*) =
      (void (*)(void (*)(void*), void*, Copy, long, long, bool, unsigned, void**, int, void*))next(&found, "GOMP_task");
  creation.copy = copy;
  creation.size = (size_t)size;
  create(code, data, current_is_recording() ? copy_arguments : copy, size, alignment, deferred, flags, depend, priority,
         detach);
}
