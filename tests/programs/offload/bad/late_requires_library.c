/* SPDX-License-Identifier: Apache-2.0
 *
 * The library of late_requires.c.
 */
#pragma omp requires unified_shared_memory

int on_device(int* value);

int on_device(int* value) {
#pragma omp target
  ++*value;
  return *value;
}
