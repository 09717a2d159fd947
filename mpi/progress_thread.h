/* SPDX-License-Identifier: Apache-2.0
 *
 * The poller as a thread of its own (MARLINE_MPI_PROGRESS=thread): asks all the time while operations are open, sleeps
 * otherwise. Once per process.
 */
#ifndef MARLINE_MPI_PROGRESS_THREAD_H
#define MARLINE_MPI_PROGRESS_THREAD_H

/* Starts the thread. `poll(NULL)` returns how many operations it found complete. */
void progress_thread_start(int (*poll)(void *));

/* Adds n (negative: subtracts) to the operations that are open. Any thread. */
void progress_thread_add(int n);

/* Ends the thread: no poll is under way any more. Called by another one. */
void progress_thread_stop(void);

#endif
