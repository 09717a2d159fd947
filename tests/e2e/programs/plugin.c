/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared library that uses OpenMP, for plugin_host.c to load.
 */
int count_threads(void) {
  int threads = 0;
#pragma omp parallel
  {
#pragma omp atomic
    ++threads;
  }
  return threads;
}
