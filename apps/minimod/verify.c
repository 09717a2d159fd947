/* SPDX-License-Identifier: Apache-2.0
 *
 * See verify.h. No state.
 */
#include "verify.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "host.h"
#include "kernel.h"
#include "wave.h"

static const double kPi = 3.14159265358979323846;
static const double kNear = 6; /* so close to the source the grid's wave is not yet what it becomes */

/* A function of the point with this value; the place is counted in the whole grid. */
typedef void (*Visit)(const Options* options, const int place[3], float value, Findings* findings);

static void visit_points(const Grid* grid, Visit visit, Findings* findings) {
  for (int i = 0; i < grid->slabs; ++i) {
    const Shape* shape = &grid->slab[i].shape;
    const float* field = grid->slab[i].fields[grid->options->steps % 2];
    for (int x = 0; x < shape->nx; ++x) {
      for (int y = 0; y < shape->ny; ++y) {
        for (int z = 0; z < shape->nz; ++z) {
          const int place[3] = {shape->first + x, y, z};
          visit(grid->options, place, field[kernel_index(shape, x, y, z)], findings);
        }
      }
    }
  }
}

/* The standing wave ------------------------------------------------------------------------------------------------ */

/* Written so that what is not a number is the largest. */
static void visit_mode(const Options* options, const int place[3], float value, Findings* findings) {
  const double wave = cos(options->steps * wave_mode_angle(options)) * wave_mode(options, place[0], place[1], place[2]);
  const double error = fabs(value - wave);
  if (!(error <= findings->largest_error)) {
    findings->largest_error = isnan(error) ? INFINITY : error;
  }
}

/* The point source ------------------------------------------------------------------------------------------------- */

static double distance(const int place[3], const int source[3]) {
  return hypot(hypot(place[0] - source[0], place[1] - source[1]), place[2] - source[2]);
}

/* How far the wave goes from the source to this point by way of the nearest border, or of the sponge. */
static double reflected_distance(const Options* options, const int place[3], const int source[3]) {
  double shortest = INFINITY;
  for (int direction = 0; direction < 3; ++direction) {
    const int borders[2] = {options->sponge - 1, options->grid[direction] - options->sponge};
    for (int side = 0; side < 2; ++side) {
      int image[3];
      memcpy(image, source, sizeof image);
      image[direction] = 2 * borders[side] - source[direction];
      shortest = fmin(shortest, distance(place, image));
    }
  }
  return shortest;
}

/* Points that no reflection has reached: u = s(t - r) / (4 pi r). */
static void visit_point(const Options* options, const int place[3], float value, Findings* findings) {
  const int source[3] = {options->grid[0] / 2, options->grid[1] / 2, options->grid[2] / 2};
  const double time = options->steps * options->courant, r = distance(place, source);
  if (r >= kNear && reflected_distance(options, place, source) >= time) {
    const double exact = r < time ? wave_source(options, time - r) / (4 * kPi * r) : 0;
    findings->error_sum += (value - exact) * (value - exact);
    findings->exact_sum += exact * exact;
  }
}

/* The sum of exact squares over all space: that of the wavelet, times 4 pi r^2 / (4 pi r)^2. */
static double complete_sum(const Options* options) {
  double sum = 0;
  for (double time = 0; time < 3 * options->wavelength; time += 0.1) {
    sum += 0.1 * pow(wave_source(options, time), 2) / (4 * kPi);
  }
  return sum;
}

/* The serial run --------------------------------------------------------------------------------------------------- */

static void compare_slab(const Slab* slab, const Slab* serial, int steps, Findings* findings) {
  const Shape* shape = &slab->shape;
  for (int x = 0; x < shape->nx; ++x) {
    for (int y = 0; y < shape->ny; ++y) {
      const float* mine = slab->fields[steps % 2] + kernel_index(shape, x, y, 0);
      const float* right = serial->fields[steps % 2] + kernel_index(&serial->shape, shape->first + x, y, 0);
      for (int z = 0; z < shape->nz; ++z) {
        if (memcmp(&mine[z], &right[z], sizeof *mine) != 0) {
          ++findings->differing;
          findings->largest_difference = fmax(findings->largest_difference, fabs((double)mine[z] - (double)right[z]));
        }
      }
    }
  }
}

static bool compare_serial(const Grid* grid, Findings* findings) {
  const Options* options = grid->options;
  Grid serial;
  const bool made = grid_create(&serial, options, 0, options->grid[0], 1);
  for (int step = 0; made && step < options->steps; ++step) {
    host_part_serial(&serial, &serial.slab[0], step, kInner);
  }
  for (int i = 0; made && i < grid->slabs; ++i) {
    compare_slab(&grid->slab[i], &serial.slab[0], options->steps, findings);
  }
  grid_destroy(&serial);
  return made;
}

bool verify_grid(const Grid* grid, Findings* findings) {
  *findings = (Findings){0};
  if (grid->options->exact) {
    visit_points(grid, grid->options->start == kStartMode ? visit_mode : visit_point, findings);
  }
  return !grid->options->serial || compare_serial(grid, findings);
}

/* Judgement -------------------------------------------------------------------------------------------------------- */

double verify_error(const Options* options, const Findings* findings) {
  return options->start == kStartMode ? findings->largest_error : sqrt(findings->error_sum / findings->exact_sum);
}

double verify_tolerance(const Options* options) {
  if (options->start == kStartMode) {
    return FLT_EPSILON * (options->steps + 16.0);
  }
  return 1.5 * wave_misfit(options, options->steps * options->courant) + 1e-4;
}

void verify_check_options(const Options* options, Failure* failure) {
  const int fewest = (int)ceil((2 * options->wavelength + kNear) / options->courant);
  if (options->exact && options->start == kStartPoint && options->steps < fewest) {
    failure_note(failure, kExitInput, "--exact: after %d steps the wave has hardly left the source; take %d or more",
                 options->steps, fewest);
  }
}

/* Written so that what is not a number fails. */
void verify_judge(const Options* options, const Findings* findings, Failure* failure) {
  if (options->serial && findings->differing > 0) {
    failure_note(failure, kExitWrong, "%.0f points differ from the serial run, by up to %.3e", findings->differing,
                 findings->largest_difference);
  }
  if (!options->exact) {
    return;
  }
  if (options->start == kStartPoint && findings->exact_sum < complete_sum(options) / 2) {
    failure_note(failure, kExitInput,
                 "--exact: after %d steps most of the wave has met the border; take fewer, or a larger grid",
                 options->steps);
  }
  const double error = verify_error(options, findings), tolerance = verify_tolerance(options);
  if (!(error <= tolerance)) {
    failure_note(failure, kExitWrong, "the pressure differs from the exact solution by %.3e; %s explains %.3e", error,
                 options->start == kStartMode ? "rounding" : "the grid", tolerance);
  }
}
