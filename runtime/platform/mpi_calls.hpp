// SPDX-License-Identifier: Apache-2.0
//
// Whether the MPI calls of this process come to libmarline-mpi. Where they do not, each call blocks its thread, and a
// program whose tasks wait for messages may hang without a word. libmarline-mpi reports itself in MPI_Init; libmpi is
// looked for, and asked whether it is initialised, when the program first uses OpenMP, and once more at the exit. One
// line says it, on the first rank of the job. Nothing is looked for between the two: a program that initialises MPI
// after its first use of OpenMP, by a library that it has loaded, hears of it at its exit only.
//
// Limits: an MPI that is linked statically is not seen, and sessions of MPI 4.0 without MPI_Init are not.
#pragma once

namespace marline {

// The MPI calls of the program come to libmarline-mpi, or MPI is here for Marline's own messages. Any thread.
void mpi_is_served();

// Warns if they do not. Takes the dynamic linker's lock.
void warn_of_unserved_mpi();

}  // namespace marline
