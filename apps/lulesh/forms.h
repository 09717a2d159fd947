/* SPDX-License-Identifier: Apache-2.0
 *
 * The forms of the program: the same phases, called in other ways.
 */
#ifndef LULESH_FORMS_H
#define LULESH_FORMS_H

#include <mpi.h>

#include "cut.h"
#include "exchange.h"
#include "fields.h"

typedef struct {
  Fields* fields;
  Exchange* exchange;
  const Cut* cut; /* of the forms without tasks */
  MPI_Comm steps; /* the communicator for steps; messages have another one */
  int most_cycles;
  bool prints_cycles; /* this process prints a line per cycle */
  bool allocates;     /* the forms without tasks allocate the arrays between loops anew in each cycle */

  /* Written by simulation_advance only. */
  bool ended;  /* simulation_ended reads it */
  int failure; /* why the run has ended, from any process */
} Simulation;

/* Finds the length of the next step from all processes' limits, and begins the cycle; or finds that the run has ended:
 * at the stop time, with the last cycle that is allowed, or by a failure. The same on all processes. False: it has
 * ended. Collective. */
bool simulation_advance(Simulation* simulation);

/* Whether the last simulation_advance has found that the run has ended. Relaxed: dependences, waits and messages
 * order it. */
static inline bool simulation_ended(const Simulation* simulation) {
  return __atomic_load_n(&simulation->ended, __ATOMIC_RELAXED);
}

/* The forms `serial` and `for` advance until the end. Collective. The main thread calls MPI. */
void serial_run(Simulation* simulation);
void loops_run(Simulation* simulation);

#endif
