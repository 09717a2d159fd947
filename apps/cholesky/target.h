/* SPDX-License-Identifier: Apache-2.0
 *
 * The factorisation by target tasks on the default device, which one thread of one process creates. Whatever the device
 * is, tiles go there once, at the start, and come back each when it is done.
 */
#ifndef CHOLESKY_TARGET_H
#define CHOLESKY_TARGET_H

#include "failure.h"
#include "job.h"
#include "matrix.h"

/* Notes a failure if there is more than one rank, or no device. Starts the device. */
void target_check(const Job* job, Failure* failure);

/* As factorise (factorise.h), for a matrix of which this process holds all tiles. */
void target_factorise(Matrix* a);

#endif
