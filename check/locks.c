/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes which task has taken which lock, and where.
 */
#include "held.h"
#include "ignored.h"
#include "tasks.h"

#include <execinfo.h>
#include <string.h>

/* The checker may take a lock itself, for example in backtrace(). Initial-exec: the library is loaded at the start. */
static _Thread_local int in_checker __attribute__((tls_model("initial-exec")));

void interpose_taken(const void* lock, LockKind kind, const void* caller) {
  if (in_checker || is_ignored(caller)) return;
  ++in_checker;
  Held entry = {.lock = lock, .holder = current_holder(), .kind = kind};
  if (is_task(entry.holder)) {
    enum { kOwn = 2 }; /* this function and the entry point */
    void* stack[kLockFrames + kOwn];
    const int frames = backtrace(stack, kLockFrames + kOwn);
    entry.frames = frames > kOwn ? frames - kOwn : 0;
    memcpy(entry.stack, stack + kOwn, (size_t)entry.frames * sizeof stack[0]);
  }
  held_add(&entry);
  --in_checker;
}

void interpose_released(const void* lock, const void* caller) {
  if (in_checker || is_ignored(caller)) return;
  ++in_checker;
  held_remove(lock, current_holder());
  --in_checker;
}

__attribute__((constructor)) static void load_unwinder(void) {
  void* frame[1];
  (void)backtrace(frame, 1); /* the first call loads a library, which must not happen under a lock of the program */
}
