/* SPDX-License-Identifier: Apache-2.0
 *
 * A child of fork() has the locks as other threads of its parent held them, and those threads are not there to release
 * them. Such a lock has the number of the parent in it, which is not the child's. Written by the child's only thread.
 */
#include "lock.h"

#include <pthread.h>

unsigned lock_process = 1;

static void in_child(void) { ++lock_process; }

__attribute__((constructor)) static void prepare(void) { pthread_atfork(NULL, NULL, in_child); }
