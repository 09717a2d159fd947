/* SPDX-License-Identifier: Apache-2.0
 *
 * In a child of fork(), the locks are as other threads of its parent held them, and these threads do not exist to
 * release them. Such a lock contains the parent's number, not the child's, so the child treats it as free. The child's
 * only thread writes the number.
 */
#include "lock.h"

#include <pthread.h>

unsigned lock_process = 1;

static void in_child(void) { ++lock_process; }

__attribute__((constructor)) static void prepare(void) { pthread_atfork(NULL, NULL, in_child); }
