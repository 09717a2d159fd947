/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread of this library, one per process. It polls while operations are open (MARLINE_MPI_PROGRESS=thread) and makes
 * the calls that other threads pass to it (owner.h), in the order in which they arrive. It sleeps when there is nothing
 * to do.
 */
#ifndef MARLINE_MPI_PROGRESS_THREAD_H
#define MARLINE_MPI_PROGRESS_THREAD_H

#include <stdbool.h>

/* Starts the thread. `poll(NULL)` returns how many operations it found complete. Ends the process if the thread
 * cannot be started. */
void progress_thread_start(int (*poll)(void*));

/* Adds n (negative: subtracts) to the number of open operations. Any thread. */
void progress_thread_add(int n);

/* Makes the thread call function(arguments), and waits for its end without suspending. Called by any other thread,
 * between start and stop. */
void progress_thread_run(void (*function)(void* arguments), void* arguments);

/* Whether the caller is the progress thread. */
bool progress_thread_is_me(void);

/* Ends the thread: no poll is in progress any more. Called by another thread. */
void progress_thread_stop(void);

#endif
