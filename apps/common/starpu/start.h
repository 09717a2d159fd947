/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of StarPU, for programs that compare with it. Main thread.
 */
#ifndef STARPU_START_H
#define STARPU_START_H

/* Starts StarPU with so many CPU workers, and without accelerators; the user may set STARPU_SCHED. StarPU measures
 * buses at its start and keeps the results under STARPU_HOME: here a folder of this process, removed before the
 * return. Returns 0, StarPU's error, or kNoFolder.
 */
int starpu_start(int workers);

enum { kNoFolder = 1 }; /* no folder can be made under TMPDIR or in /tmp; StarPU's errors are negative */

#endif
