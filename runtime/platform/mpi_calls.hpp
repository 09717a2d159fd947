// SPDX-License-Identifier: Apache-2.0
//
// Whether the MPI calls of this process come to libmarline-mpi. Where they do not, each call blocks its thread, and a
// program whose tasks wait for messages may hang without a word. libmarline-mpi reports itself in MPI_Init. Where it is
// not in the process, nothing of Marline's is called in MPI_Init: this library does not define MPI's functions, because
// mpi4py and others take a process for one with MPI by these names; a dlopen of its own would change where the caller's
// libraries are searched (RUNPATH of the caller); and an auditor (LD_AUDIT) would be one more thing to load.
//
// So libmpi is looked for, and asked whether it is initialised, when the program first uses OpenMP, at the begin of
// each outermost region, and at the exit. One line says it, on the first rank of the job. That is early enough: only
// tasks hang, deferred tasks are made in regions, and a region that begins after MPI_Init has a look at its begin. Left
// out are a region that is open when MPI_Init is called and a region that begins within kTicksBetweenLooks of the last
// look. A program of which all regions are so hears of it at its exit.
//
// Limits: an MPI that is linked statically is not seen, and sessions of MPI 4.0 without MPI_Init are not.
#pragma once

#include "base/atomic.hpp"
#include "base/clock.hpp"

namespace marline {

// The MPI calls of the program come to libmarline-mpi, or MPI is here for Marline's own messages. Any thread.
void mpi_is_served();

// Warns if they do not. Takes the dynamic linker's lock.
void warn_of_unserved_mpi();

// 0.3 ms on x86 of 3 GHz, up to 40 ms on AArch64 with its slowest counter.
inline constexpr uint64_t kTicksBetweenLooks = 1 << 20;
// When the next look is due, in cycles(); ~0: never. Written by threads that look, read by those that open regions;
// relaxed: two looks at once do no harm.
extern Atomic<uint64_t> g_next_mpi_look;
void look_for_unserved_mpi();

// Called at the begin of an outermost region: warns of an MPI that has come since the last look.
inline void look_for_unserved_mpi_now_and_then() {
  if (cycles() >= g_next_mpi_look.load(relaxed)) [[unlikely]]
    look_for_unserved_mpi();
}

}  // namespace marline
