// SPDX-License-Identifier: Apache-2.0
enum { kCells = 60000 };
static double cells[kCells];

__attribute__((noinline)) static void step(void) {
#pragma omp for
  for (int c = 0; c < kCells; ++c) {
#pragma omp task
    cells[c] += 1;
  }
}

int main(void) {
#pragma omp parallel
  for (int i = 0; i < 2; ++i) step();
  return cells[1] != 2;
}
