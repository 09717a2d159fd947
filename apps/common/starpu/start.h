/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of StarPU, for programs that compare with it. Main thread.
 */
#ifndef STARPU_START_H
#define STARPU_START_H

/* With so many CPU workers, and without accelerators; STARPU_SCHED stays the user's. StarPU measures buses at its start
 * and keeps that under STARPU_HOME: here a folder of this process, gone at the return. 0, StarPU's error, or kNoFolder.
 */
int starpu_start(int workers);

enum { kNoFolder = 1 }; /* neither under TMPDIR nor in /tmp; StarPU's are negative */

#endif
