/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's side of versions.c, built by several compilers; VERSION is the compiler's. Its counter is on the device
 * alone, one for each library.
 */
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)

int JOIN(weighted_sum_, VERSION)(const int* data, int n);

#pragma omp declare target
static int calls;
#pragma omp end declare target

int JOIN(weighted_sum_, VERSION)(const int* data, int n) {
  int sum = 0;
#pragma omp target map(tofrom : sum) map(to : data[0 : n])
  {
    calls++;
    for (int i = 0; i < n; i++) sum += data[i] * calls;
  }
  return sum;
}
