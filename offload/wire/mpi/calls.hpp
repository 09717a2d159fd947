// SPDX-License-Identifier: Apache-2.0
//
// The functions of the MPI library that the wire calls, by their PMPI names: neither a PMPI tool nor libmarline-mpi
// sees or suspends these calls. They are looked up at run time, not linked: the process's MPI library may have another
// name than the MPI library of the build, and may be in no scope that the linker would search. Join writes them, once.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace marline::offload::wire {

struct Calls {
  decltype(&PMPI_Get_library_version) get_library_version;
  decltype(&PMPI_Initialized) initialized;
  decltype(&PMPI_Finalized) finalized;
  decltype(&PMPI_Init_thread) init_thread;
  decltype(&PMPI_Query_thread) query_thread;
  decltype(&PMPI_Finalize) finalize;
  decltype(&PMPI_Error_string) error_string;
  decltype(&PMPI_Comm_split) comm_split;
  decltype(&PMPI_Comm_free) comm_free;
  decltype(&PMPI_Comm_rank) comm_rank;
  decltype(&PMPI_Comm_size) comm_size;
  decltype(&PMPI_Comm_set_errhandler) comm_set_errhandler;
  decltype(&PMPI_Comm_create_keyval) comm_create_keyval;
  decltype(&PMPI_Comm_set_attr) comm_set_attr;
  decltype(&PMPI_Comm_delete_attr) comm_delete_attr;
  decltype(&PMPI_Comm_free_keyval) comm_free_keyval;
  decltype(&PMPI_Bcast) bcast;
  decltype(&PMPI_Allgather) allgather;
  decltype(&PMPI_Isend) isend;
  decltype(&PMPI_Irecv) irecv;
  decltype(&PMPI_Test) test;
  decltype(&PMPI_Cancel) cancel;
  decltype(&PMPI_Wait) wait;
  decltype(&PMPI_Get_count) get_count;

  // Handles. In Open MPI they are addresses of the library's objects.
  MPI_Comm world;
  MPI_Comm self;
  MPI_Datatype byte;
  MPI_Errhandler errors_return;
  MPI_Request no_request;
};

extern Calls mpi;

// Fills `mpi` from the MPI library of the process, or loads one. Returns false, with the reason in `line`, if there is
// no library, or it is of the other implementation, or it lacks a function.
[[nodiscard]] bool find_mpi(char* line, size_t room);

}  // namespace marline::offload::wire
