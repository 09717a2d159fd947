// SPDX-License-Identifier: Apache-2.0
//
// Finds out on which MPI the job runs, and loads the wire `mpi` for it from a library next to this one
// (libmarline-wire-openmpi.so and so on, one for each ABI of pmpi/abi). Any thread.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// Reads the launcher's variables: returns true if a launcher of MPI or of Slurm has started this process. `count` is 0
// if only the number is known; MPI knows both. Loads nothing.
[[nodiscard]] bool launched_by_mpi(int& number, int& count);

enum class Mpi { none, open_mpi, mpich, standard };

// The MPI that is loaded in the process; if none is, the MPI of the launcher that has started the process; else the
// only MPI that is installed.
[[nodiscard]] Mpi find_mpi_of_job();

// Loads the wire for that MPI. Ends the process with one line if it cannot.
[[nodiscard]] const WireKind* load_mpi_wire();

}  // namespace marline::offload::wire
