/* SPDX-License-Identifier: Apache-2.0
 *
 * See verify.h. No state.
 */
#include "verify.h"

#include <math.h>

enum { kEvery = 4 }; /* columns */

static const double kFirst = 0.3, kLast = 0.7; /* the columns, as parts of the model's width */
static const double kTolerance = 0.125;        /* of a wavelength */

/* Points, above a reflector: what its peak is measured by. */
static double wavelength(const Options* options, int reflector) {
  return earth_speed(options, reflector) / options->frequency / options->spacing;
}

/* Peaks of reflectors that are less than a wavelength apart cannot be told from each other. */
static bool is_distinct(const Options* options, int reflector, int column) {
  const double depth = earth_depth(options, reflector, column);
  const bool above =
      reflector == 0 || depth - earth_depth(options, reflector - 1, column) >= wavelength(options, reflector);
  const bool below = reflector + 1 == earth_reflectors(options) ||
                     earth_depth(options, reflector + 1, column) - depth >= wavelength(options, reflector + 1);
  return above && below;
}

/* The row with the largest value of [first, last]; all contrasts are towards faster rock, so peaks are positive. */
static int brightest(const float* column, int first, int last) {
  int best = first;
  for (int z = first; z <= last; ++z) {
    best = column[z] > column[best] ? z : best;
  }
  return best;
}

/* Between rows, by a parabola through three of them. */
static double peak(const float* column, int row) {
  const double before = column[row - 1], here = column[row], after = column[row + 1];
  const double bend = 2 * here - before - after;
  return bend > 0 ? row + (after - before) / (2 * bend) : row;
}

/* One reflector in one column. */
static void visit(const Options* options, const float* column, int reflector, int x, Findings* findings,
                  double* faintest) {
  const double depth = earth_depth(options, reflector, x), length = wavelength(options, reflector);
  const int first = (int)fmax(1, floor(depth - length / 2));
  const int last = (int)fmin(options->grid[1] - 2, ceil(depth + length / 2));
  const int row = brightest(column, first, last);
  const double distance = fabs(peak(column, row) - depth);
  ++findings->places;
  findings->farthest = fmax(findings->farthest, distance * options->spacing);
  findings->part = fmax(findings->part, distance / length);
  *faintest = fmin(*faintest, column[row]);
}

/* Whether a row is more than a wavelength away from all reflectors, and so deep that the source is not in sight. */
static bool is_away(const Options* options, int row, int x) {
  bool away = row > earth_depth(options, 0, x) / 2;
  for (int reflector = 0; reflector < earth_reflectors(options); ++reflector) {
    away = away && fabs(row - earth_depth(options, reflector, x)) > wavelength(options, reflector + 1);
  }
  return away;
}

Findings verify_image(const Options* options, const float* image) {
  Findings findings = {0};
  double faintest = INFINITY, stranger = 0;
  for (int x = (int)(kFirst * options->grid[0]); x <= kLast * options->grid[0]; x += kEvery) {
    const float* column = image + (size_t)x * (size_t)options->grid[1];
    for (int reflector = 0; reflector < earth_reflectors(options); ++reflector) {
      if (is_distinct(options, reflector, x)) {
        visit(options, column, reflector, x, &findings, &faintest);
      }
    }
    for (int z = 0; z < options->grid[1]; ++z) {
      stranger = is_away(options, z, x) ? fmax(stranger, fabs(column[z])) : stranger;
    }
  }
  findings.strangers = stranger / faintest;
  return findings;
}

/* Written so that what is not a number fails. */
void verify_judge(const Findings* findings, Failure* failure) {
  if (findings->places == 0) {
    failure_note(failure, kExitInput, "--check: no two reflectors are a wavelength apart; take a higher --frequency");
  } else if (!(findings->part <= kTolerance)) {
    failure_note(failure, kExitWrong,
                 "a peak of the image is %.1f m from its reflector, %.2f wavelengths; at most %g are right",
                 findings->farthest, findings->part, kTolerance);
  } else if (!(findings->strangers < 1 && findings->strangers >= 0)) {
    failure_note(failure, kExitWrong, "the image is %.2f times as bright away from all reflectors as at one of them",
                 findings->strangers);
  }
}
