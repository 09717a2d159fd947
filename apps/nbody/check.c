/* SPDX-License-Identifier: Apache-2.0
 *
 * Conserved quantities, and the comparison with the reference; see check.h. No state.
 */
#include "check.h"

#include <float.h>
#include <math.h>
#include <mpi.h>

#include "reference.h"

static double length(const double vector[3]) {
  return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

static void add_body(Totals* totals, const Body* body, double potential, double weight) {
  totals->kinetic += 0.5 * body->mass * length(body->velocity) * length(body->velocity);
  totals->potential += 0.5 * body->mass * potential;
  totals->motion += body->mass * length(body->velocity);
  for (int axis = 0; axis < 3; ++axis) {
    totals->momentum[axis] += body->mass * body->velocity[axis];
    totals->checksum += weight * (body->position[axis] + body->velocity[axis]);
  }
}

/* Body i of block b as it is now. */
static Body body_now(const Bodies* bodies, int b, int i) {
  Body body = {.mass = block_quantity(bodies_position(bodies, b), 3)[i]};
  for (int axis = 0; axis < 3; ++axis) {
    body.position[axis] = block_quantity(bodies_position(bodies, b), axis)[i];
    body.velocity[axis] = block_quantity(bodies_velocity(bodies, b), axis)[i];
  }
  return body;
}

Totals check_totals(const Bodies* bodies, double softening) {
  const Layout* layout = bodies->layout;
  Totals totals = {0};
  for (int b = 0; b < bodies->blocks; ++b) {
    Block force = bodies_force(bodies, b);
    int first = layout_block_first(layout, layout->rank, b);
    for (int i = 0; i < force.count; ++i) {
      Body body = body_now(bodies, b, i);
      double of_itself = -body.mass / softening;
      add_body(&totals, &body, block_quantity(force, 3)[i] - of_itself, 1 + (double)(first + i) / layout->bodies);
    }
  }
  _Static_assert(sizeof totals % sizeof(double) == 0, "Totals holds doubles only");
  MPI_Allreduce(MPI_IN_PLACE, &totals, sizeof totals / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return totals;
}

double check_momentum_change(const Totals* before, const Totals* after) {
  double change[3];
  for (int axis = 0; axis < 3; ++axis) {
    change[axis] = after->momentum[axis] - before->momentum[axis];
  }
  return length(change);
}

double check_momentum_tolerance(const Totals* after, int bodies, int steps) {
  return (2.0 * steps + 2) * bodies * DBL_EPSILON * after->motion;
}

double check_energy_drift(const Totals* before, const Totals* after) {
  double scale = before->kinetic + fabs(before->potential);
  return fabs(after->kinetic + after->potential - before->kinetic - before->potential) / scale;
}

double check_energy_tolerance(int bodies, double dt) { return dt * dt + bodies * DBL_EPSILON; }

double check_softening(int bodies) { return 1 / cbrt(bodies); }

/* An undefined number is infinitely far away; fmax would pass over it. */
static double larger(double largest, double value, double expected) {
  double apart = fabs(value - expected);
  return apart <= largest ? largest : isnan(apart) ? INFINITY : apart;
}

static double largest_difference(const Bodies* bodies, const Body* expected) {
  const Layout* layout = bodies->layout;
  double largest = 0;
  for (int b = 0; b < bodies->blocks; ++b) {
    int first = layout_block_first(layout, layout->rank, b);
    int count = layout_block_bodies(layout, layout->rank, b);
    for (int i = 0; i < count; ++i) {
      Body body = body_now(bodies, b, i);
      for (int axis = 0; axis < 3; ++axis) {
        largest = larger(largest, body.position[axis], expected[first + i].position[axis]);
        largest = larger(largest, body.velocity[axis], expected[first + i].velocity[axis]);
      }
    }
  }
  return largest;
}

double check_difference(const Bodies* bodies, long long seed, double softening, double dt, int steps) {
  Body* expected = reference_simulate(seed, bodies->layout->bodies, softening, dt, steps);
  struct {
    double difference;
    double missing;
  } worst = {expected ? largest_difference(bodies, expected) : 0, expected ? 0 : 1};
  reference_free(expected);
  MPI_Allreduce(MPI_IN_PLACE, &worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst.missing > 0 ? -1 : worst.difference;
}
