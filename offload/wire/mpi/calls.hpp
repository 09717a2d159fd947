// SPDX-License-Identifier: Apache-2.0
//
// The functions of the MPI library that the wire calls, by their PMPI names: neither a PMPI tool nor libmarline-mpi
// sees or suspends these calls. They are looked up at run time, not linked: the process's MPI library may have another
// name than the MPI library of the build, and may be in no scope that the linker would search. Join writes them, once.
#pragma once

#include <mpi.h>  // of pmpi/abi

#include <cstddef>

namespace marline::offload::wire {

struct Calls {
  decltype(&MPI_Initialized) initialized;
  decltype(&MPI_Finalized) finalized;
  decltype(&MPI_Init_thread) init_thread;
  decltype(&MPI_Query_thread) query_thread;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Error_string) error_string;
  decltype(&MPI_Comm_split) comm_split;
  decltype(&MPI_Comm_free) comm_free;
  decltype(&MPI_Comm_rank) comm_rank;
  decltype(&MPI_Comm_size) comm_size;
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler;
  decltype(&MPI_Comm_create_keyval) comm_create_keyval;
  decltype(&MPI_Comm_set_attr) comm_set_attr;
  decltype(&MPI_Comm_delete_attr) comm_delete_attr;
  decltype(&MPI_Comm_free_keyval) comm_free_keyval;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Isend) isend;
  decltype(&MPI_Irecv) irecv;
  decltype(&MPI_Test) test;
  decltype(&MPI_Cancel) cancel;
  decltype(&MPI_Wait) wait;
  decltype(&MPI_Get_count) get_count;

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
