/* SPDX-License-Identifier: Apache-2.0
 *
 * memcpy, memmove and memset of the program, in place of libc's: GCC calls them from instrumented code as from any. The
 * accesses are the current task's.
 */
#include "../next.h"
#include "current.h"
#include "../../common/accesses_format.h"

#define ENTRY __attribute__((visibility("default"), noinline))
#define CALLER __builtin_return_address(0)

static void note(const void* to, const void* from, size_t size, const void* caller) {
  if (!current_is_programs(caller)) return;
  TaskRecord* task = current();
  if (task == NULL) return;
  if (from != NULL) granules_add(&task->granules, (uintptr_t)from, size, 0, caller);
  granules_add(&task->granules, (uintptr_t)to, size, kWrite, caller);
}

#define COPIES(name)                                                                     \
  ENTRY void* name(void* to, const void* from, size_t size) {                            \
    static _Atomic(void*) found;                                                         \
    note(to, from, size, CALLER);                                                        \
    return ((void* (*)(void*, const void*, size_t))next(&found, #name))(to, from, size); \
  }
COPIES(memcpy)
COPIES(memmove)

ENTRY void* memset(void* to, int value, size_t size) {
  static _Atomic(void*) found;
  note(to, NULL, size, CALLER);
  return ((void* (*)(void*, int, size_t))next(&found, "memset"))(to, value, size);
}
