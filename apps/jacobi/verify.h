/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges a result by what it must be, not by what the iterations say of it. Main thread only.
 */
#ifndef JACOBI_VERIFY_H
#define JACOBI_VERIFY_H

#include <stdint.h>

#include "solve.h"

typedef struct {
  double residual; /* largest element of the result's, computed anew */
  uint64_t hash;   /* of the result; the same for any ranks and blocks */
} Check;

/* Collective. */
Check verify_result(const Solver* solver, int iterate);

/* Notes a failure if the result is wrong, or tasks that were cancelled left a message. `first` is the first residual.
 */
void verify_judge(const Check* check, const Outcome* outcome, double enough, double first, Failure* failure);

#endif
