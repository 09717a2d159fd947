/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls through pointers to functions: taken on the device, kept in tables on the device, and (with `indirect`) taken
 * on the host and called on the device.
 *
 * Covers: declare target(to)
 * Covers (clang19): declare target(indirect)
 */
#include "../device.h"

typedef int Function(int);

#pragma omp declare target
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
int negate(int x) { return -x; }
Function* table[3];
#pragma omp end declare target

#if defined(__clang__) && __clang_major__ >= 19
#pragma omp begin declare target indirect
int plus_ten(int x) { return x + 10; }
int plus_twenty(int x) { return x + 20; }
#pragma omp end declare target

typedef struct {
  Function* call;
  int argument;
} Job;

static void from_the_host(void) {
  Function* function = plus_ten;
  Job jobs[2] = {{plus_ten, 1}, {plus_twenty, 2}};
  int results[3] = {0};
#pragma omp target map(tofrom : results) firstprivate(function) map(to : jobs)
  {
    results[0] = function(5);
    for (int i = 0; i < 2; i++) results[1 + i] = jobs[i].call(jobs[i].argument);
  }
  CHECK_EQ(results[0], 15);
  CHECK_EQ(results[1], 11);
  CHECK_EQ(results[2], 22);
}
#endif

int main(void) {
  int results[4] = {0};
#pragma omp target
  {
    table[0] = twice;
    table[1] = square;
    table[2] = negate;
  }
#pragma omp target map(tofrom : results)
  {
    for (int i = 0; i < 3; i++) results[i] = table[i](7);
    Function* chosen = results[0] > 0 ? square : twice;
    results[3] = chosen(results[0]);
  }
  CHECK_EQ(results[0], 14);
  CHECK_EQ(results[1], 49);
  CHECK_EQ(results[2], -7);
  CHECK_EQ(results[3], 196);
#if defined(__clang__) && __clang_major__ >= 19
  from_the_host();
#endif
  return 0;
}
