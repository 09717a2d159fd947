/* SPDX-License-Identifier: Apache-2.0
 *
 * The factorisation A = L * transpose(L), right-looking, as a graph of tasks that one thread creates.
 */
#ifndef CHOLESKY_FACTORISE_H
#define CHOLESKY_FACTORISE_H

#include "matrix.h"
#include "panel.h"

/* Replaces a by L. Collective over all processes; called by the main thread outside of parallel regions. If a is not
 * positive definite, tiles end with a status other than 0: see factorise_bad_minor. */
void factorise(Matrix* a, const Panel* panel);

/* The order of the smallest leading minor of A that is not positive, or 0 if A is positive definite. The same on all
 * processes; collective. */
int factorise_bad_minor(const Matrix* l);

#endif
