/* SPDX-License-Identifier: Apache-2.0
 *
 * The pressure in the middle plane between y's borders, as grey values: x to the right, z downwards.
 */
#ifndef MINIMOD_PICTURE_H
#define MINIMOD_PICTURE_H

#include "failure.h"
#include "grid.h"

/* A PGM file. Zero is grey, and the weaker half of the range is drawn with most of the contrast. */
void picture_write(const Grid* grid, const char* path, Failure* failure);

#endif
