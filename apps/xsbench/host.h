/* SPDX-License-Identifier: Apache-2.0
 *
 * All lookups by the threads of the host: what devices are compared with.
 */
#ifndef XSBENCH_HOST_H
#define XSBENCH_HOST_H

#include "tables.h"

/* The sum of the channels of lookups 0 to `lookups` - 1. */
unsigned long long host_run(const Tables* tables, long long lookups);

#endif
