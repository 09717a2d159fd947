/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that -o names: a NumPy array (format 1.0) of 3 x nx x nz floats: the model's speeds, the smooth ones, and
 * the image.
 */
#ifndef RTM_OUTPUT_H
#define RTM_OUTPUT_H

#include "earth.h"
#include "failure.h"
#include "stack.h"

/* Notes a failure if the file cannot be written. */
void output_write(const char* path, const Earth* earth, const Stack* stack, Failure* failure);

#endif
