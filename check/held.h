/* SPDX-License-Identifier: Apache-2.0
 *
 * The locks of the program that are held, and their holders. A holder is a task, or a thread that runs no task. So if
 * another thread resumes a task, the task keeps its locks. Any thread; nothing here allocates memory or takes a
 * pthreads lock.
 */
#ifndef MARLINE_CHECK_HELD_H
#define MARLINE_CHECK_HELD_H

#include "interpose.h"

#include <stdbool.h>
#include <stdint.h>

enum { kLockFrames = 8 };

typedef struct Held {
  const void* lock;
  uint64_t holder;
  LockKind kind;
  int is_waiting; /* whether its holder waits for its children */
  int times;      /* a recursive lock is held until it has been released as often as it was taken */
  int frames;
  void* stack[kLockFrames]; /* where it was first taken */
} Held;

/* Called when `holder` has taken the lock. */
void held_add(const Held* entry);

/* Called before the lock is free: it is released, probably by `holder`. A lock that another holder has taken is
 * removed as well, because programs pass locks on. */
void held_remove(const void* lock, uint64_t holder);

/* The holder begins (1) or ends (0) to wait for its children. */
void held_set_waiting(uint64_t holder, int is_waiting);

/* Whether any lock is held. */
bool held_any(void);

/* Copies at most `most` of the locks that `holder` holds to `found`, and returns how many. */
int held_by(uint64_t holder, Held* found, int most);

/* How many locks were not noted because too many were held at once. */
unsigned long held_lost(void);

#endif
