/* SPDX-License-Identifier: Apache-2.0
 *
 * The current task holds the program's locks. A lock for reading counts like one for writing, so what two tasks write
 * under it is not found.
 */
#include "../interpose.h"
#include "current.h"

void interpose_taken(const void* lock, LockKind kind, const void* caller) {
  (void)kind;
  if (current_is_programs(caller)) current_acquired((uintptr_t)lock);
}

void interpose_released(const void* lock, const void* caller) {
  if (current_is_programs(caller)) current_released((uintptr_t)lock);
}
