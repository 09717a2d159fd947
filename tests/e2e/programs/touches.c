// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/report/test_machine.py: touches 64 MiB, each page once.
#include <stdlib.h>

enum { kBytes = 64 << 20, kPage = 4096 };

int main(void) {
  char* memory = malloc(kBytes);
  if (memory == NULL) return 1;
#pragma omp parallel for
  for (long i = 0; i < kBytes; i += kPage) memory[i] = 1;
  const int wrong = memory[kBytes - kPage] != 1;
  free(memory);
  return wrong;
}
