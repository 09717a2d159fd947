/* SPDX-License-Identifier: Apache-2.0
 *
 * The image: each shot's part, their sum, and what is made of it. A part is written by its shot only; whoever adds
 * parts does so for one shot at a time and in the order of shots, so that the sum is always rounded in the same way.
 */
#ifndef RTM_STACK_H
#define RTM_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "shot.h"
#include "survey.h"

typedef struct {
  const Survey* survey;
  float* block;
  size_t* starts;    /* of each shot's part in the block, and where the last part ends */
  float* image;      /* nz numbers for each of nx columns: the sum */
  float* light;      /* the same of the source's waves squared */
  Outcome* outcomes; /* of each shot */
} Stack;

/* False: not enough memory. Destroy it in any case. */
bool stack_create(Stack* stack, const Survey* survey);
void stack_destroy(Stack* stack);

/* What stack_create takes. */
double stack_bytes(const Survey* survey);

/* A shot's part as shot_migrate leaves it, and how many numbers it has. */
float* stack_part(const Stack* stack, int shot);
size_t stack_part_size(const Survey* survey, int shot);

void stack_add(const Stack* stack, int shot);

/* When all parts have been added: the image becomes what is shown. It is divided by the light, so that deep reflectors
 * are as bright as shallow ones, and its second differences are taken: waves that met on their way, not at a reflector,
 * leave broad stripes, which vanish thereby. */
bool stack_finish(const Stack* stack);

/* Of the finished image: the sum of squares, and a hash of all its bits (FNV-1a). */
double stack_energy(const Stack* stack);
uint64_t stack_hash(const Stack* stack);

#endif
