/* SPDX-License-Identifier: Apache-2.0
 *
 * Host and device have different memory: the host faults at a device's address, and a kernel that follows a host
 * pointer ends with CUDA's error for it.
 *
 *     stray host      checks the first
 *     stray device    prints libomptarget's line for the second
 */
#include "emulated.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf before;
static void* volatile fault;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  fault = info->si_addr;
  siglongjmp(before, 1);
}

static void stray_host(void) {
  int* memory = omp_target_alloc(sizeof(int), 0);
  CHECK(memory != NULL);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  if (!sigsetjmp(before, 1)) {
    *(volatile int*)memory = 1;
    check_failed(__FILE__, __LINE__, "the host wrote to the device's memory");
  }
  CHECK(fault == memory);
  signal(SIGSEGV, SIG_DFL);
#pragma omp target is_device_ptr(memory)
  *memory = 2;
  int value = 0;
  CHECK_EQ(omp_target_memcpy(&value, memory, sizeof value, 0, 0, omp_get_initial_device(), 0), 0);
  CHECK_EQ(value, 2);
  omp_target_free(memory, 0);
}

static void stray_device(void) {
  int on_the_host = 1, *pointer = &on_the_host;
#pragma omp target is_device_ptr(pointer)
  *pointer = 2;
  printf("the device wrote to the host's memory\n");
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  if (strcmp(argv[1], "host") == 0)
    stray_host();
  else
    stray_device();
  return 0;
}
