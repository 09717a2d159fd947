/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the records of common/accesses_format.h into the file of this process. Any thread; each call takes one lock.
 */
#ifndef MARLINE_CHECK_ACCESSES_WRITER_H
#define MARLINE_CHECK_ACCESSES_WRITER_H

#include "../../common/accesses_format.h"

#include <stdbool.h>

/* Opens accesses.PID in $MARLINE_CHECK_DIR. False: there is no such variable, or the file cannot be written. */
bool writer_open(void);

void writer_put(AccessRecord kind, unsigned words, const uint64_t* values);

#define PUT(kind, ...) writer_put(kind, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

/* Gives the text a number; the same pointer is taken to be the same text. 0 for null. */
uint64_t writer_text(const char* text);

/* Says where code lies, writes what is buffered, and closes. */
void writer_close(void);

#endif
