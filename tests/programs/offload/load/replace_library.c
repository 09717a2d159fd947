/* SPDX-License-Identifier: Apache-2.0
 *
 * The libraries of replace.c, which differ in VALUE alone.
 *
 * Covers: target(map), declare target
 */
int number(void);
int next_kept(void);

#pragma omp declare target
int kept = VALUE;
#pragma omp end declare target

int number(void) {
  int value = -1;
#pragma omp target map(from : value)
  value = VALUE;
  return value;
}

int next_kept(void) {
  int value = -1;
#pragma omp target map(from : value)
  value = ++kept;
  return value;
}
