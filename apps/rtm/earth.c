/* SPDX-License-Identifier: Apache-2.0
 *
 * See earth.h. No state.
 */
#include "earth.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
  kRow = 5,          /* of sources and receivers: inside of the border that is kept */
  kSmoothPasses = 3, /* of a running mean: nearly a Gaussian */
  kFewestSteps = 4,
  kMostSteps = 1000000,
};

static const double kPi = 3.14159265358979323846;
static const double kCourant = 0.45;    /* of the fastest wave; 2 / sqrt(2 * 6.502) = 0.5546 is the limit */
static const double kSmoothPart = 0.02; /* a mean's reach on each side, as a part of the depth */

/* A wavelet's shortest waves have 2.5 times its strongest frequency. In the slowest rock they need some points each. */
static const double kShortest = 2.5, kFewestPoints = 2.5;

/* The model -------------------------------------------------------------------------------------------------------- */

static const double kLayerSpeeds[kReflectors + 1] = {1500, 1800, 2200, 2800};
static const double kLayerDepths[kReflectors] = {0.3, 0.55, 0.8}; /* parts of the model's depth */

static const double kWedgeSpeeds[] = {1500, 2000, 2600};
static const double kWedgeTop = 0.35, kWedgeBase = 0.8;   /* the base, where it is deepest */
static const double kWedgeBegin = 0.15, kWedgeEnd = 0.85; /* parts of the width, between which it dips */

int earth_reflectors(const Options* options) { return options->model == kModelWedge ? 2 : kReflectors; }

double earth_speed(const Options* options, int reflector) {
  return options->model == kModelWedge ? kWedgeSpeeds[reflector] : kLayerSpeeds[reflector];
}

static double depth_part(const Options* options, int reflector, int column) {
  if (options->model == kModelLayers) {
    return kLayerDepths[reflector];
  }
  const double along = ((double)column / options->grid[0] - kWedgeBegin) / (kWedgeEnd - kWedgeBegin);
  const double dipped = fmin(1, fmax(0, along));
  return reflector == 0 ? kWedgeTop : kWedgeTop + dipped * (kWedgeBase - kWedgeTop);
}

/* The first row below it. */
static int row_below(const Options* options, int reflector, int column) {
  return (int)lround(depth_part(options, reflector, column) * options->grid[1]);
}

double earth_depth(const Options* options, int reflector, int column) {
  return row_below(options, reflector, column) - 0.5;
}

static void fill_speeds(const Options* options, float* speeds) {
  for (int x = 0; x < options->grid[0]; ++x) {
    int reflector = 0;
    for (int z = 0; z < options->grid[1]; ++z) {
      while (reflector < earth_reflectors(options) && z >= row_below(options, reflector, x)) {
        ++reflector;
      }
      *speeds++ = (float)earth_speed(options, reflector);
    }
  }
}

/* The smooth model ------------------------------------------------------------------------------------------------- */

/* Number i of `count` ones that are `stride` apart; beyond the ends, the end's number goes on. */
static double number_at(const double* numbers, int count, size_t stride, int i) {
  return numbers[(size_t)(i < 0 ? 0 : i < count ? i : count - 1) * stride];
}

/* Means over `reach` numbers on each side. `line` has room for `count`. From one mean to the next the sum changes by a
 * difference, which is exactly zero where all numbers are the same. */
static void smooth_line(double* numbers, int count, size_t stride, int reach, double* line) {
  double sum = 0;
  for (int k = -reach; k <= reach; ++k) {
    sum += number_at(numbers, count, stride, k);
  }
  for (int i = 0; i < count; ++i) {
    line[i] = sum / (2 * reach + 1);
    sum += number_at(numbers, count, stride, i + 1 + reach) - number_at(numbers, count, stride, i - reach);
  }
  for (int i = 0; i < count; ++i) {
    numbers[(size_t)i * stride] = line[i];
  }
}

/* Slownesses are smoothed, not speeds: the time that a wave takes from the surface to a depth stays nearly the same. */
static bool smooth_speeds(const Options* options, const float* speeds, float* slow) {
  const int nx = options->grid[0], nz = options->grid[1], reach = (int)ceil(kSmoothPart * nz);
  const size_t points = (size_t)nx * (size_t)nz;
  double* slowness = malloc(points * sizeof *slowness);
  double* line = malloc((size_t)(nx > nz ? nx : nz) * sizeof *line);
  const bool made = slowness && line;
  for (size_t i = 0; made && i < points; ++i) {
    slowness[i] = 1 / (double)speeds[i];
  }
  for (int pass = 0; made && pass < kSmoothPasses; ++pass) {
    for (int x = 0; x < nx; ++x) {
      smooth_line(slowness + (size_t)x * (size_t)nz, nz, 1, reach, line);
    }
    for (int z = 0; z < nz; ++z) {
      smooth_line(slowness + z, nx, (size_t)nz, reach, line);
    }
  }
  for (size_t i = 0; made && i < points; ++i) {
    slow[i] = (float)(1 / slowness[i]);
  }
  free(slowness);
  free(line);
  return made;
}

