/* SPDX-License-Identifier: Apache-2.0
 *
 * See progress_thread.h. Sleep and wake: the thread announces that it sleeps and then looks once more; who gives it work
 * does so first and then looks at the announcement. All four are seq_cst, so at least one of the two sees the other.
 */
#include "progress_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"

enum { kPatience = 64 }; /* polls in vain before the core is offered to others */

static _Atomic int open_operations; /* written by anyone, read by the thread */
static _Atomic bool stopped;        /* written by progress_thread_stop, read by the thread */
static _Atomic int asleep;          /* futex: 1 from the thread's announcement until somebody takes it back */
static pthread_t thread;

static void sleep_until_needed(void)
{
  atomic_store(&asleep, 1);
  if (atomic_load(&open_operations) > 0 || atomic_load(&stopped))
    atomic_store(&asleep, 0);
  while (atomic_load(&asleep) == 1)
    syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void wake(void)
{
  if (atomic_load(&asleep) == 0)
    return;
  atomic_store(&asleep, 0);
  syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *run(void *argument)
{
  int (*poll)(void *);
  memcpy(&poll, &argument, sizeof poll);
  int in_vain = 0;
  while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
    if (atomic_load_explicit(&open_operations, memory_order_relaxed) <= 0)
      sleep_until_needed();
    else if (poll(NULL) > 0)
      in_vain = 0;
    else if (++in_vain > kPatience)
      sched_yield(); /* the one that it waits for may want this core */
  }
  return NULL;
}

void progress_thread_start(int (*poll)(void *))
{
  void *argument;
  memcpy(&argument, &poll, sizeof argument);
  const int error = pthread_create(&thread, NULL, run, argument);
  if (error != 0)
    report_fatal("MARLINE_MPI_PROGRESS=thread: cannot start the thread: %s", strerror(error));
  pthread_setname_np(thread, "marline/mpi");
}

void progress_thread_add(int n)
{
  atomic_fetch_add(&open_operations, n);
  if (n > 0)
    wake();
}

void progress_thread_stop(void)
{
  atomic_store(&stopped, true);
  wake();
  pthread_join(thread, NULL);
}
