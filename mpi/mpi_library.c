/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the MPI library and making sure that it is the right one. See mpi_library.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, dl_iterate_phdr */
#endif
#include "mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "../pmpi/caller.h"
#include "report.h"

NextMpi next_mpi;

typedef struct Symbol {
  const char *name;
  size_t offset; /* in NextMpi */
} Symbol;

static const Symbol kSymbols[] = {
    {"PMPI_Init_thread", offsetof(NextMpi, init_thread)}, {"PMPI_Finalize", offsetof(NextMpi, finalize)},
    {"PMPI_Send", offsetof(NextMpi, send)},               {"PMPI_Ssend", offsetof(NextMpi, ssend)},
    {"PMPI_Bsend", offsetof(NextMpi, bsend)},             {"PMPI_Rsend", offsetof(NextMpi, rsend)},
    {"PMPI_Recv", offsetof(NextMpi, recv)},               {"PMPI_Sendrecv", offsetof(NextMpi, sendrecv)},
    {"PMPI_Probe", offsetof(NextMpi, probe)},             {"PMPI_Wait", offsetof(NextMpi, wait)},
    {"PMPI_Waitall", offsetof(NextMpi, waitall)},         {"PMPI_Waitany", offsetof(NextMpi, waitany)},
    {"PMPI_Barrier", offsetof(NextMpi, barrier)},         {"PMPI_Bcast", offsetof(NextMpi, bcast)},
    {"PMPI_Reduce", offsetof(NextMpi, reduce)},           {"PMPI_Allreduce", offsetof(NextMpi, allreduce)},
    {"PMPI_Isend", offsetof(NextMpi, isend)},             {"PMPI_Issend", offsetof(NextMpi, issend)},
    {"PMPI_Ibsend", offsetof(NextMpi, ibsend)},           {"PMPI_Irsend", offsetof(NextMpi, irsend)},
    {"PMPI_Irecv", offsetof(NextMpi, irecv)},             {"PMPI_Iprobe", offsetof(NextMpi, iprobe)},
    {"PMPI_Cancel", offsetof(NextMpi, cancel)},           {"PMPI_Test", offsetof(NextMpi, test)},
    {"PMPI_Testall", offsetof(NextMpi, testall)},         {"PMPI_Testany", offsetof(NextMpi, testany)},
    {"PMPI_Ibarrier", offsetof(NextMpi, ibarrier)},       {"PMPI_Ibcast", offsetof(NextMpi, ibcast)},
    {"PMPI_Ireduce", offsetof(NextMpi, ireduce)},         {"PMPI_Iallreduce", offsetof(NextMpi, iallreduce)},
    {"PMPI_Get_library_version", offsetof(NextMpi, get_library_version)},
};

static pthread_once_t resolved = PTHREAD_ONCE_INIT;

static int is_mpi_library(struct dl_phdr_info *info, size_t size, void *found)
{
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = slash != NULL ? slash + 1 : info->dlpi_name;
  if (strncmp(name, "libmpi.so", 9) != 0 && strncmp(name, "libmpich.so", 11) != 0)
    return 0;
  *(const char **)found = info->dlpi_name;
  return 1;
}

/* An interpreter's extension module brings MPI in under RTLD_LOCAL: the library is there, but RTLD_NEXT cannot see it.
 * */
static void *local_library(void)
{
  const char *path = NULL;
  dl_iterate_phdr(is_mpi_library, (void *)&path);
  return path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Called with a function of the other implementation, MPI's handles would be misread: asked before any other call.
 * MPI_Get_library_version may be called before MPI_Init (MPI 3.1, 8.1.1). */
static void check_implementation(void)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  next_mpi.get_library_version(version, &length);
  version[strcspn(version, "\n")] = '\0';
  const int is_open_mpi = strstr(version, "Open MPI") != NULL;
  if (is_open_mpi == MARLINE_MPI_IS_OPENMPI)
    return;
  Dl_info self = {.dli_fname = "libmarline-mpi.so"};
  dladdr((const void *)&next_mpi, &self);
  report_fatal("%s is built for %s, but this program runs '%.60s': preload lib/marline/%s/libmarline-mpi.so instead",
               self.dli_fname, MARLINE_MPI_IS_OPENMPI ? "Open MPI" : "MPICH", version,
               is_open_mpi ? "openmpi" : "mpich");
}

static void resolve(void)
{
  void *handle = RTLD_NEXT;
  if (dlsym(handle, "PMPI_Get_library_version") == NULL)
    handle = local_library();
  for (size_t i = 0; i < sizeof kSymbols / sizeof kSymbols[0]; ++i) {
    void *address = handle != NULL ? dlsym(handle, kSymbols[i].name) : NULL;
    if (address == NULL)
      report_fatal("no function %s behind libmarline-mpi: an MPI library of version 3.0 or newer must be linked "
                   "dynamically (static MPI cannot be intercepted: run without libmarline-mpi)", kSymbols[i].name);
    memcpy((char *)&next_mpi + kSymbols[i].offset, &address, sizeof address);
  }
  check_implementation();
}

void library_resolve(void)
{
  pthread_once(&resolved, resolve);
}

const void *library_address(void)
{
  library_resolve();
  const void *address = NULL;
  memcpy(&address, &next_mpi.init_thread, sizeof address);
  return address;
}
