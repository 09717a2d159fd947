/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises locks that are not the program's: those of the runtime, of MPI and of libc. Any thread.
 */
#ifndef MARLINE_CHECK_IGNORED_H
#define MARLINE_CHECK_IGNORED_H

#include <stdbool.h>

/* Whether the code at `address`, a return address, belongs to such a library. */
bool is_ignored(const void* address);

#endif
