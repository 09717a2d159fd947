/* SPDX-License-Identifier: Apache-2.0
 *
 * Serial leapfrog over an array of bodies; see reference.h. No state.
 */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double Vector[3];

/* Action and reaction of one pair. */
static void attract(const Body* a, const Body* b, double softening, Vector of_a, Vector of_b) {
  Vector apart;
  double square = softening * softening;
  for (int axis = 0; axis < 3; ++axis) {
    apart[axis] = b->position[axis] - a->position[axis];
    square += apart[axis] * apart[axis];
  }
  for (int axis = 0; axis < 3; ++axis) {
    double pull = apart[axis] / (square * sqrt(square));
    of_a[axis] += b->mass * pull;
    of_b[axis] -= a->mass * pull;
  }
}

static void accelerate(const Body* bodies, int count, double softening, Vector* accelerations) {
  memset(accelerations, 0, (size_t)count * sizeof *accelerations);
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) {
      attract(&bodies[i], &bodies[j], softening, accelerations[i], accelerations[j]);
    }
  }
}

static void kick(Body* bodies, int count, Vector* accelerations, double time) {
  for (int i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      bodies[i].velocity[axis] += accelerations[i][axis] * time;
    }
  }
}

static void drift(Body* bodies, int count, double time) {
  for (int i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      bodies[i].position[axis] += bodies[i].velocity[axis] * time;
    }
  }
}

static void simulate(Body* bodies, int count, double softening, double dt, int steps, Vector* accelerations) {
  accelerate(bodies, count, softening, accelerations);
  for (int step = 0; step < steps; ++step) {
    kick(bodies, count, accelerations, dt / 2);
    drift(bodies, count, dt);
    accelerate(bodies, count, softening, accelerations);
    kick(bodies, count, accelerations, dt / 2);
  }
}

Body* reference_simulate(long long seed, int bodies, double softening, double dt, int steps) {
  Body* all = malloc((size_t)bodies * sizeof *all);
  Vector* accelerations = malloc((size_t)bodies * sizeof *accelerations);
  if (all && accelerations) {
    for (int i = 0; i < bodies; ++i) {
      all[i] = body_at_start(seed, i, bodies);
    }
    simulate(all, bodies, softening, dt, steps, accelerations);
  } else {
    free(all);
    all = NULL;
  }
  free(accelerations);
  return all;
}

void reference_free(Body* bodies) { free(bodies); }
