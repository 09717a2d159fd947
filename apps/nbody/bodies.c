/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage and initial state; see bodies.h. The cluster is Plummer's model, drawn as by Aarseth, Henon and Wielen ("A
 * comparison of numerical methods for the study of star cluster dynamics", Astronomy and Astrophysics 37, 1974): the
 * radius by inverting the mass within it, the speed by rejection from its distribution below the escape speed.
 */
#include "bodies.h"

#include <math.h>
#include <stdint.h>

static const double kLargestRadius = 10; /* beyond it lie 1.5 % of the model's mass, and a body at any distance */

/* A sequence of numbers in [0, 1): SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * 2014). */
typedef struct {
  uint64_t state;
} Random;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double draw(Random* random) {
  random->state += 0x9e3779b97f4a7c15u;
  return (double)(mix(random->state) >> 11) * 0x1p-53;
}

/* A vector of the given length in a random direction. */
static void draw_direction(Random* random, double length, double vector[3]) {
  double cosine = 2 * draw(random) - 1;
  double angle = 2 * M_PI * draw(random);
  double across = length * sqrt(1 - cosine * cosine);
  vector[0] = across * cos(angle);
  vector[1] = across * sin(angle);
  vector[2] = length * cosine;
}

static double draw_radius(Random* random) {
  double radius;
  do {
    radius = 1 / sqrt(pow(1 - draw(random), -2.0 / 3) - 1);
  } while (!(radius <= kLargestRadius)); /* infinite for the number 0 */
  return radius;
}

/* The speed as a part of the escape speed: density q^2 (1 - q^2)^(7/2), which stays below 0.1. */
static double draw_speed(Random* random) {
  double q, height;
  do {
    q = draw(random);
    height = 0.1 * draw(random);
  } while (height > q * q * pow(1 - q * q, 3.5));
  return q;
}

Body body_at_start(long long seed, int number, int bodies) {
  Random random = {mix((uint64_t)seed + 1) ^ mix((uint64_t)number + 1)};
  Body body = {.mass = (0.5 + draw(&random)) / bodies};
  double radius = draw_radius(&random);
  draw_direction(&random, radius, body.position);
  double escape = sqrt(2) / pow(1 + radius * radius, 0.25);
  draw_direction(&random, draw_speed(&random) * escape, body.velocity);
  return body;
}

static void fill(Block position, Block velocity, Block force, long long seed, int first, int bodies) {
  block_clear(position);
  block_clear(velocity);
  block_clear(force);
  for (int i = 0; i < position.count; ++i) {
    Body body = body_at_start(seed, first + i, bodies);
    for (int axis = 0; axis < 3; ++axis) {
      block_quantity(position, axis)[i] = body.position[axis];
      block_quantity(velocity, axis)[i] = body.velocity[axis];
    }
    block_quantity(position, 3)[i] = body.mass;
  }
}

__attribute__((noinline)) static void task_fill(Block position, Block velocity, Block force, long long seed, int first,
                                                int bodies) {
#pragma omp task untied default(none) firstprivate(position, velocity, force, seed, first, bodies) \
    depend(out : position.data[0], velocity.data[0], force.data[0])
  fill(position, velocity, force, seed, first, bodies);
}

void bodies_fill(Bodies* bodies, long long seed) {
  const Layout* layout = bodies->layout;
#pragma omp parallel default(none) shared(bodies, layout, seed)
#pragma omp single
  for (int b = 0; b < bodies->blocks; ++b) {
    task_fill(bodies_position(bodies, b), bodies_velocity(bodies, b), bodies_force(bodies, b), seed,
              layout_block_first(layout, layout->rank, b), layout->bodies);
  }
}

bool bodies_create(Bodies* bodies, const Layout* layout) {
  *bodies = (Bodies){.layout = layout, .blocks = layout_blocks(layout, layout->rank)};
  size_t blocks = (size_t)bodies->blocks;
  return slab_create(&bodies->positions, blocks, layout->largest_block) &&
         slab_create(&bodies->velocities, blocks, layout->largest_block) &&
         slab_create(&bodies->forces, blocks, layout->largest_block);
}

void bodies_destroy(Bodies* bodies) {
  slab_destroy(&bodies->positions);
  slab_destroy(&bodies->velocities);
  slab_destroy(&bodies->forces);
}

static int count_of(const Bodies* bodies, int b) {
  return layout_block_bodies(bodies->layout, bodies->layout->rank, b);
}

Block bodies_position(const Bodies* bodies, int b) {
  return slab_block(&bodies->positions, (size_t)b, count_of(bodies, b));
}

Block bodies_velocity(const Bodies* bodies, int b) {
  return slab_block(&bodies->velocities, (size_t)b, count_of(bodies, b));
}

Block bodies_force(const Bodies* bodies, int b) { return slab_block(&bodies->forces, (size_t)b, count_of(bodies, b)); }
