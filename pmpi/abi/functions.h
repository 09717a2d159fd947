/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of MPI that Marline's libraries intercept or call. Included by each ABI's mpi.h after its types.
 */
#ifndef MARLINE_PMPI_FUNCTIONS_H
#define MARLINE_PMPI_FUNCTIONS_H

#include "types.h"

#include "functions/collectives.h"
#include "functions/communicators.h"
#include "functions/later.h"
#include "functions/messages.h"
#include "functions/windows.h"

#endif
