/* SPDX-License-Identifier: Apache-2.0
 *
 * MARLINE_MPI_WATCH=SECONDS: rank 0 starts `marline ps --watch SECONDS` on itself, a process that looks at the job from
 * outside and reports once if it hangs. It ends with this process.
 */
#ifndef MARLINE_MPI_WATCH_H
#define MARLINE_MPI_WATCH_H

/* Called in MPI_Init, after the parts of describe.c have been registered. */
void watch_start(double seconds);

#endif
