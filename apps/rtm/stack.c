/* SPDX-License-Identifier: Apache-2.0
 *
 * See stack.h. The block has image, light, and behind them the parts of all shots.
 */
#include "stack.h"

#include <stdlib.h>
#include <string.h>

static const float kDark = 0.01F; /* light that is added, as a part of the mean: no division by zero */

static size_t points_of(const Survey* survey) { return (size_t)survey->nx * (size_t)survey->nz; }

size_t stack_part_size(const Survey* survey, int shot) {
  return 2 * (size_t)survey_window(survey, shot).columns * (size_t)survey->nz;
}

/* Of the block. */
static size_t numbers_of(const Survey* survey) {
  size_t numbers = 2 * points_of(survey);
  for (int shot = 0; shot < survey->shots; ++shot) {
    numbers += stack_part_size(survey, shot);
  }
  return numbers;
}

double stack_bytes(const Survey* survey) {
  return (double)numbers_of(survey) * sizeof(float) + (double)survey->shots * (sizeof(Outcome) + sizeof(size_t)) +
         sizeof(size_t);
}

static void fill_starts(const Stack* stack) {
  const Survey* survey = stack->survey;
  stack->starts[0] = 2 * points_of(survey);
  for (int shot = 0; shot < survey->shots; ++shot) {
    stack->starts[shot + 1] = stack->starts[shot] + stack_part_size(survey, shot);
  }
}

bool stack_create(Stack* stack, const Survey* survey) {
  *stack = (Stack){.survey = survey,
                   .block = calloc(numbers_of(survey), sizeof(float)),
                   .starts = calloc((size_t)survey->shots + 1, sizeof(size_t)),
                   .outcomes = calloc((size_t)survey->shots, sizeof(Outcome))};
  if (!stack->block || !stack->starts || !stack->outcomes) {
    return false;
  }
  stack->image = stack->block;
  stack->light = stack->block + points_of(survey);
  fill_starts(stack);
  return true;
}

void stack_destroy(Stack* stack) {
  free(stack->block);
  free(stack->starts);
  free(stack->outcomes);
}

float* stack_part(const Stack* stack, int shot) { return stack->block + stack->starts[shot]; }

static void add(float* sum, const float* part, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    sum[i] += part[i];
  }
}

void stack_add(const Stack* stack, int shot) {
  const Window window = survey_window(stack->survey, shot);
  const size_t nz = (size_t)stack->survey->nz, first = (size_t)window.first * nz, count = (size_t)window.columns * nz;
  const float* part = stack_part(stack, shot);
  add(stack->image + first, part, count);
  add(stack->light + first, part + count, count);
}

static void divide_by_light(const Stack* stack) {
  const size_t points = points_of(stack->survey);
  double sum = 0;
  for (size_t i = 0; i < points; ++i) {
    sum += stack->light[i];
  }
  const float dark = kDark * (float)(sum / (double)points);
  for (size_t i = 0; i < points && dark > 0; ++i) {
    stack->image[i] /= stack->light[i] + dark;
  }
}

/* The negative of the second differences: a peak stays one. At the model's border there are none. */
static void take_differences(const Stack* stack, const float* from) {
  const size_t nx = (size_t)stack->survey->nx, nz = (size_t)stack->survey->nz;
  memset(stack->image, 0, points_of(stack->survey) * sizeof(float));
  for (size_t x = 1; x + 1 < nx; ++x) {
    for (size_t z = 1; z + 1 < nz; ++z) {
      const float* at = from + x * nz + z;
      stack->image[x * nz + z] = 4 * at[0] - ((at[-1] + at[1]) + (*(at - nz) + at[nz]));
    }
  }
}

bool stack_finish(const Stack* stack) {
  const size_t bytes = points_of(stack->survey) * sizeof(float);
  float* divided = malloc(bytes);
  if (!divided) {
    return false;
  }
  divide_by_light(stack);
  memcpy(divided, stack->image, bytes);
  take_differences(stack, divided);
  free(divided);
  return true;
}

double stack_energy(const Stack* stack) {
  double sum = 0;
  for (size_t i = 0; i < points_of(stack->survey); ++i) {
    sum += (double)stack->image[i] * stack->image[i];
  }
  return sum;
}

uint64_t stack_hash(const Stack* stack) {
  const unsigned char* bytes = (const unsigned char*)stack->image;
  uint64_t hash = 14695981039346656037U;
  for (size_t i = 0; i < points_of(stack->survey) * sizeof(float); ++i) {
    hash = (hash ^ bytes[i]) * 1099511628211U;
  }
  return hash;
}
