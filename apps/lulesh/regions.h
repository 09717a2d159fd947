/* SPDX-License-Identifier: Apache-2.0
 *
 * The regions of a mesh: lists of its elements. For each region the equation of state is evaluated once or more often.
 * Regions change the load and the order in which elements are visited, but no result. Constant once they are made.
 */
#ifndef LULESH_REGIONS_H
#define LULESH_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  int count;
  int32_t* begin;   /* count + 1: where a region begins in `element` */
  int32_t* element; /* ascending in each region */
  int* times;       /* how many times the equation of state is evaluated */
} Regions;

/* `balance`: region i gets a part of the elements in proportion to i^balance. `cost`: that of the more expensive
 * regions. False: not enough memory; regions_destroy frees what there is. */
bool regions_create(Regions* regions, int32_t elements, int count, int balance, int cost, int rank);
void regions_destroy(Regions* regions);

#endif
