/* SPDX-License-Identifier: Apache-2.0
 *
 * While all threads of a device of another process run kernels, data goes to its variables and back, and a region that
 * has not run yet is looked up: the kernels end only after that.
 *
 * Covers: target(nowait), target(is_device_ptr), target update(to), target update(from), declare target
 */
#include "../device.h"

int variable = 1;
#pragma omp declare target to(variable)

static int value_of(const int* word) {
  int value = -1;
  CHECK_EQ(omp_target_memcpy(&value, word, sizeof value, 0, 0, omp_get_initial_device(), omp_get_default_device()), 0);
  return value;
}

static void set(int* word, int value) {
  CHECK_EQ(omp_target_memcpy(word, &value, sizeof value, 0, 0, omp_get_default_device(), omp_get_initial_device()), 0);
}

static void occupy(int* gate, int threads) {
  for (int i = 0; i < threads; i++) {
#pragma omp target nowait is_device_ptr(gate)
    {
#pragma omp atomic
      ++*gate;
      for (int at_gate = 0; at_gate >= 0;) {
#pragma omp atomic read
        at_gate = *gate;
      }
    }
  }
  while (value_of(gate) < threads) {
#pragma omp taskyield
  }
}

int main(void) {
  alarm(150);
  int* gate = omp_target_alloc(sizeof *gate, omp_get_default_device());
  set(gate, 0);
#pragma omp parallel
#pragma omp single
  {
    int seen = 0;
    occupy(gate, omp_get_num_threads());
    variable = 2;
#pragma omp target update to(variable)
    variable = 3;
#pragma omp target update from(variable)
    CHECK_EQ(variable, 2);
#pragma omp target nowait map(from : seen)
    seen = variable;
    set(gate, -1);
#pragma omp taskwait
    CHECK_EQ(seen, 2);
  }
  omp_target_free(gate, omp_get_default_device());
  return 0;
}
