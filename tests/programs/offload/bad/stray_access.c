/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a device has memory of its own, its addresses belong to no memory of the host. A read or write there gives the
 * signal at just that address: at the begin of mapped data, in its midst, after its end, and when it is no longer
 * mapped. The device's data is as before.
 *
 * Covers: target data(use_device_ptr), omp_target_alloc
 */
#include "../../child.h"
#include <omp.h>
#include <setjmp.h>
#include <signal.h>

#define N 100000

static sigjmp_buf before;
static void* volatile where;

static void caught(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  where = info->si_addr;
  siglongjmp(before, 1);
}

static void expect_fault(volatile int* address, int writes) {
  where = NULL;
  if (sigsetjmp(before, 1) == 0) {
    if (writes)
      *address = 1;
    else
      (void)*address;
    check_failed(__FILE__, __LINE__, "no signal at %p", (void*)address);
  }
  CHECK(where == (void*)address);
}

static void expect_faults(volatile int* address) {
  expect_fault(address, 0);
  expect_fault(address, 1);
}

static int data[N];

int main(int argc, char** argv) {
  (void)argv;
  int device = omp_get_default_device();
  int* memory = omp_target_alloc(sizeof(int), device);
  CHECK(memory != NULL);
  if (argc > 1) {
    *(volatile int*)memory = 1;
    return 0;
  }
  static Child c;
  char* variables[] = {NULL};
  run_child(&c, "without_handler", variables);
  CHECK_EQ(c.signal, SIGSEGV);
  struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < N; i++) data[i] = i;
#pragma omp target enter data map(to : data)
  int* mapped = data;
  int* address = NULL;
#pragma omp target data use_device_ptr(mapped)
  address = mapped;
  CHECK(address != NULL && address != data);
  expect_faults(address);
  expect_faults(address + N / 2);
  expect_faults(address + N);
  expect_faults(memory);
  long sum = 0;
#pragma omp target map(tofrom : sum)
  for (int i = 0; i < N; i++) sum += data[i];
  CHECK_EQ(sum, (long)N * (N - 1) / 2);
#pragma omp target exit data map(delete : data)
  expect_faults(address);
  omp_target_free(memory, device);
  expect_faults(memory);
  return 0;
}
