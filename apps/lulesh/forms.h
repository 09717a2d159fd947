/* SPDX-License-Identifier: Apache-2.0
 *
 * The forms of the program: the same loops, called in other ways.
 */
#ifndef LULESH_FORMS_H
#define LULESH_FORMS_H

#include "exchange.h"
#include "fields.h"

typedef struct {
  Fields *fields;
  Exchange *exchange;
  int most_cycles;
  bool prints_cycles; /* by this process */
} Simulation;

/* Advances until the stop time, the last cycle that is allowed, or a failure (fields->failure, of any process). Collective.
 * The main thread calls MPI. */
typedef void Form(Simulation *simulation);

Form form_serial, form_loops;

#endif
