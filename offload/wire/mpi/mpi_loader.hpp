// SPDX-License-Identifier: Apache-2.0
//
// Which MPI the job runs on, and the wire `mpi` for it, which lies in a library of its own beside this one
// (libmarline-wire-openmpi.so, libmarline-wire-mpich.so). Any thread.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// What the launcher says of this process: true if it was started by one of MPI's, or by Slurm's. `count` is 0 where
// only the number is known; MPI knows both. Nothing is loaded.
[[nodiscard]] bool launched_by_mpi(int& number, int& count);

enum class Mpi { none, open_mpi, mpich };

// The MPI that is loaded in the process, otherwise the one whose launcher has started it, otherwise the only one that
// is installed.
[[nodiscard]] Mpi find_mpi_of_job();

// Loads the wire for that MPI. Ends the process with a line if there is none.
[[nodiscard]] const WireKind* load_mpi_wire();

}  // namespace marline::offload::wire
