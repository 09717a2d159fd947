/* SPDX-License-Identifier: Apache-2.0
 *
 * Assigns the elements to regions, in runs of random lengths. The random numbers are those of glibc's `rand`, from its
 * recurrence, whatever the C library.
 */
#include "regions.h"

#include <math.h>
#include <stdlib.h>

enum { kLag = 31, kWarm = 344 };

/* glibc's generator: r(i) = r(i - 3) + r(i - 31) modulo 2^32, of which `rand` shows the upper 31 bits. */
typedef struct {
  uint32_t last[kLag];
  int at;
} Random;

static uint32_t random_step(Random* random) {
  int at = random->at;
  random->last[at] += random->last[(at + kLag - 3) % kLag];
  random->at = (at + 1) % kLag;
  return random->last[at];
}

static int random_next(Random* random) { return (int)(random_step(random) >> 1); }

static Random random_seed(int seed) {
  Random random = {.at = 0};
  int64_t value = seed == 0 ? 1 : seed;
  for (int i = 0; i < kLag; ++i) {
    random.last[i] = (uint32_t)value;
    value = 16807 * value % 2147483647;
  }
  /* The next three repeat the first three: the ring already holds them. */
  random.at = 3;
  for (int i = kLag + 3; i < kWarm; ++i) {
    random_step(&random);
  }
  return random;
}

/* The lengths of runs: with a chance of (limit - the previous limit) in a thousand, `least` and up to `spread` - 1
 * more. */
static int32_t draw_length(Random* random) {
  static const struct {
    int limit, least, spread;
  } kLengths[] = {{773, 1, 15},    {937, 16, 16},   {970, 32, 32},    {974, 64, 64},
                  {978, 128, 128}, {981, 256, 256}, {1000, 512, 1537}};
  int chance = random_next(random) % 1000, i = 0;
  while (chance >= kLengths[i].limit) {
    ++i;
  }
  return kLengths[i].least + random_next(random) % kLengths[i].spread;
}

/* A region other than `before`, by weights with the partial sums `sum`. */
static int draw_region(Random* random, const long long* sum, int count, int rank, int before) {
  int region = before;
  while (region == before) {
    long long value = random_next(random) % sum[count];
    int i = 0;
    while (value >= sum[i + 1]) {
      ++i;
    }
    region = (i + rank) % count;
  }
  return region;
}

static void assign(int* region_of, int32_t elements, int count, int rank, const long long* sum) {
  Random random = random_seed(rank);
  int region = -1;
  for (int32_t at = 0; at < elements;) {
    region = draw_region(&random, sum, count, rank, region);
    for (int32_t left = draw_length(&random); left > 0 && at < elements; --left) {
      region_of[at++] = region;
    }
  }
}

/* Sums of the weights 1^balance, 2^balance, ..., each cut to a whole number. */
static void add_weights(long long* sum, int count, int balance) {
  sum[0] = 0;
  for (int i = 1; i <= count; ++i) {
    sum[i] = (long long)((double)sum[i - 1] + pow(i, balance));
  }
}

static int times_of(int region, int count, int cost) {
  if (region < count / 2) {
    return 1;
  }
  return region < count - (count + 15) / 20 ? 1 + cost : 10 * (1 + cost);
}

static void sort_into_lists(Regions* regions, const int* region_of, int32_t elements) {
  for (int32_t element = 0; element < elements; ++element) {
    ++regions->begin[region_of[element] + 1];
  }
  for (int region = 0; region < regions->count; ++region) {
    regions->begin[region + 1] += regions->begin[region];
  }
  for (int32_t element = 0; element < elements; ++element) {
    regions->element[regions->begin[region_of[element]]++] = element;
  }
  for (int region = regions->count; region > 0; --region) { /* each begin has moved to its end */
    regions->begin[region] = regions->begin[region - 1];
  }
  regions->begin[0] = 0;
}

bool regions_create(Regions* regions, int32_t elements, int count, int balance, int cost, int rank) {
  *regions = (Regions){.count = count};
  regions->begin = calloc((size_t)count + 1, sizeof *regions->begin);
  regions->element = malloc((size_t)elements * sizeof *regions->element);
  regions->times = malloc((size_t)count * sizeof *regions->times);
  int* region_of = calloc((size_t)elements, sizeof *region_of);
  long long* sum = malloc(((size_t)count + 1) * sizeof *sum);
  bool complete = regions->begin && regions->element && regions->times && region_of && sum;
  if (complete) {
    add_weights(sum, count, balance);
    if (count > 1) {
      assign(region_of, elements, count, rank, sum);
    }
    sort_into_lists(regions, region_of, elements);
    for (int region = 0; region < count; ++region) {
      regions->times[region] = times_of(region, count, cost);
    }
  }
  free(region_of);
  free(sum);
  return complete;
}

void regions_destroy(Regions* regions) {
  free(regions->begin);
  free(regions->element);
  free(regions->times);
}