/* The survey ------------------------------------------------------------------------------------------------------- */

/* When the source is strongest: before, it begins at nearly zero. */
static double delay(const Options* options) { return 1.2 / options->frequency; }

/* Until the deepest reflector's echo has come back to receivers half the aperture away, and the source's length. */
static double listening_time(const Options* options, double aperture) {
  double down = 0, above = 0;
  const int last = earth_reflectors(options) - 1, deepest = options->grid[0] - 1;
  for (int reflector = 0; reflector <= last; ++reflector) {
    const double depth = earth_depth(options, reflector, deepest) * options->spacing;
    down += (depth - above) / earth_speed(options, reflector);
    above = depth;
  }
  return 2 * down * hypot(1, aperture / 4 / above) + 2 * delay(options);
}

static Survey survey_of(const Options* options, double step, double fastest, Failure* failure) {
  const double width = options->grid[0] * options->spacing;
  const double aperture = options->aperture > 0 ? fmin(options->aperture, width) : width / 2;
  const double time = options->time > 0 ? options->time : listening_time(options, aperture);
  const double steps = ceil(time / step);
  if (steps > kMostSteps) {
    failure_note(failure, kExitInput, "%g s are %.0f steps of %g s; at most %d are possible: take a shorter --time",
                 time, steps, step, kMostSteps);
  }
  return (Survey){.nx = options->grid[0],
                  .nz = options->grid[1],
                  .sponge = options->sponge,
                  .steps = (int)fmin(kMostSteps, fmax(kFewestSteps, steps)),
                  .shots = options->shots,
                  .aperture = (int)fmax(2 * kHalo, lround(aperture / options->spacing)),
                  .row = kRow,
                  .fastest = (float)(fastest * step / options->spacing)};
}

/* Ricker's wavelet: the second derivative of a Gaussian. */
static double wavelet_at(const Options* options, double time) {
  const double a = kPi * options->frequency * (time - delay(options));
  return (1 - 2 * a * a) * exp(-a * a);
}

static void fill_ways(const Earth* earth, const Options* options) {
  const size_t points = (size_t)earth->survey.nx * (size_t)earth->survey.nz;
  for (size_t i = 0; i < points; ++i) {
    earth->truth[i] = (float)(earth->speeds[i] * earth->step / options->spacing);
    earth->smooth[i] = (float)(earth->slow[i] * earth->step / options->spacing);
  }
  for (int step = 0; step < earth->survey.steps; ++step) {
    earth->wavelet[step] = (float)wavelet_at(options, step * earth->step);
  }
}

/* All models are slowest at the surface. */
static void check_waves(const Options* options, Failure* failure) {
  const double points = earth_speed(options, 0) / (kShortest * options->frequency) / options->spacing;
  if (points < kFewestPoints) {
    failure_note(failure, kExitInput,
                 "--frequency %g makes waves of %.2f points; they need %g: take a lower one, or a smaller --spacing",
                 options->frequency, points, kFewestPoints);
  }
}

/* False: not enough memory. */
static bool make(Earth* earth, const Options* options) {
  const size_t points = (size_t)options->grid[0] * (size_t)options->grid[1];
  earth->speeds = malloc(points * sizeof(float));
  earth->slow = malloc(points * sizeof(float));
  earth->truth = malloc(points * sizeof(float));
  earth->smooth = malloc(points * sizeof(float));
  earth->wavelet = malloc((size_t)earth->survey.steps * sizeof(float));
  if (!earth->speeds || !earth->slow || !earth->truth || !earth->smooth || !earth->wavelet) {
    return false;
  }
  fill_speeds(options, earth->speeds);
  return smooth_speeds(options, earth->speeds, earth->slow);
}

void earth_create(Earth* earth, const Options* options, Failure* failure) {
  const double fastest = earth_speed(options, earth_reflectors(options));
  *earth = (Earth){.step = kCourant * options->spacing / fastest};
  check_waves(options, failure);
  earth->survey = survey_of(options, earth->step, fastest, failure);
  if (failure->code != 0) {
    return;
  }
  if (!make(earth, options)) {
    failure_note(failure, kExitInput, "not enough memory for a model of %d x %d points", options->grid[0],
                 options->grid[1]);
    return;
  }
  fill_ways(earth, options);
}

void earth_destroy(Earth* earth) {
  free(earth->speeds);
  free(earth->slow);
  free(earth->truth);
  free(earth->smooth);
  free(earth->wavelet);
}
