/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that only sleep take turns on their device, as kernels that fill it would. So the host may start the next
 * kernels meanwhile, as it does on a GPU. If several devices are one process, each has turns of its own, up to kTurns
 * devices; further devices share them. On the device: any thread, one turn at a time.
 */
#ifndef MARLINE_APPS_COMMON_TURN_H
#define MARLINE_APPS_COMMON_TURN_H

#include <pthread.h>

enum { kTurns = 64 };

#pragma omp declare target
static pthread_mutex_t turns[kTurns]; /* all zero: unlocked, as PTHREAD_MUTEX_INITIALIZER */

#if defined(__NVPTX__) || defined(__AMDGCN__) /* GPUs have their own queue of kernels, and no such locks */
static inline void turn_begin(int device) { (void)turns[device % kTurns]; }
static inline void turn_end(int device) { (void)device; }
#else
static inline void turn_begin(int device) { pthread_mutex_lock(&turns[device % kTurns]); }
static inline void turn_end(int device) { pthread_mutex_unlock(&turns[device % kTurns]); }
#endif
#pragma omp end declare target

#endif
