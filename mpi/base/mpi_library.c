/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the MPI library and makes sure that it is the right one.
 */
#include "base/mpi_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../pmpi/abi.h"
#include "../pmpi/caller.h"
#include "../pmpi/library.h"
#include "base/device_threads.h"
#include "base/report.h"

NextMpi mpi_itself;
NextMpi mpi_functions;
bool next_mpi_is_itself;

/* The functions that everything else needs. An older library of the same ABI may lack other functions, which its
 * programs do not call. */
static const char* const kNeeded[] = {"PMPI_Init_thread", "PMPI_Test",     "PMPI_Testany",
                                      "PMPI_Improbe",     "PMPI_Ibarrier", "PMPI_Iallreduce"};

static pthread_once_t resolved = PTHREAD_ONCE_INIT;

void pmpi_fatal(const char* line) { report_fatal("%s", line); }

/* Called before any other function: functions of another ABI would misread MPI's handles. */
static void check_abi(void) {
  const char* abi = pmpi_abi_of(pmpi_handle());
  if (abi == NULL || strcmp(abi, pmpi_own_abi()) == 0) return;
  char version[64];
  pmpi_version_of(pmpi_handle(), version, sizeof version);
  Dl_info self = {.dli_fname = "libmarline-mpi.so"};
  dladdr((const void*)&next_mpi, &self);
  report_fatal("%s is built for %s, but this program runs '%s': preload lib/marline/%s/libmarline-mpi.so instead",
               self.dli_fname, pmpi_abi_title(pmpi_own_abi()), version, abi);
}

/* The next function of the name MPI_X in the loader's order, if it belongs to a tool: it is neither in the MPI
 * library nor in the object that has PMPI_X. */
static void* tools_function(const char* pmpi_name, const void* pmpi_address, const ObjectRange* library) {
  void* address = pmpi_function(pmpi_name + 1);
  if (address == NULL || object_holds(library, address)) return NULL;
  const ObjectRange other = object_range(pmpi_address);
  return object_holds(&other, address) ? NULL : address;
}

/* Copies the pointer with this index. Each struct has one per entry of pmpi_table. */
static void set_function(NextMpi* functions, size_t index, const void* address) {
  memcpy((char*)functions + index * sizeof address, &address, sizeof address);
}

static const void* function_of(const NextMpi* functions, size_t index) {
  const void* address;
  memcpy(&address, (const char*)functions + index * sizeof address, sizeof address);
  return address;
}

static void resolve(void) {
  check_abi();
  for (size_t i = 0; i < sizeof kNeeded / sizeof kNeeded[0]; ++i) {
    if (pmpi_function(kNeeded[i]) == NULL)
      report_fatal(
          "no function %s behind libmarline-mpi: an MPI library of version 3.0 or newer must be linked "
          "dynamically (static MPI cannot be intercepted: run without libmarline-mpi)",
          kNeeded[i]);
  }
  pmpi_resolve(&mpi_functions);
  device_threads_open();
  const ObjectRange library = object_range(pmpi_function("PMPI_Get_library_version"));
  for (size_t i = 0; i < pmpi_table_size; ++i) {
    const void* inside = function_of(&inside_functions, i);
    set_function(&mpi_itself, i, inside);
    void* tools = tools_function(pmpi_table[i].name, function_of(&mpi_functions, i), &library);
    if (tools != NULL) later_tool_add(tools);
    set_function(&next_mpi, i, tools != NULL ? tools : inside);
  }
  next_mpi_is_itself = later_tool_count == 0;
  if (later_tool_count > 0) /* a tool's call may be a jump, and then seems to come from this library */
    later_tool_add((const void*)check_abi);
}

void library_resolve(void) { pthread_once(&resolved, resolve); }

const void* library_address(void) {
  library_resolve();
  const void* address = NULL;
  memcpy(&address, &mpi_functions.get_library_version, sizeof address);
  return address;
}

#if MARLINE_MPI_IS_OPENMPI /* handles are addresses: the numbers are those for Fortran */
int number_of_type(MPI_Datatype type) {
  MPI_Fint (*convert)(MPI_Datatype) = NULL;
  *(void**)&convert = pmpi_function("PMPI_Type_c2f");
  return convert(type);
}

int number_of_op(MPI_Op op) {
  MPI_Fint (*convert)(MPI_Op) = NULL;
  *(void**)&convert = pmpi_function("PMPI_Op_c2f");
  return convert(op);
}

MPI_Datatype type_of_number(int number) {
  MPI_Datatype (*convert)(MPI_Fint) = NULL;
  *(void**)&convert = pmpi_function("PMPI_Type_f2c");
  return convert(number);
}

MPI_Op op_of_number(int number) {
  MPI_Op (*convert)(MPI_Fint) = NULL;
  *(void**)&convert = pmpi_function("PMPI_Op_f2c");
  return convert(number);
}
#else /* predefined handles are the same numbers everywhere */
int number_of_type(MPI_Datatype type) { return (int)(intptr_t)type; }
int number_of_op(MPI_Op op) { return (int)(intptr_t)op; }
MPI_Datatype type_of_number(int number) { return (MPI_Datatype)(intptr_t)number; }
MPI_Op op_of_number(int number) { return (MPI_Op)(intptr_t)number; }
#endif
