/* SPDX-License-Identifier: Apache-2.0
 *
 * The making of what lookups read (data.h): created by the host, read only after that, mapped to each device as a
 * whole: four arrays, none of which is empty or holds a pointer.
 *
 * All numbers are drawn at random, energies too, from 0 to 1. Only their amount and their use are as for a reactor.
 */
#ifndef XSBENCH_TABLES_H
#define XSBENCH_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "data.h"

/* Lengths of the arrays. */
typedef struct {
  size_t points;
  size_t energies;
  size_t index;
} Lengths;

Lengths tables_lengths(GridKind grid, int nuclides, int gridpoints);

/* Bytes that a device needs for them. */
double tables_bytes(const Lengths* lengths);

/* False if there is not enough memory. */
bool tables_create(Tables* tables, GridKind grid, int nuclides, int gridpoints);
void tables_destroy(Tables* tables);

#endif
