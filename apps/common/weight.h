/* SPDX-License-Identifier: Apache-2.0
 *
 * The second difference of order 8 in space (Fornberg, "Generation of finite difference formulas on arbitrarily spaced
 * grids", Math. Comp. 51, 1988, table 1), for host and device. Used by any thread.
 */
#ifndef MARLINE_APPS_COMMON_WEIGHT_H
#define MARLINE_APPS_COMMON_WEIGHT_H

#pragma omp declare target
/* The weight of the points at this distance, 0 to 4. */
static inline float kernel_weight(int distance) {
  return distance == 0   ? -205.0F / 72
         : distance == 1 ? 8.0F / 5
         : distance == 2 ? -1.0F / 5
         : distance == 3 ? 8.0F / 315
                         : -1.0F / 560;
}
#pragma omp end declare target

#endif
