/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the MPI library and makes sure that it is the right one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, dl_iterate_phdr */
#endif
#include "base/mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "../pmpi/caller.h"
#include "base/report.h"

NextMpi mpi_itself;
NextMpi mpi_functions;

/* In the order of NextMpi's members. */
static const char* const kNames[] = MARLINE_NEXT_NAMES;
_Static_assert(sizeof(NextMpi) == sizeof kNames / sizeof kNames[0] * sizeof(void (*)(void)), "one pointer per name");

/* The functions that everything else needs. An older library of the same ABI may lack other functions, which its
 * programs do not call. */
static const char* const kNeeded[] = {"PMPI_Init_thread", "PMPI_Test",     "PMPI_Testany",
                                      "PMPI_Improbe",     "PMPI_Ibarrier", "PMPI_Iallreduce"};

static void* mpi_handle; /* for dlsym */

static pthread_once_t resolved = PTHREAD_ONCE_INIT;

static int is_mpi_library(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash != NULL ? slash + 1 : info->dlpi_name;
  if (strncmp(name, "libmpi.so", 9) != 0 && strncmp(name, "libmpich.so", 11) != 0) return 0;
  *(const char**)found = info->dlpi_name;
  return 1;
}

/* The extension module of an interpreter loads MPI with RTLD_LOCAL: then the library is loaded, but RTLD_NEXT does
 * not find it. */
static void* local_library(void) {
  const char* path = NULL;
  dl_iterate_phdr(is_mpi_library, (void*)&path);
  return path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Called before any other function: functions of the other implementation would misread MPI's handles.
 * MPI_Get_library_version may be called before MPI_Init (MPI 3.1, 8.1.1). */
static void check_implementation(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  mpi_functions.get_library_version(version, &length);
  version[strcspn(version, "\n")] = '\0';
  const int is_open_mpi = strstr(version, "Open MPI") != NULL;
  if (is_open_mpi == MARLINE_MPI_IS_OPENMPI) return;
  Dl_info self = {.dli_fname = "libmarline-mpi.so"};
  dladdr((const void*)&next_mpi, &self);
  report_fatal("%s is built for %s, but this program runs '%.60s': preload lib/marline/%s/libmarline-mpi.so instead",
               self.dli_fname, MARLINE_MPI_IS_OPENMPI ? "Open MPI" : "MPICH", version,
               is_open_mpi ? "openmpi" : "mpich");
}

static int not_in_this_library(void) {
  report_fatal(
      "the program calls a function of MPI that the MPI library behind libmarline-mpi does not have: rebuild "
      "Marline and the program with this MPI");
}

/* The next function of the name MPI_X in the loader's order, if it belongs to a tool: it is neither in the MPI
 * library nor in the object that has PMPI_X. */
static void* tools_function(const char* pmpi_name, const void* pmpi_address, const ObjectRange* library) {
  void* address = dlsym(mpi_handle, pmpi_name + 1);
  if (address == NULL || object_holds(library, address)) return NULL;
  const ObjectRange other = object_range(pmpi_address);
  return object_holds(&other, address) ? NULL : address;
}

static void resolve(void) {
  mpi_handle = RTLD_NEXT;
  if (dlsym(mpi_handle, "PMPI_Get_library_version") == NULL) mpi_handle = local_library();
  for (size_t i = 0; i < sizeof kNeeded / sizeof kNeeded[0]; ++i) {
    if (mpi_handle == NULL || dlsym(mpi_handle, kNeeded[i]) == NULL)
      report_fatal(
          "no function %s behind libmarline-mpi: an MPI library of version 3.0 or newer must be linked "
          "dynamically (static MPI cannot be intercepted: run without libmarline-mpi)",
          kNeeded[i]);
  }
  const ObjectRange library = object_range(dlsym(mpi_handle, "PMPI_Get_library_version"));
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    void* address = dlsym(mpi_handle, kNames[i]);
    if (address == NULL) address = (void*)not_in_this_library;
    memcpy((char*)&mpi_functions + i * sizeof address, &address, sizeof address);
    const void* inside;
    memcpy(&inside, (const char*)&inside_functions + i * sizeof inside, sizeof inside);
    memcpy((char*)&mpi_itself + i * sizeof inside, &inside, sizeof inside);
    void* tools = tools_function(kNames[i], address, &library);
    if (tools != NULL) later_tool_add(tools);
    memcpy((char*)&next_mpi + i * sizeof address, tools != NULL ? (const void**)&tools : &inside, sizeof inside);
  }
  if (later_tool_count > 0) /* a tool's call may be a jump, and then seems to come from this library */
    later_tool_add((const void*)not_in_this_library);
  check_implementation();
}

void library_resolve(void) { pthread_once(&resolved, resolve); }

const void* library_address(void) {
  library_resolve();
  const void* address = NULL;
  memcpy(&address, &mpi_functions.get_library_version, sizeof address);
  return address;
}

#if MARLINE_MPI_IS_OPENMPI
static const void* object(const char* name) {
  const void* found = dlsym(mpi_handle, name);
  if (found == NULL) report_fatal("no object %s in the MPI library: not Open MPI?", name);
  return found;
}

/* Open MPI's predefined handles are addresses of its objects. A program may have a copy of such an object, and the
 * library then uses the copy (a copy relocation). The library keeps the addresses in variables for Fortran. */
static void* predefined(const char* name) { return *(void* const*)object(name); }
#define PREDEFINED(name, handle) predefined(name)
#else
#define PREDEFINED(name, handle) handle
#endif

MPI_Datatype library_packed(void) {
#if MARLINE_MPI_IS_OPENMPI
  return (MPI_Datatype)object("ompi_mpi_packed"); /* constant: any copy will do */
#else
  return MPI_PACKED;
#endif
}

MPI_Comm library_comm_world(void) { return PREDEFINED("ompi_mpi_comm_world_addr", MPI_COMM_WORLD); }

MPI_Comm library_comm_self(void) { return PREDEFINED("ompi_mpi_comm_self_addr", MPI_COMM_SELF); }

MPI_Comm library_comm_null(void) { return PREDEFINED("ompi_mpi_comm_null_addr", MPI_COMM_NULL); }

MPI_Request library_request_null(void) { return PREDEFINED("ompi_request_null_addr", MPI_REQUEST_NULL); }
