// SPDX-License-Identifier: Apache-2.0
//
// Entry points for the start and end of MPI, and for MPI's own way to switch tools.
#include "base/core_waits.hpp"
#include "base/machine.hpp"
#include "usage/memory.hpp"
#include "base/recorder.hpp"
#include "base/stream.hpp"
#include "mpi/calls.hpp"
#include "signal/on_signal.hpp"
#include "sums/sums.hpp"

using namespace marline::trace;

MARLINE_MPI int MPI_Init(int* argc, char*** argv) {
  start_recording();
  begin_sums();
  copy_ring_on_signal();
  recorded(__builtin_return_address(0));
  const Call call = enter({.number = call::k_MPI_Init});
  const int result = mpi().Init(argc, argv);
  leave(call);
  if (result == MPI_SUCCESS) {
    begin_mpi();
    restart_core_waits();
    begin_machine();
    begin_memory();
    restart_sums();
  }
  return result;
}

MARLINE_MPI int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  start_recording();
  begin_sums();
  copy_ring_on_signal();
  recorded(__builtin_return_address(0));
  const Call call = enter({.number = call::k_MPI_Init_thread});
  const int result = mpi().Init_thread(argc, argv, required, provided);
  leave(call);
  if (result == MPI_SUCCESS) {
    begin_mpi();
    restart_core_waits();
    begin_machine();
    begin_memory();
    restart_sums();
  }
  return result;
}

MARLINE_MPI int MPI_Finalize() {
  recorded(__builtin_return_address(0));
  stop_core_waits();
  end_sums();
  end_machine();
  if (Stream* stream = Stream::mine()) record_memory(*stream);
  end_mpi();
  const Call call = enter({.number = call::k_MPI_Finalize});
  const int result = mpi().Finalize();
  leave(call);
  write_metadata();
  return result;
}

// The process ends in this call, mostly without running its exit handlers.
MARLINE_MPI int MPI_Abort(MPI_Comm comm, int error) {
  if (recorded(__builtin_return_address(0))) {
    enter({.number = call::k_MPI_Abort, .comm = comm_id(comm)});
    write_metadata();
  }
  return mpi().Abort(comm, error);
}

// MPI 4.0, 15.2.4: 0 turns a tool off, 1 on; 2 makes it write what it has. Each tool defines the other levels.
MARLINE_MPI int MPI_Pcontrol(const int level, ...) {
  switch (level) {
    case 0: control_recording(Control::kOff); break;
    case 1: control_recording(Control::kOn); break;
    case 2: control_recording(Control::kFlush); break;
    default: break;
  }
  return mpi().Pcontrol(level);
}

// Fortran bindings and other tools call these.
MARLINE_MPI __attribute__((alias("MPI_Init"))) decltype(MPI_Init) PMPI_Init;
MARLINE_MPI __attribute__((alias("MPI_Init_thread"))) decltype(MPI_Init_thread) PMPI_Init_thread;
MARLINE_MPI __attribute__((alias("MPI_Finalize"))) decltype(MPI_Finalize) PMPI_Finalize;
MARLINE_MPI __attribute__((alias("MPI_Abort"))) decltype(MPI_Abort) PMPI_Abort;
MARLINE_MPI __attribute__((alias("MPI_Pcontrol"))) decltype(MPI_Pcontrol) PMPI_Pcontrol;
