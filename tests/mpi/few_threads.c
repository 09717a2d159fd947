/* SPDX-License-Identifier: Apache-2.0
 *
 * A system that gives libmarline-mpi no more than FEW_THREADS threads (ulimit -u does not bind root): preloaded after
 * it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int given;

static int is_of_marline_mpi(const void* address) {
  Dl_info caller;
  return dladdr(address, &caller) != 0 && strstr(caller.dli_fname, "libmarline-mpi") != NULL;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  const char* most = getenv("FEW_THREADS");
  if (most != NULL && is_of_marline_mpi(__builtin_return_address(0)) &&
      __atomic_add_fetch(&given, 1, __ATOMIC_RELAXED) > atoi(most))
    return EAGAIN;
  __typeof__(pthread_create)* next = (__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, function, argument);
}
