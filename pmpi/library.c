/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks up MPI's functions and objects by name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, dl_iterate_phdr */
#endif
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"

#include <mpi.h>

enum { kMostLibraries = 8 };

/* MPI libraries that are loaded, by the paths that the loader knows. */
typedef struct Loaded {
  const char* paths[kMostLibraries];
  int count;
} Loaded;

static void* local_library; /* NULL: RTLD_NEXT finds MPI, or there is none; written under `once` */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int note_mpi_library(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  Loaded* loaded = found;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash != NULL ? slash + 1 : info->dlpi_name;
  const bool is_mpi = strncmp(name, "libmpi.so", 9) == 0 || strncmp(name, "libmpich.so", 11) == 0 ||
                      strncmp(name, "libmpi_abi.so", 13) == 0;
  if (is_mpi && loaded->count < kMostLibraries) loaded->paths[loaded->count++] = info->dlpi_name;
  return 0;
}

/* A library of our own ABI, if one of several is. */
static void find_local_library(void) {
  if (dlsym(RTLD_NEXT, "PMPI_Get_library_version") != NULL) return;
  Loaded loaded = {.count = 0};
  dl_iterate_phdr(note_mpi_library, &loaded);
  for (int i = 0; i < loaded.count; ++i) {
    void* handle = dlopen(loaded.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    const char* abi = handle != NULL ? pmpi_abi_of(handle) : NULL;
    if (abi == NULL) continue;
    const bool is_ours = strcmp(abi, pmpi_own_abi()) == 0;
    if (is_ours || local_library == NULL) local_library = handle;
    if (is_ours) return;
  }
}

void* pmpi_function(const char* name) {
  pthread_once(&once, find_local_library);
  void* found = dlsym(RTLD_NEXT, name);
  return found != NULL || local_library == NULL ? found : dlsym(local_library, name);
}

void* pmpi_handle(void) {
  pthread_once(&once, find_local_library);
  return local_library != NULL ? local_library : RTLD_NEXT;
}

#ifdef MARLINE_PMPI_OBJECTS
PmpiObjects pmpi_objects;

/* A program that is not position-independent has its own copy of an object that it names, and the library uses that
 * copy, too (a copy relocation): so the global scope comes first. */
static void* object(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL && local_library != NULL) found = dlsym(local_library, name);
  if (found == NULL) {
    char line[160];
    snprintf(line, sizeof line, "the MPI library has no object %s: it is not %s", name,
             pmpi_abi_title(MARLINE_MPI_ABI));
    pmpi_fatal(line);
  }
  return found;
}

#define FIND(member, name) pmpi_objects.member = object(name);
static void find_objects(void) { MARLINE_PMPI_OBJECTS(FIND) }
#else
static void find_objects(void) {}
#endif

void pmpi_resolve(void* functions) {
  for (size_t i = 0; i < pmpi_table_size; ++i) {
    void* address = pmpi_function(pmpi_table[i].name);
    if (address == NULL) *(void (**)(void))&address = pmpi_table[i].missing;
    memcpy((char*)functions + i * sizeof address, &address, sizeof address);
  }
  find_objects();
}

void pmpi_missing(const char* name) {
  char version[64], line[240];
  pmpi_version_of(pmpi_handle(), version, sizeof version);
  snprintf(
      line, sizeof line,
      "the program calls %s, which this MPI library ('%s') does not have: run it with the MPI that it was built for",
      name, version);
  pmpi_fatal(line);
}
