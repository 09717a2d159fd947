/* SPDX-License-Identifier: Apache-2.0
 *
 * The reactor of Hoogenboom and Martin (A proposal for a benchmark to monitor the performance of detailed Monte Carlo
 * calculation of power densities in a full size reactor core, 2009): twelve materials, with the nuclides that XSBench
 * gives them. The large reactor differs from the small one in the fuel. No state.
 */
#ifndef XSBENCH_MATERIALS_H
#define XSBENCH_MATERIALS_H

#include "data.h"

void materials_fill(Materials* materials, int nuclides);

#endif
