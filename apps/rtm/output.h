/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that -o names: a NumPy array (format 1.0) of 3 x nx x nz floats: the model's speeds, the smooth ones, and
 * the image.
 */
#ifndef RTM_OUTPUT_H
#define RTM_OUTPUT_H

#include <stdio.h>

#include "earth.h"
#include "failure.h"
#include "stack.h"

/* Before the run, so that a wrong name does not cost one: what the file had is lost. NULL: a failure has been noted. */
FILE* output_open(const char* path, Failure* failure);

/* Closes the file. Notes a failure if it could not be written. */
void output_write(FILE* file, const char* path, const Earth* earth, const Stack* stack, Failure* failure);

#endif
