/* SPDX-License-Identifier: Apache-2.0
 *
 * What a library that takes interpose.c in does when the program takes and releases locks. `caller` is the address
 * after the program's call.
 */
#ifndef MARLINE_CHECK_INTERPOSE_H
#define MARLINE_CHECK_INTERPOSE_H

typedef enum LockKind { kMutex, kReaderLock, kWriterLock, kSpinLock } LockKind;

/* The thread has taken the lock. */
void interpose_taken(const void* lock, LockKind kind, const void* caller);

/* The thread is about to release it. */
void interpose_released(const void* lock, const void* caller);

#endif
