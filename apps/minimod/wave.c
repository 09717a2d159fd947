/* SPDX-License-Identifier: Apache-2.0
 *
 * See wave.h.
 */
#include "wave.h"

#include <math.h>

#include "kernel.h"

static const double kPi = 3.14159265358979323846;

double wave_source(const Options* options, double time) {
  const double a = kPi * (time - 1.5 * options->wavelength) / options->wavelength;
  return (1 - 2 * a * a) * exp(-a * a);
}

double wave_speed(const Options* options, int z) {
  static const double kSpeeds[] = {0.55, 1, 0.7, 0.85};
  return options->model == kModelLayers ? kSpeeds[4LL * z / options->grid[2]] : 1;
}

/* A wave that crosses the sponge and comes back has lost all but the part e^-7. */
double wave_damping(const Options* options, int points, int place) {
  const int from_border = place < points / 2 ? place : points - 1 - place;
  if (from_border >= options->sponge) {
    return 0;
  }
  const double depth = (double)(options->sponge - from_border) / options->sponge;
  return 10.5 / options->sponge * options->courant * depth * depth;
}

/* The standing wave ------------------------------------------------------------------------------------------------ */

enum { kPointsPerWave = 16 };

/* The angle from a zero of the wave to the place-th point after it, where `points` points lie between two zeros. Whole
 * turns are left out in integers, as the rounding of large angles is large. */
static double angle(int points, int place) {
  const long long half_waves = 1 + 2 * points / kPointsPerWave;
  return kPi * (double)(half_waves * place % (2 * (points + 1LL))) / (points + 1);
}

double wave_mode(const Options* options, int x, int y, int z) {
  const int* grid = options->grid;
  return sin(angle(grid[0], x + 1)) * sin(angle(grid[1], y + 1)) * sin(angle(grid[2], z + 1));
}

/* The kernel's second difference of a wave is the wave times this. */
static double second_difference(double angle_per_point) {
  double sum = 3 * kernel_weight(0) / 3.0; /* rounded as in the kernel */
  for (int i = 1; i <= kHalo; ++i) {
    sum += 2 * (double)kernel_weight(i) * cos(i * angle_per_point);
  }
  return sum;
}

/* next + previous = 2 cos(angle) now = (2 + k L) now */
double wave_mode_angle(const Options* options) {
  const float factor = (float)(options->courant * options->courant);
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += second_difference(angle(options->grid[i], 1));
  }
  return acos(1 + factor * sum / 2);
}

/* The wavelet ------------------------------------------------------------------------------------------------------ */

/* By which part the grid's wave of this frequency is faster: the time step makes it faster, the spacing slower. 3/11 is
 * the mean over all directions; along an axis it is 1. */
static double phase_error(const Options* options, double frequency) {
  const double per_step = frequency * options->courant;
  return per_step * per_step / 24 - 3.0 / 11 * pow(frequency, 8) / 6300;
}

double wave_misfit(const Options* options, double time) {
  enum { kFrequencies = 400 };
  const double strongest = 2 * kPi / options->wavelength, step = 4 * strongest / kFrequencies;
  const double way = time - 1.5 * options->wavelength; /* of the wavelet's peak */
  double error = 0, norm = 0;
  for (int i = 1; i <= kFrequencies; ++i) {
    const double frequency = i * step, a = frequency / strongest;
    const double power = pow(a * a * exp(-a * a), 2);
    const double phase = fmin(2, fabs(frequency * way * phase_error(options, frequency)));
    error += power * phase * phase;
    norm += power;
  }
  return sqrt(error / norm);
}
