/* SPDX-License-Identifier: Apache-2.0
 *
 * The length of a step, and the forms `serial` and `for`: phase after phase, each divided among the threads.
 */
#include <mpi.h>
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "constants.h"
#include "forms.h"
#include "loops.h"

bool simulation_advance(Simulation* simulation) {
  Fields* fields = simulation->fields;
  double limit = NO_LIMIT;
  if (fields->cycle > 0) {
    double mine[2] = {step_limit(fields), fields_failure(fields)}, least[2];
    MPI_Allreduce(mine, least, 2, MPI_DOUBLE, MPI_MIN, simulation->steps);
    limit = least[0];
    simulation->failure = (int)least[1];
  }
  bool ended = simulation->failure != kSound || fields->time >= STOP_TIME || fields->cycle >= simulation->most_cycles;
  __atomic_store_n(&simulation->ended, ended, __ATOMIC_RELAXED); /* see simulation_ended */
  if (!ended) {
    advance_time(fields, limit);
    if (simulation->prints_cycles) {
      printf("# cycle %d time %.9e step %.9e\n", fields->cycle, fields->time, fields->step);
    }
  }
  return !ended;
}

/* Two phases between two exchanges of messages; the second may be null. `apart`: the second phase reads results of
 * other threads' first phase. */
typedef void RunPhases(Simulation* simulation, Phase* first, Phase* second, bool apart);

static void run_alone(Simulation* simulation, Phase* first, Phase* second, bool apart) {
  (void)apart;
  first(simulation->fields, simulation->cut->share);
  if (second) {
    second(simulation->fields, simulation->cut->share);
  }
}

#ifdef _OPENMP
/* Each thread runs a share, or several if there are fewer threads than asked for. */
static void run_shares(const Simulation* simulation, Phase* phase) {
  const Cut* cut = simulation->cut;
  for (int i = omp_get_thread_num(); i < cut->shares; i += omp_get_num_threads()) {
    phase(simulation->fields, &cut->share[i]);
  }
}

static void run_shared(Simulation* simulation, Phase* first, Phase* second, bool apart) {
#pragma omp parallel default(none) shared(simulation, first, second, apart)
  {
    run_shares(simulation, first);
    if (apart) {
#pragma omp barrier
    }
    if (second) {
      run_shares(simulation, second);
    }
  }
}
#else
static RunPhases* const run_shared = run_alone;
#endif

static void simulate(Simulation* simulation, RunPhases* run) {
  Fields* fields = simulation->fields;
  Exchange* exchange = simulation->exchange;
  while (simulation_advance(simulation)) {
    if (simulation->allocates) {
      fields_allocate_anew(fields);
    }
    run(simulation, phase_forces, phase_gather, true);
    exchange_all(exchange, kForces, fields);
    run(simulation, phase_accelerate, phase_move, false);
    exchange_all(exchange, kMotion, fields);
    run(simulation, phase_kinematics, NULL, false);
    exchange_all(exchange, kGradients, fields);
    run(simulation, phase_viscosity, phase_material, true);
  }
}

void serial_run(Simulation* simulation) { simulate(simulation, run_alone); }

void loops_run(Simulation* simulation) { simulate(simulation, run_shared); }
