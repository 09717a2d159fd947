/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies by the CUDA driver that is in the process. As in Open MPI and UCX, a copy needs a context that is current in
 * the calling thread, and the process ends if there is none: whichever thread completes a request must have one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "staged.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Driver {
  int (*attribute)(void*, int, uint64_t);
  int (*to_device)(uint64_t, const void*, size_t);
  int (*to_host)(void*, uint64_t, size_t);
} Driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of the look for the driver */
static Driver driver;                                    /* written once */
static _Atomic bool driver_found;
static Staged* kept;
static _Atomic int kept_count;

static void fail(const char* what, size_t bytes, int error) {
  fprintf(stderr, "gpu_aware: %s of %zu bytes failed with CUDA's error %d%s\n", what, bytes, error,
          error == 201 ? ": no context is current in this thread" : "");
  abort();
}

static bool find_driver(void) {
  if (driver_found) return true;
  pthread_mutex_lock(&lock);
  void* library = dlopen("libcuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (library != NULL && !driver_found) {
    *(void**)&driver.attribute = dlsym(library, "cuPointerGetAttribute");
    *(void**)&driver.to_device = dlsym(library, "cuMemcpyHtoD_v2");
    *(void**)&driver.to_host = dlsym(library, "cuMemcpyDtoH_v2");
    driver_found = true;
  }
  pthread_mutex_unlock(&lock);
  return driver_found;
}

static bool is_device_memory(const void* address) {
  enum { kMemoryType = 2, kDevice = 2 };
  unsigned type = 0;
  return address != NULL && find_driver() && driver.attribute(&type, kMemoryType, (uintptr_t)address) == 0 &&
         type == kDevice;
}

static void copy_to_host(const Staged* staged) {
  const int error = driver.to_host(staged->bytes, (uintptr_t)(staged->device + staged->lower), staged->size);
  if (error != 0) fail("a copy to the host", staged->size, error);
}

static void copy_to_device(const Staged* staged, size_t begin, size_t end) {
  const int error =
      driver.to_device((uintptr_t)(staged->device + staged->lower + begin), staged->bytes + begin, end - begin);
  if (error != 0) fail("a copy to the device", end - begin, error);
}

Staged* stage(const void* buffer, MPI_Count count, MPI_Datatype type, Use use, bool by_status) {
  MPI_Aint lower = 0, true_extent = 0, unused = 0, extent = 0;
  if (count <= 0 || !is_device_memory(buffer)) return NULL;
  PMPI_Type_get_true_extent(type, &lower, &true_extent);
  PMPI_Type_get_extent(type, &unused, &extent);
  if (extent < 0 || lower < 0) fail("a type with a negative extent or lower bound", 0, 0);
  Staged* staged = calloc(1, sizeof *staged);
  const size_t size = (size_t)(true_extent + (count - 1) * extent);
  char* bytes = calloc(size + 1, 1);
  if (staged == NULL || bytes == NULL) fail("an allocation", size, 0);
  *staged = (Staged){.use = use,
                     .device = (char*)buffer,
                     .host = bytes - lower,
                     .bytes = bytes,
                     .lower = lower,
                     .size = size,
                     .count = count,
                     .type = type,
                     .by_status = by_status};
  if ((use & kRead) != 0 && size > 0) copy_to_host(staged);
  return staged;
}

/* How many elements MPI has written. */
static int written_elements(const Staged* staged, const MPI_Status* status) {
  int count = (int)staged->count, cancelled = 0;
  if (!staged->by_status) return count;
  PMPI_Test_cancelled(status, &cancelled);
  PMPI_Get_count(status, staged->type, &count);
  if (!cancelled && count == MPI_UNDEFINED) fail("a message with a part of an element: a copy", 0, 0);
  return cancelled ? 0 : count;
}

/* Copies the elements and not the gaps between them, which may change meanwhile. An Unpack of ones tells where the
 * elements are. */
static void copy_elements(const Staged* staged, int count) {
  int packed_size = 0, position = 0;
  if (count == 0) return;
  PMPI_Pack_size(count, staged->type, MPI_COMM_SELF, &packed_size);
  char* ones = malloc((size_t)packed_size + 1);
  char* mask = calloc(staged->size + 1, 1);
  char* probe = calloc(staged->size + 1, 1);
  if (ones == NULL || mask == NULL || probe == NULL) fail("an allocation", staged->size, 0);
  PMPI_Pack(probe - staged->lower, count, staged->type, ones, packed_size, &position, MPI_COMM_SELF);
  const int bytes = position;
  memset(ones, 0xff, (size_t)packed_size);
  position = 0;
  PMPI_Unpack(ones, bytes, &position, mask - staged->lower, count, staged->type, MPI_COMM_SELF);
  for (size_t begin = 0, end; begin < staged->size; begin = end) {
    for (end = begin; end < staged->size && mask[end] == mask[begin]; ++end) continue;
    if (mask[begin] != 0) copy_to_device(staged, begin, end);
  }
  free(ones);
  free(mask);
  free(probe);
}

void copy_back(const Staged* chain, const MPI_Status* status, int error) {
  for (const Staged* staged = chain; staged != NULL; staged = staged->next) {
    if ((staged->use & kWritten) != 0 && error == MPI_SUCCESS) copy_elements(staged, written_elements(staged, status));
  }
}

void copy_again(Staged* chain) {
  for (Staged* staged = chain; staged != NULL; staged = staged->next) {
    if ((staged->use & kRead) != 0) copy_to_host(staged);
    staged->active = true;
  }
}

void forget(Staged* chain) {
  while (chain != NULL) {
    Staged* next = chain->next;
    free(chain->bytes);
    free(chain);
    chain = next;
  }
}

void unstage(Staged* chain, const MPI_Status* status, int error) {
  copy_back(chain, status, error);
  forget(chain);
}

void keep(Staged* staged, const MPI_Request* request, int error, bool persistent) {
  if (staged == NULL) return;
  if (error != MPI_SUCCESS) {
    forget(staged);
    return;
  }
  staged->request = *request;
  staged->persistent = persistent;
  staged->active = !persistent;
  put_back(staged);
}

bool is_any_kept(void) { return kept_count > 0; }

Staged* take(MPI_Request request) {
  Staged* taken = NULL;
  pthread_mutex_lock(&lock);
  for (Staged** link = &kept; *link != NULL;) {
    Staged* staged = *link;
    if (staged->request != request) {
      link = &staged->next;
      continue;
    }
    *link = staged->next;
    staged->next = taken;
    taken = staged;
    --kept_count;
  }
  pthread_mutex_unlock(&lock);
  return taken;
}

void put_back(Staged* chain) {
  pthread_mutex_lock(&lock);
  while (chain != NULL) {
    Staged* next = chain->next;
    chain->next = kept;
    kept = chain;
    ++kept_count;
    chain = next;
  }
  pthread_mutex_unlock(&lock);
}
