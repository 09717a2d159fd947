/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks an MPI library what it is. Its version may be asked before MPI_Init (MPI 3.1, 8.1.1), its ABI as well (MPI 5.0,
 * 11.4.1).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { kLongestVersion = 8192 }; /* the largest MPI_MAX_LIBRARY_VERSION_STRING of the three ABIs */

void pmpi_version_of(void* handle, char* line, size_t room) {
  char version[kLongestVersion + 1] = "";
  int (*ask)(char*, int*) = NULL;
  int length = 0;
  *(void**)&ask = dlsym(handle, "PMPI_Get_library_version");
  if (ask != NULL) ask(version, &length);
  version[strcspn(version, "\n")] = '\0';
  snprintf(line, room, "%s", version);
}

const char* pmpi_abi_of(void* handle) {
  int (*ask)(int*, int*) = NULL;
  int major = 0, minor = 0;
  if (dlsym(handle, "PMPI_Get_library_version") == NULL) return NULL;
  *(void**)&ask = dlsym(handle, "PMPI_Abi_get_version");
  if (ask != NULL && ask(&major, &minor) == 0 && major > 0) return "standard";
  char version[64];
  pmpi_version_of(handle, version, sizeof version);
  return strstr(version, "Open MPI") != NULL ? "openmpi" : "mpich";
}

const char* pmpi_own_abi(void) { return MARLINE_MPI_ABI; }

const char* pmpi_abi_title(const char* abi) {
  if (strcmp(abi, "openmpi") == 0) return "Open MPI";
  return strcmp(abi, "mpich") == 0 ? "MPICH" : "the standard ABI of MPI";
}
