/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that a library makes for the program, for libmarline-accesses-mpi.so: by the current task, or by an
 * operation that goes on while the program does something else. Any thread.
 */
#ifndef MARLINE_CHECK_ACCESSES_OPERATIONS_H
#define MARLINE_CHECK_ACCESSES_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARLINE_ACCESSES_API __attribute__((visibility("default")))

/* A new operation of the current task, not 0. `name` lives as long as the process; `code` is the address after the
 * call. 0: nothing is recorded here. */
MARLINE_ACCESSES_API uint64_t marline_accesses_start(const char* name, const void* code);

/* `operation` has come to its end, and the current task knows, or a thread that is not OpenMP's. */
MARLINE_ACCESSES_API void marline_accesses_end(uint64_t operation);

/* The operation, or with 0 the current task, accesses `size` bytes. */
MARLINE_ACCESSES_API void marline_accesses_note(uint64_t operation, uintptr_t address, size_t size, bool is_write,
                                                const void* code);

#endif
