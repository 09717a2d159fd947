/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that look at an object of a function, which each node constructs when it first meets it. */
#include <cstdio>

#pragma omp declare target
struct Table {
  int* at;
  explicit Table(int n) : at(new int[n]) {
    for (int i = 0; i < n; i++) at[i] = i;
  }
};
int look(int i) {
  static Table table(10);
  return table.at[i];
}
#pragma omp end declare target

int main() {
  int sum = 0;
  for (int i = 0; i < 8; i++) {
#pragma omp target map(tofrom : sum)
    sum += look(i);
  }
  std::printf("sum=%d\n", sum);
}
