/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked into the Fortran programs for check.h's constructor: the proof of which runtime is in the process.
 */
#include "../check.h"
