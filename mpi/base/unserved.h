/* SPDX-License-Identifier: Apache-2.0
 *
 * Names the calls of the program that this library does not know: functions of a newer MPI, and extensions (MPIX_).
 * They go straight to the MPI library, and a task that waits in one holds its thread.
 */
#ifndef MARLINE_MPI_UNSERVED_H
#define MARLINE_MPI_UNSERVED_H

/* Prints one line if the program, or a library of it, refers to such functions. Called once, in MPI_Init. */
void unserved_report(void);

#endif
