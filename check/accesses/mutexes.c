/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock functions of pthreads and C11, in place of libc's: the current task holds the lock. std::mutex and similar
 * locks are pthread mutexes, so they are included. A lock for reading counts like one for writing, so what two tasks
 * write under it is not found. pthread_cond_wait releases and takes its mutex inside libc: the task holds it all the
 * time here, which changes nothing for other tasks.
 */
#include "../ignored.h"
#include "../next.h"
#include "current.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#define ENTRY __attribute__((visibility("default"), noinline))

static bool is_programs(const void* caller) {
  if (!current_is_recording() || current_is_inside()) return false;
  current_enter();
  const bool answer = !is_ignored(caller);
  current_leave();
  return answer;
}

static void note_taken(const void* lock, const void* caller) {
  if (is_programs(caller)) current_acquired((uintptr_t)lock);
}

static void note_release(const void* lock, const void* caller) {
  if (is_programs(caller)) current_released((uintptr_t)lock);
}

/* Defines a function that takes a lock; `taken` says with which results it has taken the lock. */
#define TAKES(name, taken, parameters, arguments)                          \
  ENTRY int name parameters {                                              \
    static _Atomic(void*) found;                                           \
    const int result = ((int(*) parameters)next(&found, #name))arguments;  \
    if (taken) note_taken((const void*)lock, __builtin_return_address(0)); \
    return result;                                                         \
  }

#define RELEASES(name, parameters)                                \
  ENTRY int name parameters {                                     \
    static _Atomic(void*) found;                                  \
    note_release((const void*)lock, __builtin_return_address(0)); \
    return ((int(*) parameters)next(&found, #name))(lock);        \
  }

/* A robust mutex is taken over from a process that died while holding it. */
#define TAKEN (result == 0 || result == EOWNERDEAD)
#define TIME const struct timespec* restrict time

TAKES(pthread_mutex_lock, TAKEN, (pthread_mutex_t * lock), (lock))
TAKES(pthread_mutex_trylock, TAKEN, (pthread_mutex_t * lock), (lock))
TAKES(pthread_mutex_timedlock, TAKEN, (pthread_mutex_t* restrict lock, TIME), (lock, time))
RELEASES(pthread_mutex_unlock, (pthread_mutex_t * lock))

TAKES(pthread_rwlock_rdlock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_tryrdlock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_wrlock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_trywrlock, TAKEN, (pthread_rwlock_t * lock), (lock))
RELEASES(pthread_rwlock_unlock, (pthread_rwlock_t * lock))

TAKES(pthread_spin_lock, TAKEN, (pthread_spinlock_t * lock), (lock))
TAKES(pthread_spin_trylock, TAKEN, (pthread_spinlock_t * lock), (lock))
RELEASES(pthread_spin_unlock, (pthread_spinlock_t * lock))

TAKES(mtx_lock, result == thrd_success, (mtx_t * lock), (lock))
TAKES(mtx_trylock, result == thrd_success, (mtx_t * lock), (lock))
RELEASES(mtx_unlock, (mtx_t * lock))
