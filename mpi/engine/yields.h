/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether Open MPI gives the core away in each call that finds nothing.
 */
#ifndef MARLINE_MPI_YIELDS_H
#define MARLINE_MPI_YIELDS_H

#include <stdbool.h>

/* A function of Open MPI (opal/runtime/opal_progress.h, versions 1.7 to 5): returns the previous value. Other
 * libraries do not have it. */
extern bool opal_progress_set_yield_when_idle(bool yields) __attribute__((weak));

#endif
