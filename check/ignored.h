/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose locks are none of the program's: the runtime's, MPI's and libc's own. Any thread.
 */
#ifndef MARLINE_CHECK_IGNORED_H
#define MARLINE_CHECK_IGNORED_H

#include <stdbool.h>

/* Whether the code at `address`, a return address, belongs to such a library. */
bool is_ignored(const void *address);

#endif
