/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock functions of pthreads and C11, in place of libc's: each calls libc's function, and reports the lock
 * (interpose.h). std::mutex and similar locks are pthread mutexes, so they are included.
 *
 * pthread_cond_wait is not among them: it releases the mutex and takes it again inside libc. In between the thread
 * sleeps and cannot suspend a task, so the lock may count as held.
 */
#include "interpose.h"

#include "next.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#define ENTRY __attribute__((visibility("default"), noinline))

/* Defines a function that takes a lock; `taken` says with which results it has taken the lock. */
#define TAKES(name, kind, taken, parameters, arguments)                               \
  ENTRY int name parameters {                                                         \
    static _Atomic(void*) found;                                                      \
    const int result = ((int(*) parameters)next(&found, #name))arguments;             \
    if (taken) interpose_taken((const void*)lock, kind, __builtin_return_address(0)); \
    return result;                                                                    \
  }

#define RELEASES(name, parameters)                                      \
  ENTRY int name parameters {                                           \
    static _Atomic(void*) found;                                        \
    interpose_released((const void*)lock, __builtin_return_address(0)); \
    return ((int(*) parameters)next(&found, #name))(lock);              \
  }

/* A robust mutex is taken over from a process that died while holding it. */
#define TAKEN (result == 0 || result == EOWNERDEAD)

#define TIME const struct timespec* restrict time
TAKES(pthread_mutex_lock, kMutex, TAKEN, (pthread_mutex_t * lock), (lock))
TAKES(pthread_mutex_trylock, kMutex, TAKEN, (pthread_mutex_t * lock), (lock))
TAKES(pthread_mutex_timedlock, kMutex, TAKEN, (pthread_mutex_t* restrict lock, TIME), (lock, time))
TAKES(pthread_mutex_clocklock, kMutex, TAKEN, (pthread_mutex_t* restrict lock, clockid_t clock, TIME),
      (lock, clock, time))
RELEASES(pthread_mutex_unlock, (pthread_mutex_t * lock))

TAKES(pthread_rwlock_rdlock, kReaderLock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_tryrdlock, kReaderLock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_timedrdlock, kReaderLock, TAKEN, (pthread_rwlock_t* restrict lock, TIME), (lock, time))
TAKES(pthread_rwlock_clockrdlock, kReaderLock, TAKEN, (pthread_rwlock_t* restrict lock, clockid_t clock, TIME),
      (lock, clock, time))
TAKES(pthread_rwlock_wrlock, kWriterLock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_trywrlock, kWriterLock, TAKEN, (pthread_rwlock_t * lock), (lock))
TAKES(pthread_rwlock_timedwrlock, kWriterLock, TAKEN, (pthread_rwlock_t* restrict lock, TIME), (lock, time))
TAKES(pthread_rwlock_clockwrlock, kWriterLock, TAKEN, (pthread_rwlock_t* restrict lock, clockid_t clock, TIME),
      (lock, clock, time))
RELEASES(pthread_rwlock_unlock, (pthread_rwlock_t * lock))

TAKES(pthread_spin_lock, kSpinLock, TAKEN, (pthread_spinlock_t * lock), (lock))
TAKES(pthread_spin_trylock, kSpinLock, TAKEN, (pthread_spinlock_t * lock), (lock))
RELEASES(pthread_spin_unlock, (pthread_spinlock_t * lock))

TAKES(mtx_lock, kMutex, result == thrd_success, (mtx_t * lock), (lock))
TAKES(mtx_trylock, kMutex, result == thrd_success, (mtx_t * lock), (lock))
TAKES(mtx_timedlock, kMutex, result == thrd_success, (mtx_t* restrict lock, TIME), (lock, time))
RELEASES(mtx_unlock, (mtx_t * lock))
