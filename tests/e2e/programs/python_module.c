/* SPDX-License-Identifier: Apache-2.0
 *
 * What a Python package with OpenMP code has in its folder: a library with one parallel region. It also says which
 * library serves the region, as dladdr sees it: a witness independent of Marline's own check.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);

int sum_of_ones(int count) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < count; ++i) ++sum;
  return sum;
}

const char* served_by(void) {
  Dl_info where;
  return dladdr((void*)&GOMP_parallel, &where) != 0 ? where.dli_fname : "nobody";
}
