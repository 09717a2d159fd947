// SPDX-License-Identifier: Apache-2.0
//
// test_nodes.py: each device adds up its part of an array. Says how many devices there are, how many of them are other
// processes, and the sum.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { kNumbers = 6000 };
static int numbers[kNumbers];

int main(void) {
  int devices = omp_get_num_devices(), others = 0;
  long sum = 0;
  for (int i = 0; i < kNumbers; ++i) numbers[i] = i;
  for (int d = 0; d < devices; ++d) {
    int begin = kNumbers / devices * d, count = kNumbers / devices, process = 0;
    long part = 0;
#pragma omp target device(d) map(to : numbers[begin : count]) map(tofrom : part) map(from : process)
    {
#pragma omp parallel for reduction(+ : part)
      for (int i = begin; i < begin + count; ++i) part += numbers[i];
      process = getpid();
    }
    sum += part;
    others += process != getpid();
  }
  printf("devices %d others %d sum %ld\n", devices, others, sum);
  return 0;
}
