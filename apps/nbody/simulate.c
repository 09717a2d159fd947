/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread per process walks through the steps in program order and creates a task for each piece of work and each
 * message; the `depend` clauses are all that orders them, within a step and from step to step. Every kind of task has a
 * function of its own that is not inlined, so that the code address which a tool sees at its creation names it.
 */
#include "simulate.h"

#include "kernels.h"

__attribute__((noinline)) static void task_drift(Block position, Block velocity, Block force, double dt) {
#pragma omp task untied default(none) firstprivate(position, velocity, force, dt) \
    depend(inout : position.data[0], velocity.data[0], force.data[0])
  kernel_drift(position, velocity, force, dt);
}

/* inout on the force puts its contributions in one order, that of the ring: sums, and with them all results, are then
 * the same for any number of threads and any schedule. */
__attribute__((noinline)) static void task_forces(Block targets, Block sources, Block force, double softening) {
#pragma omp task untied default(none) firstprivate(targets, sources, force, softening) \
    depend(in : targets.data[0], sources.data[0]) depend(inout : force.data[0])
  kernel_forces(targets, sources, force, softening);
}

__attribute__((noinline)) static void task_kick(Block velocity, Block force, double dt) {
#pragma omp task untied default(none) firstprivate(velocity, force, dt) depend(in : force.data[0]) \
    depend(inout : velocity.data[0])
  kernel_kick(velocity, force, dt);
}

/* What the blocks of one hop do to this process' own. */
static void create_hop_tasks(const Simulation* simulation, int hop) {
  const Bodies* bodies = simulation->bodies;
  int sources = layout_blocks(bodies->layout, ring_owner(bodies->layout, hop));
  for (int s = 0; s < sources; ++s) {
    for (int t = 0; t < bodies->blocks; ++t) {
      label_next_task(simulation->labels, kLabelForces, hop);
      task_forces(bodies_position(bodies, t), ring_block(simulation->ring, hop, s), bodies_force(bodies, t),
                  simulation->softening * simulation->softening);
    }
  }
}

/* The blocks of a hop are on their way while the blocks of the hop before are in use. */
static void create_force_tasks(const Simulation* simulation) {
  int hops = simulation->bodies->layout->ranks;
  for (int hop = 0; hop < hops; ++hop) {
    if (hop + 1 < hops) {
      ring_exchange(simulation->ring, hop + 1);
    }
    create_hop_tasks(simulation, hop);
  }
}

static void create_step_tasks(const Simulation* simulation) {
  const Bodies* bodies = simulation->bodies;
  for (int b = 0; b < bodies->blocks; ++b) {
    task_drift(bodies_position(bodies, b), bodies_velocity(bodies, b), bodies_force(bodies, b), simulation->dt);
  }
  create_force_tasks(simulation);
  for (int b = 0; b < bodies->blocks; ++b) {
    task_kick(bodies_velocity(bodies, b), bodies_force(bodies, b), simulation->dt);
  }
}

void simulate_forces(const Simulation* simulation) {
#pragma omp parallel default(none) shared(simulation)
#pragma omp single
  create_force_tasks(simulation);
}

void simulate_steps(const Simulation* simulation, int steps) {
#pragma omp parallel default(none) shared(simulation, steps)
#pragma omp single
  for (int step = 0; step < steps; ++step) {
    create_step_tasks(simulation);
  }
}
